"""Axes: round ticks that reach beyond all values, whole ones for what is counted, powers of ten for a log scale."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from kubeproof.values import dataclass

TICKS = 5
_STEPS = (1, 2, 2.5, 5, 10)
_SLACK = 1e-9
LARGE = 1e9  # from here on numbers are written as powers


@dataclass(frozen=True, slots=True)
class Axis:
    """Values between two places of the plane."""

    ticks: tuple[float, ...]
    begin: float
    end: float
    is_log: bool = False

    def at(self, value: float) -> float:
        """Where a value is, in pixels."""
        first, last, here = (self._scale(number) for number in (self.ticks[0], self.ticks[-1], value))
        return self.begin + (here - first) / (last - first) * (self.end - self.begin)

    def _scale(self, value: float) -> float:
        return math.log10(max(value, self.ticks[0])) if self.is_log else value

    def admits(self, value: float) -> bool:
        """True if the value can be shown: a logarithm has no room for 0."""
        return math.isfinite(value) and (value > 0 or not self.is_log)

    @property
    def labels(self) -> tuple[str, ...]:
        """The ticks as texts, with as many digits as tell them apart."""
        if all(tick == int(tick) and abs(tick) < LARGE for tick in self.ticks):
            return tuple(f"{int(tick):,}" for tick in self.ticks)
        for digits in range(2, 12):
            found = tuple(f"{tick:.{digits}g}" for tick in self.ticks)
            if len(set(found)) == len(found) and all(
                math.isclose(float(t), v, rel_tol=1e-4, abs_tol=1e-300) for t, v in zip(found, self.ticks, strict=True)
            ):
                return found
        return tuple(f"{tick:g}" for tick in self.ticks)


def make_axis(
    values: Iterable[float], begin: float, end: float, *, is_whole: bool = False, is_log: bool = False,
    is_tight: bool = False,
) -> Axis:  # fmt: skip
    """The axis that shows all of these values; from 0 on unless `is_tight`, with whole ticks if `is_whole`.

    Where no value has a logarithm the axis is a plain one.
    """
    known = [value for value in values if math.isfinite(value)]
    if is_log and any(value > 0 for value in known):
        return Axis(_powers([value for value in known if value > 0]), begin, end, is_log=True)
    return Axis(_round_ticks(known or [0.0], is_whole=is_whole, is_tight=is_tight), begin, end)


def _powers(values: Sequence[float]) -> tuple[float, ...]:
    """Powers of ten around all values."""
    first = math.floor(math.log10(min(values)) + _SLACK)
    last = max(math.ceil(math.log10(max(values)) - _SLACK), first + 1)
    every = max(1, -(-(last - first) // (TICKS + 2)))
    last = first + every * -(-(last - first) // every)
    return tuple(10.0**power for power in range(first, last + 1, every))


def _round_ticks(values: Sequence[float], *, is_whole: bool, is_tight: bool) -> tuple[float, ...]:
    least, greatest = min(values), max(values)
    if not is_tight:
        least, greatest = min(0.0, least), max(0.0, greatest)
    if greatest - least <= abs(greatest) * _SLACK:
        room = abs(greatest) * 0.1 or 1.0
        least, greatest = (least - room if is_tight else least), greatest + room
    rough = (greatest - least) / TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(one * power for one in _STEPS if one * power >= rough * (1 - _SLACK))
    if is_whole:
        step = max(1.0, float(math.ceil(step)))
    first, last = math.floor(least / step + _SLACK), math.ceil(greatest / step - _SLACK)
    return tuple(number * step for number in range(first, max(last, first + 1) + 1))
