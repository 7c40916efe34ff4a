"""What the functions of predicates measure, in the terms of one layout.

Nodes are shown as multisets of contents, so nothing here can tell equal nodes or equal pods apart. A function that
names a node or a label makes the layout keep such nodes apart (`kubeproof.intents.predicates.asked.find_mentioned`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kubeproof.cluster.api.selector_text import selector_from
from kubeproof.cluster.loops.tags import Tag, tag_of
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import PodTemplate, Setup
from kubeproof.cluster.services import (
    Extremes,
    Fallback,
    count_misrouted,
    count_misrouted_pods,
    extremes,
    fallbacks,
    load_ratio,
    sharing,
    splits_by_node,
)
from kubeproof.cluster.state import ACTIVE, DRAINING, KUBELET_LIVES, Health, NodeCell, Nodes, Phase, WorkloadCell
from kubeproof.intents.declarations import ANY_EVICTOR, BY_KERNEL_PANIC
from kubeproof.intents.facts.evictors import EVICTION_TAGS
from kubeproof.intents.facts.jobs import is_started, is_unfinished, jobs_of
from kubeproof.intents.predicates.asked import EventMemory, find_targeted
from kubeproof.intents.predicates.expressions import Call
from kubeproof.intents.predicates.observing import (
    Happening,
    Observable,
    add_all,
    count_on,
    find_meant,
    find_selected,
    see_nothing,
)
from kubeproof.intents.predicates.rollouts import (
    observe_revised,
    observe_revision,
    observe_rollout,
    observe_served,
    observe_wanted,
)

STEP_TAGS = {
    "bound": Tag.BIND,
    "rejected": Tag.REJECT,
    "rescaled": Tag.REPLICAS,
    "moved": Tag.PLACEMENT,
    "changed": Tag.REPLICAS | Tag.PODS | Tag.PLACEMENT,
}
SEEN_READY = (Health.UP, Health.LOST)  # what the API shows: silence counts only once it is noticed


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


def _pod_count(layout: Layout, call: Call) -> Observable:
    whose = find_meant(layout.setup, call)
    members, phases = frozenset(whose), POD_PHASES[call.name]

    def of_workload(_: int, cell: WorkloadCell) -> int:
        if call.name in ("pending", "replicas"):
            return cell.unbound
        return cell.failed if call.name == "failed" else 0

    def of_place(_: int, nodes: Nodes) -> int:
        bound = sum(count_on(cell, members, phases) * count for cell, count in nodes)
        return bound + (_count_pinned(nodes, members) if call.name in ("pending", "replicas") else 0)

    return Observable(whose, layout.every_place, of_workload, of_place, add_all)


def _count_pinned(nodes: Nodes, members: frozenset[int]) -> int:
    """Pods without a node that wait for the one they may run on."""
    return sum(pods * count for cell, count in nodes for whose, pods in cell.pinned if whose in members)


def _missing(layout: Layout, call: Call) -> Observable:
    spaces = {quota.namespace for quota in layout.setup.quotas}
    declared = [(index, layout.setup.workloads[index]) for index in find_meant(layout.setup, call)]
    whose = tuple(index for index, _ in declared)
    if not any(workload.refused or workload.namespace in spaces for _, workload in declared):
        return Observable(whose, (), see_nothing, see_nothing, add_all)
    members = frozenset(whose)

    def of_place(_: int, nodes: Nodes) -> int:
        return sum(count_on(cell, members, ACTIVE) * count for cell, count in nodes) + _count_pinned(nodes, members)

    def total(wanted: tuple[int, ...], there: tuple[int, ...]) -> int:
        return max(0, sum(wanted) - sum(there))

    return Observable(whose, layout.every_place, lambda _, cell: max(0, cell.replicas) - cell.unbound, of_place, total)


def _observe_desired(layout: Layout, call: Call) -> Observable:
    declared = tuple(i for i in find_meant(layout.setup, call) if layout.setup.workloads[i].owner is None)
    return Observable(declared, (), lambda _, cell: cell.desired if cell.exists else 0, see_nothing, add_all)


def _exists(layout: Layout, call: Call) -> Observable:
    whose = tuple(find_targeted(layout.setup.workloads, str(call.text("target"))))
    return Observable(whose, (), lambda _, cell: cell.exists, see_nothing, lambda ones, _: int(any(ones)))


def _nodes(layout: Layout, call: Call) -> Observable:
    wanted = {name: value for name, value in call.arguments if isinstance(value, bool)}
    places = _choose_places(layout, call.text("name"), call.text("selector"))

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

    return Observable((), places, see_nothing, of_place, add_all, pods=False)


def _choose_places(layout: Layout, name: str | None, selector: str | None) -> tuple[int, ...]:
    matches = selector_from(selector or "").matches
    return tuple(
        index
        for index, place in enumerate(layout.places)
        if name in (None, place.sample.name) and matches(place.sample.label_map)
    )


def _on(layout: Layout, call: Call) -> Observable:
    whose = find_meant(layout.setup, call)
    members = frozenset(whose)

    def of_place(_: int, nodes: Nodes) -> int:
        return sum(count_on(cell, members, ACTIVE) * count for cell, count in nodes)

    places = _choose_places(layout, call.text("node"), call.text("selector"))
    return Observable(whose, places, see_nothing, of_place, add_all)


# -- topology ---------------------------------------------------------------------------------------


def _admits(template: PodTemplate, layout: Layout, place: int) -> bool:
    """True if the pods' node affinity and node selector let them run there."""
    sample = layout.places[place].sample
    labels = sample.label_map
    if any(labels.get(key) != value for key, value in template.node_selector):
        return False
    terms = template.required_terms
    return terms is None or any(term.matches(labels, sample.name) for term in terms)


