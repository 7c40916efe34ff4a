"""What the functions of predicates measure, in the terms of one layout.

Nodes are shown as multisets of contents, so nothing here can tell equal nodes or equal pods apart. A function that
names a node or a label makes the layout keep such nodes apart (`kubeproof.intents.predicates.mentioned`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kubeproof.cluster.control import Arrive, CreatePods, KeepNode, Tag, tag_of
from kubeproof.cluster.daemons import eligibility
from kubeproof.cluster.objects import PodTemplate, Setup, family, revisions_of
from kubeproof.cluster.places import Layout, taints_of
from kubeproof.cluster.selector_text import selector_from
from kubeproof.cluster.services import (
    Extremes,
    Fallback,
    extremes,
    fallbacks,
    load_ratio,
    misrouted,
    misrouted_pods,
    sharing,
    splits_by_node,
)
from kubeproof.cluster.state import ACTIVE, DRAINING, KUBELET_LIVES, Health, NodeCell, Nodes, Phase, WorkloadCell
from kubeproof.intents.declarations import ANY_EVICTOR, BY_KERNEL_PANIC
from kubeproof.intents.evictors import EVICTION_TAGS
from kubeproof.intents.expressions import Call
from kubeproof.intents.job_facts import is_started, is_unfinished, jobs_of
from kubeproof.intents.predicates import EventMemory, targeted
from kubeproof.values import dataclass

STEP_TAGS = {
    "bound": Tag.BIND,
    "rejected": Tag.REJECT,
    "rescaled": Tag.REPLICAS,
    "moved": Tag.PLACEMENT,
    "changed": Tag.REPLICAS | Tag.PODS | Tag.PLACEMENT,
}
SEEN_READY = (Health.UP, Health.LOST)  # what the API shows: silence counts only once it is noticed


@dataclass(frozen=True, slots=True)
class Observable:
    """A number (or 0 and 1) that is put together from what is seen of workloads and of places."""

    workloads: tuple[int, ...]  # in the order in which `total` gets them
    places: tuple[int, ...]
    of_workload: Callable[[int, WorkloadCell], Any]
    of_place: Callable[[int, Nodes], Any]
    total: Callable[[tuple[Any, ...], tuple[Any, ...]], int]
    pods: bool = True  # looks at pods, or at what makes them


@dataclass(frozen=True, slots=True)
class Happening:
    """What a step did: some of these tags, or an action that creates pods of these workloads."""

    tags: int = 0
    created: frozenset[int] = frozenset()

    def happened(self, tags: int, actions: Iterable[object]) -> bool:
        """True for a step with these tags and actions."""
        if tags & self.tags:
            return True
        return any(
            isinstance(a, CreatePods | Arrive | KeepNode)
            and a.workload in self.created
            and not (isinstance(a, KeepNode) and a.creates is None)
            for a in actions
        )


# -- whom a call speaks of --------------------------------------------------------------------------


def meant(setup: Setup, call: Call) -> tuple[int, ...]:
    """The workloads whose pods a call is about, with their later revisions."""
    target, selector = call.text("target"), call.text("selector")
    if call.name in ("on", "shared"):
        selector = None  # of nodes, and of the others
    if target is not None and selector is None:
        return tuple(m for index in targeted(setup.workloads, target) for m in family(setup, index))
    if selector is None:
        return tuple(range(len(setup.workloads)))
    return selected(setup, call)


def selected(setup: Setup, call: Call) -> tuple[int, ...]:
    """The workloads whose pods the call's selector matches; in the target's namespace unless another is named."""
    target, selector = call.text("target"), selector_from(call.text("selector") or "")
    namespace = call.text("namespace")
    if namespace is None and target is not None:
        namespace = next((setup.workloads[i].namespace for i in targeted(setup.workloads, target)), None)
    return tuple(
        index
        for index, w in enumerate(setup.workloads)
        if namespace in (None, w.namespace) and selector.matches(dict(w.template.labels))
    )


# -- counting pods and nodes ------------------------------------------------------------------------

POD_PHASES: dict[str, tuple[int, ...]] = {
    "ready": (Phase.READY,),
    "replicas": ACTIVE,
    "pending": (),
    "starting": (Phase.STARTING,),
    "running": (Phase.RUNNING, Phase.READY, Phase.UNREADY),
    "terminating": (Phase.TERMINATING,),
    "failed": (),
}


def _pods_on(cell: NodeCell, members: frozenset[int], phases: tuple[int, ...]) -> int:
    return sum(n for kind, n in cell.pods if kind.workload in members and kind.phase in phases)


def _sum(ones: tuple[int, ...], others: tuple[int, ...]) -> int:
    return sum(ones) + sum(others)


def _nothing(_: int, __: Any) -> int:
    return 0


def _pod_count(layout: Layout, call: Call) -> Observable:
    whose = meant(layout.setup, call)
    members, phases = frozenset(whose), POD_PHASES[call.name]

    def of_workload(_: int, cell: WorkloadCell) -> int:
        if call.name in ("pending", "replicas"):
            return cell.unbound
        return cell.failed if call.name == "failed" else 0

    def of_place(_: int, nodes: Nodes) -> int:
        bound = sum(_pods_on(cell, members, phases) * count for cell, count in nodes)
        return bound + (_pinned(nodes, members) if call.name in ("pending", "replicas") else 0)

    return Observable(whose, layout.every_place, of_workload, of_place, _sum)


def _pinned(nodes: Nodes, members: frozenset[int]) -> int:
    """Pods without a node that wait for the one they may run on."""
    return sum(pods * count for cell, count in nodes for whose, pods in cell.pinned if whose in members)


def _missing(layout: Layout, call: Call) -> Observable:
    spaces = {quota.namespace for quota in layout.setup.quotas}
    declared = [(index, layout.setup.workloads[index]) for index in meant(layout.setup, call)]
    whose = tuple(index for index, _ in declared)
    if not any(workload.refused or workload.namespace in spaces for _, workload in declared):
        return Observable(whose, (), _nothing, _nothing, _sum)
    members = frozenset(whose)

    def of_place(_: int, nodes: Nodes) -> int:
        return sum(_pods_on(cell, members, ACTIVE) * count for cell, count in nodes) + _pinned(nodes, members)

    def total(wanted: tuple[int, ...], there: tuple[int, ...]) -> int:
        return max(0, sum(wanted) - sum(there))

    return Observable(whose, layout.every_place, lambda _, cell: max(0, cell.replicas) - cell.unbound, of_place, total)


def _desired(layout: Layout, call: Call) -> Observable:
    declared = tuple(i for i in meant(layout.setup, call) if layout.setup.workloads[i].owner is None)
    return Observable(declared, (), lambda _, cell: cell.desired if cell.exists else 0, _nothing, _sum)


def _exists(layout: Layout, call: Call) -> Observable:
    whose = tuple(targeted(layout.setup.workloads, str(call.text("target"))))
    return Observable(whose, (), lambda _, cell: cell.exists, _nothing, lambda ones, _: int(any(ones)))


def _nodes(layout: Layout, call: Call) -> Observable:
    wanted = {name: value for name, value in call.arguments if isinstance(value, bool)}
    places = _chosen_places(layout, call.text("name"), call.text("selector"))

    def fits(cell: NodeCell) -> bool:
        facts = {
            "ready": cell.health in SEEN_READY,
            "up": cell.health in KUBELET_LIVES,
            "cordoned": bool(cell.cordoned),
            "draining": cell.work in DRAINING,
        }
        return all(facts[name] == value for name, value in wanted.items())

    def of_place(_: int, nodes: Nodes) -> int:
        return sum(count for cell, count in nodes if fits(cell))

    return Observable((), places, _nothing, of_place, _sum, pods=False)


def _chosen_places(layout: Layout, name: str | None, selector: str | None) -> tuple[int, ...]:
    matches = selector_from(selector or "").matches
    return tuple(
        index
        for index, place in enumerate(layout.places)
        if name in (None, place.sample.name) and matches(dict(place.sample.labels))
    )


def _on(layout: Layout, call: Call) -> Observable:
    whose = meant(layout.setup, call)
    members = frozenset(whose)

    def of_place(_: int, nodes: Nodes) -> int:
        return sum(_pods_on(cell, members, ACTIVE) * count for cell, count in nodes)

    places = _chosen_places(layout, call.text("node"), call.text("selector"))
    return Observable(whose, places, _nothing, of_place, _sum)


# -- topology ---------------------------------------------------------------------------------------


def _admits(template: PodTemplate, layout: Layout, place: int) -> bool:
    """True if the pods' node affinity and node selector let them run there."""
    sample = layout.places[place].sample
    labels = dict(sample.labels)
    if any(labels.get(key) != value for key, value in template.node_selector):
        return False
    terms = template.required_terms
    return terms is None or any(term.matches(labels, sample.name) for term in terms)


