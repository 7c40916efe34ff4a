"""Rules are learned from fault-free traces: what always holds, with windows that hold on runs left out, and no more."""

from __future__ import annotations

import random

import pytest

from kubeproof.errors import NothingToCheckError
from kubeproof.monitor.event import Event
from kubeproof.monitor.mining.mine import MineOptions, mine
from kubeproof.monitor.mining.observations import Coverage, observe_answers, observe_pairs
from kubeproof.monitor.mining.pruning import chain, spanner
from kubeproof.monitor.mining.traces import Trace, traces_of
from kubeproof.monitor.mining.validation import breaking_traces, late_traces, most_events, window_of
from kubeproof.monitor.rules.rules import AtMost, Chain, Evidence, FollowedBy, Matching, Pattern

SECOND = 1_000_000


def workload(seed):
    """A run of 600 s: create, start and attach follow each other; a heartbeat goes on; retries are at most three."""
    chance = random.Random(seed)
    events = [Event(second * SECOND + chance.randrange(SECOND), "beat") for second in range(0, 600, 10)]
    now = 20 * SECOND
    for name, delay in (("create", 0), ("start", 5), ("attach", 3), ("delete", 200)):
        now += delay * SECOND + chance.randrange(SECOND)
        events.append(Event(now, name))
        if name == "start":
            events += [Event(now + (1 + number) * SECOND, "poll") for number in range(1 + seed % 3)]
    events.append(Event(599 * SECOND, "end"))
    return [event._replace(run=f"run-{seed:03}") for event in events]


@pytest.fixture(scope="module")
def mined():
    return mine(traces_of(event for seed in range(60) for event in workload(seed)))


def test_quick_events_that_follow_each_other_are_a_chain(mined):
    chains = [rule.body for rule in mined.rules.rules if isinstance(rule.body, Chain)]

    assert [[event.name for event in chain.events] for chain in chains] == [["create", "start", "attach"]]
    assert chains[0].within_us == (18_972_000, 12_993_000)


def test_slow_pairs_are_rules_of_their_own(mined):
    pairs = [rule.body for rule in mined.rules.rules if isinstance(rule.body, FollowedBy)]
    counted = [(pair.first.name, pair.then.name) for pair in pairs if pair.matching is Matching.COUNT]

    assert counted == [("attach", "delete"), ("delete", "end")]


def test_an_answer_that_is_not_counted_is_still_expected_soon(mined):
    answers = [rule.body for rule in mined.rules.rules if getattr(rule.body, "matching", None) is Matching.ANY]

    assert [(one.first.name, one.then.name) for one in answers] == [
        ("start", "poll"),
        ("poll", "attach"),
    ]


def test_the_highest_count_is_the_limit(mined):
    limits = [rule.body for rule in mined.rules.rules if isinstance(rule.body, AtMost)]

    assert limits == [AtMost(Pattern("beat"), 60, None, 120), AtMost(Pattern("poll"), 3, None, 6)]


def test_rules_know_what_they_rest_on(mined):
    (chain,) = (rule for rule in mined.rules.rules if isinstance(rule.body, Chain))

    assert (chain.evidence[0].runs, chain.evidence[0].occurrences) == (60, 60)
    assert 5 * SECOND <= chain.evidence[0].shortest_us <= chain.evidence[0].median_us <= chain.evidence[0].longest_us


def test_mining_is_deterministic_and_independent_of_the_order_of_runs(mined):
    again = mine(traces_of(event for seed in reversed(range(60)) for event in workload(seed)))

    assert again == mined


def test_an_event_that_comes_all_the_time_is_no_answer(mined):
    assert not any(pair.then.name == "beat" for pair in mined.rules.pairs)


def slow_in(*slow):
    """Fifty runs in which b follows a after a second, or after 101."""
    return traces_of(
        Event(time * SECOND, name, run=f"{run:02}")
        for run in range(50)
        for time, name in ((0, "a"), (101 if run in slow else 1, "b"), (900, "z"))
    )


def test_a_rule_that_several_left_out_runs_break_is_unstable():
    options = MineOptions(false_alarms=1.0)

    assert mine(slow_in(0, 5), options).unstable == 1  # both in the same fold: without it, nobody would know
    assert (mine(slow_in(0), options).unstable, mine(slow_in(0), options).late) == (0, 1)
    assert (mine(slow_in(0, 1), options).unstable, mine(slow_in(0, 1), options).late) == (0, 0)


def test_the_margin_is_the_smallest_that_is_plausibly_good_enough():
    assert mine(slow_in(), MineOptions(false_alarms=0.06)).margin == 1.4
    assert mine(slow_in(), MineOptions(false_alarms=0.05)).margin == 3.0  # fifty runs cannot show that
    assert mine(slow_in(0), MineOptions(false_alarms=0.09)).margin == 3.0


