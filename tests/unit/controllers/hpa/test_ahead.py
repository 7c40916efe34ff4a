"""The syncs to come against syncs that are each worked out."""

from __future__ import annotations

from itertools import islice, takewhile

from hypothesis import example, given, settings
from hypothesis import strategies as st

from kubeproof.cluster.state import NEVER
from kubeproof.controllers.hpa.ahead import Asked, LookAhead, Memory, Recall, unpack
from kubeproof.controllers.hpa.behavior import Behavior, behavior_of
from kubeproof.controllers.hpa.calculator import Failure
from kubeproof.controllers.hpa.decide import ScaleDecision
from kubeproof.controllers.hpa.history import FRESH, prune
from kubeproof.controllers.hpa.settings import AutoscalerSettings
from tests.unit.controllers.hpa.builders import autoscaler, memory, rules
from tests.unit.controllers.hpa.test_memory import BEHAVIORS, BOUNDS

SYNCS = 45  # more than any window or period of these autoscalers holds
ASKED = st.builds(Asked, st.integers(0, 14), st.one_of(st.none(), st.just(Failure("no metrics")), st.integers(-3, 20)))
AGES = st.one_of(st.integers(0, 130), st.sampled_from([0, 14, 15, 30, 45, 60, 299, 300]))
HISTORIES = st.one_of(
    st.just(FRESH),
    st.builds(
        memory,
        st.lists(st.tuples(AGES, st.integers(0, 14)), max_size=5),
        st.lists(st.tuples(AGES, st.integers(-5, 5).filter(bool)), max_size=4),
    ),
)


def _made(bounds: tuple[int, int], behavior: Behavior | None):
    up, down = behavior or (None, None)
    return autoscaler(*bounds, up=up, down=down)


class OneByOne(LookAhead):
    """Works every sync out."""

    def repeats(self, asked: Asked, outcome: ScaleDecision) -> int:
        return 0


@settings(max_examples=400, deadline=None)
@given(
    bounds=BOUNDS,
    behavior=BEHAVIORS,
    asked=ASKED,
    history=HISTORIES,
    period_s=st.sampled_from([1, 5, 15, 15, 15, 40]),
    open_s=st.tuples(st.integers(0, 15), st.sampled_from([0, 0, 15])),
    seconds=st.integers(0, 400),
)
@example(bounds=(1, 10), behavior=None, asked=Asked(5, 2), history=FRESH, period_s=15, open_s=(0, 15), seconds=50)
@example(  # a direction whose own periods are the shorter ones keeps places without meaning
    bounds=(1, 14),
    behavior=Behavior(rules(("Pods", 5, 15)), rules(("Pods", 1, 60), window_s=0)),
    asked=Asked(4, 4),
    history=memory([(0, 4)], [(20, 2), (70, 3)]),
    period_s=15,
    open_s=(15, 15),
    seconds=100,
)
def test_looking_ahead_finds_what_syncs_one_by_one_find(
    bounds, behavior, asked, history, period_s, open_s, seconds
) -> None:
    subject, setting = _made(bounds, behavior), AutoscalerSettings(sync_period_s=period_s)
    least_s, most_s = open_s
    start = Memory(least_s, max(least_s, most_s), prune(history, behavior_of(subject), bounds=bounds))
    ahead, naive = LookAhead(subject, setting, Recall()), OneByOne(subject, setting, Recall())

    worked_out = {time_s: outcome[:2] for time_s, outcome in islice(naive.syncs(asked, start), SYNCS)}
    last_s = max(worked_out)
    found = {
        time_s: outcome[:2]
        for time_s, outcome in takewhile(lambda one: one[0] <= last_s, _changing(ahead, asked, start))
    }

    assert found.items() <= worked_out.items()
    due = ahead.due(asked, start)
    assert due == naive.due(asked, start)
    waits = {None, 0, seconds, due} if due == NEVER else {min(seconds, due), due}
    for wait in waits - {NEVER}:
        assert ahead.later(asked, start.pack(), wait) == naive.later(asked, start.pack(), wait)


