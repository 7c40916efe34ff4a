"""The scheduler as a control loop: binds one pod of one workload per step.

Any pending pod may be tried next: queue order among equal priorities depends on creation order and back-off, which
the model leaves open. An attempt that finds no node changes nothing, so a pod that fits nowhere has no step until
something changes. Assuming and binding are one step.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kubeproof.cluster.control import Bind, Decision, NodeRef, Reads, Seen, Stage
from kubeproof.cluster.objects import short_name
from kubeproof.cluster.places import Layout, taints_of
from kubeproof.cluster.state import Health, NodeCell, Phase, WorkloadCell
from kubeproof.controllers.scheduler.framework import NodeInfo, PodCount, Scheduler

# cordoned, unreachable, tainted NoExecute, pods, images brought
Facts = tuple[int, int, int, tuple[PodCount, ...], int]


def node_facts(cell: NodeCell) -> Facts:
    """What the scheduler sees of a node: cordon, what its taints depend on, pods by workload."""
    amounts: dict[int, list[int]] = {}
    for kind, count in cell.pods:
        both = amounts.setdefault(kind.workload, [0, 0])
        both[kind.phase == Phase.TERMINATING] += count
    pods = tuple(PodCount(workload, *both) for workload, both in sorted(amounts.items()))
    return cell.cordoned, int(cell.health >= Health.UNKNOWN), cell.no_execute, pods, cell.images


MOST_KNOWN = 100_000  # decisions that a controller remembers beyond one search


@dataclass(frozen=True, slots=True)
class SchedulerController:
    """The scheduler's work for one workload's pods."""

    layout: Layout
    workload: int
    stage: int = Stage.ALWAYS
    _kernel: Scheduler = field(init=False, compare=False, repr=False)
    _known: dict[object, tuple[Decision, ...]] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        kernel = Scheduler(self.layout.setup, self.workload, self.layout.unique_keys)
        object.__setattr__(self, "_kernel", kernel)

    @property
    def name(self) -> str:
        return f"scheduler {short_name(self.layout.setup, self.workload)}"

    @property
    def kernel(self) -> Scheduler:
        """The decision kernel, for explanations."""
        return self._kernel

    @property
    def reads(self) -> Reads:
        return Reads(workloads=(self.workload,), places=self.layout.every_place)

    def show_workload(self, workload: int, cell: WorkloadCell) -> bool:
        """Whether a pod waits for a node."""
        return cell.unbound > 0

    def show_node(self, place: int, cell: NodeCell) -> Facts:
        """Condition and pods, phases and clocks left out."""
        return node_facts(cell)

    def act(self, seen: Seen) -> tuple[Decision, ...]:
        """A binding to each node among the best."""
        if not seen.workloads[0] or not self._kernel.has_profile:
            return ()
        known = self._known.get(seen.places)
        if known is None:
            known = self._bindings(seen)
            if len(self._known) < MOST_KNOWN:
                self._known[seen.places] = known
        return known

    def _bindings(self, seen: Seen) -> tuple[Decision, ...]:
        refs, infos = self.candidates(seen)
        chosen = dict.fromkeys(refs[index] for index in self._kernel.choose(infos))
        return tuple(Decision((Bind(ref, self.workload),)) for ref in chosen)

    def candidates(self, seen: Seen) -> tuple[list[NodeRef], list[NodeInfo]]:
        """The nodes as the plugins take them, with the reference of each."""
        refs: list[NodeRef] = []
        infos: list[NodeInfo] = []
        for place, groups in zip(self.reads.places, seen.places, strict=True):
            for view, count in groups:
                refs.append(NodeRef(place, view))
                infos.append(self.node_info(place, view, count))
        return refs, infos

    def info_of(self, place: int, cell: NodeCell) -> NodeInfo:
        """One node as the filters see it, for explanations."""
        return self.node_info(place, node_facts(cell), 1)

    def node_info(self, place: int, view: Facts, count: int) -> NodeInfo:
        """One group of nodes as the plugins take it."""
        return node_info(self.layout, place, view, count)


def node_info(layout: Layout, place: int, view: Facts, count: int) -> NodeInfo:
    """A group of nodes of one place as the plugins take it."""
    cordoned, is_out, no_execute, pods, images = view
    sample = layout.places[place].sample
    condition = NodeCell(health=Health.UNKNOWN if is_out else Health.UP, cordoned=cordoned, no_execute=no_execute)
    return NodeInfo(sample, count, bool(cordoned), taints_of(sample, condition), pods, images)
