"""The SARIF 2.1.0 report: violations as results with the trace as code flow, what stayed open as notifications."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kubeproof import __version__
from kubeproof.cluster.objects import Source
from kubeproof.intents.catalogue import entry
from kubeproof.report.escape import escape
from kubeproof.report.frame import Frame, physical, place_of
from kubeproof.report.matrix.causes import matrix_findings
from kubeproof.report.sentences import summary, title, write_audit_line
from kubeproof.report.verification.explained import told
from kubeproof.verdicts import Verdict
from kubeproof.verify.findings.fingerprints import VERSION, check_fingerprints, fingerprints
from kubeproof.verify.matrix.result import Matrix
from kubeproof.verify.result import (
    CheckFinding,
    IntentResult,
    Suppression,
    Trace,
    TraceStep,
    VerifyResult,
)

if TYPE_CHECKING:
    from kubeproof.verify.checks.declaration import Check

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "%SRCROOT%"
MOST_STEPS = 1000  # of a code flow; viewers give up long before
LEVELS = {"error": "error", "warning": "warning", "info": "note"}  # by the intent's severity
NOTED = {Verdict.ERROR: "error", Verdict.UNKNOWN: "warning", Verdict.VACUOUS: "note"}  # verdicts that are no findings

Document = dict[str, Any]


def render(result: VerifyResult, frame: Frame) -> str:
    """The report as JSON text in pure ASCII."""
    text = json.dumps(document(result, frame), indent=2, ensure_ascii=True, allow_nan=False)
    return text.replace("\x7f", "\\u007f") + "\n"


def document(result: VerifyResult, frame: Frame) -> Document:
    """The log: one run. What holds is counted in the run's properties; only violations are results."""
    marks = fingerprints(result)
    found = [(result.results[number], marks[number]) for number in _show(result)]
    rules = [*_rules(result.results), *_check_rules(result.checks)]
    numbers = {rule["id"]: number for number, rule in enumerate(rules)}
    run: Document = {
        "tool": {
            "driver": {"name": "kubeproof", "version": __version__, "semanticVersion": __version__, "rules": rules}
        },
        "invocations": [_invocation(result, numbers, frame)],
        "originalUriBaseIds": {ROOT: {"description": {"text": "The directory in which kubeproof was started."}}},
        "columnKind": "unicodeCodePoints",
        "results": [
            *(_result(one, mark, numbers, frame) for one, mark in found),
            *(_check(*pair, numbers, frame) for pair in zip(result.checks, check_fingerprints(result), strict=True)),
        ],
        "properties": _properties(result),
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _show(result: VerifyResult) -> list[int]:
    """The violations, by number; of a matrix one for each workload and cause."""
    found = [n for n, one in enumerate(result.results) if one.verdict in (Verdict.VIOLATED, Verdict.SUPPRESSED)]
    if result.matrix is None:
        return found
    accepted = [n for n in found if result.results[n].verdict == Verdict.SUPPRESSED]
    firsts: dict[tuple[int, str], int] = {}
    for cause, finding in enumerate(matrix_findings(result, result.matrix)):
        for cell in (finding.example, *finding.cells):
            if cell.finding is not None:
                firsts.setdefault((cause, cell.target), cell.finding)
    return sorted({*accepted, *firsts.values()})


def _properties(result: VerifyResult) -> Document:
    return {
        "verdict": result.verdict,
        "summary": summary(result),
        "scenario": result.scenario,
        "scope": [f"{key}: {value}" for key, value in result.scope],
        "results": [f"{one.verdict} {title(one)}" for one in result.results],
        **({} if result.matrix is None else {"matrix": _cells(result.matrix)}),
        "notModelled": list(result.not_modelled),
        "suppressions": [write_audit_line(note) for note in result.suppressions],
    }


def _cells(matrix: Matrix) -> list[str]:
    return [f"{cell.grade} {cell.target} {'+'.join(cell.faults)}" for cell in (*matrix.cells, *matrix.pairs)]


def _rules(results: Sequence[IntentResult]) -> list[Document]:
    keys = sorted({(one.id, one.key) for one in results})
    return [_rule(id_, key) for id_, key in keys]


def _rule(id_: str, key: str) -> Document:
    category, text, fields = _about(key)
    told = f"{text} Fields: {', '.join(fields) or 'none'}. Run `kubeproof explain {id_}` for more."
    return {
        "id": id_,
        "name": key[:1].upper() + key[1:],
        "shortDescription": {"text": f"{key}: {category}"},
        "fullDescription": {"text": text},
        "help": {"text": told.replace("`", ""), "markdown": told},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["kubernetes", category]},
    }


