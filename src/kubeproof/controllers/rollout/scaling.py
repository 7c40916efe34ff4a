"""A Deployment's reaction to a changed number of replicas, also while it is paused.

Mirrors `scale` in `pkg/controller/deployment/sync.go` (v1.26 to v1.37 agree). Scaling comes before rolling: as long
as an active ReplicaSet remembers another number than spec.replicas, no rollout step is taken.
"""

from __future__ import annotations

from kubeproof.controllers.rollout.revisions import ABSENT, Revision, Rollout, RolloutWrites, write_sizes


def is_scaling_event(rollout: Rollout) -> bool:
    """Whether an active ReplicaSet was last written for another number of replicas."""
    remembered = (rollout.revisions[index].desired_note for index in rollout.active)
    return any(note not in (ABSENT, rollout.replicas) for note in remembered)


def scale(rollout: Rollout) -> RolloutWrites:
    """Sizes for the new number of replicas: directly with one active ReplicaSet, otherwise in proportion.

    Never creates a ReplicaSet. With several active ones and Recreate, upstream does nothing at all.
    """
    if not rollout.revisions:
        return write_sizes(rollout, (), "nothing to scale")
    if len(rollout.active) <= 1:
        return _directly(rollout)
    if _is_saturated(rollout):
        sizes = [size if index == rollout.new else 0 for index, size in enumerate(rollout.sizes)]
        what = f"scales old ReplicaSets to 0: all {rollout.replicas} new ones are available"
        return write_sizes(rollout, sizes, what, order=range(len(sizes))[::-1])  # newest first
    if rollout.rolling:
        return _in_proportion(rollout)
    return write_sizes(rollout, rollout.sizes, "does not scale several active ReplicaSets with Recreate")


def _directly(rollout: Rollout) -> RolloutWrites:
    """Sets the only active ReplicaSet to the desired size; without one the new, else the newest.

    A ReplicaSet that already has the size is not written, so that it keeps stale annotations.
    """
    latest = len(rollout.revisions) - 1 if rollout.new is None else rollout.new
    target = rollout.active[0] if rollout.active else latest
    sizes = list(rollout.sizes)
    sizes[target] = rollout.replicas
    if sizes[target] == rollout.sizes[target]:
        return write_sizes(rollout, sizes, f"nothing to scale: {rollout.replicas} replicas")
    return write_sizes(rollout, sizes, f"scales the ReplicaSet {rollout.sizes[target]} -> {rollout.replicas}")


def _is_saturated(rollout: Rollout) -> bool:
    """Whether the new ReplicaSet has all replicas, knows that it should, and all are available."""
    if rollout.new is None:
        return False
    new = rollout.revisions[rollout.new]
    return new.size == new.desired_note == new.available == rollout.replicas


def _in_proportion(rollout: Rollout) -> RolloutWrites:
    """Shares the change among active ReplicaSets by size, old ones too; the largest takes what is left."""
    allowed = rollout.most if rollout.replicas > 0 else 0
    change = allowed - rollout.total
    sizes, left = list(rollout.sizes), change
    ranked = _rank(rollout, change)
    for index in ranked:
        share = _share(rollout, rollout.revisions[index], change, left)
        sizes[index] += share
        left -= share
    sizes[ranked[0]] = max(0, sizes[ranked[0]] + left)
    moves = ", ".join(f"{rollout.sizes[index]} -> {sizes[index]}" for index in rollout.active)
    what = f"scales in proportion to {allowed} in total ({rollout.replicas} + surge {rollout.surge}): {moves}"
    return write_sizes(rollout, sizes, what, renoted=rollout.active, order=ranked)


def _rank(rollout: Rollout, change: int) -> list[int]:
    """Active revisions as they are written: largest first, ties by age; with nothing to share out the new one last."""
    if change == 0:
        return sorted(rollout.active, key=lambda index: (index == rollout.new, -index))
    age = -1 if change > 0 else 1  # growth goes to the newest first
    return sorted(rollout.active, key=lambda index: (-rollout.revisions[index].size, age * index))


def _share(rollout: Rollout, revision: Revision, change: int, left: int) -> int:
    """What one ReplicaSet gets of the change, never more than is left of it.

    Its own fraction may point the other way (an annotation larger than the new bound); upstream lets it.
    """
    if left == 0:
        return 0
    fraction = _fraction(rollout, revision)
    return min(fraction, left) if change > 0 else max(fraction, left)


def _fraction(rollout: Rollout, revision: Revision) -> int:
    """Growth that keeps the ReplicaSet's part of the whole, halves rounded up.

    The whole before is the max-replicas annotation; without it, or if it is 0, the Deployment's status.replicas.
    """
    if rollout.replicas == 0:
        return -revision.size
    before = revision.max_note if revision.max_note > 0 else rollout.reported
    if before == 0:
        return 0
    return (2 * revision.size * rollout.most + before) // (2 * before) - revision.size
