"""When a search must stop, and what it says then."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING

from kubeproof.engine.stopped import INTERRUPTED, StoppedBy, StopReason
from kubeproof.named_tuples import NamedTuple
from kubeproof.stop import Stop
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from kubeproof.engine.sharing import Sharing
    from kubeproof.engine.spill import Disk


STATES_BETWEEN_LOOKS = 64  # at the limits, and at who wants the search to end
STATES_BETWEEN_JUDGEMENTS = 4096  # looks at what is found; a constant, so that counts do not depend on speed


class Deadline(NamedTuple):
    """The moment by which all searches of a run end, and the seconds that the run was given."""

    at_s: float  # of `deadline_clock`
    given_s: float


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one search; None means none. Reaching one gives "unknown", never "holds".

    With a disk, what the store holds beyond `memory_bytes` goes there before that limit is reached.
    """

    max_states: int | None = None
    timeout_s: float | None = None
    memory_bytes: int | None = None
    clock: Callable[[], float] = field(default=time.monotonic, compare=False)
    stop: Stop = field(default_factory=Stop, compare=False)
    deadline: Deadline | None = None
    deadline_clock: Callable[[], float] = field(default=time.monotonic, compare=False)
    sharing: Sharing | None = None
    find_disk: Callable[[], Disk | None] | None = field(default=None, compare=False)
    resident: Callable[[], int] = field(default=lambda: resident_bytes(), compare=False)

    def is_over(self, start: float) -> bool:
        """True if a search that began at `start` is to end now; a look that costs next to nothing."""
        return self.stop.is_asked or self._is_late(start) or self._is_past()

    def _is_late(self, start: float) -> bool:
        return self.timeout_s is not None and self.clock() - start > self.timeout_s

    def _is_past(self) -> bool:
        return self.deadline is not None and self.deadline_clock() > self.deadline.at_s

    def find_exceeded(self, start: float) -> StoppedBy | None:
        """What ends a search that began at `start`; None if nothing does."""
        if self.stop.is_asked:
            return INTERRUPTED
        if self.deadline is not None and self._is_past():
            return StoppedBy(StopReason.TIME, self.deadline.given_s)
        if self._is_late(start):
            return StoppedBy(StopReason.TIME, self.timeout_s)
        if self.memory_bytes is not None and self.resident() > self.memory_bytes:
            return StoppedBy(StopReason.MEMORY, self.memory_bytes)
        return None


def resident_bytes() -> int:
    """The memory this process holds now; the highest it held where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * 4096
    except (OSError, ValueError, IndexError):
        return _peak_bytes()


def _peak_bytes() -> int:
    try:
        import resource
    except ImportError:  # not a Unix
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def physical_bytes() -> int:
    """The memory of this machine; 0 where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 0
