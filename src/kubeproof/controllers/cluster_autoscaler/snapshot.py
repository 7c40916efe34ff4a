"""The cluster as the autoscaler simulates it: nodes with pods that may be moved, and where a pod fits.

Mirrors the cluster snapshot with its predicate checks (`simulator/clustersnapshot` of kubernetes/autoscaler) and
`HintingSimulator.TrySchedulePods`: only the scheduler's filters are asked, never its scores, and nobody is preempted.
Upstream takes the first node that fits, in an order that depends on earlier rounds; here every node that fits may be
the one, so a simulation has several outcomes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from kubeproof.cluster.nodes.places import CORDONED, Layout
from kubeproof.controllers.scheduler.controller import Facts, node_info
from kubeproof.controllers.scheduler.framework import NodeInfo, PodCount, Scheduler
from kubeproof.errors import LimitReached
from kubeproof.named_tuples import NamedTuple

MOST_WORLDS = 20_000  # ways to pack pods that one simulation may lead to
Pods = tuple[PodCount, ...]
Counts = tuple[tuple[int, int], ...]  # (workload, pods), sorted, numbers positive

THERE = 0  # a node of the cluster
LEAVING = 1  # one that is being drained and deleted
COMING = 2  # one that was asked for
GHOST = 3  # one whose removal is simulated
CANDIDATE = 4  # from here on: a node whose removal is yet to be simulated, the lower the earlier


class Pending(NamedTuple):
    """A workload as the autoscaler sees it."""

    unbound: int  # pods without a node
    desired: int  # where a budget asks for it


class NodeView(NamedTuple):
    """A node as the autoscaler sees it."""

    facts: Facts  # as the scheduler sees it
    is_ready: int  # as the API tells
    is_dead: int  # its kubelet is silent, so that terminating pods stay
    is_leaving: int
    spare: int  # 0 needed, 1 unneeded, 2 for long enough
    ready: Counts  # ready pods, where a budget asks for them
    nominated: Counts = ()  # pods without a node that wait until others have made room here


class Spot(NamedTuple):
    """A node of the simulation; what it was at first, and the pods that it has now."""

    role: int
    source: int  # place
    view: NodeView | None  # None for a coming node
    pods: Pods


World = tuple[tuple[Spot, int], ...]  # equal nodes as (node, count), sorted


def order(world: Iterable[tuple[Spot, int]]) -> World:
    """The world with equal nodes counted together, in an order of its own."""
    amounts: dict[Spot, int] = {}
    for spot, count in world:
        amounts[spot] = amounts.get(spot, 0) + count
    return tuple(sorted(((s, n) for s, n in amounts.items() if n), key=repr))


def replace_node(world: World, old: Spot, *new: Spot) -> World:
    """The world with one node changed, or gone."""
    return order([*world, (old, -1), *((spot, 1) for spot in new)])


def with_pod(pods: Pods, workload: int, alive: int = 1) -> Pods:
    """The pods of a node with one more of a workload."""
    counts = {one.workload: one for one in pods}
    before = counts.get(workload, PodCount(workload, 0, 0))
    counts[workload] = before._replace(alive=before.alive + alive)
    return tuple(counts[number] for number in sorted(counts))


class Simulator:
    """Asks the scheduler's filters about a world."""

    def __init__(self, layout: Layout, kernel: Callable[[int], Scheduler]) -> None:
        self._layout = layout
        self._kernel = kernel  # of a workload, for claims bound as they are now
        self._known: dict[tuple[World, int], tuple[Spot, ...]] = {}

    def info(self, spot: Spot, count: int) -> NodeInfo:
        """A node as the filters take it; what is about to be deleted takes no pods."""
        if spot.view is None:
            node = self._layout.places[spot.source].sample
            return NodeInfo(node, count, node.unschedulable, node.taints, spot.pods)
        closed = CORDONED * (spot.role in (LEAVING, GHOST))
        told = spot.view.facts
        facts = told._replace(unwelcome=told.unwelcome | closed, pods=spot.pods)
        return node_info(self._layout, spot.source, facts, count)

    def fitting(self, world: World, workload: int) -> tuple[Spot, ...]:
        """The nodes of the world that a pod of the workload fits on."""
        key = (world, workload)
        found = self._known.get(key)
        if found is None:
            kernel = self._kernel(workload)
            infos = [self.info(spot, count) for spot, count in world]
            fits = kernel.has_profile and not kernel.lacks_nodes(infos)
            found = tuple(spot for index, (spot, _) in enumerate(world) if fits and kernel.admits(infos, index))
            self._known[key] = found
        return found

    def admits(self, infos: list[NodeInfo], index: int, workload: int) -> bool:
        """True if a pod of the workload fits on one of these nodes."""
        kernel = self._kernel(workload)
        return kernel.has_profile and not kernel.lacks_nodes(infos) and kernel.admits(infos, index)

    def find_refusal(self, infos: list[NodeInfo], index: int, workload: int) -> str:
        """The filter that keeps a pod of the workload from one of these nodes; "" if none does."""
        kernel = self._kernel(workload)
        return kernel.find_refusal(infos, index) if kernel.has_profile else "the lack of a profile"

    def pack(
        self, world: World, wanted: Mapping[int, int], accepts: Callable[[Spot], bool], *, all_or_nothing: bool = False
    ) -> frozenset[tuple[World, Counts]]:
        """Every way to put pods onto nodes, in any order, and the pods that find none.

        With `all_or_nothing` a way ends with the first pod that finds none: what is left then matters to nobody.
        """
        done: set[tuple[World, Counts]] = set()
        frontier: set[tuple[World, Counts, Counts]] = {(world, _counts(wanted), ())}
        seen = set(frontier)
        while frontier:
            now, left, lost = frontier.pop()
            if not left or (all_or_nothing and lost):
                done.add((now, lost))
                continue
            for index, (workload, count) in enumerate(left):
                rest = (*left[:index], *(((workload, count - 1),) if count > 1 else ()), *left[index + 1 :])
                spots = [spot for spot in self.fitting(now, workload) if accepts(spot)]
                after = [(replace_node(now, s, s._replace(pods=with_pod(s.pods, workload))), rest, lost) for s in spots]
                # Pods of one workload are alike: where one finds no node, none of them does.
                gone = (*left[:index], *left[index + 1 :])
                for one in after or [(now, gone, tuple(sorted((*lost, (workload, count)))))]:
                    if one not in seen:
                        seen.add(one)
                        frontier.add(one)
            if len(seen) > MOST_WORLDS:
                raise LimitReached(f"more than {MOST_WORLDS} ways to move pods in one round of the cluster autoscaler")
        return frozenset(done)


def _counts(wanted: Mapping[int, int]) -> Counts:
    return tuple(sorted((workload, count) for workload, count in wanted.items() if count))
