"""Workloads that nothing in a run ever touches, whose pods are room that is taken.

Something happens to a few nodes of a running cluster. A workload that is complete, that has no pod on these nodes, that
no event, autoscaler or budget of others is about, and that nobody may preempt, has nothing to do at the start and never
will: what its loops look at never changes. Of its pods the others notice what they take of their nodes, and the images
that they have brought. So it is left out, and its pods are `Node.held`. The runs of what is left are the runs of the
whole, step by step; `docs/explanation/reductions.md` has the argument.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from kubeproof.cluster.labels import NO_EXECUTE
from kubeproof.cluster.loops.footprint import Scope, footprint_of
from kubeproof.cluster.nodes.daemons import eligibility
from kubeproof.cluster.nodes.images import image_sizes, images_of
from kubeproof.cluster.objects import Held, Node, PodTemplate, Setup, Workload
from kubeproof.cluster.running import RunningPods
from kubeproof.cluster.state import Phase
from kubeproof.cluster.steering.priorities import priority_of
from kubeproof.controllers.admission.quota import is_meant
from kubeproof.controllers.loops import may_reach_all
from kubeproof.controllers.scheduler.requests import pod_requests
from kubeproof.events.declarations import Cordon, Drain, Event, NodeFailure, ZoneFailure
from kubeproof.manifests.loaded import RUNNING, Loaded
from kubeproof.values import dataclass, replace
from kubeproof.verify.proofs.slicing import find_related

NEVER_PREEMPTS = "Never"


@dataclass(frozen=True, slots=True)
class Standing:
    """An input without the workloads that stand still."""

    loaded: Loaded
    left_out: tuple[str, ...] = ()  # their references


def set_aside(loaded: Loaded) -> Standing:
    """The input with pods that nothing moves as room that is taken; the input itself where that is not known."""
    hit = _find_hit_nodes(loaded)
    if hit is None or loaded.scenario.start.mode != RUNNING or _is_steered(loaded.setup):
        return Standing(loaded)
    moving = find_related(loaded, _Moving(loaded, hit).first())
    while more := {ref for ref in _find_preempted(loaded.setup, moving) if ref not in moving}:
        moving = find_related(loaded, moving | more)
    if all(one.ref in moving for one in loaded.setup.workloads):
        return Standing(loaded)
    return _leave_out(loaded, moving)


def _is_steered(setup: Setup) -> bool:
    """True if somebody moves pods that are where they belong, or changes what they ask for."""
    return bool(
        setup.descheduler is not None
        or setup.cluster_autoscaler is not None
        or setup.verticals
        or setup.settings.gitops_interval_s is not None
        or setup.settings.startup_choices
        or may_reach_all(setup)
    )


# -- who may move -----------------------------------------------------------------------------------


def _find_hit_nodes(loaded: Loaded) -> frozenset[str] | None:
    """The nodes to which something may happen; None if that is not known."""
    found: set[str] = set()
    for event in loaded.scenario.events:
        told = footprint_of(event)
        if told.concerns_all or told.takes_pods_of is Scope.ANYWHERE:
            return None
        if told.takes_pods_of in (Scope.NODE, Scope.DOMAIN) or event.may_uncordon:
            found |= {node.name for node in loaded.setup.nodes if _admits(event, node)}
        found |= {event.one_node} if event.one_node is not None else set()
    return frozenset(found)


def _admits(event: Event, node: Node) -> bool:
    """True if the event may hit the node."""
    domains = getattr(event, "domains", None)
    if event.domain_key is not None and domains is not None and node.label_map.get(event.domain_key) not in domains:
        return False
    choice = getattr(event, "nodes", None)
    return choice is None or bool(choice.admits(node))


def _spares_daemons(event: Event) -> bool:
    """True if pods of DaemonSets go on as they are, or stay on a dead node: nobody else is ever to have their room."""
    if isinstance(event, NodeFailure | ZoneFailure):
        return not event.recovers
    return isinstance(event, Drain | Cordon) or footprint_of(event).takes_pods_of in (Scope.NOWHERE, Scope.WORKLOAD)


class _Moving:
    """Which workloads something happens to, or that are not at rest."""

    def __init__(self, loaded: Loaded, hit: frozenset[str]) -> None:
        self._loaded, self._hit = loaded, hit
        self._pods: dict[str, list[RunningPods]] = {}
        for one in loaded.scenario.start.pods:
            self._pods.setdefault(one.ref, []).append(one)
        self._nodes = {node.name: node for node in loaded.setup.nodes}

    @cached_property
    def _named(self) -> frozenset[str]:
        """Workloads that an event, an intent or an autoscaler is about."""
        scenario, setup = self._loaded.scenario, self._loaded.setup
        subjects = (*(e.subject for e in scenario.events), *(i.target for i in scenario.intents))
        return frozenset(str(ref) for ref in (*subjects, *(one.target for one in setup.autoscalers)))

    @cached_property
    def _spares_daemons(self) -> bool:
        return all(map(_spares_daemons, self._loaded.scenario.events))

    def first(self) -> frozenset[str]:
        """Their references."""
        workloads = self._loaded.setup.workloads
        return frozenset(one.ref for one in workloads if one.ref in self._named or not self._stands(one))

    def _stands(self, workload: Workload) -> bool:
        rules, pods = workload.rules, self._pods.get(workload.ref, [])
        if workload.owner is not None or rules.runs_to_completion or workload.refused:
            return False
        if rules.is_pod:
            return workload.bound_to in self._nodes and self._is_safe(str(workload.bound_to))
        if any(one.phase != Phase.READY for one in pods):
            return False
        if rules.runs_per_node:
            return self._spares_daemons and self._is_everywhere(workload, pods)
        is_complete = sum(one.number for one in pods) == workload.replicas
        return is_complete and rules.replaces_pods and all(self._is_safe(one.node) for one in pods)

    def _is_safe(self, node: str) -> bool:
        """True if nothing happens to pods of the node, by an event or by a taint."""
        return node not in self._hit and not any(t.effect == NO_EXECUTE for t in self._nodes[node].taints)

    def _is_everywhere(self, workload: Workload, pods: Iterable[RunningPods]) -> bool:
        """True if the DaemonSet has one pod on each node where it should, and no other."""
        nodes = self._nodes.values()
        if any(taint.effect == NO_EXECUTE for node in nodes for taint in node.taints):
            return False
        wanted = {node.name: 1 for node in nodes if eligibility(workload.template, node, node.taints).should_run}
        return Counter({one.node: one.number for one in pods}) == wanted


def _find_preempted(setup: Setup, moving: frozenset[str]) -> Iterator[str]:
    """The workloads of which a pod may make room for one that moves."""
    going = [one.template for one in setup.workloads if one.ref in moving]
    ranks = [priority_of(template) for template in going if template.preemption_policy != NEVER_PREEMPTS]
    yield from (one.ref for one in setup.workloads if ranks and priority_of(one.template) < max(ranks))


# -- what is left -----------------------------------------------------------------------------------


def _leave_out(loaded: Loaded, moving: frozenset[str]) -> Standing:
    setup, scenario = loaded.setup, loaded.scenario
    staying = {one.ref: one for one in setup.workloads if one.ref not in moving}
    left = tuple(one for one in setup.workloads if one.ref in moving)
    there = _list_there(scenario.start.pods, staying)
    smaller = replace(
        setup,
        nodes=tuple(_Holding(setup, there)),
        workloads=left,
        budgets=tuple(b for b in setup.budgets if any(_covers(b.namespace, b.selector, one) for one in left)),
        quotas=tuple(quota for quota in setup.quotas if any(is_meant(quota, one) for one in left)),
    )
    start = replace(scenario.start, pods=tuple(one for one in scenario.start.pods if one.ref in moving))
    return Standing(replace(loaded, setup=smaller, scenario=replace(scenario, start=start)), tuple(staying))


def _covers(namespace: str, selector: object, workload: Workload) -> bool:
    matches = getattr(selector, "matches", None)
    return workload.namespace == namespace and matches is not None and bool(matches(dict(workload.template.labels)))


def _list_there(pods: Iterable[RunningPods], staying: Mapping[str, Workload]) -> dict[str, list[tuple[Workload, int]]]:
    """Per node the workloads that stay, with how many pods of theirs are there."""
    found: dict[str, list[tuple[Workload, int]]] = {}
    for one in pods:
        if one.ref in staying:
            found.setdefault(one.node, []).append((staying[one.ref], one.number))
    for workload in staying.values():
        if workload.bound_to is not None:
            found.setdefault(workload.bound_to, []).append((workload, 1))
    return found


class _Holding:
    """The nodes of a setup with what those that stay hold of them."""

    def __init__(self, setup: Setup, there: Mapping[str, list[tuple[Workload, int]]]) -> None:
        self._setup, self._there = setup, there
        self._sizes = image_sizes(setup)
        self._known: dict[PodTemplate, tuple[Mapping[str, int], Mapping[str, int], tuple[str, ...]]] = {}

    def __iter__(self) -> Iterator[Node]:
        for node in self._setup.nodes:
            pods = self._there.get(node.name)
            yield self._hold(node, pods) if pods else node

    def _hold(self, node: Node, pods: Iterable[tuple[Workload, int]]) -> Node:
        requested: Counter[str] = Counter(dict(node.held.requested))
        scored: Counter[str] = Counter(dict(node.held.scored))
        images, count = dict(node.images), node.held.pods
        for workload, number in pods:
            true, weighed, brought = self._ask(workload.template)
            requested.update({name: amount * number for name, amount in true.items()})
            scored.update({name: amount * number for name, amount in weighed.items()})
            images.update({name: self._sizes[name] for name in brought if name in self._sizes})
            count += number
        held = Held(count, tuple(sorted(requested.items())), tuple(sorted(scored.items())))
        return replace(node, held=held, images=tuple(images.items()))

    def _ask(self, template: PodTemplate) -> tuple[Mapping[str, int], Mapping[str, int], tuple[str, ...]]:
        if template not in self._known:
            version = self._setup.settings.kubernetes_version
            asked = pod_requests(template, version)
            self._known[template] = (asked.true, asked.scored, images_of(template, version))
        return self._known[template]
