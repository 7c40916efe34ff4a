"""Max-min fair shares of what a node has left."""

from __future__ import annotations

from collections.abc import Sequence


def fair_shares(demands: Sequence[int], total: int) -> list[int]:
    """What each demand gets of the total: small ones all they ask for, the others equal parts of the rest.

    Whole units only; what does not divide goes to those that come first.
    """
    shares, left = [0] * len(demands), total
    by_size = sorted(range(len(demands)), key=lambda index: (demands[index], index))
    for served, index in enumerate(by_size):
        even = left // (len(by_size) - served)
        if demands[index] > even:
            return _even_rest(shares, sorted(by_size[served:]), left, demands)
        shares[index] = demands[index]
        left -= demands[index]
    return shares


def _even_rest(shares: list[int], unmet: list[int], left: int, demands: Sequence[int]) -> list[int]:
    even, over = divmod(left, len(unmet))
    for position, index in enumerate(unmet):
        shares[index] = min(demands[index], even + (position < over))
    return shares
