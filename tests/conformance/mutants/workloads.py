"""Wrong rules of the workloads that the corpora must catch."""

from __future__ import annotations

from tests.conformance.mutant import Mutant

ROLLOUT, SCALING = "controllers/rollout.py", "controllers/rollout_scaling.py"
REVISIONS, VICTIMS = "controllers/rollout_revisions.py", "controllers/victims.py"
ROLLOUTS, PROPORTIONAL, RANKING = "deployment-rollouts", "deployment-proportional", "replicaset-victims"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "maxSurge and maxUnavailable are swapped",
        REVISIONS,
        "return surge, min(unavailable, replicas)",
        "return unavailable, min(surge, replicas)",
        ROLLOUTS,
    ),
    Mutant(
        "percentages of maxSurge round down",
        REVISIONS,
        "surge = -(-strategy.max_surge * replicas // 100)",
        "surge = strategy.max_surge * replicas // 100",
        ROLLOUTS,
    ),
    Mutant(
        "percentages of maxUnavailable round up",
        REVISIONS,
        "unavailable = unavailable * replicas // 100",
        "unavailable = -(-unavailable * replicas // 100)",
        ROLLOUTS,
    ),
    Mutant(
        "surge and unavailable may both be 0",
        REVISIONS,
        "if surge == 0 and unavailable == 0:",
        "if surge < 0 and unavailable == 0:",
        ROLLOUTS,
    ),
    Mutant(
        "the new ReplicaSet may exceed the surge by one",
        ROLLOUT,
        "room = max(0, rollout.most - rollout.total)",
        "room = max(0, rollout.most + 1 - rollout.total)",
        ROLLOUTS,
    ),
    Mutant(
        "unavailable new pods do not hold back old ones",
        ROLLOUT,
        "removable = rollout.total - rollout.least - (new.size - new.available)",
        "removable = rollout.total - rollout.least",
        ROLLOUTS,
    ),
    Mutant(
        "unavailable old replicas are not removed first",
        ROLLOUT,
        "        sizes[index] -= unhealthy\n",
        "        sizes[index] -= 0\n",
        ROLLOUTS,
    ),
    Mutant(
        "old ReplicaSets shrink newest first",
        ROLLOUT,
        "    left = list(sizes)\n    for index in rollout.active_old:",
        "    left = list(sizes)\n    for index in reversed(rollout.active_old):",
        ROLLOUTS,
    ),
    Mutant(
        "a status that lags behind does not stop a step",
        ROLLOUT,
        "if revision.available > revision.size:",
        "if revision.available < 0:",
        ROLLOUTS,
    ),
    Mutant(
        "Recreate does not wait for terminating pods",
        ROLLOUT,
        "if reported or old_pods_left:",
        "if reported:",
        ROLLOUTS,
    ),
    Mutant(
        "a paused Deployment goes on with its rollout",
        ROLLOUT,
        "if paused or is_scaling_event(rollout):",
        "if is_scaling_event(rollout):",
        ROLLOUTS,
    ),
    Mutant(
        "a rollout step comes before scaling",
        ROLLOUT,
        "if paused or is_scaling_event(rollout):",
        "if paused:",
        ROLLOUTS,
    ),
    Mutant(
        "a ReplicaSet that was rolled back to is deleted by its age",
        "controllers/rollout_history.py",
        "key=lambda position: (old[position].revision, position)",
        "key=lambda position: position",
        ROLLOUTS,
    ),
    Mutant(
        "a deadline passes a second early",
        "controllers/rollout_progress.py",
        "progress.updated_s + deadline_s < now_s",
        "progress.updated_s + deadline_s <= now_s",
        ROLLOUTS,
    ),
    Mutant(
        "shares are rounded down",
        SCALING,
        "(2 * revision.size * rollout.most + before) // (2 * before)",
        "(revision.size * rollout.most) // before",
        PROPORTIONAL,
    ),
    Mutant(
        "what is left of a share goes to the smallest ReplicaSet",
        SCALING,
        "    sizes[ranked[0]] = max(0, sizes[ranked[0]] + left)",
        "    sizes[ranked[-1]] = max(0, sizes[ranked[-1]] + left)",
        PROPORTIONAL,
    ),
    Mutant(
        "growth goes to the oldest of equal ReplicaSets",
        SCALING,
        "age = -1 if change > 0 else 1",
        "age = 1",
        PROPORTIONAL,
    ),
    Mutant(
        "a saturated new ReplicaSet leaves old ones alone",
        SCALING,
        "return new.size == new.desired_note == new.available == rollout.replicas",
        "return False",
        PROPORTIONAL,
    ),
    Mutant(
        "ties of age are broken by the larger UID",
        VICTIMS,
        "return (one_key > other_key) - (one_key < other_key)",
        "return (one_key[0] - other_key[0]) or (one_uid < other_uid) - (one_uid > other_uid)",
        RANKING,
    ),
    Mutant(
        "ages compare by the nanosecond",
        VICTIMS,
        "    return exponent - 1 if fraction == 0.5 else int(math.log(fraction) * (1 / math.log(2)) + exponent)",
        "    return age_ns",
        RANKING,
    ),
    Mutant(
        "pods that share their node are kept",
        VICTIMS,
        "pod.deletion_cost, -pod.rank",
        "pod.deletion_cost, pod.rank",
        RANKING,
    ),
    Mutant(
        "dear pods go first",
        VICTIMS,
        "int(pod.ready), pod.deletion_cost, -pod.rank",
        "int(pod.ready), -pod.deletion_cost, -pod.rank",
        RANKING,
    ),
    Mutant(
        "the deletion cost counts before readiness",
        VICTIMS,
        "pod.phase, int(pod.ready), pod.deletion_cost, -pod.rank",
        "pod.phase, pod.deletion_cost, int(pod.ready), -pod.rank",
        RANKING,
    ),
    Mutant(
        "pods with fewer restarts go first",
        VICTIMS,
        "return other.restarts - one.restarts",
        "return one.restarts - other.restarts",
        RANKING,
    ),
)
