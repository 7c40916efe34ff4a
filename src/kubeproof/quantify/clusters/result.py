"""What quantifying a cluster answers."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal

from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict

if TYPE_CHECKING:
    from kubeproof.cluster.objects import Source

UNCERTAIN = 1e-6  # relative, of a value without bounds
WORDS = (Verdict.VIOLATED, Verdict.UNKNOWN, Verdict.HOLDS)  # the first that occurs is that of all


@dataclass(frozen=True, slots=True)
class Value:
    """One number of Storm; the true one lies between the bounds, where there are any."""

    value: float
    lower: float | None
    upper: float | None
    guarantee: str
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class Span:
    """The least and the greatest value over all open choices; `skipped` says why there is none."""

    least: Value | None = None
    greatest: Value | None = None
    skipped: str = ""


def judge(span: Span | None, at_most: float) -> Verdict:
    """HOLDS if the greatest value is at most this, VIOLATED if it is more, UNKNOWN if nobody can tell."""
    found = None if span is None else span.greatest
    if found is None:
        return Verdict.UNKNOWN
    slack = UNCERTAIN * found.value
    lower = found.value - slack if found.lower is None else found.lower
    upper = min(1.0, found.value + slack if found.upper is None else found.upper)
    if upper <= at_most:
        return Verdict.HOLDS
    return Verdict.VIOLATED if lower > at_most else Verdict.UNKNOWN


@dataclass(frozen=True, slots=True)
class IntentChances:
    """How likely a safety intent is violated, and how soon; None what was not asked for."""

    id: str
    intent: str
    key: str
    target: str
    source: Source
    within: Span | None = None
    ever: Span | None = None
    first_s: Span | None = None
    over_time: tuple[tuple[int, Span], ...] = ()  # within so many seconds, where that was asked for

    @property
    def is_possible(self) -> bool | None:
        """True if some run violates it; None if that was not asked for."""
        if self.ever is None or self.ever.greatest is None:
            return None
        greatest = self.ever.greatest
        return greatest.value > 0 or bool(greatest.upper)  # a value too small for a number still has a bound


@dataclass(frozen=True, slots=True)
class Amount:
    """An expected sum over the horizon."""

    name: str  # "pods", "nodes", "energy", "cost"
    unit: str
    span: Span


@dataclass(frozen=True, slots=True)
class Shortage:
    """Fewer ready pods than an intent asks for: in which share of time, and for how long; None what was not asked."""

    intent: str
    target: str
    count: str
    span: Span | None = None  # share of time in the long run
    within: Span | None = None  # expected share of the horizon
    recovery_s: Span | None = None  # how long it takes on average until there are enough again, within the horizon

    @property
    def spans(self) -> tuple[Span, ...]:
        """All answers that were asked for."""
        return tuple(span for span in (self.within, self.span, self.recovery_s) if span is not None)


@dataclass(frozen=True, slots=True)
class LevelChance:
    """A service level that an expectation or a share of time decides, with the worst value."""

    id: str
    key: str
    name: str
    target: str
    limit: float
    verdict: Verdict
    value: float | None


@dataclass(frozen=True, slots=True)
class Varied:
    """How likely the first intent is violated within the horizon, by a mean time of the Scenario, in seconds."""

    title: str
    points: tuple[tuple[int, Span], ...]


@dataclass(frozen=True, slots=True)
class ProcessSize:
    """The process in Storm, and how long each step towards it took."""

    states: int  # of the cluster: those that verify explores
    transitions: int
    process_states: int  # with those in which time passes
    choices: int
    entries: int
    explore_s: float
    build_s: float
    hand_over_s: float


@dataclass(frozen=True, slots=True)
class Waits:
    """How waits were followed in continuous time, and how far."""

    phases: tuple[int, ...]  # beside 1
    rarest: float  # failures are looked at in states that are as likely, roughly
    is_whole: bool  # all failures were looked at


@dataclass(frozen=True, slots=True)
class ClusterResult:
    """Everything about one cluster."""

    scenario: str
    order: str
    horizon_s: int
    tick_s: int
    size: ProcessSize
    intents: tuple[IntentChances, ...]
    amounts: tuple[Amount, ...]
    shortages: tuple[Shortage, ...]
    open_events: tuple[str, ...]  # that may happen or not
    not_quantified: tuple[str, ...]
    scope: tuple[tuple[str, str], ...] = ()
    not_modelled: tuple[str, ...] = ()
    files: tuple[str, ...] = field(default=())
    at_most: float | None = None  # what the probability of a violation within the horizon is held against
    waits: Waits | None = None  # None: the process goes in steps
    levels: tuple[LevelChance, ...] = ()
    variations: tuple[Varied, ...] = ()
    sensitivities: tuple[tuple[str, float], ...] = ()  # percent of the first intent's chance per percent of a rate

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Per intent whether it is violated no more likely than allowed; nothing if that was not asked for."""
        limit = self.at_most
        return () if limit is None else tuple(self._judge(one.within, limit) for one in self.intents)

    def _judge(self, span: Span | None, limit: float) -> Verdict:
        """In continuous time a number of which nobody knows how far it is off decides nothing."""
        greatest = None if span is None else span.greatest
        is_vague = self.waits is not None and greatest is not None and greatest.upper is None
        return Verdict.UNKNOWN if is_vague else judge(span, limit)

    @property
    def verdict(self) -> Verdict | Literal[""]:
        """That of all intents; empty if there is none."""
        words = (*self.verdicts, *(level.verdict for level in self.levels))
        return next((word for word in WORDS if word in words), "")

    @property
    def spans(self) -> tuple[Span, ...]:
        """All answers that were asked for."""
        chances = [span for one in self.intents for span in (one.within, one.ever, one.first_s) if span is not None]
        shortages = [span for one in self.shortages for span in one.spans]
        return (*chances, *(amount.span for amount in self.amounts), *shortages)
