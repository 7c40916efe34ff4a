"""What may be asked about a cluster."""

from __future__ import annotations

from collections.abc import Callable

from kubeproof.quantify.clusters.space import SpaceOptions
from kubeproof.quantify.methods import CheckSettings
from kubeproof.values import dataclass

OPEN, UNIFORM = "open", "uniform"  # which loop acts next
WITHIN, EVER, FIRST, AMOUNTS, LONG_RUN = "within", "ever", "first", "amounts", "long-run"
SHORT, RECOVERY = "short", "recovery"  # share of the horizon with too few ready pods; how long that lasts
QUESTIONS = (WITHIN, EVER, FIRST, AMOUNTS, SHORT, LONG_RUN, RECOVERY)
AHEAD = "ahead"  # as `within`, for parts of the horizon
IN_STEPS = (WITHIN, EVER, FIRST, AMOUNTS, LONG_RUN)  # unless others are asked for


def silent(line: str) -> None:
    """Tells nobody."""


@dataclass(frozen=True, slots=True)
class Variation:
    """Mean times that one event, or its end, is to have one after the other."""

    event: str
    is_end: bool
    seconds: tuple[int, ...]

    @property
    def title(self) -> str:
        """What varies, in words."""
        return f"{self.event}: {'mean time until it is over' if self.is_end else 'mean time between two'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions:
    """What to ask, and how."""

    order: str = OPEN
    horizon_s: int | None = None  # None: as the Scenario says
    questions: tuple[str, ...] = IN_STEPS
    at_most: float | None = None  # allowed probability of a violation within the horizon
    space: SpaceOptions = SpaceOptions()
    check: CheckSettings = CheckSettings()
    exact: bool = False  # fractions instead of rounded numbers
    is_sensitive: bool = False  # also how much each rate matters
    variations: tuple[Variation, ...] = ()
    parts: int = 0  # of the horizon, after each of which it is asked as well how likely a violation is
    tell: Callable[[str], None] = silent  # what is being answered

    def moments(self, horizon_s: int) -> tuple[int, ...]:
        """The ends of the parts of the horizon, the last one aside."""
        return tuple(dict.fromkeys(max(1, horizon_s * part // self.parts) for part in range(1, self.parts)))
