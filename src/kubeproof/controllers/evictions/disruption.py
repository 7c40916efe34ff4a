"""PodDisruptionBudgets: how many evictions they allow, and the eviction API that asks them.

Mirrors `pkg/controller/disruption/disruption.go` and `pkg/registry/core/pod/storage/eviction.go` (v1.27 to v1.37 agree;
v1.26 drops unhealthyPodEvictionPolicy from what is written). Only the eviction API enforces budgets: rollouts,
scale-down, taint eviction, node failures and plain deletes ignore them, preemption merely prefers to keep them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

GRANTED, FORBIDDEN, REFUSED, ERROR = 201, 403, 429, 500  # the HTTP answers of the eviction API

PENDING, RUNNING, SUCCEEDED, FAILED, UNKNOWN = "Pending", "Running", "Succeeded", "Failed", "Unknown"

DISRUPTED_FOR_S = 120  # how long a granted eviction counts as a deletion that is about to come
MOST_DISRUPTED = 2000  # more granted evictions that the controller has not seen: no further ones


class Amount(NamedTuple):
    """A number of pods, or percent of the expected pods."""

    value: int
    percent: bool = False

    def of(self, expected: int) -> int:
        """In pods; percentages round up, for minAvailable and maxUnavailable alike."""
        return -(-self.value * expected // 100) if self.percent else self.value

    def __str__(self) -> str:
        return f"{self.value}%" if self.percent else str(self.value)


class Budget(NamedTuple):
    """A PodDisruptionBudget's spec; the API server lets at most one of the two amounts be set."""

    min_available: Amount | None = None
    max_unavailable: Amount | None = None
    always_allow_unhealthy: bool = False  # unhealthyPodEvictionPolicy AlwaysAllow; otherwise IfHealthyBudget

    @property
    def needs_scale(self) -> bool:
        """Whether the sum of the controllers' scales decides; a plain minAvailable counts pods instead."""
        return self.max_unavailable is not None or (self.min_available is not None and self.min_available.percent)

    @property
    def fewest_pods(self) -> int | None:
        """With so many pods, all healthy, an eviction is allowed, and with fewer none; None: with no number."""
        if self.max_unavailable is not None:
            return 1 if self.max_unavailable.value > 0 else None
        least = self.min_available
        if least is None:
            return None
        if not least.percent:
            return least.value + 1
        return -(-100 // (100 - least.value)) if least.value < 100 else None


class BudgetStatus(NamedTuple):
    """A PodDisruptionBudget's status."""

    expected: int = 0
    desired: int = 0
    healthy: int = 0
    allowed: int = 0
    failed: bool = False  # the last sync failed: only `allowed` was written
    observed: bool = True  # status.observedGeneration is the current one
    disrupted: int = 0  # entries in disruptedPods


NEVER_SYNCED = BudgetStatus(observed=False)


class Owner(NamedTuple):
    """The controller of a pod: for a ReplicaSet of a Deployment that is the Deployment."""

    ref: str
    scale: int | None  # spec.replicas; None: a kind without scale (DaemonSet, Job), or the object is gone


class PodFacts(NamedTuple):
    """What the budget and the eviction API look at."""

    phase: str
    ready: bool  # condition Ready is True
    terminating: bool = False
    disrupted: bool = False  # an eviction was granted less than DISRUPTED_FOR_S ago


def sum_scales(owners: Iterable[Owner | None]) -> int | None:
    """Sum of the scales of the selected pods' distinct controllers; None if one has no scale.

    Pods without a controller (None) are left out, as upstream only warns about them.
    """
    scales = {owner.ref: owner.scale for owner in owners if owner is not None}
    if None in scales.values():
        return None
    return sum(scale for scale in scales.values() if scale is not None)


def count_healthy(pods: Iterable[PodFacts]) -> int:
    """currentHealthy: ready pods that are not going away; the phase does not matter."""
    return sum(pod.ready and not pod.terminating and not pod.disrupted for pod in pods)


def budget(
    amounts: Budget,
    scale: int | None,
    selected: int,
    healthy: int,
    *,
    before: BudgetStatus = NEVER_SYNCED,
    disrupted: int = 0,
) -> BudgetStatus:
    """The status after a sync of the disruption controller; its `allowed` is what may be evicted.

    `scale` is `sum_scales` of the selected pods, `selected` their number, terminating and finished ones
    included, `disrupted` how many of them have a granted eviction but are not terminating yet. If the scale is
    needed and there is none, the sync fails: nothing is allowed, the rest stays as `before`.
    """
    if amounts.needs_scale and scale is None:
        return before._replace(allowed=0, failed=True)
    expected = scale if amounts.needs_scale and scale is not None else selected
    if amounts.max_unavailable is not None:
        desired = max(0, expected - amounts.max_unavailable.of(expected))
    elif amounts.min_available is not None:
        desired = amounts.min_available.of(expected)
    else:
        expected, desired = 0, 0  # a budget without amounts expects nothing, and so allows nothing
    allowed = max(0, healthy - desired) if expected > 0 else 0
    return BudgetStatus(expected, desired, healthy, allowed, disrupted=disrupted)


class Matching(NamedTuple):
    """A budget of the pod's namespace whose selector matches the pod; `{}` matches every pod, no selector none."""

    name: str
    budget: Budget
    status: BudgetStatus


@dataclass(frozen=True, slots=True)
class Answer:
    """The eviction API's answer; if granted, the pod is deleted with its grace period."""

    code: int  # GRANTED, FORBIDDEN, REFUSED (clients try again), ERROR
    why: str
    charged: str | None = None  # the budget whose disruptionsAllowed goes down by one

    @property
    def granted(self) -> bool:
        return self.code == GRANTED


def evict(pod: PodFacts, budgets: Sequence[Matching]) -> Answer:
    """Whether the eviction API deletes the pod; `budgets` are all that match it."""
    if pod.terminating:
        return Answer(GRANTED, "the pod is already terminating")
    if pod.phase in (PENDING, SUCCEEDED, FAILED):
        return Answer(GRANTED, f"the pod is {pod.phase}: budgets do not count it")
    if not budgets:
        return Answer(GRANTED, "no budget matches")
    if len(budgets) > 1:
        names = ", ".join(sorted(match.name for match in budgets))
        return Answer(ERROR, f"{len(budgets)} budgets match ({names}), the eviction API supports one")
    match = budgets[0]
    if not pod.ready and (free := _free_of_charge(match)):
        return Answer(GRANTED, f"the pod is not ready and {free}")
    return _answer_allowed(match)


def _free_of_charge(match: Matching) -> str:
    """Why a pod that is not ready goes without using up the budget; empty if it does not."""
    if match.budget.always_allow_unhealthy:
        return f"budget {match.name} always allows to evict unhealthy pods"
    status = match.status
    if status.healthy >= status.desired > 0:
        return f"budget {match.name} has {status.healthy} healthy pods, needs {status.desired}"
    return ""


def _answer_allowed(match: Matching) -> Answer:
    """The answer from disruptionsAllowed."""
    name, status = match.name, match.status
    if not status.observed:
        return Answer(REFUSED, f"budget {name} is still being processed")
    if status.allowed < 0:
        return Answer(FORBIDDEN, f"budget {name} allows a negative number of disruptions")
    if status.disrupted > MOST_DISRUPTED:
        return Answer(FORBIDDEN, f"budget {name} has {status.disrupted} evictions that are not confirmed yet")
    if status.allowed == 0:
        return Answer(REFUSED, f"budget {name} {_reason(status)}")
    return Answer(GRANTED, f"budget {name} allows {status.allowed}", charged=name)


def _reason(status: BudgetStatus) -> str:
    """Why nothing is allowed."""
    if status.failed:
        return "failed to sync: a selected pod's controller has no scale"
    if status.healthy <= status.desired:
        return f"needs {status.desired} healthy pods and has {status.healthy}"
    return "does not allow evictions currently"
