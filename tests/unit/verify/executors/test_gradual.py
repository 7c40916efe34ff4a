"""Sweeps that end soon start no other process; longer ones get a pool."""

from __future__ import annotations

import os
from functools import partial
from itertools import count

from kubeproof.verify.executors.gradual import GradualSession
from kubeproof.verify.executors.run import run_tasks
from kubeproof.verify.executors.task import TaskResult, Work
from tests.unit.verify.executors.work import numbers, where


class Ticking:
    """An executor whose tasks seem to take so long each."""

    def __init__(self, seconds: float) -> None:
        ticks = count()
        self._clock = lambda: next(ticks) * seconds
        self.session: GradualSession | None = None

    def open(self, work: Work) -> GradualSession:
        self.session = GradualSession(work, 2, self._clock)
        return self.session


def test_quick_tasks_are_all_done_here():
    executor = Ticking(0.01)

    outcomes = list(run_tasks(partial(where, os.getpid()), numbers(20), executor=executor))

    assert outcomes == [TaskResult(f"number {n}", (n * n, True)) for n in range(20)]
    assert not executor.session.has_pool


def test_after_half_a_second_of_work_the_rest_goes_to_a_pool():
    executor = Ticking(0.2)

    outcomes = list(run_tasks(partial(where, os.getpid()), numbers(8), executor=executor))

    assert outcomes == [TaskResult(f"number {n}", (n * n, n < 3)) for n in range(8)]
    assert executor.session.has_pool
