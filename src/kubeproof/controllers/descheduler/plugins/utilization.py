"""LowNodeUtilization and HighNodeUtilization: what they share, and the evictions they make.

Mirrors `plugins/nodeutilization` for usage by requests; usage by metrics is not modelled. Templates do not know
limits, so Burstable and Guaranteed pods are taken to be in no order, after BestEffort ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from kubeproof.cluster.api import versions
from kubeproof.cluster.labels import tolerates_all
from kubeproof.cluster.nodes.near_nodes import agree
from kubeproof.cluster.objects import Container
from kubeproof.cluster.steering.priorities import priority_of
from kubeproof.controllers.descheduler.choices import check_limit
from kubeproof.controllers.descheduler.ledger import Ledger, NodeState, alive
from kubeproof.controllers.descheduler.protocol import Context
from kubeproof.controllers.descheduler.scene import PODS, Scene
from kubeproof.controllers.descheduler.values import PodGroup
from kubeproof.controllers.scheduler.requests import CPU, MEMORY, allocatable
from kubeproof.named_tuples import NamedTuple

BASIC = (CPU, MEMORY, PODS)
PERCENT_SINCE = versions.PERCENT.since
OVERHEAD_ALWAYS_SINCE = versions.OVERHEAD_ALWAYS.since
LEAST_INT64 = -(2**63)

Amounts = Mapping[str, int]
Thresholds = Mapping[str, float]


class Balancing(NamedTuple):
    """Where the evictions are: the ledger, nodes already visited, what the destinations can still take."""

    ledger: Ledger
    visited: tuple[NodeState, ...]  # as they are now, sorted
    budget: tuple[tuple[str, int], ...]


class Sources(NamedTuple):
    """How pods are taken from source nodes."""

    entries: tuple[int, ...]
    destinations: tuple[int, ...]
    emptiest_first: bool
    down_to: Mapping[int, Amounts] | None  # stop when usage is at or below these amounts; None: empty the node
    budget: Amounts
    per_node: int | None  # limit of this plugin
    only_requesting: tuple[str, ...]  # if any: pods must request one of these resources


def capacity(scene: Scene, entry: int) -> dict[str, int]:
    """What one node of the entry offers, pods included."""
    node = scene.entries[entry].node
    return {**dict(agree(node, lambda size: tuple(sorted(allocatable(size).items())))), PODS: node.pods}


def usage(scene: Scene, entry: int, names: tuple[str, ...]) -> dict[str, int]:
    """What the pods of one node of the entry request."""
    used = scene.usage[entry]
    return {name: used.pods if name == PODS else used.requested.get(name, 0) for name in names}


def percentages(scene: Scene, entry: int, names: tuple[str, ...]) -> dict[str, float]:
    """Usage in percent of what is allocatable; 0 where nothing is."""
    offered = capacity(scene, entry)
    used = usage(scene, entry, names)
    return {n: used[n] / offered[n] * 100 if offered.get(n) else 0.0 for n in names}


def amount_of(percent: float, offered: int) -> int:
    """A threshold as an amount, truncated; "not a number" becomes the least integer, as on amd64."""
    return LEAST_INT64 if math.isnan(percent) else int(percent * 0.01 * offered)


def resource_names(thresholds: Thresholds) -> tuple[str, ...]:
    """The resources that are added up: those with thresholds, and cpu, memory and pods."""
    return tuple(sorted({*thresholds, *BASIC}))


class EvictionRun:
    """Takes pods from the source nodes one after the other while the destinations have budget."""

    def __init__(self, context: Context, sources: Sources, names: tuple[str, ...]) -> None:
        self._context = context
        self._scene = context.scene
        self._sources = sources
        self._names = names

    def run(self, ledger: Ledger) -> frozenset[Ledger]:
        """All ledgers: nodes by usage, equal ones in any order; pods by QoS, equal ones in any order."""
        states = {Balancing(ledger, (), tuple(sorted(self._sources.budget.items())))}
        for entries in self._by_usage():
            for _ in range(self._scene.node_count(entries)):
                states = {after for before in states for after in self._next_node(before, entries)}
                check_limit(len(states))
        return frozenset(state.ledger for state in states)

    def _by_usage(self) -> list[tuple[int, ...]]:
        """Source entries by raw usage, which memory dominates: bytes, millicores and pods are just added."""
        totals: dict[int, list[int]] = {}
        for entry in self._sources.entries:
            totals.setdefault(sum(usage(self._scene, entry, self._names).values()), []).append(entry)
        ordered = sorted(totals, reverse=not self._sources.emptiest_first)
        return [tuple(totals[total]) for total in ordered]

    def _next_node(self, progress: Balancing, entries: tuple[int, ...]) -> Iterator[Balancing]:
        """Any node of the entries that has not been visited."""
        visited = list(progress.visited)
        for state, count in progress.ledger.nodes:
            if state.entry in entries and count > visited.count(state):
                yield from self._from_node(progress, state)

    def _from_node(self, progress: Balancing, state: NodeState) -> Iterator[Balancing]:
        """The progress after one node."""
        seen = {(progress.ledger, state, progress.budget)}
        stack = list(seen)
        while stack:
            ledger, node, budget = stack.pop()
            following = [] if self._stops(state, node, dict(budget)) else self._next_pod(ledger, state, node, budget)
            if not following:
                yield Balancing(ledger, tuple(sorted((*progress.visited, node))), budget)
            new = [step for step in following if step not in seen]
            seen.update(new)
            stack += new

    def _next_pod(
        self, ledger: Ledger, start: NodeState, node: NodeState, budget: tuple[tuple[str, int], ...]
    ) -> list[tuple[Ledger, NodeState, tuple[tuple[str, int], ...]]]:
        """What the next eviction on the node leads to; none if nothing is left or a limit is reached."""
        if self._sources.per_node is not None and sum(node.losses) - sum(start.losses) >= self._sources.per_node:
            return []
        movable = [(self._quality(g), index, g) for index, g, _ in alive(self._scene, node) if self._may_go(g, node)]
        for quality in sorted({quality for quality, _, _ in movable}):
            steps = []
            for _, index, group in (item for item in movable if item[0] == quality):
                after = self._context.evictions.one(ledger, node, index)
                if after is not None:
                    steps.append((*after, self._less(budget, group)))
            if steps:
                return steps
        return []

    def _may_go(self, group: PodGroup, node: NodeState) -> bool:
        """Filter, tolerations of some destination, namespaces, PreEvictionFilter."""
        only = self._sources.only_requesting
        if group.failed or (only and not any(self._list_requests(group, name) for name in only)):
            return False
        if not self._context.evictor.may_evict(group) or not self._tolerates_some(group):
            return False
        chosen = self._context.arguments.open_nested("evictableNamespaces").texts("exclude")
        if self._scene.workload(group.workload).namespace in chosen:
            return False
        return self._context.evictor.may_evict_now(group, node.entry)

    def _tolerates_some(self, group: PodGroup) -> bool:
        """All taints of a destination, of any effect, with at least as many tolerations as it has taints."""
        tolerations = self._scene.template(group.workload).tolerations
        taints = (self._scene.entries[entry].taints for entry in self._sources.destinations)
        return any(len(tolerations) >= len(own) and tolerates_all(tolerations, own) for own in taints)

    def _quality(self, group: PodGroup) -> tuple[int, int]:
        """Low priorities go first, then BestEffort pods: no container requests cpu or memory."""
        requests = any(amount for name in (CPU, MEMORY) for amount in self._list_requests(group, name))
        return priority_of(self._scene.template(group.workload)), int(requests)

    def _list_requests(self, group: PodGroup, name: str) -> list[int]:
        """What the containers and init containers that state a request of the resource request."""
        template = self._scene.template(group.workload)
        stated = [_read_request(container, name) for container in (*template.containers, *template.init_containers)]
        return [amount for amount in stated if amount is not None]

    def _measure_freed(self, group: PodGroup, name: str) -> int:
        """What the eviction of a pod frees in upstream's books."""
        amount = 1 if name == PODS else self._scene.requests(group.workload).get(name, 0)
        overhead = dict(self._scene.template(group.workload).overhead).get(name, 0)
        forgets = self._scene.version < OVERHEAD_ALWAYS_SINCE and amount == overhead
        return 0 if forgets and name != PODS else amount

    def _less(self, budget: tuple[tuple[str, int], ...], group: PodGroup) -> tuple[tuple[str, int], ...]:
        return tuple((name, left - self._measure_freed(group, name)) for name, left in budget)

    def _stops(self, start: NodeState, node: NodeState, budget: Amounts) -> bool:
        """True if the budget is spent, or the node is no longer over its target."""
        if any(left <= 0 for left in budget.values()):
            return True
        if self._sources.down_to is None:
            return False
        used = usage(self._scene, node.entry, self._names)
        for index, group in enumerate(self._scene.entries[node.entry].pods):
            gone = node.losses[index] - start.losses[index]
            for name in self._names if gone else ():
                used[name] -= self._measure_freed(group, name) * gone
        target = self._sources.down_to[node.entry]
        return all(used[name] <= target[name] for name in self._names)


def _read_request(container: Container, name: str) -> int | None:
    """A container's request of a resource, None if it states none."""
    return {CPU: container.cpu_milli, MEMORY: container.memory_bytes, **dict(container.others)}.get(name)