def _changing(ahead: LookAhead, asked: Asked, start: Memory):
    """The syncs up to one that leaves the memory as the one before it did."""
    before = None
    for time_s, outcome in ahead.syncs(asked, start):
        yield time_s, outcome
        if outcome.history == before:
            return
        before = outcome.history


def test_equal_syncs_are_worked_out_once_per_window() -> None:
    recall = Recall()
    ahead = LookAhead(autoscaler(1, 10), AutoscalerSettings(), recall)
    remembered = memory([(0, 2), (30, 5)])

    assert ahead.due(Asked(5, 2), Memory(15, 15, remembered)) == 270  # when 5 leaves the window of 300 s
    assert len(recall.outcomes) == 2


def test_a_memory_is_worked_out_once_for_all_who_ask_the_same() -> None:
    recall = Recall()
    numbers = Memory(15, 15, memory([(0, 2), (30, 5)])).pack()

    aged = [LookAhead(autoscaler(1, 10), AutoscalerSettings(), recall).later(Asked(5, 2), numbers, 100)] * 2

    assert unpack(aged[0]) == Memory(5, 5, memory([(10, 2), (130, 5)])) == unpack(aged[1])
    assert len(recall.memories) == 1


WEEK_S = 7 * 24 * 3600
LONG_WINDOWS = st.sampled_from([0, 30, 300, 3600, 100_000])


@settings(max_examples=25, deadline=None)
@given(
    bounds=BOUNDS,
    behavior=BEHAVIORS,
    asked=ASKED,
    history=HISTORIES,
    period_s=st.sampled_from([7, 15, 40, 3600]),
    window_s=LONG_WINDOWS,
    open_s=st.tuples(st.integers(0, 15), st.sampled_from([0, 0, 15])),
    wait_s=st.integers(0, 200_000),
)
@example(  # places without meaning are kept for ever
    bounds=(1, 14),
    behavior=Behavior(rules(("Pods", 5, 15)), rules(("Pods", 1, 60), window_s=0)),
    asked=Asked(4, 4),
    history=memory([(0, 4)], [(20, 2), (70, 3)]),
    period_s=15,
    window_s=300,
    open_s=(5, 5),
    wait_s=200_000,
)
def test_waits_of_any_length_find_what_syncs_one_by_one_find(
    bounds, behavior, asked, history, period_s, window_s, open_s, wait_s
) -> None:
    subject = _made(bounds, behavior)
    setting = AutoscalerSettings(sync_period_s=period_s, downscale_stabilization_s=window_s)
    least_s, most_s = open_s
    kept = prune(history, behavior_of(subject), downscale_stabilization_s=window_s, bounds=bounds)
    start = Memory(least_s, max(least_s, most_s), kept)
    ahead, naive = LookAhead(subject, setting, Recall()), OneByOne(subject, setting, Recall())

    due = ahead.due(asked, start)

    assert due == naive.due(asked, start)
    wait = wait_s if due == NEVER else min(wait_s, due)
    assert ahead.later(asked, start.pack(), wait) == naive.later(asked, start.pack(), wait)


def test_a_wait_of_centuries_takes_as_many_syncs_as_one_of_an_hour() -> None:
    taken = []
    for wait_s in (3600, WEEK_S, 10**12):
        recall = Recall()
        ahead = LookAhead(autoscaler(1, 10), AutoscalerSettings(), recall)

        later = unpack(ahead.later(Asked(5, 5), Memory(8, 8, memory([(0, 5), (30, 4)])).pack(), wait_s))

        phase_s = 15 - (wait_s - 8) % 15
        assert later == Memory(phase_s, phase_s, memory([(15 - phase_s, 5)]))
        taken.append(len(recall.outcomes))
    assert taken == [taken[0]] * 3


def test_an_acting_sync_beyond_ten_thousand_periods_is_found() -> None:
    setting = AutoscalerSettings(sync_period_s=1, downscale_stabilization_s=WEEK_S)
    ahead = LookAhead(autoscaler(1, 10), setting, Recall())

    assert ahead.due(Asked(5, 2), Memory(1, 1, memory([(0, 2), (30, 5)]))) == WEEK_S - 30
