"""Why a search ended before its time, as a value; `str` of it is what reports say."""

from __future__ import annotations

from enum import StrEnum

from kubeproof.errors import LimitReached
from kubeproof.values import complete, dataclass


class StopReason(StrEnum):
    """What kind of thing ended a search before all of it was explored."""

    INTERRUPT = "interrupt"  # somebody asked for it
    ALL_VIOLATED = "all-violated"  # nothing was left to decide
    STATES = "states"
    TIME = "time"
    MEMORY = "memory"
    DISK = "disk"  # what does not fit into memory does not fit there either
    TOO_MANY_WAYS = "too-many-ways"  # a loop has more ways to decide than are followed
    INTERNAL = "internal"  # a fault of ours


@dataclass(frozen=True, slots=True)
class StoppedBy:
    """The reason, with the limit that was reached where there is one."""

    reason: StopReason
    limit: float | None = None  # states, seconds or bytes; None: memory that the system refused
    problem: str = ""  # of TOO_MANY_WAYS what the loop says, of DISK what the system says

    @property
    def is_cut_short(self) -> bool:
        """True if more time or memory would have helped: another run may come further."""
        return MAY_COME_FURTHER[self.reason]

    def __str__(self) -> str:
        if self.reason == StopReason.MEMORY and self.limit is not None:
            return f"{int(self.limit) // 2**20} MiB of memory"
        return WORDS[self.reason].format(limit=self.limit, problem=self.problem)


MAY_COME_FURTHER = complete(
    StopReason,
    {
        StopReason.INTERRUPT: True,
        StopReason.ALL_VIOLATED: False,
        StopReason.STATES: False,
        StopReason.TIME: True,
        StopReason.MEMORY: True,
        StopReason.DISK: True,
        StopReason.TOO_MANY_WAYS: False,
        StopReason.INTERNAL: False,
    },
)
WORDS = complete(
    StopReason,
    {
        StopReason.INTERRUPT: "interrupt",
        StopReason.ALL_VIOLATED: "all checks are violated",
        StopReason.STATES: "{limit} states",
        StopReason.TIME: "{limit:g} s",
        StopReason.MEMORY: "memory",
        StopReason.DISK: "the disk, for what memory does not hold: {problem}",
        StopReason.TOO_MANY_WAYS: "{problem}",
        StopReason.INTERNAL: "an internal error",
    },
)

INTERRUPTED = StoppedBy(StopReason.INTERRUPT)
ALL_VIOLATED = StoppedBy(StopReason.ALL_VIOLATED)
OUT_OF_MEMORY = StoppedBy(StopReason.MEMORY)
INTERNAL = StoppedBy(StopReason.INTERNAL)


def is_cut_short(stopped_by: StoppedBy | None) -> bool:
    """True for a search that more time or memory would have brought further."""
    return stopped_by is not None and stopped_by.is_cut_short


class NoDisk(LimitReached):
    """A search does not fit into memory, and what does not cannot be put on a disk."""
