"""Signals: asked gently, broken off if need be, ended at once when they come again."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from kubeproof.cli.running.endings import FIRST, first_of
from kubeproof.cli.running.interruption import REPEATED_S, REPORTING_S, Interruption, current, listening


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_breaks_off_what_has_nothing_to_tell(number: signal.Signals) -> None:
    interruption = Interruption()
    with listening(interruption, to_the_end=False), pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), number)

    assert interruption.stop.is_asked


def test_work_that_looks_is_not_broken_off() -> None:
    interruption = Interruption()
    with listening(interruption, to_the_end=False), interruption.gently() as stop:
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.is_asked
        stop.obey()
        interruption.wake(signal.SIGALRM, None)

    assert stop.is_obeyed


def test_work_that_does_not_look_is_broken_off() -> None:
    interruption = Interruption()
    with listening(interruption, to_the_end=False), interruption.gently():
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            threading.Event().wait()  # for ever, but for the signal that breaks it off


def test_a_signal_that_comes_again_ends_the_process(clock: Clock) -> None:
    ended: list[int] = []
    interruption = Interruption(clock, ended.append)
    with pytest.raises(KeyboardInterrupt):
        interruption.hear(signal.SIGTERM, None)

    clock.now_s = REPEATED_S / 2  # `timeout` sends its signal twice: to the process, then to its group
    interruption.hear(signal.SIGTERM, None)
    assert ended == []
    clock.now_s = REPEATED_S
    interruption.hear(signal.SIGTERM, None)
    assert ended == [130]


def test_a_report_that_nobody_reads_is_given_up(clock: Clock) -> None:
    interruption = Interruption(clock)
    with pytest.raises(KeyboardInterrupt):
        interruption.hear(signal.SIGINT, None)
    interruption.stop.obey()
    interruption.wake(signal.SIGALRM, None)

    clock.now_s = REPORTING_S
    with pytest.raises(KeyboardInterrupt):
        interruption.wake(signal.SIGALRM, None)


def test_a_signal_that_the_parent_ignores_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with listening(Interruption(), to_the_end=False):
            os.kill(os.getpid(), signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_handlers_are_as_before_when_a_command_has_ended() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)]
    with listening(Interruption(), to_the_end=False):
        assert signal.getsignal(signal.SIGTERM) is not before[1]

    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)] == before


def test_a_signal_that_arrives_while_handlers_are_set_back_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when `monitor run` ends its workers while they end by themselves: CPython runs pending handlers there."""
    set_handler = signal.signal

    def arrives_first(number: signal.Signals, handler: object) -> object:
        heard = signal.getsignal(number)
        if callable(heard) and "Interruption" in repr(heard):
            heard(number, None)
        return set_handler(number, handler)  # type: ignore[arg-type]

    interruption = Interruption()
    with listening(interruption, to_the_end=False):
        monkeypatch.setattr(signal, "signal", arrives_first)

    assert not interruption.stop.is_asked


def test_outside_of_a_command_nobody_asks() -> None:
    found: list[bool] = []
    elsewhere = threading.Thread(target=lambda: found.append(current().stop.is_asked))  # where no command ever ran
    elsewhere.start()
    elsewhere.join()

    assert found == [False]


def test_a_violation_counts_first_and_all_is_well_last() -> None:
    assert [first_of((code, 1)) for code in FIRST] == [1] * len(FIRST)
    assert [first_of((code, 0)) for code in FIRST] == list(FIRST)
    assert first_of((3, 6)) == 6
    assert first_of((130, 6)) == 130
