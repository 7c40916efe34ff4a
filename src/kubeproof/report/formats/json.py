"""The JSON report of a verification: one document, also the file that `replay` reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, replace

from kubeproof.cluster.objects import Source
from kubeproof.report.verification.any_size import sizes_document
from kubeproof.report.verification.depends import depends_document
from kubeproof.report.verification.explained import causes_document, explanation_document, inaction_document
from kubeproof.report.verification.strategies import strategy_document
from kubeproof.verify.facts import Fact
from kubeproof.verify.findings.fingerprints import check_fingerprints, fingerprints
from kubeproof.verify.matrix.result import Cell, Matrix, Row
from kubeproof.verify.result import (
    CheckFinding,
    IntentResult,
    OmittedGroup,
    ReplayReport,
    Statistics,
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
            "facts": list(map(_fact, report.final)),
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
        **({} if result.matrix is None else _matrix(result.matrix)),
        "checks": [_check(*pair) for pair in zip(result.checks, check_fingerprints(result), strict=True)],
        "not_modelled": list(result.not_modelled),
        "not_modelled_kinds": [_write_omitted(group) for group in result.omitted],
        "suppressions": [_note(note) for note in result.suppressions],
        "statistics": _statistics(result.statistics),
        "elapsed_s": result.statistics.elapsed_s,
        "input": {"files": [{"name": name, "text": text} for name, text in result.inputs]},
    }


def _repairs(result: IntentResult) -> dict[str, object]:
    if not result.repairs:
        return {}
    from kubeproof.report.verification.repairs import repair_document

    return {"repairs": [repair_document(one) for one in result.repairs]}


def _write_omitted(one: OmittedGroup) -> dict[str, object]:
    """Things of one kind: in words, and the parts of these."""
    named = {"what": str(one.group), "sort": one.group.sort, "name": one.group.name}
    return {**named, "count": one.count, "may_decide": one.may_decide}


def _statistics(numbers: Statistics) -> dict[str, object]:
    """The numbers; what ended the search in words, and as a reason with its limit."""
    stopped_by = numbers.stopped_by
    said = {
        "stopped_by": "" if stopped_by is None else str(stopped_by),
        "stop_reason": "" if stopped_by is None else stopped_by.reason,
        "stop_limit": None if stopped_by is None else stopped_by.limit,
    }
    return asdict(numbers) | said


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
        "strategy": strategy_document(result.strategy),
        "depends_on": depends_document(result.depends_on),
        "holds_for": sizes_document(result.holds_for),
        "trace": None if trace is None else [*_steps(trace, is_cell=bool(result.faults))],
        **({} if trace is None or not trace.propositions else _propositions(trace)),
        "loop_start": None if trace is None else trace.loop_start,
        "loop_certainty": "" if trace is None else trace.loop_certainty,
        "deployed_steps": 0 if trace is None else trace.deployed_steps,
        "location": _place(result.location),
        "objects": [{"object": ref, **_place(source)} for ref, source in result.sources],
        **({"faults": list(result.faults)} if result.faults else {}),
        "remedy": result.remedy,
        "explanation": explanation_document(result.explanation),
        **({} if result.causes is None else {"causes": causes_document(result.causes)}),
        **_repairs(result),
        "final": [] if trace is None else list(trace.final),
        "facts": [] if trace is None else list(map(_fact, trace.final)),
        "obstacles": [] if trace is None else [{"by": by, "reason": reason} for by, reason in trace.obstacles],
        "inaction": [] if trace is None else [inaction_document(one) for one in trace.inaction],
    }


def _check(one: CheckFinding, fingerprint: str) -> dict[str, object]:
    return {
        "id": one.id,
        "key": one.key,
        "severity": one.severity,
        "target": one.target,
        "message": one.message,
        "remedy": one.remedy,
        "fingerprint": fingerprint,
        "suppression": None if one.suppression is None else _suppression(one.suppression),
        "location": _place(one.source),
        "objects": [{"object": ref, **_place(source)} for ref, source in one.also],
    }


def _matrix(matrix: Matrix) -> dict[str, object]:
    """The cells with one fault in the contract's words; rows, columns and cells with two faults beside them."""
    return {
        "matrix": [{"target": cell.target, "fault": cell.faults[0], **_write_cell(cell)} for cell in matrix.cells],
        "matrix_columns": [asdict(column) for column in matrix.columns],
        "matrix_rows": [_row(row) for row in matrix.rows],
        "matrix_pairs": [
            {"target": cell.target, "faults": list(cell.faults), **_write_cell(cell)} for cell in matrix.pairs
        ],
        "matrix_pairs_left": matrix.pairs_left,
        "matrix_grade": matrix.least_grade.value,
        "matrix_elapsed_s": matrix.elapsed_s,
    }


def _write_cell(cell: Cell) -> dict[str, object]:
    return {
        "grade": cell.grade.value,
        "lowest": cell.lowest,
        "longest_s": cell.longest_s,
        "finding": cell.finding,
        "detail": cell.detail,
    }


def _row(row: Row) -> dict[str, object]:
    return {
        "target": row.target,
        "replicas": row.replicas,
        "floor": row.floor,
        "floor_from": row.floor_from,
        "location": _place(row.source),
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


def _steps(trace: Trace, *, is_cell: bool) -> Iterator[dict[str, object]]:
    """The steps; how a workload was deployed is in many cells of a matrix, without the numbers behind it."""
    for number, step in enumerate(trace.steps):
        yield _step(replace(step, why=()) if is_cell and number < trace.deployed_steps else step)


def _fact(fact: Fact) -> dict[str, object]:
    return {"about": fact.about, "node": fact.node, "shape": fact.shape}


def _step(step: TraceStep) -> dict[str, object]:
    return {
        "actor": step.actor,
        "by": {"kind": step.actor.kind, "object": step.actor.object},
        "action": step.action,
        "object": step.object,
        "changes": list(map(str, step.changes)),
        "changed": [asdict(change) for change in step.changes],
        "time": step.time_s,
        "why": list(step.why),
        "code": step.code,
        **({} if step.holds is None else {"holds": list(step.holds)}),
        **({"counts": step.counts} if step.counts else {}),
    }


def _place(source: Source) -> dict[str, object]:
    return {"file": source.file, "line": source.line}
