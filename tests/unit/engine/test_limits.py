from __future__ import annotations

import builtins
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from kubeproof.engine.limits import Limits, resident_bytes


def refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_file(*_: Any, **__: Any) -> Any:
        raise FileNotFoundError

    monkeypatch.setattr(builtins, "open", no_file)


def test_no_limit_is_set_unless_asked_for() -> None:
    limits = Limits()

    assert (limits.max_states, limits.timeout_s, limits.memory_bytes) == (None, None, None)


def test_limits_with_different_clocks_are_equal() -> None:
    assert Limits(max_states=1, clock=lambda: 0.0) == Limits(max_states=1)


def test_a_process_holds_some_memory_and_more_when_it_takes_more() -> None:
    before = resident_bytes()
    block = bytearray(b"x") * (64 * 2**20)

    assert before > 2**20
    assert resident_bytes() > before + len(block) // 2


@pytest.mark.parametrize(("platform", "expected"), [("linux", 5 * 1024), ("darwin", 5)])
def test_the_peak_serves_where_the_present_is_not_told(
    monkeypatch: pytest.MonkeyPatch, platform: str, expected: int
) -> None:
    usage = SimpleNamespace(RUSAGE_SELF=0, getrusage=lambda _: SimpleNamespace(ru_maxrss=5))
    monkeypatch.setitem(sys.modules, "resource", usage)
    monkeypatch.setattr(sys, "platform", platform)
    refuse(monkeypatch)

    assert resident_bytes() == expected


def test_a_system_that_tells_nothing_sets_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resource", None)
    refuse(monkeypatch)

    assert resident_bytes() == 0
