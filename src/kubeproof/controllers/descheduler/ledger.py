"""What a cycle has evicted so far, and carrying out evictions under the policy's limits.

Equal nodes stay together as a count until evictions tell them apart. A pod evicted earlier in the cycle counts as
terminating for later plugins: upstream reads pods from a cache, which we take to have caught up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from kubeproof.cluster.policies import DeschedulerPolicy
from kubeproof.controllers.descheduler.choices import limited, selections, shared_out
from kubeproof.controllers.descheduler.scene import Scene
from kubeproof.controllers.descheduler.values import NodeLoss, Outcome, PodGroup, Version

TOTAL_LIMIT_SINCE = (0, 31)

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
    namespaces: tuple[tuple[str, int], ...]  # sorted

    @property
    def total(self) -> int:
        return sum(evicted for _, evicted in self.namespaces)


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


def merged(nodes: Iterable[tuple[NodeState, int]]) -> Nodes:
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


class Evictions:
    """Carries out planned evictions; all orders that upstream leaves open give outcomes of their own."""

    def __init__(self, scene: Scene, limits: Limits) -> None:
        self._scene = scene
        self._limits = limits

    def carry_out(self, ledger: Ledger, plan: Plan) -> frozenset[Ledger]:
        """All ledgers after the plan; blocks of one rank come in any order, node by node."""
        if self._within(ledger, plan):
            return self._at_once(plan)
        results: set[Ledger] = set()
        seen = {(ledger.namespaces, plan)}
        stack = list(seen)
        while stack:
            namespaces, pending = stack.pop()
            following = self._next_steps(namespaces, pending)
            if following is None:
                results.add(Ledger(merged((state, count) for state, _, count in pending), namespaces))
            else:
                new = [step for step in following if step not in seen]
                seen.update(new)
                stack += new
            limited(len(seen))
        return frozenset(results)

    def one(self, ledger: Ledger, state: NodeState, group: int) -> tuple[Ledger, NodeState] | None:
        """The ledger and the node after one more eviction there, None if a limit forbids it."""
        counts = dict(ledger.namespaces)
        name = self._namespace(state.entry, group)
        used = (sum(state.losses), counts.get(name, 0), ledger.total)
        if any(self._left(limit, number) == 0 for limit, number in zip(self._limits, used, strict=True)):
            return None
        counts[name] = counts.get(name, 0) + 1
        after = NodeState(state.entry, tuple(n + (index == group) for index, n in enumerate(state.losses)))
        nodes = merged((*((s, c - (s == state)) for s, c in ledger.nodes), (after, 1)))
        return Ledger(nodes, tuple(sorted(counts.items()))), after

    def _within(self, ledger: Ledger, plan: Plan) -> bool:
        """True if no limit can be reached."""
        if self._limits.unlimited:
            return True
        planned = [(state, sum(take.pods for b in work for take in b.takes), count) for state, work, count in plan]
        everywhere = sum(pods * count for _, pods, count in planned)
        most_per_namespace = max((evicted for _, evicted in ledger.namespaces), default=0) + everywhere
        return (
            all(pods <= self._left(self._limits.per_node, sum(state.losses)) for state, pods, _ in planned)
            and most_per_namespace <= self._left(self._limits.per_namespace, 0)
            and everywhere <= self._left(self._limits.total, ledger.total)
        )

    def _at_once(self, plan: Plan) -> frozenset[Ledger]:
        """All work is done, so only the choice of pods is open."""
        partial: set[tuple[tuple[NodeState, int], ...]] = {()}
        for state, work, count in plan:
            ends = sorted(self._ends(state, work))
            partial = {merged((*before, *share)) for before in partial for share in shared_out(count, ends)}
            limited(len(partial))
        return frozenset(Ledger(nodes, self._counted(nodes)) for nodes in partial)

    def _ends(self, state: NodeState, work: Work) -> set[NodeState]:
        """The states in which a node may end when all its work is done."""
        ends = {state}
        for block in work:
            for take in block.takes:
                ends = {after for before in ends for after in self._taken(before, take, take.pods)}
                limited(len(ends))
        return ends

    def _counted(self, nodes: Nodes) -> tuple[tuple[str, int], ...]:
        """Evictions by namespace."""
        counts: Counter[str] = Counter()
        for state, count in nodes:
            for group, pods in enumerate(state.losses):
                if pods:
                    counts[self._namespace(state.entry, group)] += pods * count
        return tuple(sorted(counts.items()))

    def _next_steps(
        self, namespaces: tuple[tuple[str, int], ...], pending: Plan
    ) -> list[tuple[tuple[tuple[str, int], ...], Plan]] | None:
        """What one more block leads to, or None if no work is left."""
        ranks = [block.rank for _, work, _ in pending for block in work]
        if not ranks:
            return None
        steps = []
        for state, work, count in pending:
            for block in sorted({block for block in work if block.rank == min(ranks)}):
                rest = _without(work, block)
                others = _replaced(pending, (state, work, count), (state, work, count - 1))
                for after, counts in self._done(state, dict(namespaces), block):
                    steps.append((counts, _joined((*others, (after, rest, 1)))))
        return steps

    def _done(
        self, state: NodeState, counts: dict[str, int], block: Block
    ) -> set[tuple[NodeState, tuple[tuple[str, int], ...]]]:
        """The node and the counts after as much of a block as the limits allow."""
        ends = {(state, tuple(sorted(counts.items())))}
        for take in block.takes:
            ends = {end for node, spent in ends for end in self._within_limits(node, dict(spent), take)}
        return ends

    def _within_limits(
        self, state: NodeState, counts: dict[str, int], take: Take
    ) -> Iterator[tuple[NodeState, tuple[tuple[str, int], ...]]]:
        """As many of the pods as the limits allow, one order after the other."""
        pods = min(take.pods, self._left(self._limits.per_node, sum(state.losses)))
        pods = min(pods, self._left(self._limits.total, sum(counts.values())))
        names = [self._namespace(state.entry, group) for group in take.groups]
        capacity = {name: self._left(self._limits.per_namespace, counts.get(name, 0)) for name in names}
        for after in self._maximal(state, take, names, capacity, pods):
            spent = dict(counts)
            for name, group in zip(names, take.groups, strict=True):
                lost = after.losses[group] - state.losses[group]
                if lost:
                    spent[name] = spent.get(name, 0) + lost
            yield after, tuple(sorted(spent.items()))

    def _maximal(
        self, state: NodeState, take: Take, names: list[str], capacity: dict[str, int], pods: int
    ) -> Iterator[NodeState]:
        """The node after evictions that no limit forbids and to which none could be added."""
        distinct = sorted(set(names))
        in_name = {
            name: self._remaining(state, [g for g, n in zip(take.groups, names, strict=True) if n == name])
            for name in distinct
        }
        for shares in selections([min(capacity[name], in_name[name]) for name in distinct], pods):
            ends = {state}
            for name, share in zip(distinct, shares, strict=True):
                groups = tuple(g for g, n in zip(take.groups, names, strict=True) if n == name)
                ends = {after for before in ends for after in self._taken(before, Take(groups, share), share)}
            yield from sorted(ends)

    def _taken(self, state: NodeState, take: Take, pods: int) -> Iterator[NodeState]:
        """The node after `pods` of the take's groups are gone, for every choice."""
        left = [self._remaining(state, (group,)) for group in take.groups]
        for chosen in selections(left, pods):
            losses = list(state.losses)
            for group, lost in zip(take.groups, chosen, strict=True):
                losses[group] += lost
            yield NodeState(state.entry, tuple(losses))

    def _remaining(self, state: NodeState, groups: Sequence[int]) -> int:
        return sum(self._scene.entries[state.entry].pods[group].pods - state.losses[group] for group in groups)

    def _left(self, limit: int | None, used: int) -> int:
        return 1 << 60 if limit is None else max(0, limit - used)

    def _namespace(self, entry: int, group: int) -> str:
        return self._scene.workload(self._scene.entries[entry].pods[group].workload).namespace


def plan_of(nodes: Nodes, work_of: Callable[[NodeState], Work]) -> Plan:
    """The plan in which all nodes of a state have the same work."""
    return _joined((state, work_of(state), count) for state, count in nodes)


def singles(plan: Plan) -> Plan:
    """The plan with every pod evicted on its own, so that nodes take turns."""
    return _joined(
        (state, tuple(Block(b.rank, (Take(t.groups, 1),)) for b in work for t in b.takes for _ in range(t.pods)), count)
        for state, work, count in plan
    )


def _joined(items: Iterable[tuple[NodeState, Work, int]]) -> Plan:
    counts: Counter[tuple[NodeState, Work]] = Counter()
    for state, work, count in items:
        counts[state, tuple(sorted(work))] += count
    return tuple(sorted((state, work, count) for (state, work), count in counts.items() if count))


def _without(work: Work, block: Block) -> Work:
    at = work.index(block)
    return work[:at] + work[at + 1 :]


def _replaced(
    plan: Plan, old: tuple[NodeState, Work, int], new: tuple[NodeState, Work, int]
) -> list[tuple[NodeState, Work, int]]:
    return [new if item == old else item for item in plan]
