"""Whether a rollout is complete, progresses, or has passed its deadline.

Mirrors `pkg/controller/deployment/progress.go` and `util/deployment_util.go` (v1.26 to v1.37 agree). The deadline only
sets a condition: nothing is rolled back or stopped by it. Times are seconds on any one clock. The model
has no such condition: only the comparison with the recorded controller needs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kubeproof.cluster.objects import Strategy
from kubeproof.controllers.rollout.revisions import Revision, resolve

DEFAULT_DEADLINE_S = 600
NO_DEADLINE = 2**31 - 1  # progressDeadlineSeconds that switches the check off

CREATED = "NewReplicaSetCreated"
FOUND = "FoundNewReplicaSet"
UPDATED = "ReplicaSetUpdated"
AVAILABLE = "NewReplicaSetAvailable"
TIMED_OUT = "ProgressDeadlineExceeded"
PAUSED = "DeploymentPaused"
RESUMED = "DeploymentResumed"


class Status(NamedTuple):
    """The numbers of a Deployment's status."""

    replicas: int
    updated: int
    ready: int
    available: int


class Progress(NamedTuple):
    """The condition Progressing: its reason, which fixes its status, and when it was last updated."""

    reason: str
    updated_s: int


def status_of(revisions: Sequence[Revision], new: int | None, ready: int) -> Status:
    """Sums over the ReplicaSets' statuses; `ready` is the sum of their readyReplicas."""
    return Status(
        replicas=sum(revision.exists for revision in revisions),
        updated=0 if new is None else revisions[new].exists,
        ready=ready,
        available=sum(revision.available for revision in revisions),
    )


def is_complete(replicas: int, status: Status) -> bool:
    """Whether all replicas are of the new revision and available, and no old pod is left."""
    return status.updated == status.replicas == status.available == replicas


def is_available(replicas: int, strategy: Strategy, status: Status) -> bool:
    """The condition Available: at most maxUnavailable pods are missing."""
    return status.available >= replicas - resolve(strategy, replicas)[1]


def is_progressing(before: Status, now: Status) -> bool:
    """Whether new pods were added, old ones removed, or more pods turned ready or available."""
    return (
        now.updated > before.updated
        or now.replicas - now.updated < before.replicas - before.updated
        or now.ready > before.ready
        or now.available > before.available
    )


def has_timed_out(progress: Progress | None, deadline_s: int, now_s: int) -> bool:
    """Whether the last progress of an unfinished rollout is longer ago than the deadline."""
    if deadline_s == NO_DEADLINE or progress is None or progress.reason == AVAILABLE:
        return False
    return progress.reason == TIMED_OUT or progress.updated_s + deadline_s < now_s


def judge(
    progress: Progress | None, replicas: int, before: Status, now: Status, *, deadline_s: int, now_s: int
) -> Progress | None:
    """The condition Progressing after a rollout step; a finished rollout is not judged again.

    Not called for a scaling event or while paused: both only update the numbers.
    """
    if deadline_s == NO_DEADLINE:
        return None
    if now.replicas == now.updated and progress is not None and progress.reason == AVAILABLE:
        return progress
    if is_complete(replicas, now):
        return noted(progress, AVAILABLE, now_s)
    if is_progressing(before, now):
        return Progress(UPDATED, now_s)
    if has_timed_out(progress, deadline_s, now_s):
        return noted(progress, TIMED_OUT, now_s)
    return progress


def noted(progress: Progress | None, reason: str, now_s: int) -> Progress:
    """The condition with this reason; the same reason again does not refresh its time."""
    return progress if progress is not None and progress.reason == reason else Progress(reason, now_s)


def paused_or_resumed(progress: Progress | None, paused: bool, *, deadline_s: int, now_s: int) -> Progress | None:
    """The condition after looking at spec.paused: resuming restarts the deadline, a passed one stays passed."""
    reason = None if progress is None else progress.reason
    if deadline_s == NO_DEADLINE or reason == TIMED_OUT:
        return progress
    if paused:
        return noted(progress, PAUSED, now_s)
    return Progress(RESUMED, now_s) if reason == PAUSED else progress


def found(progress: Progress | None, *, created: bool, deadline_s: int, now_s: int) -> Progress | None:
    """The condition after the new ReplicaSet was created, or found to exist."""
    if deadline_s == NO_DEADLINE:
        return progress
    if created:
        return noted(progress, CREATED, now_s)
    return Progress(FOUND, now_s) if progress is None else progress
