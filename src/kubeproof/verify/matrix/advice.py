"""What to change about a cell of the matrix, from what its run shows to be in the way."""

from __future__ import annotations

from kubeproof.cluster.kinds import KINDS
from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.controllers.scheduler.plugins.inter_pod_affinity import TOO_NEAR
from kubeproof.controllers.scheduler.plugins.volumes import VOLUME_RESTRICTIONS
from kubeproof.controllers.scheduler.registry import (
    INTER_POD_AFFINITY,
    NODE_PORTS,
    NODE_RESOURCES_FIT,
    list_declared,
)
from kubeproof.controllers.silent_nodes import LOST_TOGETHER
from kubeproof.manifests.scenarios.matrix_columns import BY_KEY, DEPLOY, ROLLOUT
from kubeproof.verify.matrix.result import Cell, Grade, Row
from kubeproof.verify.result import IntentResult, Trace
from kubeproof.verify.words.obstacles import BUDGET, DEAD_NODE, NO_CLAIM, NO_NODE, NOT_CREATED, SEVERAL, STAYS

_ALONE = (
    "Its required anti-affinity gives every pod a node of its own (by another topologyKey a zone or the like, which a "
    "pod on a dead node keeps), and there are too few: let it be preferred, or keep one more of these than pods, with "
    "room; for rollouts maxSurge: 0 does, too."
)
_NO_ROOM = (NODE_RESOURCES_FIT, NODE_PORTS)  # filters that a pod which goes first makes way for
_SURGE = (
    "No node has room for the pod that the rollout adds: let an old one go first (maxUnavailable: 1 and maxSurge: 0), "
    "or keep room for one pod more."
)
_STARVED = (
    "Other pods are on its node first, and it goes before none of them: give the DaemonSet a priorityClassName above "
    "theirs (system-node-critical), or keep room for it on every node."
)
_DEAD = (
    "A StatefulSet does not replace a pod before it is gone, and nobody removes it while its node is down: taint such "
    "a node node.kubernetes.io/out-of-service, or delete it."
)
_BARE = "Nobody replaces a Pod that has no controller: put it under a Deployment, a StatefulSet or a Job."
_FAILED = (
    "A pod that is taken away counts as a failure of the Job, and the time until another is done counts towards its "
    "deadline: allow more of both (backoffLimit, activeDeadlineSeconds), or ignore disruptions in podFailurePolicy "
    "(onPodConditions DisruptionTarget)."
)
_KEPT = (
    "Its disk stays attached to the node that is down, where its old pod never ends: delete that pod by force, taint "
    "such a node node.kubernetes.io/out-of-service, or keep the data on storage that several nodes mount."
)
_STAYS = (
    "Its pods tolerate the taints of a dead node without end, so that they are never replaced: leave that toleration "
    "out, or give it tolerationSeconds."
)
_NO_NODES = "No node is left: add one, in another zone if a zone is what fails."
_NO_CLAIM = "A claim that its pods mount does not exist: add the PersistentVolumeClaim, or name one that does."
_FIGHT = (
    "The descheduler evicts pods that the scheduler puts back where they were, without end: disable or narrow that "
    "plugin of its policy, or let both follow the same rule."
)
_TWO_BUDGETS = (
    "Two PodDisruptionBudgets select these pods, and evictions are refused as long as they do: let one budget cover "
    "a pod."
)
_LET_IN = "Pods are not let in: see the quota or limit named, and raise it or ask for less."


def advice(row: Row | None, cell: Cell, result: IntentResult) -> str:
    """What to change, in a sentence or two; what the intent says in general where nothing better is known."""
    if cell.grade == Grade.STUCK:
        return _unstick(row, cell, result) or result.remedy
    if cell.grade == Grade.DIPS and row is not None:
        return _steady(row, cell, result) or result.remedy
    return result.remedy


