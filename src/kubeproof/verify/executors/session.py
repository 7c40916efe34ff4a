"""What `run_tasks` asks of an executor."""

from __future__ import annotations

from typing import Protocol

from kubeproof.verify.executors.task import Answer, Task, Work


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

    def next(self) -> tuple[int, Answer]:
        """Waits for any task to end and returns its index and what came of it."""
        ...

    def close(self) -> None:
        """Ends all workers, busy or not, and waits until they are gone."""
        ...


class Executor(Protocol):
    """Where tasks run; a value that says so, without anything started."""

    def open(self, work: Work) -> Session: ...
