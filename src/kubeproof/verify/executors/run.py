"""Runs tasks on any executor and yields their outcomes in the order of the tasks."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, Protocol

from kubeproof.errors import InternalError
from kubeproof.verify.executors.session import Executor, Left, Session
from kubeproof.verify.executors.task import Task, TaskProgress, TaskResult, Work

AHEAD = 4  # tasks per worker that may run ahead of the first unfinished one when an early stop is possible
FAR_AHEAD = 4096  # the same when every task runs anyway: only a bound of memory

Stop = Callable[[TaskResult[Any]], bool]
Report = Callable[[TaskProgress], None]


class Record(Protocol):
    """Remembers finished tasks over the end of this process; see `kubeproof.verify.journal`."""

    def read_known(self) -> dict[str, Any]:
        """The values of tasks that earlier runs finished, by key."""
        ...

    def add(self, key: str, value: Any) -> None:
        """Writes down one finished task."""
        ...


def run_tasks(
    work: Work,
    tasks: Iterable[Task],
    *,
    executor: Executor,
    journal: Record | None = None,
    on_progress: Report | None = None,
    stop: Stop | None = None,
    left_s: Left = lambda: math.inf,
) -> Generator[TaskResult[Any], None, None]:
    """Does every task and yields one outcome per task, in task order, whatever the executor.

    `work` is a function of a module, or a `functools.partial` of one, and is sent to each worker once; tasks are
    picklable and have unique keys. The first outcome in task order for which `stop` is true is the last one;
    at most a few tasks per worker were begun in vain then. `stop` must be a pure function of the outcome.
    Tasks found in the journal are not done again; errors are never journalled, so that a resumed run tries them
    once more. An exception of `work` gives an error outcome. A task whose worker dies is tried once more on
    another worker, and gives an error outcome if that one dies too.

    When no time is left, tasks under way in other processes are left there, and no more outcomes come.

    Leaving the iteration early, by `close` or by an exception such as KeyboardInterrupt, ends all workers. The
    journal stays open: it belongs to the caller.
    """
    run = _Run(tuple(tasks), executor, journal, on_progress, stop, left_s)
    try:
        yield from run.outcomes(work)
    finally:
        run.close()


class _Run:
    """The bookkeeping of one run: what is done, what is under way, what may begin."""

    def __init__(
        self,
        tasks: tuple[Task, ...],
        executor: Executor,
        journal: Record | None,
        on_progress: Report | None,
        stop: Stop | None,
        left_s: Left,
    ) -> None:
        self._tasks, self._executor, self._journal = tasks, executor, journal
        self._on_progress, self._stop, self._left_s = on_progress, stop, left_s
        self._session: Session | None = None
        self._finished: dict[int, TaskResult[Any]] = {}
        self._running: set[int] = set()
        self._done = 0
        self._end = len(tasks)  # tasks from here on are not needed: one before them stops the run
        self._cursor = 0  # tasks before it are finished or under way
        self._recall()

    def _recall(self) -> None:
        """Takes over what the journal knows."""
        known = self._journal.read_known() if self._journal is not None else {}
        places = {task.key: index for index, task in enumerate(self._tasks)}
        if len(places) != len(self._tasks):
            raise InternalError("E700 two tasks have the same key")
        for key in sorted(known.keys() & places.keys(), key=places.__getitem__):
            self._finish(places[key], TaskResult(key, known[key]))

    def outcomes(self, work: Work) -> Iterator[TaskResult[Any]]:
        self._report(None)
        for position in range(len(self._tasks)):
            while position not in self._finished:
                self._begin(work, position)
                if not self._wait():
                    return
            outcome = self._finished.pop(position)
            yield outcome
            if position + 1 == self._end:
                return

    def close(self) -> None:
        if self._session is not None:
            self._session.close()

    def _begin(self, work: Work, position: int) -> None:
        """Hands out tasks while there is room for them."""
        if self._session is None:
            self._session = self._executor.open(work)
        ahead = FAR_AHEAD if self._stop is None else AHEAD
        limit = min(self._end, position + ahead * self._session.width)
        while self._cursor < limit and self._session.free > 0:
            if self._cursor >= position and self._cursor not in self._finished:
                self._running.add(self._cursor)
                self._session.submit(self._cursor, self._tasks[self._cursor])
            self._cursor += 1

    def _wait(self) -> bool:
        """Takes over the next outcome; False if no time is left for one."""
        assert self._session is not None
        heard = self._session.next(self._left_s)
        if heard is None:
            return False
        index, (value, error) = heard
        self._running.discard(index)
        key = self._tasks[index].key
        outcome = TaskResult(key, value, error)
        if self._journal is not None and not error:
            self._journal.add(key, value)
        self._finish(index, outcome)
        self._report(outcome)
        return True

    def _finish(self, index: int, outcome: TaskResult[Any]) -> None:
        self._finished[index] = outcome
        self._done += 1
        if self._stop is not None and self._stop(outcome):
            self._end = min(self._end, index + 1)

    def _report(self, last: TaskResult[Any] | None) -> None:
        if self._on_progress is not None:
            running = tuple(self._tasks[index].key for index in sorted(self._running))
            self._on_progress(TaskProgress(self._done, len(self._tasks), running, last))
