"""Facts about Jobs: has every one that was started completed?"""

from __future__ import annotations

from kubeproof.cluster.jobs import COMPLETE, REPLACED
from kubeproof.cluster.loops.control import Reads, Seen
from kubeproof.cluster.loops.footprint import Footprint
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import Setup, family
from kubeproof.cluster.state import Nodes, WorkloadCell
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass


def jobs_of(setup: Setup, workload: int) -> tuple[int, ...]:
    """The Job itself, or those that a CronJob starts; a suspended one promises nothing and is left out."""
    jobs = (member for member in family(setup, workload) if setup.workloads[member].rules.counts_completions)
    return tuple(job for job in jobs if not setup.workloads[job].job.suspended)


def is_started(cell: WorkloadCell) -> bool:
    """True for a Job that exists, or that was replaced before it had ended."""
    return bool(cell.exists) or cell.noted == REPLACED


def is_unfinished(cell: WorkloadCell) -> bool:
    """True for a Job that was started and is not complete."""
    return is_started(cell) and cell.noted != COMPLETE


class JobState(NamedTuple):
    """How far a Job is."""

    is_started: bool  # it exists or was replaced
    is_unfinished: bool


@dataclass(frozen=True, slots=True)
class AllComplete:
    """completes: no Job is there that has not completed, and none had to make way for another."""

    layout: Layout
    workload: int

    footprint = Footprint()  # everything: no reduction was thought through for it

    @property
    def reads(self) -> Reads:
        return Reads(jobs_of(self.layout.setup, self.workload))

    def show_workload(self, workload: int, cell: WorkloadCell) -> JobState:
        """Whether the Job exists or was replaced, and whether it has not completed."""
        return JobState(is_started(cell), is_unfinished(cell))

    def show_nodes(self, place: int, nodes: Nodes) -> None:
        """Never looks at nodes."""

    def holds(self, seen: Seen[JobState, None]) -> bool:
        return not any(job.is_unfinished for job in seen.workloads)

    def is_settled(self, seen: Seen[JobState, None]) -> bool:
        return True

    def matters(self, seen: Seen[JobState, None]) -> bool:
        return any(job.is_started for job in seen.workloads)
