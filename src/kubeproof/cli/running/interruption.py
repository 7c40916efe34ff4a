"""Ctrl-C and SIGTERM: the one place that hears them, and what a command does then.

The first signal asks the work to stop. Work that is done `gently` ends by itself with what is known, or is broken off
soon after; anything else is broken off at once. A signal that comes again ends the process on the spot. Pods, CI jobs
and `timeout` send SIGTERM, a terminal SIGINT; both mean the same.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from kubeproof.stop import Stop

INTERRUPTED = 130
GRACE_S = 0.3  # in which work that was asked to stop may do so by itself
WRITING_S = 10.0  # the same for work that writes a checkpoint before it stops
AGAIN_S = 0.5  # until it is broken off once more, should something have swallowed that
REPORTING_S = 5.0  # for reports after an interrupt: a reader of stdout may never come
REPEATED_S = 0.5  # a signal within is the same one: `timeout` sends it to a process and to its group
USUAL = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}


class Interruption:
    """Whether a command was asked to end, and how its parts end then."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, leave: Callable[[int], object] = os._exit) -> None:
        self.stop = Stop()
        self._clock, self._leave = clock, leave
        self._begun_s = clock()
        self._asked_s: float | None = None
        self._grace_s = 0.0  # of what is done now; 0: it has nothing to tell, and is broken off at once
        self._is_over = False

    @property
    def elapsed_s(self) -> float:
        """The time since the command began, before it imported anything."""
        return self._clock() - self._begun_s

    def end(self) -> None:
        """From now on signals change nothing: there is no work left that they could end."""
        self._is_over = True

    def hear(self, number: int, frame: object) -> None:
        """What a signal does; runs between two steps of the main thread."""
        if self._is_over:
            return
        now_s = self._clock()
        if self._asked_s is not None:
            if now_s - self._asked_s >= REPEATED_S:
                self._leave(INTERRUPTED)
            return
        self._asked_s = now_s
        self.stop.ask()
        if not (self._grace_s and _wake_up(self._grace_s)):
            raise KeyboardInterrupt

    def wake(self, number: int, frame: object) -> None:
        """Breaks off what did not end by itself, and after a while also the telling of what is known."""
        if self._is_over:
            return
        is_late = self._asked_s is not None and self._clock() - self._asked_s >= REPORTING_S
        if self.stop.is_asked and (is_late or not self.stop.is_obeyed):
            raise KeyboardInterrupt

    @contextmanager
    def gently(self, grace_s: float = GRACE_S) -> Iterator[Stop]:
        """Work that looks at what is yielded, and gives what it knows when it is asked to stop or broken off.

        What comes after it is a report, which may be finished.
        """
        self._grace_s = grace_s
        try:
            yield self.stop
            self.stop.obey()
        finally:
            self._grace_s = REPORTING_S


def current() -> Interruption:
    """The interruption of the command that runs; outside of a command one that nobody asks for."""
    context = click.get_current_context(silent=True)
    found = context.find_object(Interruption) if context is not None else None
    return found or Interruption()


def _wake_up(after_s: float) -> bool:
    """Has `wake` called after a while and then again and again; False where the system cannot."""
    if not hasattr(signal, "setitimer") or signal.getsignal(signal.SIGALRM) is signal.SIG_DFL:
        return False
    signal.setitimer(signal.ITIMER_REAL, after_s, AGAIN_S)
    return True


@contextmanager
def listening(interruption: Interruption, *, to_the_end: bool) -> Iterator[None]:
    """Signals are heard meanwhile, those that are handled as usual: one that a parent ignores stays ignored.

    `to_the_end`: the process ends then, and no signal changes its exit code any more.
    """
    handlers: dict[int, Any] = {
        number: interruption.hear for number, usual in USUAL.items() if _is_usual(number, usual)
    }
    if handlers and hasattr(signal, "SIGALRM") and _is_usual(signal.SIGALRM, signal.SIG_DFL):
        handlers[signal.SIGALRM] = interruption.wake
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        interruption.end()  # first: setting a handler back runs those of signals that have arrived
        if interruption.wake in handlers.values():
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if to_the_end else handler)


def _is_usual(number: int, usual: Any) -> bool:
    return threading.current_thread() is threading.main_thread() and signal.getsignal(number) is usual
