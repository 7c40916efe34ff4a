"""Nodes that fail, are noticed and repaired, by drawing every moment: nothing of the product is used.

Failures are exponential, so are repairs, which so many crews do, any node that is down being as likely to be worked on
next. A failure is noticed after a time anywhere between two, unless the node is back before.
"""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Nodes:
    """What is known of the nodes."""

    count: int
    up_s: float  # mean time between failures
    down_s: float  # mean time of a repair, by one crew
    crews: int | None = None
    noticed_s: tuple[float, float] = (50.0, 55.0)


def draw_shortage(nodes: Nodes, wanted: int, seconds: float, seed: int) -> tuple[float, float]:
    """The share of time with fewer than `wanted` nodes in use, and the standard error over ten parts of the time."""
    chance = random.Random(seed)
    parts = [_short_share(nodes, wanted, seconds / 10, chance) for _ in range(10)]
    mean = sum(parts) / 10
    return mean, (sum((part - mean) ** 2 for part in parts) / 90) ** 0.5


def _short_share(nodes: Nodes, wanted: int, seconds: float, chance: random.Random) -> float:
    now, short, noticed_at = 0.0, 0.0, dict[int, float]()
    while now < seconds:
        down = len(noticed_at)
        working = down if nodes.crews is None else min(down, nodes.crews)
        fails, mends = (nodes.count - down) / nodes.up_s, working / nodes.down_s
        after = min(seconds, now + chance.expovariate(fails + mends))
        short += _short_within(nodes.count, wanted, sorted(noticed_at.values()), now, after)
        now = after
        if chance.random() * (fails + mends) < fails:
            free = next(node for node in range(nodes.count) if node not in noticed_at)
            noticed_at[free] = now + chance.uniform(*nodes.noticed_s)
        else:
            del noticed_at[chance.choice(list(noticed_at))]
    return short / seconds


def _short_within(count: int, wanted: int, noticed_at: list[float], begin: float, end: float) -> float:
    """For how long within a stretch too many of the failures that lie behind have been noticed."""
    most = count - wanted  # so many may be missing
    if len(noticed_at) <= most:
        return 0.0
    return max(0.0, end - max(begin, noticed_at[most]))
