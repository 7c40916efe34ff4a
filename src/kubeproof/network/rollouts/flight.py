"""One class of packets during a rollout: everything that can happen to one of them, shortest first.

A change elsewhere than where the packet is means nothing to it before it gets there, and nothing after it has left for
the last time. So a change is only made when the packet is where it is met: whatever order the others come in, there is
such a run with the same path. A stage ends when all of its changes have come. The search is Dijkstra's, by the number
of hops and of changes that the packet meets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from heapq import heappop, heappush
from itertools import count

from kubeproof.engine.components import cyclic_components
from kubeproof.named_tuples import NamedTuple
from kubeproof.network.model import ANY, Match, Network, Rule, Traffic
from kubeproof.network.properties.patterns import matches
from kubeproof.network.rollouts.changes import Change, Course, Rules
from kubeproof.network.rollouts.judges import Judge
from kubeproof.values import dataclass

HERE, DROPPED, DELIVERED, LOOP = "here", "dropped", "delivered", "loop"


@dataclass(frozen=True, slots=True)
class PacketClass:
    """Packets to one destination from sources that nothing tells apart."""

    traffic: Traffic
    sources: tuple[str, ...]
    destination: str


class At(NamedTuple):
    """Where a packet is, what the judge remembers, and how far the rollout is known to be."""

    node: str
    port: str | None
    memory: int
    hop: int
    path: int
    stage: int
    applied: int  # changes, as bits


class Taken(NamedTuple):
    """One step: a change (its number), the end of a stage (-1), or a hop (None)."""

    before: At | None
    change: int | None
    to: str | None = None  # of a hop


@dataclass(slots=True)
class Flight:
    """What a search found."""

    steps: dict[At, Taken]
    states: int = 0
    end: At | None = None  # where the bad thing happens
    how: str = ""
    onward: str | None = None  # where it must not go from there, if that is the bad thing
    loop: tuple[At, ...] = ()  # from `end` on, for a loop
    is_cut: bool = False  # by the limit
    cost: int = 0
    moves: dict[At, tuple[At, ...]] = field(default_factory=dict)


class Rollout:
    """The tables that one class of packets can meet."""

    def __init__(self, network: Network, course: Course, packets: PacketClass) -> None:
        self._network = network
        self.course = course
        self.packets = packets
        self._source = packets.sources[0]
        self.changes = course.changes
        self.at_node: dict[str, int] = {}
        self.of_stage = [0] * max(len(course.stages), 1)
        number = 0
        for place, stage in enumerate(course.stages):
            for change in stage:
                if self._concerns_change(change):
                    self.of_stage[place] |= 1 << number
                    for node in change.nodes:
                        self.at_node[node] = self.at_node.get(node, 0) | 1 << number
                number += 1
        self.last = len(self.of_stage) - 1
        self._links = _mask(number for number, change in enumerate(self.changes) if change.downs or change.ups)
        self._tables: dict[tuple[str, int], Rules] = {}
        self._ways: dict[tuple[str, str | None, int], tuple[tuple[str | None, Rule | None], ...]] = {}

    @property
    def relevant(self) -> int:
        """The changes that these packets can meet."""
        found = 0
        for mask in self.of_stage:
            found |= mask
        return found

    def asks_port(self, node: str) -> bool:
        """True if some rule that there ever is at the node asks where packets come from."""
        rules = [*self.course.base.tables.get(node, ())]
        rules += [rule for change in self.changes for edit in change.edits if edit.node == node for rule in edit.added]
        return any(rule.match.in_port != ANY for rule in rules)

    def ways(self, node: str, port: str | None, applied: int) -> tuple[tuple[str | None, Rule | None], ...]:
        """What can become of a packet at a node that is not its destination, after some changes."""
        local = applied & (self.at_node.get(node, 0) | self._links)
        key = (node, port, local)
        found = self._ways.get(key)
        if found is None:
            found = self._ways[key] = tuple(self._find_ways(node, port, local))
        return found

    def _find_ways(self, node: str, port: str | None, local: int) -> Iterator[tuple[str | None, Rule | None]]:
        fitting = [rule for rule in self._table(node, local) if self._enters(rule.match, port)]
        if not fitting:
            yield None, None
            return
        best = min((-rule.priority, rule.metric) for rule in fitting)
        down = self._down(local)
        found: dict[str | None, Rule] = {}
        for rule in fitting:
            if (-rule.priority, rule.metric) == best:
                for target in rule.to or (None,):
                    lost = target is None or frozenset((node, target)) in down
                    found.setdefault(None if lost else target, rule)
        yield from found.items()

    def _table(self, node: str, local: int) -> Rules:
        key = (node, local & self.at_node.get(node, 0))
        if key not in self._tables:
            rules = self.course.base.tables.get(node, ())
            for number in bits_of(key[1]):
                for edit in self.changes[number].edits:
                    rules = edit.apply(rules) if edit.node == node else rules
            self._tables[key] = tuple(rule for rule in rules if self._concerns(rule.match))
        return self._tables[key]

    def _down(self, local: int) -> frozenset[frozenset[str]]:
        down = self.course.base.down
        for number in bits_of(local & self._links):
            down = (down | self.changes[number].downs) - self.changes[number].ups
        return down

    def _concerns_change(self, change: Change) -> bool:
        rules = (rule for edit in change.edits for rule in (*edit.removed, *edit.added))
        return bool(change.downs or change.ups) or any(self._concerns(rule.match) for rule in rules)

    def _concerns(self, match: Match) -> bool:
        traffic, addresses = self.packets.traffic, self._network.addresses
        goal = self.packets.destination
        return (
            match.protocol in (ANY, traffic.protocol)
            and match.group in (ANY, traffic.group)
            and matches(match.destination, goal, addresses[goal])
            and matches(match.source, self._source, addresses[self._source])
        )

    def _enters(self, match: Match, port: str | None) -> bool:
        if match.in_port == ANY:
            return True
        return port is not None and matches(match.in_port, port, self._network.addresses[port])


def bits_of(mask: int) -> Iterator[int]:
    """The numbers of the bits that are set, from the lowest."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def _mask(numbers: Iterator[int]) -> int:
    return sum(1 << number for number in numbers)


