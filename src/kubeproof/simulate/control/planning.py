"""From an input to the plan of a run: the cluster, what its services' requests use, and what a timetable brings."""

from __future__ import annotations

from dataclasses import replace

from kubeproof.cluster.loops.control import Loop
from kubeproof.cluster.objects import Setup, Workload
from kubeproof.cluster.usage import CPU, MEMORY, container_request, containers_of, request_milli
from kubeproof.errors import NothingToCheckError
from kubeproof.events.declarations import Apply, Event, Usage, UsageChange
from kubeproof.events.workload import Fault, ServiceLoad, WorkloadSpec
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.plan import Plan, make_plan
from kubeproof.simulate.control.measuring.metering import Expected
from kubeproof.values import dataclass

HPA, SIMPLE = "hpa", "simple"
MOST_LEVELS = 4096  # values that measured use is rounded to
FEW_LEVELS = 8  # where a vertical autoscaler prepares a size for each
MOST_TIMES = 4  # use of a pod without a limit, in requests


@dataclass(frozen=True, slots=True)
class Meter:
    """Through which the use of a service's pods enters the model: the level of an event, in steps of so many milli."""

    service: str
    resource: str
    memory: int
    step_milli: int
    levels: int
    source: Loop
    expected: Expected

    def level(self, amount_milli: float) -> int:
        """The level next to an amount."""
        return min(self.levels - 1, max(0, round(amount_milli / self.step_milli)))


@dataclass(frozen=True, slots=True)
class TimedFault:
    """A fault, and who makes it happen: one source, or two if another ends it."""

    fault: Fault
    sources: tuple[Loop, ...]


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan with the parts that a run steers."""

    plan: Plan
    meters: tuple[Meter, ...]
    faults: tuple[TimedFault, ...]


def plan_input(loaded: Loaded, *, autoscaler: str = HPA) -> Planned:
    """The plan of an input. Measured use and faults are events of the model, before those of the Scenario."""
    scenario, setup = loaded.scenario, loaded.setup
    if not setup.workloads and not any(isinstance(event, Apply) for event in scenario.events):
        raise NothingToCheckError("E301 the input holds no workload. Name files with a Deployment or another workload.")
    workload = scenario.workload or WorkloadSpec()
    if autoscaler == SIMPLE:
        setup = replace(setup, autoscalers=())
    measured = [event for service in workload.services for event in _measure(setup, service)]
    faults = tuple(fault.event for fault in workload.faults)
    own = (replace(event, must=False) for event in scenario.events)  # chance alone says when it comes
    events: tuple[Event, ...] = (*(event for event, _ in measured), *faults, *own)
    start = scenario.start
    plan = make_plan(setup, events, scenario.stated, placement=start.placement, running=start.pods)
    meters = tuple(
        Meter(
            _find_named(workload, event.target),
            event.resource,
            at,
            step,
            len(event.levels),
            _sources(plan, event)[0],
            _expect(setup, event),
        )
        for at, (event, step) in enumerate(measured)
    )
    timed = tuple(TimedFault(fault, _sources(plan, fault.event)) for fault in workload.faults)
    return Planned(plan, meters, timed)


def _sources(plan: Plan, event: Event) -> tuple[Loop, ...]:
    """Who makes an event happen."""
    return tuple(source for source in plan.events if getattr(source, "source").event is event)  # noqa: B009 - all have


def _find_named(workload: WorkloadSpec, target: str) -> str:
    return next(service.name for service in workload.services if service.target == target)


def _measure(setup: Setup, service: ServiceLoad) -> list[tuple[UsageChange, int]]:
    """The use of the service's pods as events whose levels are all that may be measured, with their distance."""
    target = next(workload for workload in setup.workloads if workload.ref == service.target)
    resources = [CPU, *([MEMORY] if service.memory_bytes else [])]
    is_resized = any(vertical.target == service.target for vertical in setup.verticals)
    found = []
    for resource in resources:
        most = _most_milli(setup, target, resource)
        levels = FEW_LEVELS if is_resized else MOST_LEVELS
        step = max(1, -(-most // (levels - 1)))
        values = tuple(Usage(amount_milli=step * at) for at in range(most // step + 2))
        initial = min(len(values) - 1, round(_find_wanted_milli(setup, target, resource) / step))
        name = f"{resource} use of {service.name}"
        use = UsageChange(name=name, resource=resource, target=service.target, levels=values, initial=initial)
        found.append((use, step))
    return found


def _expect(setup: Setup, event: UsageChange) -> Expected:
    target = next(workload for workload in setup.workloads if workload.ref == event.target)
    return Expected(_find_wanted_milli(setup, target, event.resource), request_milli(target.template, event.resource))


def _find_wanted_milli(setup: Setup, target: Workload, resource: str) -> int:
    """What an autoscaler wants a pod to use: before the first metrics it sees no reason to act."""
    containers = containers_of(target.template, setup.settings.kubernetes_version)
    requests = {one.name: container_request(one, resource) for one in containers}
    whole = sum(requests.values())
    for autoscaler in setup.autoscalers:
        for metric in autoscaler.metrics:
            if autoscaler.target == target.ref and metric.name == resource:
                if metric.target_type == "Utilization":
                    return whole * metric.value // 100
                own = requests.get(metric.container)  # the measured use of a pod is divided by requests
                return metric.value * whole // own if own else metric.value
    return whole // 2


def _most_milli(setup: Setup, target: Workload, resource: str) -> int:
    """More than one pod uses: its limit, or what the largest node has."""
    limits = [dict(container.limits).get(resource) for container in target.template.containers]
    known = [limit for limit in limits if limit is not None]
    scale = 1 if resource == CPU else 1000
    if len(known) == len(limits):
        return max(1, scale * sum(known))
    largest = max((n.cpu_milli if resource == CPU else n.memory_bytes for n in setup.nodes), default=1)
    return max(1, scale * largest, request_milli(target.template, resource))
