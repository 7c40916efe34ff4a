"""CronJobs of timed runs: starts at the times of the schedule, and what holds them up."""

from __future__ import annotations

from itertools import pairwise

import pytest

from kubeproof.manifests.loaded import Loaded
from tests.unit.manifests.inputs import load_text, node, scenario
from tests.unit.simulate.inputs import run

REF = "CronJob/shop/backup"


def backups(
    *, policy: str = "Allow", takes: str = "60s", schedule: str = "*/5 * * * *", more: str = "", workload: str = ""
) -> Loaded:
    """A CronJob on one node."""
    cron = f"""
apiVersion: batch/v1
kind: CronJob
metadata: {{name: backup, namespace: shop}}
spec:
  schedule: "{schedule}"
  concurrencyPolicy: {policy}
  {more}
  jobTemplate: {{spec: {{template: {{spec: {{restartPolicy: Never, containers: [{{name: main, image: busybox}}]}}}}}}}}
"""
    events = f"events: [{{completes: {{target: {REF}, after: {takes}}}}}]"
    return load_text(node("n1"), cron, scenario(f"{events}\n{workload}"))


def starts(loaded: Loaded, seed: int = 0, duration_s: int = 3600) -> list[int]:
    """When Jobs were started."""
    moments = run(loaded, duration_s, seed=seed).moments
    return [moment.time_s for moment in moments if moment.actor == "cronjob backup" and "is created" in moment.text]


def gaps(times: list[int]) -> list[int]:
    return [later - earlier for earlier, later in pairwise(times)]


@pytest.mark.parametrize("policy", ["Allow", "Forbid", "Replace"])
def test_jobs_start_at_the_times_of_the_schedule(policy: str) -> None:
    times = starts(backups(policy=policy))

    assert 0 <= times[0] < 300
    assert gaps(times) == [300] * 11


def test_where_in_the_schedule_a_run_begins_is_drawn() -> None:
    firsts = {starts(backups(), seed, 300)[0] for seed in range(30)}

    assert len(firsts) > 20
    assert min(firsts) < 60
    assert max(firsts) > 240


def test_each_of_different_gaps_may_be_next() -> None:
    assert set(gaps(starts(backups(schedule="0,20 * * * *"), duration_s=24 * 3600))) == {1200, 2400}


@pytest.mark.parametrize("policy", ["Allow", "Replace"])
def test_a_job_that_takes_longer_than_a_gap_does_not_hold_up_the_next(policy: str) -> None:
    assert gaps(starts(backups(policy=policy, takes="400s"), duration_s=1800)) == [300] * 5


def test_with_forbid_a_start_waits_for_the_end_of_the_job_before() -> None:
    times = gaps(starts(backups(policy="Forbid", takes="400s")))

    assert len(times) >= 7
    assert all(401 <= gap <= 405 for gap in times)  # with the start of the pod; the times in between are missed


def test_a_start_that_was_held_up_does_not_move_the_schedule() -> None:
    spec = backups(policy="Forbid", takes="200s, within: 400s")
    times = starts(spec, duration_s=24 * 3600)

    late = [(at - times[0]) % 300 for at in times]
    assert late.count(0) > 20  # after Jobs that took long, others begin at a time of the schedule again
    assert max(late) > 60


def test_none_start_of_a_cronjob_that_is_suspended_or_never_comes() -> None:
    assert starts(backups(more="suspend: true")) == []
    assert starts(backups(schedule="0 0 30 2 *")) == []


def test_none_start_once_the_cronjob_is_deleted() -> None:
    times = starts(backups(workload=f"workload: {{faults: [{{at: 700s, delete: {{target: {REF}}}}}]}}"))

    assert len(times) in (2, 3)
    assert max(times) <= 700