def fly(rollout: Rollout, judge: Judge, *, most_states: int = 1_000_000, wants_rounds: bool = False) -> Flight:
    """The shortest bad end of a packet, if there is one; `wants_rounds` looks for packets that go round only."""
    return _Search(rollout, judge, most_states, wants_rounds=wants_rounds).run()


class _Search:
    """Dijkstra's search over positions of the packet and of the rollout."""

    def __init__(self, rollout: Rollout, judge: Judge, most_states: int, *, wants_rounds: bool) -> None:
        self._rollout = rollout
        self._judge = judge
        self._most_states = most_states
        self._wants_rounds = wants_rounds
        self._goal = rollout.packets.destination
        self._asks = {node: rollout.asks_port(node) for node in self._nodes()}
        self._found = Flight({})
        self._cost: dict[At, int] = {}
        self._queue: list[tuple[int, int, At]] = []
        self._ticket = count()

    def _nodes(self) -> set[str]:
        found = set(self._rollout.course.base.tables)
        return found | {edit.node for change in self._rollout.changes for edit in change.edits}

    def run(self) -> Flight:
        for source in self._rollout.packets.sources:
            if source != self._goal:
                for memory in self._judge.initial:
                    self._reach(At(source, None, memory, 0, 0, 0, 0), Taken(None, None), 0)
        done: set[At] = set()
        while self._queue:
            cost, _, at = heappop(self._queue)
            if at in done:
                continue
            done.add(at)
            if len(done) > self._most_states:
                self._found.is_cut = True
                break
            how = self._expand(at, cost)
            if how and not self._wants_rounds:
                self._end(at, how)
                return self._found
        self._found.states = len(done)
        self._look_for_loops()
        return self._found

    def _end(self, at: At, how: str) -> None:
        self._found.end, self._found.how, self._found.states = at, how, len(self._cost)
        self._found.cost = self._cost[at]

    def _reach(self, at: At, taken: Taken, cost: int) -> None:
        if cost < self._cost.get(at, 1 << 60):
            self._cost[at] = cost
            self._found.steps[at] = taken
            heappush(self._queue, (cost, next(self._ticket), at))

    def _expand(self, at: At, cost: int) -> str:
        """What comes next; how it ends badly here, if it does."""
        judge, here = self._judge, at.node
        after = judge.read(at.memory, here, at.hop, at.path)
        if not after:
            return HERE if judge.falls_out else ""
        if here == self._goal:
            return DELIVERED if any(judge.is_bad_at_goal(one, at.hop, at.path) for one in after) else ""
        self._wait(at, cost)
        ways = self._rollout.ways(here, at.port, at.applied)
        onward = []
        for number, (to, _) in enumerate(ways):
            for memory in after:
                bad, memory = judge.move(memory, here, at.port, to, at.hop, at.path)
                if bad:
                    self._found.onward = to
                    return DROPPED if to is None else HERE
                if to is not None:
                    onward.append(self._next(at, to, memory, number if len(ways) > 1 else None))
        for to_at in onward:
            self._reach(to_at, Taken(at, None, to_at.node), cost + 1)
        self._found.moves[at] = tuple(onward)
        return ""

    def _next(self, at: At, to: str, memory: int, choice: int | None) -> At:
        judge = self._judge
        path = min(choice + 1, judge.most_paths) if choice is not None and at.path == 0 else at.path
        port = at.node if self._asks.get(to) or judge.asks_port else ""
        return At(to, port, memory, min(at.hop + 1, judge.most_hops), path, at.stage, at.applied)

    def _wait(self, at: At, cost: int) -> None:
        """Changes that come while the packet is here."""
        rollout = self._rollout
        open_here = rollout.of_stage[at.stage] & rollout.at_node.get(at.node, 0) & ~at.applied
        for number in bits_of(open_here):
            self._reach(at._replace(applied=at.applied | 1 << number), Taken(at, number), cost + 1)
        if at.stage < rollout.last:
            rest = rollout.of_stage[at.stage] & ~at.applied
            after = at._replace(stage=at.stage + 1, applied=at.applied | rest)
            self._reach(after, Taken(at, -1), cost + rest.bit_count())

    def _look_for_loops(self) -> None:
        """Packets that go round for ever once the rollout is over; or, if asked, while it stands still somewhere."""
        moves = self._found.moves
        kept = moves if self._wants_rounds else {at: out for at, out in moves.items() if self._is_over(at)}
        inside = {at: [to for to in out if to in kept] for at, out in kept.items()}
        find = _find_cycles if self._wants_rounds else self._judge.bad_cycles
        loops = find(inside)
        best: tuple[int, At, tuple[At, ...]] | None = None
        for states in loops:
            at = min(states, key=lambda one: self._cost[one])
            door = at if self._wants_rounds else self._judge.pick_door(states, at, self._cost)
            if best is None or self._cost[door] < best[0]:
                best = self._cost[door], door, tuple(_round(door, inside, set(states)))
        if best is not None:
            self._end(best[1], LOOP)
            self._found.loop = best[2]

    def _is_over(self, at: At) -> bool:
        rollout = self._rollout
        local = rollout.at_node.get(at.node, 0)
        return at.stage == rollout.last and at.applied & local == local


def _find_cycles(arrows: Mapping[At, Sequence[At]]) -> list[list[At]]:
    return cyclic_components(arrows, arrows.__getitem__)


def _round(door: At, arrows: dict[At, list[At]], inside: set[At]) -> list[At]:
    """Once round: the states after the door, up to the door again."""
    parent: dict[At, At] = {}
    pending = [door]
    for at in pending:
        for to in arrows[at]:
            if to == door:
                path = [at]
                while path[-1] != door:
                    path.append(parent[path[-1]])
                return [*path[::-1][1:], door]
            if to in inside and to not in parent:
                parent[to] = at
                pending.append(to)
    return []
