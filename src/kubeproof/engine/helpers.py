"""One search in several processes: helpers expand a part of the states, and all is stored where the search began.

A helper is a fork. It gets vectors in shared memory and writes their successors there; it holds no states. It numbers
no cells either: a state that needs one which the others do not know goes back, and those that taught the search new
cells are expanded by the helpers once more, in the same order. So cells and states have the numbers of a search without
helpers, and so have counts, cycles and traces. What an actor answered one process is told to the others. A helper that
is lost, or fails at a state, leaves work to be done, and nothing else.
"""

from __future__ import annotations

import gc
import mmap
import os
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from kubeproof.engine.sharing import Sharing

INBOX = 1 << 24  # bytes of shared memory; pages that nobody uses take none
AREA = 1 << 27
ASKED = struct.Struct("<qqqq")  # vectors to learn from, those with answers, those to expand; cells known then
LEAST_SHARE, MOST_SHARE = 0.02, 0.98
WAIT_S = 0.2  # between two looks at whether somebody wants the search to end


class Shared(Protocol):
    """A store that lets helpers expand states."""

    expanded: int

    def __len__(self) -> int: ...

    def share(self, helpers: list[Helper], areas: list[mmap.mmap], inbox_bytes: int) -> None: ...

    def end_sharing(self) -> None: ...

    @property
    def has_helpers(self) -> bool: ...

    @property
    def is_shared(self) -> bool: ...

    @property
    def own_end(self) -> int: ...

    def share_out(self, most: int, own_share: float) -> None: ...

    def spent(self, index: int) -> tuple[int, int]: ...

    def begin_helping(self, area: mmap.mmap, inbox_bytes: int) -> None: ...

    def help_out(self, learned: int, answered: int, states: int, cells: int, told: Callable[[], None]) -> bool: ...

    def close_helping(self, spent_ns: int) -> None: ...


class Helper:
    """A process that expands states for this one."""

    def __init__(self, store: Shared, area: mmap.mmap, others: list[Helper]) -> None:
        self._line, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            for line in (self._line, *(other._line for other in others)):
                line.close()
            _help(store, area, theirs)
        theirs.close()

    def ask(self, learned: int, answered: int, states: int, cells: int) -> None:
        """Tells that there is work in the area; what has become of it shows when it is waited for."""
        with suppress(OSError):
            self._line.send(ASKED.pack(learned, answered, states, cells))

    def wait(self) -> bool:
        """Waits until the helper has come further, not for long; False if it is gone."""
        ready, _, _ = select.select([self._line], [], [], WAIT_S)
        if not ready:
            return True
        try:
            return bool(self._line.recv(4096))
        except OSError:
            return False

    def end(self) -> None:
        """Ends the process, which has nothing that is needed."""
        self._line.close()
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)

    def held_bytes(self) -> int:
        """The memory that the process holds and does not share."""
        try:
            with open(f"/proc/{self.pid}/statm", encoding="ascii") as statm:
                fields = statm.read().split()
            return (int(fields[1]) - int(fields[2])) * mmap.PAGESIZE
        except (OSError, ValueError, IndexError):
            return 0


def _help(store: Shared, area: mmap.mmap, line: socket.socket) -> None:
    """What a helper does until nobody wants it any more; never returns."""
    try:
        gc.freeze()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with the process that asked for it
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        store.begin_helping(area, INBOX)

        def told() -> None:
            with suppress(BlockingIOError):
                line.send(b".", socket.MSG_DONTWAIT)

        while asked := line.recv(ASKED.size, socket.MSG_WAITALL):
            begun = time.process_time_ns()
            learned, answered, states, cells = ASKED.unpack(asked)
            if not store.help_out(learned, answered, states, cells, told):
                break
            store.close_helping(time.process_time_ns() - begun)
            told()
    finally:
        os._exit(0)


class Crew:
    """The helpers of one search, as busy as the process that stores."""

    def __init__(self, store: Shared, sharing: Sharing) -> None:
        self._store, self._sharing = store, sharing
        self._helpers: list[Helper] = []
        self._areas: list[mmap.mmap] = []  # there as long as the store may look at them
        self._is_over = sharing.processes < 2 or not sharing.may_fork() or not can_share(store)
        self._own_share = 1 / max(2, sharing.processes)
        self._batch: list[float] = []  # processor time when it began, when the own part was done
        self._first = self._own_end = 0

    def look(self) -> None:
        """Between two slices of a search: sees to it that everybody has work."""
        store = self._store
        if self._is_over:
            return
        if self._helpers and not store.has_helpers:
            self.end()
            return
        if len(self._batch) == 1 and store.expanded >= self._own_end:
            self._batch.append(time.process_time())
        frontier = len(store) - store.expanded
        if frontier < self._sharing.least or (self._helpers and store.is_shared):
            return
        if not self._helpers and not self._start():
            return
        self._tune()
        self._first = store.expanded
        self._batch = [time.process_time()]
        store.share_out(min(frontier, self._sharing.most), self._own_share)
        self._own_end = store.own_end

    def _start(self) -> bool:
        try:
            for _ in range(self._sharing.processes - 1):
                self._areas.append(mmap.mmap(-1, AREA))
                self._helpers.append(Helper(self._store, self._areas[-1], self._helpers))
        except OSError:
            self.end()
            return False
        self._store.share(self._helpers, self._areas, INBOX)
        return True

    def _tune(self) -> None:
        """Chooses the own share of the next batch such that nobody waits for the others."""
        if len(self._batch) < 2:
            return
        done = [self._store.spent(index) for index in range(len(self._helpers))]
        states, spent_ns = sum(one for one, _ in done), sum(spent for _, spent in done)
        own = self._own_end - self._first
        if not states or not own or not spent_ns:
            return
        expanding = (self._batch[1] - self._batch[0]) / own
        storing = (time.process_time() - self._batch[1]) / states
        helping = spent_ns / 1e9 / states / len(self._helpers)
        best = (helping - storing) / max(1e-9, expanding + helping - storing)
        self._own_share = min(MOST_SHARE, max(LEAST_SHARE, (self._own_share + best) / 2))

    @property
    def processes(self) -> int:
        return 1 + len(self._helpers)

    def held_bytes(self) -> int:
        """The memory of all helpers."""
        return sum(helper.held_bytes() for helper in self._helpers)

    def end(self) -> None:
        """Sends the helpers away; the search goes on without."""
        self._is_over = True
        if self._helpers:
            self._store.end_sharing()
        for helper in self._helpers:
            helper.end()
        self._helpers = []


def can_share(store: object) -> bool:
    """True for the compiled engine on a system that forks, unless controllers are asked again and compared."""
    is_able = hasattr(store, "share") and hasattr(os, "fork") and sys.platform != "darwin"
    return is_able and not getattr(store, "check_every", 0)
