"""One line on stderr that tells how far a search has come."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from kubeproof.cli.terminal import is_terminal

if TYPE_CHECKING:
    from kubeproof.verify.options import Progress

_TERMINAL_EVERY_S = 0.2
_LOG_EVERY_S = 5.0


class ProgressLine:
    """Shows progress: one line rewritten in place on a terminal, a line now and then elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._in_place = is_terminal(stream)
        self._next_s = 0.0
        self._width = 0

    def __call__(self, progress: Progress) -> None:
        """Shows the progress unless it was shown a moment ago; time is the search's own."""
        if progress.elapsed_s < self._next_s:
            return
        self._next_s = progress.elapsed_s + (_TERMINAL_EVERY_S if self._in_place else _LOG_EVERY_S)
        line = describe(progress)
        self._write(f"\r{line:<{self._width}}" if self._in_place else f"{line}\n")
        self._width = len(line)

    def close(self) -> None:
        """Wipes the line, so that the report starts on a clean one."""
        if self._in_place and self._width:
            self._write(f"\r{'':{self._width}}\r")
        self._width = 0

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError):  # progress is a courtesy; losing it must not end a verification
            self._stream.write(text)
            self._stream.flush()


def progress_line(choice: str, quiet: bool) -> ProgressLine | None:
    """The line to show progress on, None if nobody wants it; `auto` asks for a terminal and no -q."""
    wanted = choice == "always" or (choice == "auto" and not quiet and is_terminal(sys.stderr))
    return ProgressLine(sys.stderr) if wanted and sys.stderr is not None else None


def describe(progress: Progress) -> str:
    """The progress in words."""
    rate = progress.states / progress.elapsed_s if progress.elapsed_s > 0 else 0.0
    return (
        f"{progress.phase}: {progress.states:,} states, {rate:,.0f} states/s, "
        f"frontier {progress.frontier:,}, depth {progress.depth:,}, {progress.elapsed_s:.1f} s"
    )