def _keyed(layout: Layout, key: str) -> tuple[int, ...]:
    return tuple(p for p in layout.every_place if key in dict(layout.places[p].sample.labels))


def _value(layout: Layout, place: int, key: str) -> str:
    return dict(layout.places[place].sample.labels)[key]


def _skew(layout: Layout, call: Call) -> Observable:
    key, whose = str(call.text("topologyKey")), meant(layout.setup, call)
    members = frozenset(whose)
    places = _keyed(layout, key)
    if (target := call.text("target")) is not None:
        template = layout.setup.workloads[targeted(layout.setup.workloads, target)[0]].template
        places = tuple(place for place in places if _admits(template, layout, place))
    is_single = key in layout.unique_keys

    def of_place(_: int, nodes: Nodes) -> tuple[int, ...]:
        """The pods of every domain here: of each node, or of all of them together."""
        if not nodes:
            return ()
        each = [(_pods_on(cell, members, ACTIVE), count) for cell, count in nodes]
        return tuple(sorted({pods for pods, _ in each})) if is_single else (sum(p * n for p, n in each),)

    def total(_: tuple[Any, ...], seen: tuple[Any, ...]) -> int:
        amounts: dict[object, int] = {}
        for place, found in zip(places, seen, strict=True):
            for number, pods in enumerate(found):
                domain = (place, number) if is_single else _value(layout, place, key)
                amounts[domain] = amounts.get(domain, 0) + pods
        return max(amounts.values()) - min(amounts.values()) if amounts else 0

    return Observable(whose, places, _nothing, of_place, total)


