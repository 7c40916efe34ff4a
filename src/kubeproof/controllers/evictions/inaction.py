"""What budgets and tolerations keep from happening, and what they do not: whose leave is asked when pods are taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubeproof.cluster.labels import NO_EXECUTE, Taint, Toleration
from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.cluster.loops.inaction import Field, Idle, Rule, Trouble, pod_field
from kubeproof.cluster.state import NEVER
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler, PodDisruptionBudget
from kubeproof.controllers.evictions.budgets import amounts_of
from kubeproof.controllers.evictions.disruption import Answer, BudgetStatus
from kubeproof.controllers.evictions.taint_eviction import seconds_tolerated

EVICTION_API = "pkg/registry/core/pod/storage/eviction.go"
BUDGET_REFUSES = Rule(
    "budget-refuses",
    "The eviction API grants an eviction only while more pods are healthy than the budget needs. Percentages round up, "
    "for minAvailable and maxUnavailable alike.",
    EVICTION_API,
    (Trouble.EVICTION,),
)
TWO_BUDGETS = Rule(
    "two-budgets",
    "If more than one PodDisruptionBudget selects a pod, the eviction API refuses to evict it, whatever they allow.",
    EVICTION_API,
    (Trouble.EVICTION,),
)
BUDGET_ALLOWS = Rule(
    "budget-allows",
    "A budget holds evictions back only beyond what it allows: healthy pods less those that it needs.",
    EVICTION_API,
    (Trouble.TAKEN,),
)
NOT_ASKED = Rule(
    "budget-not-asked",
    "Only the eviction API asks PodDisruptionBudgets. Rollouts, scaling down, taint eviction and node failures delete "
    "pods without it, and preemption merely prefers to keep budgets.",
    EVICTION_API,
    (Trouble.TAKEN,),
)
NO_BUDGET = Rule(
    "no-budget",
    "Evictions of pods that no PodDisruptionBudget selects are granted at once, all of them.",
    EVICTION_API,
    (Trouble.TAKEN,),
)
ENDLESS_TOLERATION = Rule(
    "endless-toleration",
    "A pod that tolerates the NoExecute taint of a dead node without tolerationSeconds is never deleted from it.",
    "pkg/controller/tainteviction/taint_eviction.go",
    (Trouble.DEAD_NODE,),
)
TOLERATES_FOR = Rule(
    "toleration-runs",
    "A pod stays on a dead node for its tolerationSeconds; 300 s are added to pods that state none.",
    "pkg/controller/tainteviction/taint_eviction.go",
    (Trouble.DEAD_NODE,),
)
RULES = (
    BUDGET_REFUSES, TWO_BUDGETS, BUDGET_ALLOWS, NOT_ASKED, NO_BUDGET, ENDLESS_TOLERATION, TOLERATES_FOR,
)  # fmt: skip
ASKS = (ActorKind.DRAIN, ActorKind.DESCHEDULER, ActorKind.CLUSTER_AUTOSCALER, ActorKind.VPA)  # the eviction API
PREFERS = (ActorKind.SCHEDULER,)  # preemption


def why_refused(
    ref: str,
    count: int,
    answer: Answer,
    budgets: Sequence[PodDisruptionBudget],
    status: BudgetStatus | None,
    autoscalers: Sequence[HorizontalPodAutoscaler] = (),
) -> Idle:
    """Why pods on a drained node are not evicted; the autoscalers are those of their workload."""
    told = f"does not get {count} pod(s) of {ref} evicted"
    if status is None or len(budgets) != 1:
        names = ", ".join(f"{one.namespace}/{one.name}" for one in budgets)
        change = f"let only one of the budgets {names} select the pods of {ref}"
        fields = tuple(Field(_name(one), "spec.selector") for one in budgets)
        return Idle(TWO_BUDGETS, f"{told}: {answer.why}", change, object=ref, fields=fields)
    one = budgets[0]
    change = _allow_one(one, status, autoscalers)
    says = f"{told}: {answer.why}{_describe_need(one, status)}"
    sizes = tuple(Field(_scaler(other), "spec.minReplicas") for other in autoscalers if _scaler(other) in change)
    return Idle(BUDGET_REFUSES, says, change, _numbers(status), ref, (_amount_field(one), *sizes))


def _name(one: PodDisruptionBudget) -> str:
    return f"PodDisruptionBudget/{one.namespace}/{one.name}"


def _amount_field(one: PodDisruptionBudget) -> Field:
    """Where its number is written, or is to be."""
    return Field(_name(one), "spec.minAvailable" if one.min_available is not None else "spec.maxUnavailable")


def _allow_one(one: PodDisruptionBudget, status: BudgetStatus, autoscalers: Sequence[HorizontalPodAutoscaler]) -> str:
    """What lets the budget allow an eviction: other numbers of it, or as many pods as these numbers need."""
    name = _name(one)
    if status.failed:
        return f"write minAvailable as a number in {name}: all else needs a controller with a scale"
    if status.desired < status.expected:
        return f"see why pods are not healthy: {name} needs {status.desired} of {status.expected}"
    least = f" or minAvailable: {status.expected - 1}" if status.expected > 1 else ""
    changes = [f"write maxUnavailable: 1{least} in {name}"]
    pods = amounts_of(one).fewest_pods
    if pods is not None and pods > status.expected:
        changes.append(f"run at least {pods} pods, of which it lets one go{_who_sizes(autoscalers)}")
    return ", or ".join(changes)


def _who_sizes(autoscalers: Sequence[HorizontalPodAutoscaler]) -> str:
    """The autoscaler whose minimum is the number of pods; "" where there is none."""
    return next((f": minReplicas of {_scaler(one)}" for one in autoscalers), "")


def _scaler(one: HorizontalPodAutoscaler) -> str:
    return f"HorizontalPodAutoscaler/{one.namespace}/{one.name}"


def _describe_need(one: PodDisruptionBudget, status: BudgetStatus) -> str:
    """How a percentage becomes a number; "" where none is written."""
    amounts = amounts_of(one)
    for field, amount in (("minAvailable", amounts.min_available), ("maxUnavailable", amounts.max_unavailable)):
        if amount is not None and amount.percent:
            return f" ({field} {amount} of {status.expected} rounds up to {amount.of(status.expected)})"
        if amount is not None:
            return f" ({field} {amount})"
    return ""


def _numbers(status: BudgetStatus) -> tuple[tuple[str, int], ...]:
    return (
        ("healthy", status.healthy),
        ("needed", status.desired),
        ("expected", status.expected),
        ("allowed", status.allowed),
    )


def why_not_held_back(
    kind: ActorKind, ref: str, size: int, lost: int, budgets: Sequence[tuple[PodDisruptionBudget, BudgetStatus]]
) -> Iterator[Idle]:
    """Why no budget kept somebody from taking so many of `size` pods; the statuses are those before it did."""
    if kind in ASKS and not budgets:
        says = f"lets all {lost} pod(s) be evicted at once: no PodDisruptionBudget selects those of {ref}"
        change = f"add a PodDisruptionBudget for {ref} (maxUnavailable: 1)"
        if size <= 1:
            change = f"run at least 2 pods of {ref}: a budget keeps one pod only by keeping drains from ending"
        made = (Field("PodDisruptionBudget"),) if size > 1 else ()
        yield Idle(NO_BUDGET, says, change, (("evicted", lost),), ref, made)
    for one, status in budgets:
        name = _name(one)
        need = f"needs {status.desired} of {status.expected}{_describe_need(one, status)}"
        if kind in ASKS:
            says = f"lets {lost} pod(s) of {ref} be evicted: {name} {need}, {status.healthy} were healthy"
            change = f"let {name} allow fewer to be missing (maxUnavailable: 1)" if status.expected > 2 else ""
            yield Idle(BUDGET_ALLOWS, says, change, _numbers(status), ref, (_amount_field(one),))
        else:
            how = "merely prefers to keep it" if kind in PREFERS else "deletes pods without it"
            says = f"is not asked: {name} {need}, but {_NAMES.get(kind, str(kind))} {how}"
            yield Idle(NOT_ASKED, says, "", _numbers(status), ref)


_NAMES = {
    ActorKind.DEPLOYMENT: "a rollout",
    ActorKind.REPLICA_SET: "scaling a ReplicaSet down",
    ActorKind.TAINT_EVICTION: "taint eviction",
    ActorKind.SCHEDULER: "preemption",
    ActorKind.EVENT: "what happened",
}


def why_pods_stay(
    ref: str, pods: Sequence[str], node: str, tolerations: Sequence[Toleration], taints: Sequence[Taint], left_s: int
) -> Iterator[Idle]:
    """Why pods are not taken off a node with these taints; `left_s`: until they are, or NEVER."""
    if not any(taint.effect == NO_EXECUTE for taint in taints):
        return
    names = ", ".join(pods)
    if seconds_tolerated(tolerations, taints) == NEVER:
        says = f"leaves {names} on {node}: they tolerate {_taint(taints)} without end (no tolerationSeconds)"
        change = f"drop that toleration from {ref}, or give it tolerationSeconds"
        yield Idle(ENDLESS_TOLERATION, says, change, object=ref, fields=(pod_field(ref, "tolerations"),))
    elif left_s > 0:
        says = f"leaves {names} on {node} for {left_s} s more (tolerationSeconds)"
        yield Idle(TOLERATES_FOR, says, "", (("left in s", left_s),), ref)


def _taint(taints: Sequence[Taint]) -> str:
    return ", ".join(f"{one.key}:{one.effect}" for one in taints if one.effect == NO_EXECUTE)
