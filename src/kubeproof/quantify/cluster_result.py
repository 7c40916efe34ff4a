"""What quantifying a cluster answers."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from kubeproof.values import dataclass

if TYPE_CHECKING:
    from kubeproof.cluster.objects import Source


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

    @property
    def is_possible(self) -> bool | None:
        """True if some run violates it; None if that was not asked for."""
        return None if self.ever is None or self.ever.greatest is None else self.ever.greatest.value > 0


@dataclass(frozen=True, slots=True)
class Amount:
    """An expected sum over the horizon."""

    name: str  # "pods", "nodes", "energy", "cost"
    unit: str
    span: Span


@dataclass(frozen=True, slots=True)
class Shortage:
    """The long-run share of time with fewer ready pods than an intent asks for."""

    intent: str
    target: str
    count: str
    span: Span


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
