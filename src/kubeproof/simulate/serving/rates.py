"""Rates over time as functions that can be summed up and inverted, so that requests are placed exactly.

`inverse(x)` is the moment at which `x` requests are to be expected since the start, infinite if never. Points at
0.5, 1.5, 2.5 … give evenly spaced requests, points of a Poisson process of rate 1 give a Poisson process of that rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from kubeproof.events.workload import Bursts, Constant, Ramp, Sinusoid
from kubeproof.simulate.serving.numbers import numpy

Floats = Any  # an array of NumPy, which is loaded late
TABLE = 4096  # points per period of a sinusoid from which Newton's steps begin
FEW_STEPS, MANY_STEPS = 2, 4  # of Newton: many where the rate comes close to nothing


class Rate(Protocol):
    """A rate that is never negative."""

    def expect(self, until_s: float) -> float:
        """How many requests until then."""
        ...

    def inverse(self, counts: Floats) -> Floats:
        """When so many are expected."""
        ...


class Pieces:
    """A rate that is a straight line in each piece; the last one goes on for ever."""

    def __init__(self, starts: Sequence[float], rates: Sequence[float], slopes: Sequence[float] | None = None) -> None:
        np = numpy()
        self._starts = np.asarray(starts, float)
        self._rates = np.asarray(rates, float)
        self._slopes = np.zeros(len(starts)) if slopes is None else np.asarray(slopes, float)
        lengths = np.diff(self._starts)
        counts = (self._rates[:-1] + self._slopes[:-1] * lengths / 2) * lengths
        self._before = np.concatenate(([0.0], np.cumsum(counts)))

    def expect(self, until_s: float) -> float:
        piece = int(numpy().searchsorted(self._starts, until_s, "right")) - 1
        length = until_s - self._starts[piece]
        return float(self._before[piece] + (self._rates[piece] + self._slopes[piece] * length / 2) * length)

    def inverse(self, counts: Floats) -> Floats:
        np = numpy()
        piece = np.searchsorted(self._before, counts, "right") - 1
        over = counts - self._before[piece]
        rate, slope = self._rates[piece], self._slopes[piece]
        divisor = rate + np.sqrt(np.maximum(rate * rate + 2 * slope * over, 0))  # solves the quadratic without loss
        with np.errstate(divide="ignore", invalid="ignore"):
            length = np.where(divisor > 0, 2 * over / divisor, np.inf)
        found: Floats = self._starts[piece] + length
        return found


class Wave:
    """max(0, mean + amplitude · sin(2π (t + shift) / period))."""

    def __init__(self, mean: float, amplitude: float, period_s: float, shift_s: float) -> None:
        np = numpy()
        if amplitude < 0:
            amplitude, shift_s = -amplitude, shift_s + period_s / 2
        self._mean, self._amplitude, self._unit = mean, amplitude, period_s / (2 * np.pi)
        is_cut = amplitude > abs(mean)
        self._steps = MANY_STEPS if amplitude > 0.9 * mean else FEW_STEPS
        self._root = float(np.arcsin(-mean / amplitude)) if is_cut else 0.0  # the rate grows from here on
        self._width = (
            np.pi - 2 * self._root if is_cut else (2 * np.pi if mean > 0 else 0.0)
        )  # as long as it is positive
        self._base = self._antiderivative(self._root)
        self._per_period = float(self._within(2 * np.pi))
        self._angles = np.linspace(0, self._width, TABLE)
        self._table = self._within(self._angles)
        self._shift = shift_s / self._unit - self._root
        self._start = float(self._sum(self._shift))

    def _antiderivative(self, angle: Any) -> Any:
        return self._unit * (self._mean * angle - self._amplitude * numpy().cos(angle))

    def _within(self, angle: Any) -> Any:
        """Expected from the root on, within one period."""
        return self._antiderivative(self._root + numpy().minimum(angle, self._width)) - self._base

    def _sum(self, angle: Any) -> Any:
        np = numpy()
        periods = np.floor(angle / (2 * np.pi))
        return periods * self._per_period + self._within(angle - periods * 2 * np.pi)

    def expect(self, until_s: float) -> float:
        return float(self._sum(until_s / self._unit + self._shift)) - self._start

    def inverse(self, counts: Floats) -> Floats:
        np = numpy()
        if self._per_period <= 0:
            return np.full(len(counts), np.inf)
        all_counts = counts + self._start
        periods = np.floor(all_counts / self._per_period)
        wanted = all_counts - periods * self._per_period
        angle = self._solve(wanted)
        return np.maximum((periods * 2 * np.pi + angle - self._shift) * self._unit, 0.0)

    def _solve(self, wanted: Floats) -> Floats:
        """Newton's steps from a table, kept within its cell."""
        np = numpy()
        cell = np.clip(np.searchsorted(self._table, wanted, "right"), 1, TABLE - 1)
        low, high = self._angles[cell - 1], self._angles[cell]
        angle = np.interp(wanted, self._table, self._angles)
        for _ in range(self._steps):
            rate = self._unit * (self._mean + self._amplitude * np.sin(self._root + angle))
            with np.errstate(divide="ignore", invalid="ignore"):
                step = np.where(rate > 0, (self._within(angle) - wanted) / rate, 0.0)
            angle = np.clip(angle - step, low, high)
        return angle


