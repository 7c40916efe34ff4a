"""What an event of a Scenario is, in one line that leaves nothing of it out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kubeproof.cluster.chances import Chance
from kubeproof.errors import InternalError
from kubeproof.events.declarations import (
    Apply,
    BudgetChange,
    Completes,
    Cordon,
    CpuLoad,
    Create,
    CreateNode,
    Delete,
    Drain,
    Event,
    KernelPanic,
    Maintenance,
    NeverReady,
    NodeChoice,
    NodeFailure,
    NodeRemoval,
    PodCrash,
    Rollout,
    Scale,
    Unreachable,
    UsageChange,
    UsagePattern,
    ZoneFailure,
)
from kubeproof.intents.selector_text import selector_text


def describe_event(event: Event) -> str:
    """The event in words: what it does to whom, how often, after what, and how it ends."""
    for kind, tell in _WORDS.items():
        if isinstance(event, kind):
            return f"{event.name}: {tell(event)}{_after(event)}{', must happen' if event.must else ''}{_chances(event)}"
    raise InternalError(f"E700 nobody says what event {event.name} is")


def _after(event: Event) -> str:
    return f", after {' and '.join(event.conditions)}" if event.conditions else ""


def _chances(event: Event) -> str:
    told = [
        f", {word} {_chance(chance)}"
        for word, chance in (("chance", event.chance), ("recovery", event.recovery))
        if chance
    ]
    moves = getattr(event, "moves", None)
    return "".join(told) + (", moves as its matrix says" if moves is not None else "")


def _chance(chance: Chance) -> str:
    return f"{chance.per_hour:g} per hour" if chance.per_hour is not None else f"{chance.per_tick:g} per tick"


def _times(event: Event) -> str:
    most: int | None = event.max
    if most is None:
        return "any number of times"
    return "at most once" if most == 1 else f"at most {most} times"


def _a_node(chosen: NodeChoice) -> str:
    """One of the nodes that an event may hit."""
    if chosen == NodeChoice():
        return "a node"
    if chosen.names is not None and len(chosen.names) == 1 and chosen.selector is None:
        return f"node {chosen.names[0]}"
    return f"a node {_which(chosen)}"


def _which(chosen: NodeChoice) -> str:
    names = [] if chosen.names is None else [f"of {', '.join(chosen.names) or 'none'}"]
    labels = [] if chosen.selector is None else [f"with {selector_text(chosen.selector) or 'any labels'}"]
    return " ".join((*names, *labels))


def _node_failure(event: NodeFailure) -> str:
    end = "comes back" if event.comes_back else "may recover" if event.recovers else "for good"
    if not event.together or event.max == 1:
        return f"{_a_node(event.nodes)} fails {_times(event)}, {end}"
    which = f" {_which(event.nodes)}" if event.nodes != NodeChoice() else ""
    return f"{'up to ' if event.or_fewer else ''}{event.max} nodes{which} fail together, once, {end}"


def _zone_failure(event: ZoneFailure) -> str:
    end = "may recover together" if event.recovers else "for good"
    return f"all nodes of one {event.topology_key} fail together {_times(event)}, {end}"


def _cordon(event: Cordon) -> str:
    lifted = ", and may be uncordoned" if event.reversible else ""
    return f"{_a_node(event.nodes)} is cordoned {_times(event)}{lifted}"


def _drain(event: Drain) -> str:
    end = "uncordoned when empty" if event.uncordon else "left cordoned"
    return _worked_on(event, "drained", end)


def _maintenance(event: Maintenance) -> str:
    return _worked_on(event, "drained", "down for a while, back and uncordoned")


def _worked_on(event: Drain | Maintenance, what: str, end: str) -> str:
    at_once = "" if event.max == 1 else f", {event.concurrent} at once"
    if not event.each_once:
        return f"{_a_node(event.nodes)} is {what} {_times(event)}{at_once}, {end}"
    which = f" {_which(event.nodes)}" if event.nodes != NodeChoice() else ""
    how = "one after the other" if event.concurrent == 1 else f"{event.concurrent} at once"
    return f"{event.max} node(s){which} are {what}, {how}, none twice, {end}"


def _node_removal(event: NodeRemoval) -> str:
    how = "drained first" if event.drain_first else "with all that runs there"
    return f"{_a_node(event.nodes)} is deleted {_times(event)}, {how}"


def _scale(event: Scale) -> str:
    values = ", ".join(str(value) for value in event.replicas)
    bound = "" if event.max >= len(event.replicas) else f", {_times(event)} in all"
    return f"{event.target} scaled to {values}, once each{bound}"


def _apply(event: Apply) -> str:
    size = f" with {event.workload.replicas} replicas" if event.replicas_given else ""
    return f"{event.workload.ref} is applied{size} {_times(event)}"


def _rollout(event: Rollout) -> str:
    return f"{event.target} gets {'its previous' if event.back else 'a new'} pod template {_times(event)}"


def _usage_change(event: UsageChange) -> str:
    return f"{event.resource} of {_users(event)} at {_levels(event.levels, event.initial)}{_changes(event)}"


def _cpu_load(event: CpuLoad) -> str:
    loads = _levels([f"{level}m" for level in event.levels], event.initial)
    load = f"{loads} of CPU, shared by the ready pods of {event.target}{_changes(event)}"
    if not event.requests:
        return load
    return f"Service {event.service} gets {_levels(event.requests, event.initial)} requests per second: {load}"


def _levels(levels: Sequence[object], initial: int) -> str:
    """The level at the start, and the others if there are any."""
    others = ", ".join(str(level) for number, level in enumerate(levels) if number != initial)
    return f"{levels[initial]}, or {others}" if others else f"{levels[initial]}"


def _changes(event: UsageChange | CpuLoad) -> str:
    return f", changing {_times(event)}" if len(event.levels) > 1 else ""


def _usage_pattern(event: UsagePattern) -> str:
    phases = [f"{use} for {seconds} s" if seconds is not None else f"then {use}" for use, seconds in event.phases]
    return f"{event.resource} of {_users(event)} follows the age of its pods: {', '.join(phases)}"


def _users(event: UsageChange | UsagePattern) -> str:
    return f"container {event.container} of {event.target}" if event.container else event.target


def _unreachable(event: Unreachable) -> str:
    end = "may recover" if event.recovers else "for good"
    return f"pods of {event.target} get no traffic and use {event.idle} CPU each, {_times(event)}, {end}"


def _kernel_panic(event: KernelPanic) -> str:
    which = "nodes" if event.nodes == NodeChoice() else f"nodes {_which(event.nodes)}"
    return f"{which} fail above {event.above} of their CPU, {_times(event)}, and come back when freed"


def _never_ready(event: NeverReady) -> str:
    which = {"all": "pods", "initial": "pods of the first revision", "new": "pods of later revisions"}[event.revision]
    return f"{which} of {event.target} never become ready"


def _completes(event: Completes) -> str:
    span = f"{event.least_s}" if event.least_s == event.most_s else f"{event.least_s} to {event.most_s}"
    return f"pods of {event.target} run for {span} s"


_WORDS: dict[type[Event], Callable[[Any], str]] = {
    NodeFailure: _node_failure,
    ZoneFailure: _zone_failure,
    Cordon: _cordon,
    Drain: _drain,
    Maintenance: _maintenance,
    NodeRemoval: _node_removal,
    Scale: _scale,
    Create: lambda event: f"{event.target} is created",
    CreateNode: lambda event: f"node {event.node} joins",
    BudgetChange: lambda event: f"PodDisruptionBudget/{event.budget} is {event.verb}",
    Apply: _apply,
    Delete: lambda event: f"{event.target} is deleted",
    Rollout: _rollout,
    PodCrash: lambda event: f"a container of a pod of {event.target} exits {_times(event)}",
    UsageChange: _usage_change,
    UsagePattern: _usage_pattern,
    CpuLoad: _cpu_load,
    Unreachable: _unreachable,
    KernelPanic: _kernel_panic,
    NeverReady: _never_ready,
    Completes: _completes,
}
