"""One sync of a Job: which pods it creates and deletes, what it counts, and when it is finished.

Mirrors `syncJob` and `manageJob` of `pkg/controller/job/job_controller.go` with `backoff_utils.go` and
`indexed_job_utils.go` (v1.26 and v1.37). A pod carries a finalizer until a sync has counted it, so that each is
counted once. A pod that is being deleted counts as failed at once, unless podReplacementPolicy is Failed. Not here:
podFailurePolicy, successPolicy, backoffLimitPerIndex.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cmp_to_key

from kubeproof.cluster.api import versions
from kubeproof.cluster.jobs import COMPLETE, FAILED_FOR_GOOD, FAILURE_TARGET, NONE, SUCCESS_MET
from kubeproof.cluster.objects import JobRules
from kubeproof.named_tuples import NamedTuple

FAILED, SUCCEEDED, PENDING, RUNNING = "Failed", "Succeeded", "Pending", "Running"
FINISHED = (FAILED, SUCCEEDED)

FIRST_BACK_OFF_S, LONGEST_BACK_OFF_S = 10, 600
LONGEST_REQUEUE_S = 360
LONGEST_STREAK = 7  # from here on the back-off does not grow
MOST_PER_SYNC = 500
BACK_OFF_SINCE = versions.BACK_OFF.since
PATIENT_SINCE = versions.PATIENT.since
REPLACEMENT_POLICY_SINCE = versions.REPLACEMENT_POLICY.since

BACKOFF_LIMIT_EXCEEDED, DEADLINE_EXCEEDED = "BackoffLimitExceeded", "DeadlineExceeded"


class JobPod(NamedTuple):
    """A pod of a Job."""

    name: str
    phase: str = RUNNING
    is_ready: bool = False
    is_ending: bool = False  # deletionTimestamp is set
    completion: int | None = None  # its index, of an Indexed Job
    restarts: int = 0
    finished_s: int = 0  # seconds since it finished; 0 for pods that are being deleted
    ready_s: int = 0  # seconds since it became ready
    created_s: int = 0  # seconds since it was created
    is_bound: bool = True
    is_counted: bool = False  # as failed, by an earlier sync: it only has to end

    @property
    def is_active(self) -> bool:
        return self.phase not in FINISHED and not self.is_ending

    @property
    def is_terminating(self) -> bool:
        return self.is_ending and self.phase not in FINISHED


class Record(NamedTuple):
    """What earlier syncs have counted."""

    succeeded: int = 0
    failed: int = 0
    streak: int = 0  # failures since the last success
    waited_s: int = 0  # seconds since the last of them
    active_s: int | None = None  # seconds since the Job started, None while it is suspended
    succeeded_indexes: frozenset[int] = frozenset()
    condition: int = NONE
    reason: str = ""


class Sync(NamedTuple):
    """What one sync does."""

    record: Record
    creates: tuple[int | None, ...] = ()  # the indexes of new pods; None each if the Job is not indexed
    deletes: tuple[str, ...] = ()
    waits_s: int = 0  # pods are missing, but come only after so many seconds of back-off
    active: int = 0  # afterwards


def back_off_s(streak: int, version: tuple[int, int]) -> int:
    """How long the next pod has to wait after so many failures in a row."""
    if version < BACK_OFF_SINCE:  # the first failure is seen at once, later ones when the work queue lets them through
        return 0 if streak < 2 else min(FIRST_BACK_OFF_S * 2 ** (streak - 2), LONGEST_REQUEUE_S)
    return 0 if streak < 1 else min(FIRST_BACK_OFF_S * 2 ** (streak - 1), LONGEST_BACK_OFF_S)


def sync(rules: JobRules, parallelism: int, pods: Sequence[JobPod], record: Record, version: tuple[int, int]) -> Sync:
    """What a sync of a Job that is not finished does with the pods as they are."""
    work = _Round(rules, parallelism, pods, record, version)
    failure = work.failure
    if record.condition == SUCCESS_MET or failure:
        return work.finish(SUCCESS_MET if record.condition == SUCCESS_MET else FAILURE_TARGET, failure)
    managed = _manage(work)
    is_enough = work.succeeded > 0 if rules.completions is None else work.succeeded >= rules.completions
    if is_enough and managed.active == 0:
        return work.finish(SUCCESS_MET, "")._replace(deletes=managed.deletes)
    return managed


class _Round:
    """A sync under way."""

    def __init__(
        self, rules: JobRules, parallelism: int, pods: Sequence[JobPod], record: Record, version: tuple[int, int]
    ) -> None:
        self.rules, self.parallelism, self.version, self.before = rules, parallelism, version, record
        self.only_failed = rules.only_failed and version >= REPLACEMENT_POLICY_SINCE
        self.pods = pods
        self.active = [pod for pod in pods if pod.is_active]
        self.terminating = [pod for pod in pods if pod.is_terminating]
        valid = [pod for pod in pods if not rules.indexed or _is_valid(pod.completion, rules)]
        self.new_succeeded = [pod for pod in valid if pod.phase == SUCCEEDED and not pod.is_counted]
        self.new_failed = [pod for pod in valid if self._has_failed(pod)]
        indexes = record.succeeded_indexes | {
            pod.completion for pod in self.new_succeeded if pod.completion is not None
        }
        self.indexes = frozenset(indexes)
        self.succeeded = len(indexes) if rules.indexed else record.succeeded + len(self.new_succeeded)
        self.failed = record.failed + len(self.new_failed)
        self.streak, self.waited_s = _streak(record, self.new_succeeded, self.new_failed)

    def _has_failed(self, pod: JobPod) -> bool:
        return not pod.is_counted and (pod.phase == FAILED or (pod.is_terminating and not self.only_failed))

    @property
    def failure(self) -> str:
        """Why the Job fails now, or has begun to; "" if it does not."""
        if self.before.condition == FAILURE_TARGET:
            return self.before.reason or BACKOFF_LIMIT_EXCEEDED
        if self.failed > self.rules.backoff_limit or self._restarted_too_often:
            return BACKOFF_LIMIT_EXCEEDED
        deadline, active_s = self.rules.deadline_s, self.before.active_s
        is_late = deadline is not None and active_s is not None and active_s >= deadline and not self.rules.suspended
        return DEADLINE_EXCEEDED if is_late else ""

    @property
    def _restarted_too_often(self) -> bool:
        if not self.rules.restarts:
            return False
        restarts = sum(pod.restarts for pod in self.pods if pod.phase not in FINISHED)
        return restarts >= max(1, self.rules.backoff_limit)

    def record(self, condition: int = NONE, reason: str = "") -> Record:
        return Record(
            self.succeeded,
            self.failed,
            self.streak,
            self.waited_s,
            self.before.active_s,
            self.indexes if self.rules.indexed else frozenset(),
            condition,
            reason,
        )

    def finish(self, condition: int, reason: str) -> Sync:
        """The Job has failed or succeeded: active pods go, and the condition is final when no pod is left ending."""
        is_left = bool(self.active or self.terminating)
        if self.version < PATIENT_SINCE or not is_left:
            condition = FAILED_FOR_GOOD if condition == FAILURE_TARGET else COMPLETE
        counted = self.record(condition, reason)
        if condition in (FAILURE_TARGET, FAILED_FOR_GOOD) or self.version < PATIENT_SINCE:
            # pods that still run count as failed, earlier even those of a Job that succeeds
            valid = [pod for pod in self.active if not self.rules.indexed or _is_valid(pod.completion, self.rules)]
            extra = len(valid) + (len(self._uncounted_ending) if self.only_failed else 0)
            counted = counted._replace(failed=counted.failed + extra)
        return Sync(counted, (), tuple(pod.name for pod in self.active))

    @property
    def _uncounted_ending(self) -> list[JobPod]:
        valid = [pod for pod in self.terminating if not self.rules.indexed or _is_valid(pod.completion, self.rules)]
        return [pod for pod in valid if not pod.is_counted]

    def keep(self, deletes: Iterable[str] = (), creates: tuple[int | None, ...] = (), waits_s: int = 0) -> Sync:
        """The Job goes on."""
        gone = tuple(deletes)
        return Sync(self.record(), creates, gone, waits_s, len(self.active) - len(gone) + len(creates))


def _is_valid(index: int | None, rules: JobRules) -> bool:
    return index is not None and index < (rules.completions or 0)


def _streak(record: Record, succeeded: list[JobPod], failed: list[JobPod]) -> tuple[int, int]:
    """Failures since the last success, and seconds since the last of them."""
    if not succeeded:
        if not failed:
            return record.streak, record.waited_s
        return record.streak + len(failed), min(pod.finished_s for pod in failed)
    last_success_s = min(pod.finished_s for pod in succeeded)
    since = [pod.finished_s for pod in failed if pod.finished_s < last_success_s]
    return len(since), min(since, default=0)


# -- pods -------------------------------------------------------------------------------------------


def _manage(work: _Round) -> Sync:
    """Deletes what is too much, or else creates what is missing."""
    rules, active = work.rules, len(work.active)
    if rules.suspended:
        return work.keep(_choose_removed(work, active))
    wanted = _count_wanted(work, active)
    if surplus := _choose_removed(work, max(0, active - wanted)):
        return work.keep(surplus[:MOST_PER_SYNC])
    missing = wanted - active - (len(work.terminating) if work.only_failed else 0)
    if missing <= 0:
        return work.keep()
    left_s = back_off_s(work.streak, work.version) - work.waited_s
    if left_s > 0 and work.version >= BACK_OFF_SINCE:
        return work.keep(waits_s=left_s)
    return work.keep(creates=_new(work, min(missing, MOST_PER_SYNC)), waits_s=max(0, left_s))


def _count_wanted(work: _Round, active: int) -> int:
    """How many pods should be active; a work queue that has seen a success leaves running what runs."""
    if work.rules.completions is None:
        return active if work.succeeded else work.parallelism
    return max(0, min(work.parallelism, work.rules.completions - work.succeeded))


def _new(work: _Round, count: int) -> tuple[int | None, ...]:
    """The first indexes that have neither succeeded nor a pod, or so many pods without."""
    if not work.rules.indexed:
        return (None,) * count
    taken = work.indexes | {pod.completion for pod in work.active}
    if work.only_failed:
        taken |= {pod.completion for pod in work.terminating}
    free = [index for index in range(work.rules.completions or 0) if index not in taken]
    return tuple(free[:count])


def _choose_removed(work: _Round, least: int) -> list[str]:
    """The pods that go: of indexed ones first those beyond the range or with an index twice, then by rank."""
    gone: list[JobPod] = []
    left = work.active
    if work.rules.indexed:
        gone, left = _duplicates(work)
    gone += rank(left)[: max(0, least - len(gone))]
    return [pod.name for pod in gone]


def _duplicates(work: _Round) -> tuple[list[JobPod], list[JobPod]]:
    by_index: dict[int, list[JobPod]] = {}
    gone, left = [], []
    for pod in work.active:
        if _is_valid(pod.completion, work.rules) and pod.completion is not None:
            by_index.setdefault(pod.completion, []).append(pod)
        else:
            gone.append(pod)
    for alike in by_index.values():
        *worse, best = rank(alike)
        gone += worse
        left.append(best)
    return gone, left


def rank(pods: Iterable[JobPod]) -> list[JobPod]:
    """The pods in the order in which they are deleted: `ActivePods` of `pkg/controller/controller_utils.go`."""
    return sorted(pods, key=cmp_to_key(_compare))


def _compare(one: JobPod, other: JobPod) -> int:
    """Without a node, pending, not ready, ready for less time, restarted more often, younger: these go first."""
    keys = [(pod.is_bound, pod.phase == RUNNING, pod.is_ready) for pod in (one, other)]
    if keys[0] != keys[1]:
        return -1 if keys[0] < keys[1] else 1
    if one.is_ready and one.ready_s != other.ready_s:
        return one.ready_s - other.ready_s
    if one.restarts != other.restarts:
        return other.restarts - one.restarts
    return one.created_s - other.created_s
