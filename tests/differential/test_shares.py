"""Workloads that share nodes, searched one by one, against every run of all of them together."""

from __future__ import annotations

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from kubeproof.cluster.labels import LabelSelector, Requirement, as_labels
from kubeproof.cluster.objects import (
    DEPLOYMENT,
    HOSTNAME,
    REPLICA_SET,
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
from kubeproof.cluster.policies import HorizontalPodAutoscaler, Metric, PodDisruptionBudget
from kubeproof.cluster.usage import CPU
from kubeproof.events.declarations import STABLE, Drain, Event, NodeFailure
from kubeproof.intents.declarations import ALWAYS, EVENTUALLY_ALWAYS, Amount, Intent
from kubeproof.manifests.loaded import Loaded, Scenario, Start
from kubeproof.verify.options import SLICING, Effort, VerifyOptions
from kubeproof.verify.run import verify
from tests.differential.test_slicing import PATIENT, TOLERATIONS

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
