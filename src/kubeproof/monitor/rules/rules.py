"""Rules about streams of events, as values.

Written by hand in YAML (`rule_file.py`), in Python as these classes, or mined from fault-free runs (`mine.py`).
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum

from kubeproof.errors import UsageError
from kubeproof.monitor.incidents.policy import Policy
from kubeproof.values import dataclass


class Matching(Enum):
    """Which `then` answers a `first`."""

    COUNT = "count"  # the i-th the i-th: many users in one stream, without any identity
    ANY = "any"  # any later one
    KEY = "key"  # one with the same key


@dataclass(frozen=True, slots=True)
class Pattern:
    """Events with this name, for which the predicate holds, if there is one."""

    name: str
    where: str = ""

    def __str__(self) -> str:
        return f"{self.name} where {self.where}" if self.where else self.name


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a mined rule rests on; delays in microseconds."""

    runs: int
    occurrences: int
    shortest_us: int = 0
    median_us: int = 0
    p99_us: int = 0
    longest_us: int = 0


@dataclass(frozen=True, slots=True)
class FollowedBy:
    """Every `first` is followed by a `then` in time."""

    first: Pattern
    then: Pattern
    within_us: int
    matching: Matching = Matching.COUNT


@dataclass(frozen=True, slots=True)
class Chain:
    """Every event of a sequence is followed by the next in time; `within_us` has one entry per link."""

    events: tuple[Pattern, ...]
    within_us: tuple[int, ...]
    matching: Matching = Matching.COUNT

    def __post_init__(self) -> None:
        if len(self.events) < 2 or len(self.within_us) != len(self.events) - 1:
            raise UsageError("a chain needs two events or more, and a duration for each link", "Add what is missing.")

    @property
    def links(self) -> tuple[FollowedBy, ...]:
        """The chain as pairs."""
        pairs = zip(self.events, self.events[1:], self.within_us, strict=False)
        return tuple(FollowedBy(first, then, within, self.matching) for first, then, within in pairs)


@dataclass(frozen=True, slots=True)
class EqualCounts:
    """In every stretch of `per_us` (None: in the whole run) the events occur equally often, up to `tolerance`."""

    events: tuple[Pattern, ...]
    per_us: int | None
    tolerance: int = 0


@dataclass(frozen=True, slots=True)
class AtMost:
    """Never more than `count`, and `tolerance` beyond, within any stretch of `per_us` (None: in the whole run)."""

    event: Pattern
    count: int
    per_us: int | None
    tolerance: int = 0

    @property
    def most(self) -> int:
        """One more is an alarm."""
        return self.count + self.tolerance


@dataclass(frozen=True, slots=True)
class Never:
    """The event does not occur."""

    event: Pattern


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The event comes again in time, once it has come."""

    event: Pattern
    every_us: int


@dataclass(frozen=True, slots=True)
class Ltl:
    """A formula over predicates on events; each event is one letter. Judged anew after each violation."""

    formula: str
    where: tuple[tuple[str, str], ...]  # proposition, predicate
    by_key: bool = False


Body = FollowedBy | Chain | EqualCounts | AtMost | Never | Heartbeat | Ltl


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule with its name, and what it was learned from."""

    name: str
    body: Body
    severity: str = "warning"
    evidence: tuple[Evidence, ...] = ()  # one per link for chains


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Rules of one file."""

    rules: tuple[Rule, ...]
    name: str = "rules"
    notes: tuple[str, ...] = field(default=())
    ends: tuple[Pattern, ...] = ()  # events that are the last of their run
    incidents: Policy = Policy()

    def __post_init__(self) -> None:
        names = [rule.name for rule in self.rules]
        twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
        if twice:
            raise UsageError(f"two rules are called {twice[0]!r}", "Give each rule a name of its own.")

    @property
    def pairs(self) -> tuple[FollowedBy, ...]:
        """All `followedBy` rules and all links of chains."""
        found: list[FollowedBy] = []
        for rule in self.rules:
            if isinstance(rule.body, FollowedBy):
                found.append(rule.body)
            elif isinstance(rule.body, Chain):
                found += rule.body.links
        return tuple(found)

    @property
    def longest_us(self) -> int:
        """The longest time that a rule looks at; what is older decides nothing but about whole runs."""
        return max((span for rule in self.rules for span in _spans(rule.body)), default=0)


def _spans(body: Body) -> tuple[int, ...]:
    match body:
        case FollowedBy(_, _, within):
            return (within,)
        case Chain(_, within):
            return within
        case EqualCounts(_, per) | AtMost(_, _, per):
            return (per or 0,)
        case Heartbeat(_, every):
            return (every,)
        case _:
            return ()
