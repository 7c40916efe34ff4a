"""Runs end by an event or by silence; what is over is concluded and forgotten, so that any number can come and go."""

from __future__ import annotations

import gc
import json
import random
import tracemalloc

import pytest

from kubeproof.monitor.event import Event
from kubeproof.monitor.incidents.policy import Level
from kubeproof.monitor.intake.stream import StreamMonitor, StreamOptions
from kubeproof.monitor.rules.reader import read_rules
from kubeproof.monitor.rules.rules import AtMost, EqualCounts, FollowedBy, Ltl, Matching, Never, Pattern, Rule, RuleSet
from kubeproof.monitor.rules.writer import to_yaml
from kubeproof.monitor.run import Watch, watch
from kubeproof.monitor.scale.judge import Judge
from kubeproof.monitor.scale.splitter import Splitter
from kubeproof.monitor.store import Store

SECOND = 1_000_000
A, B, X, DONE = (Pattern(name) for name in ("a", "b", "x", "done"))
BODIES = (
    FollowedBy(A, B, 5 * SECOND),
    FollowedBy(A, B, 6 * SECOND, Matching.KEY),
    AtMost(X, 1, None),
    EqualCounts((A, B), None),
    Never(Pattern("bad")),
    Ltl("!b W a", (("a", "name == a"), ("b", "name == b"))),
)
RULES = RuleSet(tuple(Rule(f"rule {number}", body) for number, body in enumerate(BODIES)))
ENDING = RuleSet(RULES.rules, ends=(DONE,))


class Crash(Exception):
    """The process dies."""


def one_run(name, start, *, is_good=True, ends=False):
    names = ["a", "b" if is_good else "c", "x", *(["done"] if ends else [])]
    return [
        Event(start + place * SECOND, what, "s", "", name, name, f"{name} {start} {place}")
        for place, what in enumerate(names)
    ]


