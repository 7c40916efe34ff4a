"""Confidence intervals of shares, means, ratios and quantiles over runs that are independent of each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from statistics import NormalDist, fmean

from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate, and between which numbers the true value lies with the confidence that was asked for."""

    value: float
    lower: float
    upper: float

    @property
    def half_width(self) -> float:
        return (self.upper - self.lower) / 2


def share_interval(hits: int, trials: int, confidence: float) -> Interval:
    """The probability of a hit, by Wilson's score interval; it never is without width."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share, weight = hits / trials, z * z / trials
    middle = (share + weight / 2) / (1 + weight)
    reach = z * sqrt(share * (1 - share) / trials + weight / (4 * trials)) / (1 + weight)
    lower = 0.0 if hits == 0 else max(0.0, middle - reach)
    return Interval(share, lower, 1.0 if hits == trials else min(1.0, middle + reach))


def mean_interval(values: Sequence[float], confidence: float) -> Interval | None:
    """The mean, by Student's t; None for fewer than two values."""
    if len(values) < 2:
        return None
    mean = fmean(values)
    spread = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    reach = t_quantile(confidence, len(values) - 1) * sqrt(spread / len(values))
    return Interval(mean, mean - reach, mean + reach)


def ratio_interval(parts: Sequence[float], wholes: Sequence[float], confidence: float) -> Interval | None:
    """Sum of parts over sum of wholes, both per run; None for fewer than two runs, or without any whole.

    The runs differ in how much they count, and what belongs to one run is not independent: the variance is that of the
    linearised ratio.
    """
    total = sum(wholes)
    if len(parts) < 2 or total <= 0:
        return None
    ratio, runs = sum(parts) / total, len(parts)
    left = [part - ratio * whole for part, whole in zip(parts, wholes, strict=True)]
    spread = sum(each * each for each in left) / (runs - 1)
    reach = t_quantile(confidence, runs - 1) * sqrt(spread * runs) / total
    return Interval(ratio, ratio - reach, ratio + reach)


def quantile_interval(
    share: float,
    below: Callable[[float], Sequence[float]],
    wholes: Sequence[float],
    quantile: Callable[[float], float],
    confidence: float,
) -> Interval | None:
    """The value that so large a share stays below, over all runs together (Woodruff's interval).

    `below` tells how many of each run do not exceed a value, `quantile` the value of a share over all runs. How sure
    the share at the estimate is, as a ratio over runs, is read back on the axis of values.
    """
    value = quantile(share)
    found = ratio_interval(below(value), wholes, confidence)
    if found is None:
        return None
    reach = found.half_width
    return Interval(value, quantile(max(0.0, share - reach)), quantile(min(1.0, share + reach)))


def t_quantile(confidence: float, freedom: int) -> float:
    """The t of Student's distribution that leaves so much within plus and minus it.

    Exact for one and two degrees of freedom, by the Cornish-Fisher expansion for more: within 1e-3 for 95 % from three.
    """
    from math import pi, tan

    if freedom == 1:
        return tan(pi * confidence / 2)
    if freedom == 2:
        return confidence * sqrt(2 / (1 - confidence * confidence))
    z, n = NormalDist().inv_cdf((1 + confidence) / 2), freedom
    terms = (
        (z**3 + z) / (4 * n),
        (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2),
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3),
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * n**4),
    )
    return z + sum(terms)
