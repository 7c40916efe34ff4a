"""`kubeproof monitor work`, and how `monitor run --executor` shares the work."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from kubeproof.cli.monitoring.inputs import PASSWORD
from kubeproof.cli.running.endings import INTERRUPTED
from kubeproof.errors import EnvironmentProblem, UsageError

if TYPE_CHECKING:
    from kubeproof.monitor.brokers.address import Address
    from kubeproof.monitor.metrics import Metrics
    from kubeproof.monitor.run import Clock, Deliveries, Source, Summary, Watch


def board_address(text: str) -> Address:
    """The address of a stream in Redis."""
    from kubeproof.monitor.brokers.address import REDIS, parse_address

    address = parse_address(text, password=os.environ.get(PASSWORD, ""))
    if address.scheme not in REDIS:
        raise UsageError("the work is shared through Redis", "Write redis://HOST:PORT/[DATABASE/]NAME.")
    return address


def watch_elsewhere(
    wanted: Watch,
    source: Source | Deliveries,
    metrics: Metrics,
    clock: Clock | None,
    *,
    executor: str,
    workers: int,
    partitions: int,
) -> Summary:
    """Feeds the input into Redis, starts workers, and gathers their alarms."""
    from kubeproof.monitor.scale.board import Board
    from kubeproof.monitor.scale.run import ScaleOut, watch_scaled

    if wanted.state is not None:
        raise UsageError("--state and --executor do not go together", "What is remembered is in Redis.")
    address = board_address(executor)
    board = Board(address)
    try:
        with _start_workers(address, workers) as processes:
            scale = ScaleOut(partitions, _name(), lambda: _check(processes))
            return watch_scaled(wanted, source, board, scale, metrics, clock)
    finally:
        board.close()


@contextmanager
def _start_workers(address: Address, workers: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Workers on this machine while the block runs; they can be ended at any moment."""
    command = [sys.executable, "-m", "kubeproof.cli.main", "monitor", "work", address.without_password]
    environment = {**os.environ, **({PASSWORD: address.password} if address.password else {})}
    processes = [
        subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        for _ in range(workers)
    ]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()  # what they know is in Redis, and one that is asked to end may still say so on our stderr
        for process in processes:
            process.wait()


def _check(processes: list[subprocess.Popen[bytes]]) -> None:
    if processes and all(process.poll() is not None for process in processes):
        raise EnvironmentProblem("E401 all workers have ended. The same command goes on from where they were.")


def _name() -> str:
    return f"{os.getpid()}-{uuid.uuid4().hex[:12]}"


@click.command("work", short_help="Judge a share of a stream that --executor splits.")
@click.argument("address", metavar="redis://HOST:PORT/[DB/]NAME")
def work_command(*, address: str) -> int:
    """Judge a share of a stream that `monitor run --executor` splits.

    Start as many as you like, on any machine that reaches Redis; rules and options come from there. One that dies is
    replaced by the others after five seconds. All end when the stream does.

    \b
    Examples:
      kubeproof monitor run --rules rules.yaml --executor redis://10.0.0.1/events --workers 0 events.jsonl
      kubeproof monitor work redis://10.0.0.1/events

    \b
    Exit codes: 0 everything is judged, 2 nobody has begun, 6 Redis is gone.
    """
    from kubeproof.monitor.scale.board import Board
    from kubeproof.monitor.scale.worker import WorkOptions, work

    board = Board(board_address(address))
    try:
        work(board, WorkOptions(_name()))
    except KeyboardInterrupt:  # nothing is lost: other workers go on
        return INTERRUPTED
    finally:
        board.close()
    return 0
