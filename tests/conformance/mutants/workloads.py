"""Wrong rules of the workloads that the corpora must catch."""

from __future__ import annotations

from tests.conformance.mutant import Mutant

ROLLOUT, SCALING = "controllers/rollout/sync.py", "controllers/rollout/scaling.py"
REVISIONS = "controllers/rollout/revisions.py"
REPLICASET = "controllers/workloads/replicaset.py"  # what runs use
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
        "runs keep pods that share their node",
        REPLICASET,
        "Tier((*rank, -_total(owned) - owned.others)",
        "Tier((*rank, _total(owned) + owned.others)",
        RANKING,
    ),
    Mutant(
        "runs do not look at who shares a node",
        REPLICASET,
        "Tier((*rank, -_total(owned) - owned.others)",
        "Tier((*rank, 0)",
        RANKING,
    ),
    Mutant(
        "runs leave out pods of other revisions when they count who shares a node",
        REPLICASET,
        "Tier((*rank, -_total(owned) - owned.others)",
        "Tier((*rank, -_total(owned))",
        RANKING,
    ),
    Mutant(
        "runs look at who shares a node before readiness",
        REPLICASET,
        "Tier((*rank, -_total(owned) - owned.others)",
        "Tier((-_total(owned) - owned.others, *rank)",
        RANKING,
    ),
    Mutant(
        "runs delete ready pods and others alike",
        REPLICASET,
        "Phase.READY: (RUNNING, 1)",
        "Phase.READY: (RUNNING, 0)",
        RANKING,
    ),
    Mutant(
        "runs delete pods that start and pods that run alike",
        REPLICASET,
        "Phase.STARTING: (PENDING, 0)",
        "Phase.STARTING: (RUNNING, 0)",
        RANKING,
    ),
    Mutant(
        "runs delete pods of lost nodes like pods that start",
        REPLICASET,
        "Phase.UNREADY: (RUNNING, 0)",
        "Phase.UNREADY: (PENDING, 0)",
        RANKING,
    ),
    Mutant(
        "runs count terminating pods of other revisions",
        REPLICASET,
        "if kind.phase == Phase.TERMINATING:",
        "if kind.phase == Phase.TERMINATING and kind.workload == self.workload:",
        RANKING,
    ),
    Mutant(
        "runs keep one pod without a node",
        REPLICASET,
        "direct = min(surplus, unbound)",
        "direct = min(surplus, max(0, unbound - 1))",
        RANKING,
    ),
)
