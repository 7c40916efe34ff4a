"""Traffic as an event: requests per second to a Service, and what one of them costs its ready pods."""

from __future__ import annotations

from kubeproof.cluster.objects import Workload
from kubeproof.cluster.services import Service
from kubeproof.events.declarations import CpuLoad, Event
from kubeproof.manifests.scenarios.events.fields import Common, Surroundings
from kubeproof.manifests.scenarios.events.usage import read_cpu
from kubeproof.manifests.yaml.fields import Fields, suggestion
from kubeproof.manifests.yaml.printable import printable

_MOST_LEVELS = 100
_MOST_PER_SECOND = 1_000_000_000


def read_requests(fields: Fields, common: Common, around: Surroundings) -> list[Event]:
    """Requests to a Service as a load that the ready pods of its workload share."""
    service = _service(fields, around)
    workload = _workload(fields, service, around)
    levels = _levels(fields)
    cost_milli = read_cpu(fields, "cpuPerRequest", "Write what one request takes, such as 5m for 5 ms of one core")
    return [
        CpuLoad(
            name=common.name,
            max=common.max,
            after=common.after,
            source=fields.source,
            target=workload.ref,
            levels=tuple(level * cost_milli for level in levels),
            initial=_initial(fields, levels),
            service=f"{service.namespace}/{service.name}",
            requests=levels,
        )
    ]


def _service(fields: Fields, around: Surroundings) -> Service:
    """The Service named as `name`, `namespace/name` or `Service/namespace/name`."""
    text = fields.require_text("service")
    parts = text.removeprefix("Service/").split("/")
    wanted = ("default", parts[0]) if len(parts) == 1 else (parts[0], "/".join(parts[1:]))
    for service in around.services:
        if (service.namespace, service.name) == wanted:
            return service
    known = [f"{service.namespace}/{service.name}" for service in around.services]
    remedy = suggestion("/".join(wanted), known) if known else "Add the Service, with a selector"
    told = f"is {printable(text)!r}, which is not a Service of the input that selects pods"
    fields.fail("service", told, remedy=remedy, is_missing=True)


def _workload(fields: Fields, service: Service, around: Surroundings) -> Workload:
    """The one workload whose pods the Service selects."""
    found = [w for w in around.workloads if service.selects(w.namespace, w.template.labels)]
    if len(found) == 1:
        return found[0]
    if not found:
        remedy = "Add the workload, or correct the selector"
        fields.fail("service", "selects no pods of the input", remedy=remedy, is_missing=True)
    told = ", ".join(workload.ref for workload in found)
    fields.fail("service", f"selects pods of {told}", remedy="Give each of them its share with cpuLoad")


def _levels(fields: Fields) -> tuple[int, ...]:
    """Requests per second: one number, or those between which it moves."""
    if fields.has("perSecond") == fields.has("levels"):
        remedy = "Give exactly one"
        fields.log.fail(f"{fields.path} needs either perSecond or levels", line=fields.mapping.line, remedy=remedy)
    if fields.has("perSecond"):
        return (fields.integer("perSecond", most=_MOST_PER_SECOND) or 0,)
    texts = [getattr(item, "text", "") for item in fields.items("levels")]
    levels = tuple(int(text) for text in texts if text.isdecimal() and text.isascii() and len(text) < 10)
    if not levels or len(levels) < len(texts) or len(set(levels)) < len(levels) or len(levels) > _MOST_LEVELS:
        fields.fail("levels", "is no list of different whole numbers", remedy="Write requests per second: [100, 400]")
    return levels


def _initial(fields: Fields, levels: tuple[int, ...]) -> int:
    if not fields.has("initial"):
        return 0
    initial = fields.integer("initial", most=_MOST_PER_SECOND)
    if initial not in levels:
        fields.fail("initial", f"is {initial}, not one of the levels", remedy="Repeat one of the levels")
    return levels.index(initial)
