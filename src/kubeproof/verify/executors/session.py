"""What `run_tasks` asks of an executor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from kubeproof.verify.executors.task import Answer, Task, Work

Left = Callable[[], float]  # the seconds that may be waited; a task of this very process ends by itself


class Session(Protocol):
    """Workers that are ready for tasks."""

    @property
    def width(self) -> int:
        """How many tasks are under way at the same time at most; a cluster may grow and shrink."""
        ...

    @property
    def free(self) -> int:
        """How many more tasks can be taken now without one waiting behind another."""
        ...

    def submit(self, index: int, task: Task) -> None:
        """Takes a task; only when one is free."""
        ...

    def next(self, left_s: Left) -> tuple[int, Answer] | None:
        """Waits for any task to end and returns its index and what came of it; None if no time is left for that."""
        ...

    def close(self) -> None:
        """Ends all workers, busy or not, and waits until they are gone."""
        ...


class Executor(Protocol):
    """Where tasks run; a value that says so, without anything started."""

    def open(self, work: Work) -> Session: ...
