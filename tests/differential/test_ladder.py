"""Every rung of the ladder against every run: what is proved without a search of the whole is violated by none.

The whole is never searched by the ladder here, so that each answer is one of bounds, of single pods, of workloads
whatever the others do, or a violation woven from a part. Each family of clusters is made for some of these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from kubeproof.cluster.kinds import DAEMON_SET, DEPLOYMENT, JOB, REPLICA_SET, REPLICATION_CONTROLLER, STATEFUL_SET
from kubeproof.cluster.labels import as_labels
from kubeproof.cluster.objects import (
    HOSTNAME,
    Container,
    Node,
    PodTemplate,
    Settings,
    Setup,
    SpreadConstraint,
    Workload,
)
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler, Metric, PodDisruptionBudget
from kubeproof.errors import ScenarioError
from kubeproof.events.declarations import STABLE, Cordon, Drain, Event, Scale, Usage, UsageChange
from kubeproof.intents.declarations import Amount
from kubeproof.manifests.loaded import Loaded, Scenario, Start
from kubeproof.verdicts import Verdict
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.run import verify
from tests.differential.guards.clusters import cluster, node, of, selecting, workload
from tests.differential.guards.judging import EAGER
from tests.differential.test_crowd import CROWD, ask_all, choose, healed_inputs, resized_inputs, scored_inputs
from tests.differential.test_job_by_job import scheduled_inputs
from tests.differential.test_pod_by_pod import ALONE, BESIDE, WILD, ask_more, lone_inputs
from tests.differential.test_slicing import PATIENT
from tests.property.mixed import Mix, mixed_inputs

MOST_STATES = 700  # of every run; beyond, an answer is compared as far as these came
LADDER = VerifyOptions(max_states=2, effort=replace(EAGER, max_at_first=1, max_alone=1_500, max_looks=0))
EVERY_RUN = VerifyOptions(reductions=False, max_states=MOST_STATES, effort=replace(EAGER, max_looks=0))
TOGETHER = Mix(kinds=(DEPLOYMENT, STATEFUL_SET, DAEMON_SET, JOB), workloads=(2, 3), nodes=(2, 3))
CHUNKS, EXAMPLES = 4, 200  # in every run
SHARDS, MANY = 40, 500  # with -m slow
RUNGS = ("bounds", "pod-by-pod", "whatever-others-do", "alone", "slices")


@st.composite
def guarded_inputs(draw: st.DrawFn) -> Loaded:
    """Workloads under budgets, while nodes are drained or cordoned and nothing else happens."""
    workloads = tuple(_workload(draw, name, choose(draw, 1, 2, 3)) for name in ("web", "db")[: choose(draw, 1, 1, 2)])
    amounts = ((1, False), (50, True), (2, False))
    budgets = tuple(
        PodDisruptionBudget("shop", one.name, selecting(app=one.name), *choose(draw, (None, a), (a, None)))
        for one in workloads
        for a in [choose(draw, *amounts)]
    )
    event = choose(
        draw,
        Drain(
            name="drain", uncordon=choose(draw, True, False), after=choose(draw, None, STABLE), max=choose(draw, 1, 2)
        ),
        Cordon(name="cordon", reversible=choose(draw, True, False), after=choose(draw, None, STABLE)),
    )
    asked = [of("minReady", one, count=Amount(choose(draw, 1, 2)), name=f"ready {one.ref}") for one in workloads]
    return _clustered(draw, workloads, (event,), asked, budgets=budgets)


@st.composite
def sized_inputs(draw: st.DrawFn) -> Loaded:
    """Workloads of which sizes change, by hand or by an autoscaler, on nodes that nothing happens to."""
    workloads = tuple(_workload(draw, name, choose(draw, 1, 2, 3)) for name in ("web", "db")[: choose(draw, 1, 2)])
    web = workloads[0]
    by_hand = Scale(name="scale", target=web.ref, replicas=(choose(draw, 0, 1, 3),), after=choose(draw, None, STABLE))
    levels = (Usage(percent=25), Usage(percent=120))
    usage = UsageChange(name="usage", resource="cpu", target=web.ref, levels=levels, max=1, after=STABLE)
    metric = Metric("Resource", "cpu", "Utilization", 50)
    scaler = HorizontalPodAutoscaler("shop", "web", web.ref, choose(draw, 1, 2), choose(draw, 2, 3), (metric,))
    events, scalers = choose(draw, ((by_hand,), ()), ((usage,), (scaler,)), ((), (scaler,)))
    asked = [of("schedulable", one) for one in workloads]
    for key, counts in (("minReplicas", (1, 1, 2)), ("maxReplicas", (2, 3, 3))):
        asked += [of(key, one, count=Amount(choose(draw, *counts)), name=f"{key} {one.ref}") for one in workloads]
    return _clustered(draw, workloads, events, asked, autoscalers=scalers)


def _workload(draw: st.DrawFn, name: str, size: int) -> Workload:
    own = selecting(app=name)
    spread = choose(draw, (), (), (SpreadConstraint(HOSTNAME, 1, True, own),))
    main = Container("main", choose(draw, 100, 400, 900), None)
    template = PodTemplate(labels=(("app", name),), containers=(main,), grace_s=choose(draw, 0, 30), spread=spread)
    kind = choose(draw, DEPLOYMENT, DEPLOYMENT, REPLICA_SET, REPLICATION_CONTROLLER)
    return Workload(kind, "shop", name, template, size, own)


def _clustered(
    draw: st.DrawFn, workloads: tuple[Workload, ...], events: tuple[Event, ...], asked: list, **policies: tuple
) -> Loaded:
    names = ("n1", "n2", "n3")[: choose(draw, 2, 2, 3)]
    nodes = tuple(Node(n, as_labels({HOSTNAME: n}), cpu_milli=choose(draw, 1000, 2000, 2000)) for n in names)
    flags = Settings(startup_s=(0, 0), monitor_period_s=0, downscale_stabilization_s=60)
    setup = Setup(nodes, workloads, settings=flags, **policies)
    return Loaded(setup, Scenario(start=Start(choose(draw, "deployed", "empty")), events=events, intents=tuple(asked)))


class Family(NamedTuple):
    """Random clusters, and what is asked of them beside what they ask themselves."""

    inputs: Callable[[], st.SearchStrategy[Loaded]]
    ask: Callable[[Loaded], Loaded] = lambda loaded: loaded


FAMILIES = (
    Family(lone_inputs),
    Family(lambda: mixed_inputs(ALONE), ask_more),
    Family(lambda: mixed_inputs(BESIDE), ask_more),
    Family(lambda: mixed_inputs(WILD), ask_more),
    Family(lambda: mixed_inputs(CROWD), ask_all),
    Family(lambda: mixed_inputs(TOGETHER), ask_all),
    Family(mixed_inputs),
    Family(resized_inputs),
    Family(healed_inputs, ask_all),
    Family(scored_inputs),
    Family(scheduled_inputs),
    Family(guarded_inputs),
    Family(sized_inputs),
)


@st.composite
def ladder_inputs(draw: st.DrawFn) -> Loaded:
    """A cluster of any family."""
    family = choose(draw, *FAMILIES)
    return family.ask(draw(family.inputs()))


def climb(loaded: Loaded) -> Counter[str]:
    """Asserts that every run says what the ladder does, or that it is not known; counts answers by their rung."""
    try:
        results = verify(loaded, LADDER).results
        decided = [place for place, one in enumerate(results) if one.verdict != Verdict.UNKNOWN]
        if not decided:
            return Counter({"open": len(results)})
        intents = tuple(loaded.scenario.intents[place] for place in decided)
        rest = replace(loaded, scenario=replace(loaded.scenario, intents=intents))
        exact = verify(rest, EVERY_RUN).results
    except ScenarioError:  # no stable start
        return Counter({"refused": 1})
    found = Counter({"open": len(results) - len(decided)})
    for place, other in zip(decided, exact, strict=True):
        one = results[place]
        assert one.strategy is not None
        assert other.verdict in (Verdict.UNKNOWN, one.verdict), (one.intent, one.strategy.name, one.verdict, other)
        found[f"{one.strategy.name} {one.verdict}"] += 1
        found[f"{one.strategy.name} confirmed"] += other.verdict == one.verdict
    found.update({type(event).__name__ for event in loaded.scenario.events})
    return found


def climb_many(number: int, examples: int) -> Counter[str]:
    """Compares so many random clusters."""
    found: Counter[str] = Counter()

    @seed(number)
    @settings(PATIENT, max_examples=examples)
    @given(ladder_inputs())
    def check(loaded: Loaded) -> None:
        found.update(climb(loaded))
        found["inputs"] += 1

    check()
    return found


@pytest.mark.parametrize("number", range(CHUNKS))
def test_no_run_refutes_what_a_rung_says(number: int) -> None:
    found = climb_many(number, EXAMPLES)

    assert all(found[f"{rung} confirmed"] for rung in ("bounds", "pod-by-pod", "whatever-others-do", "alone"))


def test_what_no_run_speaks_of_is_not_proved_where_pods_of_others_may_take_the_room() -> None:
    some = (node("n1", 1000), node("n2", 1000))
    web, crowd = workload("web", replicas=2), workload("crowd", cpu=900, replicas=3)  # of which one waits for ever
    asked = of("minReady", crowd, count=Amount(2))
    given = cluster(some, (web, crowd), asked, events=(Cordon(name="cordon", after=STABLE),), start="deployed")

    (said,), (exact,) = verify(given, LADDER).results, verify(given, EVERY_RUN).results

    assert (said.verdict, exact.verdict) == (Verdict.UNKNOWN, Verdict.VACUOUS)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1_000, 1_000 + SHARDS))
def test_no_run_refutes_what_a_rung_says_in_many_more_clusters(number: int) -> None:
    found = climb_many(number, MANY)

    assert all(found[f"{rung} confirmed"] > 10 for rung in ("bounds", "pod-by-pod", "whatever-others-do"))