def many_runs(count, *, at_once=5, ends=False, bad_every=10):
    """Runs of a few seconds, one beginning every second, each in parallel with a few others."""
    events = []
    for number in range(count):
        events += one_run(f"run-{number}", number * SECOND * 5 // at_once, is_good=number % bad_every != 0, ends=ends)
    return sorted(events, key=lambda event: event.time_us)


def alarms_of(rules, events, options=StreamOptions()):
    monitor = StreamMonitor(rules, options)
    found = [alarm for _, alarm in [*monitor.feed(events), *monitor.finish(complete=True)]]
    return found, monitor


@pytest.mark.parametrize(("rules", "idle", "runs"), [(ENDING, None, 20_000), (RULES, 20 * SECOND, 5_000)])
def test_twenty_thousand_runs_leave_nothing_behind(rules, idle, runs):
    monitor = StreamMonitor(rules, StreamOptions(idle_us=idle))
    most, found = 0, 0
    events = many_runs(runs, ends=bool(rules.ends))
    for start in range(0, len(events), 1_000):
        found += len(monitor.feed(events[start : start + 1_000]))
        intake = monitor._intake
        most = max(most, monitor.runs, len(intake.runs), len(intake._agenda), len(intake._waiting))
        intake.touched.clear()
    found += len(monitor.finish(complete=True))

    assert most < 120
    assert len(monitor._intake._gone) <= 10_000
    assert found == runs // 10 * 3  # of each bad run: no answer by count, none by key, unequal


def test_memory_does_not_grow_with_the_number_of_runs():
    monitor = StreamMonitor(ENDING)
    sizes = []
    tracemalloc.start()
    try:
        for part in range(4):
            events = [
                event._replace(time_us=event.time_us + part * 2_000 * SECOND) for event in many_runs(200, ends=True)
            ]
            monitor.feed(events)
            monitor.changes()
            del events
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()

    assert sizes[-1] - sizes[0] < 100_000  # 600 runs later; one of them takes 10,000


def test_runs_that_end_are_judged_as_at_the_end_of_the_stream():
    events = many_runs(300, ends=True)

    found, monitor = alarms_of(ENDING, events)
    expected, _ = alarms_of(RULES, events, StreamOptions(idle_us=10**6 * SECOND))

    assert sorted(map(repr, found)) == sorted(map(repr, expected))
    assert monitor.counts.ended > 250


def test_a_name_may_be_used_again_after_the_last_event():
    events = [*one_run("r", 0, ends=True), *one_run("r", 10 * SECOND, ends=True), *one_run("r", 20 * SECOND)]

    assert not alarms_of(ENDING, events)[0]
    assert [alarm.kind.value for alarm in alarms_of(RULES, events)[0]] == ["too-many"]


def test_what_comes_within_the_skew_after_the_last_event_belongs_to_the_run():
    events = [Event(0, "a", run="r"), Event(2 * SECOND, "done", run="r"), Event(3 * SECOND, "b", run="r")]

    assert not alarms_of(ENDING, [*events, Event(60 * SECOND, "z", run="q")], StreamOptions(skew_us=SECOND))[0]


def test_a_run_that_goes_on_after_it_was_taken_for_over_is_not_judged_for_certain():
    other = [Event(second * SECOND, "z", run=f"other-{second}") for second in range(1, 2_000, 10)]
    events = [Event(0, "x", run="r"), *other, Event(2_000 * SECOND, "b", run="r")]

    found, monitor = alarms_of(RULES, events)

    assert {(alarm.run, alarm.verdict) for alarm in found} == {("r", "UNKNOWN")}
    assert monitor.counts.resumed == 1


def test_one_run_alone_is_never_over_before_the_stream_is():
    events = [Event(0, "x", run="r"), Event(3_000 * SECOND, "x", run="r")]

    assert [alarm.kind.value for alarm in alarms_of(RULES, events)[0]] == ["too-many"]


def test_of_more_runs_than_fit_those_whose_time_is_over_are_concluded():
    events = many_runs(1_000)

    found, monitor = alarms_of(RULES, events, StreamOptions(most_runs=50))
    expected, _ = alarms_of(RULES, events)

    assert sorted(map(repr, found)) == sorted(map(repr, expected))
    assert (monitor.counts.given_up, monitor.runs) == (0, 50)


def test_a_state_file_forgets_runs_that_are_over(tmp_path):
    wanted = Watch(ENDING, ("f",), state=str(tmp_path / "state.db"), batch=50)
    events = many_runs(500, ends=True)
    summary = watch(wanted, lambda listener: events)

    store = Store(str(tmp_path / "state.db"))
    assert len(store.runs()) < 20
    store.close()
    assert (summary.events, summary.ended > 480, summary.verdict) == (2_000, True, "VIOLATED")


@pytest.mark.parametrize("seed", range(4))
def test_crashes_do_not_change_which_runs_end(tmp_path, seed):
    events = many_runs(200, ends=seed % 2 == 0)
    rules, options = (ENDING, RULES)[seed % 2], StreamOptions(idle_us=15 * SECOND)
    wanted = Watch(rules, ("f",), options, state=str(tmp_path / "state.db"), batch=7)

    def dying(after):
        def read(listener):
            yield from events[:after]
            raise Crash

        return read

    chance = random.Random(seed)
    for after in sorted(chance.randrange(len(events)) for _ in range(5)):
        with pytest.raises(Crash):
            watch(wanted, dying(after))
    watch(wanted, lambda listener: events)

    store = Store(str(tmp_path / "state.db"))
    assert [alarm for _, alarm in store.alarms()] == alarms_of(rules, events, options)[0]
    store.close()


@pytest.mark.parametrize(("rules", "idle"), [(ENDING, None), (RULES, 20 * SECOND)])
def test_shared_work_forgets_runs_that_are_over(rules, idle):
    options = StreamOptions(idle_us=idle)
    splitter = Splitter(rules, options, 3)
    judges, states, found = [Judge(rules, options) for _ in range(3)], [{}, {}, {}], []
    events = many_runs(400, ends=bool(rules.ends))
    steps = [splitter.feed(events[start : start + 40]) for start in range(0, len(events), 40)]
    for items in [*steps, splitter.finish()]:
        for partition, content in items.items():
            found += judges[partition].take(json.loads(json.dumps(content)))
            states[partition] |= judges[partition].changes()
            states[partition] = {place: value for place, value in states[partition].items() if value is not None}

    expected = [alarm._replace(incident=0, level=Level.WARNING) for alarm in alarms_of(rules, events, options)[0]]
    assert sorted(map(repr, found)) == sorted(map(repr, expected))  # whoever gathers alarms finds their incidents
    assert len(splitter.state()["runs"]) < 60
    assert max(map(len, states)) < 300


def test_ending_events_are_part_of_the_rules():
    rules = RuleSet(RULES.rules[:1], "r", ends=(DONE, Pattern("close", "code == 1")))

    assert read_rules(to_yaml(rules).encode(), "f") == rules
