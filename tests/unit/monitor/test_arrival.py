"""Events are put in order within the lateness bound; copies and losses are noticed."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from kubeproof.monitor.event import Event
from kubeproof.monitor.intake.arrival import MOST_GAPS, Arrival, Gaps, in_order


def test_events_within_the_bound_come_out_in_order():
    arrival = Arrival(lateness_us=5)

    assert [event.time_us for event in in_order([Event(t, "a") for t in (10, 7, 12, 9, 30)], arrival)] == [
        7,
        9,
        10,
        12,
        30,
    ]
    assert arrival.counts.late == 0


def test_an_event_beyond_the_bound_is_left_out_and_leaves_a_gap():
    arrival = Arrival(lateness_us=5)

    assert [event.time_us for event in in_order([Event(t, "a") for t in (10, 20, 4, 21)], arrival)] == [10, 20, 21]
    assert (arrival.counts.late, arrival.gaps.spans) == (1, [(4, 4)])


def test_copies_are_known_by_their_identity():
    arrival = Arrival()

    assert len(list(in_order([Event(1, "a", id="x"), Event(2, "a", id="x"), Event(3, "a")], arrival))) == 2
    assert arrival.counts.copies == 1


def test_a_jump_of_the_sequence_is_a_gap_and_a_repetition_a_copy():
    arrival = Arrival()
    stream = [Event(time, "a", "s", sequence=number) for time, number in ((1, 5), (2, 6), (9, 9), (10, 9))]

    assert [event.time_us for event in in_order(stream, arrival)] == [1, 2, 9]
    assert (arrival.counts.gaps, arrival.counts.copies, arrival.gaps.spans) == (1, 1, [(2, 9)])


def test_a_source_that_counts_anew_is_heard_and_leaves_a_gap():
    arrival = Arrival()
    stream = [Event(time, "a", "s", sequence=number) for time, number in ((1, 5), (2, 6), (7, 1), (8, 2))]

    assert [event.time_us for event in in_order(stream, arrival)] == [1, 2, 7, 8]
    assert (arrival.counts.gaps, arrival.counts.copies, arrival.gaps.spans) == (1, 0, [(2, 7)])


def test_sequences_of_different_sources_do_not_mix():
    arrival = Arrival()

    assert len(list(in_order([Event(1, "a", "s", sequence=1), Event(2, "a", "t", sequence=7)], arrival))) == 2
    assert arrival.counts.gaps == 0


def test_sequences_that_overtake_each_other_within_the_bound_are_no_gap():
    arrival = Arrival(lateness_us=10)
    stream = [Event(time, "a", "s", sequence=number) for time, number in ((1, 1), (3, 3), (2, 2))]

    assert [event.sequence for event in in_order(stream, arrival)] == [1, 2, 3]
    assert arrival.counts.gaps == 0


def test_the_oldest_of_too_many_gaps_are_joined():
    gaps = Gaps()
    for start in range(MOST_GAPS + 1):
        gaps.add(10 * start, 10 * start + 1)

    assert (len(gaps.spans), gaps.spans[0], gaps.touch(5, 6), gaps.touch(35, 36)) == (MOST_GAPS, (0, 11), True, False)


@given(st.lists(st.integers(0, 30), max_size=30), st.integers(0, 10), st.integers(0, 30))
def test_a_restored_arrival_goes_on_like_the_first(times, lateness, cut):
    stream = [Event(time, "a", id=str(number % 7), attributes={"n": str(number)}) for number, time in enumerate(times)]
    whole = Arrival(lateness)
    first, second = Arrival(lateness), Arrival(lateness)

    expected = list(in_order(stream, whole))
    begun = list(first.take(stream[:cut]))
    second.restore(json.loads(json.dumps(first.state())))

    assert begun + list(in_order(stream[cut:], second)) == expected
    assert second.counts == whole.counts