def test_a_lonely_record_is_no_limit():
    events = [Event(number, "a", run=f"{run:03}") for run in range(100) for number in range(5 if run == 7 else 2)]

    assert mine(traces_of(events)).rules.rules == ()
    assert [rule.body for rule in mine(traces_of(event for event in events if event.run != "007")).rules.rules] == [
        AtMost(Pattern("a"), 2, None, 4)
    ]


def test_rare_events_are_not_learned_about():
    events = [
        Event(time, name, run=f"{run:02}")
        for run in range(40)
        for time, name in ((0, "a"), (1, "b"), *(((2, "x"), (3, "y")) if run == 0 else ()))
    ]
    names = {name for pair in mine(traces_of(events)).rules.pairs for name in (pair.first.name, pair.then.name)}

    assert names == {"a", "b"}


def test_without_runs_nothing_can_be_learned():
    with pytest.raises(NothingToCheckError, match="no fault-free run"):
        mine([])


def test_one_run_is_enough_to_learn_something():
    found = mine(traces_of([Event(0, "a"), Event(SECOND, "b")]), MineOptions())

    assert [rule.body for rule in found.rules.rules] == [FollowedBy(Pattern("a"), Pattern("b"), 4 * SECOND)]
    assert found.margin == 3.0  # little is known, so much is allowed


def test_traces_are_sorted_by_name_and_time():
    events = [Event(5, "a", run="q"), Event(3, "a", run="q"), Event(1, "b")]

    traces = traces_of(events)

    assert [(trace.name, {name: list(times) for name, times in trace.times.items()}) for trace in traces] == [
        ("q", {"a": [3, 5]}),
        ("run", {"b": [1]}),
    ]
    assert (traces[0].start_us, traces[0].end_us, traces[0].size) == (3, 5, 2)


TRACES = [
    Trace("0", {"a": [0, 10], "b": [4, 11]}, 0, 20),
    Trace("1", {"a": [0], "b": [9]}, 0, 20),
    Trace("2", {"a": [5], "b": [4]}, 0, 20),
]


def test_a_pair_keeps_its_longest_delays_and_who_breaks_it():
    observed = observe_pairs(TRACES, 3)["a", "b"]

    assert (observed.longest, observed.broken, observed.holds) == ({0: 4, 1: 9}, [2], False)
    assert breaking_traces(observed, 3) == [2]
    assert ("b", "a") not in observe_pairs(TRACES, 3)  # broken in two folds


def test_an_answer_must_come_within_the_bound():
    observed = observe_answers(TRACES, 3, {"a": 100, "b": 5})

    assert set(observed) == set()  # broken in two folds: once late, once never
    assert observe_answers(TRACES[:2], 2, {"a": 0, "b": 5})["a", "b"].broken == [1]


def test_late_traces_are_those_beyond_the_window_of_the_others():
    observed = observe_pairs(TRACES[:2], 2)["a", "b"]

    assert late_traces(observed, 2, lambda longest: longest + 2) == [1]
    assert late_traces(observed, 2, lambda longest: longest + 5) == []


def test_coverage_is_the_share_of_moments_before_an_event():
    coverage = Coverage([Trace("r", {"a": [10, 30]}, 0, 100)])

    assert [coverage.of("a", window) for window in (0, 10, 1000)] == [0, 0.3, 1.0]


def test_windows_are_whole_milliseconds():
    assert window_of(1.5, SECOND)(1_000_001) == 2_501_000


@pytest.mark.parametrize(("seen", "most"), [(0, 2.996), (1, 4.744), (7, 13.148)])
def test_what_is_plausible_agrees_with_tables_of_poisson(seen, most):
    assert most_events(seen) == pytest.approx(most, abs=0.001)


def test_a_rule_that_follows_from_others_is_left_out():
    windows = {("a", "b"): 10, ("b", "c"): 10, ("a", "c"): 19, ("c", "d"): 5, ("a", "d"): 20}

    assert spanner(windows) == [("c", "d"), ("a", "b"), ("b", "c"), ("a", "d")]
    assert spanner({("a", "c"): 19}, [(("a", "b"), 10), (("b", "c"), 10)]) == []
    assert spanner({("a", "c"): 17}, [(("a", "b"), 10), (("b", "c"), 10)]) == [("a", "c")]


def test_each_pair_is_in_exactly_one_chain():
    windows = {("a", "b"): 1, ("b", "c"): 2, ("a", "c"): 9, ("c", "d"): 100}

    assert chain(list(windows), windows, 50) == [["a", "b", "c"], ["a", "c"], ["c", "d"]]


def test_chains_never_bite_their_tail():
    windows = {("a", "b"): 1, ("b", "a"): 2}

    assert chain(list(windows), windows, 50) == [["a", "b"], ["b", "a"]]


def test_evidence_of_a_limit_has_no_delay(mined):
    limit = next(rule for rule in mined.rules.rules if rule.body == AtMost(Pattern("poll"), 3, None, 6))

    assert limit.evidence == (Evidence(60, 120),)
