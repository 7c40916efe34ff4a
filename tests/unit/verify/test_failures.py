"""What goes wrong in one part costs the answers of that part, and is told; never those of the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kubeproof.cli.main import main
from kubeproof.errors import KubeproofError, LimitReached, ScenarioError
from kubeproof.model.plan import Plan
from kubeproof.verdicts import Verdict
from kubeproof.verify import models
from kubeproof.verify.counterexamples import traces
from kubeproof.verify.counterexamples.replayer import ReplayMismatch
from kubeproof.verify.findings.failures import failure_of
from kubeproof.verify.options import Effort, VerifyOptions
from kubeproof.verify.proofs import slices
from kubeproof.verify.proofs.crowd import proving
from kubeproof.verify.proofs.crowd.proving import Input
from kubeproof.verify.proofs.slicing import Slice
from kubeproof.verify.result import VerifyResult
from kubeproof.verify.run import verify
from kubeproof.verify.strategies import whole
from tests.unit.verify.inputs import loaded, node, scenario, web
from tests.unit.verify.test_slicing import TWO_TEAMS

READY = "{minReady: {target: Deployment/shop/%s, count: %s, when: eventuallyAlways}}"
TOGETHER = (node("n1", cpu="8"), node("n2", cpu="8"), web(1, name="one"), web(1, name="two"))  # on the same nodes
ONE_BY_ONE = VerifyOptions(engine="python", max_states=6, effort=Effort(max_at_first=5))
DRAIN = "{drain: {}}"


def verdicts(result: VerifyResult) -> list[str]:
    return [one.verdict for one in result.results]


@pytest.fixture
def broken_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever searches the runs of workload two comes upon a fault of ours."""
    one_search, prove_part = models.one_search, proving.prove_part

    def fail(plan: Plan, *others: Any) -> Any:
        if any(workload.name == "two" for workload in plan.setup.workloads):
            raise IndexError("tuple index out of range")
        return one_search(plan, *others)

    def fail_to_prove(whole: Input, part: Slice, *others: Any) -> Any:
        if "Deployment/shop/two" in part.workloads:
            raise IndexError("tuple index out of range")
        return prove_part(whole, part, *others)

    monkeypatch.setattr(models, "one_search", fail)
    monkeypatch.setattr(proving, "prove_part", fail_to_prove)
    monkeypatch.setattr(proving, "prove_pod_by_pod", fail_to_prove)


@pytest.mark.usefixtures("broken_two")
def test_a_fault_in_one_independent_part_leaves_the_others_their_answers() -> None:
    result = verify(loaded(*TWO_TEAMS, scenario(READY % ("one", 1), READY % ("one", 2), READY % ("two", 1))))

    assert verdicts(result) == [Verdict.HOLDS, Verdict.VIOLATED, Verdict.ERROR]
    assert result.results[2].detail.startswith("not judged: an internal error, IndexError: tuple index out of range (")
    assert result.verdict == Verdict.VIOLATED


@pytest.mark.usefixtures("broken_two")
def test_a_fault_in_one_of_those_that_share_nodes_leaves_the_others_their_answers() -> None:
    documents = (*TOGETHER, scenario(READY % ("one", 1), READY % ("one", 2), READY % ("two", 1)))
    result = verify(loaded(*documents), ONE_BY_ONE)

    assert verdicts(result) == [Verdict.HOLDS, Verdict.VIOLATED, Verdict.ERROR]


@pytest.mark.usefixtures("broken_two")
@pytest.mark.parametrize(("pods", "code"), [(1, 70), (2, 1)])
def test_a_violation_is_told_before_a_fault(
    pods: int, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "in.yaml"
    file.write_text("---\n".join([*TWO_TEAMS, scenario(READY % ("one", pods), READY % ("two", 1))]), encoding="utf-8")

    assert main(["verify", str(file)]) == code
    shown = capsys.readouterr()
    assert "please report it with the input" in shown.out
    assert "Traceback" not in shown.out + shown.err


@pytest.mark.usefixtures("broken_two")
def test_a_fault_that_concerns_every_intent_is_raised() -> None:
    with pytest.raises(IndexError):
        verify(loaded(node("n1"), web(1, name="two"), scenario("{settles: {}}")))


def test_a_part_that_is_too_large_costs_its_own_answers_only() -> None:
    pods = (web(1, name="one"), web(6, name="two"))
    documents = (*TOGETHER[:2], *pods, scenario(READY % ("one", 2), READY % ("two", 6), start="deployed", events=DRAIN))
    few = VerifyOptions(engine="python", max_states=6, effort=Effort(max_at_first=5, max_alone=40))
    result = verify(loaded(*documents), replace(few, without=("abstraction",)))

    assert verdicts(result) == [Verdict.VIOLATED, Verdict.UNKNOWN]


def test_a_run_that_does_not_stand_up_to_replay_leaves_its_intent_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ReplayMismatch("E700 its loop is not fair")

    monkeypatch.setattr(slices, "make_trace_after", refuse)
    documents = (*TOGETHER, scenario(READY % ("one", 1), READY % ("one", 2)))
    result = verify(loaded(*documents), ONE_BY_ONE)

    assert verdicts(result) == [Verdict.HOLDS, Verdict.UNKNOWN]
    assert "E700 its loop is not fair" in result.results[1].detail


def test_a_violation_whose_replay_disagrees_is_an_error_of_its_intent(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ReplayMismatch("E700 step 1 of the trace is not possible")

    monkeypatch.setattr(traces, "make_trace", refuse)
    result = verify(loaded(node("n1"), web(1), scenario(READY % ("web", 1), READY % ("web", 2))))

    assert verdicts(result) == [Verdict.HOLDS, Verdict.ERROR]
    assert "step 1 of the trace is not possible" in result.results[1].detail


def test_what_is_known_when_something_goes_wrong_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    explore_plan = whole.explore_plan

    def fail_later(plan, beginning, options, watch):
        if plan.monitors[0].intent.name == "second":
            raise IndexError("list index out of range")
        return explore_plan(plan, beginning, options, watch)

    monkeypatch.setattr(whole, "MAX_INTENTS", 1)
    monkeypatch.setattr(whole, "explore_plan", fail_later)
    intents = ("{schedulable: {name: first, target: Deployment/shop/web}}", "{settles: {name: second}}")
    result = verify(
        loaded(node("n1"), web(1), scenario(*intents, events=DRAIN)), VerifyOptions(without=("abstraction",))
    )

    assert verdicts(result) == [Verdict.VIOLATED, Verdict.ERROR]
    assert dict(result.scope)["explored"] == "in part: stopped by an internal error"


@pytest.mark.parametrize(
    "problem", [ScenarioError("no", file="a", line=1, remedy="Mend it"), MemoryError(), OSError("disk full")]
)
def test_problems_with_the_input_and_the_machine_concern_everybody(problem: Exception) -> None:
    with pytest.raises(type(problem)):
        failure_of(problem)


def test_a_limit_is_no_fault() -> None:
    assert failure_of(LimitReached("too many ways")).verdict == Verdict.UNKNOWN
    assert failure_of(KubeproofError("a promise is broken")).verdict == Verdict.ERROR
