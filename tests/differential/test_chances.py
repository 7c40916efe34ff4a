"""Chances against verdicts, and against the same process by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, seed, settings

from kubeproof.cluster.chances import Chance
from kubeproof.engine.limits import Limits
from kubeproof.engine.search import explore, find_compiled_kernel, make_kernel
from kubeproof.errors import LimitReached, NothingToCheckError
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.reductions.weights import Weights
from kubeproof.quantify.clusters.options import EVER, OPEN, UNIFORM, WITHIN, ClusterOptions
from kubeproof.quantify.clusters.result import ClusterResult
from kubeproof.quantify.clusters.space import SpaceOptions, plan_to_quantify
from kubeproof.verify.run import verify
from tests.differential.by_name import NamedProcess, Walker, reach_probability, reached_places
from tests.differential.chances import loaded_case
from tests.differential.test_engines import AT_A_TIME, FAMILIES, PATIENT
from tests.property.strategies import Case
from tests.unit.quantify.programs import needs_storm

pytestmark = needs_storm

OTHERS = [family for family in FAMILIES if family != "own"]  # own controllers are none of quantification's
PER_FAMILY = {"verdicts": 4, "by name": 2}  # 18 families and more: at least 60 cases
SLOW = {"verdicts": 20, "by name": 20}
MOST_STATES = 2000
MOST_PLACES = 400
MOST_SEEDS = 20
RUNS = 10_000
HORIZON_S = 600


def cases(family: str, wanted: int, judge: Callable[[Loaded, int], bool]) -> int:
    """Judges so many different cases, the same in every run, and counts them; `judge` says whether a case counts."""
    agreed: set[Case] = set()
    first_seed = 0

    @settings(PATIENT, max_examples=AT_A_TIME)
    @given(FAMILIES[family]())
    def one(case: Case) -> None:
        if case not in agreed and len(agreed) < wanted and judge(loaded_case(case, len(agreed)), len(agreed)):
            agreed.add(case)

    while len(agreed) < wanted and first_seed < MOST_SEEDS:  # some families have few cases that count
        seed(first_seed)(one)()
        first_seed += 1
    return len(agreed)


def quantified(loaded: Loaded, order: str, *questions: str) -> ClusterResult | None:
    """The chances; None if the case is too large or has nothing to ask for."""
    from kubeproof.quantify.clusters.run import quantify_cluster

    options = ClusterOptions(
        order=order, questions=questions, horizon_s=HORIZON_S, space=SpaceOptions(max_states=MOST_STATES)
    )
    try:
        found = quantify_cluster(loaded, options)
    except (LimitReached, NothingToCheckError):
        return None
    return found if found.intents else None


def agrees_with_verify(loaded: Loaded, number: int) -> bool:
    """A safety intent is violated with a positive probability if and only if verify says so."""
    found = quantified(loaded, (OPEN, UNIFORM)[number % 2], EVER)
    if found is None:
        return False
    verdicts = {one.intent: one.verdict for one in verify(loaded).results}
    for one in found.intents:
        assert one.ever is not None
        assert one.ever.least is not None, one
        assert one.is_possible == (verdicts[one.intent] == "VIOLATED"), one
        if found.order == UNIFORM and not found.open_events:
            assert (one.ever.least.value > 0) == (verdicts[one.intent] == "VIOLATED"), one
    return True


def agrees_by_name(loaded: Loaded, number: int) -> bool:
    """Every probability is that of the process by name, whose equations are solved directly."""
    loaded = with_every_chance(loaded)
    found = quantified(loaded, UNIFORM, EVER)
    if found is None or found.open_events:  # such as schedules
        return False
    plan = plan_to_quantify(loaded)
    for monitor, one in zip(plan.monitors, found.intents, strict=True):
        process = NamedProcess(loaded, plan, monitor)
        places = reached_places(process, MOST_PLACES)
        if places is None:
            return False
        expected = pytest.approx(reach_probability(process, places), abs=1e-6)
        assert one.ever is not None
        assert [value and value.value for value in (one.ever.least, one.ever.greatest)] == [expected] * 2, one
    return True


def with_every_chance(loaded: Loaded) -> Loaded:
    """The input with a probability on every event, so that nothing is open."""
    events = tuple(
        replace(e, chance=e.chance or Chance(per_tick=0.2), recovery=e.recovery or Chance(per_tick=0.4))
        for e in loaded.scenario.events
    )
    return replace(loaded, scenario=replace(loaded.scenario, events=events))


@pytest.mark.parametrize("family", OTHERS)
def test_a_violation_is_possible_if_and_only_if_verify_finds_one(family: str) -> None:
    assert cases(family, PER_FAMILY["verdicts"], agrees_with_verify) == PER_FAMILY["verdicts"]


def has_equal_weights(loaded: Loaded, number: int) -> bool:
    """Both kernels tell the same steps with the same weights, and the same effects."""
    plan = plan_to_quantify(loaded)
    found = []
    for kernel in ("python", "compiled"):
        system = GroupedSystem(plan)
        store = make_kernel(system, engine=kernel)
        if explore(system, (), kernel=store, limits=Limits(MOST_STATES // 4), stop_early=False).stopped_by:
            return False
        found.append((store.weighed(0, len(store), Weights(system)), list(store.effect_values)))
    assert found[0] == found[1]
    return True


@pytest.mark.skipif(find_compiled_kernel() is None, reason="the compiled kernel was not built")
@pytest.mark.parametrize("family", ["failure", "daemon", "deschedule", "drain", "preempt"])
def test_both_kernels_weigh_steps_alike(family: str) -> None:
    assert cases(family, 3, has_equal_weights) == 3


@pytest.mark.parametrize("family", OTHERS)
def test_probabilities_are_those_of_the_process_by_name(family: str) -> None:
    assert cases(family, PER_FAMILY["by name"], agrees_by_name) == PER_FAMILY["by name"]


@pytest.mark.slow
@pytest.mark.parametrize("family", OTHERS)
def test_a_violation_is_possible_if_and_only_if_verify_finds_one_in_many_cases(family: str) -> None:
    assert cases(family, SLOW["verdicts"], agrees_with_verify) == SLOW["verdicts"]


@pytest.mark.slow
@pytest.mark.parametrize("family", OTHERS)
def test_probabilities_are_those_of_the_process_by_name_in_many_cases(family: str) -> None:
    assert cases(family, SLOW["by name"], agrees_by_name) >= 10  # most schedules of CronJobs are open


def uncertain(family: str, wanted: int) -> Iterator[tuple[Loaded, int, float]]:
    """Cases in which a violation within the horizon is neither certain nor impossible, with its probability."""
    found: list[tuple[Loaded, int, float]] = []

    def judge(loaded: Loaded, number: int) -> bool:
        loaded = with_every_chance(loaded)
        result = quantified(loaded, UNIFORM, WITHIN)
        for at, one in enumerate(result.intents if result is not None else ()):
            assert one.within is not None
            assert one.within.greatest is not None, one
            if 0.001 < one.within.greatest.value < 0.999:
                found.append((loaded, at, one.within.greatest.value))
                return True
        return False

    assert cases(family, wanted, judge) == wanted
    yield from found


def check_walks(family: str, wanted: int) -> None:
    """The probability lies in the 99 % interval of so many random walks by name (Wilson's)."""
    for loaded, number, probability in uncertain(family, wanted):
        plan = plan_to_quantify(loaded)
        walker = Walker(NamedProcess(loaded, plan, plan.monitors[number]), Random(number))
        hits = sum(walker.violates(HORIZON_S) for _ in range(RUNS))
        share, z = hits / RUNS, 2.5758
        centre = (share + z * z / (2 * RUNS)) / (1 + z * z / RUNS)
        width = z / (1 + z * z / RUNS) * (share * (1 - share) / RUNS + z * z / (4 * RUNS * RUNS)) ** 0.5
        assert abs(probability - centre) <= width, (probability, share, number)


@pytest.mark.parametrize("family", ["failure", "drain"])
def test_probabilities_within_a_horizon_are_those_of_random_walks_by_name(family: str) -> None:
    check_walks(family, 1)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["failure", "drain", "scale", "load", "autoscale", "rollout", "daemon"])
def test_probabilities_within_a_horizon_are_those_of_many_random_walks_by_name(family: str) -> None:
    check_walks(family, 2)
