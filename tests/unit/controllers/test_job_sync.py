"""One sync of a Job, rule by rule, with the numbers of upstream's documentation and code."""

from __future__ import annotations

import pytest

from kubeproof.cluster.jobs import COMPLETE, FAILED_FOR_GOOD, FAILURE_TARGET, NONE, SUCCESS_MET
from kubeproof.cluster.objects import JobRules
from kubeproof.controllers.workloads.job_sync import (
    FAILED,
    PENDING,
    SUCCEEDED,
    JobPod,
    Record,
    Sync,
    back_off_s,
    rank,
    sync,
)

OLD, PATIENT, NEWEST = (1, 26), (1, 31), (1, 37)
THREE = JobRules(completions=3)
QUEUE = JobRules(completions=None)


def active(count: int) -> list[JobPod]:
    return [JobPod(f"a{number}") for number in range(count)]


def ended(count: int, phase: str) -> list[JobPod]:
    return [JobPod(f"{phase}{number}", phase) for number in range(count)]


def done(
    rules: JobRules,
    pods: list[JobPod],
    record: Record = Record(),
    *,
    parallelism: int = 2,
    version: tuple[int, int] = NEWEST,
) -> Sync:
    return sync(rules, parallelism, pods, record, version)


@pytest.mark.parametrize(
    ("parallelism", "succeeded", "pods", "created"),
    [
        (2, 0, 0, 2),  # parallelism limits
        (5, 0, 0, 3),  # completions limit
        (5, 2, 0, 1),  # so many are left
        (5, 2, 1, 0),
        (0, 0, 0, 0),
    ],
)
def test_as_many_pods_as_completions_and_parallelism_leave(parallelism, succeeded, pods, created):
    made = done(THREE, active(pods), Record(succeeded), parallelism=parallelism)

    assert made.creates == (None,) * created
    assert made.active == pods + created


def test_a_work_queue_gets_no_new_pods_after_the_first_success():
    assert done(QUEUE, active(1)).creates == (None,)
    assert done(QUEUE, [*active(1), *ended(1, SUCCEEDED)]).creates == ()
    assert done(QUEUE, active(3), Record(succeeded=1)).deletes == ()


def test_a_work_queue_is_complete_when_one_succeeded_and_none_is_active():
    assert done(QUEUE, active(1), Record(succeeded=1)).record.condition == NONE
    assert done(QUEUE, ended(1, SUCCEEDED)).record.condition == COMPLETE


def test_too_many_active_pods_are_deleted_before_any_is_created():
    assert done(JobRules(completions=1), active(3), parallelism=3).deletes == ("a0", "a1")


def test_more_failures_than_the_limit_end_the_job_and_its_pods():
    forgiven = done(JobRules(backoff_limit=1), [*active(1), *ended(1, FAILED)], parallelism=1)
    failed = done(JobRules(backoff_limit=1), [*active(1), *ended(1, FAILED)], Record(failed=1), parallelism=1)

    assert (forgiven.record.condition, forgiven.record.failed) == (NONE, 1)
    assert (failed.record.condition, failed.record.reason) == (FAILURE_TARGET, "BackoffLimitExceeded")
    assert failed.deletes == ("a0",)


@pytest.mark.parametrize(("limit", "restarts", "fails"), [(2, 1, False), (2, 2, True), (0, 0, False), (0, 1, True)])
def test_restarts_under_on_failure_count_up_to_the_limit(limit, restarts, fails):
    pods = [JobPod("a", restarts=restarts)]

    ends = done(JobRules(backoff_limit=limit, restarts=True), pods, parallelism=1).record.condition != NONE
    assert ends is fails
    assert done(JobRules(backoff_limit=limit), pods, parallelism=1).record.condition == NONE


@pytest.mark.parametrize(("active_s", "fails"), [(59, False), (60, True), (None, False)])
def test_the_deadline_counts_from_the_start(active_s, fails):
    record = done(JobRules(deadline_s=60), active(1), Record(active_s=active_s), parallelism=1).record

    assert (record.reason == "DeadlineExceeded") is fails


def test_a_suspended_job_has_no_pods_and_no_deadline():
    made = done(JobRules(deadline_s=60, suspended=True), active(2), Record(active_s=60))

    assert (made.deletes, made.creates, made.record.condition) == (("a0", "a1"), (), NONE)


