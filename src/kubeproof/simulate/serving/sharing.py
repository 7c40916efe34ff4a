"""Max-min fair shares by weight: how Linux divides a node's CPU among pods, in the limit of small time slices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add


def sum_in_order(numbers: Iterable[float]) -> float:
    """The sum from left to right, rounded after each step: newer versions of `sum` round once."""
    return reduce(add, numbers, 0.0)


def share_by_weight(demands: Sequence[float], weights: Sequence[float], total: float) -> list[float]:
    """What each demand gets: small ones all they ask for, the others parts of the rest by weight.

    A control group's weight is its pod's CPU request; nobody gets more than it asks for, and what it leaves goes to
    the others.
    """
    if sum_in_order(demands) <= total:
        return list(demands)
    shares, unmet, left = [0.0] * len(demands), list(range(len(demands))), total
    while True:
        weight = sum_in_order(weights[index] for index in unmet)
        met = [index for index in unmet if demands[index] * weight <= left * weights[index]]
        if not met:
            break
        for index in met:
            shares[index] = demands[index]
            left -= demands[index]
        unmet = [index for index in unmet if index not in met]
        if not unmet:
            return shares
    for index in unmet:
        shares[index] = max(left, 0.0) * weights[index] / weight
    return shares
