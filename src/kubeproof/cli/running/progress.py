"""One line on stderr that tells how far a search has come."""

from __future__ import annotations

import sys
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, TextIO

from kubeproof.cli.running.endings import say
from kubeproof.cli.running.terminal import is_terminal

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubeproof.engine.system import Progress as EngineProgress
    from kubeproof.verify.options import SearchProgress
    from kubeproof.verify.resize import Size
    from kubeproof.verify.result import IntentResult
    from kubeproof.verify.scaling.result import SweepProgress

_TERMINAL_EVERY_S = 0.2
_LOG_EVERY_S = 5.0
MAX_TOLD = 5  # violations, one by one, before the report


class ProgressLine:
    """Shows progress: one line rewritten in place on a terminal, a line now and then elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._in_place = is_terminal(stream)
        self._next_s = 0.0
        self._width = 0

    def __call__(self, progress: SearchProgress) -> None:
        """Shows the progress unless it was shown a moment ago; time is the search's own."""
        self._show(progress.elapsed_s, lambda: describe(progress))

    def show_explored(self, progress: EngineProgress) -> None:
        """The same for a search of the engine."""
        self._show(progress.elapsed_s, lambda: describe(progress))

    def sweep(self, progress: SweepProgress) -> None:
        """The same for a sweep over sizes."""
        self._show(progress.elapsed_s, lambda: describe_sweep(progress))

    def show_simulated(self, elapsed_s: float, told: Callable[[], str]) -> None:
        """The same for runs on a clock."""
        self._show(elapsed_s, told)

    def _show(self, elapsed_s: float, told: Callable[[], str]) -> None:
        if elapsed_s < self._next_s:
            return
        self._next_s = elapsed_s + (_TERMINAL_EVERY_S if self._in_place else _LOG_EVERY_S)
        line = told()
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


def telling(line: ProgressLine | None, quiet: bool) -> Callable[[IntentResult], None] | None:
    """Tells on stderr of violations when they are found, above the line of progress; None with -q.

    stdout carries the report alone, which comes when all is searched. Of many the first ones are enough.
    """
    if quiet:
        return None
    told = count(1)

    def tell(found: IntentResult) -> None:
        from kubeproof.report.sentences import title

        number = next(told)
        if number > MAX_TOLD:
            if number == MAX_TOLD + 1:
                say("further violations are in the report; still searching")
            return
        if line is not None:
            line.close()
        steps = f" after {len(found.trace.steps)} steps" if found.trace is not None else ""
        say(f"{found.verdict} {title(found)}{steps}; still searching")

    return tell


def describe(progress: SearchProgress | EngineProgress) -> str:
    """The progress in words."""
    rate = progress.states / progress.elapsed_s if progress.elapsed_s > 0 else 0.0
    return (
        f"{progress.phase}: {progress.states:,} states, {rate:,.0f} states/s, "
        f"frontier {progress.frontier:,}, depth {progress.depth:,}, {progress.elapsed_s:.1f} s"
    )


def describe_sweep(progress: SweepProgress) -> str:
    """The progress of a sweep in words; the rest is taken to go as fast as what is done, though larger sizes do not."""
    elapsed_s = progress.elapsed_s
    rate = progress.states / elapsed_s if elapsed_s > 0 else 0.0
    parts = [f"sizes {progress.done:,}/{progress.total:,}"]
    if progress.current is not None:
        parts.append(f"at {_brief(progress.current)}")
    parts.append(f"{rate:,.0f} states/s")
    if 0 < progress.done < progress.total:
        left_s = elapsed_s / progress.done * (progress.total - progress.done)
        parts.append(f"{elapsed_s:.1f} s, at least {left_s:,.0f} s to go")
    if progress.best is not None:
        parts.append(f"violated at {_brief(progress.best)}")
    return ", ".join(parts)


def _brief(size: Size) -> str:
    return f"{size.node_total} nodes and {size.pod_total} pods"
