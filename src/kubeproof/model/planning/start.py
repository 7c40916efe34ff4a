"""The cells that a run starts from."""

from __future__ import annotations

from kubeproof.cluster.loops.actions import ANY, Arrive, NodeRef
from kubeproof.cluster.loops.footprint import Writes, footprint_of
from kubeproof.cluster.objects import Setup, family, workload_number
from kubeproof.cluster.running import RunningPods
from kubeproof.cluster.state import Health, NodeCell, WorkloadCell
from kubeproof.model.expansion.revisions import find_started_later
from kubeproof.model.expansion.running import with_running, with_waiting
from kubeproof.model.layout import alike
from kubeproof.model.mechanics import Mechanics
from kubeproof.model.planning.given import Given, Placement
from kubeproof.named_tuples import NamedTuple


class Start(NamedTuple):
    """The first cells."""

    workloads: tuple[WorkloadCell, ...]
    nodes: tuple[NodeCell, ...]  # one per node of the setup
    kin: tuple[int, ...]  # per workload the one as which its pods count: another one for equal bare Pods


def begin_with(given: Given, mechanics: Mechanics, brought: frozenset[int]) -> Start:
    """The first cells; workloads that are `brought` by an event are not there."""
    setup, placement, running = given.setup, given.placement, given.running
    absent = brought | given.applied | find_started_later(setup)
    kin = alike(setup, given.named) if given.may_merge else tuple(range(len(setup.workloads)))
    cells = tuple(
        WorkloadCell(exists=0) if index in absent else mechanics.create(index) for index in range(len(setup.workloads))
    )
    later = {str(event.one_node) for event in given.events if footprint_of(event).writes & Writes.ARRIVALS}
    nodes = _first_nodes(mechanics, absent | _find_placed(setup, placement, running), placement, kin, later)
    return Start(
        with_waiting(setup, _place_workloads(setup, cells, placement, running), running),
        with_running(mechanics, nodes, running),
        kin,
    )


def _place_workloads(
    setup: Setup, workloads: tuple[WorkloadCell, ...], placement: Placement, running: tuple[RunningPods, ...]
) -> tuple[WorkloadCell, ...]:
    """Placed workloads have their ReplicaSet already."""
    placed = _find_placed(setup, placement, running)
    return tuple(
        cell._replace(replicas=_size(setup, index, cell), unbound=0) if index in placed else cell
        for index, cell in enumerate(workloads)
    )


def _find_placed(setup: Setup, placement: Placement, running: tuple[RunningPods, ...]) -> frozenset[int]:
    """The workloads that the placement speaks of; a bare Pod that it puts nowhere begins as without it."""
    numbered = ((workload_number(setup, ref), sum(count for _, count in spots)) for ref, spots in placement)
    placed = frozenset(number for number, pods in numbered if pods or not setup.workloads[number].rules.is_pod)
    return placed | {workload_number(setup, one.ref) for one in running}


def _size(setup: Setup, workload: int, cell: WorkloadCell) -> int:
    """The size of a placed workload's ReplicaSet; a bare Pod has none."""
    is_sized = setup.workloads[workload].rules.has_replica_set
    return cell.desired if is_sized else cell.replicas


def _first_nodes(
    mechanics: Mechanics, elsewhere: frozenset[int], placement: Placement, kin: tuple[int, ...], later: set[str]
) -> tuple[NodeCell, ...]:
    """The nodes with the pods that are there already; a pod that names its node never meets the scheduler.

    Workloads `elsewhere` are absent or placed. Nodes that an event brings `later` are not there.
    """
    setup = mechanics.setup
    numbers = {node.name: index for index, node in enumerate(setup.nodes)}
    cells = [
        NodeCell(
            health=Health.ABSENT if node.is_slot or node.name in later else Health.UP, cordoned=int(node.unschedulable)
        )
        for node in setup.nodes
    ]

    def put(name: str, workload: int, count: int, *, runs: bool) -> None:
        node = numbers[name]
        if runs:
            cells[node] = mechanics.running(setup.nodes[node], cells[node], workload, count)
        else:
            arrival = Arrive(NodeRef(node, ANY), workload, count)
            (cells[node],) = mechanics.on_node(setup.nodes[node], cells[node], arrival)

    for index, workload in enumerate(setup.workloads):
        if index not in elsewhere and workload.home in numbers:
            put(str(workload.home), kin[index], 1, runs=workload.bound_to is not None)
    for ref, spots in placement:
        number = workload_number(setup, ref)
        ordinals = iter(family(setup, number)[1:])  # of a StatefulSet, the lowest first
        for name, count in spots:
            if setup.workloads[number].rules.has_ordinals:
                for _ in range(count):
                    put(name, next(ordinals), 1, runs=True)
            elif count:
                put(name, number, count, runs=True)
    return tuple(cells)
