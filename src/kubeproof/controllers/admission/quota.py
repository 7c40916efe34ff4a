"""Quota: how many more pods of a workload the API server lets into its namespace.

Mirrors the pod evaluator (`pkg/quota/v1/evaluator/core/pods.go`) and `CheckRequest` of the ResourceQuota admission. A
pod is charged from its creation until it is gone. On a dead node terminating pods are charged no more, except by
`count/pods`; really they are charged for twice their grace period. What quota refuses is tried again: really after a
back-off of up to 1,000 s, here as soon as there is room.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from kubeproof.cluster.api import versions
from kubeproof.cluster.api.quantity import write_amount
from kubeproof.cluster.objects import PodAffinity, PodTemplate, Setup, Workload
from kubeproof.cluster.said import NOTHING_SAID, Said
from kubeproof.cluster.state import KUBELET_LIVES, NodeCell, Phase
from kubeproof.cluster.steering.quotas import ResourceQuota, Scope
from kubeproof.controllers.scheduler.requests import NATIVE, aggregate, limits_of, pod_requests, requests_of
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

COUNT = "count/pods"
NEEDED = ("cpu", "memory")  # a quota for one of them wants every container to say how much
HUGE_PAGES = "hugepages-"
LIMITS_WITH_ANY_OVERHEAD_BEFORE = versions.LIMITS_WITH_GIVEN_OVERHEAD.since
ENDLESS = 10**9

Amounts = Mapping[str, int]


class Charged(NamedTuple):
    """Pods of one workload that a quota may charge."""

    workload: int
    pods: int
    stuck: int = 0  # terminating on a dead node


# -- one pod ----------------------------------------------------------------------------------------


def usage(template: PodTemplate, version: tuple[int, int]) -> dict[str, int]:
    """What one pod is charged, by the names that quotas use."""
    charged = {COUNT: 1, "pods": 1}
    for name, amount in pod_requests(template, version).true.items():
        if name in NATIVE or name.startswith(HUGE_PAGES):
            charged[name] = amount
        charged[f"requests.{name}"] = amount
    for name, amount in _limits(template, version).items():
        if name in NATIVE:
            charged[f"limits.{name}"] = amount
    return charged


def _limits(template: PodTemplate, version: tuple[int, int]) -> Amounts:
    """The pod's limits; overhead is added to limits that exist."""
    limits = aggregate(template, limits_of, version)
    for name, amount in template.overhead:
        if name in limits or version < LIMITS_WITH_ANY_OVERHEAD_BEFORE:
            limits[name] = limits.get(name, 0) + amount
    return limits


def find_unstated(template: PodTemplate, quota: ResourceQuota) -> tuple[str, ...]:
    """The resources of the quota that some container says nothing about, so that each pod is refused."""
    found = []
    for name, _ in quota.hard:
        kind, _, resource = name.rpartition(".")
        if resource not in NEEDED or kind not in ("", "requests", "limits"):
            continue
        amounts_of = limits_of if kind == "limits" else requests_of
        if any(resource not in amounts_of(c) for c in (*template.containers, *template.init_containers)):
            found.append(name)
    return tuple(found)


# -- which pods a quota means -----------------------------------------------------------------------


def is_meant(quota: ResourceQuota, workload: Workload) -> bool:
    """True if the quota counts the workload's pods."""
    if workload.namespace != quota.namespace:
        return False
    return all(SCOPES[scope.name](workload.template, scope) for scope in quota.scopes)


def is_best_effort(template: PodTemplate) -> bool:
    """True if no container asks for CPU or memory; amounts of zero ask for nothing."""
    containers = (*template.containers, *template.init_containers)
    asked = [amounts for one in containers for amounts in (limits_of(one), requests_of(one))]
    return not any(amounts.get(name) for amounts in asked for name in NEEDED)


def _reaches_out(template: PodTemplate) -> bool:
    """True if an affinity term speaks of other namespaces."""

    def reaches(affinity: PodAffinity) -> bool:
        terms = (*affinity.required, *(weighted.term for weighted in affinity.preferred))
        return any(term.namespaces or term.namespace_selector is not None for term in terms)

    return reaches(template.pod_affinity) or reaches(template.pod_anti_affinity)


def _has_class(template: PodTemplate, scope: Scope) -> bool:
    """True if the pods' priority class answers to the scope, as a label would to a selector."""
    name = template.priority_class
    by_operator = {"In": name in scope.values, "NotIn": name not in scope.values, "Exists": bool(name)}
    return by_operator.get(scope.operator, not name)


