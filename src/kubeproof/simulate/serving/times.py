"""Response times of many requests: counts in buckets that are 1.6 % wide.

A bucket is the exponent of a time and the first six bits of its mantissa, so that both kernels find it without a
logarithm, and exactly alike. A percentile is given as the middle of its bucket: at most 0.8 % off, and never outside
the least and the greatest time that were seen.
"""

from __future__ import annotations

from math import frexp

from kubeproof.errors import InternalError
from kubeproof.simulate.serving.contract import Times
from kubeproof.values import dataclass

PARTS = 64  # buckets per doubling
LOWEST, HIGHEST = -30, 30  # exponents: about a nanosecond, and 34 years
LONGEST = 2.0**HIGHEST
BAR = PARTS // 4  # buckets of one bar of a picture
BUCKETS = (HIGHEST - LOWEST) * PARTS


def bucket_of(time_s: float) -> int:
    """The bucket of a time; what is shorter than the first or longer than the last is counted there."""
    if time_s >= LONGEST:
        return BUCKETS - 1
    mantissa, exponent = frexp(time_s)  # mantissa from 0.5 up to 1
    if time_s <= 0.0 or exponent <= LOWEST:
        return 0
    return (exponent - LOWEST - 1) * PARTS + int((mantissa - 0.5) * 2 * PARTS)


def middle_of(bucket: int) -> float:
    """The time in the middle of a bucket."""
    exponent, part = divmod(bucket, PARTS)
    return float(2.0 ** (exponent + LOWEST) * (1 + (part + 0.5) / PARTS))


def start_of(bucket: int) -> float:
    """The least time of a bucket."""
    exponent, part = divmod(bucket, PARTS)
    return float(2.0 ** (exponent + LOWEST) * (1 + part / PARTS))


@dataclass(frozen=True, slots=True)
class Histogram:
    """How many requests took how long."""

    counts: tuple[tuple[int, int], ...]  # (bucket, requests), shortest first
    count: int
    total_s: float
    least_s: float
    most_s: float

    @property
    def mean_s(self) -> float:
        return self.total_s / self.count

    def percentile(self, percent: float) -> float | None:
        """The least time within which so many percent were answered; None without any."""
        if not self.count:
            return None
        if percent >= 100:
            return self.most_s
        return min(max(middle_of(self._bucket_at(self.count * percent / 100)), self.least_s), self.most_s)

    def bars(self) -> tuple[tuple[float, int], ...]:
        """How many requests took up to so many seconds, and longer than the bar before: four bars a doubling."""
        found: dict[int, int] = {}
        for bucket, count in self.counts:
            found[bucket // BAR] = found.get(bucket // BAR, 0) + count
        return tuple((start_of((number + 1) * BAR), count) for number, count in sorted(found.items()))

    def _bucket_at(self, needed: float) -> int:
        """The bucket in which so many requests are reached."""
        seen = 0
        for bucket, count in self.counts:
            seen += count
            if seen >= needed:
                return bucket
        return self.counts[-1][0]

    def merge(self, other: Times) -> Histogram:
        """Both together."""
        if not isinstance(other, Histogram):
            raise InternalError("response times of another kind cannot be added up")
        counts = dict(self.counts)
        for bucket, count in other.counts:
            counts[bucket] = counts.get(bucket, 0) + count
        return Histogram(
            tuple(sorted(counts.items())),
            self.count + other.count,
            self.total_s + other.total_s,
            min(self.least_s, other.least_s),
            max(self.most_s, other.most_s),
        )
