"""How large workloads get: every size that somebody writes, where only their own loops decide about their pods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.cluster.loops.footprint import Sizing, Writes, footprint_of
from kubeproof.cluster.objects import family
from kubeproof.cluster.state import ACTIVE
from kubeproof.intents.facts.counts import count_pods
from kubeproof.model.loops.actors import Slots
from kubeproof.model.plan import Plan
from kubeproof.model.reductions.starts_in_unison import BY_SIZE_ALONE, is_evicted_by_taints
from kubeproof.named_tuples import NamedTuple

ON_OBJECTS = Writes.USAGE | Writes.SIZES | Writes.TEMPLATES | Writes.OBJECTS | Writes.PODS
Starts = tuple[tuple[Any, ...], ...]  # vectors of cells


class Sizes(NamedTuple):
    """The least and the largest number of pods that a workload may ask for or have."""

    least: int
    most: int


def only_sizes_decide(plan: Plan) -> bool:
    """True if nothing happens to nodes, and nobody takes pods away but the ReplicaSet that owns them."""
    told = all(one.sizing is not Sizing.ANY and one.deletes in BY_SIZE_ALONE for one in plan.footprints)
    return told and all(footprint_of(event).writes in ON_OBJECTS for event in plan.events)


def is_left_alone(plan: Plan, number: int) -> bool:
    """True if a workload has one ReplicaSet, whose pods no taint evicts and no kubelet rejects."""
    workload = plan.setup.workloads[number]
    return (
        workload.rules.loop == ActorKind.REPLICA_SET
        and not workload.paused
        and not workload.template.node_name
        and len(family(plan.setup, number)) == 1
        and not is_evicted_by_taints(plan, number)
    )


def sizes_of(plan: Plan, number: int, starts: Starts) -> Sizes:
    """The sizes of a workload that is left alone, or the one of a bare Pod, from these first states on."""
    if plan.setup.workloads[number].rules.is_pod:
        return Sizes(0, 1)
    sizes = sorted({*_list_written(plan, number), *_at_start(plan, number, starts)})
    return Sizes(sizes[0], sizes[-1])


def _list_written(plan: Plan, number: int) -> Iterator[int]:
    """Every spec.replicas that somebody may write."""
    yield plan.setup.workloads[number].replicas
    for actor, footprint in plan.with_footprints:
        if footprint.sizing is Sizing.TOLD:
            yield from actor.sizes_for(number)  # type: ignore[attr-defined]


def _at_start(plan: Plan, number: int, starts: Starts) -> Iterator[int]:
    """The sizes and the pods of the first states."""
    for cells in starts:
        yield from (cells[1 + number].desired, cells[1 + number].replicas)
    yield from pods_at_start(plan, number, starts)


def pods_at_start(plan: Plan, number: int, starts: Starts) -> Iterator[int]:
    """How many pods of a workload there are in each of the first states."""
    first_place = Slots(plan).first_place
    for cells in starts:
        placed = sum(count_pods(nodes, (number,), ACTIVE) for nodes in cells[first_place:])
        yield cells[1 + number].unbound + placed