SCOPES: dict[str, Callable[[PodTemplate, Scope], bool]] = {
    "BestEffort": lambda template, _: is_best_effort(template),
    "NotBestEffort": lambda template, _: not is_best_effort(template),
    "Terminating": lambda template, _: template.has_deadline,
    "NotTerminating": lambda template, _: not template.has_deadline,
    "CrossNamespacePodAffinity": lambda template, _: _reaches_out(template),
    "PriorityClass": _has_class,
    "VolumeAttributesClass": lambda *_: False,  # of claims alone
}


def resource_of(name: str) -> str:
    """The resource that an entry of a quota counts: "cpu" of "requests.cpu"."""
    return name.removeprefix("requests.").removeprefix("limits.")


# -- a namespace ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ration:
    """The quotas that mean a workload, with what the pods of each charged workload weigh in them."""

    quotas: tuple[tuple[ResourceQuota, tuple[tuple[int, Amounts], ...]], ...]  # (workload, usage) per quota
    own: Amounts

    @property
    def members(self) -> tuple[int, ...]:
        """The workloads whose pods are charged to one of the quotas."""
        return tuple(sorted({number for _, charges in self.quotas for number, _ in charges}))

    def room(self, charged: Mapping[int, Charged]) -> int:
        """How many more pods of the workload are let in."""
        return min((_times(free, each) for _, _, free, each in self._bounds(charged)), default=ENDLESS)

    def tightest(self, charged: Mapping[int, Charged]) -> Said:
        """The first bound that lets no further pod in, with its numbers; empty if there is none."""
        for quota, name, free, each in self._bounds(charged):
            if _times(free, each) == 0:
                hard = dict(quota.hard)[name]
                used, most, more = (write_amount(resource_of(name), amount) for amount in (hard - free, hard, each))
                told = f"ResourceQuota {quota.name} has {used} of {most} {name} used, {more} more asked for"
                return Said(told, f"ResourceQuota {quota.name} has no {name} left")
        return NOTHING_SAID

    def _bounds(self, charged: Mapping[int, Charged]) -> Iterator[tuple[ResourceQuota, str, int, int]]:
        """Per quota and resource that counts: what is free, and what one pod takes."""
        for quota, charges in self.quotas:
            weights = dict(charges)
            used = [(one, weights[number]) for number, one in charged.items() if number in weights]
            for name, hard in quota.hard:
                if name in self.own:
                    yield quota, name, hard - sum(_charge(name, one, each) for one, each in used), self.own[name]


def _charge(name: str, pods: Charged, weights: Amounts) -> int:
    number = pods.pods + pods.stuck if name == COUNT else pods.pods
    return number * weights.get(name, 0)


def _times(free: int, each: int) -> int:
    """How often an amount fits; nothing always does, however much is used already."""
    return max(0, free // each) if each else ENDLESS


def ration_of(setup: Setup, workload: int) -> Ration | None:
    """The quotas of a workload; None if no quota means it."""
    version = setup.settings.kubernetes_version
    own = setup.workloads[workload]
    quotas = [quota for quota in setup.quotas if is_meant(quota, own)]
    if not quotas:
        return None
    weights = [(quota, tuple(_weights(setup, quota, version))) for quota in quotas]
    return Ration(tuple(weights), usage(own.template, version))


def _weights(setup: Setup, quota: ResourceQuota, version: tuple[int, int]) -> list[tuple[int, Amounts]]:
    workloads = enumerate(setup.workloads)
    return [(number, usage(other.template, version)) for number, other in workloads if is_meant(quota, other)]


def find_charged(cell: NodeCell, members: tuple[int, ...]) -> tuple[Charged, ...]:
    """The pods on a node that quotas charge, by workload."""
    amounts: dict[int, list[int]] = {}
    for kind, count in cell.pods:
        if kind.workload in members:
            stuck = kind.phase == Phase.TERMINATING and cell.health not in KUBELET_LIVES
            amounts.setdefault(kind.workload, [0, 0])[stuck] += count
    for workload, count in cell.pinned:
        if workload in members:
            amounts.setdefault(workload, [0, 0])[0] += count
    return tuple(Charged(workload, *both) for workload, both in sorted(amounts.items()))


def in_use(
    waiting: Iterable[tuple[int, int]], on_nodes: Iterable[tuple[tuple[Charged, ...], int]]
) -> dict[int, Charged]:
    """The pods that quotas charge, by workload: those without a node, and those of equal nodes, so many of each."""
    charged = {workload: Charged(workload, pods) for workload, pods in waiting}
    for there, count in on_nodes:
        for workload, pods, stuck in there:
            before = charged.get(workload, Charged(workload, 0))
            charged[workload] = Charged(workload, before.pods + pods * count, before.stuck + stuck * count)
    return charged