def _unstick(row: Row | None, cell: Cell, result: IntentResult) -> str:
    found = () if result.trace is None else result.trace.obstacles
    who = {name for name, _ in found}
    if goes_on_with(ActorKind.DESCHEDULER, result.trace):
        return _FIGHT
    rules = KINDS[cell.target.partition("/")[0]]
    if rules.is_pod and cell.faults != (DEPLOY,):
        return _BARE
    if BUDGET in who:
        return _TWO_BUDGETS if (BUDGET, SEVERAL) in found else ""  # the intent about drains says it
    if (INTER_POD_AFFINITY, TOO_NEAR.reason) in found:
        return _ALONE
    if NO_CLAIM in who:
        return _NO_CLAIM
    if VOLUME_RESTRICTIONS in who and any(BY_KEY[fault].stays_down for fault in cell.faults):
        return _KEPT
    if (rules.owns_replica_sets or rules.runs_per_node) and cell.faults == (ROLLOUT,) and _is_crowded(who):
        return _STARVED if rules.runs_per_node and NODE_PORTS not in who else _SURGE
    if rules.runs_per_node and NODE_RESOURCES_FIT in who:
        return _STARVED
    # From the last filter of the scheduler to the first: a node that a late one refuses has passed all before it, so
    # what the latest says is what is nearest to being possible.
    for plugin, declared in reversed(list_declared().items()):
        if plugin in who and declared.advice:
            return declared.advice.format(left="" if cell.faults == (DEPLOY,) else " that is left")
    if NOT_CREATED in who:
        return _LET_IN
    if rules.runs_to_completion and cell.faults != (DEPLOY,):
        return _FAILED
    if DEAD_NODE in who and rules.has_ordinals and cell.faults != (DEPLOY,):
        return _DEAD
    return _STAYS if STAYS in who else _NO_NODES if NO_NODE in who else ""


def goes_on_with(kind: ActorKind, trace: Trace | None) -> bool:
    """True if a run goes on for ever and an actor of the kind with it."""
    if trace is None or trace.loop_start is None:
        return False
    return any(step.actor.kind == kind for step in trace.steps[trace.loop_start :])


def _is_crowded(who: set[str]) -> bool:
    """True if what is taken is all that keeps pods off the nodes that they could go to."""
    first = next((plugin for plugin in reversed(list_declared()) if plugin in who), "")
    return first in _NO_ROOM


_ONLY_POD = (
    "With one pod, none is ready while it is replaced: run at least 2 replicas on different nodes, if pods need not "
    "share data; what keeps data needs replication of its own, or the dip is accepted."
)


_ALL_WANTED = (
    "Its PodDisruptionBudget wants all its pods, so that whatever takes one away is below it: let it allow one to be "
    "missing (maxUnavailable: 1), or run more pods than it wants of them, percentages rounded up."
)


_RECREATED = (
    "With the strategy Recreate a rollout takes all pods away before it adds one, however many there are: use "
    "RollingUpdate, if an old pod and a new one can run at once (disks, host ports), or accept the dip."
)


_ONE_MORE = "No two of its pods share the node that fails: run one pod more than its budget or minimum wants."


def _steady(row: Row, cell: Cell, result: IntentResult) -> str:
    if KINDS[cell.target.partition("/")[0]].runs_per_node:
        return ""
    if row.recreates and cell.faults == (ROLLOUT,):
        return _RECREATED
    if row.replicas == 1:
        return _ONLY_POD
    if row.floor_from and row.floor >= row.replicas:
        return _ALL_WANTED
    if _are_apart(result):
        return _ONE_MORE
    return BY_KEY[cell.faults[0]].remedy if len(cell.faults) == 1 else ""


def _are_apart(result: IntentResult) -> bool:
    """True if a node took one pod alone with it: spreading them would not help."""
    found = () if result.trace is None else result.trace.inaction
    shares = [dict(one.numbers)["most on a node"] for one in found if one.rule == LOST_TOGETHER.key]
    return bool(shares) and max(shares) == 1
