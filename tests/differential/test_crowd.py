"""What is proved of some workloads whatever the others do, against every run of all of them together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from kubeproof.cluster.api import versions
from kubeproof.cluster.kinds import DAEMON_SET, DEPLOYMENT, JOB, JOBS, REPLICA_SET, STATEFUL_SET
from kubeproof.cluster.labels import NodeTerm, PreferredTerm, Requirement, Taint, as_labels
from kubeproof.cluster.objects import (
    HOSTNAME,
    ZONE,
    Container,
    Node,
    PodAffinity,
    PodTemplate,
    PodTerm,
    SchedulerProfile,
    Settings,
    Setup,
    SpreadConstraint,
    Strategy,
    WeightedPodTerm,
    Workload,
)
from kubeproof.cluster.services import Service
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler, Metric, ScalingPolicy, ScalingRules
from kubeproof.errors import ScenarioError
from kubeproof.events.declarations import (
    STABLE,
    Apply,
    Drain,
    Event,
    Maintenance,
    NodeFailure,
    PodCrash,
    Rollout,
    Scale,
    Usage,
    UsageChange,
    ZoneFailure,
)
from kubeproof.intents.declarations import ALWAYS, EVENTUALLY_ALWAYS, Amount, Intent
from kubeproof.manifests.loaded import Loaded, Scenario, Start
from kubeproof.model.plan import Plan, make_plan
from kubeproof.model.reductions import loosened
from kubeproof.verdicts import Verdict
from kubeproof.verify.options import SLICING, VerifyOptions
from kubeproof.verify.proofs.crowd.proving import Input, prove_part
from kubeproof.verify.proofs.slicing import cut_by_relations
from kubeproof.verify.run import verify
from kubeproof.verify.searching import Watch
from tests.differential.footprints.lines import NO_MORE, Forgotten, Line
from tests.differential.guards.clusters import of, selecting
from tests.differential.guards.judging import Judge
from tests.differential.guards.witnesses_parts import WITNESSES
from tests.differential.test_slicing import PATIENT
from tests.property.mixed import DEFAULT_TOLERATIONS, Mix, mixed_inputs

MOST_STATES = 4_000
CROWD = Mix(workloads=(2, 3), nodes=(2, 3), verticals=False, gitops=False, quotas=False, foreign=False, most_events=1)
FEW_KINDS = replace(CROWD, kinds=("Deployment", "StatefulSet", DAEMON_SET, JOB), autoscalers=False)


def asked_of(workload: Workload, events: tuple[Event, ...]) -> Iterator[Intent]:
    """Everything that a proof may be wanted of."""
    ref = workload.ref
    yield Intent(key="noPendingForever", name=f"pending {ref}", target=ref)
    yield Intent(key="noOscillation", name=f"calm {ref}", target=ref)
    if workload.kind == DAEMON_SET:
        yield Intent(key="runsOnEveryNode", name=f"everywhere {ref}", target=ref, when=EVENTUALLY_ALWAYS)
    elif workload.kind in JOBS:
        yield Intent(key="completes", name=f"completes {ref}", target=ref)
    else:
        every = Amount(100, percent=True)
        yield Intent(key="minReady", name=f"one {ref}", target=ref, when=ALWAYS, count=Amount(1))
        yield Intent(key="minReady", name=f"all {ref}", target=ref, when=EVENTUALLY_ALWAYS, count=every)
    if any(isinstance(event, Rollout | Apply) for event in events):
        yield Intent(key="rolloutCompletes", name=f"rolls {ref}", target=ref)


def ask_all(loaded: Loaded) -> Loaded:
    """The input with all questions that a proof may answer."""
    events = loaded.scenario.events
    rolled = {getattr(event, "target", None) for event in events if isinstance(event, Rollout)}
    asked = [Intent(key="settles", name="settles")]
    if any(isinstance(event, Drain | Maintenance) for event in events):
        asked.append(Intent(key="drainCompletes", name="drains"))
    for workload in loaded.setup.workloads:
        asked += [one for one in asked_of(workload, events) if one.key != "rolloutCompletes" or workload.ref in rolled]
    return replace(loaded, scenario=replace(loaded.scenario, intents=tuple(asked)))


def planned(loaded: Loaded) -> Plan:
    """The plan of an input."""
    start = loaded.scenario.start
    return make_plan(
        loaded.setup, loaded.scenario.events, loaded.scenario.intents, placement=start.placement, running=start.pods
    )


def prove_all(loaded: Loaded) -> frozenset[int]:
    """The intents that every part which they speak of proves."""
    options, memo = VerifyOptions(max_states=20_000), {}
    whole = Input(loaded)
    found = [(part, prove_part(whole, part, planned, options, Watch(), memo)) for part in cut_by_relations(loaded)]
    numbers = range(len(loaded.scenario.intents))
    return frozenset(n for n in numbers if found and all(n in one.unbroken for part, one in found if n in part.intents))


def compare(loaded: Loaded) -> Counter[str]:
    """Asserts that nothing that is proved is violated by a run of the whole; counts what is proved, by key."""
    try:
        proved = prove_all(loaded)
    except ScenarioError:  # no stable start
        return Counter()
    if not proved:
        return Counter()
    intents = tuple(loaded.scenario.intents[number] for number in sorted(proved))
    rest = replace(loaded, scenario=replace(loaded.scenario, intents=intents))
    try:
        results = verify(rest, VerifyOptions(without=(SLICING,), max_states=MOST_STATES)).results
    except ScenarioError:
        return Counter()
    assert not [one for one in results if one.verdict == Verdict.VIOLATED], [(r.intent, r.verdict) for r in results]
    found = Counter(intent.key for intent in intents)
    found.update(f"{intent.key} {one.verdict}" for intent, one in zip(intents, results, strict=True))
    found["inputs"] += 1
    found[f"start {loaded.scenario.start.mode}"] += 1
    found.update({type(event).__name__ for event in loaded.scenario.events})
    found.update({workload.kind for workload in loaded.setup.workloads})
    return found


def compare_many(number: int, examples: int, mix: Mix = CROWD) -> Counter[str]:
    """Compares so many random inputs."""
    found: Counter[str] = Counter()

    @seed(number)
    @settings(PATIENT, max_examples=examples)
    @given(mixed_inputs(mix))
    def check(loaded: Loaded) -> None:
        found.update(compare(ask_all(loaded)))

    check()
    return found


# -- reconcilers --------------------------------------------------------------------------------------


@st.composite
def healed_inputs(draw: st.DrawFn) -> Loaded:
    """Workloads of all kinds, one of which somebody changes or not, and a reconciler that puts it back."""
    loaded = draw(mixed_inputs(replace(CROWD, autoscalers=choose(draw, False, False, True))))
    ref = choose(draw, *(workload.ref for workload in loaded.setup.workloads))
    scale = Scale(name="by hand", target=ref, replicas=(choose(draw, 1, 2, 3),), after=choose(draw, None, STABLE))
    rollout = Rollout(name="new", target=ref, after=choose(draw, None, STABLE))
    kind = ref.partition("/")[0]
    changes = [()] + [(scale,)] * (kind in (DEPLOYMENT, STATEFUL_SET))
    changes += [(rollout,)] * (kind in (DEPLOYMENT, STATEFUL_SET, DAEMON_SET)) * 2
    named = {event.name: event for event in loaded.scenario.events}
    events = (*named.values(), *choose(draw, *changes)) if len(named) < 2 else tuple(named.values())
    flags = replace(loaded.setup.settings, gitops_interval_s=choose(draw, 5, 180))
    setup = replace(loaded.setup, settings=flags)
    return replace(loaded, setup=setup, scenario=replace(loaded.scenario, events=events))


def compare_healed(number: int, examples: int) -> Counter[str]:
    """Compares so many inputs in which a reconciler undoes what somebody did."""
    found: Counter[str] = Counter()

    @seed(number)
    @settings(PATIENT, max_examples=examples)
    @given(healed_inputs())
    def check(loaded: Loaded) -> None:
        found.update(compare(ask_all(loaded)))

    check()
    return found


def test_what_is_proved_of_healed_workloads_is_so_whenever_the_reconciler_acts() -> None:
    assert compare_healed(1, 60)["inputs"] > 10


@pytest.mark.slow
@pytest.mark.parametrize("number", range(10, 15))
def test_what_is_proved_of_healed_workloads_is_so_in_many_more_cases(number: int) -> None:
    assert compare_healed(number, 400)["inputs"] > 80


# -- scores -------------------------------------------------------------------------------------------


def choose(draw: st.DrawFn, *values: Any) -> Any:
    """One of these."""
    return draw(st.sampled_from(values))


def scored_nodes(draw: st.DrawFn) -> Iterator[Node]:
    """Nodes in zones, mostly alike, some that pods had better avoid, or that have an image."""
    usual = choose(draw, 800, 1500, 3000)
    for number in range(choose(draw, 2, 3, 3)):
        zone, disk = choose(draw, "a", "b", f"z{number}"), choose(draw, "ssd", "hdd")
        yield Node(
            f"n{number}",
            as_labels({HOSTNAME: f"n{number}", ZONE: zone, "disk": disk}),
            taints=choose(draw, (), (), (), (Taint("old", "", "PreferNoSchedule"),)),
            cpu_milli=choose(draw, usual, usual, usual, 1000),
            memory_bytes=choose(draw, 2**30, 2**30, 2**31),
            images=choose(draw, (), (), (), (("web:1", 2**30),)),
        )


def scored_template(draw: st.DrawFn, name: str) -> PodTemplate:
    """Pods that prefer some nodes to others."""
    own = selecting(app=choose(draw, name, name, name, "web", "db"))
    soft = SpreadConstraint(choose(draw, HOSTNAME, ZONE), choose(draw, 1, 2), False, own)
    apart = PodAffinity(preferred=(WeightedPodTerm(choose(draw, 1, 100), PodTerm(HOSTNAME, own)),))
    memory = choose(draw, None, 2**20, 2**28)
    near = PreferredTerm(choose(draw, 1, 100), NodeTerm((Requirement("disk", "In", ("ssd",)),)))
    return PodTemplate(
        labels=(("app", name),),
        containers=(Container("main", choose(draw, 10, 100, 100, 300), memory, image="web:1"),),
        spread=choose(draw, (), (), (), (soft,)),
        pod_anti_affinity=choose(draw, PodAffinity(), PodAffinity(), apart),
        preferred_terms=choose(draw, (), (), (near,)),
        priority=choose(draw, None, None, None, 10),
        tolerations=DEFAULT_TOLERATIONS,
        grace_s=0,
    )


@st.composite
def scored_inputs(draw: st.DrawFn) -> Loaded:
    """A workload of two or three pods that should not be in one place, and others that sway where they go."""
    web = Workload(
        choose(draw, DEPLOYMENT, STATEFUL_SET), "shop", "web", scored_template(draw, "web"), choose(draw, 2, 2, 3)
    )
    db = Workload(choose(draw, DEPLOYMENT, DAEMON_SET), "shop", "db", scored_template(draw, "db"), choose(draw, 1, 2))
    web, db = (replace(one, selector=selecting(app=one.name)) for one in (web, db))
    profile = SchedulerProfile(
        weights=choose(draw, (), (), (("PodTopologySpread", 9),), (("NodeResourcesFit", 5),)),
        fit_strategy=choose(draw, "LeastAllocated", "LeastAllocated", "MostAllocated"),
    )
    event = choose(
        draw,
        NodeFailure(name="loss", recovers=choose(draw, True, False), after=choose(draw, None, STABLE)),
        Drain(name="drain", uncordon=choose(draw, True, False), after=choose(draw, None, STABLE)),
        ZoneFailure(name="zone", after=STABLE, recovers=False),
    )
    version = choose(draw, versions.NEWEST, (1, 30))
    setup = Setup(
        nodes=tuple(scored_nodes(draw)),
        workloads=(web, db),
        profiles=(profile,),
        settings=Settings(version, startup_s=(0, 0), monitor_period_s=0),
        services=choose(draw, (), (Service("shop", "web", (("app", "web"),)),)),
    )
    asked = (
        of("minReady", web, count=Amount(1)),
        of("minReady", web, count=Amount(2), name="two"),
    )
    return Loaded(setup, Scenario(start=Start(choose(draw, "deployed", "empty")), events=(event,), intents=asked))


def compare_scored(number: int, examples: int) -> Counter[str]:
    """Compares so many inputs in which scores decide."""
    found: Counter[str] = Counter()

    @seed(number)
    @settings(PATIENT, max_examples=examples)
    @given(scored_inputs())
    def check(loaded: Loaded) -> None:
        found.update(compare(loaded))

    check()
    return found


# -- autoscalers --------------------------------------------------------------------------------------


@st.composite
def resized_inputs(draw: st.DrawFn) -> Loaded:
    """A workload that an autoscaler resizes, and one beside it."""
    memory = choose(draw, None, 2**27)
    main = Container("main", choose(draw, 100, 5, 125), memory)
    template = PodTemplate(labels=(("app", "web"),), containers=(main,), grace_s=choose(draw, 0, 30))
    strategy = choose(draw, Strategy(), Strategy(max_surge=0, surge_percent=False), Strategy(rolling=False))
    kind, size = choose(draw, DEPLOYMENT, DEPLOYMENT, REPLICA_SET), choose(draw, 1, 2, 3)
    web = Workload(kind, "shop", "web", template, size, selecting(app="web"), strategy=strategy)
    beside = replace(template, labels=(("app", "db"),))
    db = Workload(choose(draw, DEPLOYMENT, DAEMON_SET), "shop", "db", beside, 1, selecting(app="db"))
    aim = Metric("Resource", choose(draw, "cpu", "cpu", "memory"), "Utilization", choose(draw, 50, 45, 70, 30))
    hasty = ScalingRules((ScalingPolicy("Percent", 100, 15),), window_s=choose(draw, 0, 60))
    scaler = HorizontalPodAutoscaler(
        "shop", "web", web.ref, choose(draw, 1, 2), choose(draw, 2, 3), (aim,), scale_down=choose(draw, None, hasty)
    )
    levels = choose(draw, (Usage(percent=25), Usage(percent=120)), (Usage(percent=50), Usage(percent=60)))
    usage = UsageChange(name="usage", resource=aim.name, target=web.ref, levels=levels, max=1, after=STABLE)
    happening = [
        Scale(name="scale", target=web.ref, replicas=(choose(draw, 1, 3),), after=choose(draw, None, STABLE)),
        PodCrash(name="crash", target=web.ref, after=STABLE),
        Drain(name="drain", uncordon=True, after=STABLE),
        NodeFailure(name="loss", recovers=False, after=STABLE),
    ]
    happening += [Rollout(name="rollout", target=web.ref, after=STABLE)] * 2 if kind == DEPLOYMENT else []
    events = (*choose(draw, (), (usage,)), *choose(draw, (), (choose(draw, *happening),)))
    names = ("n1", "n2")
    setup = Setup(
        nodes=tuple(Node(n, as_labels({HOSTNAME: n}), cpu_milli=2000, memory_bytes=2**31) for n in names),
        workloads=(web, db),
        autoscalers=(scaler,),
        settings=Settings(startup_s=choose(draw, (0, 0), (1, 5)), monitor_period_s=0, downscale_stabilization_s=60),
    )
    asked = [
        of("noOscillation", web),
        of("maxReplicas", web, count=Amount(choose(draw, 1, 2, 3))),
        of("minReady", web, count=Amount(1)),
        of("minReady", web, count=Amount(100, percent=True), when=EVENTUALLY_ALWAYS, name="all"),
    ]
    asked += [of("rolloutCompletes", web)] if any(isinstance(event, Rollout) for event in events) else []
    return Loaded(setup, Scenario(start=Start(choose(draw, "deployed", "empty")), events=events, intents=tuple(asked)))


def compare_resized(number: int, examples: int) -> Counter[str]:
    """Compares so many inputs in which an autoscaler acts."""
    found: Counter[str] = Counter()

    @seed(number)
    @settings(PATIENT, max_examples=examples)
    @given(resized_inputs())
    def check(loaded: Loaded) -> None:
        found.update(compare(loaded))

    check()
    return found


def test_what_is_proved_of_resized_workloads_is_so_whenever_the_autoscaler_acts() -> None:
    assert compare_resized(1, 40)["inputs"] > 10


@pytest.mark.slow
@pytest.mark.parametrize("number", range(10, 15))
def test_what_is_proved_of_resized_workloads_is_so_in_many_more_cases(number: int) -> None:
    assert compare_resized(number, 500)["inputs"] > 100


def test_pods_that_are_proved_to_be_apart_are_so_whatever_others_score() -> None:
    assert compare_scored(1, 80)["inputs"] > 5


def test_nothing_that_is_proved_of_some_workloads_is_violated_by_all_together(monkeypatch: pytest.MonkeyPatch) -> None:
    found = compare_many(1, 60)
    monkeypatch.setattr(loosened, "FEW_TIMES", 0)  # as if each drain were one of many
    found += compare_many(2, 60, FEW_KINDS)

    assert found["inputs"] > 20


@pytest.mark.slow
@pytest.mark.parametrize("number", range(10, 15))
def test_pods_that_are_proved_to_be_apart_are_so_in_many_more_cases(number: int) -> None:
    assert compare_scored(number, 1_000)["inputs"] > 50


@pytest.mark.slow
@pytest.mark.parametrize("number", range(10, 20))
def test_nothing_that_is_proved_is_violated_in_many_more_cases(number: int) -> None:
    assert compare_many(number, 1_000, CROWD if number % 2 else FEW_KINDS)["inputs"] > 100


def test_a_scheduler_that_says_that_others_leave_it_alone_is_believed() -> None:
    judge = Judge(WITNESSES["a node relates those that it takes"]())
    forgotten = Line("kubeproof.controllers.scheduler.controller", "SchedulerController", "among", NO_MORE)

    assert judge.find_disagreement(in_parts=True) == ""
    with Forgotten(forgotten):
        assert judge.find_disagreement(in_parts=True)
