"""Small systems for tests of the engine: graphs drawn by hand, and counters side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kubeproof.engine.system import Actor, Effect, Observer, Role, Turn


class Edge(NamedTuple):
    """A step from one named node to another."""

    source: str
    target: str
    actor: str = "worker"
    role: int = Role.URGENT
    tags: int = 0


@dataclass(frozen=True)
class Drawer:
    """The actor that takes the edges drawn for it."""

    name: str
    edges: tuple[Edge, ...]
    stage: int = Turn.ALWAYS
    reads: tuple[int, ...] = (1,)

    def view(self, position: int, cell: object) -> object:
        return cell

    def act(self, views: tuple[object, ...]) -> Sequence[Effect]:
        return [
            Effect(edge.role, edge.tags, ((1, edge.target),), f"{edge.source} -> {edge.target}")
            for edge in self.edges
            if edge.source == views[0]
        ]


@dataclass(frozen=True)
class Facts:
    """An observer that knows the flags of the node it is in."""

    of_node: Mapping[str, int] = field(default_factory=dict)
    reads: tuple[int, ...] = (1,)

    def view(self, position: int, cell: Any) -> int:
        return self.of_node.get(cell, 0)

    def observe(self, memory: object, views: tuple[object, ...]) -> object:
        return ("flags", views[0])

    def flags(self, memory: Any) -> int:
        return int(memory[1])


@dataclass(frozen=True)
class Drawing:
    """A state graph drawn edge by edge; every node is a state."""

    edges: tuple[Edge, ...]
    starts: tuple[str, ...] = ("a",)
    bad: Mapping[str, int] = field(default_factory=dict)
    symmetric: tuple[()] = ()
    promised: frozenset[int] = frozenset()

    @property
    def initial(self) -> tuple[tuple[object, ...], ...]:
        return tuple((None, start) for start in self.starts)

    @property
    def actors(self) -> tuple[Actor, ...]:
        names = dict.fromkeys(edge.actor for edge in self.edges)
        return tuple(Drawer(name, tuple(e for e in self.edges if e.actor == name)) for name in names)

    @property
    def observer(self) -> Observer:
        return Facts(self.bad)

    def edit(self, slot: int, cell: object, operation: Any) -> Sequence[object]:
        return [operation]


@dataclass(frozen=True)
class Scripted:
    """An actor given as a function of its views."""

    name: str
    reads: tuple[int, ...]
    function: Any
    stage: int = Turn.ALWAYS

    def view(self, position: int, cell: object) -> object:
        return cell

    def act(self, views: tuple[object, ...]) -> Sequence[Effect]:
        return list(self.function(*views))


@dataclass(frozen=True)
class Remembering:
    """An observer given as functions."""

    reads: tuple[int, ...] = ()
    remember: Any = None  # (memory, *views) -> memory
    facts: Any = None  # memory -> flags

    def view(self, position: int, cell: object) -> object:
        return cell

    def observe(self, memory: object, views: tuple[object, ...]) -> object:
        return self.remember(memory, *views) if self.remember else "nothing"

    def flags(self, memory: object) -> int:
        return int(self.facts(memory)) if self.facts else 0


@dataclass(frozen=True)
class Cells:
    """Slots with numbers. Operations are functions of the cell: ("add", n), ("set", n, ...)."""

    initial: tuple[tuple[object, ...], ...]
    actors: tuple[Actor, ...] = ()
    observer: Observer = Remembering()
    symmetric: tuple[tuple[tuple[int, ...], ...], ...] = ()
    promised: frozenset[int] = frozenset()

    def edit(self, slot: int, cell: Any, operation: Any) -> Sequence[object]:
        word, *numbers = operation
        return [cell + number for number in numbers] if word == "add" else numbers


def effect(*edits: tuple[int, object], role: int = Role.URGENT, tags: int = 0, label: str = "") -> Effect:
    """An effect of the given edits."""
    return Effect(role, tags, edits, label)


def counter(slot: int, top: int, *, role: int = Role.URGENT, stage: int = Turn.ALWAYS) -> Scripted:
    """An actor that raises one slot by one up to a top."""
    return Scripted(
        f"counter-{slot}",
        (slot,),
        lambda number: [effect((slot, ("add", 1)), role=role)] if number < top else [],
        stage,
    )


def explored(kernel: Any, system: Any, max_states: int = 10_000) -> Any:
    """The kernel after a whole search."""
    for cells in system.initial:
        kernel.add_initial(cells)
    while not kernel.run(3, max_states):
        pass
    return kernel
