"""`spec.workload` of a Scenario: requests to services, metrics, and a timetable of faults. Read by `simulate` alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kubeproof.cluster.objects import Workload
from kubeproof.cluster.usage import CPU
from kubeproof.events.declarations import Event, kinds
from kubeproof.events.workload import (
    BALANCERS,
    ROUND_ROBIN,
    CallStage,
    Fault,
    MetricsPipeline,
    ServiceLoad,
    SimpleRule,
    TrafficShift,
    WorkloadSpec,
)
from kubeproof.manifests.pods.resources import read_amount as read_quantity
from kubeproof.manifests.scenarios.events.chances import read_amount
from kubeproof.manifests.scenarios.events.declared import read_timed_events
from kubeproof.manifests.scenarios.events.fields import Surroundings
from kubeproof.manifests.scenarios.events.usage import read_cpu
from kubeproof.manifests.scenarios.intents.targets import resolve
from kubeproof.manifests.scenarios.requests.arrivals import read_s, read_streams
from kubeproof.manifests.scenarios.requests.measured import read_demand
from kubeproof.manifests.yaml.durations import read_seconds
from kubeproof.manifests.yaml.fields import Fields, suggestion
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.tree import Scalar, ScalarKind, Value
from kubeproof.manifests.yaml.tree import Sequence as ListValue

_SHIFT = "trafficShift"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}", re.ASCII)
_MOST_FACTOR = 1000.0


def read_workload(spec: Fields, around: Surroundings, events: Sequence[Event]) -> WorkloadSpec | None:
    """The section; None if it is absent."""
    fields = spec.child("workload")
    if fields is None:
        return None
    services = tuple(_service(child, around, events) for child in fields.children("services"))
    _check_services(fields, services)
    faults, shifts = _timetable(fields, around, [service.name for service in services])
    workload = WorkloadSpec(services, faults, shifts, _metrics(fields), _simple(fields), fields.source)
    fields.finish_strictly("services", "faults", "metrics", "simple")
    return workload


# -- services ---------------------------------------------------------------------------------------


def _service(fields: Fields, around: Surroundings, events: Sequence[Event]) -> ServiceLoad:
    workload = _target(fields, around)
    for event in events:
        if event.level_count and event.subject == workload.ref and CPU in event.decides_use_of:
            remedy = "Remove one of the two: here requests decide what pods use"
            fields.fail(
                "target", f"is {workload.ref}, whose CPU use event {printable(event.name)} decides", remedy=remedy
            )
    demand = read_demand(fields, around, workload)
    service = ServiceLoad(
        name=_name(fields, workload),
        target=workload.ref,
        streams=read_streams(fields, around),
        cpu_ms=demand.cpu_ms
        if demand
        else float(_cpu_milli(fields, "cpuPerRequest", "what one request takes, such as 5m for 5 ms of one core")),
        memory_bytes=read_quantity(fields, "memoryPerRequest") if fields.has("memoryPerRequest") else 0,
        idle_cpu_milli=demand.idle_milli
        if demand
        else _cpu_milli(fields, "idle", "what a pod takes without requests, such as 5m"),
        deadline_s=_deadline(fields),
        balancing=fields.word("balancing", BALANCERS, ROUND_ROBIN),
        stages=tuple(_stage(fields, item) for item in fields.items("calls")),
        measured=demand.note if demand else "",
        source=fields.source,
    )
    fields.finish_strictly(
        *("name", "target", "arrivals", "cpuPerRequest", "memoryPerRequest", "idle", "deadline", "balancing", "calls"),
        "measured",
    )
    return service


def _name(fields: Fields, workload: Workload) -> str:
    """As reports show it: letters, digits and what names of objects have."""
    name = fields.text("name") or workload.name
    if not _NAME.fullmatch(name):
        remedy = "Write letters, digits, dots, dashes and underscores"
        fields.fail("name", f"is {printable(name)!r}, which is no name of a service", remedy=remedy)
    return name


def _target(fields: Fields, around: Surroundings) -> Workload:
    """The workload that serves: named, or the one whose pods the named Service selects."""
    target = fields.require_text("target")
    found = _read_selected(fields, target, around) if target.startswith("Service/") else ()
    found = found or resolve(fields, "target", target, around.workloads)
    if len(found) != 1 or found[0].rules.runs_to_completion:
        told = ", ".join(workload.ref for workload in found)
        fields.fail("target", f"stands for {told}", remedy="Name one Deployment, StatefulSet, ReplicaSet or DaemonSet")
    return found[0]


def _read_selected(fields: Fields, target: str, around: Surroundings) -> list[Workload]:
    parts = target.split("/")[1:]
    wanted = ("default", parts[0]) if len(parts) == 1 else (parts[0], "/".join(parts[1:]))
    for service in around.services:
        if (service.namespace, service.name) == wanted:
            found = [w for w in around.workloads if service.selects(w.namespace, w.template.labels)]
            if not found:
                remedy = "Add the workload, or correct the selector"
                fields.fail("target", "selects no pods of the input", remedy=remedy, is_missing=True)
            return found
    known = [f"Service/{service.namespace}/{service.name}" for service in around.services]
    remedy = suggestion(target, known) if known else "Name the Deployment"
    told = f"is {printable(target)!r}, which is not a Service of the input"
    fields.fail("target", told, remedy=remedy, is_missing=True)


def _cpu_milli(fields: Fields, key: str, what: str) -> int:
    """Thousandths of a core, or of a core's second; none unless they are given."""
    return read_cpu(fields, key, f"Write {what}") if fields.has(key) else 0


