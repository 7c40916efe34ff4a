"""Runs of one input by number: here one after the other, or wherever a caller can spread them to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any

from kubeproof.manifests.loaded import Loaded
from kubeproof.simulate.control.clocked import ClockedRun, RunRecord
from kubeproof.simulate.control.planning import Planned, plan_input
from kubeproof.simulate.options import SimulateOptions
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from kubeproof.simulate.serving.contract import DataPlane

Report = Callable[[int, int], None] | None  # number of the run, seconds that it has simulated
PAYS_S = 5.0  # so much work is worth other processes, each of which takes about a second to start


@dataclass(frozen=True, slots=True)
class RunTask:
    """One run of many."""

    number: int

    @property
    def key(self) -> str:
        """How it is called if something goes wrong."""
        return f"run {self.number + 1}"


class Runs:
    """Makes runs of an input. To other processes it travels without its plan: each of them makes its own."""

    def __init__(self, loaded: Loaded, options: SimulateOptions) -> None:
        self._loaded, self._options = loaded, options
        self._plan: Planned | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Runs, (self._loaded, self._options)

    @property
    def plan(self) -> Planned:
        """The plan of all runs."""
        if self._plan is None:
            self._plan = plan_input(self._loaded, autoscaler=self._options.autoscaler)
        return self._plan

    def __call__(self, task: RunTask, progress: Report = None) -> RunRecord:
        number, options = task.number, self._options
        seed = options.seed + number
        run = ClockedRun(self._loaded, self.plan, options, seed, data_plane(self._loaded, options, seed))
        return run.run(None if progress is None else lambda now_s: progress(number, now_s))


Spread = Callable[[Runs, Sequence[RunTask]], Iterable[RunRecord]]  # the records of tasks, in their order


def records_of(
    runs: Runs, count: int, progress: Report, spread: Spread | None, *, first: int = 0
) -> Iterator[RunRecord]:
    """The records of runs up to a number: the first is made here, and by the time it takes the others are spread."""
    begin = monotonic()
    yield runs(RunTask(first), progress)
    rest = [RunTask(number) for number in range(first + 1, count)]
    if spread is not None and len(rest) > 1 and (monotonic() - begin) * len(rest) >= PAYS_S:
        yield from spread(runs, rest)
    else:
        yield from (runs(task, progress) for task in rest)


def data_plane(loaded: Loaded, options: SimulateOptions, seed: int) -> DataPlane | None:
    """What serves the requests of a Scenario; None if it has none."""
    workload = loaded.scenario.workload
    if workload is None or not workload.services:
        return None
    from kubeproof.simulate.serving.plane import make_data_plane

    return make_data_plane(workload, seed=seed, duration_s=float(options.duration_s), reroutes=options.reroutes)
