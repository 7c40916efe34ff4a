"""Carrying out evictions under the policy's limits and under budgets: every order that is left open gives its outcome.

Every eviction is charged to allowances: its namespace's, for the limit per namespace, and that of a disruption budget.
A pod that finds one of them empty is passed over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from kubeproof.controllers.descheduler.budgets import NO_ALLOWANCES, Allowances
from kubeproof.controllers.descheduler.choices import check_limit, selections, share_out
from kubeproof.controllers.descheduler.ledger import (
    Block,
    Ledger,
    Limits,
    Nodes,
    NodeState,
    Plan,
    Take,
    Work,
    join,
    merge,
)
from kubeproof.controllers.descheduler.scene import Scene
from kubeproof.named_tuples import NamedTuple

Spent = tuple[tuple[str, int], ...]  # evictions by allowance, sorted
AllowancesOf = tuple[str, ...]  # the namespace, then perhaps a budget (namespace/name)

UNLIMITED = 1 << 60


class Evicted(NamedTuple):
    """What is evicted by allowance, and the nodes with the work that is left."""

    spent: Spent
    plan: Plan


class Chosen(NamedTuple):
    """Evictions chosen so far in one round: counts, nodes, and the allowances of pods that wait on some node."""

    spent: Spent
    plan: Plan
    waiting: frozenset[AllowancesOf]


Option = tuple[
    NodeState, tuple[AllowancesOf, ...]
]  # a node after its part of a round, and the allowances of waiting pods


class Evictions:
    """The hand that evicts."""

    def __init__(self, scene: Scene, limits: Limits, allowances: Allowances = NO_ALLOWANCES) -> None:
        self._scene = scene
        self._limits = limits
        self._budgets = allowances

    @property
    def unlimited(self) -> bool:
        """True if nothing is ever refused."""
        return self._limits.unlimited and not self._budgets.charged

    def node_by_node(self, ledger: Ledger, plan: Plan) -> frozenset[Ledger]:
        """All ledgers after the plan, one block after the other; blocks of one rank come in any order."""
        if self._within(ledger, plan):
            return self._at_once(plan)
        results: set[Ledger] = set()
        seen = {self._prune(Evicted(ledger.namespaces, plan))}
        stack = list(seen)
        while stack:
            progress = stack.pop()
            following = {self._prune(step) for step in self._next_blocks(progress)}
            if not following:
                results.add(Ledger(merge((state, count) for state, _, count in progress.plan), progress.spent))
            stack += following - seen
            seen |= following
            check_limit(len(seen))
        return frozenset(results)

    def pod_by_pod(self, ledger: Ledger, plan: Plan) -> frozenset[Ledger]:
        """All ledgers after the plan when pods of one rank come in any order, whatever node they are on."""
        if self._within(ledger, plan):
            return self._at_once(plan)
        rounds = {Evicted(ledger.namespaces, plan)}
        for rank in sorted({block.rank for _, work, _ in plan for block in work}):
            rounds = {after for before in rounds for after in self._round(before, rank)}
            check_limit(len(rounds))
        return frozenset(Ledger(merge((s, count) for s, _, count in end.plan), end.spent) for end in rounds)

    def one(self, ledger: Ledger, state: NodeState, group: int) -> tuple[Ledger, NodeState] | None:
        """The ledger and the node after one more eviction there, None if a limit forbids it."""
        spent = dict(ledger.namespaces)
        allowances = self._allowances(state.entry, group)
        if min(self._room_on_node(state), self._room_for(spent, allowances), self._room_in_all(spent)) == 0:
            return None
        after = self._without(state, ((group, 1),))
        nodes = merge((*((s, c - (s == state)) for s, c in ledger.nodes), (after, 1)))
        return Ledger(nodes, _add(spent, dict.fromkeys(allowances, 1))), after

    def _within(self, ledger: Ledger, plan: Plan) -> bool:
        """True if no limit can be reached, and no budget."""
        if self.unlimited:
            return True
        planned = [(state, _pods(work), count) for state, work, count in plan]
        everywhere = sum(pods * count for _, pods, count in planned)
        spent = dict(ledger.namespaces)
        return (
            all(pods <= self._room_on_node(state) for state, pods, _ in planned)
            and all(everywhere <= self._room_in(spent, name) for name in ("", *spent, *self._find_used()))
            and everywhere <= self._room_in_all(spent)
        )

    def _find_used(self) -> set[str]:
        """The budgets that some pod is charged to."""
        return set(self._budgets.charged.values())

    def _at_once(self, plan: Plan) -> frozenset[Ledger]:
        """All work is done, so only the choice of pods is open."""
        partial: set[Nodes] = {()}
        for state, work, count in plan:
            ends = sorted(self._ends(state, work))
            partial = {merge((*before, *share)) for before in partial for share in share_out(count, ends)}
            check_limit(len(partial))
        return frozenset(Ledger(nodes, self._count_by_allowance(nodes)) for nodes in partial)

    def _ends(self, state: NodeState, work: Work) -> set[NodeState]:
        """The states in which a node may end when all its work is done."""
        ends = {state}
        for block in work:
            for take in block.takes:
                ends = {after for before in ends for after in self._take(before, take.groups, take.pods)}
                check_limit(len(ends))
        return ends

    def _count_by_allowance(self, nodes: Nodes) -> Spent:
        """Evictions by allowance."""
        counts: Counter[str] = Counter()
        for state, count in nodes:
            for group, pods in enumerate(state.losses):
                for name in self._allowances(state.entry, group) if pods else ():
                    counts[name] += pods * count
        return tuple(sorted(counts.items()))

    def _prune(self, progress: Evicted) -> Evicted:
        """Without blocks that can evict nothing any more, so that their order does not matter."""
        spent = dict(progress.spent)

        def is_possible(state: NodeState, block: Block) -> bool:
            groups = {group for take in block.takes for group in take.groups}
            return any(self._room_for(spent, self._allowances(state.entry, group)) for group in groups)

        def leave(state: NodeState, work: Work) -> Work:
            if not min(self._room_on_node(state), self._room_in_all(spent)):
                return ()
            return tuple(block for block in work if is_possible(state, block))

        return Evicted(progress.spent, join((s, leave(s, work), count) for s, work, count in progress.plan))

    def _next_blocks(self, progress: Evicted) -> Iterator[Evicted]:
        """What one more block leads to, none if no work is left."""
        first = min((block.rank for _, work, _ in progress.plan for block in work), default=0)
        for item in progress.plan:
            state, work, count = item
            others = [(state, work, count - 1) if other == item else other for other in progress.plan]
            for block in {block for block in work if block.rank == first}:
                rest = list(work)
                rest.remove(block)
                for after, spent in self._do(state, progress.spent, block):
                    yield Evicted(spent, join((*others, (after, tuple(rest), 1))))

    def _do(self, state: NodeState, spent: Spent, block: Block) -> set[tuple[NodeState, Spent]]:
        """The node and the counts after as much of a block as the limits allow."""
        ends = {(state, spent)}
        for take in block.takes:
            ends = {end for node, counts in ends for end in self._within_limits(node, dict(counts), take)}
        return ends

    def _within_limits(self, state: NodeState, spent: dict[str, int], take: Take) -> Iterator[tuple[NodeState, Spent]]:
        """Any pods of the take, and of these as many as limits and budgets let go, in any order."""
        left = [self._count_left(state, (group,)) for group in take.groups]
        ends: set[tuple[NodeState, Spent]] = set()
        for chosen in selections(left, take.pods):
            for granted in self._grant(state, spent, take.groups, chosen):
                counts: Counter[str] = Counter()
                for group, pods in zip(take.groups, granted, strict=True):
                    counts.update(dict.fromkeys(self._allowances(state.entry, group), pods))
                ends.add((self._without(state, zip(take.groups, granted, strict=True)), _add(spent, counts)))
        yield from ends

    def _grant(
        self, state: NodeState, spent: dict[str, int], groups: tuple[int, ...], chosen: tuple[int, ...]
    ) -> list[tuple[int, ...]]:
        """The largest parts of the chosen pods that nothing forbids: who is asked for first gets what there is."""
        most = min(sum(chosen), self._room_on_node(state), self._room_in_all(spent))
        allowances = [self._allowances(state.entry, group) for group in groups]
        allowed = [
            granted
            for total in range(most, -1, -1)
            for granted in selections(chosen, total)
            if sum(granted) == total and self._is_covered(spent, allowances, granted)
        ]
        return [one for one in allowed if not any(_exceeds(other, one) for other in allowed)]

    def _is_covered(self, spent: dict[str, int], allowances: list[AllowancesOf], granted: tuple[int, ...]) -> bool:
        """True if no allowance is overdrawn."""
        needed: Counter[str] = Counter()
        for names, pods in zip(allowances, granted, strict=True):
            needed.update(dict.fromkeys(names, pods))
        return all(pods <= self._room_in(spent, name) for name, pods in needed.items())

    def _round(self, progress: Evicted, rank: int) -> set[Evicted]:
        """Everything after the pods of one rank: choices to which the limits let no other pod be added."""
        partial = {Chosen(progress.spent, (), frozenset())}
        for state, work, count in progress.plan:
            options = sorted(self._options(state, [block for block in work if block.rank == rank]))
            rest = tuple(block for block in work if block.rank != rank)
            shares = list(share_out(count, options))
            grown = (self._grow(before, state, rest, share) for before in partial for share in shares)
            partial = {after for after in grown if self._is_allowed(after)}
            check_limit(len(partial))
        return {Evicted(end.spent, join(end.plan)) for end in partial if self._is_complete(end)}

    def _options(self, state: NodeState, blocks: list[Block]) -> Iterator[Option]:
        """What may become of a node in a round, as far as its own limit goes."""
        wanted: Counter[int] = Counter()
        for take in (take for block in blocks for take in block.takes):
            for group in take.groups:  # several groups stand for all of their pods
                wanted[group] += take.pods if len(take.groups) == 1 else self._count_left(state, (group,))
        room = min(sum(wanted.values()), self._room_on_node(state))
        for pods in range(room + 1):
            for chosen in selections(list(wanted.values()), pods):
                taken = tuple(zip(wanted, chosen, strict=True))
                waiting = {self._allowances(state.entry, group) for group, lost in taken if lost < wanted[group]}
                is_full = pods == self._room_on_node(state)
                yield self._without(state, taken), () if is_full else tuple(sorted(waiting))

    def _grow(self, before: Chosen, state: NodeState, rest: Work, share: tuple[tuple[Option, int], ...]) -> Chosen:
        """The choice with one more kind of nodes decided."""
        counts: Counter[str] = Counter()
        for (after, _), nodes in share:
            for group, pods in enumerate(after.losses):
                for name in self._allowances(state.entry, group):
                    counts[name] += (pods - state.losses[group]) * nodes
        waiting = before.waiting.union(*(names for (_, names), _ in share))
        plan = (*before.plan, *((after, rest, nodes) for (after, _), nodes in share))
        return Chosen(_add(dict(before.spent), counts), plan, waiting)

    def _is_allowed(self, chosen: Chosen) -> bool:
        """True if no limit is exceeded, and no budget."""
        spent = dict(chosen.spent)
        total, each = self._limits.total, self._limits.per_namespace
        if total is not None and sum(self._by_namespace(spent)) > total:
            return False
        rooms = self._budgets.rooms
        most = {name: rooms.get(name, UNLIMITED if each is None else each) for name in spent}
        return all(pods <= most[name] for name, pods in spent.items())

    def _is_complete(self, chosen: Chosen) -> bool:
        """True if every pod that waits is held back by a limit or a budget."""
        spent = dict(chosen.spent)
        return not self._room_in_all(spent) or not any(
            self._room_for(spent, allowances) for allowances in chosen.waiting
        )

    def _take(self, state: NodeState, groups: tuple[int, ...], pods: int) -> Iterator[NodeState]:
        """The node after `pods` of the groups are gone, for every choice."""
        left = [self._count_left(state, (group,)) for group in groups]
        for chosen in selections(left, pods):
            yield self._without(state, zip(groups, chosen, strict=True))

    def _without(self, state: NodeState, taken: Iterable[tuple[int, int]]) -> NodeState:
        """The node with pods by group gone."""
        losses = list(state.losses)
        for group, pods in taken:
            losses[group] += pods
        return NodeState(state.entry, tuple(losses))

    def _count_left(self, state: NodeState, groups: Iterable[int]) -> int:
        """How many pods of the groups the node still has."""
        return sum(self._scene.entries[state.entry].pods[group].pods - state.losses[group] for group in groups)

    def _room_on_node(self, state: NodeState) -> int:
        """How many more evictions the node allows."""
        return _room(self._limits.per_node, sum(state.losses))

    def _room_in(self, spent: dict[str, int], name: str) -> int:
        """How many more evictions an allowance pays for."""
        limit = self._budgets.rooms.get(name, self._limits.per_namespace)
        return _room(limit, spent.get(name, 0))

    def _room_for(self, spent: dict[str, int], allowances: AllowancesOf) -> int:
        return min(self._room_in(spent, name) for name in allowances)

    def _room_in_all(self, spent: dict[str, int]) -> int:
        """How many more evictions the cycle allows."""
        return _room(self._limits.total, sum(self._by_namespace(spent)))

    def _by_namespace(self, spent: dict[str, int]) -> list[int]:
        """What was evicted, each pod once: budgets are charged beside their namespace."""
        return [pods for name, pods in spent.items() if name not in self._budgets.rooms]

    def _allowances(self, entry: int, group: int) -> AllowancesOf:
        namespace = self._scene.workload(self._scene.entries[entry].pods[group].workload).namespace
        charged = self._budgets.charged.get((entry, group))
        return (namespace,) if charged is None else (namespace, charged)


def _exceeds(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """True if one is at least the other everywhere, and not the same."""
    return one != other and all(a >= b for a, b in zip(one, other, strict=True))


def _room(limit: int | None, used: int) -> int:
    return UNLIMITED if limit is None else max(0, limit - used)


def _pods(work: Work) -> int:
    return sum(take.pods for block in work for take in block.takes)


def _add(spent: dict[str, int], more: dict[str, int]) -> Spent:
    """The counts with others added; zeros are left out."""
    names = sorted(spent.keys() | more.keys())
    sums = ((name, spent.get(name, 0) + more.get(name, 0)) for name in names)
    return tuple((name, pods) for name, pods in sums if pods)
