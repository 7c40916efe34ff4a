"""What both kernels have in common: lessons, marks, weighed steps, and the checks they make."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from enum import IntEnum

from kubeproof.engine.system import Cell
from kubeproof.errors import ImpureControllerError, InternalError
from kubeproof.named_tuples import NamedTuple

FLAG_BITS = 62
Weigh = Callable[[int, Cell, Hashable], Sequence[float]]  # slot, cell, operation: one weight per outcome of the edit


class Lesson(IntEnum):
    """What a kernel learned from the system; asked again in the same order, the system teaches the same.

    The numbers of a question follow its kind, and last comes one about the answer.
    """

    INITIAL = 0  # the next initial state; number of cells known now
    VIEW = 1  # reader, position, cell; view
    ANSWER = 2  # actor, views; number of effects
    EDIT = 3  # slot, operation, cell; last outcome, -1 if there is none
    MEMORY = 4  # memory before, views; memory after


class Mark(NamedTuple):
    """A moment of a search. Stores only grow, so that a mark tells what they held then."""

    states: int
    expanded: int
    edges: int
    transitions: int
    levels: int
    level_end: int
    calls: int
    misses: int
    hits: int
    lessons: int  # length of the list of lessons
    cells: int
    views: int
    operations: int


class Weighed(NamedTuple):
    """Every step out of some states, with the number of ways in which it may be taken, as flat arrays of bytes."""

    degrees: bytes  # per state, how many steps follow; 32-bit numbers, as are the next three
    actors: bytes
    effects: bytes  # numbers in `effect_values`
    targets: bytes
    weights: bytes  # 64-bit floating point


def impure(actor: str) -> ImpureControllerError:
    """The error for an actor that gave two answers to one question."""
    return ImpureControllerError(
        f"E701 controller {actor} gave two answers for the same view. "
        "A controller must be a pure function of what it is shown: no clock, no randomness, no memory."
    )


def check_restored(found: Mark, told: Mark) -> None:
    """Compares what was restored with what was saved; ValueError if that is not the same search."""
    if (found.cells, found.views, found.operations) != (told.cells, told.views, told.operations):
        raise ValueError("the system does not answer as it did before")
    same = (found.states, found.expanded, found.edges, found.lessons)
    if same != (told.states, told.expanded, told.edges, told.lessons) or not 0 <= told.levels <= told.states:
        raise ValueError("a mark of another search")


def check_flags(flags: int) -> int:
    """The flags, if they fit."""
    if flags >> FLAG_BITS:
        raise InternalError(f"E700 flags {flags:#x} of a state exceed {FLAG_BITS} bits")
    return flags
