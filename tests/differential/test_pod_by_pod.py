"""What is proved by following one pod of each workload, against every run of all of them together."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import NamedTuple

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from kubeproof.cluster.kinds import DAEMON_SET, DEPLOYMENT, REPLICA_SET, REPLICATION_CONTROLLER
from kubeproof.cluster.labels import Toleration, as_labels
from kubeproof.cluster.objects import (
    HOSTNAME,
    ZONE,
    Container,
    Node,
    PodTemplate,
    Readiness,
    Settings,
    Setup,
    Strategy,
    Workload,
)
from kubeproof.errors import ScenarioError
from kubeproof.events.declarations import STABLE as STABLE_REST
from kubeproof.events.declarations import (
    Cordon,
    CreateNode,
    Drain,
    Event,
    Maintenance,
    NodeFailure,
    NodeRemoval,
    PodCrash,
    Rollout,
    Scale,
    ZoneFailure,
)
from kubeproof.intents.declarations import EVENTUALLY, EVENTUALLY_ALWAYS, STABLE, Amount
from kubeproof.manifests.loaded import Loaded, Scenario, Start
from kubeproof.verdicts import Verdict
from kubeproof.verify.options import SLICING, VerifyOptions
from kubeproof.verify.proofs.crowd.proving import Input, prove_pod_by_pod
from kubeproof.verify.proofs.slicing import cut_by_relations
from kubeproof.verify.run import verify
from kubeproof.verify.searching import Watch
from tests.differential.guards.clusters import of, selecting
from tests.differential.test_crowd import ask_all, choose, planned, resized_inputs
from tests.differential.test_slicing import PATIENT
from tests.property.mixed import DEFAULT_TOLERATIONS, Mix, mixed_inputs

MOST_STATES = 6_000
FOR_EVER = (Toleration("", "Exists"),)
COUNTED = (DEPLOYMENT, DEPLOYMENT, REPLICA_SET, REPLICATION_CONTROLLER)
ALONE = Mix(
    kinds=COUNTED, workloads=(1, 1), nodes=(2, 3), most_pods=3, verticals=False, quotas=False, foreign=False,
    claims=False, gitops=False, rules=False, budgets=False,
)  # fmt: skip
BESIDE = replace(ALONE, kinds=(*COUNTED, DAEMON_SET), workloads=(2, 2), most_events=1)
WILD = Mix(workloads=(1, 2), nodes=(1, 3), verticals=False)


@st.composite
def lone_inputs(draw: st.DrawFn) -> Loaded:
    """One workload under two events of any kind that a single pod can be followed through."""
    kind, size = choose(draw, *[DEPLOYMENT] * 4, REPLICA_SET, REPLICATION_CONTROLLER), choose(draw, 1, 2, 3)
    main = Container("main", choose(draw, 100, 100, 700), None)
    tolerations = choose(draw, DEFAULT_TOLERATIONS, DEFAULT_TOLERATIONS, (), FOR_EVER)
    ready = choose(draw, None, None, Readiness(initial_delay_s=5))
    template = PodTemplate(
        labels=(("app", "web"),),
        containers=(main,),
        grace_s=choose(draw, 0, 30),
        tolerations=tolerations,
        readiness=ready,
    )
    rolling = [Strategy(max_surge=s, max_unavailable=u) for s, u in ((25, 25), (100, 0), (50, 50), (0, 34), (0, 100))]
    strategy = choose(draw, *rolling, Strategy(rolling=False))
    web = Workload(kind, "shop", "web", template, size, selecting(app="web"), strategy=strategy)
    nodes = tuple(
        Node(n, as_labels({HOSTNAME: n, ZONE: choose(draw, "a", "b")}), cpu_milli=choose(draw, 1500, 4000))
        for n in ("n1", "n2", "n3")[: choose(draw, 2, 3)]
    )
    events = tuple(_lone_event(draw, f"event-{number}", web) for number in range(choose(draw, 1, 2, 2)))
    healed_s = choose(draw, *[None] * 5, 180)
    setup = Setup(nodes, (web,), settings=Settings(startup_s=(0, 0), monitor_period_s=0, gitops_interval_s=healed_s))
    return ask_more(Loaded(setup, Scenario(start=Start(choose(draw, "deployed", "empty")), events=events)))


def _lone_event(draw: st.DrawFn, name: str, web: Workload) -> Event:
    after = choose(draw, STABLE_REST, None)
    made: list[Event] = [
        NodeFailure(name=name, after=after, recovers=choose(draw, True, False)),
        ZoneFailure(name=name, after=STABLE_REST, recovers=choose(draw, True, False)),
        Drain(name=name, after=after, uncordon=choose(draw, True, False)),
        Cordon(name=name, after=after, reversible=choose(draw, True, False)),
        Maintenance(name=name, after=after),
        NodeRemoval(name=name, after=after, drain_first=choose(draw, True, False)),
        CreateNode(name=name, after=after, node="n2"),
        PodCrash(name=name, after=after, target=web.ref, max=choose(draw, 1, 2, None)),
        Scale(name=name, after=after, target=web.ref, replicas=choose(draw, (0,), (1,), (2,), (3,), (0, 2))),
    ]
    if web.kind == DEPLOYMENT:
        made += [Rollout(name=name, after=after, target=web.ref)] * 6
    return choose(draw, *made)


def ask_more(loaded: Loaded) -> Loaded:
    """The input with all questions that following one pod may answer."""
    asked = ask_all(loaded)
    extra = [
        of("minReady", w, count=amount, when=when, name=f"{when} {amount} {w.ref}")
        for w in loaded.setup.workloads
        if w.rules.has_replica_set
        for when in (STABLE, EVENTUALLY, EVENTUALLY_ALWAYS)
        for amount in (Amount(1), Amount(2), Amount(3), Amount(100, percent=True))
    ]
    extra += [of("schedulable", w) for w in loaded.setup.workloads if w.rules.has_replica_set]
    return replace(asked, scenario=replace(asked.scenario, intents=(*asked.scenario.intents, *extra)))


class Proved(NamedTuple):
    """The intents that follow for every part which they speak of."""

    unbroken: frozenset[int]
    spoken_of: frozenset[int]  # those that are not vacuous


def prove_all(loaded: Loaded) -> Proved:
    """What follows for every part."""
    options = VerifyOptions(max_states=20_000)
    parts, whole = cut_by_relations(loaded), Input(loaded)
    found = [(part, prove_pod_by_pod(whole, part, planned, options, Watch(), {})) for part in parts]
    numbers = range(len(loaded.scenario.intents)) if found else ()
    return Proved(
        frozenset(n for n in numbers if all(n in one.unbroken for part, one in found if n in part.intents)),
        frozenset(n for n in numbers if all(n in one.intents for part, one in found if n in part.intents)),
    )


def compare(loaded: Loaded) -> Counter[str]:
    """Asserts that every run of the whole says what is proved, or that it is not known; counts that, by key."""
    try:
        proved = prove_all(loaded)
    except ScenarioError:  # no stable start
        return Counter()
    found = Counter({"inputs": int(bool(proved.unbroken))})
    numbers = sorted(proved.unbroken)
    for first in range(0, len(numbers), 12):
        batch = numbers[first : first + 12]
        intents = tuple(loaded.scenario.intents[number] for number in batch)
        rest = replace(loaded, scenario=replace(loaded.scenario, intents=intents))
        try:
            results = verify(rest, VerifyOptions(without=(SLICING, "abstraction"), max_states=MOST_STATES)).results
        except ScenarioError:
            return Counter()
        for number, one in zip(batch, results, strict=True):
            wrong = {Verdict.VIOLATED} | ({Verdict.VACUOUS} if number in proved.spoken_of else set())
            assert one.verdict not in wrong, (one.intent, one.verdict)
        found.update(f"{intent.key} {one.verdict}" for intent, one in zip(intents, results, strict=True))
    if numbers:
        found.update({type(event).__name__ for event in loaded.scenario.events})
        found.update({workload.kind for workload in loaded.setup.workloads})
        found["autoscaled"] += bool(loaded.setup.autoscalers)
    return found


def largest_of(loaded: Loaded) -> int:
    """Up to which size of its one workload all that is proved is said to hold."""
    whole, options = Input(loaded), VerifyOptions(max_states=20_000)
    if len(whole.parts) != 1:
        return 0
    return prove_pod_by_pod(whole, whole.parts[0], planned, options, Watch(), {}, asks_for_sizes=True).largest


def resize(loaded: Loaded, replicas: int) -> Loaded:
    """The input with so many replicas of its one workload, asked only what depends on no number."""
    (workload,) = loaded.setup.workloads
    asked = tuple(i for i in loaded.scenario.intents if i.count is None or i.count.percent)
    setup = replace(loaded.setup, workloads=(replace(workload, replicas=replicas),))
    return replace(loaded, setup=setup, scenario=replace(loaded.scenario, intents=asked))


def compare_sizes(number: int, examples: int) -> Counter[str]:
    """Asserts that what is said of other sizes of a workload is violated by no run at some of them."""
    found: Counter[str] = Counter()

    @seed(number)
    @settings(PATIENT, max_examples=examples)
    @given(lone_inputs())
    def check(loaded: Loaded) -> None:
        try:
            largest = largest_of(loaded)
        except ScenarioError:
            return
        for replicas in (1, 2, 3, 4):
            if replicas <= largest:
                told = compare(resize(loaded, replicas))
                found.update(told)
                found["sizes"] += 1
                found["proved"] += told["inputs"]

    check()
    return found


def compare_many(number: int, examples: int, mix: Mix = ALONE) -> Counter[str]:
    """Compares so many random inputs."""
    found: Counter[str] = Counter()

    @seed(number)
    @settings(PATIENT, max_examples=examples)
    @given(mixed_inputs(mix))
    def check(loaded: Loaded) -> None:
        found.update(compare(ask_more(loaded)))

    check()
    return found


def compare_lone(number: int, examples: int) -> Counter[str]:
    """Compares so many inputs of one workload."""
    found: Counter[str] = Counter()

    @seed(number)
    @settings(PATIENT, max_examples=examples)
    @given(lone_inputs())
    def check(loaded: Loaded) -> None:
        found.update(compare(loaded))

    check()
    return found


def compare_resized(number: int, examples: int) -> Counter[str]:
    """Compares so many inputs in which an autoscaler acts beside other events."""
    found: Counter[str] = Counter()

    @seed(number)
    @settings(PATIENT, max_examples=examples)
    @given(resized_inputs())
    def check(loaded: Loaded) -> None:
        found.update(compare(ask_more(loaded)))

    check()
    return found


def test_what_is_proved_of_each_pod_is_so_for_all_of_a_workload() -> None:
    found = compare_many(1, 20) + compare_lone(1, 50)

    assert found["inputs"] > 5
    assert found["Rollout"]
    assert found["NodeFailure"]


def test_what_is_proved_of_each_pod_is_so_beside_other_workloads() -> None:
    found = compare_many(2, 15, BESIDE) + compare_many(3, 15, WILD) + compare_resized(4, 15)

    assert found["inputs"] > 5


def test_what_is_said_of_other_sizes_is_so_at_each_of_them() -> None:
    found = compare_sizes(5, 10)

    assert found["sizes"] > 5
    assert found["proved"] == found["sizes"]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(10, 20))
def test_what_is_proved_of_each_pod_is_so_in_many_more_cases(number: int) -> None:
    mix = (ALONE, BESIDE, WILD)[number % 3]

    found = compare_many(number, 1_000, mix) + compare_lone(number, 1_000)
    assert found["inputs"] + compare_resized(number, 300)["inputs"] > 100
