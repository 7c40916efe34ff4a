"""How much of a search others may do: asked of every search, so that little is imported for it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from kubeproof.values import dataclass

MOST_PROCESSES = 4


@dataclass(frozen=True, slots=True)
class Sharing:
    """When a search gets helpers, and how much they are given at once."""

    processes: int = 1  # with the one that began
    after_s: float = 1.0  # of processor time: a search that ends before has none
    least: int = 4096  # states that are known and not expanded
    most: int = 32768
    may_fork: Callable[[], bool] = lambda: count_threads() == 1  # other threads would not be in a fork


def usable_processors() -> int:
    """How many processes one search is worth here: what stores the states is busy with few of them."""
    try:
        found = len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        found = os.cpu_count() or 1
    return min(found, MOST_PROCESSES)


def count_threads() -> int:
    """The threads of this process, those that Python did not start included where the system tells."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return threading.active_count()
