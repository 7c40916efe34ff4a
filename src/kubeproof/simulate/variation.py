"""`--vary KEY=VALUE,...`: the same input with other settings, side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

from kubeproof.cluster.api.quantity import milli
from kubeproof.cluster.objects import Container, PodTemplate, Workload
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler
from kubeproof.cluster.usage import CPU
from kubeproof.errors import UsageError
from kubeproof.events.workload import TrafficShift, WorkloadSpec
from kubeproof.manifests.loaded import Loaded
from kubeproof.manifests.yaml.durations import parse_seconds
from kubeproof.named_tuples import NamedTuple

MOST_VARIANTS = 200
Settings = tuple[tuple[str, str], ...]


class Axis(NamedTuple):
    """One parameter with the values that it takes."""

    key: str
    values: tuple[str, ...]


def parse_axis(text: str) -> Axis:
    """`hpa.targetCPU=60,70,80`."""
    key, equals, values = text.partition("=")
    chosen = tuple(value.strip() for value in values.split(",") if value.strip())
    if not equals or not key or not chosen:
        raise UsageError(f"--vary {text!r} has no values", "Write --vary hpa.targetCPU=60,70,80.")
    return Axis(key.strip(), chosen)


def variants(loaded: Loaded, axes: tuple[Axis, ...]) -> list[tuple[Settings, Loaded]]:
    """Every combination of values, with the input that it makes."""
    keys = [axis.key for axis in axes]
    if len(set(keys)) < len(keys):
        raise UsageError("--vary names a parameter twice", "Give all values of one parameter together.")
    combinations = list(product(*(axis.values for axis in axes)))
    if len(combinations) > MOST_VARIANTS:
        raise UsageError(f"--vary makes {len(combinations)} variants", f"Ask for at most {MOST_VARIANTS} at once.")
    found = []
    for combination in combinations:
        varied = loaded
        for key, value in zip(keys, combination, strict=True):
            varied = _vary(varied, key, value)
        _check_limits(loaded, varied, [f"--vary {key}={value}" for key, value in zip(keys, combination, strict=True)])
        found.append((tuple(zip(keys, combination, strict=True)), varied))
    return found


def _vary(loaded: Loaded, key: str, value: str) -> Loaded:
    subject, _, field = key.rpartition(".")
    if key in _PARAMETERS:
        return _PARAMETERS[key](loaded, key, value)
    if "/" in subject and field in _OF_WORKLOADS:
        return _of_workload(loaded, subject, field, key, value)
    known = ", ".join((*_PARAMETERS, *(f"Kind/namespace/name.{field}" for field in _OF_WORKLOADS)))
    raise UsageError(f"--vary knows no {key!r}", f"Known: {known}.")


# -- reading values ---------------------------------------------------------------------------------


def _whole(key: str, value: str, *, least: int = 0, most: int = 1_000_000) -> int:
    if not value.isascii() or not value.isdecimal() or not least <= int(value[:12]) <= most:
        raise UsageError(f"--vary {key}={value} is not a whole number from {least} to {most}", "Correct the value.")
    return int(value)


def _number(key: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1_000_000:
        raise UsageError(f"--vary {key}={value} is not a number of at least 0", "Correct the value.")
    return number


def _seconds(key: str, value: str, *, least: int = 1) -> int:
    seconds = parse_seconds(value)
    if seconds is None or seconds < least:
        raise UsageError(f"--vary {key}={value} is not a duration of at least {least} s", "Write a value such as 15s.")
    return seconds


def _milli(key: str, value: str) -> int:
    try:
        amount = milli(value)
    except ValueError:
        amount = -1
    if amount < 0:
        raise UsageError(f"--vary {key}={value} is not an amount of CPU", "Write a value such as 250m.")
    return amount


# -- autoscalers ------------------------------------------------------------------------------------


def _autoscalers(
    loaded: Loaded, key: str, change: Callable[[HorizontalPodAutoscaler], HorizontalPodAutoscaler]
) -> Loaded:
    if not loaded.setup.autoscalers:
        raise UsageError(f"--vary {key}: the input has no HorizontalPodAutoscaler", "Vary something else.")
    changed = tuple(change(autoscaler) for autoscaler in loaded.setup.autoscalers)
    for autoscaler in changed:
        if autoscaler.min_replicas > autoscaler.max_replicas:
            name = f"{autoscaler.namespace}/{autoscaler.name}"
            raise UsageError(f"--vary {key} leaves {name} with more replicas at least than at most", "Correct it.")
    return replace(loaded, setup=replace(loaded.setup, autoscalers=changed))


def _target_cpu(loaded: Loaded, key: str, value: str) -> Loaded:
    percent = _whole(key, value, least=1, most=10_000)

    def change(autoscaler: HorizontalPodAutoscaler) -> HorizontalPodAutoscaler:
        metrics = tuple(
            replace(m, value=percent) if m.name == CPU and m.target_type == "Utilization" else m
            for m in autoscaler.metrics
        )
        return replace(autoscaler, metrics=metrics)

    varied = _autoscalers(loaded, key, change)
    if not any(m.name == CPU and m.target_type == "Utilization" for a in loaded.setup.autoscalers for m in a.metrics):
        raise UsageError(f"--vary {key}: no autoscaler has a target for the utilization of CPU", "Vary something else.")
    return varied


def _bind(name: str) -> Callable[[Loaded, str, str], Loaded]:
    def vary(loaded: Loaded, key: str, value: str) -> Loaded:
        number = _whole(key, value, most=100_000)
        changes: dict[str, Any] = {name: number}
        return _autoscalers(loaded, key, lambda autoscaler: replace(autoscaler, **changes))

    return vary


# -- settings and metrics -----------------------------------------------------------------------------


def _setting(name: str, read: Callable[[str, str], Any]) -> Callable[[Loaded, str, str], Loaded]:
    def vary(loaded: Loaded, key: str, value: str) -> Loaded:
        changes: dict[str, Any] = {name: read(key, value)}
        return replace(loaded, setup=replace(loaded.setup, settings=replace(loaded.setup.settings, **changes)))

    return vary


def _startup(loaded: Loaded, key: str, value: str) -> Loaded:
    """One duration, or two with a dash between."""
    first, dash, second = value.partition("-")
    least = _seconds(key, first, least=0)
    most = _seconds(key, second, least=least) if dash else least
    settings = replace(loaded.setup.settings, startup_s=(least, most), startup_choices=())
    return replace(loaded, setup=replace(loaded.setup, settings=settings))


def _workload(loaded: Loaded, key: str) -> WorkloadSpec:
    if loaded.scenario.workload is None:
        raise UsageError(f"--vary {key}: the Scenario has no spec.workload", "Vary something else.")
    return loaded.scenario.workload


def _with_workload(loaded: Loaded, workload: WorkloadSpec) -> Loaded:
    return replace(loaded, scenario=replace(loaded.scenario, workload=workload))


def _metric(name: str, least: int) -> Callable[[Loaded, str, str], Loaded]:
    def vary(loaded: Loaded, key: str, value: str) -> Loaded:
        workload = _workload(loaded, key)
        changes: dict[str, Any] = {name: _seconds(key, value, least=least)}
        return _with_workload(loaded, replace(workload, metrics=replace(workload.metrics, **changes)))

    return vary


def _traffic(loaded: Loaded, key: str, value: str) -> Loaded:
    workload, factor = _workload(loaded, key), _number(key, value)
    whole = tuple(TrafficShift(0, service.name, factor) for service in workload.services if service.streams)
    return _with_workload(loaded, replace(workload, shifts=(*workload.shifts, *whole)))


_PARAMETERS: dict[str, Callable[[Loaded, str, str], Loaded]] = {
    "hpa.targetCPU": _target_cpu,
    "hpa.minReplicas": _bind("min_replicas"),
    "hpa.maxReplicas": _bind("max_replicas"),
    "hpa.syncPeriod": _setting("hpa_period_s", _seconds),
    "hpa.downscaleStabilization": _setting(
        "downscale_stabilization_s", lambda key, value: _seconds(key, value, least=0)
    ),
    "hpa.tolerance": _setting("hpa_tolerance_permille", lambda key, value: round(1000 * _number(key, value))),
    "kubelet.startup": _startup,
    "nodeLifecycle.monitorGracePeriod": _setting("monitor_grace_s", _seconds),
    "metrics.scrapeInterval": _metric("scrape_s", 1),
    "metrics.window": _metric("window_s", 1),
    "metrics.delay": _metric("delay_s", 0),
    "traffic.factor": _traffic,
}

# -- workloads ----------------------------------------------------------------------------------------


def _of_workload(loaded: Loaded, subject: str, field: str, key: str, value: str) -> Loaded:
    parts = subject.split("/")
    ref = f"{parts[0]}/default/{parts[1]}" if len(parts) == 2 else subject
    if all(workload.ref != ref for workload in loaded.setup.workloads):
        raise UsageError(f"--vary {key}: {subject} is not a workload of the input", "Name one that is.")
    changed = tuple(
        _OF_WORKLOADS[field](workload, key, value) if workload.ref == ref else workload
        for workload in loaded.setup.workloads
    )
    return replace(loaded, setup=replace(loaded.setup, workloads=changed))


def _replicas(workload: Workload, key: str, value: str) -> Workload:
    return replace(workload, replicas=_whole(key, value, most=100_000))


def _request(workload: Workload, key: str, value: str) -> Workload:
    amount = _milli(key, value)
    return _with_container(workload, key, lambda container: replace(container, cpu_milli=amount))


def _limit(workload: Workload, key: str, value: str) -> Workload:
    limit = (CPU, _milli(key, value))

    def change(container: Container) -> Container:
        others = tuple(one for one in container.limits if one[0] != CPU)
        return replace(container, limits=tuple(sorted((*others, limit))))

    return _with_container(workload, key, change)


def _with_container(workload: Workload, key: str, change: Callable[[Container], Container]) -> Workload:
    template: PodTemplate = workload.template
    if len(template.containers) != 1:
        raise UsageError(f"--vary {key}: {workload.ref} has several containers", "Vary a workload with one.")
    return replace(workload, template=replace(template, containers=(change(template.containers[0]),)))


def _check_limits(given: Loaded, varied: Loaded, settings: list[str]) -> None:
    """Refuses what the API server would: a container that requests more CPU than its limit."""
    for before, workload in zip(given.setup.workloads, varied.setup.workloads, strict=True):
        if workload == before:
            continue
        for container in workload.template.containers:
            limit = dict(container.limits).get(CPU)
            if limit is not None and (container.cpu_milli or 0) > limit:
                problem = f"{' '.join(settings)}: {workload.ref} asks for more cpu than the limit allows"
                remedy = f"Lower the request of {container.cpu_milli}m or raise the limit of {limit}m."
                raise UsageError(problem, remedy)


_OF_WORKLOADS: dict[str, Callable[[Workload, str, str], Workload]] = {
    "replicas": _replicas,
    "cpuRequest": _request,
    "cpuLimit": _limit,
}
