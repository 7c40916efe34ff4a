"""What answers tend to as waits are divided into more and more phases."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from kubeproof.values import dataclass

EXTRAPOLATED = "extrapolated"  # the interval holds the true value if answers go on as they did; that is no proof
SAME = 1e-9  # relative: phases do not matter
SAFETY = 8  # the difference between the last answer and the limit, divided by this, counts as error


@dataclass(frozen=True, slots=True)
class Estimate:
    """The limit relative to the answer with one phase, and how far off it may be."""

    ratio: float
    error: float

    @property
    def is_moved(self) -> bool:
        """True if the shape of waits matters."""
        return abs(self.ratio - 1) > SAME or self.error > SAME


def find_limit(ratios: Sequence[tuple[int, float]], vague: float = 0.0) -> Estimate | None:
    """The limit of answers relative to that with one phase, given those with 2, 4, ... phases, all so vague.

    A wait in k phases has the variance d^2/k, so that an answer that varies smoothly with waits has an error in powers
    of 1/k; two answers cancel the first power, three the second (Richardson's extrapolation).
    """
    known = dict(ratios)
    row = [1.0]
    while 2 ** len(row) in known:
        row.append(known[2 ** len(row)])
    if len(row) < 2:
        return None
    last, power = row[-1], 2
    while len(row) > 2:
        row = [(power * fine - coarse) / (power - 1) for coarse, fine in pairwise(row)]
        power *= 2
    limit = (power * row[1] - row[0]) / (power - 1)
    before = row[1]
    return Estimate(limit, max(abs(limit - before), abs(limit - last) / SAFETY) + vague)
