"""The list of strategies: who answers, why others do not, and that none answers more than its argument covers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from kubeproof.errors import InternalError
from kubeproof.verdicts import Verdict
from kubeproof.verify.answered import Answered, Declined, Reason
from kubeproof.verify.options import REDUCTIONS, Effort, VerifyOptions
from kubeproof.verify.result import IntentResult, Statistics
from kubeproof.verify.run import verify
from kubeproof.verify.strategies import walk
from kubeproof.verify.strategies.contract import Answers, Attempt, Cost, Strategy
from kubeproof.verify.strategies.inquiry import Inquiry
from kubeproof.verify.words.summary import intent_result
from tests.unit.verify.inputs import loaded, node, scenario, web
from tests.unit.verify.test_interrupts import one_by_one
from tests.unit.verify.test_slicing import TWO_TEAMS

ROOT = Path(__file__).parents[4]
READY = "{minReady: {target: Deployment/shop/%s, count: %s, when: eventuallyAlways}}"
BOUNDED = "{maxReplicas: {target: Deployment/shop/web, count: 1}}"
ONE = (node("n1"), web(1))
FEW = VerifyOptions(engine="python", max_states=6, effort=Effort(max_at_first=5))


def answered(one: IntentResult) -> Answered:
    assert one.strategy is not None
    return one.strategy


def reasons(one: IntentResult) -> dict[str, str]:
    return {passed.name: passed.reason for passed in answered(one).before}


def test_every_strategy_is_told_in_the_documentation_in_its_order() -> None:
    text = (ROOT / "docs" / "explanation" / "reductions.md").read_text(encoding="utf-8")
    section = text.partition("## Strategies\n")[2].partition("\n## ")[0]
    told = re.findall(r"^\| `([a-z-]+)` \| (proofs|violations|both) \|", section, re.MULTILINE)

    known = [
        (one.name, "both" if one.answers is Answers.BOTH else one.answers.value.split()[0]) for one in walk.STRATEGIES
    ]
    assert told == list(dict.fromkeys(known))


def test_strategies_that_search_nothing_come_before_the_search_of_the_whole() -> None:
    names = [one.name for one in walk.STRATEGIES]
    cheap = [names.index(one.name) for one in walk.STRATEGIES if one.cost == Cost.NO_SEARCH]

    assert max(cheap) < names.index("search")


def test_what_needs_no_search_is_proved_from_bounds() -> None:
    result = verify(loaded(*ONE, scenario(BOUNDED, "{settles: {}}")))

    assert [answered(one).name for one in result.results] == ["bounds", "first-look"]
    assert reasons(result.results[1])["bounds"] == Reason.NO_BOUND


def test_parts_answer_for_themselves() -> None:
    result = verify(loaded(*TWO_TEAMS, scenario(READY % ("one", 1), READY % ("two", 2))))

    assert [(one.verdict, answered(one).name) for one in result.results] == [
        (Verdict.HOLDS, "slices"),
        (Verdict.VIOLATED, "slices"),
    ]


def test_one_by_one_the_proof_and_the_violation_have_their_strategies() -> None:
    together = (node("n1", cpu="8"), node("n2", cpu="8"), web(1, name="one"), web(1, name="two"))
    result = verify(loaded(*together, scenario(READY % ("one", 1), READY % ("one", 2))), FEW)

    assert [answered(one).name for one in result.results] == ["pod-by-pod", "alone"]
    assert reasons(result.results[0])["first-look"] == Reason.LIMIT
    assert reasons(result.results[1])["whatever-others-do"] == Reason.NOT_PROVED


def test_what_stays_open_names_nobody_and_all_reasons() -> None:
    given, options = one_by_one()
    few = Effort(max_at_first=5, max_alone=5)
    result = verify(given, replace(options, max_states=6, effort=few))

    last = result.results[-1]
    assert (last.verdict, answered(last).name) == ("UNKNOWN", "")
    assert set(reasons(last)) == {one.name for one in walk.STRATEGIES}
    assert reasons(last)["search"] == Reason.LIMIT


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_without_a_reduction_those_that_need_it_are_switched_off(reduction: str) -> None:
    result = verify(loaded(*ONE, scenario("{settles: {}}")), VerifyOptions(without=(reduction,)))

    off = {one.name for one in walk.STRATEGIES if reduction in one.needs}
    passed = answered(result.results[0]).before
    assert {one.name for one in passed if one.reason == Reason.SWITCHED_OFF} == off
    assert all(one.detail == f"--without {reduction}" for one in passed if one.reason == Reason.SWITCHED_OFF)


def test_the_reference_engine_answers_alone() -> None:
    result = verify(loaded(*ONE, scenario("{settles: {}}")), VerifyOptions(engine="reference"))

    assert answered(result.results[0]) == Answered("reference")


def _claims(verdict: Verdict) -> Strategy:
    def attempt(inquiry: Inquiry, numbers: Sequence[int]) -> Attempt:
        found = {n: (intent_result(inquiry.loaded, inquiry.plan, n, verdict, Statistics()),) for n in numbers}
        return Attempt(found, Statistics())

    answers = Answers.PROOFS if verdict == Verdict.VIOLATED else Answers.VIOLATIONS
    return Strategy("bold", answers, Cost.NO_SEARCH, lambda inquiry, number: None, attempt)


@pytest.mark.parametrize("verdict", [Verdict.VIOLATED, Verdict.HOLDS, Verdict.VACUOUS])
def test_an_answer_that_a_strategy_may_not_give_is_a_fault(verdict: Verdict, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "STRATEGIES", (_claims(verdict), *walk.STRATEGIES))

    with pytest.raises(InternalError, match="E700 bold may find"):
        verify(loaded(*ONE, scenario("{settles: {}}")))


def test_a_fault_of_one_strategy_leaves_the_answer_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(inquiry: Inquiry, numbers: Sequence[int]) -> Attempt | Declined:
        raise IndexError("tuple index out of range")

    broken = Strategy("broken", Answers.BOTH, Cost.NO_SEARCH, lambda inquiry, number: None, fail)
    monkeypatch.setattr(walk, "STRATEGIES", (broken, *walk.STRATEGIES))
    result = verify(loaded(*ONE, scenario("{settles: {}}", BOUNDED)))

    assert [(one.verdict, answered(one).name) for one in result.results] == [
        (Verdict.HOLDS, "first-look"),
        (Verdict.HOLDS, "bounds"),
    ]
    assert reasons(result.results[0])["broken"] == Reason.FAILED
