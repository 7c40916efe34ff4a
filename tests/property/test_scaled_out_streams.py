"""Any stream, split over any number of partitions whose judges die at any moment, raises the alarms of the engine."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import partial

import pytest

from kubeproof.monitor.alarms import Alarm
from kubeproof.monitor.event import Event
from kubeproof.monitor.incidents.policy import Level
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
from kubeproof.monitor.scale.judge import Judge
from kubeproof.monitor.scale.splitter import Item, Splitter

SECOND = 1_000_000
A, B, C, D, X = (Pattern(name) for name in "abcdx")
RULES = (
    Rule("count", FollowedBy(A, B, 3 * SECOND)),
    Rule("chain", Chain((B, C, D), (2 * SECOND, 3 * SECOND))),
    Rule("any", FollowedBy(C, A, 5 * SECOND, Matching.ANY)),
    Rule("key", FollowedBy(A, C, 4 * SECOND, Matching.KEY)),
    Rule("keys", Chain((A, B, D), (4 * SECOND, 4 * SECOND), Matching.KEY)),
    Rule("most", AtMost(X, 2, 4 * SECOND)),
    Rule("most in a run", AtMost(X, 5, None)),
    Rule("equal", EqualCounts((Pattern("y"), Pattern("z")), 7 * SECOND)),
    Rule("beat", Heartbeat(Pattern("z"), 9 * SECOND)),
    Rule("never", Never(Pattern("x", "key == k"))),
    Rule("formula", Ltl("G (o -> X !o)", (("o", "name == x"),))),
    Rule("formulas", Ltl("G (o -> X !o)", (("o", "name == x"),), by_key=True)),
)


def noise(chance: random.Random, count: int) -> list[Event]:
    """A stream with several runs and keys, out of order, with copies and lost events."""
    found: list[Event] = []
    now, sequences = 0, {"s": 0, "t": 0}
    for number in range(count):
        now += chance.randrange(2 * SECOND)
        source = chance.choice("st")
        sequences[source] += chance.choice([1] * 30 + [2])
        event = Event(
            now - chance.randrange(3 * SECOND), chance.choice("abcdxyzw"), source, "", chance.choice(["", *"klmn"]),
            chance.choice(["", "", "one", "two"]), str(number), sequences[source],
        )  # fmt: skip
        found += [event] * chance.choice([1] * 20 + [2])
    return found


def embedded(rules: RuleSet, options: StreamOptions, batches: list[list[Event]], clock: int) -> list[Alarm]:
    monitor = StreamMonitor(rules, options)
    numbered = [one for batch in batches for one in monitor.feed(batch)]
    monitor.lose()
    return [alarm for _, alarm in [*numbered, *monitor.advance(clock), *monitor.finish(complete=True)]]


def split(
    rules: RuleSet,
    options: StreamOptions,
    batches: list[list[Event]],
    clock: int,
    partitions: int,
    chance: random.Random,
) -> list[Alarm]:
    splitter = Splitter(rules, options, partitions)
    states: list[dict[str, object]] = [{} for _ in range(partitions)]
    judges = [Judge(rules, options) for _ in range(partitions)]
    found: list[Alarm] = []
    steps: list[Callable[[Splitter], dict[int, list[Item]]]] = [
        *(partial(Splitter.feed, events=batch) for batch in batches),
        Splitter.lose,
        partial(Splitter.advance, now_us=clock),
        Splitter.finish,
    ]
    for step in steps:
        if chance.random() < 0.3:  # whoever feeds dies, and another goes on
            state = json.loads(json.dumps(splitter.state()))
            splitter = Splitter(rules, options, partitions)
            splitter.restore(state)
        for partition, items in step(splitter).items():
            found += judges[partition].take(json.loads(json.dumps(items)))
            states[partition].update(json.loads(json.dumps(judges[partition].changes())))
            states[partition] = {place: value for place, value in states[partition].items() if value is not None}
            if chance.random() < 0.3:
                judges[partition] = Judge(rules, options)
                judges[partition].restore(states[partition])
    return found


@pytest.mark.parametrize("seed", range(12))
def test_split_streams_raise_the_alarms_of_the_engine(seed: int) -> None:
    chance = random.Random(seed)
    rules = RuleSet(tuple(rule for rule in RULES if chance.random() < 0.7) or RULES)
    options = StreamOptions(chance.choice([0, SECOND, 2 * SECOND]), chance.choice([0, SECOND]))
    events = noise(chance, 400)
    batches = [events[start : start + 30] for start in range(0, len(events), 30)]
    clock = max(event.time_us for event in events) + 3 * SECOND

    found = split(rules, options, batches, clock, chance.choice([1, 2, 5, 16]), chance)

    expected = embedded(rules, options, batches, clock)
    assert len(expected) > 50
    alone = [alarm._replace(incident=0, level=Level.WARNING) for alarm in expected]
    assert sorted(map(repr, found)) == sorted(map(repr, alone))  # whoever gathers alarms finds their incidents
