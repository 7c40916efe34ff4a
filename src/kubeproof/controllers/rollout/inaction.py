"""Why a rollout does not go on: the rules of rolling updates and of Recreate, with their numbers."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.inaction import Idle, Rule, Trouble
from kubeproof.cluster.objects import Strategy, Workload
from kubeproof.controllers.rollout.revisions import FOR_AVAILABLE, FOR_OLD_PODS, FOR_RESUME, Rollout, RolloutWrites

HELPS = (Trouble.ROLLOUT, Trouble.PENDING, Trouble.NOT_READY)
KEEPS_AVAILABLE = Rule(
    "rollout-keeps-available",
    "A rolling update takes an old pod away only while more pods are available than replicas - maxUnavailable, and "
    "adds a new one only while there are fewer than replicas + maxSurge. Percentages of maxUnavailable round down, "
    "those of maxSurge up. If the new pods cannot become available, neither happens any more.",
    "pkg/controller/deployment/rolling.go",
    HELPS,
)
WAITS_FOR_OLD_PODS = Rule(
    "recreate-waits-for-old-pods",
    "With the strategy Recreate no new pod is created before every old one is gone, also one that terminates on a "
    "node whose kubelet is silent.",
    "pkg/controller/deployment/recreate.go",
    HELPS,
)
IS_PAUSED = Rule(
    "rollout-paused",
    "A Deployment with spec.paused is scaled, but never rolled out: it does not even get its first ReplicaSet.",
    "pkg/controller/deployment/deployment_controller.go",
    (*HELPS, Trouble.MISSING, Trouble.REPLICAS),
)
UNPAUSE = "set spec.paused to false"
RULES = (KEEPS_AVAILABLE, WAITS_FOR_OLD_PODS, IS_PAUSED)


def why_it_waits(
    declared: Workload, rollout: Rollout, outcome: RolloutWrites, old_pods_left: bool, ending: int
) -> Iterator[Idle]:
    """For what the sync of a rollout waits; nothing if it writes, or has nothing to do."""
    if outcome.changed or not outcome.waits:
        return
    if outcome.waits == FOR_AVAILABLE:
        yield _keeps_available(declared, rollout)
    elif outcome.waits == FOR_OLD_PODS:
        told = f"{ending} of them still terminating" if ending else "some are left"
        says = f"creates no new pod before all old ones are gone: {told}"
        yield Idle(WAITS_FOR_OLD_PODS, says, "use RollingUpdate in place of Recreate", (("terminating", ending),))
    elif outcome.waits == FOR_RESUME and (old_pods_left or rollout.new is None):
        yield Idle(IS_PAUSED, "is paused, so that it rolls nothing out", UNPAUSE)


def why_paused(ref: str) -> Idle:
    """Why a Deployment that was never rolled out has no pods."""
    says = f"creates no ReplicaSet for {ref}: spec.paused is true"
    return Idle(IS_PAUSED, says, UNPAUSE, object=ref)


def _keeps_available(declared: Workload, rollout: Rollout) -> Idle:
    assert rollout.new is not None
    new = rollout.revisions[rollout.new]
    unavailable = new.size - new.available
    numbers = (
        ("replicas", rollout.total),
        ("least available", rollout.least),
        ("new and unavailable", unavailable),
        ("most", rollout.most),
    )
    removable = rollout.total - rollout.least - unavailable
    says = (
        f"takes no old pod away: {rollout.total} replicas - {rollout.least} that must stay available "
        f"({_limit(declared.strategy, rollout)}) - {unavailable} new that {'is' if unavailable == 1 else 'are'} not "
        f"available = {removable}; and adds none: {rollout.total} of at most {rollout.most} are there"
    )
    change = "let an old pod go first: maxSurge: 0 and maxUnavailable: 1 in spec.strategy.rollingUpdate"
    return Idle(KEEPS_AVAILABLE, says, change, numbers)


def _limit(strategy: Strategy, rollout: Rollout) -> str:
    """How many may be missing, as it is written and as it rounds."""
    if not strategy.unavailable_percent:
        return f"maxUnavailable {strategy.max_unavailable}"
    return f"maxUnavailable {strategy.max_unavailable}% of {rollout.replicas} is {rollout.unavailable}"
