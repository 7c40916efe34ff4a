"""Clocks of nodes and pods as phases that run out one after the other.

A wait of d seconds becomes k phases of d/k seconds on average, each exponential: its mean is d, its standard deviation
d/sqrt(k). Every clock runs by itself, so that two that began at different moments need no state for each second by
which they differ. A range counts as its middle. A clock that runs holds a number above all seconds, which says how long
the whole wait is and how many phases of it are left; 0 is due, as in seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kubeproof.cluster.objects import Node
from kubeproof.cluster.state import NEVER, NodeCell, PodKind, add_pods, holds_up_zone
from kubeproof.model.mechanics import Mechanics
from kubeproof.model.plan import Plan
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import replace

RUNS = 1 << 40  # clocks that run are above; no number of seconds is
MOST_PHASES = 63
Pods = tuple[tuple[PodKind, int], ...]


class Expiry(NamedTuple):
    """The end of a phase of one clock, or of clocks in unison, of one node."""

    per_s: float
    after: NodeCell


def make_clock(half_seconds: int, phases: int) -> int:
    """The clock of a wait of so many half seconds, with so many phases left; 0 if none is."""
    return RUNS + (half_seconds << 6 | phases) if phases else 0


def read_clock(clock: int) -> tuple[int, int]:
    """The half seconds of the whole wait, and the phases that are left."""
    return (clock - RUNS) >> 6, clock & MOST_PHASES


def runs(clock: int) -> bool:
    """True for a clock in phases."""
    return clock > RUNS


class PhasedMechanics(Mechanics):
    """The mechanics of a plan whose waits are divided into so many phases."""

    def __init__(self, of: Mechanics, phases: int) -> None:
        for name, value in vars(of).items():
            setattr(self, name, value)
        self.phases = phases

    def on_node(self, node: Node, cell: NodeCell, action: Any) -> tuple[NodeCell, ...]:
        """All contents the node may have after an action, their clocks in phases."""
        return tuple(dict.fromkeys(start_phases(after, self.phases) for after in super().on_node(node, cell, action)))

    def bind(self, node: Node, cell: NodeCell, action: Any) -> Iterator[tuple[NodeCell, float]]:
        """The node with one more pod, its clocks in phases."""
        for after, probability in super().bind(node, cell, action):
            yield start_phases(after, self.phases), probability


def divide_waits(plan: Plan, phases: int) -> Plan:
    """The plan whose waits are divided into so many phases."""
    nodes = tuple(start_phases(cell, phases) for cell in plan.nodes)
    return replace(plan, mechanics=PhasedMechanics(plan.mechanics, phases), nodes=nodes)


def start_phases(cell: NodeCell, phases: int) -> NodeCell:
    """The node with all clocks that hold seconds in phases."""

    def start(kind: PodKind) -> PodKind:
        least, most = _start_range(kind.least_s, kind.most_s, phases)
        evict, route = _start(kind.evict_s, phases), _start(kind.route_s, phases)
        return kind._replace(least_s=least, most_s=most, evict_s=evict, route_s=route)

    least, most = _start_range(cell.least_s, cell.most_s, phases)
    return cell._replace(least_s=least, most_s=most, pods=_map(cell.pods, start))


def _start(seconds: int, phases: int) -> int:
    return make_clock(2 * seconds, phases) if 0 < seconds < RUNS else seconds


def _start_range(least_s: int, most_s: int, phases: int) -> tuple[int, int]:
    """Both clocks of a range, which begins anew where one of them holds seconds."""
    if most_s <= 0 or most_s > RUNS:
        return most_s, most_s
    clock = make_clock(max(0, least_s) + most_s, phases)
    return clock, clock


def list_expiries(cell: NodeCell, phases: int) -> Iterator[Expiry]:
    """The clocks of a node that run, each with what the node is when its phase is over.

    Pods that move on together, or are evicted together, share a clock.
    """
    if runs(cell.least_s):
        per_s, clock = _expire(cell.least_s, phases)
        rests = clock == 0 and holds_up_zone(cell)  # nobody waits for it any more
        clock = NEVER if rests else clock
        yield Expiry(per_s, cell._replace(least_s=clock, most_s=clock))
    moving = {(k.workload, k.phase, k.least_s) for k, _ in cell.pods if runs(k.least_s)}
    for workload, phase, clock in sorted(moving):
        per_s, later = _expire(clock, phases)
        changes = {"least_s": later, "most_s": later}
        chosen = (workload, phase, clock)
        yield Expiry(per_s, _change(cell, lambda k: (k.workload, k.phase, k.least_s), chosen, changes))
    for clock in sorted({k.evict_s for k, _ in cell.pods if runs(k.evict_s)}):
        per_s, later = _expire(clock, phases)
        yield Expiry(per_s, _change(cell, lambda k: k.evict_s, clock, {"evict_s": later}))
    for workload, clock in sorted({(k.workload, k.route_s) for k, _ in cell.pods if runs(k.route_s)}):
        per_s, later = _expire(clock, phases)
        yield Expiry(per_s, _change(cell, lambda k: (k.workload, k.route_s), (workload, clock), {"route_s": later}))


def _expire(clock: int, phases: int) -> tuple[float, int]:
    """How often per second a phase of the clock ends, and the clock after it."""
    half_seconds, left = read_clock(clock)
    return 2 * phases / half_seconds, make_clock(half_seconds, left - 1)


def _change(cell: NodeCell, read: Callable[[PodKind], Any], wanted: Any, changes: dict[str, int]) -> NodeCell:
    """The node with the pods changed of which one reads this."""
    return cell._replace(pods=_map(cell.pods, lambda kind: kind._replace(**changes) if read(kind) == wanted else kind))


def _map(pods: Pods, change: Callable[[PodKind], PodKind]) -> Pods:
    found: Pods = ()
    for kind, count in pods:
        found = add_pods(found, change(kind), count)
    return found
