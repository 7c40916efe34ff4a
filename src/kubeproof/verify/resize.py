"""The same input at another size: other numbers of nodes of each kind, other numbers of pods.

A number that belongs to a workload follows its pods: by a rule of `spec.scale`, or by keeping its distance from the
`replicas` of the manifest. Percentages and `maxUnavailable` follow by themselves and stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kubeproof.cluster.labels import as_labels
from kubeproof.cluster.objects import HOSTNAME, Node, Setup, Workload
from kubeproof.cluster.scale import Following, Scale, Term, WorkloadScale
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler, PodDisruptionBudget
from kubeproof.events.declarations import Apply, Event
from kubeproof.events.declarations import Scale as ScaleEvent
from kubeproof.intents.declarations import Amount, Intent
from kubeproof.manifests.loaded import Loaded, Scenario, Start
from kubeproof.values import dataclass, replace

COUNTED_NODES = "maxNodes"  # its count is about nodes, not pods


@dataclass(frozen=True, slots=True)
class Size:
    """One size: how many nodes of each kind that grows, how many pods of each workload that grows."""

    nodes: tuple[tuple[str, int], ...]  # (name of the node used as template, copies)
    pods: tuple[tuple[str, int], ...]  # (Workload.ref, pods)

    @property
    def key(self) -> str:
        """A name that is the same in every run, for journals."""
        return ",".join(f"{name}={count}" for name, count in (*self.nodes, *self.pods))

    @property
    def node_total(self) -> int:
        return sum(count for _, count in self.nodes)

    @property
    def pod_total(self) -> int:
        return sum(count for _, count in self.pods)


def resize(loaded: Loaded, scale: Scale, size: Size) -> Loaded:
    """The input at this size; an exact placement becomes `start: deployed`, which does not depend on it.

    Where node kinds are given, the cluster consists of their copies only; otherwise its nodes stay as they are.
    """
    setup = _with_nodes(loaded.setup, dict(size.nodes)) if scale.nodes else loaded.setup
    rules = _Rules(scale, size, {w.ref: w.replicas for w in loaded.setup.workloads}, len(setup.nodes))
    setup = replace(
        setup,
        workloads=tuple(replace(w, replicas=rules.pods[w.ref]) if w.ref in rules.pods else w for w in setup.workloads),
        autoscalers=tuple(rules.autoscaler(autoscaler) for autoscaler in setup.autoscalers),
        budgets=tuple(rules.budget(budget, setup) for budget in setup.budgets),
    )
    return replace(loaded, setup=setup, scenario=_scenario(loaded.scenario, rules, setup))


def _scenario(scenario: Scenario, rules: _Rules, setup: Setup) -> Scenario:
    return replace(
        scenario,
        intents=tuple(rules.intent(intent) for intent in scenario.intents),
        events=tuple(rules.event(event, setup) for event in scenario.events),
        start=Start("deployed") if scenario.start.placement or scenario.start.pods else scenario.start,
    )


class _Rules:
    """The numbers of one size."""

    def __init__(self, scale: Scale, size: Size, replicas: Mapping[str, int], nodes: int) -> None:
        self.pods = dict(size.pods)
        self._growth = {ref: 0 if scale.keeps_numbers else pods - replicas[ref] for ref, pods in size.pods}
        self._keeps, self._replicas = scale.keeps_numbers, replicas
        self._scales = {workload.target: workload for workload in scale.workloads}
        self._nodes = nodes

    def autoscaler(self, autoscaler: HorizontalPodAutoscaler) -> HorizontalPodAutoscaler:
        """Never with fewer than one pod at least, nor with its bounds in the wrong order."""
        scale = self._scales.get(autoscaler.target)
        if scale is None:
            return autoscaler
        least = max(1, self._number(scale, scale.autoscaler_min, autoscaler.min_replicas))
        most = max(least, self._number(scale, scale.autoscaler_max, autoscaler.max_replicas))
        return replace(autoscaler, min_replicas=least, max_replicas=most)

    def intent(self, intent: Intent) -> Intent:
        """With a count that follows; an intent about the whole cluster follows all workloads together."""
        if intent.count is None or intent.count.percent or intent.key == COUNTED_NODES:
            return intent
        for ref, scale in self._scales.items():
            rule = dict(scale.intents).get(intent.name)
            if rule is not None:
                return replace(intent, count=Amount(rule.of(self.pods[ref], self._nodes)))
        grown = sum(self._growth.values()) if intent.target is None else self._growth.get(intent.target, 0)
        return replace(intent, count=Amount(max(0, intent.count.number + grown)))

    def event(self, event: Event, setup: Setup) -> Event:
        """With replicas and amounts that follow, where the event writes some itself."""
        if event.budget_form is not None:
            return event.with_budget_form(self.budget(event.budget_form, setup))
        if isinstance(event, ScaleEvent) and event.target in self._growth:
            grown = self._growth[event.target]
            return replace(event, replicas=tuple(dict.fromkeys(max(0, value + grown) for value in event.replicas)))
        if not isinstance(event, Apply) or not event.replicas_given or event.workload.ref not in self._scales:
            return event
        scale = self._scales[event.workload.ref]
        written = self._number(scale, dict(scale.events).get(event.name), event.workload.replicas)
        return replace(event, workload=replace(event.workload, replicas=written))

    def budget(self, budget: PodDisruptionBudget, setup: Setup) -> PodDisruptionBudget:
        """With a `minAvailable` that follows the workloads it covers."""
        if budget.min_available is None or budget.min_available[1] or budget.selector is None:
            return budget
        covered = [w.ref for w in setup.workloads if w.namespace == budget.namespace and _selects(budget, w)]
        grown = sum(self._growth.get(ref, 0) for ref in covered)
        return replace(budget, min_available=(max(0, budget.min_available[0] + grown), False))

    def _number(self, scale: WorkloadScale, rule: Following | None, written: int) -> int:
        followed = follow(rule, written, self._replicas[scale.target], keeps_numbers=self._keeps)
        return followed.of(self.pods[scale.target], self._nodes)


def follow(rule: Following | None, written: int, replicas: int, *, keeps_numbers: bool = False) -> Following:
    """What a number of a workload with so many replicas in its manifest becomes: its rule, or the same distance."""
    if rule is not None:
        return rule
    return Following((Term(plus=written) if keeps_numbers else Term(pods=1, plus=written - replicas),))


def _selects(budget: PodDisruptionBudget, workload: Workload) -> bool:
    return budget.selector is not None and budget.selector.matches(dict(workload.template.labels))


def _with_nodes(setup: Setup, counts: Mapping[str, int]) -> Setup:
    """Nodes copied as often as asked, with the bare pods that run on them; other nodes are left out."""
    names = {node.name for node in setup.nodes}
    nodes: list[Node] = []
    workloads = [w for w in setup.workloads if not (w.rules.is_pod and w.bound_to in names)]
    for node in setup.nodes:
        riders = [w for w in setup.workloads if w.rules.is_pod and w.bound_to == node.name]
        for number in range(1, counts.get(node.name, 0) + 1):
            copy = copy_node(node, number)
            nodes.append(copy)
            workloads += _move_riders(riders, copy.name, number)
    return _regroup(replace(setup, nodes=tuple(nodes), workloads=tuple(workloads)))


def _regroup(setup: Setup) -> Setup:
    """The setup with as many slots of node groups as its nodes leave."""
    if setup.cluster_autoscaler is None:
        return setup
    from kubeproof.cluster.nodes.node_groups import with_groups

    return with_groups(setup, setup.cluster_autoscaler)


def copy_node(node: Node, number: int) -> Node:
    """The node itself, then copies of it under names of their own."""
    if number == 1:
        return node
    name = f"{node.name}-copy{number}"
    labels = dict(node.labels)
    if labels.get(HOSTNAME) == node.name:
        labels[HOSTNAME] = name
    return replace(node, name=name, labels=as_labels(labels))


def _move_riders(riders: Iterable[Workload], node: str, number: int) -> list[Workload]:
    """The bare pods of a node as those of its copy."""
    return [
        replace(
            rider,
            name=rider.name if number == 1 else f"{rider.name}-copy{number}",
            bound_to=node,
            template=replace(rider.template, node_name=node),
        )
        for rider in riders
    ]