def _deadline(fields: Fields) -> float | None:
    seconds = read_s(fields, "deadline")
    if seconds == 0:
        fields.fail("deadline", "is zero", remedy="Write a duration such as 500ms")
    return seconds


def _stage(fields: Fields, item: Value) -> CallStage:
    """One call, or a list of calls at the same time."""
    items = item.items if isinstance(item, ListValue) else (item,)
    names = [one.text for one in items if isinstance(one, Scalar) and one.kind is ScalarKind.STRING]
    if not names or len(names) < len(items):
        remedy = "Write names of services: [cart, [prices, adverts]] calls cart, then both others at once"
        fields.fail("calls", "holds something else than names", remedy=remedy)
    return CallStage(tuple(names))


def _check_services(fields: Fields, services: tuple[ServiceLoad, ...]) -> None:
    """Names and targets are unique, calls name services, and no request calls itself."""
    by_name = {service.name: service for service in services}
    if len(by_name) < len(services) or len({service.target for service in services}) < len(services):
        fields.fail("services", "has a name or a target twice", remedy="Give one entry to each, with its own name")
    for service in services:
        for name in (call for stage in service.stages for call in stage.calls):
            if name not in by_name:
                remedy = suggestion(name, by_name)
                fields.fail(
                    "services", f"has {printable(service.name)} call {printable(name)!r}, not a service", remedy=remedy
                )
    for service in services:
        if service.name in _find_called(service, by_name):
            fields.fail("services", f"has {printable(service.name)} call itself in the end", remedy="Break the circle")


def _find_called(service: ServiceLoad, by_name: dict[str, ServiceLoad]) -> set[str]:
    """All that a request leads to."""
    found: set[str] = set()
    queue = [call for stage in service.stages for call in stage.calls]
    while queue:
        name = queue.pop()
        if name not in found:
            found.add(name)
            queue += [call for stage in by_name[name].stages for call in stage.calls]
    return found


def _metrics(fields: Fields) -> MetricsPipeline:
    child, default = fields.child("metrics"), MetricsPipeline()
    if child is None:
        return default
    scrape_s, window_s = (
        _seconds(child, "scrapeInterval", default.scrape_s),
        _seconds(child, "window", default.window_s),
    )
    delay_s = read_seconds(child, "delay")
    child.finish_strictly("scrapeInterval", "window", "delay")
    return MetricsPipeline(scrape_s, window_s, default.delay_s if delay_s is None else delay_s)


def _seconds(fields: Fields, key: str, default: int) -> int:
    seconds = read_seconds(fields, key)
    if seconds == 0:
        fields.fail(key, "is zero", remedy="Write a duration of at least 1s")
    return default if seconds is None else seconds


def _simple(fields: Fields) -> SimpleRule:
    """What `--autoscaler simple` does."""
    child, default = fields.child("simple"), SimpleRule()
    if child is None:
        return default
    up, down = read_amount(child, "up"), read_amount(child, "down")
    rule = SimpleRule(
        up=default.up if up is None else up,
        down=default.down if down is None else down,
        cycle_s=_seconds(child, "cycle", default.cycle_s),
        quiet_s=_seconds(child, "downscaleAfter", default.quiet_s),
    )
    if not 0 <= rule.down < rule.up:
        child.fail("up", f"is {rule.up:g}, down {rule.down:g}", remedy="down lies below up; both are use over request")
    child.finish_strictly("up", "down", "cycle", "downscaleAfter")
    return rule


# -- timetable --------------------------------------------------------------------------------------


def _timetable(
    fields: Fields, around: Surroundings, services: list[str]
) -> tuple[tuple[Fault, ...], tuple[TrafficShift, ...]]:
    faults: list[Fault] = []
    shifts: list[TrafficShift] = []
    for position, entry in enumerate(fields.children("faults"), start=1):
        at_s, for_s = read_seconds(entry, "at"), read_seconds(entry, "for")
        if at_s is None:
            entry.fail("at", "is required", remedy="Write when it happens: at: 10m")
        if for_s == 0:
            entry.fail("for", "is zero", remedy="Write how long it lasts, or leave it out")
        if entry.has(_SHIFT):
            shifts.append(_shift(entry, at_s, for_s, services))
            entry.finish_strictly("at", "for", _SHIFT)
            continue
        for event in read_timed_events(entry, position, around, ("at", "for", _SHIFT)):
            faults.append(Fault(at_s, _with_end(entry, event, for_s), for_s, entry.source))
    return tuple(faults), tuple(shifts)


def _with_end(entry: Fields, event: Event, for_s: int | None) -> Event:
    """The event with the end that `for` gives it, or without any."""
    if event.end_field:
        return event.with_end(for_s is not None)
    if for_s is not None:
        lasting = ", ".join(manual.key for kind in kinds() if kind.end_field for manual in kind.manuals)
        remedy = f"Only {lasting} and {_SHIFT} last for a while"
        entry.fail("for", "is said of something that has no end", remedy=remedy)
    return event


def _shift(entry: Fields, at_s: int, for_s: int | None, services: list[str]) -> TrafficShift:
    child = entry.require_child(_SHIFT)
    name, factor = child.require_text("service"), read_amount(child, "factor")
    if name not in services:
        child.fail(
            "service", f"is {printable(name)!r}, not a service of the workload", remedy=suggestion(name, services)
        )
    if factor is None or factor > _MOST_FACTOR:
        remedy = f"Write by what requests are multiplied, at most {_MOST_FACTOR:g}"
        child.fail("factor", "is required" if factor is None else f"is {factor:g}", remedy=remedy)
    child.finish_strictly("service", "factor")
    return TrafficShift(at_s, name, factor, for_s, entry.source)