def _find_keyed(layout: Layout, key: str) -> tuple[int, ...]:
    return tuple(p for p in layout.every_place if key in layout.places[p].sample.label_map)


def _value(layout: Layout, place: int, key: str) -> str:
    return layout.places[place].sample.label_map[key]


def _skew(layout: Layout, call: Call) -> Observable:
    key, whose = str(call.text("topologyKey")), find_meant(layout.setup, call)
    members = frozenset(whose)
    places = _find_keyed(layout, key)
    if (target := call.text("target")) is not None:
        template = layout.setup.workloads[find_targeted(layout.setup.workloads, target)[0]].template
        places = tuple(place for place in places if _admits(template, layout, place))
    is_single = key in layout.unique_keys

    def of_place(_: int, nodes: Nodes) -> tuple[int, ...]:
        """The pods of every domain here: of each node, or of all of them together."""
        if not nodes:
            return ()
        each = [(count_on(cell, members, ACTIVE), count) for cell, count in nodes]
        return tuple(sorted({pods for pods, _ in each})) if is_single else (sum(p * n for p, n in each),)

    def total(_: tuple[Any, ...], seen: tuple[Any, ...]) -> int:
        amounts: dict[object, int] = {}
        for place, found in zip(places, seen, strict=True):
            for number, pods in enumerate(found):
                domain = (place, number) if is_single else _value(layout, place, key)
                amounts[domain] = amounts.get(domain, 0) + pods
        return max(amounts.values()) - min(amounts.values()) if amounts else 0

    return Observable(whose, places, see_nothing, of_place, total)


def _load_skew(layout: Layout, call: Call) -> Observable:
    whose = find_meant(layout.setup, call)
    # Where nobody splits by node every ready pod gets the same: as if all of them were on nodes of their own.
    splits = splits_by_node(layout.setup, whose)
    sharing = {number for split in splits for number in split}

    def of_place(_: int, nodes: Nodes) -> tuple[Extremes, ...]:
        alike = min(extremes(nodes, whose)[0], 1)
        return ((alike, alike), *(extremes(nodes, split) for split in splits))

    def total(_: tuple[Any, ...], seen: tuple[Any, ...]) -> int:
        return max((load_ratio(view[at] for view in seen) for at in range(1 + len(splits))), default=0)

    return Observable((*whose, *sorted(sharing - set(whose))), layout.every_place, see_nothing, of_place, total)


def _observe_misrouted(layout: Layout, call: Call) -> Observable:
    whose = find_meant(layout.setup, call)
    groups = sharing(layout.setup, whose)
    others = {number for group in groups for number in group} - set(whose)

    def of_place(_: int, nodes: Nodes) -> tuple[int, tuple[Fallback, ...]]:
        return count_misrouted(nodes, whose), tuple(fallbacks(nodes, group, whose) for group in groups)

    def total(_: tuple[Any, ...], seen: tuple[Any, ...]) -> int:
        return count_misrouted_pods(seen)

    return Observable((*whose, *sorted(others)), layout.every_place, see_nothing, of_place, total)


