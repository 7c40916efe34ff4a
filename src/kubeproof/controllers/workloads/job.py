"""The Job controller: keeps as many pods as are wanted until enough have succeeded, or too many have failed.

The rules are in `kubeproof.controllers.workloads.job_sync`. Finished pods wait on their nodes until a sync has counted
them, as pods with a finalizer do. Indexes are told apart by nobody in a run, so they are numbered afresh in every sync.
The loop also does the work of the garbage collector, and of the one that deletes finished Jobs after their time.

Memory is (succeeded, failed, failures in a row, seconds of back-off left, seconds until the deadline); once the Job
has ended the fourth holds the seconds until it is deleted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from itertools import islice
from typing import TYPE_CHECKING, cast

from kubeproof.cluster.jobs import ENDED, FAILED_FOR_GOOD, NONE
from kubeproof.cluster.loops.actions import (
    ANY,
    Action,
    Arrive,
    CreatePods,
    DeleteObject,
    DeleteUnbound,
    NodeRef,
    Remember,
    SetCondition,
    TendJob,
)
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Loop, Reads, Role, Seen, Stage
from kubeproof.cluster.loops.footprint import NOBODY, NOTHING, Among, Footprint, Writes, some
from kubeproof.cluster.loops.making import Making
from kubeproof.cluster.loops.memories import Holds, MemoryKind
from kubeproof.cluster.loops.mentions import mention_nothing
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import JobRules, short_name
from kubeproof.cluster.said import NOTHING_SAID, Said, join_said, not_created
from kubeproof.cluster.state import NEVER, JobPodEnd, NodeCell, Phase, WorkloadCell
from kubeproof.controllers.admission.quota import ENDLESS, Charged, Ration, find_charged, in_use, ration_of
from kubeproof.controllers.workloads.job_sync import (
    FAILED,
    LONGEST_STREAK,
    SUCCEEDED,
    JobPod,
    Record,
    Sync,
    back_off_s,
    sync,
)
from kubeproof.controllers.workloads.replicaset import MOST_WAYS, PHASES_OF_RANK, RANKS
from kubeproof.controllers.workloads.victims import Loss, Tier, choices
from kubeproof.errors import LimitReached
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from kubeproof.cluster.loops.inaction import Idle

Memory = tuple[int, ...]


class Owned(NamedTuple):
    """What a Job has on one node."""

    active: tuple[tuple[tuple[int, int], int], ...] = ()  # ((phase rank, ready), pods), sorted
    ending: int = 0
    restarts: int = 0  # of containers of all these
    succeeded: int = 0  # not counted yet
    failed: int = 0
    charged: tuple[Charged, ...] = ()  # pods there that its quotas charge

    @property
    def is_finished(self) -> bool:
        """True if a sync has something to count here."""
        return bool(self.succeeded or self.failed)


class Counts(NamedTuple):
    """A Job's pods, added up."""

    unbound: int
    bound: int
    ending: int
    restarts: int
    succeeded: int
    failed: int


class Spec(NamedTuple):
    """A Job as its loop sees it, or another workload that its quotas charge."""

    unbound: int  # pods without a node
    exists: int = 0
    parallelism: int = 0
    condition: int = NONE


Sight = Seen[Spec, Groups[Owned]]


REMEMBERS = MemoryKind("job", Holds.TIMES)


def first_memory(rules: JobRules) -> Memory:
    """The memory of a Job that has just been created."""
    return (0, 0, 0, 0, NEVER if rules.deadline_s is None or rules.suspended else rules.deadline_s)


