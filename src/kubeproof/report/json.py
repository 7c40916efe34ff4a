"""The JSON report of a verification: one document, also the file that `replay` reads."""

from __future__ import annotations

import json
from dataclasses import asdict

from kubeproof.cluster.objects import Source
from kubeproof.verify.fingerprints import fingerprints
from kubeproof.verify.result import (
    IntentResult,
    ReplayReport,
    Suppression,
    SuppressionNote,
    Trace,
    TraceStep,
    VerifyResult,
)
from kubeproof.verify.scaling.heatmap import heat_map
from kubeproof.verify.scaling.result import SizeVerdict, Sweep

VERSION = 1


def render(result: VerifyResult) -> str:
    """The report as JSON text in pure ASCII, ending in a newline."""
    return _text(document(result))


def render_replay(report: ReplayReport) -> str:
    """A replay as JSON text: the steps as they were executed again, and the verdict."""
    return _text(
        {
            "version": VERSION,
            "verdict": report.verdict,
            "scenario": report.scenario,
            "intent": report.intent,
            "detail": report.detail,
            "trace": [_step(step) for step in report.steps],
            "loop_start": report.loop_start,
            "deployed_steps": report.deployed_steps,
            "final": list(report.final),
        }
    )


def _text(content: dict[str, object]) -> str:
    text = json.dumps(content, indent=2, ensure_ascii=True, allow_nan=False)
    return text.replace("\x7f", "\\u007f") + "\n"


def document(result: VerifyResult) -> dict[str, object]:
    """The report as plain values, keys in the order of the contract."""
    swept = {} if result.sweep is None else {"sweep": _sweep(result.sweep)}
    return {
        "version": VERSION,
        "verdict": result.verdict,
        "scenario": result.scenario,
        "scope": _scope(result.scope),
        "results": [_result(*pair) for pair in zip(result.results, fingerprints(result), strict=True)],
        **swept,
        "not_modelled": list(result.not_modelled),
        "suppressions": [_note(note) for note in result.suppressions],
        "statistics": asdict(result.statistics),
        "elapsed_s": result.statistics.elapsed_s,
        "input": {"files": [{"name": name, "text": text} for name, text in result.inputs]},
    }


def _scope(pairs: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """The pairs as an object; values of a repeated key are joined, so that none is lost."""
    scope: dict[str, str] = {}
    for key, value in pairs:
        scope[key] = f"{scope[key]}; {value}" if key in scope else value
    return scope


def _result(result: IntentResult, fingerprint: str) -> dict[str, object]:
    trace = result.trace
    return {
        "id": result.id,
        "intent": result.intent,
        "key": result.key,
        "target": result.target,
        "verdict": result.verdict,
        "severity": result.severity,
        "fingerprint": fingerprint,
        "suppression": None if result.suppression is None else _suppression(result.suppression),
        "detail": result.detail,
        "scale": {"nodes": result.nodes, "pods": result.pods},
        "size": dict(result.size),
        "states": result.states,
        "transitions": result.transitions,
        "trace": None if trace is None else [_step(step) for step in trace.steps],
        **({} if trace is None or not trace.propositions else _propositions(trace)),
        "loop_start": None if trace is None else trace.loop_start,
        "loop_certainty": "" if trace is None else trace.loop_certainty,
        "deployed_steps": 0 if trace is None else trace.deployed_steps,
        "location": _place(result.location),
        "objects": [{"object": ref, **_place(source)} for ref, source in result.sources],
        "remedy": result.remedy,
        "final": [] if trace is None else list(trace.final),
    }


def _suppression(given: Suppression) -> dict[str, object]:
    return {"kind": given.kind, "reason": given.reason, "expires": given.expires, "location": _place(given.source)}


def _note(note: SuppressionNote) -> dict[str, object]:
    """What became of a reason that somebody gave."""
    return {"id": note.id, "target": note.target, "status": note.status, **_suppression(note.suppression)}


def _propositions(trace: Trace) -> dict[str, object]:
    """What the propositions of a formula mean, and which of them are true at the start."""
    return {"propositions": dict(trace.propositions), "holds_at_start": list(trace.begins_with)}


def _sweep(sweep: Sweep) -> dict[str, object]:
    """Every size with its verdict, the bound, and the heat map."""
    esc = sweep.esc
    return {
        "bound": sweep.bound,
        "limit": None if sweep.limit is None else asdict(sweep.limit),
        "esc": None if esc is None else asdict(esc),
        "fast_find": sweep.is_thinned,
        "sizes": [_size(line) for line in sweep.sizes],
        "heat_map": [
            {
                "nodes": cell.nodes,
                "pods": cell.pods,
                "verdict": cell.verdict,
                "sizes": cell.sizes,
                "violated": cell.violated,
            }
            for cell in heat_map(sweep).cells
        ],
    }


def _size(line: SizeVerdict) -> dict[str, object]:
    return {
        "nodes": dict(line.size.nodes),
        "pods": dict(line.size.pods),
        "scale": {"nodes": line.size.node_total, "pods": line.size.pod_total},
        "verdict": line.verdict,
        "states": line.states,
        "transitions": line.transitions,
        "elapsed_s": line.elapsed_s,
        "note": line.note,
    }


def _step(step: TraceStep) -> dict[str, object]:
    return {
        "actor": step.actor,
        "action": step.action,
        "object": step.object,
        "changes": list(step.changes),
        "time": step.time_s,
        "why": list(step.why),
        "code": step.code,
        **({} if step.holds is None else {"holds": list(step.holds)}),
    }


def _place(source: Source) -> dict[str, object]:
    return {"file": source.file, "line": source.line}
