"""What a pod requests, as the scheduler adds it up.

Mirrors `PodRequests` of `k8s.io/component-helpers/resource` (before 1.32 of `pkg/api/v1/resource`; 1.26 had
the same sums inside the scheduler).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from kubeproof.cluster.api import versions
from kubeproof.cluster.nodes.shown_nodes import find_offered
from kubeproof.cluster.objects import Container, Held, Node, PodTemplate
from kubeproof.controllers.scheduler.protocol import PodCount, Usage
from kubeproof.named_tuples import NamedTuple

CPU = "cpu"
MEMORY = "memory"
EPHEMERAL_STORAGE = "ephemeral-storage"
NATIVE = (CPU, MEMORY, EPHEMERAL_STORAGE)  # every other resource is "scalar" to upstream

DEFAULT_CPU_MILLI = 100  # counted, for scores only, for a container that omits cpu
DEFAULT_MEMORY_BYTES = 200 * 1024 * 1024

SIDECARS_SINCE = versions.SIDECARS.since
MILLI_OVERHEAD_SINCE = versions.MILLI_OVERHEAD.since

Amounts = dict[str, int]


class PodRequests(NamedTuple):
    """The requests of one pod: the true ones, and those that scores use."""

    true: Mapping[str, int]
    scored: Mapping[str, int]


def pod_requests(template: PodTemplate, version: tuple[int, int]) -> PodRequests:
    """What a pod adds to its node once it is there.

    What it requests as a whole replaces the sum of its containers. With that scores count defaults for containers only
    where the pod requests nothing (`getNonMissingContainerRequests` of `pkg/scheduler/framework/types.go`).
    """
    overhead, own = dict(template.overhead), dict(template.own_requests)
    true = aggregate(template, requests_of, version) | own
    scored = aggregate(template, _score_amounts, version) | (true if own else {})
    return PodRequests(_sum((true, overhead)), _sum((scored, overhead)))


def incoming_requests(template: PodTemplate, version: tuple[int, int]) -> PodRequests:
    """What the scorers add for the pod being scheduled.

    The same as `pod_requests`, but 1.26 rounds a cpu overhead up to cores and adds them as millicores.
    """
    if version >= MILLI_OVERHEAD_SINCE:
        return pod_requests(template, version)
    overhead = dict(template.overhead)
    if CPU in overhead:
        overhead[CPU] = -(-overhead[CPU] // 1000)
    true = aggregate(template, requests_of, version)
    scored = aggregate(template, _score_amounts, version)
    return PodRequests(_sum((true, overhead)), _sum((scored, overhead)))


def node_usage(pods: tuple[PodCount, ...], requests: tuple[PodRequests, ...], held: Held = Held()) -> Usage:
    """What the pods on a node request together, beside those of which only that is known; terminating ones count."""
    total = held.pods
    true: Amounts = dict(held.requested)
    scored: Amounts = dict(held.scored)
    for workload, alive, terminating in pods:
        count = alive + terminating
        total += count
        for name, amount in requests[workload].true.items():
            true[name] = true.get(name, 0) + amount * count
        for name, amount in requests[workload].scored.items():
            scored[name] = scored.get(name, 0) + amount * count
    return Usage(total, true, scored)


def allocatable(node: Node) -> Amounts:
    """The node's allocatable resources by name, without the number of pods."""
    if type(node) is not Node:
        return find_offered(node)
    return {CPU: node.cpu_milli, MEMORY: node.memory_bytes, **dict(node.others)}


def requests_of(container: Container) -> Amounts:
    """A container's requests, omitted ones left out."""
    amounts = dict(container.others)
    if container.cpu_milli is not None:
        amounts[CPU] = container.cpu_milli
    if container.memory_bytes is not None:
        amounts[MEMORY] = container.memory_bytes
    return amounts


def limits_of(container: Container) -> Amounts:
    """A container's limits."""
    return dict(container.limits)


def _score_amounts(container: Container) -> Amounts:
    """A container's requests with defaults for omitted cpu and memory; an explicit 0 stays 0."""
    return {CPU: DEFAULT_CPU_MILLI, MEMORY: DEFAULT_MEMORY_BYTES, **requests_of(container)}


def aggregate(template: PodTemplate, amounts_of: Callable[[Container], Amounts], version: tuple[int, int]) -> Amounts:
    """The larger, per resource, of what runs together at last and of every init step on the way.

    Sidecars run beside the app containers and beside each ordinary init container that starts after them.
    """
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in template.init_containers:
        step = _sum((amounts_of(container), sidecars))
        if container.restartable_init and version >= SIDECARS_SINCE:
            sidecars = step
        peak = _maximum(peak, step)
    running = _sum([amounts_of(container) for container in template.containers] + [sidecars])
    return _maximum(peak, running)


def _sum(parts: Iterable[Amounts]) -> Amounts:
    """The sum per resource."""
    result: Amounts = {}
    for part in parts:
        for name, amount in part.items():
            result[name] = result.get(name, 0) + amount
    return result


def _maximum(left: Amounts, right: Amounts) -> Amounts:
    """The larger amount per resource."""
    return {name: max(left.get(name, 0), right.get(name, 0)) for name in sorted(left.keys() | right.keys())}