def _about(key: str) -> tuple[str, str, tuple[str, ...]]:
    """Category, text and fields of an intent; of one that a saved result of another version has, its key."""
    try:
        known = entry(key)
    except KeyError:
        return "any", key, ()
    return known.category, known.text, known.fields


def _check_rules(findings: Sequence[CheckFinding]) -> list[Document]:
    if not findings:
        return []
    from kubeproof.verify.checks.catalogue import checks

    ids = {one.id for one in findings}
    return [_check_rule(check) for check in checks() if check.id in ids]


def _check_rule(check: Check) -> Document:
    told = f"{check.explanation} {check.remedy}. Run `kubeproof explain {check.id}` for more."
    return {
        "id": check.id,
        "name": "".join(word.capitalize() for word in check.key.split("-")),
        "shortDescription": {"text": check.title},
        "fullDescription": {"text": check.explanation},
        "help": {"text": told.replace("`", ""), "markdown": told},
        "defaultConfiguration": {"level": LEVELS[check.severity]},
        "properties": {"tags": ["kubernetes", "check"]},
    }


def _check(one: CheckFinding, mark: str, numbers: dict[str, int], frame: Frame) -> Document:
    also = [(ref, source) for ref, source in one.also if physical(source) is not None]
    related = [
        {"id": number, **_location(source, ref, frame), "message": {"text": _safe(ref)}}
        for number, (ref, source) in enumerate(also)
    ]
    rule = {"ruleIndex": numbers[one.id]} if one.id in numbers else {}  # a saved file may name others
    return {
        "ruleId": one.id,
        **rule,
        "kind": "fail",
        "level": LEVELS[one.severity],
        "message": {"text": _safe(f"{one.key}: {one.message}. What to change: {one.remedy}")},
        "locations": _places(one.source, one.target, frame),
        "partialFingerprints": {f"kubeproof/v{VERSION}": mark},
        "properties": {"target": one.target},
        **({"relatedLocations": related} if related else {}),
        **({"suppressions": [_suppression(one.suppression, frame)]} if one.suppression is not None else {}),
    }


def _invocation(result: VerifyResult, numbers: dict[str, int], frame: Frame) -> Document:
    notes = [_note(one, numbers, frame) for one in result.results if one.verdict in NOTED]
    is_successful = all(one.verdict != Verdict.ERROR for one in result.results)
    return {"executionSuccessful": is_successful, "toolExecutionNotifications": notes}


def _note(one: IntentResult, numbers: dict[str, int], frame: Frame) -> Document:
    note: Document = {
        "level": NOTED[one.verdict],
        "message": {"text": f"{one.verdict} {_safe(title(one))}: {_safe(one.detail)}"},
        "associatedRule": {"id": one.id, "index": numbers[one.id]},
    }
    if places := _places(place_of(one), one.target, frame):
        note["locations"] = places
    return note


def _result(one: IntentResult, mark: str, numbers: dict[str, int], frame: Frame) -> Document:
    found: Document = {
        "ruleId": one.id,
        "ruleIndex": numbers[one.id],
        "kind": "fail",
        "level": LEVELS[one.severity],
        "message": {"text": _message(one)},
        "locations": _places(place_of(one), one.target, frame),
        "partialFingerprints": {f"kubeproof/v{VERSION}": mark},
        "properties": {"intent": one.intent, "target": one.target, "verdict": one.verdict},
    }
    if one.trace is not None and one.trace.steps and one.is_decisive:
        found["codeFlows"] = [_flow(one, one.trace, frame)]
    if related := [*_relate(one, frame)]:
        found["relatedLocations"] = related
    if one.suppression is not None:
        found["suppressions"] = [_suppression(one.suppression, frame)]
    return found


