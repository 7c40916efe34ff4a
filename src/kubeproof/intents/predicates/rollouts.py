"""What predicates measure of rollouts and of DaemonSets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kubeproof.cluster.nodes.daemons import eligibility
from kubeproof.cluster.nodes.places import Layout, taints_of
from kubeproof.cluster.objects import revisions_of
from kubeproof.cluster.state import ACTIVE, NodeCell, Nodes, Phase, WorkloadCell
from kubeproof.intents.predicates.asked import find_targeted
from kubeproof.intents.predicates.expressions import Call
from kubeproof.intents.predicates.observing import Observable, add_all, count_on, find_meant, see_nothing


def _ready_and_active(members: tuple[int, ...], nodes: Nodes) -> tuple[tuple[int, int], ...]:
    """Ready pods and all that are not terminating, per workload."""
    return tuple(
        (
            sum(count_on(cell, frozenset((one,)), (Phase.READY,)) * n for cell, n in nodes),
            sum(count_on(cell, frozenset((one,)), ACTIVE) * n for cell, n in nodes),
        )
        for one in members
    )


def observe_rollout(layout: Layout, call: Call) -> Observable:
    """1 if all pods are of the revision asked for, and ready."""
    whose = find_meant(layout.setup, call)
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
    return count_on(cell, frozenset(whose), (Phase.READY,)) > 0


def _is_updated(cell: NodeCell, whose: tuple[int, ...], revision: int) -> bool:
    """True if the only pod that is not terminating is ready and of the revision."""
    members = frozenset(whose)
    alone = count_on(cell, members, ACTIVE) == count_on(cell, frozenset((revision,)), (Phase.READY,)) == 1
    return alone and not any(one in members for one, _ in cell.pinned)


def observe_wanted(layout: Layout, call: Call) -> Observable:
    """Nodes where a DaemonSet should run."""
    return _daemons(layout, find_meant(layout.setup, call), _is_ready, lambda wanted, _: wanted)


def observe_served(layout: Layout, call: Call) -> Observable:
    """Nodes where it should, and is ready."""
    return _daemons(layout, find_meant(layout.setup, call), _is_ready, lambda _, served: served)


def observe_revised(layout: Layout, call: Call) -> Observable:
    """1 if a later revision was ever asked for."""
    whose = find_meant(layout.setup, call)

    is_stateful = layout.setup.workloads[whose[0]].rules.has_ordinals  # whose further members are its ordinals

    def total(ones: tuple[Any, ...], _: tuple[Any, ...]) -> int:
        later = not is_stateful and any(one.replicas >= 0 for one in ones[1:])
        return int(bool(ones[0].exists and (ones[0].template or later)))

    return Observable(whose, (), _spec, see_nothing, total)


def observe_revision(layout: Layout, call: Call) -> Observable:
    """The number of the revision asked for; 0 while the workload is deleted."""
    whose = tuple(find_targeted(layout.setup.workloads, str(call.text("target"))))
    return Observable(whose, (), lambda _, cell: 1 + cell.template if cell.exists else 0, see_nothing, add_all)
