"""Counterexamples as values: replayed first, then put into words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypedDict

from kubeproof.cluster.objects import Source
from kubeproof.controllers.admission.quota import is_meant
from kubeproof.model.by_name.state import State, Transition
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.verify.counterexamples.lift import NamedPath
from kubeproof.verify.counterexamples.replayer import Look, Replayed, judge, look_nowhere, take_again
from kubeproof.verify.explained import Explanation
from kubeproof.verify.reasons.domains import with_counts
from kubeproof.verify.reasons.inaction import find_inaction
from kubeproof.verify.reasons.scene import look_at
from kubeproof.verify.reasons.story import Story
from kubeproof.verify.result import Trace, TraceStep
from kubeproof.verify.words.explain import event_words, explain_added, final_facts, why
from kubeproof.verify.words.obstacles import obstacles
from kubeproof.verify.words.steps import measure_elapsed, trace_step

if TYPE_CHECKING:
    from kubeproof.intents.predicates.temporal import Temporal


class Violation(TypedDict):
    """The fields of an intent's result that only a violation has."""

    trace: Trace
    sources: tuple[tuple[str, Source], ...]
    explanation: Explanation
    remedy: str


def make_trace(model: IndividualModel, monitor_number: int, prelude: NamedPath | None, path: NamedPath) -> Violation:
    """The trace of a violation; raises ReplayMismatch if it does not stand up to replay."""
    before = describe_steps(model, prelude.states, prelude.steps, 0) if prelude else ()
    return make_trace_after(model, monitor_number, before, path)


def make_trace_after(
    model: IndividualModel,
    monitor_number: int,
    before: tuple[TraceStep, ...],
    path: NamedPath,
    look: Look = look_nowhere,
) -> Violation:
    """The same, where the steps that deployed the cluster are told already."""
    return make_traces(model, (monitor_number,), before, path, look)[monitor_number]


def make_traces(
    model: IndividualModel,
    monitor_numbers: Sequence[int],
    before: tuple[TraceStep, ...],
    path: NamedPath,
    look: Look = look_nowhere,
) -> dict[int, Violation]:
    """The traces of several violations in one run, which is replayed once and judged for each."""
    recorded = [(step.controller, step.concrete) for step in path.steps]
    replayed = take_again(model, path.states[0], recorded, look)
    for number in monitor_numbers:
        judge(model, replayed, path.loop_start, number)
    steps = describe_steps(model, path.states, path.steps, before[-1].time_s if before else 0)
    return {number: _make_one(model, number, before, path, replayed, steps) for number in monitor_numbers}


def _make_one(
    model: IndividualModel,
    number: int,
    before: tuple[TraceStep, ...],
    path: NamedPath,
    replayed: Replayed,
    steps: tuple[TraceStep, ...],
) -> Violation:
    loop_start = None if path.loop_start is None else path.loop_start + len(before)
    certainty = ("inevitable" if path.is_inevitable else "possible") if path.loop_start is not None else ""
    monitor = model.plan.monitors[number]
    final = final_facts(model, path.last, monitor)
    held_back = obstacles(model, path.last, monitor)
    steps = with_counts(model, replayed.states, steps, monitor)
    is_loop = path.loop_start is not None
    inaction = find_inaction(look_at(model, monitor, replayed, len(before)), is_loop=is_loop)
    trace = Trace(
        (*before, *steps),
        loop_start,
        certainty,
        final,
        deployed_steps=len(before),
        obstacles=held_back,
        inaction=inaction,
    )
    told = Story(model, monitor, replayed, steps, path.loop_start, inaction).tell()
    if monitor.temporal is not None:
        first, lettered = with_letters(model, path.states, path.steps, monitor.temporal, steps)
        where = monitor.temporal.where
        trace = replace(trace, steps=(*before, *lettered), propositions=where, begins_with=first)
    return Violation(trace=trace, sources=_sources(model, path), explanation=told, remedy=told.change)


def with_letters(
    model: IndividualModel,
    states: Sequence[State],
    steps: Sequence[Transition],
    temporal: Temporal,
    told_steps: Sequence[TraceStep],
) -> tuple[tuple[str, ...], tuple[TraceStep, ...]]:
    """The propositions that are true in the first state, and the told steps with those true after each."""
    from kubeproof.model.letters import name_letters

    first, *later = [tuple(sorted(one)) for one in name_letters(model, temporal, states, steps)]
    return first, tuple(replace(step, holds=letter) for step, letter in zip(told_steps, later, strict=True))


def describe_steps(
    model: IndividualModel, states: Sequence[State], steps: Sequence[Transition], begun_s: int
) -> tuple[TraceStep, ...]:
    """The steps in words, with the time at which each happens."""
    time_s = begun_s
    result = []
    for state, step in zip(states, steps, strict=False):
        time_s += measure_elapsed(step)
        shown = trace_step(model.setup, state, step, time_s, why(model, state, step))
        said, added = event_words(model, step), explain_added(model, step)
        action = "; ".join(words for words in (said or shown.action, added) if words)
        result.append(replace(shown, action=action))
    return tuple(result)


def _sources(model: IndividualModel, path: NamedPath) -> tuple[tuple[str, Source], ...]:
    """Where the objects that take part in the trace are declared."""
    workloads: set[int] = set()
    nodes: set[str] = set()
    for step in path.steps:
        workloads |= {getattr(action, "workload", -1) for action in step.decision.actions} - {-1}
        nodes |= {str(part) for concrete in step.concrete for part in concrete if part in model.names}
    shown = [model.setup.workloads[i] for i in sorted(workloads)]
    found = [(str(w.owner) if w.ordinal is not None else w.ref, w.source) for w in shown]
    found += [(f"Node/{node.name}", node.source) for node in model.setup.nodes if node.name in nodes]
    taking_part = [model.setup.workloads[i] for i in workloads]
    for quota in model.setup.quotas:
        if any(is_meant(quota, workload) for workload in taking_part):
            found.append((f"ResourceQuota/{quota.namespace}/{quota.name}", quota.source))
    return tuple(found)
