"""Events about what pods really use: changes, patterns, shared load, lack of traffic, nodes that panic under it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from kubeproof.cluster.api.quantity import QuantityError, milli
from kubeproof.cluster.objects import Workload
from kubeproof.cluster.usage import containers_of
from kubeproof.events.declarations import CpuLoad, Event, KernelPanic, Unreachable, Usage, UsageChange, UsagePattern
from kubeproof.manifests.late import read_requests
from kubeproof.manifests.scenarios.events.fields import Common, Surroundings, each_target, most_times, refuse_moment
from kubeproof.manifests.scenarios.intents.targets import read_nodes, read_targets
from kubeproof.manifests.yaml.durations import read_seconds
from kubeproof.manifests.yaml.fields import Fields, suggestion
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.tree import Scalar, ScalarKind, Value

_PERCENT = re.compile(r"([0-9]{1,6})%", re.ASCII)
_SCALARS = (ScalarKind.INTEGER, ScalarKind.FLOAT, ScalarKind.STRING)
_REMEDY = 'Write a percentage such as "80%", or a quantity such as 500m'
_MOST_LEVELS = 100
Reader = Callable[[Fields, Common, Surroundings], list[Event]]


def read_usage(fields: Fields, key: str, value: Value | None = None, *, remedy: str = _REMEDY) -> Usage:
    """The usage under a key, or in one item of its list: a percentage, or a quantity."""
    item = fields.value(key) if value is None else value
    if not isinstance(item, Scalar) or item.kind not in _SCALARS:
        fields.fail(key, "is not a usage", remedy=remedy)
    percent = _PERCENT.fullmatch(item.text)
    if percent:
        return Usage(percent=int(percent[1]))
    try:
        amount = milli(item.text)
    except QuantityError as problem:
        fields.fail(key, f"is {printable(item.text)!r}: {problem}", remedy=remedy)
    if amount < 0:
        fields.fail(key, f"is {printable(item.text)!r}, below zero", remedy=remedy)
    return Usage(amount_milli=amount)


def read_cpu(fields: Fields, key: str, remedy: str) -> int:
    """Thousandths of a core, or of a core's second, where a percentage would be one of nothing."""
    usage = read_usage(fields, key, remedy=remedy)
    if usage.amount_milli is None:
        fields.fail(key, "is a percentage", remedy=remedy)
    return usage.amount_milli


def _levels(fields: Fields) -> tuple[Usage, ...]:
    levels = tuple(read_usage(fields, "levels", item) for item in fields.items("levels"))
    if not levels:
        fields.fail("levels", "is required", remedy='Write levels: ["20%", "80%"]')
    if len(levels) > _MOST_LEVELS:
        fields.fail("levels", f"has {len(levels)} entries", remedy=f"At most {_MOST_LEVELS} levels")
    if len(set(levels)) < len(levels):
        fields.fail("levels", "holds a level twice", remedy="Write each level once")
    return levels


def _initial(fields: Fields, levels: Sequence[Usage]) -> int:
    """The index of the level at the start: the one that `initial` repeats, otherwise the first."""
    if not fields.has("initial"):
        return 0
    initial = read_usage(fields, "initial")
    if initial not in levels:
        fields.fail("initial", f"is {initial}, not one of the levels", remedy="Repeat one of the levels")
    return levels.index(initial)


def _usage_change(resource: str, fields: Fields, common: Common, around: Surroundings) -> list[Event]:
    levels, container = _levels(fields), _container(fields, around)
    initial = _initial(fields, levels)
    applies = partial(_unusable, resource, levels, container, around.kubernetes_version)
    return [
        UsageChange(
            name=name,
            max=common.max,
            after=common.after,
            source=fields.source,
            resource=resource,
            target=workload.ref,
            container=container,
            levels=levels,
            initial=initial,
        )
        for name, workload in each_target(fields, common, around, applies=applies)
    ]


def _container(fields: Fields, around: Surroundings) -> str:
    """The container that is meant, "" for the pod as a whole; the target must have it, or some workload."""
    container = fields.text("container") or ""
    if not container:
        return ""
    chosen = read_targets(fields, around.workloads)
    of = f"no container of {chosen[0].ref}" if chosen is not None and len(chosen) == 1 else "which no workload has"
    named = chosen or around.workloads
    names = {one.name for workload in named for one in containers_of(workload.template, around.kubernetes_version)}
    if container not in names:
        fields.fail("container", f"is {printable(container)!r}, {of}", remedy=suggestion(container, names))
    return container


def _unusable(
    resource: str, levels: Sequence[Usage], container: str, version: tuple[int, int], workload: Workload
) -> str:
    """Why the workload's usage cannot be like this, "" if it can."""
    containers = [one for one in containers_of(workload.template, version) if container in ("", one.name)]
    if not containers:
        return f"has no container {printable(container)}"
    requests = [one.cpu_milli if resource == "cpu" else one.memory_bytes for one in containers]
    if any(level.percent is not None for level in levels) and not any(requests):
        whose = f" in container {printable(container)}" if container else ""
        return f"requests no {resource}{whose}, so a percentage means nothing"
    return ""