def _load_skew(layout: Layout, call: Call) -> Observable:
    whose = meant(layout.setup, call)
    # Where nobody splits by node every ready pod gets the same: as if all of them were on nodes of their own.
    splits = splits_by_node(layout.setup, whose)
    sharing = {number for split in splits for number in split}

    def of_place(_: int, nodes: Nodes) -> tuple[Extremes, ...]:
        alike = min(extremes(nodes, whose)[0], 1)
        return ((alike, alike), *(extremes(nodes, split) for split in splits))

    def total(_: tuple[Any, ...], seen: tuple[Any, ...]) -> int:
        return max((load_ratio(view[at] for view in seen) for at in range(1 + len(splits))), default=0)

    return Observable((*whose, *sorted(sharing - set(whose))), layout.every_place, _nothing, of_place, total)


def _misrouted(layout: Layout, call: Call) -> Observable:
    whose = meant(layout.setup, call)
    groups = sharing(layout.setup, whose)
    others = {number for group in groups for number in group} - set(whose)

    def of_place(_: int, nodes: Nodes) -> tuple[int, tuple[Fallback, ...]]:
        return misrouted(nodes, whose), tuple(fallbacks(nodes, group, whose) for group in groups)

    def total(_: tuple[Any, ...], seen: tuple[Any, ...]) -> int:
        return misrouted_pods(seen)

    return Observable((*whose, *sorted(others)), layout.every_place, _nothing, of_place, total)


def _domains(layout: Layout, call: Call) -> Observable:
    key, whose = str(call.text("topologyKey")), meant(layout.setup, call)
    members, places, is_single = frozenset(whose), _keyed(layout, key), key in layout.unique_keys

    def of_place(_: int, nodes: Nodes) -> int:
        return sum(count for cell, count in nodes if _pods_on(cell, members, ACTIVE))

    def total(_: tuple[Any, ...], used: tuple[Any, ...]) -> int:
        if is_single:
            return sum(used)
        return len({_value(layout, place, key) for place, pods in zip(places, used, strict=True) if pods})

    return Observable(whose, places, _nothing, of_place, total)


def _shared(layout: Layout, call: Call) -> Observable:
    key, whose = str(call.text("topologyKey")), meant(layout.setup, call)
    members, places, is_single = frozenset(whose), _keyed(layout, key), key in layout.unique_keys
    others = frozenset(selected(layout.setup, call)) - members

    def of_place(_: int, nodes: Nodes) -> tuple[int, int, int]:
        """Nodes with the target's pods, with the others', with both."""
        held = [(_pods_on(c, members, ACTIVE) > 0, _pods_on(c, others, ACTIVE) > 0, n) for c, n in nodes]
        return sum(n for a, _, n in held if a), sum(n for _, b, n in held if b), sum(n for a, b, n in held if a and b)

    def total(_: tuple[Any, ...], seen: tuple[Any, ...]) -> int:
        if is_single:
            return sum(both for _, _, both in seen)
        rows = list(zip(places, seen, strict=True))
        ones = {_value(layout, place, key) for place, (own, _, _) in rows if own}
        return len(ones & {_value(layout, place, key) for place, (_, foreign, _) in rows if foreign})

    return Observable((*whose, *sorted(others)), places, _nothing, of_place, total)


