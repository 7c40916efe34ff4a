"""Incidents as their alarms tell them: what is behind it, since when, how grave, and whether it is over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kubeproof.monitor.alarms import Alarm, Kind
from kubeproof.monitor.incidents.book import is_odd, shows_something
from kubeproof.monitor.incidents.policy import Level
from kubeproof.values import dataclass

Numbered = tuple[int, Alarm]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One event that is missing, too many or without the one before it, and by how many alarms."""

    event: str
    kind: Kind
    alarms: int


@dataclass(frozen=True, slots=True)
class Incident:
    """Alarms that belong together, in the order in which they were raised."""

    number: int
    level: Level
    alarms: tuple[Numbered, ...]

    @property
    def first(self) -> Alarm:
        return self.alarms[0][1]

    @property
    def run(self) -> str:
        return self.first.run

    @property
    def key(self) -> str:
        return self.first.key

    @property
    def started_us(self) -> int:
        """When the oldest of its evidence began."""
        return min(alarm.start_us for _, alarm in self.alarms)

    @property
    def first_us(self) -> int:
        """When it was first noticed."""
        return self.first.detected_us

    @property
    def last_us(self) -> int:
        """When it was last noticed; without another alarm, its end."""
        return max(alarm.detected_us for _, alarm in self.alarms)

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What is wrong, in the order in which it should have come, or came."""
        counts = Counter(alarm.about for alarm in self._shown())
        firsts: dict[str, Alarm] = {}
        for alarm in sorted(self._shown(), key=lambda alarm: (alarm.start_us, alarm.detected_us)):
            firsts.setdefault(alarm.about, alarm)
        return tuple(Evidence(name, alarm.kind, counts[name]) for name, alarm in firsts.items())

    @property
    def culprit(self) -> str:
        """The event with which the trouble most likely began: of what is wrong, the first one due."""
        evidence = self.evidence
        return evidence[0].event if evidence else self.first.about

    def _shown(self) -> list[Alarm]:
        return [alarm for _, alarm in self.alarms if shows_something(alarm) or is_odd(alarm)]


def gather_incidents(alarms: Iterable[Numbered]) -> list[Incident]:
    """The incidents of numbered alarms, in the order in which they began."""
    found: dict[int, list[Numbered]] = {}
    for number, alarm in alarms:
        found.setdefault(alarm.incident, []).append((number, alarm))
    order = list(Level)
    return [
        Incident(number, max((alarm.level for _, alarm in members), key=order.index), tuple(members))
        for number, members in sorted(found.items())
    ]