def _domains(layout: Layout, call: Call) -> Observable:
    key, whose = str(call.text("topologyKey")), find_meant(layout.setup, call)
    members, places, is_single = frozenset(whose), _find_keyed(layout, key), key in layout.unique_keys

    def of_place(_: int, nodes: Nodes) -> int:
        return sum(count for cell, count in nodes if count_on(cell, members, ACTIVE))

    def total(_: tuple[Any, ...], used: tuple[Any, ...]) -> int:
        if is_single:
            return sum(used)
        return len({_value(layout, place, key) for place, pods in zip(places, used, strict=True) if pods})

    return Observable(whose, places, see_nothing, of_place, total)


def _observe_shared(layout: Layout, call: Call) -> Observable:
    key, whose = str(call.text("topologyKey")), find_meant(layout.setup, call)
    members, places, is_single = frozenset(whose), _find_keyed(layout, key), key in layout.unique_keys
    others = frozenset(find_selected(layout.setup, call)) - members

    def of_place(_: int, nodes: Nodes) -> tuple[int, int, int]:
        """Nodes with the target's pods, with the others', with both."""
        held = [(count_on(c, members, ACTIVE) > 0, count_on(c, others, ACTIVE) > 0, n) for c, n in nodes]
        return sum(n for a, _, n in held if a), sum(n for _, b, n in held if b), sum(n for a, b, n in held if a and b)

    def total(_: tuple[Any, ...], seen: tuple[Any, ...]) -> int:
        if is_single:
            return sum(both for _, _, both in seen)
        rows = list(zip(places, seen, strict=True))
        ones = {_value(layout, place, key) for place, (own, _, _) in rows if own}
        return len(ones & {_value(layout, place, key) for place, (_, foreign, _) in rows if foreign})

    return Observable((*whose, *sorted(others)), places, see_nothing, of_place, total)


# -- events -----------------------------------------------------------------------------------------


def _has_happened(event: EventMemory, memory: tuple[int, ...]) -> int:
    return int(memory != event.first)


def _level(_: EventMemory, memory: tuple[int, ...]) -> int:
    return memory[0]


OF_EVENTS: dict[str, Callable[[EventMemory, tuple[int, ...]], int]] = {"happened": _has_happened, "level": _level}


# -- Jobs -------------------------------------------------------------------------------------------


def _jobs(layout: Layout, call: Call) -> Observable:
    """Jobs that are there, or those of them that have not completed."""
    whose = jobs_of(layout.setup, find_meant(layout.setup, call)[0])
    asks_all = call.name == "jobs"

    def of_workload(_: int, cell: WorkloadCell) -> int:
        return int(is_started(cell) if asks_all else is_unfinished(cell))

    def total(ones: tuple[Any, ...], _: tuple[Any, ...]) -> int:
        return sum(ones)

    return Observable(whose, (), of_workload, see_nothing, total)


MAKERS: dict[str, Callable[[Layout, Call], Observable]] = {
    **dict.fromkeys(POD_PHASES, _pod_count),
    "missing": _missing,
    "desired": _observe_desired,
    "exists": _exists,
    "nodes": _nodes,
    "on": _on,
    "skew": _skew,
    "loadSkew": _load_skew,
    "misrouted": _observe_misrouted,
    "domains": _domains,
    "shared": _observe_shared,
    "rolledOut": observe_rollout,
    "shouldRun": observe_wanted,
    "served": observe_served,
    "revised": observe_revised,
    "revision": observe_revision,
    "jobs": _jobs,
    "unfinished": _jobs,
}


def happening(setup: Setup, call: Call) -> Happening:
    """What a function about steps looks for."""
    if call.name == "panicked" or call.argument("by") == BY_KERNEL_PANIC:
        return Happening(int(Tag.PANIC))
    members = find_meant(setup, call)
    if call.name == "created":
        return Happening(created=frozenset(members))
    tag = EVICTION_TAGS[call.text("by") or ANY_EVICTOR] if call.name == "evicted" else STEP_TAGS[call.name]
    if call.text("target") is None:
        return Happening(int(tag))
    tags = 0
    for member in members:
        tags |= tag_of(member, tag)
    return Happening(tags)
