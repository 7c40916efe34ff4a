"""What a cycle has evicted so far, and what a plugin wants to evict.

Equal nodes stay together as a count until evictions tell them apart. A pod evicted earlier in the cycle counts as
terminating for later plugins: upstream reads pods from a cache, which we take to have caught up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from kubeproof.cluster.api import versions
from kubeproof.cluster.steering.policies import DeschedulerPolicy
from kubeproof.controllers.descheduler.scene import Scene
from kubeproof.controllers.descheduler.values import NodeLoss, Outcome, PodGroup, Version
from kubeproof.named_tuples import NamedTuple

TOTAL_LIMIT_SINCE = versions.TOTAL_LIMIT.since

Losses = tuple[int, ...]  # pods lost, by group


class NodeState(NamedTuple):
    """A node within the cycle."""

    entry: int
    losses: Losses


Nodes = tuple[tuple[NodeState, int], ...]  # sorted; how many nodes are in each state


class Limits(NamedTuple):
    """How many evictions a cycle may make; None: any number."""

    per_node: int | None
    per_namespace: int | None
    total: int | None

    @property
    def unlimited(self) -> bool:
        """True if there is no limit at all."""
        return self == Limits(None, None, None)


def limits_of(policy: DeschedulerPolicy, version: Version) -> Limits:
    """The policy's limits; the total one exists since 0.31."""
    total = policy.max_total if version >= TOTAL_LIMIT_SINCE else None
    return Limits(policy.max_per_node, policy.max_per_namespace, total)


class Take(NamedTuple):
    """Evict `pods` in all of these groups of a node; nothing tells which of them go."""

    groups: tuple[int, ...]
    pods: int


class Block(NamedTuple):
    """Evictions on one node that upstream makes without looking at another node; lower ranks come first."""

    rank: int
    takes: tuple[Take, ...]


Work = tuple[Block, ...]
Plan = tuple[tuple[NodeState, Work, int], ...]  # how many nodes of a state have which work


class Ledger(NamedTuple):
    """The nodes, and evictions counted for the limits."""

    nodes: Nodes
    namespaces: tuple[tuple[str, int], ...]  # by namespace and by budget, sorted


def opening(scene: Scene) -> Ledger:
    """Nothing is evicted yet."""
    nodes = ((NodeState(index, (0,) * len(entry.pods)), entry.count) for index, entry in enumerate(scene.entries))
    return Ledger(tuple(nodes), ())


def alive(scene: Scene, state: NodeState) -> tuple[tuple[int, PodGroup, int], ...]:
    """Groups of a node that were not terminating, with their index and what this cycle has left of them."""
    groups = enumerate(scene.entries[state.entry].pods)
    return tuple(
        (index, group, group.pods - state.losses[index])
        for index, group in groups
        if not group.terminating and group.pods > state.losses[index]
    )


def merge(nodes: Iterable[tuple[NodeState, int]]) -> Nodes:
    """Equal states joined, sorted."""
    counts: Counter[NodeState] = Counter()
    for state, count in nodes:
        counts[state] += count
    return tuple(sorted((state, count) for state, count in counts.items() if count))


def outcome_of(ledger: Ledger) -> Outcome:
    """The losses of all affected nodes."""
    losses = []
    for state, count in ledger.nodes:
        pairs = tuple((group, pods) for group, pods in enumerate(state.losses) if pods)
        losses += [NodeLoss(state.entry, pairs)] * count if pairs else []
    return tuple(sorted(losses))


def plan_of(nodes: Nodes, work_of: Callable[[NodeState], Work]) -> Plan:
    """The plan in which all nodes of a state have the same work."""
    return join((state, work_of(state), count) for state, count in nodes)


def join(items: Iterable[tuple[NodeState, Work, int]]) -> Plan:
    """The plan with equal nodes joined, sorted."""
    counts: Counter[tuple[NodeState, Work]] = Counter()
    for state, work, count in items:
        counts[state, tuple(sorted(work))] += count
    return tuple(sorted((state, work, count) for (state, work), count in counts.items() if count))
