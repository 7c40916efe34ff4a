"""LimitRanger: gives containers their default requests and limits, and refuses pods beyond the bounds.

Mirrors `plugin/pkg/admission/limitranger`. It acts when a pod is created, so a workload whose template breaks a bound
exists, and each of its pods is refused. Of several LimitRanges in a namespace the first by name fills a gap first; the
real order is that of a cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from kubeproof.cluster.api import versions
from kubeproof.cluster.objects import Container, PodTemplate
from kubeproof.cluster.said import Said
from kubeproof.cluster.steering.quotas import CONTAINER, LimitItem, LimitRange
from kubeproof.controllers.scheduler.requests import NATIVE, aggregate, limits_of, requests_of

SUMS_OF_ANY_SINCE = versions.SUMS_OF_ANY.since
Amounts = Mapping[str, int]


def with_defaults(template: PodTemplate, ranges: Iterable[LimitRange]) -> PodTemplate:
    """The template with the gaps in its containers' resources filled."""
    for one in ranges:
        limits = {k: v for item in one.items if item.type == CONTAINER for k, v in item.default_limits}
        requests = {k: v for item in one.items if item.type == CONTAINER for k, v in item.default_requests}
        template = replace(
            template,
            containers=tuple(_fill(container, limits, requests) for container in template.containers),
            init_containers=tuple(_fill(container, limits, requests) for container in template.init_containers),
        )
    return template


def _fill(container: Container, limits: Amounts, requests: Amounts) -> Container:
    asked = {**requests, **requests_of(container)}
    others = {name: amount for name, amount in asked.items() if name not in ("cpu", "memory")}
    return replace(
        container,
        cpu_milli=asked.get("cpu"),
        memory_bytes=asked.get("memory"),
        others=tuple(sorted(others.items())),
        limits=tuple(sorted({**limits, **limits_of(container)}.items())),
    )


def refusals(template: PodTemplate, ranges: Iterable[LimitRange], version: tuple[int, int]) -> tuple[Said, ...]:
    """Why every pod of the template, its defaults filled in, is refused; empty if none is."""
    containers = (*template.containers, *template.init_containers)
    found = [reason for container in containers for reason in _contradictions(container)]
    for one in ranges:
        for item in one.items:
            found += (
                Said(f"{reason} (LimitRange {one.name})", reason) for reason in _find_broken(template, item, version)
            )
    return tuple(dict.fromkeys(found))


def _contradictions(container: Container) -> Iterator[Said]:
    """Default limits below requests, or above them where both must be equal: the API server's own check."""
    limits = limits_of(container)
    for name, request in requests_of(container).items():
        if name in limits and request > limits[name]:
            told = f"requests more {name} than its limit allows"
            yield Said(f"container {container.name} {told}", f"a container {told}")
        elif name not in NATIVE and request != limits.get(name):
            told = f"needs a limit equal to its request of {name}"
            yield Said(f"container {container.name} {told}", f"a container {told}")


def _find_broken(template: PodTemplate, item: LimitItem, version: tuple[int, int]) -> Iterator[str]:
    if item.type != CONTAINER:
        requests, limits = pod_sums(template, version)
        yield from _bounds(item, requests, limits)
        return
    for container in (*template.containers, *template.init_containers):
        yield from _bounds(item, requests_of(container), limits_of(container))


def _bounds(item: LimitItem, requests: Amounts, limits: Amounts) -> Iterator[str]:
    for name, least in item.least:
        if requests.get(name, -1) < least or limits.get(name, least) < least:
            yield f"minimum {name} usage per {item.type} is not met"
    for name, most in item.most:
        if name not in limits or limits[name] > most or requests.get(name, 0) > most:
            yield f"maximum {name} usage per {item.type} is exceeded or has no limit"
    for name, ratio_milli in item.most_ratio_milli:
        request, limit = requests.get(name, 0), limits.get(name, 0)
        if not request or not limit or limit / request * 1000 > ratio_milli:
            yield f"{name} max limit to request ratio per {item.type} is exceeded"


def pod_sums(template: PodTemplate, version: tuple[int, int]) -> tuple[Amounts, Amounts]:
    """Requests and limits of a whole pod, without overhead."""
    if version >= SUMS_OF_ANY_SINCE:
        return aggregate(template, requests_of, version), aggregate(template, limits_of, version)
    return _sum_named(template, requests_of), _sum_named(template, limits_of)


def _sum_named(template: PodTemplate, amounts_of: Callable[[Container], Amounts]) -> Amounts:
    """Sums of what every container names, and what an init container needs if that is more."""
    each = [amounts_of(container) for container in template.containers]
    sums = {name: sum(one[name] for one in each) for name in each[0] if all(name in one for one in each)}
    for container in template.init_containers:
        for name, amount in amounts_of(container).items():
            sums[name] = max(sums.get(name, 0), amount)
    return sums
