"""What executors, the journal and snapshots cost; prints one JSON line per measurement.

    python benchmarks/executors.py [TASKS]

Empty tasks (default 2,000) give the cost of an executor per task and that of a journal record; tasks that count for
some milliseconds give the share of the time that an executor wastes. The micro system of `engine_micro.py` gives the
cost of a snapshot per state. Dask is measured where the extra is installed, with two workers on loopback.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent))

from engine_micro import Counters, timed_run

from kubeproof.engine.search import find_compiled_kernel, make_kernel
from kubeproof.engine.snapshot import load, save
from kubeproof.verify.executors.dask_cluster import Dask
from kubeproof.verify.executors.inprocess import InProcess
from kubeproof.verify.executors.pool import Pool
from kubeproof.verify.executors.run import Record, run_tasks
from kubeproof.verify.executors.session import Executor
from kubeproof.verify.journal.binding import binding_of
from kubeproof.verify.journal.codec import Codec
from kubeproof.verify.journal.journal import Journal

WORKERS = 2
BUSY_TASKS = 200
BUSY_COUNT = 100_000


@dataclass(frozen=True)
class Number:
    """A task."""

    number: int

    @property
    def key(self) -> str:
        return str(self.number)


def count(steps: int, task: Number) -> int:
    """Work: counts."""
    for _ in range(steps):
        pass
    return task.number


def seconds(executor: Executor, tasks: int, steps: int, journal: Record | None = None) -> tuple[float, float]:
    """Wall time to the first outcome, and from there to the last."""
    start = time.perf_counter()
    outcomes = run_tasks(partial(count, steps), map(Number, range(tasks)), executor=executor, journal=journal)
    next(outcomes)
    first = time.perf_counter()
    for _ in outcomes:
        pass
    return first - start, time.perf_counter() - first


@contextmanager
def executors() -> Iterator[dict[str, Executor]]:
    """All executors there are."""
    found: dict[str, Executor] = {"inprocess": InProcess(), f"pool:{WORKERS}": Pool(WORKERS)}
    if find_spec("distributed") is None:
        yield found
        return
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=WORKERS, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
    ) as cluster:
        yield {**found, f"dask with {WORKERS} workers": Dask(cluster.scheduler_address)}


def measure_executor(name: str, executor: Executor, tasks: int) -> dict[str, object]:
    start_s, empty_s = seconds(executor, tasks, 0)
    alone_s = sum(seconds(InProcess(), BUSY_TASKS, BUSY_COUNT))
    _, busy_s = seconds(executor, BUSY_TASKS, BUSY_COUNT)
    ideal_s = alone_s if name == "inprocess" else alone_s / WORKERS
    return {
        "executor": name,
        "first_outcome_ms": round(1e3 * start_s, 1),
        "overhead_per_task_us": round(1e6 * empty_s / tasks, 1),
        "busy_task_ms": round(1e3 * alone_s / BUSY_TASKS, 2),
        "ratio_to_ideal": round(busy_s / ideal_s, 2),
    }


def measure_journal(tasks: int) -> dict[str, object]:
    _, without_s = seconds(InProcess(), tasks, 0)
    with TemporaryDirectory() as folder:
        binding = binding_of([], {}, map(str, range(tasks)))
        with Journal(Path(folder), binding, Codec(), resume=False) as journal:
            _, with_s = seconds(InProcess(), tasks, 0, journal)
        start = time.perf_counter()
        Journal(Path(folder), binding, Codec(), resume=True).close()
        return {
            "journal": "records",
            "overhead_per_task_us": round(1e6 * (with_s - without_s) / tasks, 1),
            "recall_per_task_us": round(1e6 * (time.perf_counter() - start) / tasks, 1),
        }


def measure_snapshot(engine: str, size: int) -> dict[str, object]:
    system = Counters(size)
    kernel = make_kernel(system, engine=engine)  # type: ignore[arg-type]
    search_s = timed_run(kernel, system)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "snapshot"
        start = time.perf_counter()
        save(path, kernel, kernel.mark(), binding="", elapsed_s=0.0)
        saved = time.perf_counter()
        load(path, make_kernel(system, engine=engine), binding="")  # type: ignore[arg-type]
        loaded = time.perf_counter()
        return {
            "snapshot": engine,
            "states": len(kernel),
            "bytes_per_state": round(path.stat().st_size / len(kernel), 1),
            "save_ratio_to_search": round((saved - start) / search_s, 3),
            "load_ratio_to_search": round((loaded - saved) / search_s, 3),
        }


def main(arguments: Sequence[str]) -> None:
    tasks = int(arguments[0]) if arguments else 2000
    with executors() as found:
        for name, executor in found.items():
            print(json.dumps(measure_executor(name, executor, tasks)), flush=True)
    print(json.dumps(measure_journal(tasks)), flush=True)
    print(json.dumps(measure_snapshot("python", 2)), flush=True)
    if find_compiled_kernel() is not None:
        print(json.dumps(measure_snapshot("compiled", 3)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
