"""The cells of a run that begins with the pods of a real cluster."""

from __future__ import annotations

from kubeproof.cluster.objects import Setup, family, workload_number
from kubeproof.cluster.running import PENDING, RunningPods
from kubeproof.cluster.state import NodeCell, WorkloadCell, add_pinned
from kubeproof.model.mechanics import Mechanics


def with_running(
    mechanics: Mechanics, cells: tuple[NodeCell, ...], pods: tuple[RunningPods, ...]
) -> tuple[NodeCell, ...]:
    """The nodes with these pods on them; a pod that waits for one node alone waits there."""
    if not pods:
        return cells
    setup, found = mechanics.setup, list(cells)
    numbers = {node.name: index for index, node in enumerate(setup.nodes)}
    for one in pods:
        if not one.node:
            continue
        index, workload = numbers[one.node], _member(setup, one)
        if one.phase == PENDING:
            pinned = add_pinned(found[index].pinned, workload, one.number)
            found[index] = found[index]._replace(pinned=pinned)
        else:
            found[index] = mechanics.place_found(setup.nodes[index], found[index], workload, one.phase, one.number)
    return tuple(found)


def with_waiting(
    setup: Setup, cells: tuple[WorkloadCell, ...], pods: tuple[RunningPods, ...]
) -> tuple[WorkloadCell, ...]:
    """The workloads with their pods that have no node."""
    if not pods:
        return cells
    found = list(cells)
    for one in pods:
        if one.phase == PENDING and not one.node:
            workload = _member(setup, one)
            found[workload] = found[workload]._replace(unbound=found[workload].unbound + one.number)
    return tuple(found)


def _member(setup: Setup, one: RunningPods) -> int:
    """The workload that stands for the pods: of a StatefulSet that of the ordinal, of its first revision."""
    number = workload_number(setup, one.ref)
    if not setup.workloads[number].rules.has_ordinals:
        return number
    return next(w for w in family(setup, number)[1:] if setup.workloads[w].ordinal == one.ordinal)
