"""Tasks in a pool of processes on this machine.

The standard library's pool gives up as a whole when a worker dies and does not tell whose task it was. Here
every worker has its own connection and at most one task, so that the death of a worker names its task.

Workers are spawned, not forked: a fork copies locks held by other threads and open files, such as the lock of
a journal, which would outlive a killed parent; and it behaves the same on every system and Python.
"""

from __future__ import annotations

import math
import os
import pickle
import signal
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess

from kubeproof.errors import EnvironmentProblem, InternalError
from kubeproof.values import dataclass
from kubeproof.verify.executors.session import Left, Session
from kubeproof.verify.executors.task import Answer, Task, Work, make_poisoned
from kubeproof.verify.executors.worker import READY, serve

TRIES = 2  # a task whose worker dies so often is left
FAILED_STARTS = 3  # workers in a row that die before they can work
PATIENCE_S = 5.0  # for a worker that was asked to end


def usable_cores() -> int:
    """The processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1


class _Worker:
    """A worker process, as its parent sees it."""

    def __init__(self, payload: bytes) -> None:
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(target=serve, args=(theirs, payload), daemon=True)
        self.is_ready = False
        self.held: int | None = None  # the index of its task
        with _shield():
            self.process.start()
        theirs.close()

    def end(self) -> None:
        """Ends the process: at once when it works, by the end of its connection when it waits."""
        self.connection.close()
        if self.held is not None or not self.is_ready:
            self.process.terminate()

    def join(self) -> None:
        """Waits until the process is gone."""
        self.process.join(PATIENCE_S)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.process.close()


@contextmanager
def _shield() -> Iterator[None]:
    """Children started inside do not hear Ctrl-C, which a terminal sends to all; their parent ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class PoolSession:
    """Workers that are started when there is a task for them, and replaced when they die."""

    def __init__(self, work: Work, size: int) -> None:
        self._payload = _pickle(work)
        self.width = size
        self._workers: list[_Worker] = []
        self._tasks: dict[int, Task] = {}  # taken and not answered
        self._deaths: dict[int, int] = {}
        self._waiting: deque[int] = deque()
        self._failed_starts = 0

    @property
    def free(self) -> int:
        return self.width - len(self._tasks)

    def submit(self, index: int, task: Task) -> None:
        self._tasks[index] = task
        self._waiting.append(index)
        self._dispatch()

    def next(self, left_s: Left) -> tuple[int, Answer] | None:
        while (wait_s := left_s()) > 0:
            self._dispatch()  # first: the last answer may have come together with the death of another worker
            for worker in self._stirring(wait_s):
                index, answer = self._hear(worker)
                if answer is not None:
                    del self._tasks[index]
                    self._deaths.pop(index, None)
                    return index, answer
        return None

    def close(self) -> None:
        for worker in self._workers:
            worker.end()
        for worker in self._workers:
            worker.join()
        self._workers.clear()

    def _dispatch(self) -> None:
        """Gives waiting tasks to idle workers, then to new ones."""
        for worker in list(self._workers):
            if self._waiting and worker.held is None:
                self._hand_over(worker)
        while self._waiting and len(self._workers) < self.width:
            worker = _Worker(self._payload)
            self._workers.append(worker)
            self._hand_over(worker)

    def _hand_over(self, worker: _Worker) -> None:
        index = self._waiting.popleft()
        try:
            worker.connection.send(self._tasks[index])
            worker.held = index
        except OSError:  # it died waiting, through no fault of this task; `next` will find it
            self._waiting.appendleft(index)

    def _stirring(self, wait_s: float) -> list[_Worker]:
        """The workers that said something or died, as soon as there are any; none if nothing happens for so long."""
        ears: dict[object, _Worker] = {}
        for worker in self._workers:
            ears[worker.connection] = ears[worker.process.sentinel] = worker
        found = [ears[ear] for ear in wait(list(ears), None if math.isinf(wait_s) else wait_s)]  # type: ignore[arg-type]
        return list(dict.fromkeys(found))

    def _hear(self, worker: _Worker) -> tuple[int, Answer | None]:
        """What a worker has to say: the answer to its task, or nothing yet."""
        try:
            message = worker.connection.recv() if worker.connection.poll() else None
        except (EOFError, OSError):
            message = None
        if message is None:
            return self._bury(worker)
        if not worker.is_ready:
            self._greet(worker, message)
            return -1, None
        index, worker.held = worker.held, None
        assert index is not None
        return index, message

    def _greet(self, worker: _Worker, message: str) -> None:
        if message != READY:
            raise EnvironmentProblem(f"E401 a worker process cannot work: {message}. Try --executor inprocess.")
        worker.is_ready = True
        self._failed_starts = 0

    def _bury(self, worker: _Worker) -> tuple[int, Answer | None]:
        """Removes a dead worker; its task goes back to the front, or is given up."""
        worker.end()
        code = _join(worker)
        self._workers.remove(worker)
        index = worker.held
        if not worker.is_ready:
            self._count_failed_start(code)
        elif index is not None:
            self._deaths[index] = self._deaths.get(index, 0) + 1
            if self._deaths[index] >= TRIES:
                return index, (None, make_poisoned(self._tasks[index].key))
        if index is not None:
            self._waiting.appendleft(index)
        return -1, None

    def _count_failed_start(self, code: int | None) -> None:
        """A worker that dies before it works is no fault of its task."""
        self._failed_starts += 1
        if self._failed_starts >= FAILED_STARTS:
            raise EnvironmentProblem(
                f"E401 worker processes cannot be started (the last ended with code {code}). "
                "Try --executor inprocess; a script that verifies needs the guard if __name__ == '__main__'."
            )


def _join(worker: _Worker) -> int | None:
    worker.process.join(PATIENCE_S)
    code = worker.process.exitcode
    worker.join()
    return code


def _pickle(work: Work) -> bytes:
    try:
        return pickle.dumps(work, pickle.HIGHEST_PROTOCOL)
    except Exception as problem:
        raise InternalError(f"E700 the work cannot be sent to other processes: {problem}") from problem


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool of processes on this machine; without a number, one per processor."""

    size: int | None = None

    def open(self, work: Work) -> Session:
        """A session whose workers start with their first tasks."""
        return PoolSession(work, self.size or usable_cores())
