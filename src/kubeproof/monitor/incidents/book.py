"""Which incident an alarm belongs to, and how grave it is by now; alarm after alarm, in bounded memory.

Alarms of one run are one incident. Where nobody tells runs apart, they are one if they have the same key, and their
rules speak of common events, directly or through other rules. A time without alarms ends an incident.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from kubeproof.monitor.alarms import Alarm, Kind
from kubeproof.monitor.incidents.policy import Level, Policy
from kubeproof.monitor.rules.rules import AtMost, Chain, EqualCounts, FollowedBy, Heartbeat, Never, Rule
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict

MOST_OPEN = 10_000  # incidents; beyond that the one that was quiet longest is over
DECISIVE = (Kind.FORBIDDEN, Kind.FORMULA, Kind.INTENT)  # somebody wrote down that this must not be

Group = tuple[str, str, str]  # run, key, cause


def shows_something(alarm: Alarm) -> bool:
    """Whether the alarm is evidence: something is missing or too much, for certain."""
    return _counts(alarm) and alarm.kind is not Kind.UNEXPECTED


def is_odd(alarm: Alarm) -> bool:
    """Whether an event came without the one before it: alone that tells little, several are evidence."""
    return _counts(alarm) and alarm.kind is Kind.UNEXPECTED


def _counts(alarm: Alarm) -> bool:
    return alarm.verdict == Verdict.VIOLATED and alarm.severity != "info" and alarm.kind is not Kind.OVERFLOW


def decides(alarm: Alarm) -> bool:
    """Whether the alarm makes a failure by itself: somebody wrote so, instead of a miner who guessed."""
    return shows_something(alarm) and (alarm.kind in DECISIVE or alarm.severity == "error")


def judge_level(evidence: int, policy: Policy, *, is_decided: bool) -> Level:
    """The level that so many different events make."""
    if is_decided or evidence >= policy.failure_at:
        return Level.FAILURE
    return Level.WARNING if evidence else Level.INFORMATION


@dataclass(slots=True)
class _Open:
    """An incident that may grow."""

    number: int
    last_us: int
    missing: list[str]  # different events that are missing or too many; at most as many as make a failure
    odd: list[str]  # the same of those before which nothing came
    is_decided: bool = False
    level: Level = Level.INFORMATION

    @property
    def evidence(self) -> int:
        """How many different events tell that something is wrong; the first odd one is none of them."""
        return len(self.missing) + max(0, len(set(self.odd) - set(self.missing)) - 1)


class IncidentBook:
    """All incidents that are not over."""

    def __init__(self, rules: Iterable[Rule] = (), policy: Policy = Policy()) -> None:
        self._policy = policy
        self._causes = find_causes(tuple(rules))
        self._open: dict[Group, _Open] = {}  # the one that was quiet longest comes first
        self._begun = 0
        self.levels: Counter[Level] = Counter()  # of all incidents, also those that are over

    def take(self, alarm: Alarm) -> Alarm:
        """The alarm with the number of its incident, and the level that this has with it."""
        found = self._find(alarm)
        if shows_something(alarm):
            self._note(found.missing, alarm.about)
        elif is_odd(alarm):
            self._note(found.odd, alarm.about)
        found.is_decided = found.is_decided or decides(alarm)
        level = judge_level(found.evidence, self._policy, is_decided=found.is_decided)
        self.levels[found.level] -= 1
        self.levels[level] += 1
        found.level = level
        return alarm._replace(incident=found.number, level=level)

    def _note(self, events: list[str], name: str) -> None:
        if name not in events and len(events) <= self._policy.failure_at:
            events.append(name)

    def state(self) -> list[Any]:
        """What decides about later alarms, as JSON can hold it."""
        rows = [
            [*group, one.number, one.last_us, list(one.missing), list(one.odd), one.is_decided, one.level.value]
            for group, one in self._open.items()
        ]
        return [self._begun, {level.value: count for level, count in self.levels.items()}, rows]

    def restore(self, state: Sequence[Any]) -> None:
        """Continues from such a state."""
        self._begun, levels, rows = state
        self.levels = Counter({Level(level): count for level, count in levels.items()})
        self._open = {
            (run, key, cause): _Open(number, last_us, missing, odd, is_decided, Level(level))
            for run, key, cause, number, last_us, missing, odd, is_decided, level in rows
        }

    def _find(self, alarm: Alarm) -> _Open:
        group = self._group_of(alarm)
        found = self._open.pop(group, None)
        if found is None or alarm.detected_us - found.last_us > self._policy.quiet_us:
            self._make_room(alarm.detected_us)
            self._begun += 1
            found = _Open(self._begun, alarm.detected_us, [], [])
            self.levels[found.level] += 1
        found.last_us = max(found.last_us, alarm.detected_us)
        self._open[group] = found
        return found

    def _group_of(self, alarm: Alarm) -> Group:
        return (alarm.run, "", "") if alarm.run else ("", alarm.key, self._causes.get(alarm.rule, alarm.rule))

    def _make_room(self, now_us: int) -> None:
        """Forgets what is over; looks only at those that were quiet longest."""
        while self._open:
            group, oldest = next(iter(self._open.items()))
            if len(self._open) < MOST_OPEN and now_us - oldest.last_us <= self._policy.quiet_us:
                return
            del self._open[group]


def find_causes(rules: Sequence[Rule]) -> dict[str, str]:
    """By rule the name of the first rule that it shares events with, directly or through others."""
    leaders: dict[str, str] = {}
    for rule in rules:
        _unite(leaders, [f"rule {rule.name}", *(f"event {name}" for name in _events_of(rule))])
    first: dict[str, str] = {}
    return {rule.name: first.setdefault(_leader(leaders, f"rule {rule.name}"), rule.name) for rule in rules}


def _unite(leaders: dict[str, str], names: Sequence[str]) -> None:
    top = _leader(leaders, names[0])
    for name in names[1:]:
        leaders[_leader(leaders, name)] = top


def _leader(leaders: dict[str, str], name: str) -> str:
    while leaders.setdefault(name, name) != name:
        leaders[name] = leaders[leaders[name]]
        name = leaders[name]
    return name


def _events_of(rule: Rule) -> list[str]:
    match rule.body:
        case FollowedBy(first, then):
            return [first.name, then.name]
        case Chain(events) | EqualCounts(events):
            return [event.name for event in events]
        case AtMost(event) | Never(event) | Heartbeat(event):
            return [event.name]
        case _:
            return []  # a formula speaks of predicates, not of names
