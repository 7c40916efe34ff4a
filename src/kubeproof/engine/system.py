"""What the engine explores: a vector of cells, actors that read views of cells, and edits of cells.

A state is a fixed-length vector of *cells* (any hashable values). An actor declares which slots it reads and
reduces each cell it reads to a *view*; it is then asked, for a tuple of views, which effects are possible.
Actors are pure, so the engine asks once per distinct tuple of views. An effect is a sequence of edits, each
of one slot; an edit may have several outcomes. Blocks of slots that are interchangeable are kept sorted.

The engine knows nothing of what cells mean.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Protocol

from kubeproof.named_tuples import NamedTuple

if TYPE_CHECKING:
    from kubeproof.engine.words import Words

Cell = Hashable
View = Hashable


class Turn(IntEnum):
    """When an actor is asked."""

    ALWAYS = 0
    IDLE = 1  # only when no urgent effect changes the state: the clock
    CALM = 2  # only when the state is stable: events that wait for it
    FIRST = 3  # before all others; if it changes the state, nobody else is asked: a step that may be taken alone


STAGE_ORDER = (Turn.FIRST, Turn.ALWAYS, Turn.IDLE, Turn.CALM)


class Role(IntEnum):
    """What kind of step an effect is."""

    URGENT = 0  # time stands still until it is taken
    OPTIONAL = 1  # may be taken now; time may pass meanwhile
    TIME = 2
    EVENT = 3  # by the environment: never needed for progress, left out of cycles


class Effect(NamedTuple):
    """One possible outcome of an actor's run."""

    role: int
    tags: int  # bit set, opaque here; checks of cycles ask for them
    edits: tuple[tuple[int, Hashable], ...]  # (slot, operation), applied in order
    label: Hashable  # for the reader of a trace


# A view as the engine keeps it: who makes such views of what, and the view, whose form the maker alone knows. It keeps
# one of equal values, and named tuples of equal content are equal. A plain pair: many are made, few are kept.
Marked = tuple[Hashable, Any]


class Actor(Protocol):
    """A pure function from views of some slots to effects.

    One that takes notes of what it is asked has a number `noted` that rises with them: a process that helps leaves
    such questions to the one that has the notes.
    """

    @property
    def name(self) -> str: ...

    @property
    def stage(self) -> int: ...

    @property
    def reads(self) -> tuple[int, ...]: ...

    def view(self, position: int, cell: Cell) -> View:
        """What this actor sees of the cell in slot `reads[position]`."""
        ...

    def act(self, views: tuple[View, ...]) -> Sequence[Effect]:
        """All effects possible for these views, in a fixed order."""
        ...


class Observer(Protocol):
    """Follows every run and remembers what the checks need; its memory is a cell of the state."""

    @property
    def reads(self) -> tuple[int, ...]: ...

    def view(self, position: int, cell: Cell) -> View: ...

    def observe(self, memory: Cell, views: tuple[View, ...]) -> Cell:
        """The memory after entering a state; `memory` is None before the first state."""
        ...

    def flags(self, memory: Cell) -> int:
        """The bit set of facts that checks ask for."""
        ...


class System(Protocol):
    """A finite transition system of cells. Slot 0 belongs to the observer."""

    @property
    def initial(self) -> Sequence[tuple[Cell, ...]]:
        """Initial vectors; their slot 0 is ignored."""
        ...

    @property
    def actors(self) -> Sequence[Actor]: ...

    @property
    def promised(self) -> frozenset[int]:
        """The actors, by number, that must not keep away for ever from what they may do.

        In cycles they count like those with urgent work; they hold nobody up.
        """
        ...

    @property
    def observer(self) -> Observer: ...

    @property
    def symmetric(self) -> Sequence[Sequence[tuple[int, ...]]]:
        """Families of interchangeable blocks; every block of a family has the same length."""
        ...

    def edit(self, slot: int, cell: Cell, operation: Hashable) -> Sequence[Cell]:
        """All outcomes of an operation on a cell, without repetition, in a fixed order."""
        ...


class Kind(IntEnum):
    """What makes a check fail. A *bad* state has the check's flag set."""

    NEVER = 0  # a reachable bad state
    STABLE = 1  # a stable bad state
    RECURRENT = 2  # a stable bad state, or a fair cycle through a bad state
    PERSISTENT = 3  # a stable bad state, or a fair cycle of bad states only, without edges tagged `tags`
    CYCLE = 4  # a fair cycle with an edge tagged `tags`
    STEP = 5  # a reachable step tagged `tags`
    WORD = 6  # a run that makes one of the check's `words`


class Check(NamedTuple):
    """A property in the engine's terms."""

    kind: int
    flag: int = 0  # bit number of "bad" in the observer's flags
    tags: int = 0
    relevant: int = -1  # bit number that must be seen somewhere, or the check is vacuous; -1: always relevant
    words: Words | None = None  # of Kind.WORD
    stronger: tuple[Words, ...] = ()  # if no run makes a word of one of these either, the check is vacuous


class Step(NamedTuple):
    """One transition out of a stored state."""

    actor: int
    effect: Effect
    target: int  # state number


class Progress(NamedTuple):
    """A look at a search under way."""

    states: int
    transitions: int
    frontier: int
    depth: int
    elapsed_s: float
    phase: str
    spilled_bytes: int = 0  # on a disk, since they do not fit into memory
    processes: int = 1  # that expand states
