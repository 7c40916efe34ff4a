"""Tasks in this process at first, in a pool of processes once there is enough to do to be worth starting it.

Starting a pool takes each worker as long as hundreds of small tasks, and many sweeps end at their first sizes. The
price: as long as tasks run here nothing runs beside them, and what kills one kills the run.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from kubeproof.values import dataclass
from kubeproof.verify.executors.inprocess import InProcessSession
from kubeproof.verify.executors.session import Left, Session
from kubeproof.verify.executors.task import Answer, Task, Work

ALONE_S = 0.5  # about what it costs to start two workers


class GradualSession:
    """Does tasks here until they have taken long enough; then hands all later ones to the pool."""

    def __init__(self, work: Work, size: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._work, self._size, self._clock = work, size, clock
        self._session: Session = InProcessSession(work)
        self._spent_s = 0.0
        self.has_pool = False

    @property
    def width(self) -> int:
        return self._session.width

    @property
    def free(self) -> int:
        return self._session.free

    def submit(self, index: int, task: Task) -> None:
        self._session.submit(index, task)

    def next(self, left_s: Left) -> tuple[int, Answer] | None:
        if self.has_pool:
            return self._session.next(left_s)
        begun_s = self._clock()
        answer = self._session.next(left_s)
        self._spent_s += self._clock() - begun_s
        if self._spent_s >= ALONE_S:  # nothing is under way here now: this process does one task at a time
            self._start_pool()
        return answer

    def _start_pool(self) -> None:
        from kubeproof.verify.executors.pool import Pool

        self._session = Pool(self._size).open(self._work)
        self.has_pool = True

    def close(self) -> None:
        self._session.close()


@dataclass(frozen=True, slots=True)
class Gradual:
    """This process, then a pool of so many; without a number, of one per processor."""

    size: int | None = None

    def open(self, work: Work) -> Session:
        """A session that has started nothing yet."""
        return GradualSession(work, self.size)
