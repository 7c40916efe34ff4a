"""What an action or a recorded verb means to those who know none by name: `kubeproof.cluster.loops.actions` says it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

from kubeproof.cluster.loops.footprint import NOTHING, Clocks, Writes
from kubeproof.cluster.loops.tags import Tag, tag_of
from kubeproof.named_tuples import NamedTuple

if TYPE_CHECKING:
    from kubeproof.cluster.loops.actions import EvictedPods

A = TypeVar("A", bound=type)
UNTAGGED = Tag(0)
MOVES_PODS = Tag.PODS | Tag.PLACEMENT


class Meaning(NamedTuple):
    """What an action means; a function where that depends on more than its type."""

    writes: Writes | Callable[[Any], Writes]
    tags: int | Callable[[Any], int]  # of the step and of the action's workload; a function tells all bits itself
    does: str  # what somebody does who may ever decide it: "binds pods"; "": nobody is told of it
    clocks: Clocks = Clocks(0)  # that it starts, or waits for
    losers: Callable[[Any], Iterable[int]] | None = None  # the workloads that lose pods, if not its own
    picks: Callable[[Any], Iterable[EvictedPods]] | None = None  # of which pods of a node it hits some; None: of none


MEANINGS: dict[type, Meaning] = {}


def means(
    writes: Writes | Callable[[Any], Writes],
    tags: Tag | Callable[[Any], int],
    does: str,
    *,
    clocks: Clocks = Clocks(0),
    losers: Callable[[Any], Iterable[int]] | None = None,
    picks: Callable[[Any], Iterable[EvictedPods]] | None = None,
) -> Callable[[A], A]:
    """Declares what an action means."""

    def declare(kind: A) -> A:
        plain = tags if callable(tags) else int(tags)  # bits of flags are joined by Python, those of numbers are not
        MEANINGS[kind] = Meaning(writes, plain, does, clocks, losers, picks)
        return kind

    return declare


def writes_if(writes: Writes, condition: object) -> Writes:
    """What an action writes only sometimes."""
    return writes if condition else NOTHING


def tag(workload: int, tags: int) -> int:
    """The bits of a step that does this, overall and for a workload."""
    bits = int(tags)
    return bits | tag_of(workload, bits)


def tag_losers(losses: Iterable[tuple[Any, ...]], by: int) -> int:
    """The bits of a step by which somebody takes pods of several workloads."""
    tags = 0
    for workload, *_ in losses:
        tags |= tag(workload, MOVES_PODS | Tag.EVICT | by)
    return tags


class About(Enum):
    """What a step is about."""

    NODE = "the node, its first argument"
    WORKLOAD = "the workload, its first argument"
    POD = "the pod, or the first of the pods, that its first argument names"
    NOTHING = "nothing that has a name"


# What changes: a number is the argument that names pods, a text the object itself, with arguments by their number.
Changed = tuple[int | str, str, str]
SET = "set"  # a value that only says that there is one
REMOVED = "removed"  # said of an object: nothing of it is left
ENDS = ("deletionTimestamp", SET)
CREATED = ("", "created")


class Recorded(NamedTuple):
    """What is said of a recorded verb, with its arguments by number: names of pods as a list, `{1:revision}` from 1."""

    sentence: str  # after who acts; "": a function of `kubeproof.verify.words.steps` makes it
    about: About = About.NODE
    changes: tuple[Changed, ...] | None = ()  # None: a function makes them
    tells: str = ""  # of a simulated run, if that is worth telling


def write_out(template: str, arguments: Sequence[object], list_names: Callable[[tuple[str, ...]], str]) -> str:
    """The template with a verb's arguments; names of pods are listed as the caller does."""
    return template.format(*[_Argument(one, list_names) for one in arguments])


class _Argument:
    """An argument of a verb as it is written in a sentence."""

    def __init__(self, value: object, list_names: Callable[[tuple[str, ...]], str]) -> None:
        self._value, self._list_names = value, list_names

    def __format__(self, form: str) -> str:
        if isinstance(self._value, tuple):
            return self._list_names(self._value)
        return f"{self._value + 1}" if form == "revision" and isinstance(self._value, int) else f"{self._value}"
