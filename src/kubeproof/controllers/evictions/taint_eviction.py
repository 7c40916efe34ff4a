"""Taint eviction: deletes pods whose toleration of a NoExecute taint has run out.

Mirrors `pkg/controller/tainteviction/taint_eviction.go` (inside node lifecycle before v1.29; v1.26 and v1.37 agree).
The clock of a pod starts when the controller sees the taint; further taints neither shorten nor lengthen it as long as
they are tolerated, and it stops when what is left is tolerated for ever. PDBs are ignored: it is a plain DELETE.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kubeproof.cluster.labels import NO_EXECUTE, Taint, Toleration
from kubeproof.cluster.loops.actions import EvictDue, NodeRef
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Reads, Seen, Stage
from kubeproof.cluster.loops.footprint import QUIET, Among, Clocks, Deletes, Writes
from kubeproof.cluster.loops.mentions import mention_nothing
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.state import NEVER, NodeCell, Phase, WorkloadCell
from kubeproof.values import dataclass


def seconds_tolerated(tolerations: Sequence[Toleration], taints: Sequence[Taint]) -> int:
    """Seconds until a pod on a node with these taints is deleted; NEVER if it may stay.

    0 if some NoExecute taint is not tolerated; else the least tolerationSeconds among the tolerations in use.
    """
    used = _tolerations_in_use(tolerations, taints)
    if used is None:
        return 0
    limits = [max(0, toleration.seconds) for toleration in used if toleration.seconds is not None]
    return _as_duration_s(min(limits, default=NEVER))


def clock_after(running_s: int, tolerations: Sequence[Toleration], taints: Sequence[Taint]) -> int:
    """Seconds until a pod's eviction once the taints have changed; `running_s` are those left before, or NEVER.

    A clock that runs goes on, whatever the taints now in place are tolerated for. Only a taint that is not tolerated
    at all ends it at once, and toleration for ever stops it.
    """
    if _tolerations_in_use(tolerations, taints) is None:
        return 0
    seconds = seconds_tolerated(tolerations, taints)
    return seconds if NEVER in (seconds, running_s) else running_s


def _tolerations_in_use(tolerations: Sequence[Toleration], taints: Sequence[Taint]) -> list[Toleration] | None:
    """For each NoExecute taint the first toleration that matches (`GetMatchingTolerations`); None if one has none."""
    used: list[Toleration] = []
    for taint in taints:
        if taint.effect != NO_EXECUTE:
            continue
        first = next((toleration for toleration in tolerations if toleration.tolerates(taint)), None)
        if first is None:
            return None
        used.append(first)
    return used


def _as_duration_s(seconds: int) -> int:
    """What is left of seconds that upstream multiplies into 64-bit nanoseconds: above 292 years they overflow."""
    if seconds == NEVER:
        return NEVER
    nanoseconds = (seconds * 10**9 + 2**63) % 2**64 - 2**63
    return nanoseconds // 10**9 if nanoseconds >= 0 else NEVER


@dataclass(frozen=True, slots=True)
class TaintEviction:
    """Evicts what is due on the nodes of one place."""

    layout: Layout
    place: int
    stage: int = Stage.ALWAYS
    name: Actor = Actor(ActorKind.TAINT_EVICTION)

    reads_nodes = mention_nothing
    footprint = replace(
        QUIET, writes=Writes.DELETIONS, deletes=Deletes.TAINTED, clocks=Clocks.TAINTS, among=Among.BY_ITSELF
    )

    @property
    def reads(self) -> Reads:
        return Reads(places=(self.place,))

    def show_workload(self, workload: int, cell: WorkloadCell) -> None:
        """Never looks at workloads."""

    def show_node(self, place: int, cell: NodeCell) -> tuple[int, ...] | None:
        """The workloads with pods that are due."""
        due = {kind.workload for kind, _ in cell.pods if kind.evict_s == 0 and kind.phase != Phase.TERMINATING}
        return tuple(sorted(due)) or None

    def act(self, seen: Seen[None, Groups[tuple[int, ...]]]) -> tuple[Decision, ...]:
        """One step per node and workload; the order among them is open."""
        return tuple(
            Decision((EvictDue(NodeRef(self.place, due), workload),))
            for due in dict.fromkeys(due for due, _ in seen.places[0])
            for workload in due
        )
