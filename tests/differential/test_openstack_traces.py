"""Real traces: what is learned from them, how well it judges, and that the engine agrees with the pattern language.

Only counts and positions of our own are recorded here, nothing of the data.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cache

from benchmarks.monitor import one_after_the_other, rules_of
from kubeproof.monitor.engine import Partition
from kubeproof.monitor.event import Event
from kubeproof.monitor.intake.stream import StreamMonitor
from kubeproof.monitor.mining.evaluate import by_run, cross_validate
from kubeproof.monitor.mining.mine import mine
from kubeproof.monitor.mining.runs import label_events, read_index
from kubeproof.monitor.mining.traces import traces_of
from kubeproof.monitor.rules.rules import AtMost, Chain, FollowedBy, Matching, Rule, RuleSet
from tests.openstack_traces import folder

VOLUME = "cinder-volume.localhost.localdomain@lvm_"
PUBLISHED = ["compute_reserve_block_device_name", "compute_attach_volume", f"{VOLUME}initialize_connection"]


@cache
def fault_free(place: str) -> tuple[Event, ...]:
    """The runs without a fault, read once for all tests of a process."""
    return tuple(label_events([f"{place}/events_faultfree.csv.gz"]))


def expected_matches(rules: list[Rule], events: list[Event]) -> dict[str, list[int]]:
    """By rule the positions of first events that no answer follows in time, found without any engine."""
    places: dict[str, list[int]] = {}
    for place, event in enumerate(events):
        places.setdefault(event.name, []).append(place)
    found = {}
    for rule in rules:
        assert isinstance(rule.body, FollowedBy)
        answers = places.get(rule.body.then.name, [])
        found[rule.name] = []
        for place in places.get(rule.body.first.name, []):
            after = bisect_right(answers, place)
            deadline = events[place].time_us + rule.body.within_us
            if after == len(answers) or events[answers[after]].time_us > deadline:
                found[rule.name].append(place)
    return found


def engine_matches(rules: list[Rule], events: list[Event]) -> dict[str, list[int]]:
    """The same from the engine: one partition per rule, so that no rule hushes another."""
    moments = {(event.name, event.time_us): place for place, event in reversed(list(enumerate(events)))}
    found = {}
    for rule in rules:
        assert isinstance(rule.body, FollowedBy)
        partition = Partition([rule])
        partition.feed(events)
        partition.advance(2**61)
        found[rule.name] = [moments[rule.body.first.name, alarm.start_us] for alarm in partition.fetch()]
    return found


def interleaved(runs: list[list[Event]], offset_us: int) -> list[Event]:
    """Users who begin one after the other, in one stream without labels."""
    moved = [
        event._replace(time_us=event.time_us - events[0].time_us + number * offset_us, run="")
        for number, events in enumerate(runs)
        for event in events
    ]
    return sorted(moved, key=lambda event: event.time_us)


def alarms(rules: RuleSet, events: list[Event]) -> list[str]:
    monitor = StreamMonitor(rules)
    found = monitor.feed(events) + monitor.finish(complete=True)
    return [alarm.about for _, alarm in found]


def test_rules_are_learned_and_users_are_counted_apart() -> None:
    place = folder()
    index = read_index(place)
    labelled = fault_free(place)
    traces = traces_of(event for event in labelled if index[event.run].is_clean)

    mined = mine(traces)

    chains = [[event.name for event in rule.body.events] for rule in mined.rules.rules if isinstance(rule.body, Chain)]
    (chain,) = (names for names in chains if names[:3] == PUBLISHED)
    assert chain[3] == f"{VOLUME}attach_volume"
    limits = {rule.body.event.name: rule.body.count for rule in mined.rules.rules if isinstance(rule.body, AtMost)}
    assert limits["q-plugin_release_dhcp_port"] == 6
    assert (mined.runs, mined.margin, len(mined.rules.rules)) == (529, 1.4, 123)

    runs = by_run(event for event in labelled if index[event.run].is_clean)
    for offset_s in (5, 37, 600):
        users = interleaved([runs[name] for name in sorted(runs)[offset_s : offset_s + 100 : 10]], offset_s * 1_000_000)
        assert alarms(mined.rules, users) == []
        for name in chain[:4]:
            for lost in [place for place, event in enumerate(users) if event.name == name][::4]:
                assert alarms(mined.rules, users[:lost] + users[lost + 1 :]) == [name]


def test_the_engine_gives_the_matches_of_the_pattern_language() -> None:
    place = folder()
    index = read_index(place)
    clean = [event for event in fault_free(place) if index[event.run].is_clean]
    rules = rules_of(traces_of(clean), 19, Matching.ANY)
    broken = one_after_the_other(list(label_events([f"{place}/events_faulty.csv.gz"])))

    found = engine_matches(rules, broken)

    assert found == expected_matches(rules, broken)
    assert (sum(map(len, found.values())), sum(map(sum, found.values()))) == (350, 42_717_262)
    assert sum(map(len, engine_matches(rules, one_after_the_other(list(fault_free(place)))).values())) == 0


def test_unseen_runs_are_judged_well_enough() -> None:
    place = folder()
    infos = list(read_index(place).values())

    faulty = label_events([f"{place}/events_faulty.csv.gz"])

    scores = cross_validate(infos, by_run([*fault_free(place), *faulty]), 5)

    assert scores.f1 >= 0.96
    assert scores.silent_found >= 50
    assert scores.clean_alarmed <= 7
    assert scores.early >= 0.42 * scores.failures
    assert (scores.true_alarms, scores.missed, scores.false_alarms, scores.quiet) == (279, 2, 19, 247)
    assert (scores.silent_found, scores.silent, scores.clean_alarmed) == (50, 51, 4)
    assert (scores.early, scores.early_failures, scores.failure_at) == (123, 90, (2, 2, 2, 2, 2))
