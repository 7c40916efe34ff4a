"""What becomes of packets, as text and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from kubeproof.network.headers.classes import ROUND, Fate, Hop
from kubeproof.network.headers.model import DST, FIELDS, PROTO, show_address, show_box, show_range
from kubeproof.network.headers.run import CAN, PacketAnswer, PacketsResult
from kubeproof.report.escape import escape
from kubeproof.verdicts import Verdict

MOST_CLASSES = 30  # in text
MOST_BOXES = 5  # of one class


def packets_text(result: PacketsResult) -> str:
    """The classes and answers for people."""
    lines = list(_classes(result))
    for answer in result.answers:
        lines += list(_answer(answer, result.start))
    loops = sum(fate.how == ROUND for fate in result.fates)
    if loops:
        lines.append(f"note: packets go round for ever in {loops:,} set{'' if loops == 1 else 's'} of headers")
    if result.reason:
        lines.append(f"note: {result.reason}")
    what = f"{len(result.fates):,} set{'' if len(result.fates) == 1 else 's'} of headers"
    lines.append(f"{result.verdict}: packets from {result.start} ({show_box(result.box)}), {what}")
    return "".join(f"{escape(line)}\n" for line in lines)


def _way(fate: Fate) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    return fate.how, fate.device, tuple((hop.device, hop.text) for hop in fate.hops)


def _classes(result: PacketsResult) -> Iterator[str]:
    groups = [list(group) for _, group in groupby(result.fates, _way)]
    for group in groups[:MOST_CLASSES]:
        first = group[0]
        yield f"{first.how} at {first.device}"
        yield from (f"  {show_box(fate.packets.origin)}" for fate in group[:MOST_BOXES])
        if len(group) > MOST_BOXES:
            yield f"  and {len(group) - MOST_BOXES:,} more sets of headers"
        yield from (f"    {line}" for line in _hops(first))
        yield ""
    if len(groups) > MOST_CLASSES:
        yield f"and {len(groups) - MOST_CLASSES:,} more ways; narrow them with --match, or see -o json"


def _hops(fate: Fate) -> Iterator[str]:
    width = max((len(hop.device) for hop in fate.hops), default=0)
    for hop in fate.hops:
        yield f"{hop.device:<{width}}  {hop.text}{_place(hop)}"


def _place(hop: Hop) -> str:
    source = hop.rule.source if hop.rule is not None else None
    return f"  ({source.file}:{source.line})" if source is not None and source.line else ""


def _answer(answer: PacketAnswer, start: str) -> Iterator[str]:
    yield f"{answer.verdict} {answer.kind}: {start} -> {answer.target}"
    if answer.example is None:
        if answer.verdict is Verdict.VIOLATED:
            yield "  no packet gets there"
        return
    word = "for instance" if answer.kind == CAN else "but"
    yield f"  {word} {show_box(answer.example.packets.origin)}: {answer.example.how} at {answer.example.device}"
    yield from (f"    {line}" for line in _hops(answer.example))


def packets_json(result: PacketsResult) -> str:
    """All of it as one document."""
    content = {
        "version": 1,
        "network": result.network,
        "from": result.start,
        "match": _box(result.box),
        "verdict": result.verdict,
        "reason": result.reason,
        "answers": [_answer_json(answer) for answer in result.answers],
        "classes": [_fate(fate) for fate in result.fates],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _answer_json(answer: PacketAnswer) -> dict[str, Any]:
    example = None if answer.example is None else _fate(answer.example)
    return {"kind": answer.kind, "to": answer.target, "verdict": answer.verdict, "example": example}


def _fate(fate: Fate) -> dict[str, Any]:
    return {
        "headers": _box(fate.packets.origin),
        "ending": fate.how,
        "device": fate.device,
        "arrives_as": [_frame(fate, frame) for frame in fate.packets.frames],
        "path": [_hop(hop) for hop in fate.hops],
    }


def _box(box: tuple[tuple[int, int], ...]) -> dict[str, Any]:
    return {name: _range(place, *box[place]) for place, name in enumerate(FIELDS)}


def _range(place: int, first: int, last: int) -> str | list[int]:
    return show_range(first, last) if place <= DST else [first, last]


def _frame(fate: Fate, frame: tuple[int | None, ...]) -> dict[str, Any]:
    found = {}
    for place, (name, value) in enumerate(zip(FIELDS, frame, strict=True)):
        if value is None:
            found[name] = _range(place, *fate.packets.origin[place])
        else:
            found[name] = show_address(value) if place < PROTO else [value, value]
    return found


def _hop(hop: Hop) -> dict[str, Any]:
    source = hop.rule.source if hop.rule is not None else None
    location = {"file": source.file, "line": source.line} if source is not None and source.line else None
    return {"device": hop.device, "action": hop.text, "location": location}
