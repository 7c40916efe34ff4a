"""The inside of a worker process of the pool."""

from __future__ import annotations

import os
import pickle
import sys
import threading
from contextlib import suppress
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait

from kubeproof.verify.executors.task import Answer, Task, Work, answer_of, error_text

READY = "ready"  # the first message of a worker that can work


def serve(connection: Connection, payload: bytes) -> None:
    """Answers tasks until the connection ends; the first message is READY, or why there is no work to be had."""
    _speak_on_stderr()
    threading.Thread(target=_die_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):  # the parent closed the connection: nothing left to do
        work = _load(connection, payload)
        while work is not None:
            connection.send_bytes(pack(connection.recv(), work))


def _load(connection: Connection, payload: bytes) -> Work | None:
    try:
        work: Work = pickle.loads(payload)
    except Exception as problem:
        connection.send(f"{type(problem).__name__}: {problem}")
        return None
    connection.send(READY)
    return work


def pack(task: Task, work: Work) -> bytes:
    """The pickled answer; a value that cannot be pickled is an error of its task."""
    answer: Answer = answer_of(work, task)
    try:
        return pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)
    except Exception as problem:
        return pickle.dumps((None, error_text(task.key, problem)))


def _speak_on_stderr() -> None:
    """Sends stray prints to stderr: the parent's stdout carries a report and nothing else."""
    with suppress(OSError):
        os.dup2(2, 1)
    sys.stdout = sys.stderr


def _die_with_parent() -> None:
    """Ends this process when the parent is gone, even in the middle of a long task."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