# -- rollouts ---------------------------------------------------------------------------------------


def _ready_and_active(members: tuple[int, ...], nodes: Nodes) -> tuple[tuple[int, int], ...]:
    """Ready pods and all that are not terminating, per workload."""
    return tuple(
        (
            sum(_pods_on(cell, frozenset((one,)), (Phase.READY,)) * n for cell, n in nodes),
            sum(_pods_on(cell, frozenset((one,)), ACTIVE) * n for cell, n in nodes),
        )
        for one in members
    )


def _rolled_out(layout: Layout, call: Call) -> Observable:
    whose = meant(layout.setup, call)
    if layout.setup.workloads[whose[0]].rules.runs_per_node:
        return _daemons(layout, whose, _is_updated, lambda wanted, served: int(wanted == served))
    if layout.setup.workloads[whose[0]].rules.has_ordinals:
        return _ordinals_updated(layout, whose)

    def of_place(_: int, nodes: Nodes) -> tuple[tuple[int, int], ...]:
        return _ready_and_active(whose, nodes)

    def total(ones: tuple[Any, ...], seen: tuple[Any, ...]) -> int:
        first: WorkloadCell = ones[0]
        return int(not first.exists or all(_is_as_asked(place, ones, seen) for place in range(len(ones))))

    return Observable(whose, layout.every_place, _spec, of_place, total)


def _spec(_: int, cell: WorkloadCell) -> WorkloadCell:
    return WorkloadCell(cell.exists, cell.desired, cell.replicas, cell.unbound, cell.template)


def _is_as_asked(revision: int, ones: tuple[Any, ...], seen: tuple[Any, ...]) -> bool:
    """True if a revision has the size, and the pods, that the Deployment asks of it."""
    wanted = ones[0].desired if revision == ones[0].template else 0
    ready = sum(view[revision][0] for view in seen)
    active = sum(view[revision][1] for view in seen) + ones[revision].unbound
    return max(ones[revision].replicas, 0) == wanted == active and (not wanted or ready == wanted)


def _ordinals_updated(layout: Layout, whose: tuple[int, ...]) -> Observable:
    """Of a StatefulSet: each ordinal wanted has a ready pod, of a revision that the partition allows, and no other."""
    declared = layout.setup.workloads[whose[0]]
    ordinals = len(whose[1:]) // revisions_of(layout.setup, whose[0])

    def of_place(_: int, nodes: Nodes) -> tuple[tuple[int, int], ...]:
        return _ready_and_active(whose[1:], nodes)

    def total(ones: tuple[Any, ...], seen: tuple[Any, ...]) -> int:
        first: WorkloadCell = ones[0]
        ready: set[int] = set()
        for position, cell in enumerate(ones[1:]):
            revision, number = divmod(position, ordinals)
            is_asked = number < first.desired and (revision == first.template or number < declared.stateful.partition)
            is_ready = any(view[position][0] for view in seen)
            if (cell.unbound or any(view[position][1] for view in seen)) and not (is_asked and is_ready):
                return int(not first.exists)
            ready |= {number} if is_ready else set()
        return int(not first.exists or len(ready) == first.desired)

    return Observable(whose, layout.every_place, _spec, of_place, total)


# -- DaemonSets -------------------------------------------------------------------------------------


def _daemons(
    layout: Layout,
    whose: tuple[int, ...],
    is_served: Callable[[NodeCell, tuple[int, ...], int], bool],
    told: Callable[[int, int], int],
) -> Observable:
    """Nodes where the revision asked for should run, and those of them that are served; none while it is deleted."""

    def of_place(place: int, nodes: Nodes) -> tuple[tuple[int, int], ...]:
        sample = layout.places[place].sample
        rows = []
        for revision in whose:
            template = layout.setup.workloads[revision].template
            wanted = [(c, n) for c, n in nodes if eligibility(template, sample, taints_of(sample, c)).should_run]
            rows.append((sum(n for _, n in wanted), sum(n for c, n in wanted if is_served(c, whose, revision))))
        return tuple(rows)

    def total(ones: tuple[Any, ...], seen: tuple[Any, ...]) -> int:
        if not ones[0].exists:
            return told(0, 0)
        rows = [view[ones[0].template] for view in seen]
        return told(sum(wanted for wanted, _ in rows), sum(served for _, served in rows))

    return Observable(whose, layout.every_place, _spec, of_place, total)


