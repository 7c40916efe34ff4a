"""A proposal as the review of a pull request: changes that its author takes over with one click."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import SequenceMatcher

from kubeproof.report.fix import summary
from kubeproof.report.formats.safe_markdown import plain
from kubeproof.report.frame import Frame
from kubeproof.verify.fix.result import FileChange, FixResult, Proposal

FENCE = "````"  # longer than any that a manifest is likely to have; those with longer ones are not suggested


def as_review(found: FixResult, frame: Frame) -> str:
    """The first proposal for the API of GitHub that creates reviews; empty if there is none."""
    told = {
        "event": "COMMENT",
        "body": plain(summary(found)),
        "comments": [comment for one in found.proposals[:1] for comment in _list_comments(one, frame)],
    }
    return f"{json.dumps(told, indent=2)}\n" if found.proposals else ""


def _list_comments(proposal: Proposal, frame: Frame) -> Iterator[dict[str, object]]:
    said = "; ".join(edit.title for edit in proposal.edits)
    lost = f" It gives up: {'; '.join(proposal.gives_up)}." if proposal.gives_up else ""
    for changed in proposal.files:
        for first, last, lines in suggest(changed):
            body = f"{plain(f'Proved to help: {said}.{lost}')}\n\n{FENCE}suggestion\n{lines}{FENCE}\n"
            place: dict[str, object] = {"path": frame.path(changed.file), "line": last, "side": "RIGHT"}
            if first < last:
                place |= {"start_line": first, "start_side": "RIGHT"}
            if FENCE not in lines:
                yield {**place, "body": body}


def suggest(changed: FileChange) -> Iterator[tuple[int, int, str]]:
    """Lines from and to, counted from 1, and what is to stand in their place."""
    before, after = (text.splitlines(keepends=True) for text in (changed.before, changed.after))
    for tag, begin, end, new, new_end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        lines = after[new:new_end]
        if begin == end:  # nothing is replaced: the line before, or behind, stands for the place
            begin, lines = (begin - 1, [before[begin - 1], *lines]) if begin else (0, [*lines, before[0]])
            end = begin + 1
        yield begin + 1, end, "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
