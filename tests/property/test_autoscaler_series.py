"""The autoscaler on the random inputs that its recorded corpora are made of."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kubeproof.cluster.kinds import DEPLOYMENT
from kubeproof.cluster.loops.actions import Remember, SetDesired
from kubeproof.cluster.loops.control import Seen
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import Setup, Workload
from kubeproof.cluster.state import Phase
from kubeproof.cluster.usage import Level, UsageRule
from kubeproof.controllers.hpa.ahead import Memory, unpack
from kubeproof.controllers.hpa.controller import MOST_ASKED, HpaController
from kubeproof.controllers.hpa.decide import conclude, never_acts
from kubeproof.controllers.hpa.history import History, Recommendation, ScaleEvent
from kubeproof.controllers.hpa.pods import Counted, Key
from tests.conformance.decide.hpa import autoscaler_of, decide_metrics, decide_series, template_of
from tests.conformance.inputs.hpa import decision
from tests.conformance.inputs.hpa_series import series

NEWEST = "kubernetes-1.37"
SEEDS = st.integers(0, 2**32)
PERIOD_S = 15
OLD_S = 3600


def regular(seed: int) -> dict[str, Any]:
    """A series as runs can have it: a sync each period, every metric available, every running pod measured."""
    case = series(Random(seed))
    load = {name: [value or 0 for value in values] for name, values in case["load"].items()}
    return {**case, "after": [PERIOD_S] * len(case["after"]), "load": load, "missing": {}}


def controller_of(case: dict[str, Any]) -> HpaController:
    """The loop of a run, whose usage of each resource is a total that the ready pods share."""
    workload = Workload(kind=DEPLOYMENT, namespace="shop", name="web", template=template_of(case["pod"]))
    rules = tuple(
        UsageRule(name, 0, tuple(Level(amount_milli=load) for load in loads), memory=1, is_shared=True)
        for name, loads in case["load"].items()
    )
    layout = Layout(Setup(workloads=(workload,)), (), frozenset())
    return HpaController(layout, autoscaler_of(case["spec"]), 0, 0, rules)


def seen(case: dict[str, Any], sync: int, replicas: int, memory: tuple[int, ...]) -> Seen:
    """The pods at a sync; those without a node are no sample of any place."""
    waiting = min(case.get("pending", {}).get(str(sync), 0), replicas)
    pods = ((Key(Phase.READY, OLD_S), replicas - waiting),)
    return Seen((Counted(True, replicas, waiting),), (((pods, 1),),), (memory, (sync,)))


def driven(case: dict[str, Any]) -> list[int]:
    """Replicas after each sync of the loop; the load changes a second before each."""
    loop, replicas, memory, found = controller_of(case), case["replicas"], Memory(1, 1, History()).pack(), []
    for sync in range(len(case["after"])):
        replicas = case.get("others", {}).get(str(sync), replicas)
        memory = loop.later(seen(case, sync, replicas, memory), 1)
        if unpack(memory).most_s == 0:  # this one changes the size; idle ones are caught up on
            (chosen,) = loop.act(seen(case, sync, replicas, memory))
            set_desired, remember = chosen.actions
            assert isinstance(set_desired, SetDesired)
            assert isinstance(remember, Remember)
            replicas, memory = set_desired.replicas, remember.value
        found.append(replicas)
        memory = loop.later(seen(case, sync, replicas, memory), PERIOD_S - 1)
    return found


@given(SEEDS)
def test_a_loop_that_catches_up_on_idle_syncs_decides_as_one_that_syncs_every_time(seed: int) -> None:
    case = regular(seed)

    assert driven(case) == decide_series(case, NEWEST)["n"]


@given(SEEDS)
def test_a_sync_leaves_replicas_within_the_bounds_or_disabled(seed: int) -> None:
    case = series(Random(seed))
    least, most = case["spec"].get("minReplicas", 1), case["spec"]["maxReplicas"]

    assert {n for n in decide_series(case, NEWEST)["n"] if not least <= n <= most} <= {0}


@given(SEEDS)
def test_a_failed_metric_never_lets_the_others_shrink_the_target(seed: int) -> None:
    case = decision(Random(seed))
    pairs = zip(case["autoscalers"], decide_metrics(case, NEWEST), strict=True)
    partly = [(asked["replicas"], told["r"]) for asked, told in pairs if None in told["m"] and told["r"] is not None]

    assert [pair for pair in partly if pair[1] < pair[0]] == []


PAIRS = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 14)), max_size=4)


@st.composite
def remembered(draw: st.DrawFn) -> tuple[HpaController, int, History]:
    """A loop, a size between its bounds, and a memory that earlier syncs may have left."""
    loop = controller_of(series(Random(draw(SEEDS))))
    bounds = loop.autoscaler.min_replicas, loop.autoscaler.max_replicas
    recommendations = None if draw(st.booleans()) else tuple(Recommendation(*pair) for pair in draw(PAIRS))
    events = tuple(ScaleEvent(age_s, change - 7) for age_s, change in draw(PAIRS) if change != 7)
    return loop, draw(st.integers(*bounds)), History(recommendations, events)


def sizes_after(loop: HpaController, current: int, history: History) -> set[int]:
    """What a sync may write, over all proposals up to far beyond the bounds."""
    proposals = (*range(3 * loop.autoscaler.max_replicas + 9), MOST_ASKED)
    return {conclude(loop.autoscaler, current, each, history, loop.settings).replicas for each in proposals}


@given(remembered())
def test_a_size_is_fixed_exactly_if_no_proposal_changes_it(case: tuple[HpaController, int, History]) -> None:
    loop, current, history = case

    assert loop.is_fixed(current, Memory(0, 15, history).pack()) == (sizes_after(loop, current, history) == {current})


@given(remembered(), st.integers(0, 30))
def test_what_never_acts_leaves_the_size_whatever_is_remembered(
    case: tuple[HpaController, int, History], proposal: int
) -> None:
    loop, current, history = case

    if never_acts(loop.autoscaler, current, proposal):
        assert conclude(loop.autoscaler, current, proposal, history, loop.settings).replicas == current
