"""Two searches of one plan, a coarser model and the full one: interruptions, shares of the time, kept runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kubeproof.engine.search import Finding, Search, explore
from kubeproof.engine.stopped import INTERRUPTED, StoppedBy, StopReason
from kubeproof.manifests.loaded import Loaded
from kubeproof.verdicts import Verdict
from kubeproof.verify import searching
from kubeproof.verify.journal.verification import verify_kept
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.coarser import LEAST_S, explain_limits, within
from kubeproof.verify.result import VerifyResult
from kubeproof.verify.run import verify
from tests.unit.verify.inputs import loaded, node, scenario, web

WEB = "Deployment/shop/web"
PLACED = f"{{placement: {{{WEB}: {{a: 1, b: 1}}}}}}"


def drained(count: int) -> Loaded:
    """Two pods on two nodes, one node after the other is drained; so many pods shall be ready at any time."""
    intent = f"{{minReady: {{target: {WEB}, count: {count}}}}}"
    events = "{drain: {max: 2, uncordon: true, after: stable}}"
    return loaded(node("a"), node("b"), web(2), scenario(intent, events=events, start=PLACED))


def cut(monkeypatch: pytest.MonkeyPatch, stopped_by: StoppedBy, times: int = 1) -> list[Search]:
    """Stops the first searches for this reason; the list fills with all searches."""
    done: list[Search] = []

    def stopping(*arguments: Any, **options: Any) -> Search:
        found = explore(*arguments, **options)
        keeper = options["keeper"]
        if len(done) < times:
            found = replace(found, stopped_by=stopped_by)
            if keeper is not None:
                keeper.is_cut_short = stopped_by.is_cut_short
        done.append(found)
        return found

    monkeypatch.setattr(searching, "explore", stopping)
    return done


def untimed(result: VerifyResult) -> VerifyResult:
    """The result without its time, and without who answered: a kept run takes no first look."""
    results = tuple(replace(one, strategy=None) for one in result.results)
    return replace(result, results=results, statistics=replace(result.statistics, elapsed_s=0.0))


def test_an_interrupted_coarser_search_ends_the_run_and_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    done = cut(monkeypatch, INTERRUPTED)

    result = verify(drained(2))  # with more runs than there are, it is broken: that says nothing

    assert [one.findings[0].verdict for one in done] == [Verdict.VIOLATED]
    assert (result.verdict, result.statistics.stopped_by) == (Verdict.UNKNOWN, INTERRUPTED)


def test_a_coarser_search_that_is_not_done_leaves_the_rest_of_the_time_to_the_full_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cut(monkeypatch, StoppedBy(StopReason.TIME, 5))

    assert verify(drained(2), VerifyOptions(timeout_s=600)).verdict == Verdict.VIOLATED


def test_a_coarser_model_gets_half_of_the_time_and_the_full_one_what_is_left() -> None:
    asked = VerifyOptions(timeout_s=10)

    assert within(asked, 0, is_relaxed=True).timeout_s == 5
    assert within(asked, 4, is_relaxed=False).timeout_s == 6
    assert within(asked, 12, is_relaxed=False).timeout_s == LEAST_S
    assert within(VerifyOptions(), 12, is_relaxed=True) == VerifyOptions()


def test_the_limit_that_is_told_is_the_one_that_was_asked_for() -> None:
    search = Search((Finding(Verdict.UNKNOWN),), None, StoppedBy(StopReason.TIME, 6), 6.0)  # type: ignore[arg-type]
    asked, used = VerifyOptions(timeout_s=10), VerifyOptions(timeout_s=6)

    assert explain_limits(search, used, asked).stopped_by == StoppedBy(StopReason.TIME, 10)
    full = replace(search, stopped_by=StoppedBy(StopReason.STATES, 6))
    assert explain_limits(full, used, asked) == full
    assert explain_limits(search, VerifyOptions(), VerifyOptions()) == search


@pytest.mark.parametrize(("count", "verdict"), [(0, Verdict.HOLDS), (2, Verdict.VIOLATED)])
def test_a_kept_run_of_both_models_gives_the_result_of_one_that_is_not(
    tmp_path: Path, count: int, verdict: str
) -> None:
    given = drained(count)

    kept = verify_kept(given, VerifyOptions(), directory=tmp_path, resume=False, interval_s=0.0)
    again = verify_kept(given, VerifyOptions(), directory=tmp_path, resume=True, interval_s=0.0)

    assert (kept.is_final, kept.result.verdict) == (True, verdict)
    assert untimed(kept.result) == untimed(verify(given))
    assert again == kept


def test_a_run_is_final_if_the_full_model_decides_after_a_coarser_one_that_was_cut_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut(monkeypatch, StoppedBy(StopReason.TIME, 5))

    kept = verify_kept(drained(2), VerifyOptions(), directory=tmp_path, resume=False)

    assert (kept.is_final, kept.result.verdict) == (True, Verdict.VIOLATED)


def test_a_run_whose_full_search_is_cut_short_goes_on_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        cut(patch, StoppedBy(StopReason.TIME, 5), times=2)
        kept = verify_kept(drained(2), VerifyOptions(), directory=tmp_path, resume=False)

    again = verify_kept(drained(2), VerifyOptions(), directory=tmp_path, resume=True)

    assert (kept.is_final, again.is_final) == (False, True)
    assert untimed(again.result) == untimed(verify(drained(2)))
