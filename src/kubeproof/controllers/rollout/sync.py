"""One sync of the Deployment controller: which ReplicaSet gets which size.

Mirrors `syncDeployment`, `rolling.go` and `recreate.go` in `pkg/controller/deployment` (v1.26 to v1.37 agree). The
controller reads sizes and statuses of ReplicaSets, never pods, except that Recreate waits for old pods to be gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kubeproof.cluster.objects import Strategy
from kubeproof.controllers.rollout.revisions import (
    FOR_AVAILABLE,
    FOR_OLD_PODS,
    FOR_RESUME,
    Revision,
    Rollout,
    RolloutWrites,
    Write,
    rollout_of,
    write_sizes,
)
from kubeproof.controllers.rollout.scaling import is_scaling_event, scale


def sync(
    replicas: int,
    strategy: Strategy,
    paused: bool,
    revisions: tuple[Revision, ...],
    new: int | None,
    old_pods_left: bool,
    reported: int | None = None,
) -> RolloutWrites:
    """What exactly one sync writes.

    `revisions` are ordered oldest first, `new` is the index of the one with the Deployment's template (None: not
    created yet; after a rollback not the last). `old_pods_left`: pods of old revisions, terminating ones included,
    are in a phase other than Succeeded and Failed. `reported`: the Deployment's status.replicas if it lags behind.
    """
    rollout = rollout_of(replicas, strategy, revisions, new, reported)
    if paused or is_scaling_event(rollout):
        return replace(scale(rollout), waits=FOR_RESUME if paused else "")
    if strategy.rolling:
        return _roll(rollout)
    return _recreate(rollout, old_pods_left)


def _roll(rollout: Rollout) -> RolloutWrites:
    """One rolling step: the new ReplicaSet grows, or else old ones shrink.

    Creating the new ReplicaSet does not count as growing, so old ones may shrink in the same sync.
    """
    if rollout.new is None:
        return _create_and_shrink(rollout)
    size, target = rollout.revisions[rollout.new].size, _new_size(rollout)
    if size == target:
        return _shrink_old(rollout)
    sizes = list(rollout.sizes)
    sizes[rollout.new] = target
    if target < size:
        return write_sizes(rollout, sizes, f"scales down the new ReplicaSet {size} -> {target}")
    return write_sizes(rollout, sizes, f"scales up the new ReplicaSet {size} -> {target}: {_room(rollout)}")


def _create_and_shrink(rollout: Rollout) -> RolloutWrites:
    """Creates the new ReplicaSet as large as there is room, then shrinks old ones."""
    size = _new_size(rollout)
    created = Revision(size, 0, 0, *rollout.notes)
    shrunk = _shrink_old(rollout._replace(revisions=(*rollout.revisions, created), new=len(rollout.revisions)))
    what = f"creates the new ReplicaSet with {size}: {_room(rollout)}"
    if shrunk.changed:
        what = f"{what}; {shrunk.what}"
    writes = ((len(rollout.revisions), size), *shrunk.writes)
    return RolloutWrites(shrunk.sizes[:-1], shrunk.notes[:-1], writes, what, size, rollout.notes)


def _new_size(rollout: Rollout) -> int:
    """How large the new ReplicaSet may be now (NewRSNewReplicas)."""
    size = 0 if rollout.new is None else rollout.revisions[rollout.new].size
    room = max(0, rollout.most - rollout.total)
    return min(rollout.replicas, size + room)


def _room(rollout: Rollout) -> str:
    return f"{rollout.total} of at most {rollout.most} replicas ({rollout.replicas} + surge {rollout.surge})"


def _shrink_old(rollout: Rollout) -> RolloutWrites:
    """Takes from old ReplicaSets what availability allows, unavailable replicas first."""
    assert rollout.new is not None
    new = rollout.revisions[rollout.new]
    if not rollout.active_old:
        return write_sizes(rollout, rollout.sizes, "nothing to do: no old replicas")
    removable = rollout.total - rollout.least - (new.size - new.available)
    sum_up = (
        f"{rollout.total} replicas - minAvailable {rollout.least} - {new.size - new.available} new ones unavailable"
    )
    if removable <= 0:
        outcome = write_sizes(rollout, rollout.sizes, f"waits: {sum_up} leaves {removable} to remove")
        return replace(outcome, waits=FOR_AVAILABLE)
    cleaned, is_current = _without_unhealthy(rollout, removable)
    if not is_current:
        return write_sizes(rollout, cleaned, "waits for the status of an old ReplicaSet: more available than its size")
    sizes, available = _without_surplus(rollout, cleaned)
    unhealthy, surplus = rollout.total - sum(cleaned), sum(cleaned) - sum(sizes)
    parts = [f"removes {unhealthy} unavailable: {sum_up} leaves {removable}"] if unhealthy else []
    parts += [f"removes {surplus}: {available} available, minAvailable {rollout.least}"] if surplus else []
    outcome = write_sizes(rollout, sizes, f"scales down old ReplicaSets: {'; '.join(parts)}")
    return replace(outcome, writes=(*_writes(rollout.sizes, cleaned), *_writes(cleaned, sizes)))


def _writes(before: Sequence[int], after: Sequence[int]) -> tuple[Write, ...]:
    return tuple((index, size) for index, size in enumerate(after) if size != before[index])


def _without_unhealthy(rollout: Rollout, removable: int) -> tuple[list[int], bool]:
    """Sizes less the unavailable replicas of old ReplicaSets, and whether the statuses were usable.

    A status that still reports more available pods than the size (its pods are not deleted yet) makes upstream
    give up this sync with an error; what was written to older ReplicaSets before stays.
    """
    sizes = list(rollout.sizes)
    for index in rollout.active_old:
        if removable == 0:
            break
        revision = rollout.revisions[index]
        if revision.available > revision.size:
            return sizes, False
        unhealthy = min(removable, revision.size - revision.available)
        sizes[index] -= unhealthy
        removable -= unhealthy
    return sizes, True


def _without_surplus(rollout: Rollout, sizes: list[int]) -> tuple[list[int], int]:
    """Sizes less the available pods beyond minAvailable, oldest first; and the available pods counted.

    Pods of ReplicaSets that were already scaled to 0 do not count, nor does the cleanup of the same sync lower the
    number: it is read from statuses.
    """
    assert rollout.new is not None
    counted = (*rollout.active_old, rollout.new)
    available = sum(rollout.revisions[index].available for index in counted)
    surplus = max(0, available - rollout.least)
    left = list(sizes)
    for index in rollout.active_old:
        taken = min(left[index], surplus)
        left[index] -= taken
        surplus -= taken
    return left, available


def _recreate(rollout: Rollout, old_pods_left: bool) -> RolloutWrites:
    """Old ReplicaSets to 0, then wait until their pods are gone, then all new ones at once."""
    sizes = list(rollout.sizes)
    if rollout.active_old:
        sizes = [size if index == rollout.new else 0 for index, size in enumerate(sizes)]
        return write_sizes(
            rollout, sizes, f"scales down old ReplicaSets by {rollout.total - sum(sizes)} to 0: Recreate"
        )
    reported = sum(revision.exists for index, revision in enumerate(rollout.revisions) if index != rollout.new)
    if reported or old_pods_left:
        outcome = write_sizes(rollout, sizes, "waits until all old pods are gone: Recreate")
        return replace(outcome, waits=FOR_OLD_PODS)
    what = f"new ReplicaSet with {rollout.replicas}: no old pods are left"
    if rollout.new is None:
        outcome = write_sizes(rollout, sizes, f"creates the {what}")
        writes = ((len(sizes), rollout.replicas),)
        return replace(outcome, writes=writes, created=rollout.replicas, created_notes=rollout.notes)
    sizes[rollout.new] = rollout.replicas
    if tuple(sizes) == rollout.sizes:
        return write_sizes(rollout, sizes, "nothing to do: no old replicas")
    return write_sizes(rollout, sizes, f"scales the new ReplicaSet to {rollout.replicas}: no old pods are left")
