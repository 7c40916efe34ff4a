"""The counterexample in the Informal Trace Format, which the trace tools of Apalache and Quint read.

Facts of the format: Apalache's ADR 15. One file is one trace: the first violated intent's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from kubeproof.cluster.loops.meanings import REMOVED
from kubeproof.report.frame import Frame
from kubeproof.report.sentences import summary, title, worst_run
from kubeproof.verify.result import Change, ReplayReport, TraceStep, VerifyResult

VARIABLES = ("actor", "action", "object", "time", "cluster", "holds")
FORMAT = "https://apalache-mc.org/docs/adr/015adr-trace.html"


def render(result: VerifyResult, frame: Frame) -> str:
    """The trace of the first result that has one; no states if none has."""
    traced = worst_run(result.results)
    meta = {"verdict": result.verdict, "summary": summary(result), "scenario": result.scenario}
    if traced is None or traced.trace is None:
        return _text(meta, (), (), None)
    meta |= {"property": title(traced), "detail": traced.detail, "status": traced.verdict}
    return _text(meta, traced.trace.steps, traced.trace.begins_with, traced.trace.loop_start)


def render_replay(report: ReplayReport) -> str:
    """The trace of a replay."""
    meta = {"verdict": report.verdict, "summary": report.detail, "scenario": report.scenario, "property": report.intent}
    return _text(meta, report.steps, report.begins_with, report.loop_start)


def _text(meta: dict[str, str], steps: Sequence[TraceStep], first: tuple[str, ...], loop_start: int | None) -> str:
    head = {"format": "ITF", "format-description": FORMAT, "source": "kubeproof", **meta}
    found: dict[str, object] = {"#meta": head, "vars": list(VARIABLES), "states": list(_states(steps, first))}
    if loop_start is not None:
        # The last state is the one before the loop's first step again, and goes on with what that step leads to.
        found["loop"] = loop_start + 1
    return json.dumps(found, indent=1, ensure_ascii=True).replace("\x7f", "\\u007f") + "\n"


def _states(steps: Sequence[TraceStep], first: tuple[str, ...]) -> Iterator[dict[str, object]]:
    """The first state, then one after each step: the fields that the steps so far have written, as a map."""
    if not steps:
        return
    cluster: dict[tuple[str, str], str] = {}
    yield _state(0, ("", "", "", 0), cluster, first)
    for index, step in enumerate(steps, 1):
        for change in step.changes:
            _apply(change, cluster)
        yield _state(index, (step.actor, step.action, step.object, step.time_s), cluster, step.holds or ())


def _state(
    index: int, said: tuple[str, str, str, int], cluster: dict[tuple[str, str], str], holds: tuple[str, ...]
) -> dict[str, object]:
    actor, action, about, time_s = said
    return {
        "#meta": {"index": index},
        "actor": actor,
        "action": action,
        "object": about,
        "time": {"#bigint": str(time_s)},
        "cluster": {"#map": [[" ".join(filter(None, key)), value] for key, value in sorted(cluster.items())]},
        "holds": {"#set": sorted(holds)},
    }


def _apply(change: Change, cluster: dict[tuple[str, str], str]) -> None:
    """Writes the field, or takes all that is known of an object that is removed."""
    if change.field or change.value != REMOVED:
        cluster[change.object, change.field] = change.value
        return
    for key in [key for key in cluster if key[0] == change.object]:
        del cluster[key]
