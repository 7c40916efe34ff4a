"""Repairs as text and JSON: what to change, what it costs, and what it was proved against."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import unified_diff

from kubeproof.report.escape import escape
from kubeproof.report.frame import Frame
from kubeproof.report.sentences import count, title
from kubeproof.report.style import Style
from kubeproof.verdicts import Verdict
from kubeproof.verify.fix.result import FileChange, FixResult, Proposal
from kubeproof.verify.result import IntentResult

MOST_TOLD = 8  # names in a line
MOST_ASKED = 3  # of what loops ask for, where nothing helps


def as_text(found: FixResult, style: Style, frame: Frame, command: str) -> str:
    """What is violated, the proposals with their diffs, and what was tried where there is none."""
    return "".join(f"{line}\n" for line in _lines(found, style, frame, command))


def diff_of(changed: FileChange, frame: Frame) -> str:
    """The change of a file for `patch` and `git apply`."""
    name = frame.path(changed.file)
    lines = unified_diff(
        changed.before.splitlines(keepends=True), changed.after.splitlines(keepends=True), f"a/{name}", f"b/{name}"
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(found: FixResult, style: Style, frame: Frame, command: str) -> Iterator[str]:
    if found.violated:
        yield style.in_colour_of(Verdict.VIOLATED, "Violated")
        for one in found.violated:
            yield from style.fold("  ", escape(_question(one)))
        yield ""
    for number, proposal in enumerate(found.proposals, start=1):
        yield from _proposal(found, number, proposal, style, frame, command)
    if found.violated and not found.proposals:
        yield from _list_tried(found, style)
    if found.proposals and found.unrepaired:
        yield style.in_colour_of(Verdict.VIOLATED, "Not repaired")
        for one in found.unrepaired:
            yield from style.fold("  ", escape(_question(one)))
        yield ""
    yield from style.fold("", escape(_effort(found)))
    yield style.in_colour_of(_verdict(found), summary(found))


def _question(one: IntentResult) -> str:
    """What was asked."""
    faults = f" ({' and '.join(one.faults)})" if one.faults else ""
    return f"{title(one)}{faults}"


def _proposal(
    found: FixResult, number: int, proposal: Proposal, style: Style, frame: Frame, command: str
) -> Iterator[str]:
    total = len(found.proposals)
    yield style.heading(f"Proposal {number} of {total}" if total > 1 else "Proposal")
    for edit in proposal.edits:
        yield from style.fold("  ", escape(edit.title))
    for lost in proposal.gives_up:
        yield from style.fold("  gives up: ", escape(lost))
    yield from style.fold("  costs: ", costs_of(proposal))
    yield from style.fold("  proved: ", escape(_some(proposal.repairs)))
    if proposal.keeps:
        yield from style.fold("  still holds: ", escape(_some(proposal.keeps)))
    if proposal.open:
        yield from style.fold("  not decided, as before: ", escape(_some(proposal.open)))
    for changed in proposal.files:
        yield from (f"    {escape(line)}" for line in diff_of(changed, frame).splitlines())
    for file, why in proposal.patch_only:
        yield from style.fold("  ", escape(f"{frame.path(file)} cannot be changed in place ({why}): take the patch"))
    yield "  as a patch for kustomize:"
    yield from (f"    {escape(line)}" for line in proposal.patch.splitlines())
    if not proposal.patch_only:
        chosen = f" --choose {number}" if number > 1 else ""
        yield f"  apply: {escape(command)} --write{chosen}"
    yield ""


def costs_of(proposal: Proposal) -> str:
    """What a proposal writes, and asks for in addition."""
    told = [count(proposal.fields, "field")]
    pods, cpu, memory = (proposal.total(what) for what in ("pods", "cpu_m", "memory"))
    told += [f"{pods:+d} pods"] if pods else []
    told += [f"{cpu:+d}m CPU"] if cpu else []
    told += [f"{round(memory / 2**20):+d}Mi memory"] if memory else []
    return f"{', '.join(told)} (cost {proposal.cost})"


def _some(names: tuple[str, ...]) -> str:
    told = ", ".join(names[:MOST_TOLD])
    return f"{told} and {len(names) - MOST_TOLD} more" if len(names) > MOST_TOLD else told


def _list_tried(found: FixResult, style: Style) -> Iterator[str]:
    asked = dict.fromkeys(one.explanation.change for one in found.violated if one.explanation is not None)
    if asked:
        yield style.heading("No change that was tried helps. What the loops of the runs ask for")
        yield from (line for told in list(asked)[:MOST_ASKED] for line in style.fold("  ", escape(told)))
    yield style.heading("Tried, each by itself")
    for one in found.tried:
        yield from style.fold(f"  {one.kind} ({one.count}): ", escape(f"up to {one.last}; {one.why}"))
    yield ""


def _effort(found: FixResult) -> str:
    did = found.effort
    ended = {"time": "; the time was over, --timeout gives more", "interrupted": "; interrupted"}.get(
        found.ended_by, ""
    )
    return (
        f"{count(did.candidates, 'change')} looked at: {did.refused} no API server takes, {did.replayed} refuted by a "
        f"run that was known, {did.verified} searched, {did.full} of them in full; {did.elapsed_s:.1f} s{ended}"
    )


def as_diff(found: FixResult, frame: Frame) -> str:
    """The first proposal for `git apply`; empty if there is none."""
    return "".join(diffs_of(proposal, frame) for proposal in found.proposals[:1])


def diffs_of(proposal: Proposal, frame: Frame) -> str:
    """All that a proposal changes in files."""
    return "".join(diff_of(changed, frame) for changed in proposal.files)


def as_annotations(found: FixResult, frame: Frame) -> str:
    """The first proposal as notices beside the lines that it changes, for GitHub."""
    from kubeproof.report.formats.github import command

    lines = []
    for proposal in found.proposals[:1]:
        told = "; ".join(edit.title for edit in proposal.edits)
        for changed in proposal.files:
            said = escape(f"{told}. Proved: {_some(proposal.repairs)}")
            shown = "\n".join(escape(line) for line in diff_of(changed, frame).splitlines()[2:])
            place = {"file": frame.path(changed.file), "line": str(_first_changed(changed))}
            lines.append(command("notice", f"{said}\n{shown}", **place, title="A change that is proved to help"))
    return "".join(f"{line}\n" for line in lines)


def _first_changed(changed: FileChange) -> int:
    """The first line that is different, from 1."""
    pairs = zip(changed.before.splitlines(), changed.after.splitlines(), strict=False)
    return next((number for number, (old, new) in enumerate(pairs, start=1) if old != new), 1)


def as_markdown(found: FixResult, frame: Frame) -> str:
    """The first proposal for a summary of a job or a comment; empty if nothing is violated."""
    from kubeproof.report.formats.safe_markdown import fence, plain

    if not found.violated:
        return ""
    parts = [f"### {plain(summary(found))}", ""]
    for proposal in found.proposals[:1]:
        parts += [f"- {plain(edit.title)}" for edit in proposal.edits]
        parts += [f"- gives up: {plain(lost)}" for lost in proposal.gives_up]
        parts += ["", fence(as_diff(found, frame).rstrip("\n"), "diff")]
    return "".join(f"{line}\n" for line in parts)


def summary(found: FixResult) -> str:
    """The answer in a line."""
    if not found.violated:
        open_ = f", {len(found.undecided)} not decided" if found.undecided else ""
        return f"NOTHING TO FIX: nothing is violated{open_}"
    if not found.proposals:
        return f"NO REPAIR FOUND: {count(len(found.violated), 'violation')}"
    mended = len(found.violated) - len(found.unrepaired)
    told = count(len(found.proposals), "repair")
    return f"PROVED: {told} for {mended} of {count(len(found.violated), 'violation')}"


def _verdict(found: FixResult) -> Verdict:
    if found.unrepaired:
        return Verdict.VIOLATED
    return Verdict.HOLDS if found.violated or not found.undecided else Verdict.UNKNOWN


def as_json(found: FixResult, frame: Frame) -> str:
    """The same for programs."""
    told = {
        "apiVersion": "kubeproof.dev/v1alpha1",
        "kind": "FixResult",
        "scenario": found.scenario,
        "summary": summary(found),
        "violated": [_as_value(one) for one in found.violated],
        "proposals": [_proposal_value(one, frame) for one in found.proposals],
        "unrepaired": [_as_value(one) for one in found.unrepaired],
        "undecided": [_as_value(one) for one in found.undecided],
        "tried": [{"kind": one.kind, "count": one.count, "last": one.last, "why": one.why} for one in found.tried],
        "effort": {
            "candidates": found.effort.candidates,
            "refused": found.effort.refused,
            "replayed": found.effort.replayed,
            "verified": found.effort.verified,
            "verifiedInFull": found.effort.full,
            "elapsedSeconds": round(found.effort.elapsed_s, 3),
        },
        "endedBy": found.ended_by,
    }
    return f"{json.dumps(told, indent=2)}\n"


def _as_value(one: IntentResult) -> dict[str, object]:
    return {"id": one.id, "intent": one.intent, "target": one.target, "faults": list(one.faults), "detail": one.detail}


def _proposal_value(one: Proposal, frame: Frame) -> dict[str, object]:
    return {
        "cost": one.cost,
        "fields": one.fields,
        "pods": one.total("pods"),
        "cpuMillis": one.total("cpu_m"),
        "memoryBytes": one.total("memory"),
        "edits": [
            {"kind": edit.kind, "object": edit.object, "does": edit.does, "givesUp": edit.gives_up}
            for edit in one.edits
        ],
        "proved": list(one.repairs),
        "stillHolds": list(one.keeps),
        "notDecided": list(one.open),
        "files": [{"file": frame.path(changed.file), "diff": diff_of(changed, frame)} for changed in one.files],
        "patchOnly": [{"file": frame.path(file), "why": why} for file, why in one.patch_only],
        "kustomizePatch": one.patch,
    }
