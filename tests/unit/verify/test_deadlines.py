"""A run ends when its time is over: what comes late is not begun, and says so."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from kubeproof.engine.limits import Deadline
from kubeproof.manifests.loaded import Loaded
from kubeproof.verdicts import Verdict
from kubeproof.verify.answered import Reason
from kubeproof.verify.options import Effort, VerifyOptions
from kubeproof.verify.planning import plan_input
from kubeproof.verify.proofs import slices
from kubeproof.verify.proofs.crowd import proving
from kubeproof.verify.result import Statistics
from kubeproof.verify.run import _deadline, verify
from kubeproof.verify.searching import Watch
from kubeproof.verify.strategies import alone, events_at_rest
from tests.unit.verify.inputs import loaded, node, scenario, web

READY = "{minReady: {target: Deployment/shop/%s, count: 2}}"
SETTLES = "{settles: {}}"
USUAL = VerifyOptions(timeout_s=60.0, has_usual_timeout=True)


def two_that_share_nodes() -> Loaded:
    events = "{nodeFailure: {}}"
    nodes = (node("n1", cpu="8"), node("n2", cpu="8"), node("n3", cpu="8"))
    intents = (READY % "front", READY % "back", SETTLES)
    return loaded(*nodes, web(2, name="front"), web(2, name="back"), scenario(*intents, events=events))


def test_what_was_spent_on_reading_is_taken_from_the_deadline_and_not_from_what_is_told() -> None:
    given, options = two_that_share_nodes(), VerifyOptions(timeout_s=30.0)
    at_once, later = _deadline(given, options), _deadline(given, replace(options, spent_s=20.0))

    assert at_once is not None
    assert later is not None
    assert at_once.given_s == later.given_s == 30.0
    assert at_once.at_s - later.at_s == pytest.approx(20.0, abs=5.0)


def test_no_part_is_searched_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []
    search, is_late = slices.search_part, False

    def search_one(part, *others):
        nonlocal is_late
        searched.append(part.workloads[0])
        is_late = True
        return search(part, *others)

    monkeypatch.setattr(slices, "search_part", search_one)
    monkeypatch.setattr(Watch, "is_late", property(lambda watch: is_late))

    effort = Effort(max_at_first=5, max_alone=4_000, max_at_last=5)
    options = VerifyOptions(engine="python", without=("abstraction",), effort=effort, max_states=50)
    result = verify(two_that_share_nodes(), options)

    assert searched == ["Deployment/shop/front"]
    passed = {one.intent: one.strategy.before for one in result.results if one.strategy is not None}
    left = {intent: [one.words for one in before if one.name == "alone"] for intent, before in passed.items()}
    assert left["minReady Deployment/shop/back"] == left["settles"] == [alone.NO_TIME.by("alone").words]
    assert not any("to itself" in one.detail for one in result.results if one.key == "settles")


def test_the_second_look_has_what_the_first_one_leaves_and_none_is_begun_without_time() -> None:
    now = [0.0]
    watch = Watch(deadline=Deadline(42.0, 60.0), deadline_clock=lambda: now[0])  # 0.7 of the minute
    inquiry = SimpleNamespace(watch=watch, options=USUAL, statistics=Statistics())

    def left_s(at_s: float) -> float | None:
        now[0] = at_s
        last = events_at_rest._last_watch(inquiry)
        return None if last.is_late else events_at_rest._second_look(USUAL, last).timeout_s

    assert [left_s(at_s) for at_s in (12.0, 42.0, 56.0, 58.0)] == [45.0, 15.0, 1.0, None]
    found = events_at_rest.attempt(inquiry, [0])
    assert found.results == {}
    assert found.left[0].reason is Reason.LIMIT
    now[0] = 61.0
    assert events_at_rest._last_watch(inquiry).is_over


def test_what_proofs_of_all_parts_have_in_common_is_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def count(name: str) -> None:
        work = getattr(proving, name)
        monkeypatch.setattr(proving, name, lambda *given: made.append(name) or work(*given))

    for name in ("Room", "find_obstacle", "find_guarded", "_Asked"):
        count(name)
    verify(two_that_share_nodes(), VerifyOptions(engine="python", effort=Effort(max_at_first=5, max_at_last=5)))

    assert {name: made.count(name) for name in ("Room", "find_obstacle", "find_guarded")} == dict.fromkeys(
        ("Room", "find_obstacle", "find_guarded"), 1
    )
    assert made.count("_Asked") > 1


def test_equal_parts_that_come_to_a_limit_are_searched_once_unless_the_limit_is_another() -> None:
    prove, memo, searched = proving.prove_part, {}, []
    whole = proving.Input(two_that_share_nodes())

    def prove_all(most: int) -> int:
        options = VerifyOptions(engine="python", max_states=most)
        for part in whole.parts:
            prove(whole, part, lambda one: searched.append(one) or plan_input(one, options), options, Watch(), memo)
        return len(searched)

    first = prove_all(10)
    assert prove_all(10) == first
    assert prove_all(11) > first


def test_a_verdict_is_never_made_of_lack_of_time() -> None:
    result = verify(two_that_share_nodes(), VerifyOptions(engine="python", timeout_s=1e-6))

    assert {one.verdict for one in result.results} == {Verdict.UNKNOWN}
