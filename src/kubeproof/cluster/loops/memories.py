"""Memories by name: whose each memory cell of a plan is, and what it holds.

Controllers and events know their memories by position. What looks at two plans at once (a part of an input and the
whole of it) finds the same memory in both by its name, wherever it stands. Whoever remembers something declares the
kind of its memory beside its code.
"""

from __future__ import annotations

from enum import Enum

from kubeproof.named_tuples import NamedTuple


class Holds(Enum):
    """What stands in a memory, and so what becomes of it where only a part of the input is looked at."""

    TIMES = "times, counts and flags: the same in every part"
    VOLUME = "the number of a volume, from 1 on; parts number theirs anew"


class MemoryKind(NamedTuple):
    """What several memories have in common."""

    name: str
    holds: Holds


class MemoryName(NamedTuple):
    """Whose memory it is; unique in a plan."""

    kind: MemoryKind
    of: tuple[str, ...] = ()  # name of the event, key of the claim, reference of the workload, ...


class MemoryCell(NamedTuple):
    """A memory with what it holds at first."""

    name: MemoryName
    first: tuple[int, ...]
