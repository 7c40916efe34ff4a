"""What is asked of one packet during a rollout: a property's machine, or that it meets one configuration only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from kubeproof.engine.components import cyclic_components
from kubeproof.network.properties.letters import Letters
from kubeproof.network.properties.machine import Ending, Machine, Prepared

if TYPE_CHECKING:
    from kubeproof.network.rollouts.flight import At, Rollout

Arrows = Mapping["At", Sequence["At"]]


class Judge(Protocol):
    """Follows one packet; a memory is a number."""

    initial: tuple[int, ...]
    falls_out: bool  # having nothing to go on with is bad
    most_hops: int
    most_paths: int
    asks_port: bool  # positions that differ in where the packet came from must stay apart

    def read(self, memory: int, node: str, hop: int, path: int) -> tuple[int, ...]:
        """The memories after the packet is at a node."""

    def move(self, memory: int, node: str, port: str | None, to: str | None, hop: int, path: int) -> tuple[bool, int]:
        """Whether it is bad to go there, None for a drop, and the memory after that."""

    def is_bad_at_goal(self, memory: int, hop: int, path: int) -> bool:
        """True if it is bad to be at the destination, and nothing more happens."""

    def bad_cycles(self, arrows: Arrows) -> list[list[At]]:
        """Sets of states within which a packet may go round for ever, and must not."""

    def pick_door(self, states: list[At], nearest: At, costs: dict[At, int]) -> At:
        """The state from which the round is shown."""


class MachineJudge:
    """A machine of a property."""

    asks_port = False

    def __init__(self, prepared: Prepared, machine: Machine, letters: Letters, source: str, goal: str) -> None:
        self._machine = machine
        self._letters = letters
        self._source = source
        self._goal = goal
        self._stutter = prepared.property.stutter
        self.initial = machine.initial
        self.falls_out = machine.is_deterministic
        self.most_hops, self.most_paths = prepared.most_hops, prepared.most_paths
        follows_liveness = machine is prepared.liveness or (prepared.has_liveness and prepared.liveness is None)
        self._bad = (Ending.OUT, Ending.BAD) if follows_liveness else (Ending.OUT,)
        self._follows_liveness = follows_liveness

    def read(self, memory: int, node: str, hop: int, path: int) -> tuple[int, ...]:
        return self._after(memory, self._read(node, hop, path, dropped=False))

    def move(self, memory: int, node: str, port: str | None, to: str | None, hop: int, path: int) -> tuple[bool, int]:
        if to is not None:
            return False, memory
        lost = self._read(node, hop, path, dropped=True)
        after = self._after(memory, lost)
        if not after:
            return self.falls_out, memory
        return any(self._machine.endings[one][lost[-1]] in self._bad for one in after), memory

    def is_bad_at_goal(self, memory: int, hop: int, path: int) -> bool:
        letter = self._stutter
        if letter is None:
            letter = self._read(self._goal, hop, path, dropped=False)[-1]
        return self._machine.endings[memory][letter] in self._bad

    def bad_cycles(self, arrows: Arrows) -> list[list[At]]:
        if not self._follows_liveness:
            return []
        accepting = self._machine.accepting
        if not self._machine.is_deterministic:
            found = cyclic_components(arrows, arrows.__getitem__)
            return [part for part in found if any(at.memory in accepting for at in part)]
        rest = {at: [to for to in out if to.memory not in accepting] for at, out in arrows.items()}
        rest = {at: out for at, out in rest.items() if at.memory not in accepting}
        return cyclic_components(rest, rest.__getitem__)

    def pick_door(self, states: list[At], nearest: At, costs: dict[At, int]) -> At:
        if self._machine.is_deterministic:
            return nearest
        return min((at for at in states if at.memory in self._machine.accepting), key=lambda at: costs[at])

    def _read(self, node: str, hop: int, path: int, *, dropped: bool) -> tuple[int, ...]:
        place = (node, node == self._source, hop, path, dropped, False)
        return self._letters.at(place)[0][0]

    def _after(self, memory: int, letters: tuple[int, ...]) -> tuple[int, ...]:
        states = {memory}
        for letter in letters:
            states = {target for one in states for target in self._machine.moves[one][letter]}
        return tuple(sorted(states))


class OneVersion:
    """Per-packet consistency: each packet goes as some one of the configurations would send it.

    The memory is the set of configurations that send packets the way it has gone so far.
    """

    falls_out = False
    most_hops = most_paths = 0
    asks_port = True

    def __init__(self, versions: Sequence[Rollout]) -> None:
        self._versions = versions
        self.initial: tuple[int, ...] = ((1 << len(versions)) - 1,)

    def read(self, memory: int, node: str, hop: int, path: int) -> tuple[int, ...]:
        return (memory,)

    def move(self, memory: int, node: str, port: str | None, to: str | None, hop: int, path: int) -> tuple[bool, int]:
        for number, version in enumerate(self._versions):
            if memory >> number & 1 and all(way != to for way, _ in version.ways(node, port, 0)):
                memory &= ~(1 << number)
        return not memory, memory

    def is_bad_at_goal(self, memory: int, hop: int, path: int) -> bool:
        return False

    def bad_cycles(self, arrows: Arrows) -> list[list[At]]:
        return []

    def pick_door(self, states: list[At], nearest: At, costs: dict[At, int]) -> At:
        return nearest


class Wanderer:
    """Asks nothing; for packets that go round."""

    falls_out = False
    most_hops = most_paths = 0
    asks_port = False
    initial: tuple[int, ...] = (0,)

    def read(self, memory: int, node: str, hop: int, path: int) -> tuple[int, ...]:
        return (memory,)

    def move(self, memory: int, node: str, port: str | None, to: str | None, hop: int, path: int) -> tuple[bool, int]:
        return False, memory

    def is_bad_at_goal(self, memory: int, hop: int, path: int) -> bool:
        return False

    def bad_cycles(self, arrows: Arrows) -> list[list[At]]:
        return []

    def pick_door(self, states: list[At], nearest: At, costs: dict[At, int]) -> At:
        return nearest
