"""Workloads that share nodes, searched one by one, against every run of all of them together."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from kubeproof.cluster.kinds import CRON_JOB, DEPLOYMENT, REPLICA_SET
from kubeproof.cluster.labels import LabelSelector, Requirement, as_labels
from kubeproof.cluster.objects import (
    HOSTNAME,
    Container,
    Node,
    PodAffinity,
    PodTemplate,
    PodTerm,
    Readiness,
    Settings,
    Setup,
    SpreadConstraint,
    Workload,
)
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler, Metric, PodDisruptionBudget
from kubeproof.cluster.usage import CPU
from kubeproof.errors import ScenarioError
from kubeproof.events.declarations import STABLE, Drain, Event, NodeFailure
from kubeproof.intents.declarations import ALWAYS, EVENTUALLY_ALWAYS, Amount, Intent
from kubeproof.manifests.loaded import Loaded, Scenario, Start
from kubeproof.verify.options import SLICING, Effort, VerifyOptions
from kubeproof.verify.run import verify
from kubeproof.verify.strategies.parts import ONE_BY_ONE
from tests.differential.test_slicing import PATIENT, TOLERATIONS
from tests.property.mixed import ALL_KINDS, Mix, mixed_inputs

MOST_STATES = 6_000


def selector(name: str) -> LabelSelector:
    """Selects the pods of the workload so named."""
    return LabelSelector((Requirement("app", "In", (name,)),))


@st.composite
def workloads(draw: st.DrawFn, name: str) -> Workload:
    """A workload that meets others on nodes only; some need a node for each pod, few fill nodes."""
    own = selector(name)
    apart = PodAffinity((PodTerm(HOSTNAME, own),))
    template = PodTemplate(
        labels=(("app", name),),
        containers=(Container("main", draw(st.sampled_from([0, 100, 100, 500, 1000, 1600])), 2**20),),
        pod_anti_affinity=draw(st.sampled_from([PodAffinity(), PodAffinity(), apart])),
        spread=draw(st.sampled_from([(), (), (SpreadConstraint(HOSTNAME, 1, True, own),)])),
        node_selector=draw(st.sampled_from([(), (), (("pool", "a"),)])),
        tolerations=TOLERATIONS,
        readiness=draw(st.sampled_from([None, None, Readiness(2, 3)])),
        grace_s=draw(st.sampled_from([0, 30])),
    )
    kind = draw(st.sampled_from([DEPLOYMENT, DEPLOYMENT, REPLICA_SET]))
    return Workload(kind, "shop", name, template, draw(st.integers(1, 2)), own)


@st.composite
def inputs(draw: st.DrawFn) -> Loaded:
    """Two workloads on the same nodes, one of which may fail or be drained."""
    declared = (draw(workloads("web")), draw(workloads("db")))
    pools = ("a", draw(st.sampled_from("ab")), draw(st.sampled_from("ab")))[: draw(st.integers(2, 3))]
    happening: list[Event] = [
        NodeFailure(name="event", after=draw(st.sampled_from([None, STABLE])), recovers=draw(st.booleans())),
        Drain(name="event", after=draw(st.sampled_from([None, STABLE])), uncordon=draw(st.sampled_from([False, True]))),
    ]
    setup = Setup(
        nodes=tuple(
            Node(f"n{n}", as_labels({HOSTNAME: f"n{n}", "pool": pool}), cpu_milli=2000, memory_bytes=2**33, pods=110)
            for n, pool in enumerate(pools)
        ),
        workloads=declared,
        settings=Settings(startup_s=draw(st.sampled_from([(1, 1), (1, 5)]))),
        budgets=tuple(
            PodDisruptionBudget(
                "shop", w.name, w.selector, max_unavailable=draw(st.sampled_from([(0, False), (1, False)]))
            )
            for w in declared
            if draw(st.integers(0, 3)) == 0
        ),
        autoscalers=tuple(
            HorizontalPodAutoscaler("shop", w.name, w.ref, 1, 2, (Metric("Resource", CPU, "Utilization", 60),))
            for w in declared
            if draw(st.integers(0, 5)) == 0
        ),
    )
    events = draw(st.sampled_from([(), (happening[0],), (happening[0],), (happening[1],)]))
    return Loaded(setup, Scenario(start=Start("empty"), events=events, intents=tuple(_intents(draw, declared))))


def _intents(draw: st.DrawFn, declared: tuple[Workload, ...]) -> list[Intent]:
    when = draw(st.sampled_from([ALWAYS, EVENTUALLY_ALWAYS]))
    found = [Intent(key="settles", name="settles"), Intent(key="drainCompletes", name="drains")]
    for one in declared:
        found += [
            Intent(key="noPendingForever", name=f"pending {one.ref}", target=one.ref),
            Intent(key="minReady", name=f"ready {one.ref}", target=one.ref, when=when, count=Amount(one.replicas)),
        ]
    return found


def compare(loaded: Loaded) -> tuple[int, int]:
    """Asserts that what parts decide is so; returns how much they proved and refuted."""
    parts = VerifyOptions(max_states=2, effort=Effort(max_at_first=1))
    said = [one.verdict for one in verify(loaded, parts).results]
    if not {"HOLDS", "VIOLATED"} & set(said):
        return 0, 0
    known = [one.verdict for one in verify(loaded, VerifyOptions(without=(SLICING,), max_states=MOST_STATES)).results]
    assert all("UNKNOWN" in pair or pair[0] == pair[1] for pair in zip(said, known, strict=True)), (said, known)
    return said.count("HOLDS"), said.count("VIOLATED")


# -- workloads of all kinds ---------------------------------------------------------------------------

MEETING = Mix(  # on nodes only, so that they are searched one by one
    kinds=tuple(kind for kind in ALL_KINDS if kind != CRON_JOB),
    workloads=(2, 3),
    nodes=(2, 3),
    priorities=False,
    verticals=False,
    claims=False,
    gitops=False,
)
EFFORTS = (
    Effort(max_at_first=1, max_alone=2_000, max_repeated=1),
    Effort(max_at_first=50, max_alone=300, max_repeated=50, max_tried=4),
    Effort(max_at_first=1, max_alone=20),  # most parts are too large
)
NAMED_STATES = 300


def compare_mixed(loaded: Loaded, effort: Effort) -> Counter[str]:
    """Asserts that what parts decide is so, by the search of the whole and by the search by name; counts verdicts."""
    options = VerifyOptions(max_states=effort.max_at_first + 1, effort=effort)
    told = verify(loaded, options)
    said = [one.verdict for one in told.results]
    assert "ERROR" not in said, told.results
    if not set(said) - {"UNKNOWN"}:
        return Counter()
    whole = VerifyOptions(without=(SLICING,), max_states=MOST_STATES)
    by_name = VerifyOptions(engine="reference", max_states=NAMED_STATES)
    for other in (whole, by_name):
        known = [one.verdict for one in verify(loaded, other).results]
        assert all("UNKNOWN" in pair or pair[0] == pair[1] for pair in zip(said, known, strict=True)), (said, known)
    return Counter(said) if ONE_BY_ONE in told.statistics.reductions else Counter()


def check_mixed(examples: int, number: int, mix: Mix = MEETING) -> Counter[str]:
    """Compares so many inputs with workloads of several kinds; returns the verdicts that parts had a say in."""
    found: Counter[str] = Counter()

    @seed(number)
    @settings(PATIENT, max_examples=examples)
    @given(mixed_inputs(mix), st.sampled_from(EFFORTS))
    def check(loaded: Loaded, effort: Effort) -> None:
        with suppress(ScenarioError):  # no stable start: said of the parts and of the whole
            found.update(compare_mixed(loaded, effort))

    check()
    return found


def test_workloads_of_all_kinds_are_so_for_all_together_as_one_by_one() -> None:
    assert check_mixed(25, 1)["VIOLATED"] > 0


def test_whatever_stands_beside_workloads_of_all_kinds_nothing_fails() -> None:
    check_mixed(20, 2, Mix(workloads=(2, 3)))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(10, 20))
def test_workloads_of_all_kinds_are_so_for_all_together_in_many_more_cases(number: int) -> None:
    assert check_mixed(300, number)["VIOLATED"] > 10


@pytest.mark.slow
@pytest.mark.parametrize("number", range(20, 30))
def test_whatever_stands_beside_workloads_nothing_fails_in_many_more_cases(number: int) -> None:
    check_mixed(300, number, Mix(workloads=(2, 3)))


# -- Deployments --------------------------------------------------------------------------------------


def check_inputs(examples: int, number: int) -> tuple[int, int]:
    """Compares so many inputs; returns how much was proved and refuted in all."""
    found: list[tuple[int, int]] = []

    @seed(number)
    @settings(PATIENT, max_examples=examples)
    @given(inputs())
    def check(loaded: Loaded) -> None:
        found.append(compare(loaded))

    check()
    return sum(held for held, _ in found), sum(failed for _, failed in found)


def test_what_is_decided_one_by_one_is_so_for_all_together() -> None:
    held, failed = check_inputs(40, 1)

    assert held > 40
    assert failed > 10


@pytest.mark.slow
@pytest.mark.parametrize("number", range(10, 20))
def test_what_is_decided_one_by_one_is_so_in_many_more_cases(number: int) -> None:
    held, failed = check_inputs(300, number)

    assert held > 300
    assert failed > 50
