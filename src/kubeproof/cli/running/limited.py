"""Work in another process, where it can be limited and may crash: Storm cannot be stopped from inside Python."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn, TypeVar

from kubeproof.cli.running.endings import say
from kubeproof.cli.running.interruption import Interruption
from kubeproof.errors import InternalError, KubeproofError, LimitReached

Result = TypeVar("Result")
_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux
LONGEST_WAIT_S = 1e6  # at once: the system takes no number of seconds that is too large


class OutOfTime(LimitReached):
    """The work took too long."""


class Reached:
    """How far work has come, in a few words that its process writes and this one reads."""

    _SIZE = 256  # bytes

    def __init__(self) -> None:
        import mmap

        self._shared = mmap.mmap(-1, self._SIZE)

    def tell(self, words: str) -> None:
        """Says where the work is."""
        self._shared[:] = words.encode()[: self._SIZE].ljust(self._SIZE, b"\0")

    def __str__(self) -> str:
        return self._shared[:].rstrip(b"\0").decode(errors="ignore")


def ask_storm(
    work: Callable[[], Result],
    *,
    timeout_s: float | None,
    memory_mib: int | None,
    reached: object = "",
    remedy: str = "Allow more --timeout",
) -> Result:
    """As `run_limited`; signals end the program at once even where the work is done here: Storm hides them from
    Python."""
    if is_apart(timeout_s, memory_mib):
        try:
            return run_limited(work, timeout_s=timeout_s, memory_mib=memory_mib)
        except OutOfTime:
            at = f" ({reached})" if str(reached) else ""
            raise LimitReached(f"E302 no answer within {timeout_s:g} s{at}. {remedy}.") from None
        except KeyboardInterrupt:
            if str(reached):
                say(f"interrupted at: {reached}")
            raise
    with _ignore_signals(signal.SIGINT), _ignore_signals(signal.SIGTERM):
        return work()


def is_apart(timeout_s: float | None, memory_mib: int | None) -> bool:
    """True if work is done in a process of its own.

    Not without limits if there are threads, which would not survive in a copy of this process.
    """
    is_limited = timeout_s is not None or memory_mib is not None
    return is_limited or (threading.active_count() == 1 and hasattr(os, "fork"))


def run_limited(work: Callable[[], Result], *, timeout_s: float | None, memory_mib: int | None) -> Result:
    """The result of the work; passing a limit is inconclusive (E302), a crash an internal error.

    Whatever ends this process ends the work, too.
    """
    if not is_apart(timeout_s, memory_mib):
        return work()
    reader, writer = os.pipe()
    parent, child = os.getpid(), os.fork()
    if child == 0:
        os.close(reader)
        _die_with(parent)
        _work(work, writer, memory_mib)
    os.close(writer)
    try:
        received = _receive(reader, timeout_s)
        found: Result = _result(received, memory_mib) if received else _raise_lost(child, memory_mib)
        return found
    finally:
        os.close(reader)
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


@contextmanager
def _ignore_signals(number: int) -> Iterator[None]:
    """A signal ends the process meanwhile, if we listen to it: not under a test runner, or as part of a program."""
    handler = signal.getsignal(number) if threading.current_thread() is threading.main_thread() else None
    if not isinstance(getattr(handler, "__self__", None), Interruption):
        yield
        return
    signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(number, handler)


def _die_with(parent: int) -> None:
    """Makes this process end with its parent, which alone hears Ctrl-C and tells of it.

    Linux sends a signal; elsewhere only a parent that is killed outright leaves its child behind.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before
            os._exit(1)


def _work(work: Callable[[], Any], writer: int, memory_mib: int | None) -> NoReturn:
    """What the child does: the outcome goes into the pipe, whatever it is."""
    import pickle

    try:
        with os.fdopen(writer, "wb") as pipe:
            pickle.dump(_outcome(work, memory_mib), pipe)
    finally:
        os._exit(0)


def _outcome(work: Callable[[], Any], memory_mib: int | None) -> tuple[str, Any]:
    try:
        if memory_mib is not None:
            import resource

            most = min(memory_mib << 20, sys.maxsize)
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        return "result", work()
    except KubeproofError as problem:
        return "error", (str(problem), problem.exit_code)
    except MemoryError:
        return "memory", None
    except ImportError as problem:  # a library that no memory is left for
        return ("internal", f"ImportError: {problem}") if memory_mib is None else ("memory", None)
    except Exception as problem:
        return "internal", f"{type(problem).__name__}: {problem}"


def _receive(reader: int, timeout_s: float | None) -> bytes:
    """All that the child wrote; nothing if it did not end in time, or died."""
    import select
    import time

    end = None if timeout_s is None else time.monotonic() + timeout_s
    parts: list[bytes] = []
    while True:
        left = None if end is None else end - time.monotonic()
        if not select.select([reader], [], [], None if left is None else min(max(0.0, left), LONGEST_WAIT_S))[0]:
            if left is not None and left > LONGEST_WAIT_S:
                continue
            raise OutOfTime(f"E302 no answer within {timeout_s:g} s. Allow more --timeout.")
        part = os.read(reader, 1 << 20)
        if not part:
            return b"".join(parts)
        parts.append(part)


def _raise_lost(child: int, memory_mib: int | None) -> NoReturn:
    """Says why the child died without a word."""
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if memory_mib is not None and -code not in (signal.SIGFPE, signal.SIGINT):
        raise _too_little(memory_mib)
    if code == -signal.SIGKILL:  # nobody but the system ends a process so, and hardly for another reason
        raise LimitReached(
            "E302 the system ended the process that asked Storm, as it does for lack of memory. "
            "Set --memory to stop in time, or ask about something smaller."
        )
    name = signal.strsignal(-code) if code < 0 else f"exit code {code}"
    raise InternalError(
        f"E700 Storm crashed ({name}). A division by zero in the program is a known cause; otherwise please report it."
    )


def _too_little(memory_mib: int | None) -> LimitReached:
    return LimitReached(f"E302 more than {memory_mib} MiB would be needed. Allow more --memory.")


def _result(received: bytes, memory_mib: int | None) -> Any:
    import pickle

    kind, content = pickle.loads(received)
    if kind == "result":
        return content
    if kind == "memory":
        raise _too_little(memory_mib) if memory_mib is not None else MemoryError
    if kind == "error":
        problem = KubeproofError(content[0])
        problem.exit_code = content[1]
        raise problem
    raise InternalError(f"E700 the process that asked Storm ended: {content}.")
