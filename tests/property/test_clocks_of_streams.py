"""Clocks that differ within the declared bound raise no false alarm, and neither does one wrong time stamp."""

from __future__ import annotations

import random
from collections import Counter
from itertools import groupby

import pytest

from kubeproof.monitor.alarms import Alarm
from kubeproof.monitor.event import Event
from kubeproof.monitor.intake.stream import StreamMonitor, StreamOptions
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
    RuleSet,
)

SECOND = 1_000_000
YEAR = 365 * 86400 * SECOND
START = 100_000 * SECOND
A, B, C, X = (Pattern(name) for name in "abcx")
RULES = (
    Rule("count", FollowedBy(A, B, 4 * SECOND)),
    Rule("chain", Chain((A, B, C), (4 * SECOND, 3 * SECOND))),
    Rule("any", FollowedBy(A, C, 6 * SECOND, Matching.ANY)),
    Rule("key", FollowedBy(A, B, 5 * SECOND, Matching.KEY)),
    Rule("most", AtMost(X, 2, 8 * SECOND)),
    Rule("run", AtMost(X, 9, None)),
    Rule("equal", EqualCounts((A, B), 9 * SECOND)),
    Rule("equal in all", EqualCounts((A, C), None, 1)),
    Rule("beat", Heartbeat(B, 12 * SECOND)),
    Rule("never", Never(Pattern("x", "key == k"))),
    Rule("order", Ltl("!c W a", (("a", "name == a"), ("c", "name == c")))),
    Rule("next", Ltl("G (o -> X !o)", (("o", "name == x"),), by_key=True)),
)


def story(chance: random.Random, count: int, *, is_clean: bool) -> list[Event]:
    """A stream in true time: several users ask and are answered; unless it is clean, now and then something fails."""
    found, now = [], START
    for _ in range(count):
        now += chance.randrange(3 * SECOND)
        key, fails = chance.choice("klm"), not is_clean and chance.random() < 0.2
        found.append(Event(now, "a", "one", "", key, "r"))
        then = now + chance.randrange(3 * SECOND)
        if not fails:
            found += [
                Event(then, "b", "two", "", key, "r"),
                Event(then + chance.randrange(SECOND), "c", "three", "", key, "r"),
            ]
        if chance.random() < 0.1:
            found.append(
                Event(then, "x", chance.choice(["one", "two"]), "", chance.choice("lm" if is_clean else "klm"), "r")
            )
    return sorted(found, key=lambda event: event.time_us)


def failures(events: list[Event]) -> int:
    names = Counter(event.name for event in events)
    return names["a"] - names["b"]


def alarms_of(rules: tuple[Rule, ...], events: list[Event], skew: int = 0) -> list[Alarm]:
    monitor = StreamMonitor(RuleSet(rules), StreamOptions(skew_us=skew))
    return [alarm for _, alarm in [*monitor.feed(events), *monitor.finish(complete=True)]]


def violated(alarms: list[Alarm]) -> Counter[str]:
    return Counter(alarm.rule for alarm in alarms if alarm.verdict == "VIOLATED")


