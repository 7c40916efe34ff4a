"""Why a rollout does not go on: the rules of rolling updates and of Recreate, with their numbers."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.inaction import Field, Idle, Rule, Trouble
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
TAKES_ALL = Rule(
    "recreate-takes-all",
    "With the strategy Recreate a rollout takes every pod away before it creates a new one, however many there are.",
    "pkg/controller/deployment/recreate.go",
    (Trouble.TAKEN,),
)
TAKES_SOME = Rule(
    "rollout-takes-some",
    "A rolling update takes as many old pods away at once as maxUnavailable lets be missing.",
    "pkg/controller/deployment/rolling.go",
    (Trouble.TAKEN,),
)
RULES = (KEEPS_AVAILABLE, WAITS_FOR_OLD_PODS, IS_PAUSED, TAKES_ALL, TAKES_SOME)
STRATEGY = "spec.strategy"
UNAVAILABLE = f"{STRATEGY}.rollingUpdate.maxUnavailable"


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
        change = f"let {declared.ref} use RollingUpdate in place of Recreate"
        fields = (Field(declared.ref, STRATEGY),)
        yield Idle(WAITS_FOR_OLD_PODS, says, change, (("terminating", ending),), fields=fields)
    elif outcome.waits == FOR_RESUME and (old_pods_left or rollout.new is None):
        yield _is_paused("is paused, so that it rolls nothing out", declared.ref)


def why_paused(ref: str) -> Idle:
    """Why a Deployment that was never rolled out has no pods."""
    says = f"creates no ReplicaSet for {ref}: spec.paused is true"
    return _is_paused(says, ref)


def _is_paused(says: str, ref: str) -> Idle:
    change = f"set spec.paused of {ref} to false"
    return Idle(IS_PAUSED, says, change, object=ref, fields=(Field(ref, "spec.paused"),))


def why_taken_at_once(declared: Workload, size: int, lost: int, needed: int) -> Idle:
    """Why a rollout takes so many of `size` pods that fewer are left than are needed."""
    ref = declared.declared_as
    if not declared.strategy.rolling:
        says = f"takes all {lost} pod(s) of {ref} away before it creates a new one (strategy Recreate)"
        change = f"let {ref} use RollingUpdate in place of Recreate, if an old pod and a new one can run at once"
        return Idle(TAKES_ALL, says, change, (("taken", lost),), ref, (Field(ref, STRATEGY),))
    spare = max(0, size - needed)
    missing = declared.strategy.unavailable_of(size)
    says = f"takes {lost} pod(s) of {ref} away at once: {_describe_missing(declared.strategy, size)}"
    change = f"let a rollout of {ref} leave {needed} of {size} pods: maxUnavailable: {spare}"
    change += " and maxSurge: 1" if not spare else ""
    numbers = (("taken", lost), ("may be missing", missing), ("needed", needed))
    return Idle(TAKES_SOME, says, change if spare < missing else "", numbers, ref, (Field(ref, UNAVAILABLE),))


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
    surge = rollout.most - rollout.replicas
    change = f"let an old pod of {declared.ref} go first: maxSurge: 0 and maxUnavailable: 1 in place of {surge} and 0"
    change = "" if rollout.unavailable else change
    return Idle(KEEPS_AVAILABLE, says, change, numbers, fields=(Field(declared.ref, f"{STRATEGY}.rollingUpdate"),))


def _limit(strategy: Strategy, rollout: Rollout) -> str:
    """How many may be missing, as it is written and as it rounds."""
    return _describe_missing(strategy, rollout.replicas)


def _describe_missing(strategy: Strategy, size: int) -> str:
    if not strategy.unavailable_percent:
        return f"maxUnavailable {strategy.max_unavailable}"
    return f"maxUnavailable {strategy.max_unavailable}% of {size} is {strategy.unavailable_of(size)}"