def _message(one: IntentResult) -> str:
    """A finding in a few sentences; what is in brackets would be a link."""
    under = f" under {' and '.join(one.faults)}" if one.faults else ""
    parts = [f"{one.key}{under}: {one.detail}."]
    parts += [f"In the end: {'; '.join(one.trace.final)}."] if one.trace is not None and one.trace.final else []
    parts += [f"{head}: {said}" for head, said in told(one)]
    return _safe(" ".join(parts))


def _relate(one: IntentResult, frame: Frame) -> Iterator[Document]:
    for number, (ref, source) in enumerate(one.sources):
        if physical(source) is not None:
            yield {"id": number, **_location(source, ref, frame), "message": {"text": _safe(ref)}}


def _flow(one: IntentResult, trace: Trace, frame: Frame) -> Document:
    found = f"{'the shortest' if trace.is_shortest else 'a'} run that breaks the intent"
    what = "a run that never ends" if trace.loop_start is not None else found
    steps = [*_steps(one, trace, frame)]
    return {"message": {"text": what}, "threadFlows": [{"locations": steps}]}


def _steps(one: IntentResult, trace: Trace, frame: Frame) -> Iterator[Document]:
    """Each step where its object is declared; the first and the last ones of a very long trace."""
    places = dict(one.sources)
    half = MOST_STEPS // 2
    for index, step in enumerate(trace.steps):
        if half <= index < len(trace.steps) - half:
            continue
        is_looping = trace.loop_start is not None and index >= trace.loop_start
        place = places.get(step.object) or places.get(one.target) or place_of(one)
        said = f"{index + 1}. {step.time_s} s: {step.actor} {step.action}"
        said += " (in the loop)" if is_looping else ""
        yield {
            "location": {**_location(place, step.object, frame), "message": {"text": _safe(said)}},
            "executionOrder": index + 1,
            "nestingLevel": int(is_looping),
            "importance": "essential" if is_looping or index == len(trace.steps) - 1 else "important",
            **_state(step),
        }


def _state(step: TraceStep) -> Document:
    """The fields that the step wrote."""
    written = {change.place: {"text": change.value} for change in step.changes}
    return {"state": written} if written else {}


def _suppression(given: Suppression, frame: Frame) -> Document:
    found: Document = {
        "kind": "inSource" if given.kind == "annotation" else "external",
        "status": "accepted",
        "justification": given.reason,
        "properties": {"by": given.kind, **({"expires": given.expires} if given.expires else {})},
    }
    if physical(given.source) is not None:
        found["location"] = _location(given.source, "", frame)
    return found


def _places(source: Source | None, ref: str, frame: Frame) -> list[Document]:
    location = _location(source, ref, frame)
    return [location] if location else []


def _location(source: Source | None, ref: str, frame: Frame) -> Document:
    found: Document = {}
    place = physical(source)
    if place is not None:
        found["physicalLocation"] = {
            "artifactLocation": _artifact(place.file, frame),
            "region": {"startLine": place.line},
        }
    if ref:
        found["logicalLocations"] = [{"fullyQualifiedName": ref, "name": ref.rpartition("/")[2], "kind": "object"}]
    return found


def _artifact(file: str, frame: Frame) -> Document:
    """A URI relative to where kubeproof was started; absolute for what lies elsewhere."""
    from urllib.parse import quote

    path = frame.path(file).encode("utf-8", "surrogatepass")
    if path.startswith(b"/"):
        return {"uri": f"file://{quote(path)}"}
    uri = quote(path)
    # Before a colon would be a scheme.
    return {"uri": f"./{uri}" if ":" in uri.partition("/")[0] else uri, "uriBaseId": ROOT}


def _safe(text: str) -> str:
    """Plain text in which brackets make no link (section 3.11.6) and braces no placeholder (3.11.5)."""
    shown = escape(text)
    if "](" in shown:
        shown = shown.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return shown.replace("{", "{{").replace("}", "}}")
