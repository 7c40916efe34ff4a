"""How likely events are: for quantification alone."""

from __future__ import annotations

import math

from kubeproof.values import dataclass

HOUR_S = 3600


@dataclass(frozen=True, slots=True)
class Chance:
    """How likely an event is: within one tick, or as a rate. Exactly one of the two is given."""

    per_tick: float | None = None
    per_hour: float | None = None

    def rate(self, tick_s: int) -> float:
        """The rate per second."""
        if self.per_hour is not None:
            return self.per_hour / HOUR_S
        return rate_of(self.per_tick or 0.0, tick_s)

    def within(self, tick_s: int) -> float:
        """The probability within one tick."""
        if self.per_hour is not None:
            return -math.expm1(-self.per_hour / HOUR_S * tick_s)
        return self.per_tick or 0.0


def rate_of(probability: float, tick_s: int) -> float:
    """The rate per second of what happens within one tick with this probability, below 1."""
    return -math.log1p(-probability) / tick_s
