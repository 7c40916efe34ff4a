"""What a search may take, and what ends it: limits, and exceptions that stand for one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, cast

from kubeproof.engine.limits import Limits
from kubeproof.engine.stopped import INTERRUPTED, OUT_OF_MEMORY, NoDisk, StoppedBy, StopReason
from kubeproof.errors import LimitReached

if TYPE_CHECKING:
    from kubeproof.engine.helpers import Crew
    from kubeproof.engine.spill import Spill


def name_end(problem: BaseException) -> StoppedBy:
    """What an exception that ended a search stands for."""
    if isinstance(problem, NoDisk):
        return StoppedBy(StopReason.DISK, problem=str(problem))
    if isinstance(problem, LimitReached):
        return StoppedBy(StopReason.TOO_MANY_WAYS, problem=str(problem))
    return INTERRUPTED if isinstance(problem, KeyboardInterrupt) else OUT_OF_MEMORY


class Room:
    """What a search may take, and how it makes do with it.

    What does not fit into memory goes to a disk; a long search gets helpers while there is memory for them.
    """

    def __init__(self, kernel: object, limits: Limits, *, is_alone: bool = True) -> None:
        self.limits = limits
        self._kernel = kernel
        self._spill: Spill | None = None
        self._crew: Crew | None = None
        self._sharing = None if is_alone else limits.sharing
        self._began_s = time.process_time()

    def look(self) -> None:
        """Between two slices of a search."""
        if self._crew is not None:
            self._crew.look()
        elif self._sharing is not None and time.process_time() - self._began_s > self._sharing.after_s:
            from kubeproof.engine.helpers import Crew

            self._crew, self._sharing = Crew(cast("Any", self._kernel), self._sharing), None

    def end_helpers(self) -> None:
        """From now on the search is alone."""
        if self._crew is not None:
            self._crew.end()
        self._crew = self._sharing = None

    @property
    def processes(self) -> int:
        return 1 if self._crew is None else self._crew.processes

    @property
    def spilled_bytes(self) -> int:
        return 0 if self._spill is None else self._spill.disk.bytes

    def find_exceeded(self, start: float) -> StoppedBy | None:
        """What ends a search that began at `start`, though what can is put on the disk; None if nothing does."""
        if self._crew is not None and self._are_too_many(self._crew):
            self.end_helpers()
        exceeded = self.limits.find_exceeded(start)
        is_memory = exceeded is not None and exceeded.reason == StopReason.MEMORY
        return None if is_memory and self._relieve() else exceeded

    def _are_too_many(self, crew: Crew) -> bool:
        limit = self.limits.memory_bytes
        return limit is not None and self.limits.resident() + crew.held_bytes() > limit

    def _relieve(self) -> bool:
        if self._spill is None:
            find, store, limit = self.limits.find_disk, self._kernel, self.limits.memory_bytes
            disk = find() if find is not None and hasattr(store, "spill") else None
            if disk is None or limit is None:
                return False
            from kubeproof.engine.spill import Spill

            self._spill = Spill(cast("Any", store), disk, limit, self.limits.resident)
            self._spill.store.relieve = self._spill.relieve
        return self._spill.relieve()
