"""An input at all of its sizes: what becomes of its numbers, and its plan at one size that stands for all."""

from __future__ import annotations

from functools import cached_property

from kubeproof.cluster.objects import Workload, workload_number
from kubeproof.cluster.scale import Following, Scale
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler, PodDisruptionBudget
from kubeproof.events.declarations import Apply, Event
from kubeproof.events.declarations import Scale as ScaleEvent
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.plan import Plan
from kubeproof.values import replace
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.planning import plan_of
from kubeproof.verify.proofs.any_size.linear import Box, Linear, Number
from kubeproof.verify.resize import COUNTED_NODES, Size, follow, resize


class Family:
    """All sizes of an input with one workload that grows, on copies of the nodes that its scale names."""

    def __init__(self, loaded: Loaded, scale: Scale, options: VerifyOptions) -> None:
        self.loaded, self.scale, self._options = loaded, scale, options
        (self.grown,) = scale.workloads
        self.kinds = tuple(node.like for node in scale.nodes)
        self.box = Box(max(self.grown.least, 1), self.grown.most, tuple(node.least for node in scale.nodes))

    def of(self, loaded: Loaded) -> Family:
        """The same sizes of another input with this workload and these nodes."""
        return Family(loaded, self.scale, self._options)

    def with_nodes(self, least: int) -> Family:
        """The same with so many nodes of each kind at least."""
        nodes = tuple(replace(one, least=max(one.least, least)) for one in self.scale.nodes)
        return Family(self.loaded, replace(self.scale, nodes=nodes), self._options)

    @property
    def target(self) -> Workload:
        """The workload that grows, as the manifest has it."""
        return next(w for w in self.loaded.setup.workloads if w.ref == self.grown.target)

    @cached_property
    def starts(self) -> str:
        """How runs begin at other sizes."""
        return self.at(*self.sample).scenario.start.mode

    @property
    def number(self) -> int:
        """Its number in the plan of the sample."""
        return workload_number(self.plan.setup, self.grown.target)

    def at(self, pods: int, nodes: tuple[int, ...]) -> Loaded:
        """The input at one size."""
        kinds = tuple(zip(self.kinds, nodes, strict=True))
        return resize(self.loaded, self.scale, Size(kinds, ((self.grown.target, pods),)))

    @cached_property
    def sample(self) -> tuple[int, tuple[int, ...]]:
        """A small size with two nodes of every kind at least: its plan has the loops and footprints of all sizes.

        A label that all nodes of a kind share has a value of its own for each node only if there are two of them.
        """
        pods = max(self.box.least, 2) if self.box.most is None else min(max(self.box.least, 2), self.box.most)
        return pods, tuple(max(least, 2) for least in self.box.nodes)

    @cached_property
    def plan(self) -> Plan:
        """The plan of the sample."""
        return self.plan_at(*self.sample)

    def plan_at(self, pods: int, nodes: tuple[int, ...]) -> Plan:
        """The plan of the input at one size."""
        return plan_of(self.at(pods, nodes), self._options)

    # -- numbers that follow the size ---------------------------------------------------------------

    def term(self, *, pods: int = 0, nodes: int = 0, plus: int = 0) -> Linear:
        """So many times the replicas, and the nodes in all, and as many more."""
        if self.kinds:
            return Linear(pods, (nodes,) * len(self.kinds), plus)
        return Linear(pods, (), plus + nodes * len(self.loaded.setup.nodes))

    def constant(self, value: int) -> Number:
        """A number that is the same at every size."""
        return ((self.term(plus=value),),)

    @property
    def replicas(self) -> Number:
        """The replicas of the workload that grows."""
        return ((self.term(pods=1),),)

    def replicas_of(self, workload: Workload) -> Number:
        """The replicas of one of the workloads."""
        return self.replicas if workload.ref == self.grown.target else self.constant(workload.replicas)

    def bounds_of(self, autoscaler: HorizontalPodAutoscaler) -> tuple[Number, Number]:
        """The least and the most that an autoscaler asks for: never less than one pod, nor less than its least."""
        written = (autoscaler.min_replicas, autoscaler.max_replicas)
        if autoscaler.target != self.grown.target:
            return self.constant(written[0]), self.constant(written[1])
        rules = (self.grown.autoscaler_min, self.grown.autoscaler_max)
        least, most = (self._follow(rule, number) for rule, number in zip(rules, written, strict=True))
        least = (*least, *self.constant(1))
        return least, (*most, *least)

    def sizes_of(self, event: Event) -> tuple[Number, ...]:
        """Every size that an event writes."""
        if event.subject != self.grown.target:
            return tuple(map(self.constant, event.sizes))
        if isinstance(event, ScaleEvent):
            return tuple(self._follow(None, size) for size in event.replicas)
        if isinstance(event, Apply):
            rule = dict(self.grown.events).get(event.name)
            return (self._follow(rule, event.workload.replicas),) if event.replicas_given else ()
        return tuple(map(self.constant, event.sizes))

    def count_of(self, name: str) -> Number | None:
        """How many pods an intent about the workload that grows asks for; None: a percentage."""
        intent = next(one for one in self.loaded.scenario.intents if one.name == name)
        if intent.count is None or intent.count.percent or intent.key == COUNTED_NODES:
            return None
        rule = dict(self.grown.intents).get(intent.name)
        if rule is None and intent.target != self.grown.target:
            return self.constant(intent.count.number) if intent.target is not None else None
        return self._follow(rule, intent.count.number)

    def min_available_of(self, sized: PodDisruptionBudget) -> Number | None:
        """What a budget of the workload that grows keeps available; None: a percentage, or nothing."""
        named = (sized.namespace, sized.name)
        budget = next(one for one in self.loaded.setup.budgets if (one.namespace, one.name) == named)
        if budget.min_available is None or budget.min_available[1]:
            return None
        return self._follow(None, budget.min_available[0])

    def _follow(self, rule: Following | None, written: int) -> Number:
        followed = follow(rule, written, self.target.replicas, keeps_numbers=self.scale.keeps_numbers)
        terms = tuple(self.term(pods=one.pods, nodes=one.nodes, plus=one.plus) for one in followed.terms)
        return (terms, (self.term(),))


def find_family(loaded: Loaded, options: VerifyOptions) -> Family | None:
    """The sizes that a Scenario's scale speaks of; None if arguments about all of them do not reach so far."""
    scale, setup = loaded.scenario.scale, loaded.setup
    if scale is None or len(scale.workloads) != 1 or options.controllers:
        return None
    if setup.quotas or setup.cluster_autoscaler is not None:
        return None  # what a quota refuses, and nodes that come and go, depend on numbers that nothing here speaks of
    named = {workload.ref: workload for workload in setup.workloads}
    target = named.get(scale.workloads[0].target)
    if not {node.like for node in scale.nodes} <= {node.name for node in setup.nodes}:
        return None
    if target is None or target.owner is not None or not target.rules.has_replica_set or target.template.claims:
        return None
    family = Family(loaded, scale, options)
    return family if family.starts in ("empty", "deployed") else None
