"""The executor that a user's words name."""

from __future__ import annotations

import re

from kubeproof.errors import UsageError
from kubeproof.verify.executors.gradual import Gradual
from kubeproof.verify.executors.inprocess import InProcess
from kubeproof.verify.executors.session import Executor

FORMS = "Use auto, inprocess, pool, pool:N or dask://HOST:PORT."
MOST_WORKERS = 1024
_DASK = re.compile(r"dask://(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):(?P<port>[0-9]{1,5})")
_POOL = re.compile(r"pool:(?P<size>[0-9]{1,4})")


def parse_executor(text: str, workers: int | None = None) -> Executor:
    """The executor for the text of `--executor`; `workers` is the number of `--workers` and sizes the pool."""
    if text == "inprocess":
        return _without_size(InProcess(), text, workers, allowed=(None, 1))
    if text == "auto":
        return InProcess() if workers == 1 else Gradual(_check_size(workers))
    if text == "pool":
        return _pool(workers)
    if found := _POOL.fullmatch(text):
        return _without_size(_pool(int(found["size"])), text, workers, allowed=(None, int(found["size"])))
    if (found := _DASK.fullmatch(text)) and 0 < int(found["port"]) < 65536:
        from kubeproof.verify.executors.dask_cluster import Dask

        return _without_size(Dask(f"tcp://{found['host']}:{found['port']}"), text, workers, allowed=(None,))
    raise UsageError(f"the executor {text!r} is not known", FORMS)


def _pool(size: int | None) -> Executor:
    from kubeproof.verify.executors.pool import Pool

    return Pool(_check_size(size))


def _check_size(size: int | None) -> int | None:
    if size is not None and not 1 <= size <= MOST_WORKERS:
        raise UsageError(f"{size} workers make no pool", f"Ask for 1 to {MOST_WORKERS}.")
    return size


def _without_size(executor: Executor, text: str, workers: int | None, *, allowed: tuple[int | None, ...]) -> Executor:
    if workers not in allowed:
        raise UsageError(f"--workers {workers} does not go with --executor {text}", "Leave one of them out.")
    return executor
