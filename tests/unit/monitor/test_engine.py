"""Every kind of rule raises its alarm at the right moment, once, and says unknown where events were lost."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubeproof.monitor.engine import Partition
from kubeproof.monitor.event import Event
from kubeproof.monitor.intake.arrival import Gaps
from kubeproof.monitor.rules.rules import (
    AtMost,
    Chain,
    EqualCounts,
    FollowedBy,
    Heartbeat,
    Ltl,
    Matching,
    Never,
    Pattern,
    Rule,
)
from tests.unit.monitor.streams import SECOND, short, stream, watched

A, B, C = Pattern("a"), Pattern("b"), Pattern("c")
COUNT = FollowedBy(A, B, 10 * SECOND)
ANY = FollowedBy(A, B, 10 * SECOND, Matching.ANY)
KEY = FollowedBy(A, B, 10 * SECOND, Matching.KEY)

MEANINGS = (("p", "name == a"), ("q", "name == b"))
NEXT, FIRST = Ltl("G (p -> X q)", MEANINGS), Ltl("!q W p", MEANINGS, True)


@pytest.mark.parametrize(
    ("body", "text", "alarms"),
    [
        (COUNT, "a@0 b@10", []),
        (COUNT, "a@0 x@11", [("missing", "b", 0, 10)]),
        (COUNT, "a@0 b@11", [("missing", "b", 0, 10)]),  # late is one alarm, not two
        (COUNT, "a@0 a@1 b@5", [("missing", "b", 1, 5)]),
        (COUNT, "a@0 a@1 b@5 x@20", [("missing", "b", 1, 11)]),
        (COUNT, "b@3", [("unexpected", "a", -7, 3)]),
        (COUNT, "a@0 b@1 b@2", [("unexpected", "a", -8, 2)]),
        (COUNT, "a@0", [("missing", "b", 0, 0)]),
        (ANY, "a@0 a@1 b@5", []),
        (ANY, "b@1", []),
        (ANY, "a@0 a@1 x@12", [("missing", "b", 0, 10), ("missing", "b", 1, 11)]),
        (KEY, "a@0/k a@1/m b@2/m x@30", [("missing", "b", 0, 10)]),
        (KEY, "a@0/k a@1/k b@2/k b@3/k b@4/k x@30", []),
        (KEY, "a@0 b@1/k x@30", []),  # without a key nothing is owed
        (KEY, "a@0/k b@1/k a@2/k", [("missing", "b", 2, 2)]),
        (Chain((A, B, C), (SECOND, SECOND)), "a@0 b@1 x@9", [("missing", "c", 1, 2)]),
        (Chain((A, B, C), (SECOND, SECOND)), "a@0 b@1 c@2", []),
        (Chain((A, B, C), (SECOND, SECOND)), "a@0 c@1.5", [("missing", "b", 0, 1)]),  # c is not reported again
        (AtMost(A, 2, None), "a@0 a@1 a@2 a@3", [("too-many", "a", 0, 2)]),
        (AtMost(A, 2, 5 * SECOND), "a@0 a@3 a@6 a@8 a@8 a@30", [("too-many", "a", 3, 8)]),
        (AtMost(A, 1, None, 2), "a@0 a@1 a@2 a@3 a@4", [("too-many", "a", 0, 3)]),
        (AtMost(A, 0, 5 * SECOND, 1), "a@0 a@1 a@30 a@32", [("too-many", "a", 0, 1), ("too-many", "a", 30, 32)]),
        (EqualCounts((A, B), 10 * SECOND), "a@0 b@1 a@20 a@21 b@22 x@40", [("unequal", "b", 20, 30)]),
        (EqualCounts((A, B), None, 1), "a@0 a@1 b@2", []),
        (EqualCounts((A, B), None), "a@0 a@1 b@2 x@3", [("unequal", "b", 0, 3)]),
        (Never(Pattern("a", "key == bad")), "a@0 a@1/bad", [("forbidden", "a where key == bad", 1, 1)]),
        (Heartbeat(A, 5 * SECOND), "a@0 a@5 x@11 x@20 a@30 x@31", [("silent", "a", 5, 10)]),
        (NEXT, "a@0 b@1 a@2 c@3 a@4 a@5", [("formula", "c", 0, 3), ("formula", "a", 4, 5)]),
        (FIRST, "a@0/k b@1/k b@2/m b@3", [("formula", "b", 2, 2)]),
    ],
)  # fmt: skip
def test_a_rule_raises_exactly_its_alarms(body, text, alarms):
    assert watched(body, text) == alarms


def test_a_stream_that_goes_on_owes_nothing_yet():
    partition = Partition([Rule("r", COUNT)])
    partition.feed(stream("a@0 a@1"))

    assert (partition.finish(complete=False), partition.fetch()) == (2, [])


def test_time_passes_without_events():
    partition = Partition([Rule("r", COUNT)])
    partition.feed(stream("a@0"))
    partition.advance(10 * SECOND)
    assert not partition.has_raised
    partition.advance(10 * SECOND + 1)

    assert [short(alarm) for alarm in partition.fetch()] == [("missing", "b", 0, 10)]


def test_alarms_say_what_and_when():
    partition = Partition([Rule("r", COUNT, "error")], run="run-1")
    partition.feed(stream("a@0.5 x@20"))

    (alarm,) = partition.fetch()
    assert alarm.text == "a at 0.500s was not followed by b within 10s"
    assert (alarm.rule, alarm.severity, alarm.run, alarm.time_to_detect_us) == ("r", "error", "run-1", 10 * SECOND)


@pytest.mark.parametrize(
    ("body", "text", "verdict"),
    [
        (COUNT, "a@0 x@20", "UNKNOWN"),
        (COUNT, "a@30 x@50", "VIOLATED"),
        (COUNT, "b@12", "UNKNOWN"),
        (Heartbeat(A, 5 * SECOND), "a@4 x@20", "UNKNOWN"),
        (AtMost(A, 1, None), "a@4 a@6", "VIOLATED"),
        (Never(A), "a@5", "VIOLATED"),
    ],
)
def test_a_verdict_that_depended_on_a_gap_is_unknown(body, text, verdict):
    gaps = Gaps()
    gaps.add(5 * SECOND, 6 * SECOND)
    partition = Partition([Rule("r", body)], gaps=gaps)
    partition.feed(stream(text))

    assert [alarm.verdict for alarm in partition.fetch()] == [verdict]


def test_one_lost_event_is_one_alarm_however_many_rules_speak_of_it():
    rules = [
        Rule("one", FollowedBy(A, B, 10 * SECOND)),
        Rule("two", FollowedBy(Pattern("start"), B, 100 * SECOND)),
        Rule("three", FollowedBy(B, C, 10 * SECOND)),
        Rule("four", FollowedBy(B, Pattern("d"), 10 * SECOND)),
    ]
    partition = Partition(rules)
    partition.feed(stream("start@0 a@1 c@3 d@4 start@200 a@201 b@202 c@203 d@204"))
    partition.finish(complete=True)

    assert [(alarm.rule, *short(alarm)) for alarm in partition.fetch()] == [("three", "unexpected", "b", -7, 3)]


def test_clocks_that_differ_make_an_answer_early_not_wrong():
    assert watched(COUNT, "b@0 a@0.5", skew_us=SECOND) == []
    assert watched(COUNT, "b@0 a@1.5 b@2", skew_us=SECOND) == [("unexpected", "a", -10, 1)]
    assert watched(COUNT, "b@0", skew_us=SECOND) == [("unexpected", "a", -10, 0)]


def test_rules_about_whole_runs_rest_in_a_stream_without_runs():
    assert watched(AtMost(A, 0, None), "a@0", has_runs=False) == []
    assert watched(EqualCounts((A, B), None), "a@0", has_runs=False) == []


@pytest.mark.parametrize("body", [COUNT, ANY, KEY])
def test_a_rule_remembers_boundedly_and_says_what_it_gave_up(body):
    partition = Partition([Rule("r", body)], most_pending=3)
    partition.feed(stream("a@0/k a@1/l a@2/m a@3/n a@4/o"))

    assert [(*short(alarm), alarm.verdict) for alarm in partition.fetch()] == [("overflow", "b", 0, 3, "UNKNOWN")]
    assert partition.open() == 3  # the second one given up is not said again


def test_a_formula_follows_boundedly_many_keys():
    body = Ltl("G (o -> X c)", (("o", "name == a"), ("c", "name == b")), True)
    partition = Partition([Rule("r", body)], most_pending=2)
    partition.feed(stream("a@0/k a@1/l a@2/m a@3/n a@4/o"))  # every one of them waits

    assert [(alarm.kind.value, alarm.about) for alarm in partition.fetch()] == [("overflow", "k")]  # said once


def test_keys_of_a_formula_that_owe_nothing_are_not_followed():
    body = Ltl("G (o -> X c)", (("o", "name == a"), ("c", "name == b")), True)
    partition = Partition([Rule("r", body)], most_pending=2)
    partition.feed(stream(" ".join(f"a@{n}/k{n} b@{n}/k{n}" for n in range(20)) + " a@30/late x@31/late"))

    assert [(alarm.kind.value, alarm.key) for alarm in partition.fetch()] == [("formula", "late")]


def test_one_who_waits_is_not_given_up_because_many_others_are_served():
    partition = Partition([Rule("r", KEY)], most_pending=3)
    quick = " ".join(f"a@{n / 100}/k{n} b@{n / 100}/k{n}" for n in range(1, 50))
    partition.feed(stream(f"a@0/slow {quick} x@100"))

    assert [(alarm.kind.value, alarm.key) for alarm in partition.fetch()] == [("missing", "slow")]


NAMES = st.sampled_from(["a", "b", "c", "x"])
STREAMS = st.lists(st.tuples(st.integers(0, 6), NAMES, st.sampled_from(["", "k", "m"])), max_size=40)
EVERY_KIND = [
    Rule("count", FollowedBy(A, B, 10)),
    Rule("any", FollowedBy(A, C, 7, Matching.ANY)),
    Rule("key", FollowedBy(A, B, 9, Matching.KEY)),
    Rule("chain", Chain((A, B, C), (5, 6))),
    Rule("most", AtMost(A, 2, 8)),
    Rule("run", AtMost(B, 5, None)),
    Rule("equal", EqualCounts((A, B), 12)),
    Rule("beat", Heartbeat(C, 11)),
    Rule("ltl", Ltl("G (p -> X !p)", (("p", "name == a"),), True)),
]


def timed(steps):
    now, found = 0, []
    for delay, name, key in steps:
        now += delay
        found.append(Event(now, name, key=key))
    return found


@given(STREAMS)
def test_any_gives_the_matches_of_the_pattern_language(steps):
    events = timed(steps)
    partition = Partition([Rule("r", FollowedBy(A, B, 10, Matching.ANY))])
    partition.feed(events)
    partition.advance(10**6)

    positions = [(place, event.time_us) for place, event in enumerate(events) if event.name == "a"]
    later = {place: [e.time_us for e in events[place:] if e.name == "b"] for place, _ in positions}
    assert [alarm.start_us for alarm in partition.fetch()] == [
        time for place, time in positions if not any(answer - time <= 10 for answer in later[place])
    ]


@given(STREAMS, st.integers(0, 40), st.integers(0, 3))
@settings(max_examples=25)
def test_a_restored_partition_goes_on_like_the_first(steps, cut, skew):
    events = timed(steps)
    whole, first, second = (Partition(EVERY_KIND, skew_us=skew, most_pending=4) for _ in range(3))

    whole.feed(events)
    whole.finish(complete=True)
    first.feed(events[:cut])
    second.restore(json.loads(json.dumps(first.state())))
    second.feed(events[cut:])
    second.finish(complete=True)

    assert first.fetch() + second.fetch() == whole.fetch()


@given(st.lists(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 10)), max_size=4), max_size=5))
def test_users_who_are_each_in_time_are_in_time_together(users):
    pairs = [(time, time + delay) for user in users for time, delay in user]
    events = [Event(time, "a") for time, _ in pairs] + [Event(time, "b") for _, time in pairs]
    partition = Partition([Rule("r", FollowedBy(A, B, 10))])

    partition.feed(sorted(events))
    partition.finish(complete=True)

    assert partition.fetch() == []
