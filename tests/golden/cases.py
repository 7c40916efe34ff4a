"""Golden cases: a folder with manifests, a Scenario and what verification must answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from kubeproof.manifests.load import load
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.result import IntentResult, VerifyResult
from kubeproof.verify.run import verify

HERE = Path(__file__).parent
EXPECTED = "expected.yaml"


def case_names() -> list[str]:
    """The folders with an answer, or with an input that still needs one."""
    return sorted(path.name for path in HERE.iterdir() if path.is_dir() and list(path.glob("*.yaml")))


def expected(name: str) -> dict[str, Any]:
    """What verification must answer; `options` says how it is asked."""
    file = HERE / name / EXPECTED
    document: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8")) if file.exists() else {}
    return document


def run(name: str, engine: str) -> VerifyResult:
    """Verifies a case with one engine."""
    folder = HERE / name
    inputs = [str(file) for file in sorted(folder.glob("*.yaml")) if file.name != EXPECTED]
    return verify(load(inputs), options(name, engine))


def options(name: str, engine: str) -> VerifyOptions:
    """The options of a case, with paths of own controllers made absolute."""
    given = expected(name).get("options", {})
    controllers = tuple(str(HERE / name / reference) for reference in given.get("controllers", ()))
    return VerifyOptions(engine=engine, max_states=given.get("max_states"), controllers=controllers)


def answer(name: str, result: VerifyResult) -> dict[str, Any]:
    """A result in the form of expected.yaml."""
    statistics = result.statistics
    document: dict[str, Any] = {
        "verdict": result.verdict,
        "states": statistics.states,
        "transitions": statistics.transitions,
        "depth": statistics.depth,
        "intents": {one.intent: _intent(one) for one in result.results},
    }
    given = expected(name).get("options")
    return {"options": given, **document} if given else document


def _intent(result: IntentResult) -> dict[str, Any] | str:
    """The verdict alone, or with the counterexample."""
    trace = result.trace
    if trace is None:
        return result.verdict
    described: dict[str, Any] = {
        "verdict": result.verdict,
        "trace": [f"{step.time_s} s, {step.actor}: {step.action}" for step in trace.steps],
        "final": list(trace.final),
    }
    if trace.loop_start is not None:
        described |= {"loop_start": trace.loop_start, "loop": trace.loop_certainty}
    if trace.deployed_steps:
        described["deployed_steps"] = trace.deployed_steps
    return described
