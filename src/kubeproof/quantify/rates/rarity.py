"""How rare states are, roughly: by that it is decided which failures are still looked at.

What it says decides only how wide an interval is, never whether it holds the true value: all that is not looked at is
counted once as harmless and once as a violation.
"""

from __future__ import annotations

import math

from kubeproof.cluster.loops.control import Loop
from kubeproof.cluster.state import KUBELET_LIVES, Health, NodeCell
from kubeproof.events.nodes.failure import NodeFailureEvent
from kubeproof.model.plan import Plan
from kubeproof.quantify.rates.phases import read_clock, runs
from kubeproof.values import dataclass

TENTHS = 10  # rarities are tenths of powers of ten


@dataclass(frozen=True, slots=True)
class Rarity:
    """How rare conditions of nodes are, as minus the logarithm of their shares of time; and what is too rare."""

    most: int
    per_s: float  # failures of all nodes together
    tick_s: int  # what probabilities of the Scenario refer to
    down_s: float  # how long a node stays down; infinite if it does not come back

    def of_node(self, cell: NodeCell) -> int:
        """That of one node: of what it is in, the rarest."""
        if cell.health == Health.ABSENT:
            return 0
        clocks = {cell.least_s, *(clock for kind, _ in cell.pods for clock in (kind.least_s, kind.evict_s))}
        lasting = [read_clock(clock)[0] / 2 for clock in clocks if runs(clock)]
        lasting += [] if cell.health in KUBELET_LIVES else [self.down_s]
        return max((self._of(seconds) for seconds in lasting), default=0)

    def _of(self, seconds: float) -> int:
        share = self.per_s * seconds
        return 0 if share >= 1 else round(-TENTHS * math.log10(share))


def is_capped(event: Loop) -> bool:
    """True for failures, one at a time, of which any number may come."""
    return isinstance(event, NodeFailureEvent) and not event.event.together and event.event.max is None


def failure_rate(event: Loop, tick_s: int) -> float:
    """How often per second each node fails that the event may hit; not a number where that is open."""
    chance = event.event.chance if isinstance(event, NodeFailureEvent) else None
    return math.nan if chance is None else chance.rate(tick_s)


def find_rarity(plan: Plan, rarest: int, tick_s: int) -> Rarity:
    """The rarity of the conditions of a plan's nodes, of which `rarest` is not too rare."""
    capped = [(loop, loop.event) for loop in plan.events if isinstance(loop, NodeFailureEvent) and is_capped(loop)]
    nodes = [sum(plan.layout.places[place].size for place in loop.reads.places) for loop, _ in capped]
    per_s = sum(count * failure_rate(loop, tick_s) for count, (loop, _) in zip(nodes, capped, strict=True))
    ends = [event.recovery if event.recovers else None for _, event in capped]
    down_s = max((math.inf if end is None else 1 / end.rate(tick_s) for end in ends), default=0.0)
    return Rarity(rarest, per_s or 1.0, tick_s, down_s)
