"""Completeness, progress and the progress deadline of a rollout."""

from __future__ import annotations

import pytest

from kubeproof.cluster.objects import Strategy
from kubeproof.controllers.rollout.revisions import Revision
from tests.oracles.rollout_progress import (
    AVAILABLE,
    CREATED,
    FOUND,
    NO_DEADLINE,
    PAUSED,
    RESUMED,
    TIMED_OUT,
    UPDATED,
    Progress,
    Status,
    found,
    has_timed_out,
    is_available,
    is_complete,
    is_progressing,
    judge,
    noted,
    paused_or_resumed,
    status_of,
)

MIDDLE = Status(replicas=5, updated=2, ready=4, available=4)
DONE = Status(replicas=4, updated=4, ready=4, available=4)


def test_status_sums_over_revisions() -> None:
    revisions = (Revision(3, 3, 3), Revision(2, 1, 2))

    assert status_of(revisions, 1, ready=4) == MIDDLE
    assert status_of(revisions, None, ready=4) == Status(replicas=5, updated=0, ready=4, available=4)


@pytest.mark.parametrize(
    ("status", "complete"),
    [
        (DONE, True),
        (DONE._replace(available=3), False),
        (DONE._replace(replicas=5), False),  # an old pod is left
        (DONE._replace(updated=3), False),
        (Status(5, 5, 5, 5), False),
    ],
)
def test_complete_means_all_replicas_updated_and_available_and_no_others(status: Status, complete: bool) -> None:
    assert is_complete(4, status) is complete


def test_a_deployment_of_zero_replicas_is_complete_without_pods() -> None:
    assert is_complete(0, Status(0, 0, 0, 0))


def test_available_allows_for_max_unavailable() -> None:
    assert is_available(4, Strategy(), DONE._replace(available=3))
    assert not is_available(4, Strategy(), DONE._replace(available=2))
    assert not is_available(4, Strategy(rolling=False), DONE._replace(available=3))


@pytest.mark.parametrize(
    ("now", "progressing"),
    [
        (MIDDLE, False),
        (MIDDLE._replace(updated=3, replicas=6), True),
        (MIDDLE._replace(replicas=4), True),  # an old pod less
        (MIDDLE._replace(ready=5), True),
        (MIDDLE._replace(available=5), True),
        (MIDDLE._replace(ready=3, available=3), False),
        (MIDDLE._replace(updated=1, replicas=4), False),  # a new pod less
    ],
)
def test_progress_is_more_new_fewer_old_more_ready_or_more_available(now: Status, progressing: bool) -> None:
    assert is_progressing(MIDDLE, now) is progressing


@pytest.mark.parametrize(("now_s", "timed_out"), [(600, False), (601, True)])
def test_the_deadline_passes_strictly_after_its_seconds(now_s: int, timed_out: bool) -> None:
    assert has_timed_out(Progress(CREATED, 0), 600, now_s) is timed_out


def test_a_finished_rollout_never_times_out_and_a_passed_deadline_stays() -> None:
    assert not has_timed_out(Progress(AVAILABLE, 0), 600, 10_000)
    assert has_timed_out(Progress(TIMED_OUT, 9_999), 600, 10_000)


def test_without_deadline_or_condition_nothing_times_out() -> None:
    assert not has_timed_out(Progress(CREATED, 0), NO_DEADLINE, 10**10)
    assert not has_timed_out(None, 600, 10_000)


def judged(progress: Progress | None, now: Status, now_s: int, deadline_s: int = 600) -> Progress | None:
    return judge(progress, 4, MIDDLE, now, deadline_s=deadline_s, now_s=now_s)


def test_progress_refreshes_the_condition() -> None:
    assert judged(Progress(UPDATED, 10), MIDDLE._replace(available=5), 500) == Progress(UPDATED, 500)


def test_a_standstill_keeps_the_condition_until_the_deadline() -> None:
    assert judged(Progress(UPDATED, 10), MIDDLE, 610) == Progress(UPDATED, 10)
    assert judged(Progress(UPDATED, 10), MIDDLE, 611) == Progress(TIMED_OUT, 611)
    assert judged(Progress(TIMED_OUT, 611), MIDDLE, 700) == Progress(TIMED_OUT, 611)


def test_progress_after_the_deadline_revives_the_rollout() -> None:
    assert judged(Progress(TIMED_OUT, 611), MIDDLE._replace(updated=3, replicas=6), 700) == Progress(UPDATED, 700)


def test_completion_is_noted_once() -> None:
    assert judged(Progress(UPDATED, 10), DONE, 50) == Progress(AVAILABLE, 50)
    assert judged(Progress(AVAILABLE, 50), DONE, 60) == Progress(AVAILABLE, 50)


def test_a_finished_rollout_that_loses_pods_is_not_judged_again() -> None:
    assert judged(Progress(AVAILABLE, 50), DONE._replace(available=0, ready=0), 5000) == Progress(AVAILABLE, 50)


def test_a_late_completion_overrules_the_deadline() -> None:
    assert judged(Progress(TIMED_OUT, 611), DONE, 700) == Progress(AVAILABLE, 700)


def test_without_deadline_there_is_no_condition() -> None:
    assert judged(Progress(UPDATED, 10), MIDDLE, 700, deadline_s=NO_DEADLINE) is None


def test_the_same_reason_does_not_refresh_the_condition() -> None:
    assert noted(Progress(CREATED, 10), CREATED, 99) == Progress(CREATED, 10)
    assert noted(Progress(AVAILABLE, 10), CREATED, 99) == Progress(CREATED, 99)
    assert noted(None, CREATED, 99) == Progress(CREATED, 99)


@pytest.mark.parametrize(
    ("progress", "paused", "result"),
    [
        (Progress(UPDATED, 10), True, Progress(PAUSED, 99)),
        (Progress(PAUSED, 10), True, Progress(PAUSED, 10)),
        (Progress(PAUSED, 10), False, Progress(RESUMED, 99)),
        (Progress(UPDATED, 10), False, Progress(UPDATED, 10)),
        (Progress(TIMED_OUT, 10), True, Progress(TIMED_OUT, 10)),
        (None, True, Progress(PAUSED, 99)),
        (None, False, None),
    ],
)
def test_resuming_restarts_the_deadline(progress: Progress | None, paused: bool, result: Progress | None) -> None:
    assert paused_or_resumed(progress, paused, deadline_s=600, now_s=99) == result


def test_without_deadline_pausing_is_not_noted() -> None:
    assert paused_or_resumed(Progress(UPDATED, 1), True, deadline_s=NO_DEADLINE, now_s=9) == Progress(UPDATED, 1)


def test_a_created_replica_set_restarts_the_deadline_but_not_twice() -> None:
    created = Progress(CREATED, 5)

    assert found(Progress(AVAILABLE, 0), created=True, deadline_s=600, now_s=5) == created
    assert found(created, created=True, deadline_s=600, now_s=9) == created


def test_a_replica_set_that_exists_is_noted_only_without_an_earlier_condition() -> None:
    assert found(None, created=False, deadline_s=600, now_s=5) == Progress(FOUND, 5)
    assert found(Progress(UPDATED, 1), created=False, deadline_s=600, now_s=5) == Progress(UPDATED, 1)


def test_without_a_deadline_no_replica_set_is_noted() -> None:
    assert found(None, created=True, deadline_s=NO_DEADLINE, now_s=5) is None
