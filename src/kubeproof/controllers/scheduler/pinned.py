"""The scheduler's work for pods that may only run on one node: those of DaemonSets.

A daemon pod requires its node by name (`metadata.name In [node]`), which replaces the required terms of the template.
Filters that compare nodes still look at all of them; the pod is bound if its node passes.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Generic, TypeVar

from kubeproof.cluster.labels import NodeTerm, Requirement
from kubeproof.cluster.loops.actions import BindPinned, NodeRef
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Reads, Seen, Stage
from kubeproof.cluster.loops.footprint import NOBODY, Among, Clocks, Footprint, Writes
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import Setup, short_name
from kubeproof.cluster.state import NodeCell, WorkloadCell
from kubeproof.controllers.scheduler.controller import MOST_KNOWN, Facts, node_facts, node_info
from kubeproof.controllers.scheduler.framework import NodeInfo, Row, Scheduler
from kubeproof.controllers.scheduler.mentions import mention_scheduling
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

Shown = TypeVar("Shown")


class Wanted(NamedTuple, Generic[Shown]):
    """A node as the scheduler sees it, and whether a pod of the workload waits for it."""

    facts: Shown
    waits: bool


Sight = Seen[None, Groups[Wanted[Facts]]]


@dataclass(frozen=True, slots=True)
class PinnedScheduler:
    """Binds pods of one workload to the nodes they are made for."""

    layout: Layout
    workload: int
    stage: int = Stage.ALWAYS
    _kernels: dict[str, Scheduler] = field(default_factory=dict, compare=False, repr=False)
    _known: dict[object, tuple[Decision, ...]] = field(default_factory=dict, compare=False, repr=False)

    reads_nodes = mention_scheduling

    @property
    def footprint(self) -> Footprint:
        return Footprint(
            writes=Writes.BINDINGS,
            clocks=Clocks(0),
            tells_starts=NOBODY,
            sees_objects=NOBODY,
            sees_new_pods=NOBODY,
            among=Among.FILLED,
        )

    @property
    def name(self) -> Actor:
        return Actor(ActorKind.SCHEDULER, short_name(self.layout.setup, self.workload))

    @property
    def reads(self) -> Reads:
        return Reads(places=self.layout.every_place)

    def show_workload(self, workload: int, cell: WorkloadCell) -> None:
        """Never looks at workloads: the pods that wait are told with their nodes."""

    def show_node(self, place: int, cell: NodeCell) -> Wanted[Facts]:
        """Condition and pods, and whether a pod waits for the node."""
        return Wanted(node_facts(cell), any(workload == self.workload for workload, _ in cell.pinned))

    def act(self, seen: Sight) -> tuple[Decision, ...]:
        """A binding on each node that a pod waits for and that takes it."""
        if not any(view.waits for groups in seen.places for view, _ in groups):
            return ()
        known = self._known.get(seen.places)
        if known is None:
            known = tuple(self._bindings(seen))
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[seen.places] = known
        return known

    def _bindings(self, seen: Sight) -> dict[Decision, None]:
        found: dict[Decision, None] = {}
        for place, groups in zip(self.reads.places, seen.places, strict=True):
            for position, (view, _) in enumerate(groups):
                decision = Decision((BindPinned(NodeRef(place, view), self.workload),))
                if view.waits and decision not in found and not self.judgement(seen, place, position).rejected_by:
                    found[decision] = None
        return found

    def judgement(self, seen: Sight, place: int, position: int) -> Row:
        """The verdict on one node, the one at `position` among those shown of a place."""
        infos: list[NodeInfo] = []
        pinned = 0
        for other, groups in zip(self.reads.places, seen.places, strict=True):
            for number, ((facts, _), count) in enumerate(groups):
                info = node_info(self.layout, other, facts, count)
                if (other, number) != (place, position):
                    infos.append(_rename(info))
                    continue
                pinned = len(infos)
                infos.append(info._replace(count=1))
                if count > 1:
                    infos.append(_rename(info._replace(count=count - 1)))
        return self._kernel(infos[pinned].node.name).evaluate(infos).rows[pinned]

    def _kernel(self, node: str) -> Scheduler:
        if node not in self._kernels:
            setup = pin_to(self.layout.setup, self.workload, node)
            self._kernels[node] = Scheduler(setup, self.workload, self.layout.unique_keys)
        return self._kernels[node]


def _rename(info: NodeInfo) -> NodeInfo:
    """The group under a name that no pod asks for."""
    return info._replace(node=info.node.rename(f"{info.node.name} (others)"))


def pin_to(setup: Setup, workload: int, node: str) -> Setup:
    """The setup with the workload's pods as those that are made for one node."""
    declared = setup.workloads[workload]
    term = NodeTerm(fields=(Requirement("metadata.name", "In", (node,)),))
    pinned = replace(declared, template=replace(declared.template, required_terms=(term,), node_name=None))
    return replace(setup, workloads=(*setup.workloads[:workload], pinned, *setup.workloads[workload + 1 :]))
