"""Answers to what-if questions as JSON: `what-if.schema.json` has their shape."""

from __future__ import annotations

import json
from typing import Any

from kubeproof import __version__
from kubeproof.report.what_if.words import ordinary_items
from kubeproof.verify.what_if.answer import Answer, Effect, OrdinaryRun

FORMAT = "kubeproof-what-if/1"
Plain = dict[str, Any]


def as_json(answer: Answer) -> str:
    """The answer; fields may be added to later versions."""
    return json.dumps(values_of(answer), indent=2, ensure_ascii=False) + "\n"


def values_of(answer: Answer) -> Plain:
    """The answer as plain values."""
    return {
        "format": FORMAT,
        "program": __version__,
        "question": answer.question,
        "kind": answer.key,
        "sentence": answer.sentence,
        "verdict": str(answer.verdict),
        "nodes": list(answer.nodes),
        "workloads": [_effect(one) for one in answer.effects],
        "worst": None if answer.worst is None else answer.worst.target,
        "ordinary": None if answer.ordinary is None else _run(answer.ordinary),
        "untouched": answer.untouched,
        "scope": [list(pair) for pair in answer.scope],
        "not_modelled": list(answer.not_modelled),
        "notes": list(answer.notes),
        "states": answer.statistics.states,
        "elapsed_s": round(answer.elapsed_s, 3),
    }


def _effect(effect: Effect) -> Plain:
    trace = effect.result.trace
    place = effect.source
    return {
        "target": effect.target,
        "grade": effect.grade.value,
        "detail": effect.detail,
        "replicas": effect.replicas,
        "minimum": effect.floor,
        "minimum_from": effect.floor_from,
        "lowest": effect.lowest,
        "longest_s": effect.longest_s,
        "alike": effect.alike,
        "remedy": effect.result.remedy,
        "file": place.file,
        "line": place.line,
        "run": [] if trace is None else [
            {"time_s": one.time_s, "actor": str(one.actor), "action": one.action} for one in trace.steps
        ],
        "loop_start": None if trace is None else trace.loop_start,
        "ends": [] if trace is None else [str(fact) for fact in trace.final],
    }  # fmt: skip


def _run(run: OrdinaryRun) -> Plain:
    return {
        "lasts_s": run.lasts_s,
        "is_whole": run.is_whole,
        "pods": [
            {
                "pod": one.pod,
                "target": one.target,
                "node": one.node,
                "stays": one.stays,
                "leaves_s": one.leaves_s,
                "gone_s": one.gone_s,
            }
            for one in run.moves
        ],
        "workloads": [
            {
                "target": one.target,
                "wanted": one.wanted,
                "lowest": one.lowest,
                "short_s": one.short_s,
                "below_s": one.below_s,
                "back_s": one.back_s,
            }
            for one in run.spells
        ],
        "steps": [{"time_s": one.time_s, "actor": str(one.actor), "action": one.action} for one in run.steps],
        "timeline": [{"time_s": one.time_s, "actor": one.actor, "said": one.said} for one in ordinary_items(run)],
    }
