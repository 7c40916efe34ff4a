"""Taint eviction: deletes pods whose toleration of a NoExecute taint has run out.

Mirrors `pkg/controller/tainteviction/taint_eviction.go` (inside node lifecycle before v1.29). The clock of a pod starts
when the controller sees the taint, is kept if later taints would allow less, and stops when the taints go. PDBs
are ignored: it is a plain DELETE.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kubeproof.cluster.control import Decision, EvictDue, NodeRef, Reads, Seen, Stage
from kubeproof.cluster.labels import NO_EXECUTE, Taint, Toleration
from kubeproof.cluster.places import Layout
from kubeproof.cluster.state import NEVER, NodeCell, Phase, WorkloadCell


def seconds_tolerated(tolerations: Sequence[Toleration], taints: Sequence[Taint]) -> int:
    """Seconds until a pod on a node with these taints is deleted; NEVER if it may stay.

    0 if some NoExecute taint is not tolerated; else the least tolerationSeconds among the tolerations in use: for each
    taint the first that matches (`GetMatchingTolerations`).
    """
    used: list[Toleration] = []
    for taint in taints:
        if taint.effect != NO_EXECUTE:
            continue
        first = next((toleration for toleration in tolerations if toleration.tolerates(taint)), None)
        if first is None:
            return 0
        used.append(first)
    limits = [max(0, toleration.seconds) for toleration in used if toleration.seconds is not None]
    return min(limits, default=NEVER)


@dataclass(frozen=True, slots=True)
class TaintEviction:
    """Evicts what is due on the nodes of one place."""

    layout: Layout
    place: int
    stage: int = Stage.ALWAYS
    name: str = "taint-eviction"

    @property
    def reads(self) -> Reads:
        return Reads(places=(self.place,))

    def show_workload(self, workload: int, cell: WorkloadCell) -> None:
        """Never looks at workloads."""

    def show_node(self, place: int, cell: NodeCell) -> tuple[int, ...] | None:
        """The workloads with pods that are due."""
        due = {kind.workload for kind, _ in cell.pods if kind.evict_s == 0 and kind.phase != Phase.TERMINATING}
        return tuple(sorted(due)) or None

    def act(self, seen: Seen) -> tuple[Decision, ...]:
        """One step per node and workload; the order among them is open."""
        return tuple(
            Decision((EvictDue(NodeRef(self.place, view), workload),))
            for view in dict.fromkeys(view for view, _ in seen.places[0])
            for workload in view
        )