@pytest.mark.parametrize(("version", "condition"), [(OLD, FAILED_FOR_GOOD), (PATIENT, FAILURE_TARGET)])
def test_since_1_31_a_job_has_failed_only_when_its_pods_have_ended(version, condition):
    pods = [JobPod("going", is_ending=True, is_counted=True), *ended(1, FAILED)]

    assert done(JobRules(backoff_limit=0), pods, version=version).record.condition == condition
    assert done(JobRules(backoff_limit=0), pods[1:], version=version).record.condition == FAILED_FOR_GOOD


@pytest.mark.parametrize(("version", "condition"), [(OLD, COMPLETE), (PATIENT, SUCCESS_MET)])
def test_since_1_31_a_job_is_complete_only_when_its_pods_have_ended(version, condition):
    pods = [JobPod("going", is_ending=True, is_counted=True), *ended(1, SUCCEEDED)]

    assert done(JobRules(), pods, version=version).record.condition == condition


def test_what_was_decided_before_stays_decided():
    assert done(JobRules(), [], Record(condition=SUCCESS_MET)).record.condition == COMPLETE
    assert done(JobRules(), ended(1, SUCCEEDED), Record(condition=FAILURE_TARGET)).record.condition == FAILED_FOR_GOOD


def test_a_pod_that_is_being_deleted_has_failed_at_once_and_once():
    going = JobPod("a", is_ending=True)

    assert done(JobRules(), [going], parallelism=1).record.failed == 1
    assert done(JobRules(), [going._replace(is_counted=True)], Record(failed=1), parallelism=1).record.failed == 1


def test_with_the_policy_failed_a_pod_is_replaced_when_it_has_ended():
    rules, going = JobRules(only_failed=True), JobPod("a", is_ending=True)

    assert done(rules, [going], parallelism=1) == Sync(Record(), (), (), 0, 0)
    assert done(rules, [going], parallelism=1, version=OLD).record.failed == 1  # a field that 1.26 does not know
    assert done(JobRules(), [going._replace(is_counted=True)], parallelism=1).creates == (None,)


def test_the_back_off_doubles_from_ten_seconds_to_ten_minutes():
    assert [back_off_s(streak, NEWEST) for streak in range(9)] == [0, 10, 20, 40, 80, 160, 320, 600, 600]
    assert [back_off_s(streak, OLD) for streak in range(9)] == [0, 0, 10, 20, 40, 80, 160, 320, 360]


def test_new_pods_wait_for_the_back_off_after_the_last_failure():
    failed = [JobPod("f", FAILED, finished_s=4)]

    assert done(JobRules(), failed, parallelism=1) == Sync(Record(0, 1, 1, 4), (), (), 6, 0)
    assert done(JobRules(), [], Record(0, 1, 1, 10), parallelism=1).creates == (None,)
    assert done(JobRules(), failed, parallelism=1, version=OLD).creates == (None,)


def test_a_success_forgives_the_failures_before_it():
    pods = [
        JobPod("f", FAILED, finished_s=20),
        JobPod("s", SUCCEEDED, finished_s=10),
        JobPod("g", FAILED, finished_s=5),
    ]
    record = done(THREE, pods, Record(streak=4)).record

    assert (record.streak, record.waited_s, record.failed) == (1, 5, 2)


def test_indexes_are_filled_from_below():
    rules = JobRules(completions=4, indexed=True)
    pods = [JobPod("a", completion=1), JobPod("s", SUCCEEDED, completion=0), JobPod("t", SUCCEEDED, completion=0)]
    made = done(rules, pods, parallelism=3)

    assert (made.creates, made.record.succeeded) == ((2, 3), 1)


def test_an_index_has_one_pod_and_none_is_beyond_the_range():
    rules = JobRules(completions=2, indexed=True)
    pods = [
        JobPod("old", is_ready=True, ready_s=9, completion=0),
        JobPod("new", is_ready=True, ready_s=1, completion=0),
        JobPod("beyond", completion=7),
        JobPod("nowhere"),
    ]

    assert sorted(done(rules, pods).deletes) == ["beyond", "new", "nowhere"]


def test_pods_go_in_the_order_of_upstream():
    pods = [
        JobPod("oldest", is_ready=True, ready_s=90, created_s=100),
        JobPod("restarted", is_ready=True, ready_s=5, restarts=1, created_s=50),
        JobPod("fresh", is_ready=True, ready_s=5, created_s=10),
        JobPod("unready", created_s=100),
        JobPod("pending", PENDING),
        JobPod("unbound", PENDING, is_bound=False),
    ]

    assert [pod.name for pod in rank(pods)] == ["unbound", "pending", "unready", "restarted", "fresh", "oldest"]