class Shifted:
    """A rate times a factor that changes at some moments."""

    def __init__(self, rate: Rate, starts: Sequence[float], factors: Sequence[float]) -> None:
        np = numpy()
        self._rate = rate
        self._starts, self._factors = np.asarray(starts, float), np.asarray(factors, float)
        self._plain = np.asarray([rate.expect(start) for start in starts])
        self._before = np.concatenate(([0.0], np.cumsum(np.diff(self._plain) * self._factors[:-1])))

    def expect(self, until_s: float) -> float:
        piece = int(numpy().searchsorted(self._starts, until_s, "right")) - 1
        return float(self._before[piece] + (self._rate.expect(until_s) - self._plain[piece]) * self._factors[piece])

    def inverse(self, counts: Floats) -> Floats:
        np = numpy()
        piece = np.searchsorted(self._before, counts, "right") - 1
        with np.errstate(divide="ignore", invalid="ignore"):
            plain = np.where(
                self._factors[piece] > 0,
                self._plain[piece] + (counts - self._before[piece]) / self._factors[piece],
                np.inf,
            )
        found = np.full(len(counts), np.inf)
        finite = np.isfinite(plain)
        found[finite] = self._rate.inverse(plain[finite])
        return found


def rate_of(arrivals: Constant | Ramp | Sinusoid | Bursts, duration_s: float) -> Rate:
    """The rate of a declaration without chance, exact until the end of the run."""
    if isinstance(arrivals, Constant):
        return Pieces([0.0], [arrivals.rate])
    if isinstance(arrivals, Ramp):
        return _ramp(arrivals)
    if isinstance(arrivals, Sinusoid):
        return Wave(arrivals.mean, arrivals.amplitude, arrivals.period_s, arrivals.shift_s)
    return _bursts(arrivals, duration_s)


def _ramp(ramp: Ramp) -> Pieces:
    if ramp.over_s <= 0:
        return Pieces([0.0, max(ramp.start_s, 0.0)], [ramp.first, ramp.last])
    slope = (ramp.last - ramp.first) / ramp.over_s
    starts, end = [0.0, ramp.start_s], ramp.start_s + ramp.over_s
    return Pieces([*starts, end], [ramp.first, ramp.first, ramp.last], [0.0, slope, 0.0])


def _bursts(bursts: Bursts, duration_s: float) -> Pieces:
    starts, rates = [0.0], [bursts.base]
    begins = bursts.first_s
    while begins <= duration_s:
        starts += [begins, begins + min(bursts.lasts_s, bursts.every_s)]
        rates += [bursts.burst, bursts.base]
        begins += bursts.every_s
    return Pieces(starts, rates)
