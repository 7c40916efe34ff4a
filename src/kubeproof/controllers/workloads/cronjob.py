"""The CronJob controller: starts a Job whenever the schedule says so, unless an earlier one stands in the way.

Mirrors `syncCronJob` of `pkg/controller/cronjob/cronjob_controllerv2.go`, read in a recent version (no decisions of it
are recorded), but for time: a start is an event of the environment, which may come at any moment from the time of the
schedule on; the next time counts from there. So a cluster that only waits for the next start is stable, at any point of
the schedule. With Forbid a run that an earlier Job held up begins when that has ended, and the next time of the
schedule may follow at once. Finished Jobs hold nothing, so history limits change nothing; but where an autoscaler
counts their finished pods they keep their place, since it matters how many of them are left.

Each Job that may be there at the same time is a workload of its own: see `kubeproof.model.expansion.cron`. Memory is
the seconds until the next time of the schedule, or HELD_UP.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.jobs import ENDED, NONE, REPLACED
from kubeproof.cluster.loops.actions import Action, CreateObject, DeleteObject, Remember, SetCondition
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Loop, Reads, Role, Seen, Stage
from kubeproof.cluster.loops.footprint import NOBODY, NOTHING, Footprint, Writes
from kubeproof.cluster.loops.making import Making
from kubeproof.cluster.loops.memories import Holds, MemoryKind
from kubeproof.cluster.loops.mentions import mention_nothing
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import FORBID, REPLACE, CronRules, family, short_name
from kubeproof.cluster.state import NEVER, NodeCell, WorkloadCell
from kubeproof.controllers.workloads.job import REMEMBERS as REMEMBERS_OF_JOBS
from kubeproof.controllers.workloads.job import first_memory
from kubeproof.errors import LimitReached
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

Memory = tuple[int, ...]
REMEMBERS = MemoryKind("cron job", Holds.TIMES)
DUE, HELD_UP = 0, NEVER
AT_REST: Memory = (DUE,)  # the schedule may be at any point


class Started(NamedTuple):
    """A CronJob, or one of its Jobs."""

    is_active: int  # a CronJob exists, a Job runs
    has_pods: int  # a Job has pods that no node holds


Sight = Seen[Started, Groups[tuple[int, ...]]]


@dataclass(frozen=True, slots=True)
class CronJobController:
    """The loop for one CronJob with the Jobs it may have at once."""

    layout: Layout
    workload: int
    memory: int
    jobs: tuple[int, ...]
    memories: tuple[int, ...]  # of the Jobs
    stage: int = Stage.ALWAYS

    reads_nodes = mention_nothing

    @property
    def footprint(self) -> Footprint:
        return Footprint(
            writes=Writes.OBJECTS | (Writes.REMOVALS if self.rules.policy == REPLACE else NOTHING),
            tells_starts=NOBODY,
            sees_objects=NOBODY,
            sees_new_pods=NOBODY,
        )

    @property
    def name(self) -> Actor:
        return Actor(ActorKind.CRON_JOB, short_name(self.layout.setup, self.workload))

    @property
    def rules(self) -> CronRules:
        rules = self.layout.setup.workloads[self.workload].cron
        assert rules is not None
        return rules

    @property
    def reads(self) -> Reads:
        return Reads((self.workload, *self.jobs), self.layout.every_place, (self.memory,))

    def show_workload(self, workload: int, cell: WorkloadCell) -> Started:
        """Whether the CronJob exists; of a Job whether it runs, and whether it has pods that no node holds."""
        if workload == self.workload:
            return Started(cell.exists, 0)
        runs = cell.exists and max(NONE, cell.noted) not in ENDED
        return Started(int(runs), int(cell.unbound + cell.completed > 0))

    def show_node(self, place: int, cell: NodeCell) -> tuple[int, ...] | None:
        """Which of its Jobs have pods there, ending or finished ones included."""
        found = {kind.workload for kind, _ in cell.pods} | {workload for (workload, _), _ in cell.finished}
        return tuple(job for job in self.jobs if job in found) or None

    # -- decisions ------------------------------------------------------------------------------

    def act(self, seen: Sight) -> tuple[Decision, ...]:
        """A start, with every time that may pass until the next."""
        (until_s,) = seen.memories[0]
        exists = seen.workloads[0].is_active
        running = tuple(self._running(seen))
        never = self.rules.suspended or not self.rules.gaps_s  # such as the 30th of February
        if not exists or never or until_s > 0 or (running and self.rules.policy == FORBID):
            return ()
        writes = tuple(self._start(seen, running))
        next_times = self.rules.gaps_s if until_s == DUE else (DUE,)
        return tuple(Decision((*writes, Remember(self.memory, (next_s,))), Role.EVENT) for next_s in next_times)

    def _running(self, seen: Sight) -> Iterator[int]:
        """The Jobs that have not ended."""
        for job, (runs, _) in zip(self.jobs, seen.workloads[1:], strict=True):
            if runs:
                yield job

    def _start(self, seen: Sight, running: tuple[int, ...]) -> Iterator[Action]:
        free = self._free(seen)
        if free is None:
            ref = self.layout.setup.workloads[self.workload].ref
            raise LimitReached(f"more than {len(self.jobs)} Jobs of {ref} at once, finished ones that count included")
        if self.rules.policy == REPLACE:
            for job in running:
                yield from (DeleteObject(job), SetCondition(job, REPLACED))
        yield CreateObject(free)
        fresh = first_memory(self.layout.setup.workloads[free].job)
        yield Remember(self.memories[self.jobs.index(free)], fresh)

    def _free(self, seen: Sight) -> int | None:
        """The first place for a further Job: no Job runs there, and no pod is left of an earlier one."""
        taken = {job for groups in seen.places for jobs, _ in groups for job in jobs}
        for job, (runs, waits) in zip(self.jobs, seen.workloads[1:], strict=True):
            if not runs and not waits and job not in taken:
                return job
        return None

    def why(self, seen: Sight) -> tuple[str, ...]:
        """What the schedule and its policy say."""
        running = len(tuple(self._running(seen)))
        late = "" if seen.memories[0][0] == DUE else "; this run was held up"
        return (f"concurrencyPolicy {self.rules.policy}, {running} Job(s) of it run{late}",)

    # -- time -----------------------------------------------------------------------------------

    def due(self, seen: Sight) -> int:
        """Seconds until the next time of the schedule."""
        (until_s,) = seen.memories[0]
        return until_s if until_s > 0 and seen.workloads[0].is_active else NEVER

    def later(self, seen: Sight, seconds: int | None) -> Memory:
        """The clock later; a run whose time passes while a Job forbids it is held up. One that is deleted has none."""
        (until_s,) = seen.memories[0]
        if not seen.workloads[0].is_active:
            return AT_REST
        if seconds is None:
            return AT_REST if until_s <= 0 else seen.memories[0]
        if until_s > 0:
            return (until_s - seconds,)
        is_held_up = self.rules.policy == FORBID and any(True for _ in self._running(seen))
        return (HELD_UP,) if is_held_up else (until_s,)


def make_loops(making: Making) -> Iterator[Loop]:
    """One loop for each CronJob, with its memory, that knows the memories of its Jobs."""
    for number, workload in enumerate(making.setup.workloads):
        if workload.rules.starts_jobs:
            memory, jobs = making.remember(REMEMBERS, AT_REST, number), family(making.setup, number)[1:]
            memories = tuple(making.find_memory(REMEMBERS_OF_JOBS, job) for job in jobs)
            yield CronJobController(making.to(CronJobController), number, memory, jobs, memories)
