"""Runs the command line with short chunks and a snapshot at every moment, and dies where it is told to.

Usage: python dying_run.py MOMENT ARGUMENT...   with MOMENT one of
  never
  write:N      in the middle of the N-th write to the checkpoint, so that half of it is there
  rename:N     after the N-th file is written and before it has its name
  renamed:N    after that
  interrupt:N  not at all, but is interrupted as by Ctrl-C at the N-th write to the checkpoint
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from kubeproof.cli.main import main
from kubeproof.engine import durable, search, snapshot
from kubeproof.verify.journal import verification


class DyingSystem:
    """The module `os` as the checkpoint sees it."""

    def __init__(self, moment: str) -> None:
        self._what, _, number = moment.partition(":")
        self._left = int(number or 0)

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def write(self, descriptor: int, data: memoryview) -> int:
        if self._is_time("write"):
            os.write(descriptor, data[: len(data) // 2])
            _die()
        if self._is_time("interrupt"):
            os.kill(os.getpid(), signal.SIGINT)
        return os.write(descriptor, data)

    def replace(self, source: Any, target: Any) -> None:
        if self._is_time("rename"):
            _die()
        os.replace(source, target)
        if self._is_time("renamed"):
            _die()

    def _is_time(self, what: str) -> bool:
        self._left -= what == self._what
        return what == self._what and self._left == 0


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def run(moment: str, arguments: list[str]) -> int:
    search.CHUNK = 16
    snapshot.SHARE = 0
    verification.verify_kept.__kwdefaults__["interval_s"] = 0.0
    durable.os = DyingSystem(moment)  # type: ignore[assignment]
    return main(arguments)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2:]))
