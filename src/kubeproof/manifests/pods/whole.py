"""What a pod asks for as a whole: `spec.resources`, which replaces the sum of its containers.

Mirrors `setDefaultPodRequests` of `pkg/apis/core/v1/defaults.go` and `PodRequests` of
`k8s.io/component-helpers/resource`, from 1.34 on. A limit becomes a request where no container requests the resource.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kubeproof.cluster.loops.footprint import Writes, footprint_of
from kubeproof.cluster.objects import Container, Setup, Workload
from kubeproof.cluster.steering.quotas import LimitRange
from kubeproof.events.declarations import Event
from kubeproof.manifests.loaded import Group, Loaded, Omission, Sort
from kubeproof.manifests.pods.resources import CPU, MEMORY, read_container_amounts
from kubeproof.manifests.validation.deciding import ALL, EVERYBODY
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.printable import printable

Amounts = tuple[tuple[str, int], ...]


def read_own_requests(spec: Fields, containers: Sequence[Container]) -> Amounts:
    """The requests of the pod as a whole, sorted; empty if it has none."""
    resources = spec.child("resources")
    if resources is None:
        return ()
    limits = read_container_amounts(resources.child("limits"))
    requests = read_container_amounts(resources.child("requests"))
    resources.finish("Resources")
    strange = next((name for name in (*requests, *limits) if not _is_possible(name)), None)
    if strange is not None:
        spec.omit("resources", f"a pod as a whole has no {printable(strange)}", decides=ALL)
        return ()
    named = {name for container in containers for name in _names(container)}
    found = {name: amount for name, amount in limits.items() if name not in named} | requests
    for name, amount in found.items():
        if amount > limits.get(name, amount):
            spec.fail("resources", f"requests more {name} than it limits", remedy="Lower it or raise the limit")
        if amount < sum(_amount(container, name) for container in containers if not container.restartable_init):
            told = f"requests less {name} than the containers together"
            spec.fail("resources", told, remedy="Raise it, or lower the requests of the containers")
    return tuple(sorted(found.items()))


def _is_possible(name: str) -> bool:
    return name in (CPU, MEMORY) or name.startswith("hugepages-")


def _names(container: Container) -> Iterator[str]:
    yield from (name for name, _ in container.others)
    yield from (name for name in (CPU, MEMORY) if _amount(container, name) or _states(container, name))


def _states(container: Container, name: str) -> bool:
    return (container.cpu_milli if name == CPU else container.memory_bytes) is not None


def _amount(container: Container, name: str) -> int:
    if name == CPU:
        return container.cpu_milli or 0
    return (container.memory_bytes or 0) if name == MEMORY else dict(container.others).get(name, 0)


# -- who asks containers instead --------------------------------------------------------------------


def with_doubts(loaded: Loaded, ranges: Sequence[LimitRange]) -> Loaded:
    """The input with what is said of workloads whose whole pods ask for something that others look up elsewhere.

    LimitRanges, quotas, autoscalers and the descheduler are modelled by what containers request.
    """
    setup, events = loaded.setup, loaded.scenario.events
    forms = (event.form for event in events if event.form is not None)
    asking = [one for one in (*setup.workloads, *forms) if one.template.own_requests]
    found = (_doubt(one, who) for one in asking if (who := _find_asking(setup, events, ranges, one)))
    doubts = tuple(dict.fromkeys(found))
    return replace(loaded, omissions=(*loaded.omissions, *doubts)) if doubts else loaded


def _find_asking(setup: Setup, events: Sequence[Event], ranges: Sequence[LimitRange], one: Workload) -> str:
    """Who looks at the containers' requests of such pods; "" if nobody does."""
    if any(limits.namespace == one.namespace for limits in ranges):
        return "a LimitRange"
    if any(quota.namespace == one.namespace for quota in setup.quotas):
        return "a ResourceQuota"
    if one.ref in {scaler.target for scaler in setup.autoscalers} | {scaler.target for scaler in setup.verticals}:
        return "an autoscaler"
    if setup.descheduler is not None or setup.cluster_autoscaler is not None:
        return "a descheduler or cluster autoscaler"
    near = [footprint_of(event) for event in events if event.subject in (None, one.ref)]
    is_used = any(told.is_consequence or told.writes & Writes.USAGE for told in near)
    return "an event about what pods use" if is_used else ""


def _doubt(one: Workload, who: str) -> Omission:
    told = f"spec.resources of the pods of {one.ref}"
    why = f"not modelled, as {who} looks at what they ask for"
    return Omission(told, one.source, why, touches=(EVERYBODY,), group=Group(Sort.FIELD, "resources"), owner=one.ref)
