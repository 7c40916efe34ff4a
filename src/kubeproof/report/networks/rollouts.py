"""Rollouts and plans as text and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from kubeproof.network.rollouts.changes import Change
from kubeproof.network.rollouts.result import Event, Interleaving, PlanResult, RolloutAnswer, RolloutResult, When
from kubeproof.report.escape import escape
from kubeproof.verdicts import Verdict

_WHEN = {
    When.BEFORE: "already before the rollout",
    When.DURING: "while rules change",
    When.AFTER: "also after the rollout",
}


def rollout_text(result: RolloutResult) -> str:
    """The answers for people."""
    lines = [line for answer in result.answers for line in (*_answer(answer), "")]
    for loop in result.loops:
        lines += [f"LOOP {loop.origin} to {loop.destination}, {_WHEN[loop.when]}", *_events(loop), ""]
    lines += [f"note: {note}" for note in result.notes]
    scope = f"{_count(result.changes, 'change')} in {_count(result.stages, 'stage')}"
    lines.append(
        f"{result.verdict}: {len(result.answers)} asked of every interleaving with {scope} of {result.network}"
    )
    return "".join(f"{escape(line)}\n" for line in lines)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _answer(answer: RolloutAnswer) -> Iterator[str]:
    yield f"{answer.verdict} {answer.name}"
    scope = f"{answer.classes:,} packet class{'' if answer.classes == 1 else 'es'}"
    if answer.meaning:
        yield f"  {answer.meaning}"
    elif answer.verdict is Verdict.HOLDS:
        yield f"  proved for every interleaving ({scope}, {answer.states:,} states)"
    elif answer.verdict is Verdict.VACUOUS:
        yield "  there is nothing to check: no traffic"
    else:
        yield f"  {answer.broken:,} of {scope}, a shortest run:"
    for example in answer.examples:
        yield f"  {example.origin} to {example.destination}{_kind(example)}, {_WHEN[example.when]}"
        yield from _events(example)


def _kind(example: Interleaving) -> str:
    traffic = example.traffic
    kind = " ".join(filter(None, (traffic.name, traffic.protocol, traffic.group, traffic.process)))
    return f" ({kind})" if kind else ""


def _events(example: Interleaving) -> Iterator[str]:
    width = max((len(event.node) for event in example.events), default=0)
    for number, event in enumerate(example.events):
        mark = "loop>" if number == example.loop_start else "     "
        place = f"  ({event.source.file}:{event.source.line})" if event.source.line else ""
        what = f"change  {event.text}" if event.kind == "change" else f"packet  {event.node:<{width}}  {event.text}"
        yield f"  {mark} {number + 1:>3}  {what}{place}"
    if example.loop_start is not None:
        yield "             and so on"


def rollout_json(result: RolloutResult) -> str:
    """The answers as one document."""
    content = {
        "version": 1,
        "network": result.network,
        "verdict": result.verdict,
        "changes": result.changes,
        "stages": result.stages,
        "results": [_answer_json(answer) for answer in result.answers],
        "loops": [_example_json(loop) for loop in result.loops],
        "notes": list(result.notes),
    }
    return _dump(content)


def _dump(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _answer_json(answer: RolloutAnswer) -> dict[str, Any]:
    return {
        "property": answer.name,
        "verdict": answer.verdict,
        "classes": answer.classes,
        "broken": answer.broken,
        "states": answer.states,
        "meaning": answer.meaning,
        "counterexamples": [_example_json(example) for example in answer.examples],
    }


def _example_json(example: Interleaving) -> dict[str, Any]:
    return {
        "source": example.origin,
        "destination": example.destination,
        "traffic": example.traffic.name,
        "when": example.when,
        "ending": example.how,
        "steps": example.steps,
        "loop_start": example.loop_start,
        "events": [_event_json(event) for event in example.events],
    }


def _event_json(event: Event) -> dict[str, Any]:
    location = {"file": event.source.file, "line": event.source.line} if event.source.line else None
    found: dict[str, Any] = {"kind": event.kind, "text": event.text, "location": location}
    return found | ({"node": event.node, "read": list(event.letters)} if event.kind == "packet" else {})


def plan_text(result: PlanResult) -> str:
    """A plan for people, or why there is none."""
    lines = list(_PLAN[result.verdict](result))
    lines += [f"note: {note}" for note in result.notes]
    return "".join(f"{escape(line)}\n" for line in lines)


def _found(result: PlanResult) -> Iterator[str]:
    waits = sum(one.waits for one in result.rounds)
    for number, one in enumerate(result.rounds):
        order = ", in any order" if len(one.changes) > 1 else ""
        yield f"round {number + 1}{order}"
        yield from (f"  {_change(change)}" for change in one.changes)
        if one.waits:
            yield "  then wait until packets that are on their way have left"
    scope = f"{_count(result.changes, 'change')}, {_count(len(result.rounds), 'round')}, {_count(waits, 'wait')}"
    yield f"PLAN: {scope}; kept in every interleaving: {', '.join(result.properties)}"


def _change(change: Change) -> str:
    place = f"  ({change.source.file}:{change.source.line})" if change.source.line else ""
    return f"{change}{place}"


def _none(result: PlanResult) -> Iterator[str]:
    if result.stuck:
        yield f"the search went furthest after {_count(len(result.stuck), 'change')}"
        yield from (f"  {_change(change)}" for change in result.stuck)
    for refusal in result.refusals:
        what = f"next cannot come  {_change(refusal.change)}" if str(refusal.change) else result.reason
        yield f"{what}: {refusal.property}"
        yield f"  {refusal.example.origin} to {refusal.example.destination}"
        yield from _events(refusal.example)
    if "itself" in result.reason:
        yield f"NO PLAN: {result.reason}"
        return
    looked = f"{_count(result.configurations, 'configuration')} looked at"
    yield f"NO PLAN: proved, {result.reason} ({looked}); packets that carry a version of the rules would help"


def _unknown(result: PlanResult) -> Iterator[str]:
    yield f"UNKNOWN: {result.reason} ({_count(result.configurations, 'configuration')} looked at)"


_PLAN = {Verdict.HOLDS: _found, Verdict.VIOLATED: _none, Verdict.UNKNOWN: _unknown}


def plan_json(result: PlanResult) -> str:
    """A plan as one document."""
    content = {
        "version": 1,
        "network": result.network,
        "verdict": result.verdict,
        "properties": list(result.properties),
        "changes": result.changes,
        "groups": result.groups,
        "configurations": result.configurations,
        "reason": result.reason,
        "rounds": [
            {"changes": [_change_json(one) for one in each.changes], "wait": each.waits} for each in result.rounds
        ],
        "stuck": [_change_json(one) for one in result.stuck],
        "refusals": [
            {"change": _change_json(one.change), "property": one.property, "counterexample": _example_json(one.example)}
            for one in result.refusals
        ],
        "notes": list(result.notes),
    }
    return _dump(content)


def _change_json(change: Change) -> dict[str, Any]:
    location = {"file": change.source.file, "line": change.source.line} if change.source.line else None
    return {"text": str(change), "nodes": sorted(change.nodes), "location": location}