def with_other_clocks(chance: random.Random, events: list[Event], skew: int) -> list[Event]:
    """The same events in the order in which they happened, stamped by clocks that differ by up to `skew`."""
    wrong = {source: chance.randrange(-skew // 2, skew // 2 + 1) for source in ("one", "two", "three")}
    return [event._replace(time_us=event.time_us + wrong[event.source]) for event in events]


@pytest.mark.parametrize("seed", range(60))
def test_clocks_within_the_skew_raise_no_alarm_that_true_time_does_not(seed: int) -> None:
    chance = random.Random(seed)
    skew = chance.choice([SECOND // 2, SECOND, 2 * SECOND, 5 * SECOND])
    events = story(chance, 30, is_clean=seed % 2 == 0)
    skewed = with_other_clocks(chance, events, skew)

    for rule in RULES:  # one by one: which rule tells of a lost event is not the same for all clocks
        expected, found = violated(alarms_of((rule,), events)), violated(alarms_of((rule,), skewed, skew))
        if rule.name in ("count", "chain"):  # what fails close together shifts who answers whom, for true time as well
            expected[rule.name] = 2 * failures(events)

        assert not found - expected, rule.name


@pytest.mark.parametrize(
    "body", [rule for rule in RULES if rule.name in ("count", "any", "key", "most", "beat", "next")]
)
def test_what_is_wrong_beyond_the_skew_is_still_found(body: Rule) -> None:
    events = [Event(START + at * SECOND, name, "s", "", "k", "r") for at, name in (
        (0, "a"), (1, "b"), (2, "c"), (60, "a"), (200, "x"), (202, "x"), (204, "x"), (300, "y"),
    )]  # fmt: skip

    assert violated(alarms_of((body,), events, SECOND))[body.name] >= 1


OUTLIERS = [4_000_000_000 * SECOND, 0, -YEAR, START + YEAR]


def place_of(alarm: Alarm) -> tuple[str, str, int, str]:
    return alarm.rule, alarm.kind.value, alarm.start_us, alarm.key


@pytest.mark.parametrize("seed", range(40))
def test_one_wrong_time_stamp_anywhere_raises_no_alarm_about_others(seed: int) -> None:
    chance = random.Random(seed)
    rules = tuple(
        rule for rule in RULES if rule.name not in ("run", "never", "equal in all")
    )  # these count it, rightly
    events = story(chance, 25, is_clean=seed % 2 == 0)
    expected = {place_of(alarm) for alarm in alarms_of(rules, events)}
    for at in {0, 1, 2, len(events) // 2, len(events) - 1, len(events), chance.randrange(len(events))}:
        stray = Event(chance.choice(OUTLIERS), chance.choice("abcxz"), chance.choice(["one", "four"]), "", "l", "r")
        found = alarms_of(rules, [*events[:at], stray, *events[at:]])

        new = [alarm for alarm in found if alarm.verdict == "VIOLATED" and place_of(alarm) not in expected]
        assert not new, (at, stray, new)


@pytest.mark.parametrize("seed", range(10))
def test_a_wrong_time_stamp_does_not_blind_the_monitor(seed: int) -> None:
    chance = random.Random(seed)
    events = story(chance, 60, is_clean=False)
    at = len(events) // 3
    stray = Event(OUTLIERS[0], "z", "four", "", "l", "r")
    before = violated(alarms_of(RULES[2:4], events))
    after = violated(alarms_of(RULES[2:4], [*events[:at], stray, *events[at:]]))

    assert after["key"] >= before["key"] - 3 > 2


@pytest.mark.parametrize("hours", [2, 10, 100])
def test_a_night_without_events_is_no_mistake(hours: int) -> None:
    chance = random.Random(hours)
    evening = story(chance, 20, is_clean=False)
    morning = [
        event._replace(time_us=event.time_us + hours * 3600 * SECOND) for event in story(chance, 20, is_clean=False)
    ]
    monitor = StreamMonitor(RuleSet(RULES[:4]))
    found = [alarm for _, alarm in [*monitor.feed([*evening, *morning]), *monitor.finish(complete=True)]]

    assert (monitor.counts.outliers, {alarm.verdict for alarm in found}) == (0, {"VIOLATED"})
    late = [alarm for alarm in found if alarm.start_us > START + hours * 3600 * SECOND]
    assert 0 < len(late) < len(found)


def test_runs_are_independent_of_each_others_outliers() -> None:
    chance = random.Random(5)
    events = story(chance, 20, is_clean=True)
    stray = [Event(OUTLIERS[0], "a", "s", "", "k", "other"), Event(OUTLIERS[0] + 1, "a", "s", "", "k", "other")]
    mixed = [*events[:30], *stray, *events[30:]]

    assert {run for run, _ in groupby(mixed, key=lambda event: event.run)} == {"r", "other"}
    assert [alarm for alarm in alarms_of(RULES, mixed) if alarm.run == "r"] == alarms_of(RULES, events)
