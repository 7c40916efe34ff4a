"""Which nodes are unneeded, and which of those may be deleted now.

Mirrors `Planner.categorizeNodes` and `NodesToDelete` (`core/scaledown/planner`), `Checker.FilterOutUnremovable`
(`core/scaledown/eligibility`), `Nodes.RemovableAt` (`core/scaledown/unneeded`) and the cropping of
`core/scaledown/budgets`. Nodes are looked at one after the other, empty ones first, then those found unneeded before;
each removal is simulated on top of those before it. Where the order is open, every order counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from kubeproof.cluster.nodes.node_groups import ClusterAutoscaler
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import Node, Setup
from kubeproof.controllers.cluster_autoscaler.drainability import Drainability
from kubeproof.controllers.cluster_autoscaler.expanders import Requests
from kubeproof.controllers.cluster_autoscaler.snapshot import (
    CANDIDATE,
    GHOST,
    THERE,
    NodeView,
    Pods,
    Simulator,
    Spot,
    World,
    order,
    replace_node,
)
from kubeproof.errors import LimitReached
from kubeproof.named_tuples import NamedTuple

MOST_AT_ONCE = 10  # max-scale-down-parallelism
MOST_DRAINS = 1  # max-drain-parallelism
MOST_PLANS = 20_000  # courses that one round of simulated removals may take
LONG_ENOUGH = 2  # NodeView.spare


class Unneeded(NamedTuple):
    """A node whose removal worked out."""

    place: int
    view: NodeView
    drains: int  # 0 if there is nothing to move
    is_risky: int  # budgets do not allow all its pods at once


Plan = tuple[Unneeded, ...]  # sorted


class Removal(NamedTuple):
    """What is deleted in one round."""

    empty: tuple[Unneeded, ...]
    drained: tuple[Unneeded, ...]  # at most one


class Planner:
    """Plans removals for one setup."""

    def __init__(
        self, layout: Layout, flags: ClusterAutoscaler, rules: Drainability, requests: Mapping[int, Requests]
    ) -> None:
        self._layout = layout
        self._flags = flags
        self._rules = rules
        self._requests = requests

    # -- which nodes may be looked at -----------------------------------------------------------

    def candidates(self, world: World) -> World:
        """The world with the nodes marked whose removal is to be simulated."""
        return order((self._candidate(spot), count) for spot, count in world)

    def _candidate(self, spot: Spot) -> Spot:
        if spot.role != THERE or spot.view is None or not self._is_eligible(spot):
            return spot
        is_empty = not self._find_moved(spot) and not self._blocks(spot, ())
        return spot._replace(role=CANDIDATE + 2 * (not is_empty) + (spot.view.spare == 0))

    def _is_eligible(self, spot: Spot) -> bool:
        node, view = self._layout.places[spot.source].sample, spot.view
        assert view is not None, spot
        if not node.group or node.keeps or (not view.is_ready and not self._flags.removes_unready):
            return False
        return utilization(self._layout.setup, node, self._staying(spot), self._requests, self._flags) <= Fraction(
            self._flags.utilization_permille, 1000
        )

    def _staying(self, spot: Spot) -> Pods:
        """The pods that count; those that hang on a dead node in their termination do not."""
        assert spot.view is not None, spot
        if not spot.view.is_dead:
            return spot.pods
        return tuple(one._replace(terminating=0) for one in spot.pods if one.alive)

    def _find_moved(self, spot: Spot) -> dict[int, int]:
        """The pods that need another node."""
        return {
            one.workload: one.alive + one.terminating
            for one in self._staying(spot)
            if self._rules.is_moved(one.workload) and one.alive + one.terminating
        }

    def _blocks(self, spot: Spot, allowed: Sequence[int]) -> bool:
        left = allowed or (1,) * len(self._layout.setup.budgets)
        return any(self._rules.find_blocker(workload, left) for workload in self._find_moved(spot))

    def list_blocked(self, world: World, allowed: tuple[int, ...]) -> Iterator[tuple[int, str]]:
        """Nodes that could go for what they are used, and the pods that may not be moved from there."""
        for spot, _ in world:
            if spot.role != THERE or spot.view is None or not self._is_eligible(spot):
                continue
            for workload in self._find_moved(spot):
                if why := self._rules.find_blocker(workload, allowed):
                    yield spot.source, f"a pod of {self._layout.setup.workloads[workload].ref} may not be moved: {why}"

    # -- one removal after the other ------------------------------------------------------------

    def plans(self, simulator: Simulator, world: World, allowed: tuple[int, ...]) -> frozenset[Plan]:
        """The sets of nodes that a round may find unneeded."""
        found: set[Plan] = set()
        frontier: set[tuple[World, tuple[int, ...], Plan]] = {(self.candidates(world), allowed, ())}
        seen = set(frontier)
        while frontier:
            now, left, plan = frontier.pop()
            first = min((spot.role for spot, _ in now if spot.role >= CANDIDATE), default=None)
            if first is None:
                found.add(plan)
                continue
            for spot in [spot for spot, _ in now if spot.role == first]:
                for after in self._try_removal(simulator, now, spot, left, plan):
                    if after not in seen:
                        seen.add(after)
                        frontier.add(after)
            if len(seen) > MOST_PLANS:
                raise LimitReached(f"more than {MOST_PLANS} ways for the cluster autoscaler to find nodes unneeded")
        return frozenset(found)

    def _try_removal(
        self, simulator: Simulator, world: World, spot: Spot, allowed: tuple[int, ...], plan: Plan
    ) -> Iterator[tuple[World, tuple[int, ...], Plan]]:
        """What may come of simulating one removal (`SimulateNodeRemoval`)."""
        stays = (replace_node(world, spot, spot._replace(role=THERE)), allowed, plan)
        if self._blocks(spot, allowed):
            yield stays
            return
        moved = self._find_moved(spot)
        ghost = spot._replace(role=GHOST, pods=tuple(one for one in spot.pods if one.workload not in moved))
        emptied = replace_node(world, spot, ghost)
        for after, lost in simulator.pack(emptied, moved, _takes_pods, all_or_nothing=True):
            if lost:
                yield stays
            else:
                yield self._remove(replace_node(after, ghost), spot, moved, allowed, plan)

    def _remove(
        self, world: World, spot: Spot, moved: dict[int, int], allowed: tuple[int, ...], plan: Plan
    ) -> tuple[World, tuple[int, ...], Plan]:
        assert spot.view is not None, spot
        left = allowed
        for workload, pods in moved.items():
            left = self._rules.charge(workload, pods, left)
        is_risky = int(any(after < 0 and after < before for before, after in zip(allowed, left, strict=True)))
        one = Unneeded(spot.source, spot.view, int(bool(moved)), is_risky)
        return world, left, tuple(sorted((*plan, one), key=repr))

    # -- deletions ------------------------------------------------------------------------------

    def removals(self, plan: Plan, room: Mapping[str, int], leaving: int) -> Iterator[Removal]:
        """Every choice of nodes to delete now.

        `room` is by how much each group may shrink, `leaving` how many nodes are being drained already.
        """
        due = [one for one in plan if one.view.spare == LONG_ENOUGH]
        empty = [one for one in due if not one.drains]
        for chosen, left in dict.fromkeys(self._shrink(empty, _freeze(room), MOST_AT_ONCE - leaving)):
            drains = [one for one in due if one.drains and dict(left)[self._group(one)] > 0]
            calm = [one for one in drains if not one.is_risky] or drains
            may_drain = leaving < MOST_DRAINS and len(chosen) + leaving < MOST_AT_ONCE
            for one in dict.fromkeys(calm) if may_drain and calm else (None,):
                yield Removal(chosen, () if one is None else (one,))

    def _group(self, one: Unneeded) -> str:
        return self._layout.places[one.place].sample.group

    def _shrink(
        self, nodes: list[Unneeded], room: tuple[tuple[str, int], ...], most: int
    ) -> Iterator[tuple[tuple[Unneeded, ...], tuple[tuple[str, int], ...]]]:
        """Every choice of as many of the nodes as may go, with the room that is left."""
        left = dict(room)
        open_nodes = [one for one in nodes if left[self._group(one)] > 0]
        if not open_nodes or most < 1:
            yield (), room
            return
        for one in dict.fromkeys(open_nodes):
            rest = list(open_nodes)
            rest.remove(one)
            smaller = {**left, self._group(one): left[self._group(one)] - 1}
            for others, after in self._shrink(rest, _freeze(smaller), most - 1):
                yield tuple(sorted((one, *others), key=repr)), after


def _freeze(room: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(room.items()))


def _takes_pods(spot: Spot) -> bool:
    return spot.role == THERE or spot.role >= CANDIDATE


def utilization(
    setup: Setup, node: Node, pods: Pods, requests: Mapping[int, Requests], flags: ClusterAutoscaler
) -> Fraction:
    """The larger of the requested parts of CPU and memory (`utilization.Calculate`); 1 if the node has none of them."""
    used = [0, 0]
    daemons = [0, 0]
    for workload, alive, terminating in pods:
        is_apart = flags.ignores_daemon_sets and setup.workloads[workload].rules.runs_per_node
        for resource, amount in enumerate(requests[workload]):
            (daemons if is_apart else used)[resource] += amount * (alive + terminating)
    capacity = (node.cpu_milli - daemons[0], node.memory_bytes - daemons[1])
    if not all(amount > 0 for amount in (node.cpu_milli, node.memory_bytes, *capacity)):
        return Fraction(1)
    return max(Fraction(part, whole) for part, whole in zip(used, capacity, strict=True))
