"""Tasks one after the other in this process: the simplest executor, and the yardstick for the others."""

from __future__ import annotations

from kubeproof.values import dataclass
from kubeproof.verify.executors.session import Left, Session
from kubeproof.verify.executors.task import Answer, Task, Work, answer_of


class InProcessSession:
    """Holds one task and does it when asked for the next answer."""

    width = 1

    def __init__(self, work: Work) -> None:
        self._work = work
        self._held: tuple[int, Task] | None = None

    @property
    def free(self) -> int:
        return 0 if self._held else 1

    def submit(self, index: int, task: Task) -> None:
        self._held = index, task

    def next(self, left_s: Left) -> tuple[int, Answer] | None:
        assert self._held is not None
        if left_s() <= 0:
            return None
        index, task = self._held
        self._held = None
        return index, answer_of(self._work, task)

    def close(self) -> None:
        self._held = None


@dataclass(frozen=True, slots=True)
class InProcess:
    """No other process: what kills a task kills the run."""

    def open(self, work: Work) -> Session:
        """A session of this process."""
        return InProcessSession(work)