def _usage_pattern(resource: str, fields: Fields, common: Common, around: Surroundings) -> list[Event]:
    refuse_moment(fields)
    phases, container = _phases(fields), _container(fields, around)
    applies = partial(_unusable, resource, [usage for usage, _ in phases], container, around.kubernetes_version)
    return [
        UsagePattern(
            name=name,
            source=fields.source,
            resource=resource,
            target=workload.ref,
            container=container,
            phases=phases,
        )
        for name, workload in each_target(fields, common, around, applies=applies)
    ]


def _phases(fields: Fields) -> tuple[tuple[Usage, int | None], ...]:
    """Usage and duration of each phase; the last one, and only that, lasts for ever."""
    children = fields.children("phases")
    if not children:
        fields.fail("phases", "is required", remedy='Write phases: [{usage: "100%", for: 60s}, {usage: "20%"}]')
    phases = []
    for child in children:
        seconds = read_seconds(child, "for")
        if seconds is None and child is not children[-1]:
            child.fail("for", "is required", remedy="Only the last phase lasts for ever")
        if seconds == 0:
            child.fail("for", "is 0s", remedy="Remove the phase")
        phases.append((read_usage(child, "usage"), seconds))
        child.finish_strictly("usage", "for")
    if phases[-1][1] is not None:
        children[-1].fail("for", "ends the last phase", remedy="Let the last phase last for ever: remove it")
    return tuple(phases)


def _cpu_load(fields: Fields, common: Common, around: Surroundings) -> list[Event]:
    if fields.has("total") == fields.has("levels"):
        fields.log.fail(
            f"{fields.path} needs either total or levels", line=fields.mapping.line, remedy="Give exactly one"
        )
    key = "total" if fields.has("total") else "levels"
    levels = (read_usage(fields, "total"),) if key == "total" else _levels(fields)
    initial = _initial(fields, levels)
    totals = tuple(level.amount_milli for level in levels if level.amount_milli is not None)
    if len(totals) < len(levels):
        fields.fail(key, "is a percentage", remedy="Write the load of all pods together, such as 600m")
    return [
        CpuLoad(
            name=name,
            max=common.max,
            after=common.after,
            source=fields.source,
            target=workload.ref,
            levels=totals,
            initial=initial,
        )
        for name, workload in each_target(fields, common, around)
    ]


def _unreachable(fields: Fields, common: Common, around: Surroundings) -> list[Event]:
    idle = read_usage(fields, "usage") if fields.has("usage") else Unreachable(name="", target="").idle
    recovers = fields.boolean("recovers")
    applies = partial(_unusable, "cpu", [idle] if idle.percent else [], "", around.kubernetes_version)
    return [
        Unreachable(
            name=name,
            max=most_times(common),
            after=common.after,
            source=fields.source,
            target=workload.ref,
            recovers=recovers is not False,
            idle=idle,
        )
        for name, workload in each_target(fields, common, around, applies=applies)
    ]


def _kernel_panic(fields: Fields, common: Common, around: Surroundings) -> list[Event]:
    if common.after is not None:
        fields.fail(
            "after", "is set, but overload is not a moment", remedy="Take it out: a node fails when it is overloaded"
        )
    event = KernelPanic(
        name=common.name,
        max=common.max,
        after=common.after,
        source=fields.source,
        above=read_usage(fields, "aboveCPU") if fields.has("aboveCPU") else KernelPanic(name="").above,
        nodes=read_nodes(fields, around.nodes),
    )
    return [event]


def check_one_usage(events: Sequence[Event], places: dict[str, Fields]) -> None:
    """Refuses a second event that says what the same pods use."""
    said: dict[tuple[str, str], list[str]] = {}
    for event in events:
        if isinstance(event, (UsageChange, UsagePattern)):
            resource, target, container = event.resource, event.target, event.container
        elif isinstance(event, CpuLoad):
            resource, target, container = "cpu", event.target, ""
        elif isinstance(event, Unreachable):
            resource, target, container = "lack of traffic", event.target, ""
        else:
            continue
        before = said.setdefault((resource, target), [])
        if before and (container in before or "" in (container, *before)):
            what = resource if isinstance(event, Unreachable) else f"{resource} usage"
            problem = f"the {what} of {target} is given twice"
            places[event.name].log.fail(problem, line=event.source.line, remedy="Keep one of the events")
        before.append(container)


USAGE_READERS: dict[str, Reader] = {
    "cpuChange": partial(_usage_change, "cpu"),
    "memoryChange": partial(_usage_change, "memory"),
    "cpuPattern": partial(_usage_pattern, "cpu"),
    "memoryPattern": partial(_usage_pattern, "memory"),
    "cpuLoad": _cpu_load,
    "requests": read_requests,
    "unreachable": _unreachable,
    "kernelPanic": _kernel_panic,
}
