"""What is proved by following one Job of a CronJob, against every run of all of its Jobs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from kubeproof.cluster.kinds import CRON_JOB, DEPLOYMENT, STATEFUL_SET
from kubeproof.cluster.objects import ALLOW, FORBID, REPLACE, CronRules, JobRules
from kubeproof.events.declarations import STABLE, Cordon, Drain, Event, NodeFailure, NodeRemoval
from kubeproof.manifests.loaded import Loaded
from tests.differential.guards.clusters import cluster, node, of, workload
from tests.differential.test_crowd import choose, compare
from tests.differential.test_slicing import PATIENT

LONG_S = 3600  # between two times of the schedule: few Jobs at once
EXAMPLES = 40


@st.composite
def events_on_nodes(draw: st.DrawFn) -> tuple[Event, ...]:
    """At most one thing that happens to a node."""
    after = choose(draw, None, None, STABLE)
    event = choose(
        draw,
        None,
        NodeFailure(name="fails", after=after, comes_back=True),
        NodeFailure(name="lost", after=after, recovers=False),
        Drain(name="drain", after=after, uncordon=choose(draw, True, False)),
        Cordon(name="cordon", after=after),
        NodeRemoval(name="removed", after=after),
    )
    return () if event is None else (event,)


@st.composite
def scheduled_inputs(draw: st.DrawFn) -> Loaded:
    """A CronJob beside another workload, on one or two nodes that may be too small for both."""
    rules = JobRules(backoff_limit=choose(draw, 0, 1, 6), restarts=choose(draw, True, False))
    policy = choose(draw, ALLOW, FORBID, FORBID, REPLACE)
    cron = workload("cron", cpu=choose(draw, 100, 600), kind=CRON_JOB, cron=CronRules((LONG_S,), policy), job=rules)
    other = workload("web", cpu=choose(draw, 100, 600), kind=choose(draw, DEPLOYMENT, STATEFUL_SET))
    some = tuple(node(f"n{number}", choose(draw, 1000, 2000)) for number in range(choose(draw, 1, 2)))
    intents = [of("completes", cron), of("noCreateFailLoop", cron), of("settles")]
    events = draw(events_on_nodes())
    if any(isinstance(event, Drain) for event in events):
        intents.append(of("drainCompletes"))
    found = cluster(some, (cron, other), *intents, events=events, start=choose(draw, "deployed", "empty"))
    return replace(found, setup=replace(found.setup, settings=replace(found.setup.settings, max_cron_jobs=2)))


def compare_scheduled(number: int, examples: int) -> Counter[str]:
    """Compares many inputs; counts what is proved of them."""
    found: Counter[str] = Counter()

    @seed(number)
    @settings(PATIENT, max_examples=examples)
    @given(scheduled_inputs())
    def look(loaded: Loaded) -> None:
        found.update(compare(loaded))

    look()
    return found


def test_what_is_proved_of_one_job_holds_of_all_that_a_cron_job_starts() -> None:
    found = compare_scheduled(19, EXAMPLES)

    assert found["completes"] >= EXAMPLES // 5
    assert found["drainCompletes"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("number", range(10))
def test_what_is_proved_of_one_job_holds_of_all_in_many_more_cases(number: int) -> None:
    assert compare_scheduled(number, 200)["completes"] > 0
