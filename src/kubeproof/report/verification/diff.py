"""Two verifications side by side, as text, JSON and Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator

from kubeproof.report.escape import escape
from kubeproof.report.formats.markdown import MARKS
from kubeproof.report.formats.safe_markdown import code, fence, html, plain
from kubeproof.report.frame import Frame, place_of
from kubeproof.report.sentences import count, title
from kubeproof.report.style import Style
from kubeproof.report.verification.trace import trace_lines
from kubeproof.verdicts import Verdict
from kubeproof.verify.findings.compare import (
    FIXED,
    NEWLY_VIOLATED,
    NO_LONGER_DECIDED,
    ORDER,
    STILL_VIOLATED,
    UNCHANGED,
    Change,
    Difference,
)
from kubeproof.verify.result import IntentResult

SIGNS = {NEWLY_VIOLATED: "✗", NO_LONGER_DECIDED: "?", STILL_VIOLATED: "!", FIXED: "✓"}
TRACED = (NEWLY_VIOLATED,)  # whose counterexamples are shown: the reader's own change did it


def summary(found: Difference) -> str:
    """How many intents of each kind."""
    told = [f"{len(found.of(kind))} {kind}" for kind in ORDER if found.of(kind)]
    return f"{count(len(found.changes), 'intent')}: {', '.join(told) or 'none'}"


def as_text(found: Difference, style: Style, frame: Frame) -> str:
    """One block for each kind of change that there is; intents that are as before are counted only."""
    return "".join(f"{line}\n" for line in _lines(found, style, frame))


def _lines(found: Difference, style: Style, frame: Frame) -> Iterator[str]:
    if found.base is None:
        yield from ("The base has nothing to verify: every violation is a new one.", "")
    for kind in ORDER:
        changes = found.of(kind) if kind != UNCHANGED or style.verbose else ()
        if not changes:
            continue
        yield style.in_colour_of(_colour(kind), kind.capitalize())
        for change in changes:
            yield from _block(change, style, frame)
        yield ""
    yield style.in_colour_of(Verdict.VIOLATED if found.of(NEWLY_VIOLATED) else Verdict.HOLDS, summary(found))


def _colour(kind: str) -> str:
    return {NEWLY_VIOLATED: Verdict.VIOLATED, NO_LONGER_DECIDED: Verdict.UNKNOWN, FIXED: Verdict.HOLDS}.get(
        kind, Verdict.UNKNOWN
    )


def _block(change: Change, style: Style, frame: Frame) -> Iterator[str]:
    sign = SIGNS.get(change.kind, "-") if style.unicode else "-"
    verdicts = f"{_verdict(change.base)} -> {_verdict(change.head)}"
    yield f"  {sign} {escape(title(change.either))}: {verdicts}{_where(change.either, frame)}"
    if change.kind not in TRACED or change.head is None:
        return
    yield from style.fold("      ", escape(change.head.detail))
    trace = change.head.trace
    if trace is not None:
        lines = trace_lines(trace.steps, trace.loop_start, style.indent(6), certainty=trace.loop_certainty)
        yield from (f"      {line}" for line in lines)
        for line in trace.final:
            yield from style.fold("      ", escape(line))
    if change.head.remedy:
        yield from style.fold(f"      {style.heading('What to change')}: ", escape(change.head.remedy))


def _verdict(one: IntentResult | None) -> str:
    return "absent" if one is None else one.verdict


def _where(one: IntentResult, frame: Frame) -> str:
    place = place_of(one)
    return "" if place is None else f" ({escape(frame.path(place.file))}:{place.line})"


def as_json(found: Difference, before: Frame, after: Frame) -> str:
    """All intents with both verdicts; whole results are in the JSON of `verify`."""
    sides = {
        name: None if side is None else {"verdict": side.verdict, "scenario": side.scenario}
        for name, side in (("base", found.base), ("head", found.head))
    }
    counts = {kind: len(found.of(kind)) for kind in ORDER}
    changes = [_plain(change, before, after) for change in found.changes]
    text = json.dumps({"version": 1, **sides, "counts": counts, "changes": changes}, indent=2, ensure_ascii=True)
    return text.replace("\x7f", "\\u007f") + "\n"


def _plain(change: Change, before: Frame, after: Frame) -> dict[str, object]:
    one = change.either
    return {
        "change": change.kind,
        "id": one.id,
        "intent": one.intent,
        "key": one.key,
        "target": one.target,
        "base": None if change.base is None else _side(change.base, before),
        "head": None if change.head is None else _side(change.head, after),
    }


def _side(one: IntentResult, frame: Frame) -> dict[str, object]:
    steps = None if one.trace is None else [f"{step.actor} {step.action}" for step in one.trace.steps]
    return {
        "verdict": one.verdict,
        "detail": one.detail,
        "location": {"file": frame.path(one.location.file), "line": one.location.line},
        "steps": steps,
        "loop_start": None if one.trace is None else one.trace.loop_start,
    }


def as_markdown(found: Difference, frame: Frame) -> str:
    """For a pull request: what it breaks first, with the run that shows it."""
    return "\n".join(_markdown(found, frame)) + "\n"


def _markdown(found: Difference, frame: Frame) -> Iterator[str]:
    mark = MARKS[Verdict.VIOLATED] if found.of(NEWLY_VIOLATED) else MARKS[Verdict.HOLDS]
    yield f"## {mark} Kubeproof: {summary(found)}"
    yield ""
    if found.base is None:
        yield "The base has nothing to verify: every violation is a new one.\n"
    yield "| | property | target | before | after |"
    yield "|---|---|---|---|---|"
    for change in found.changes:
        if change.kind != UNCHANGED:
            one = change.either
            cells = (change.kind, f"{one.id} {code(one.intent)}", code(one.target) if one.target else "")
            yield f"| {' | '.join((*cells, _verdict(change.base), _verdict(change.head)))} |"
    for change in found.of(NEWLY_VIOLATED):
        yield from _fold(change, frame)


def _fold(change: Change, frame: Frame) -> Iterator[str]:
    head = change.head
    if head is None or head.trace is None:
        return
    lines = [*trace_lines(head.trace.steps, head.trace.loop_start, Style(), certainty=head.trace.loop_certainty)]
    lines += [escape(line) for line in head.trace.final]
    yield f"\n<details><summary>{html(title(head))}{html(_where(head, frame))}</summary>\n"
    yield plain(head.detail)
    yield ""
    yield fence("\n".join(lines), "text")
    yield f"\n**What to change:** {plain(head.remedy)}\n\n</details>" if head.remedy else "\n</details>"
