"""The canonical memory against the oracle, which forgets nothing, on random runs."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from kubeproof.cluster.steering.policies import Metric
from kubeproof.controllers.hpa.behavior import Behavior, behavior_of
from kubeproof.controllers.hpa.history import FRESH, later, prune
from kubeproof.controllers.hpa.normalise import normalise
from tests.oracles.hpa_sync import decide
from tests.unit.controllers.hpa.builders import autoscaler, memory, ready, rules
from tests.unit.controllers.hpa.oracle import Oracle

ASKED = Metric("Pods", "asked", "AverageValue", 1000)  # one pod with usage n asks for n replicas

POLICIES = st.lists(
    st.tuples(
        st.sampled_from(["Pods", "Percent"]), st.sampled_from([1, 2, 5, 10, 50, 90, 150]), st.sampled_from([15, 30, 60])
    ),
    min_size=1,
    max_size=2,
)
RULES = st.builds(
    lambda policies, select, window_s: rules(*policies, select=select, window_s=window_s),
    POLICIES,
    st.sampled_from(["Max", "Max", "Min", "Disabled"]),
    st.sampled_from([0, 15, 30, 60]),
)
DOWN_RULES = st.builds(
    lambda policies, select, window_s: rules(*policies, select=select, window_s=window_s),
    POLICIES,
    st.sampled_from(["Max", "Max", "Min", "Disabled"]),
    st.sampled_from([None, 0, 15, 60, 120]),
)
BEHAVIORS = st.one_of(st.none(), st.builds(Behavior, RULES, DOWN_RULES))
STEPS = st.lists(
    st.tuples(
        st.sampled_from([1, 15, 15, 15, 30, 45, 120]),  # seconds since the last sync
        st.one_of(st.none(), st.integers(0, 14)),  # what the metric asks for; None: it fails
        st.one_of(st.none(), st.none(), st.integers(0, 14)),  # somebody else sets the replicas
    ),
    max_size=25,
)
BOUNDS = st.tuples(st.integers(1, 4), st.integers(0, 10)).map(lambda pair: (pair[0], pair[0] + pair[1]))


def _autoscaler(bounds: tuple[int, int], behavior: Behavior | None):
    up, down = behavior or (None, None)
    return autoscaler(*bounds, ASKED, up=up, down=down)


@settings(max_examples=200, deadline=None)
@given(bounds=BOUNDS, behavior=BEHAVIORS, start=st.integers(0, 14), steps=STEPS)
@example(
    bounds=(1, 14),
    behavior=Behavior(rules(("Pods", 5, 15)), rules(("Pods", 1, 60), window_s=0)),
    start=1,
    steps=[(15, 2, None), (1, 5, None), (15, 8, None), (15, 0, None)],  # +1 and +3, then +3 overwrites one
)
def test_a_pruned_memory_decides_as_one_that_forgets_nothing(bounds, behavior, start, steps) -> None:
    subject, oracle = _autoscaler(bounds, behavior), Oracle(*bounds, behavior)
    history, current = FRESH, start
    for wait_s, asked, override in steps:
        current = current if override is None else override
        history = later(history, wait_s)
        oracle.wait(wait_s)
        outcome = decide(subject, current, ((() if asked is None else (ready(1, 1000 * asked),)),), history)

        # A ratio of exactly 1 is within tolerance, so the metric asks for the current count.
        assert outcome.replicas == oracle.sync(current, current if asked == 1 else asked)
        assert outcome.replicas == 0 or bounds[0] <= outcome.replicas <= bounds[1]
        history, current = outcome.history, outcome.replicas


@settings(max_examples=40, deadline=None)
@given(bounds=BOUNDS, behavior=BEHAVIORS, start=st.integers(0, 14), asked=st.integers(0, 14), steps=STEPS)
def test_equal_syncs_reach_a_fixpoint(bounds, behavior, start, asked, steps) -> None:
    subject, history, current = _autoscaler(bounds, behavior), FRESH, start
    for wait_s, wish, override in [*steps, *[(15, asked, None)] * 120]:
        current = current if override is None else override
        outcome = decide(
            subject, current, ((() if wish is None else (ready(1, 1000 * wish),)),), later(history, wait_s)
        )
        history, current = outcome.history, outcome.replicas
    again = decide(subject, current, ((ready(1, 1000 * asked),),), later(history, 15))

    assert (again.replicas, again.history) == (current, history)


@settings(deadline=None)
@given(
    behavior=BEHAVIORS,
    bounds=BOUNDS,
    recommendations=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 14)), max_size=8),
    events=st.lists(st.tuples(st.integers(0, 100), st.integers(-5, 5).filter(bool)), max_size=8),
)
def test_pruning_twice_is_pruning_once_and_time_may_pass_between(behavior, bounds, recommendations, events) -> None:
    history = memory(recommendations, events)
    once = prune(history, behavior, bounds=bounds)

    assert prune(once, behavior, bounds=bounds) == once
    assert prune(later(once, 15), behavior, bounds=bounds) == prune(later(history, 15), behavior, bounds=bounds)


@settings(deadline=None)
@given(
    behavior=BEHAVIORS,
    current=st.integers(1, 14),
    low=st.integers(0, 20),
    more=st.integers(0, 20),
    recommendations=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 14)), max_size=5),
    events=st.lists(st.tuples(st.integers(0, 100), st.integers(-5, 5).filter(bool)), max_size=5),
)
def test_a_larger_proposal_never_leads_to_fewer_replicas(behavior, current, low, more, recommendations, events) -> None:
    history = memory(recommendations, events)
    less = normalise(current, low, 1, 14, behavior, history).replicas
    larger = normalise(current, low + more, 1, 14, behavior, history).replicas

    assert 1 <= less <= larger <= 14


def test_the_autoscaler_of_these_tests_has_the_behavior_given() -> None:
    behavior = Behavior(rules(("Pods", 1, 15)), rules(("Pods", 1, 15)))

    assert behavior_of(_autoscaler((1, 3), behavior)) == behavior