@dataclass(frozen=True, slots=True)
class JobController:
    """The loop for one Job."""

    layout: Layout
    workload: int
    memory: int
    stage: int = Stage.ALWAYS
    sees_absent: bool = True  # pods that a deleted node took with it are yet to be counted
    at_once: bool = False  # nobody else can be refused, or cause a refusal, while it creates its pods
    _ration: Ration | None = field(init=False, compare=False, repr=False)

    reads_nodes = mention_nothing

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ration", ration_of(self.layout.setup, self.workload))

    @property
    def footprint(self) -> Footprint:
        # It takes its pods away whenever it is over: no proof by sizes or ends in unison was thought through for that.
        return Footprint(
            writes=Writes.PODS | Writes.DELETIONS | (NOTHING if self.rules.ttl_s is None else Writes.REMOVALS),
            tells_starts=some((self.workload,)),
            sees_objects=NOBODY,
            sees_new_pods=some(self._charged),
            among=Among.RETRYING,
        )

    @property
    def name(self) -> Actor:
        return Actor(ActorKind.JOB, short_name(self.layout.setup, self.workload))

    @property
    def rules(self) -> JobRules:
        return self.layout.setup.workloads[self.workload].job

    @property
    def reads(self) -> Reads:
        others = tuple(number for number in self._charged if number != self.workload)
        return Reads((self.workload, *others), self.layout.every_place, (self.memory,))

    @property
    def _charged(self) -> tuple[int, ...]:
        """The workloads whose pods its quotas charge."""
        return self._ration.members if self._ration is not None else ()

    def show_workload(self, workload: int, cell: WorkloadCell) -> Spec:
        """Pods without a node; of the Job itself also its parallelism and condition."""
        if workload != self.workload:
            return Spec(cell.unbound)
        return Spec(cell.unbound, cell.exists, cell.desired, max(NONE, cell.noted))

    def show_node(self, place: int, cell: NodeCell) -> Owned | None:
        """Its pods there by what tells them apart."""
        ranks: dict[tuple[int, int], int] = {}
        ending = restarts = 0
        for kind, count in cell.pods:
            if kind.workload != self.workload:
                continue
            restarts += kind.restarts * count if self.rules.restarts else 0
            if kind.phase == Phase.TERMINATING:
                ending += count
            else:
                rank = RANKS[Phase(kind.phase)]
                ranks[rank] = ranks.get(rank, 0) + count
        ended = {outcome: count for (workload, outcome), count in cell.finished if workload == self.workload}
        owned = Owned(
            tuple(sorted(ranks.items())),
            ending,
            restarts,
            ended.get(JobPodEnd.SUCCEEDED, 0),
            ended.get(JobPodEnd.FAILED, 0),
            find_charged(cell, self._charged) if self._ration is not None else (),
        )
        return owned if any(owned) else None

    # -- decisions ------------------------------------------------------------------------------

    def act(self, seen: Sight) -> tuple[Decision, ...]:
        """One sync, if it changes anything; several where pods of equal rank could be deleted."""
        _, exists, _, condition = seen.workloads[0]
        if not exists:
            return self._decisions(seen, self._counts(seen), self._forget(seen))
        if condition in ENDED:
            return self._end(seen)
        return self._sync_once(seen, condition)

    def _sync_once(self, seen: Sight, condition: int) -> tuple[Decision, ...]:
        counts, done = self._counts(seen), self._sync(seen)
        writes: list[Action] = []
        memory = self._remember(done)
        if done.record.condition != condition:
            writes.append(SetCondition(self.workload, done.record.condition))
        is_counting = bool(counts.succeeded or counts.failed)
        creates = min(len(done.creates), self._room(seen), self._most_at_once)
        if done.waits_s and is_counting:
            creates = 0  # before 1.27 a further sync creates them, which may come early
        if memory != seen.memories[0]:
            writes.append(Remember(self.memory, memory))
        if creates:
            writes += self._creation(creates)
        is_early = bool(creates and done.waits_s)
        return self._decisions(seen, counts._replace(unbound=0, bound=len(done.deletes)), tuple(writes), early=is_early)

    def _end(self, seen: Sight) -> tuple[Decision, ...]:
        """A finished Job: what comes late is forgotten, and after its time the object goes."""
        writes: tuple[Action, ...] = ()
        if self.rules.ttl_s is not None and seen.memories[0][3] == 0:
            writes = (DeleteObject(self.workload),)
        return self._decisions(seen, self._counts(seen)._replace(unbound=0, bound=0), writes)

    def _forget(self, seen: Sight) -> tuple[Action, ...]:
        fresh = first_memory(self.rules)
        return (Remember(self.memory, fresh),) if seen.memories[0] != fresh else ()

    def _decisions(
        self, seen: Sight, gone: Counts, writes: tuple[Action, ...], *, early: bool = False
    ) -> tuple[Decision, ...]:
        """The writes together with every way to delete so many pods; nothing if there is nothing to do."""
        ways = tuple(islice(self._deletions(seen, gone.unbound + gone.bound), MOST_WAYS + 1))
        if len(ways) > MOST_WAYS:
            raise LimitReached(f"more than {MOST_WAYS} ways to choose {gone.bound} victims of a Job")
        role = Role.OPTIONAL if early else Role.URGENT
        return tuple(Decision((*way, *writes), role) for way in ways if way or writes)

    def _sync(self, seen: Sight) -> Sync:
        _, _, parallelism, condition = seen.workloads[0]
        succeeded, failed, streak, wait_s, left_s = seen.memories[0]
        version, rules = self.layout.setup.settings.kubernetes_version, self.rules
        record = Record(
            succeeded,
            failed,
            streak,
            back_off_s(streak, version) - wait_s,
            None if left_s == NEVER or rules.deadline_s is None else rules.deadline_s - left_s,
            frozenset(range(succeeded)) if rules.indexed else frozenset(),
            condition,
        )
        return sync(rules, parallelism, self._pods(self._counts(seen), succeeded), record, version)

    def _remember(self, done: Sync) -> Memory:
        """The memory after a sync, with numbers no larger than what makes a difference."""
        record, rules = done.record, self.rules
        if record.condition in ENDED:
            return (*first_memory(rules)[:3], rules.ttl_s or 0, first_memory(rules)[4])
        if record.condition != NONE:
            return first_memory(rules)
        enough = 1 if rules.completions is None else rules.completions
        streak = min(record.streak, LONGEST_STREAK)
        wait_s = max(0, back_off_s(streak, self.layout.setup.settings.kubernetes_version) - record.waited_s)
        left_s = NEVER if record.active_s is None else (rules.deadline_s or 0) - record.active_s
        return (min(record.succeeded, enough), min(record.failed, rules.backoff_limit + 1), streak, wait_s, left_s)

    # -- pods -----------------------------------------------------------------------------------

    def _counts(self, seen: Sight) -> Counts:
        pairs = [pair for groups in seen.places for pair in groups]
        return Counts(
            seen.workloads[0].unbound,
            sum(pods * count for owned, count in pairs for _, pods in owned.active),
            sum(owned.ending * count for owned, count in pairs),
            sum(owned.restarts * count for owned, count in pairs),
            sum(owned.succeeded * count for owned, count in pairs),
            sum(owned.failed * count for owned, count in pairs),
        )

    def _pods(self, counts: Counts, first_index: int) -> list[JobPod]:
        """The pods as a sync takes them; which of the equal ones is meant matters to nobody."""
        active = counts.unbound + counts.bound
        pods = [JobPod(f"active-{number}") for number in range(active)]
        pods += [JobPod(f"ending-{number}", is_ending=True, is_counted=True) for number in range(counts.ending)]
        pods += [JobPod(f"succeeded-{number}", SUCCEEDED) for number in range(counts.succeeded)]
        pods += [JobPod(f"failed-{number}", FAILED) for number in range(counts.failed)]
        if counts.restarts:  # only their sum is asked for
            pods[0] = pods[0]._replace(restarts=counts.restarts)
        if self.rules.indexed:
            last = max(0, (self.rules.completions or 1) - 1)
            pods = [pod._replace(completion=min(first_index + number, last)) for number, pod in enumerate(pods)]
        return pods

    def _room(self, seen: Sight) -> int:
        """How many pods the API server lets in at most."""
        if self.layout.setup.workloads[self.workload].refused:
            return 0
        return self._ration.room(self._in_use(seen)) if self._ration is not None else ENDLESS

    @property
    def _most_at_once(self) -> int:
        return ENDLESS if self.at_once or self._ration is None else 1

    def _in_use(self, seen: Sight) -> dict[int, Charged]:
        waiting = ((w, spec.unbound) for w, spec in zip(self.reads.workloads, seen.workloads, strict=True))
        return in_use(waiting, ((owned.charged, count) for groups in seen.places for owned, count in groups))

    def _creation(self, count: int) -> tuple[Action, ...]:
        template = self.layout.setup.workloads[self.workload].template
        place = self.layout.find_named(template.node_name) if template.node_name else None
        if place is None:
            return (CreatePods(self.workload, count),)
        return (Arrive(NodeRef(place, ANY), self.workload, count),)

    def _deletions(self, seen: Sight, count: int) -> Iterator[tuple[Action, ...]]:
        """Every way to delete so many pods, with the finished ones counted on the way; without a node they go first."""
        unbound = min(count, seen.workloads[0].unbound)
        first: tuple[Action, ...] = (DeleteUnbound(self.workload, unbound),) if unbound else ()
        groups = [
            (place, owned, nodes)
            for place, there in zip(self.reads.places, seen.places, strict=True)
            for owned, nodes in _merge(there).items()
        ]
        tiers = [
            Tier(rank, (place, owned, rank), pods, nodes)
            for place, owned, nodes in groups
            for rank, pods in owned.active
        ]
        for losses in choices(tiers, count - unbound):
            yield (*first, *self._tend(groups, losses))

    def _tend(self, groups: list[tuple[int, Owned, int]], losses: tuple[Loss, ...]) -> Iterator[Action]:
        """One action per node that loses pods or has finished ones, since its view changes with the first."""
        taken: dict[tuple[int, Owned], list[tuple[tuple[int, ...], tuple[int, ...]]]] = {}
        for tier, parts in losses:
            place, owned, rank = cast("tuple[int, Owned, tuple[int, int]]", tier.owner)
            taken.setdefault((place, owned), []).append((PHASES_OF_RANK[rank], parts))
        for place, owned, nodes in groups:
            for index in range(nodes):
                lost = taken.get((place, owned), ())
                here = tuple((phases, parts[index]) for phases, parts in lost if index < len(parts))
                if here or owned.is_finished:
                    yield TendJob(NodeRef(place, owned), self.workload, here, owned.succeeded)

    # -- time -----------------------------------------------------------------------------------

    def due(self, seen: Sight) -> int:
        """Seconds until the back-off or the deadline ends, or a finished Job goes."""
        _, exists, _, condition = seen.workloads[0]
        *_, wait_s, left_s = seen.memories[0]
        if not exists:
            return NEVER
        if condition in ENDED:
            return wait_s if wait_s else NEVER
        return min((clock for clock in (wait_s, left_s) if clock > 0), default=NEVER) if condition == NONE else NEVER

    def later(self, seen: Sight, seconds: int | None) -> Memory:
        """The clocks later; none runs while the Job does not exist, and no deadline once it has ended."""
        _, exists, _, condition = seen.workloads[0]
        *counted, wait_s, left_s = seen.memories[0]
        if seconds is None or not exists:
            return seen.memories[0]
        left_s = max(0, left_s - seconds) if left_s != NEVER and condition == NONE else left_s
        return (*counted, max(0, wait_s - seconds), left_s)

    # -- words ----------------------------------------------------------------------------------

    def why(self, seen: Sight) -> tuple[Said, ...]:
        """The numbers behind a sync now."""
        _, exists, parallelism, condition = seen.workloads[0]
        if not exists or condition in ENDED:
            told = "it has finished; ttlSecondsAfterFinished has passed" if exists else "the Job is gone"
            return (Said(told, told),)
        done, counts = self._sync(seen), self._counts(seen)
        asked = "one success" if self.rules.completions is None else f"{self.rules.completions} completion(s)"
        told = (
            f"wants {asked}, {done.record.succeeded} reached; parallelism {parallelism}; "
            f"{done.record.failed} failure(s) of {self.rules.backoff_limit} forgiven"
        )
        fails, ends = f"it fails: {done.record.reason}", f"{counts.ending} pod(s) still end"
        reason = (Said(fails, fails),) if done.record.reason else ()
        waits = (Said(ends, "pods still end"),) if counts.ending and done.record.condition != NONE else ()
        one_or_all = "wants one success" if self.rules.completions is None else "wants completions"
        return (Said(told, one_or_all), *reason, *waits)

    def why_not(self, seen: Sight) -> Iterator[Idle]:
        """How far it has come, where it does not get done."""
        from kubeproof.controllers.workloads.inaction import why_job_ends

        _, exists, _, condition = seen.workloads[0]
        *_, left_s = seen.memories[0]
        if exists and condition == FAILED_FOR_GOOD:
            told = "its deadline is over" if left_s == 0 else f"it forgives {self.rules.backoff_limit} failure(s)"
            yield why_job_ends(self.layout.setup.workloads[self.workload], (f"has given up: {told}",))
        elif exists and condition not in ENDED:
            yield why_job_ends(self.layout.setup.workloads[self.workload], self.why(seen))

    def refusal(self, seen: Sight) -> Said:
        """Why no pod comes although some are missing: the API server lets none in. Empty if that is not so."""
        _, exists, _, condition = seen.workloads[0]
        missing = len(self._sync(seen).creates) if exists and condition == NONE else 0
        if not missing or self._room(seen) >= missing:
            return NOTHING_SAID
        refused = self.layout.setup.workloads[self.workload].refused
        tightest = self._ration.tightest(self._in_use(seen)) if self._ration is not None else NOTHING_SAID
        reason = join_said(refused) or tightest
        return not_created(missing, reason) if reason else NOTHING_SAID


def _merge(groups: Groups[Owned]) -> dict[Owned, int]:
    """Nodes that look alike counted together, however they were shown."""
    amounts: dict[Owned, int] = {}
    for owned, count in groups:
        amounts[owned] = amounts.get(owned, 0) + count
    return amounts


def make_loops(making: Making) -> Iterator[Loop]:
    """One loop for each Job, with its memory."""
    for number, workload in enumerate(making.setup.workloads):
        if workload.rules.counts_completions:
            memory = making.remember(REMEMBERS, first_memory(workload.job), number)
            yield JobController(making.to(JobController), number, memory, at_once=number in making.at_once)
