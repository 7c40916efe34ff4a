"""Runs of `simulate` in several processes: the pool of `verify`, in the order of the runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from kubeproof.errors import EnvironmentProblem

if TYPE_CHECKING:
    from kubeproof.simulate.control.clocked import RunRecord
    from kubeproof.simulate.spreading import Runs, RunTask, Spread


def pool_of(workers: int | None, ended: Callable[[int], None] | None) -> Spread | None:
    """Spreads runs over so many processes, by default one per processor; None if that is one.

    `ended` is told how many of the runs have ended.
    """
    from kubeproof.verify.executors.pool import Pool, usable_cores

    size = workers or usable_cores()
    if size == 1:
        return None

    def spread(runs: Runs, tasks: Sequence[RunTask]) -> Iterator[RunRecord]:
        from kubeproof.verify.executors.run import run_tasks
        from kubeproof.verify.executors.task import DIED

        outcomes = run_tasks(
            runs,
            tasks,
            executor=Pool(min(size, len(tasks))),
            on_progress=None if ended is None else lambda progress: ended(progress.done),
            stop=lambda outcome: outcome.is_error,
        )
        done = 0
        for outcome in outcomes:
            if outcome.error.code == DIED:
                raise EnvironmentProblem(outcome.error)
            if outcome.value is not None:
                done += 1
                yield outcome.value
        # What went wrong elsewhere goes wrong here in the same way, with its own kind of error and exit code.
        yield from (runs(task) for task in tasks[done:])

    return spread