def _is_ready(cell: NodeCell, whose: tuple[int, ...], _: int) -> bool:
    return _pods_on(cell, frozenset(whose), (Phase.READY,)) > 0


def _is_updated(cell: NodeCell, whose: tuple[int, ...], revision: int) -> bool:
    """True if the only pod that is not terminating is ready and of the revision."""
    members = frozenset(whose)
    alone = _pods_on(cell, members, ACTIVE) == _pods_on(cell, frozenset((revision,)), (Phase.READY,)) == 1
    return alone and not any(one in members for one, _ in cell.pinned)


def _should_run(layout: Layout, call: Call) -> Observable:
    return _daemons(layout, meant(layout.setup, call), _is_ready, lambda wanted, _: wanted)


def _served(layout: Layout, call: Call) -> Observable:
    return _daemons(layout, meant(layout.setup, call), _is_ready, lambda _, served: served)


def _revised(layout: Layout, call: Call) -> Observable:
    whose = meant(layout.setup, call)

    is_stateful = layout.setup.workloads[whose[0]].rules.has_ordinals  # whose further members are its ordinals

    def total(ones: tuple[Any, ...], _: tuple[Any, ...]) -> int:
        later = not is_stateful and any(one.replicas >= 0 for one in ones[1:])
        return int(bool(ones[0].exists and (ones[0].template or later)))

    return Observable(whose, (), _spec, _nothing, total)


def _revision(layout: Layout, call: Call) -> Observable:
    whose = tuple(targeted(layout.setup.workloads, str(call.text("target"))))
    return Observable(whose, (), lambda _, cell: 1 + cell.template if cell.exists else 0, _nothing, _sum)


# -- events -----------------------------------------------------------------------------------------


def _has_happened(event: EventMemory, memory: tuple[int, ...]) -> int:
    return int(memory != event.first)


def _level(_: EventMemory, memory: tuple[int, ...]) -> int:
    return memory[0]


OF_EVENTS: dict[str, Callable[[EventMemory, tuple[int, ...]], int]] = {"happened": _has_happened, "level": _level}


# -- Jobs -------------------------------------------------------------------------------------------


def _jobs(layout: Layout, call: Call) -> Observable:
    """Jobs that are there, or those of them that have not completed."""
    whose = jobs_of(layout.setup, meant(layout.setup, call)[0])
    asks_all = call.name == "jobs"

    def of_workload(_: int, cell: WorkloadCell) -> int:
        return int(is_started(cell) if asks_all else is_unfinished(cell))

    def total(ones: tuple[Any, ...], _: tuple[Any, ...]) -> int:
        return sum(ones)

    return Observable(whose, (), of_workload, _nothing, total)


MAKERS: dict[str, Callable[[Layout, Call], Observable]] = {
    **dict.fromkeys(POD_PHASES, _pod_count),
    "missing": _missing,
    "desired": _desired,
    "exists": _exists,
    "nodes": _nodes,
    "on": _on,
    "skew": _skew,
    "loadSkew": _load_skew,
    "misrouted": _misrouted,
    "domains": _domains,
    "shared": _shared,
    "rolledOut": _rolled_out,
    "shouldRun": _should_run,
    "served": _served,
    "revised": _revised,
    "revision": _revision,
    "jobs": _jobs,
    "unfinished": _jobs,
}


def happening(setup: Setup, call: Call) -> Happening:
    """What a function about steps looks for."""
    if call.name == "panicked" or call.argument("by") == BY_KERNEL_PANIC:
        return Happening(int(Tag.PANIC))
    members = meant(setup, call)
    if call.name == "created":
        return Happening(created=frozenset(members))
    tag = EVICTION_TAGS[call.text("by") or ANY_EVICTOR] if call.name == "evicted" else STEP_TAGS[call.name]
    if call.text("target") is None:
        return Happening(int(tag))
    tags = 0
    for member in members:
        tags |= tag_of(member, tag)
    return Happening(tags)
