"""DaemonSets, with the tolerations that every daemon pod gets."""

from __future__ import annotations

from dataclasses import replace

from kubeproof.cluster.kinds import DAEMON_SET
from kubeproof.cluster.labels import NO_EXECUTE, NO_SCHEDULE, Toleration
from kubeproof.cluster.objects import Strategy, Workload
from kubeproof.manifests.kinds.metadata import read_metadata
from kubeproof.manifests.kinds.workloads import ReadWorkload, count_or_percent, selector_and_template
from kubeproof.manifests.yaml.fields import Fields

ADDED_TOLERATIONS = (
    *(
        Toleration(f"node.kubernetes.io/{key}", "Exists", "", NO_EXECUTE)
        for key in ("not-ready", "unreachable")  # never evicted when the node has problems
    ),
    *(
        Toleration(f"node.kubernetes.io/{key}", "Exists", "", NO_SCHEDULE)
        for key in ("disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")
    ),
)
HOST_NETWORK_TOLERATION = Toleration("node.kubernetes.io/network-unavailable", "Exists", "", NO_SCHEDULE)


def read_daemon_set(fields: Fields) -> ReadWorkload:
    """A DaemonSet after defaulting: RollingUpdate, one node at a time, no surge."""
    metadata = read_metadata(fields)
    spec = fields.require_child("spec")
    selector, template = selector_and_template(spec)
    tolerations = daemon_tolerations(template.tolerations, host_network=_uses_host_network(spec))
    workload = Workload(
        kind=DAEMON_SET,
        namespace=metadata.namespace,
        name=metadata.name,
        template=replace(template, tolerations=tolerations),
        replicas=0,
        selector=selector,
        min_ready_s=spec.integer("minReadySeconds") or 0,
        source=fields.source,
        strategy=_strategy(spec),
        replicas_given=False,
    )
    spec.finish("DaemonSetSpec")
    fields.finish("Object")
    return ReadWorkload(workload, metadata.owner, replicas_given=False)


def daemon_tolerations(given: tuple[Toleration, ...], *, host_network: bool = False) -> tuple[Toleration, ...]:
    """The tolerations of daemon pods; one with the same key, operator, value and effect is replaced."""
    tolerations = list(given)
    for added in (*ADDED_TOLERATIONS, *((HOST_NETWORK_TOLERATION,) if host_network else ())):
        alike = [i for i, own in enumerate(tolerations) if replace(own, seconds=None) == added]
        if alike:
            tolerations[alike[0]] = added
        else:
            tolerations.append(added)
    return tuple(tolerations)


def _uses_host_network(spec: Fields) -> bool:
    template = spec.child("template")
    pod = template.child("spec") if template is not None else None
    return pod is not None and bool(pod.boolean("hostNetwork"))


def _strategy(spec: Fields) -> Strategy:
    """The update strategy; OnDelete does not roll. Exactly one of surge and unavailability may be above 0."""
    fields = spec.child("updateStrategy")
    if fields is None:
        return Strategy(True, 0, False, 1, False)
    rolling = fields.word("type", ("RollingUpdate", "OnDelete"), "RollingUpdate") == "RollingUpdate"
    limits = fields.child("rollingUpdate")
    fields.finish("DaemonSetUpdateStrategy")
    if limits is None or not rolling:
        return Strategy(rolling, 0, False, 1, False)
    surge = count_or_percent(limits, "maxSurge", largest_percent=100, default=(0, False))
    unavailable = count_or_percent(limits, "maxUnavailable", largest_percent=100, default=(1, False))
    limits.finish("RollingUpdate")
    if not surge[0] and not unavailable[0]:
        limits.fail("maxUnavailable", "and maxSurge are both 0", remedy="Allow one of them")
    if surge[0] and unavailable[0]:
        limits.fail("maxSurge", "and maxUnavailable are both above 0", remedy="Write maxUnavailable: 0 to surge")
    return Strategy(rolling, *surge, *unavailable)
