"""Running cases: verdicts compared, failures kept apart."""

from __future__ import annotations

import pytest

from kubeproof.cases import run
from kubeproof.cases.library import Case, Variant, find_case, find_variant
from kubeproof.verify.options import VerifyOptions


def chosen(name: str, variant: str) -> tuple[Case, Variant]:
    case = find_case(name)
    return case, find_variant(case, variant)


def test_a_violating_case_is_violated_and_its_repair_holds() -> None:
    runs = run.run_cases([chosen("c7", "violating"), chosen("c7", "safe")])

    assert [(one.case, one.variant, one.verdict, one.nodes) for one in runs] == [
        ("c7", "violating", "VIOLATED", 3),
        ("c7", "safe", "HOLDS", 3),
    ]
    assert all(one.as_expected for one in runs)
    assert [one.result for one in runs] == [None, None]


def test_several_processes_answer_in_order() -> None:
    runs = run.run_cases([chosen("c7", "safe"), chosen("c7", "violating")], workers=2)

    assert [(one.variant, one.verdict) for one in runs] == [("safe", "HOLDS"), ("violating", "VIOLATED")]


def test_the_whole_result_is_kept_when_asked_for() -> None:
    one = run.run_case(chosen("c7", "violating"), keep_result=True)

    assert one.result is not None
    assert one.states == one.result.statistics.states


def test_a_limit_is_not_the_expected_verdict() -> None:
    one = run.run_case(chosen("c7", "safe"), VerifyOptions(max_states=1))

    assert (one.verdict, one.as_expected) == ("UNKNOWN", False)


def test_an_error_does_not_keep_the_others_from_running(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError

    monkeypatch.setattr(run, "verify", broken)

    assert [(one.verdict, one.problem) for one in run.run_cases([chosen("c1", "safe")] * 2)] == [
        ("ERROR", "KeyError"),
        ("ERROR", "KeyError"),
    ]
