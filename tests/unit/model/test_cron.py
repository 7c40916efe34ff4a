"""How many Jobs of a CronJob are followed at once."""

from dataclasses import replace

import pytest

from kubeproof.cluster.objects import CronRules, Settings
from kubeproof.engine.limits import Limits
from kubeproof.engine.search import explore, make_kernel
from kubeproof.events.declarations import Completes
from kubeproof.intents.declarations import Amount, Intent
from kubeproof.model.expansion.cron import jobs_at_once
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.plan import make_plan
from kubeproof.verdicts import Verdict
from tests.unit.model.builders import node, setup, workload

MINUTELY = CronRules((60,))


def cluster(rules=MINUTELY, **settings):
    """One node with a CronJob."""
    beat = replace(workload(kind="CronJob", name="beat", replicas=1), cron=rules)
    return replace(setup([node("n1")], beat), settings=Settings(startup_s=(1, 1), **settings))


def runs(seconds):
    return (Completes(name="runs", target="CronJob/shop/beat", least_s=seconds, most_s=seconds),)


@pytest.mark.parametrize(
    ("rules", "events", "settings", "jobs"),
    [
        (MINUTELY, (), {}, 6),  # up to 600 s, ten at once: nobody says so
        (MINUTELY, runs(300), {}, 7),
        (MINUTELY, runs(6000), {}, 16),
        (MINUTELY, runs(30), {}, 3),
        (MINUTELY, runs(300), {"max_cron_jobs": 20}, 20),
        (replace(MINUTELY, policy="Forbid"), runs(300), {}, 3),
        (replace(MINUTELY, suspended=True), runs(300), {"max_cron_jobs": 20}, 0),
    ],
)
def test_as_many_jobs_are_followed_as_run_side_by_side(rules, events, settings, jobs):
    whole = cluster(rules, **settings)

    assert jobs_at_once(whole, whole.workloads[0], events) == jobs


@pytest.mark.parametrize(
    ("most", "verdict", "why"), [(4, Verdict.HOLDS, ""), (2, Verdict.UNKNOWN, "more than 2 Jobs of")]
)
def test_a_run_with_more_jobs_than_are_followed_is_open(most, verdict, why):
    few = Intent(key="maxPodObjects", name="few", count=Amount(4), target="CronJob/shop/beat")
    system = GroupedSystem(make_plan(cluster(max_cron_jobs=most), runs(150), (few,)))
    found = explore(system, system.checks, kernel=make_kernel(system), limits=Limits())

    assert found.findings[0].verdict == verdict
    assert str(found.stopped_by or "").startswith(why)
