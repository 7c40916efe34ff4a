"""Our taint eviction and disruption budgets decide the recorded cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kubeproof.cluster.labels import Taint, Toleration
from kubeproof.cluster.state import NEVER
from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.controllers.evictions.budgets import amounts_of
from kubeproof.controllers.evictions.disruption import (
    DISRUPTED_FOR_S,
    BudgetStatus,
    Owner,
    PodFacts,
    budget,
    count_healthy,
    sum_scales,
)
from kubeproof.controllers.evictions.taint_eviction import clock_after
from tests.conformance.corpus import Case, Decision
from tests.conformance.objects import read

HORIZON_S = 5000  # after the last event
NEVER_EVICTED = 10**9  # seconds
GENERATION = 2  # of every budget
UNSCALED = ("DaemonSet", "Job", "Table")


@dataclass(slots=True)
class Guest:
    """A pod on the tainted node."""

    tolerations: tuple[Toleration, ...]
    is_here: bool = False
    left_s: int = NEVER  # until its eviction
    evicted_s: int | None = None


def taint_evictions(case: Case, upstream: str) -> Decision:
    """The second of each pod's eviction, None if it stays."""
    guests = [Guest(tolerations_of(pod)) for pod in case["pods"]]
    taints: tuple[Taint, ...] = ()
    now_s = 0
    for event in case["events"]:
        for guest in guests:
            _wait(guest, now_s, event["at"] - now_s)
        now_s = event["at"]
        taints = _happen(event, guests, taints, now_s)
    for guest in guests:
        _wait(guest, now_s, HORIZON_S)
    return [guest.evicted_s for guest in guests]


def _happen(event: dict[str, Any], guests: list[Guest], taints: tuple[Taint, ...], now_s: int) -> tuple[Taint, ...]:
    """Carries out an event and returns the node's taints."""
    if "taints" in event:
        taints = taints_of(event["taints"])
        concerned = guests
    elif "arrives" in event:
        concerned = [guests[event["arrives"]]]
        concerned[0].is_here = True
    else:
        concerned = [guests[event["gets"]]]
        concerned[0].tolerations += tolerations_of(_pod(event["tolerations"]))[: len(event["tolerations"])]
    for guest in concerned:
        if guest.is_here:
            guest.left_s = clock_after(guest.left_s, guest.tolerations, taints)
            _wait(guest, now_s, 0)
    return taints


def _wait(guest: Guest, now_s: int, seconds: int) -> None:
    """Lets time pass; the pod goes when its clock has run out."""
    if guest.left_s == NEVER or guest.evicted_s is not None:
        return
    if guest.left_s <= seconds:
        guest.evicted_s = now_s + guest.left_s
    guest.left_s -= min(seconds, guest.left_s)


def tolerations_of(pod: dict[str, Any]) -> tuple[Toleration, ...]:
    """The pod's tolerations, with those that admission adds."""
    return read(pod).workloads[0].workload.template.tolerations


def taints_of(taints: list[dict[str, Any]]) -> tuple[Taint, ...]:
    """The taints as they are read from a node."""
    status = {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "9"}}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "spec": {"taints": taints}, "status": status}
    return read(node).nodes[0].taints


def _pod(tolerations: list[dict[str, Any]]) -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "image": "i"}], "tolerations": tolerations}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}


def budget_status(case: Case, upstream: str) -> Decision:
    """The budget's status after a sync."""
    declared = read(case["budget"]).budgets[0]
    pods = [pod for pod in case["pods"] if _is_selected(declared, pod)]
    scale = sum_scales(_owner(case["owners"], pod.get("owner")) for pod in pods)
    healthy = count_healthy(_facts(pod) for pod in pods)
    awaited = [pod for pod in pods if pod.get("evicted", NEVER_EVICTED) <= DISRUPTED_FOR_S and not pod.get("ending")]
    status = budget(amounts_of(declared), scale, len(pods), healthy, before=_before(case), disrupted=len(awaited))
    numbers = [status.expected, status.desired, status.healthy, status.allowed]
    return [*numbers, status.failed, status.observed, status.disrupted]


def _is_selected(declared: PodDisruptionBudget, pod: dict[str, Any]) -> bool:
    return "space" not in pod and declared.selector is not None and declared.selector.matches({"app": pod["app"]})


def _owner(owners: list[dict[str, Any]], index: int | None) -> Owner | None:
    """The pod's controller: a ReplicaSet's Deployment if that exists, or else the ReplicaSet itself."""
    if index is None:
        return None
    owner = owners[index]
    if _is_lost(owner) or owner["kind"] in UNSCALED:
        return Owner(str(index), None)
    above = owner.get("owner")
    if above is not None and not _is_lost(owners[above]):
        return _owner(owners, above)
    return Owner(str(index), owner["replicas"])


def _is_lost(owner: dict[str, Any]) -> bool:
    """Whether the object that made the pods is gone; one of the same name may have come."""
    return "gone" in owner or "anew" in owner


def _facts(pod: dict[str, Any]) -> PodFacts:
    evicted = pod.get("evicted", NEVER_EVICTED) < DISRUPTED_FOR_S
    return PodFacts(pod["phase"], pod["ready"], terminating=pod.get("ending", False), disrupted=evicted)


def _before(case: Case) -> BudgetStatus:
    status = case["budget"]["status"]
    return BudgetStatus(
        status["expectedPods"],
        status["desiredHealthy"],
        status["currentHealthy"],
        status["disruptionsAllowed"],
        observed=status["observedGeneration"] == GENERATION,
        disrupted=sum("evicted" in pod for pod in case["pods"]),
    )
