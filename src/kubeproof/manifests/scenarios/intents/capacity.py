"""What of a service level is a bound on states: at the peak of the load the ready pods must have the CPU for it.

Where fewer are ready than the peak needs, requests pile up as long as that lasts: no balancing and no luck helps. That
enough are ready does not say that answers come in time, which is measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kubeproof.cluster.objects import Node, Workload
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler
from kubeproof.cluster.usage import CPU
from kubeproof.events.peaks import peaks_of
from kubeproof.events.workload import ServiceLoad, WorkloadSpec
from kubeproof.intents.declarations import ALWAYS, Amount, Intent
from kubeproof.intents.library.service_levels import About, ServiceLevel, Unit

MOST_PODS = 100_000


def capacities_of(
    levels: Iterable[ServiceLevel],
    workload: WorkloadSpec | None,
    workloads: Sequence[Workload],
    autoscalers: Sequence[HorizontalPodAutoscaler],
    nodes: Sequence[Node],
) -> tuple[Intent, ...]:
    """Of each service that is promised something the ready pods that the peak of its load needs.

    Pods of an autoscaler follow the load, which `simulate` looks at: there it is asked only if its maximum is too low.
    """
    if workload is None:
        return ()
    promised = {level.target: level for level in levels if level.kind.about is About.SERVICE}
    return tuple(_capacities(promised, workload, workloads, autoscalers, nodes))


def _capacities(
    promised: dict[str, ServiceLevel],
    workload: WorkloadSpec,
    workloads: Sequence[Workload],
    autoscalers: Sequence[HorizontalPodAutoscaler],
    nodes: Sequence[Node],
) -> Iterator[Intent]:
    peaks = peaks_of(workload)
    for service in workload.services:
        level, target = promised.get(service.target), next((w for w in workloads if w.ref == service.target), None)
        peak = peaks[service.name]
        if level is None or target is None or peak is None or not service.cpu_ms:
            continue
        rate = min(peak, level.limit) if level.kind.unit is Unit.NUMBER else peak
        count = _count(rate, service, target, nodes)
        most = [one.max_replicas for one in autoscalers if one.target == service.target]
        if count is not None and 0 < count <= MOST_PODS and (not most or count > max(most)):
            name = f"{level.name}: ready pods for {rate:g} requests a second"
            yield Intent(
                key="minReady",
                name=name,
                target=service.target,
                count=Amount(count),
                when=ALWAYS,
                source=level.source,
                of_level=True,
            )


def _count(rate: float, service: ServiceLoad, target: Workload, nodes: Sequence[Node]) -> int | None:
    """How many pods have the CPU for so many requests a second; None if one has none for any."""
    limits = [dict(container.limits).get(CPU) for container in target.template.containers]
    known = [limit for limit in limits if limit is not None]
    largest = max((node.cpu_milli for node in nodes), default=0)
    cpu_milli = (min(sum(known), largest) if len(known) == len(limits) else largest) - service.idle_cpu_milli
    return None if cpu_milli <= 0 else max(1, round_up(rate * service.cpu_ms / cpu_milli))


def round_up(pods: float) -> int:
    """Whole pods; what is above by rounding alone does not count."""
    return -int(-(pods - 1e-9) // 1)
