"""How every ending becomes a line on stderr and an exit code, and which code counts where several apply."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

import click

from kubeproof.errors import KubeproofError
from kubeproof.report.escape import escape

if TYPE_CHECKING:
    from collections.abc import Iterable

OK, VIOLATED, USAGE, INCONCLUSIVE, REFUSED, NOTHING, ENVIRONMENT, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 4, 5, 6, 70, 130
FIRST = (VIOLATED, INTERNAL, INTERRUPTED, USAGE, REFUSED, ENVIRONMENT, INCONCLUSIVE, NOTHING, OK)


def first_of(codes: Iterable[int]) -> int:
    """The exit code that counts: a violation whatever else happened, then what is our fault, then what cut it short."""
    return min(codes, key=FIRST.index)


def tell_ending(problem: BaseException) -> int:
    """Says in a line what ended a command or a part of it; its exit code. What no contract covers is raised again."""
    if isinstance(problem, click.exceptions.Exit | GeneratorExit | SystemExit):
        raise problem
    if isinstance(problem, click.ClickException):
        return _tell_usage(problem)
    if isinstance(problem, KubeproofError):
        for line in str(problem).split("\n"):  # loading lists several problems, one a line
            say(f"error: {line}")
        return problem.exit_code
    if isinstance(problem, KeyboardInterrupt | click.Abort):
        say("interrupted")
        return INTERRUPTED
    if isinstance(problem, BrokenPipeError):
        silence(sys.stdout)
        return OK
    if isinstance(problem, MemoryError):
        say("error: out of memory. Set --memory or --max-states to stop in time.")
        return INCONCLUSIVE
    if isinstance(problem, OSError):
        _show_traceback(problem)
        say(f"error: E401 {problem}")
        return ENVIRONMENT
    return _tell_internal(problem)


def _tell_usage(problem: click.ClickException) -> int:
    with suppress(OSError):
        problem.show()
    return USAGE


def _tell_internal(problem: BaseException) -> int:
    """Says in one line that the fault is ours."""
    _show_traceback(problem)
    say(
        f"internal error: {type(problem).__name__}: {problem}. This is a fault of Kubeproof: please report "
        f"the command, its input and the traceback that KUBEPROOF_DEBUG=1 shows."
    )
    return INTERNAL


def _show_traceback(problem: BaseException) -> None:
    """Shows where the problem came from, only with KUBEPROOF_DEBUG=1."""
    if os.environ.get("KUBEPROOF_DEBUG", "") not in ("", "0"):
        import traceback

        with suppress(OSError):
            traceback.print_exception(problem)


def say(line: str) -> None:
    """One line on stderr; what comes from manifests is escaped. Nobody there to read it is no error."""
    with suppress(OSError, ValueError):
        click.echo(escape(line), err=True)


def silence(stream: TextIO) -> None:
    """Sends what is still buffered nowhere, so that the interpreter does not complain when it ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
