"""Which old ReplicaSets a Deployment no longer keeps for rollbacks.

Mirrors `cleanupDeployment` in `pkg/controller/deployment/sync.go` (v1.26 to v1.37 agree). The model keeps all
revisions: only the comparison with the recorded controller needs this.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

NO_LIMIT = 2**31 - 1  # revisionHistoryLimit that keeps all
DEFAULT_LIMIT = 10


class Kept(NamedTuple):
    """An old ReplicaSet."""

    revision: int  # annotation revision: a ReplicaSet that is rolled back to gets the highest again
    size: int  # spec.replicas
    exists: int  # status.replicas
    observed: bool = True  # its controller has seen the size


def expired(old: Sequence[Kept], limit: int) -> tuple[int, ...]:
    """Positions of the ReplicaSets that go, in the order of their deletion; `old` is ordered oldest first.

    Only looked at once a rollout is complete, or while the Deployment is paused. The ones with the lowest revisions
    beyond the limit are candidates; one that still has pods is passed over, but uses up its place.
    """
    if limit == NO_LIMIT:
        return ()
    surplus = max(0, len(old) - limit)
    ranked = sorted(range(len(old)), key=lambda position: (old[position].revision, position))
    return tuple(
        position
        for position in ranked[:surplus]
        if old[position].size == old[position].exists == 0 and old[position].observed
    )
