"""Answers about networks as text and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kubeproof.report.escape import escape
from kubeproof.verdicts import Verdict

if TYPE_CHECKING:
    from kubeproof.network.checking.replay import Hop
    from kubeproof.network.result import Counterexample, NetworkResult, PropertyResult

_ENDINGS = {
    "here": "violated here",
    "dropped": "dropped; nothing more happens to it",
    "delivered": "delivered; nothing more happens to it",
}


def as_text(result: NetworkResult) -> str:
    """All answers for people."""
    lines = [line for one in result.results for line in (*_property(one), "")]
    for loop in result.loops:
        lines.append(f"LOOP, of which no property tells: {loop.pairs:,} pair{'' if loop.pairs == 1 else 's'}")
        lines += [*example_text(loop), ""]
    lines += [f"note: {note}" for note in result.notes]
    counts = {word: [one.verdict for one in result.results].count(word) for word in _order(result)}
    summary = ", ".join(f"{count} {word}" for word, count in counts.items())
    many = "property" if len(result.results) == 1 else "properties"
    lines.append(f"{result.verdict}: {len(result.results)} {many} checked on {result.network} ({summary})")
    return "".join(f"{escape(line)}\n" for line in lines)


def _order(result: NetworkResult) -> list[Verdict]:
    return sorted({one.verdict for one in result.results})


def _property(one: PropertyResult) -> Iterator[str]:
    yield f"{one.verdict} {one.name}"
    yield f"  {meaning_of(one)}"
    for example in one.counterexamples:
        yield from example_text(example)
    for reason in one.reasons:
        yield f"  {reason}"
    for number, step in enumerate(one.steps):
        if not number or step.part != one.steps[number - 1].part:
            yield f"  {step.part}: {step.process}"
        place = f"{step.event.source.file}:{step.event.source.line}"
        yield f"    {step.snapshot_name}  {step.event.process} {step.event.kind} (read as {step.letter})  {place}"


def meaning_of(one: PropertyResult) -> str:
    """What an answer means, in a line."""
    what = "packet classes" if one.snapshots else "processes"
    scope = f"{one.pairs:,} {what}" + (
        f", {len(one.snapshots)} snapshot(s), {one.states:,} product states" if one.snapshots else ""
    )
    if one.meaning:
        return one.meaning
    if one.verdict == Verdict.VACUOUS:
        return f"there is nothing to check: {scope}"
    safety = "the safety part holds" if one.is_safe else "the safety part is violated"
    liveness = {
        "none": "there is no liveness part",
        "verified": f"the liveness part is verified{_since(one)}",
        "not verified": "the liveness part is not verified up to the last snapshot",
        "undetermined": "the liveness part is undetermined, as the safety part is violated in the last snapshot",
        "violated": "the liveness part is violated by an endless loop",
    }[one.liveness.value]
    return f"{safety}; {liveness} ({scope})"


def _since(one: PropertyResult) -> str:
    return f" from snapshot {one.snapshots[one.since].name} on" if one.since and one.snapshots else ""


def example_text(example: Counterexample) -> Iterator[str]:
    """A counterexample for people."""
    traffic = example.traffic
    kind = " ".join(filter(None, (traffic.name, traffic.protocol, traffic.group, traffic.process)))
    pair = f"{example.source} to {example.destination}"
    where = f"snapshot {example.snapshot_name}, " if example.snapshot_name else ""
    title = example.part if example.snapshot_name else "a way"  # manifests have no snapshots
    yield f"  {title}: {where}{pair}{f' ({kind})' if kind else ''}"
    width = max(len(hop.node) for hop in example.hops)
    for number, hop in enumerate(example.hops):
        mark = "loop> " if number == example.loop_start else "      "
        is_judged = example.how == "here" and number == len(example.hops) - 1
        yield (
            f"  {mark}{hop.node}" if is_judged else f"  {mark}{hop.node:<{width}}  {_action(example, hop)}{_place(hop)}"
        )
    if example.how in _ENDINGS:
        read = f", read as {' '.join(example.hops[-1].letters)}" if example.how == "here" else ""
        if example.snapshot_name:
            yield f"        {_ENDINGS[example.how]}{read}"
    else:
        yield f"        and so on for ever, from {example.hops[example.loop_start or 0].node}"
    if example.pairs > 1:
        others = ", ".join(f"{source} to {destination}" for source, destination in example.others)
        more = (
            f" and {example.pairs - 1 - len(example.others):,} more" if example.pairs - 1 > len(example.others) else ""
        )
        yield f"  {'in the same snapshot also' if example.snapshot_name else 'also'}: {others}{more}"


def _action(example: Counterexample, hop: Hop) -> str:
    return hop.action if example.snapshot_name else hop.action.replace("forwards to", "connects to")


def _place(hop: Hop) -> str:
    if hop.rule is None or not hop.rule.source.line:
        return ""
    note = f", {hop.rule.note}" if hop.rule.note else ""
    return f"{note}  ({hop.rule.source.file}:{hop.rule.source.line})"


def as_json(result: NetworkResult) -> str:
    """All answers as one document."""
    content = {
        "version": 1,
        "network": result.network,
        "verdict": result.verdict,
        "results": [_property_json(one) for one in result.results],
        "loops": [example_json(loop) for loop in result.loops],
        "notes": list(result.notes),
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _property_json(one: PropertyResult) -> dict[str, Any]:
    return {
        "property": one.name,
        "verdict": one.verdict,
        "safety": one.is_safe,
        "liveness": one.liveness.value,
        "since": one.since,
        "classes": one.pairs,
        "states": one.states,
        "snapshots": [
            {"name": s.name, "unsafe": s.unsafe, "unmet": s.unmet, "endless": s.endless} for s in one.snapshots
        ],
        "reasons": list(one.reasons),
        "counterexamples": [example_json(example) for example in one.counterexamples],
        "steps": [
            {
                "process": step.process,
                "part": step.part,
                "read": step.letter,
                "snapshot": step.snapshot_name,
                "event": step.event.kind,
                "by": step.event.process,
                "location": {"file": step.event.source.file, "line": step.event.source.line},
            }
            for step in one.steps
        ],
    }


def example_json(example: Counterexample) -> dict[str, Any]:
    """A counterexample as plain values."""
    traffic = example.traffic
    return {
        "part": example.part,
        "snapshot": {"number": example.snapshot, "name": example.snapshot_name},
        "traffic": {
            "source": example.source,
            "destination": example.destination,
            "name": traffic.name,
            "protocol": traffic.protocol,
            "priorityGroup": traffic.group,
            "process": traffic.process,
        },
        "path": [_hop_json(hop) for hop in example.hops],
        "ending": example.how,
        "loop_start": example.loop_start,
        "classes": example.pairs,
        "also": [list(pair) for pair in example.others],
    }


def _hop_json(hop: Hop) -> dict[str, Any]:
    source = hop.rule.source if hop.rule is not None else None
    location = {"file": source.file, "line": source.line} if source is not None else None
    note = hop.rule.note if hop.rule is not None else ""
    return {"node": hop.node, "action": hop.action, "read": list(hop.letters), "note": note, "location": location}
