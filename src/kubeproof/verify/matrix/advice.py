"""What to change about a cell of the matrix, from what its run shows to be in the way."""

from __future__ import annotations

from kubeproof.cluster.objects import DAEMON_SET, STATEFUL_SET
from kubeproof.manifests.scenarios.faults import DEPLOY
from kubeproof.verify.matrix.result import Cell, Grade, Row
from kubeproof.verify.result import IntentResult
from kubeproof.verify.words.obstacles import BUDGET, DEAD_NODE, NOT_CREATED

_ANTI = "node(s) didn't match pod anti-affinity rules"
_VOLUME = (
    "Its volume can be used from some of the nodes only: storage that all zones reach, or room on another node of the "
    "volume's zone."
)
_PORT = "A port of the node (hostPort, hostNetwork) is taken on every node that is left: do without it, or add a node."
# From the last filter of the scheduler to the first: a node that a late one refuses has passed all before it, so what
# the latest says is what is nearest to being possible.
_BY_PLUGIN = {
    "InterPodAffinity": "Its required pod affinity leaves no node: let it be preferred, or add a node that satisfies "
    "it.",
    "PodTopologySpread": "Its spread constraint (whenUnsatisfiable: DoNotSchedule) leaves no node: a larger maxSkew, "
    "ScheduleAnyway, or nodes in more domains; with nodeTaintsPolicy: Honor nodes that are down or cordoned do not "
    "count as empty domains.",
    "VolumeBinding": _VOLUME,
    "VolumeZone": _VOLUME,
    "NodeVolumeLimits": _VOLUME,
    "VolumeRestrictions": "Its volume is in use by a pod on another node (ReadWriteOnce): strategy Recreate, or a "
    "StatefulSet with a claim for each pod.",
    "NodeResourcesFit": "No node that is left has the room it requests: add room or a node, or ask for less.",
    "NodePorts": _PORT,
    "NodeAffinity": "No node that is left has the labels its nodeSelector or node affinity asks for: add one, or "
    "allow others.",
    "TaintToleration": "It tolerates the taints of no node that is left: add a toleration, or a node without them.",
    "NodeUnschedulable": "All nodes that are left are cordoned: add one.",
}
_ALONE = (
    "Its required anti-affinity gives every pod a node of its own, and there are too few: let it be preferred, or keep "
    "a node more than pods; for rollouts maxSurge: 0 does, too."
)
_DEAD = (
    "A StatefulSet does not replace a pod before it is gone, and nobody removes it while its node is down: taint such "
    "a node node.kubernetes.io/out-of-service, or delete it."
)
_LET_IN = "Pods are not let in: see the quota or limit named, and raise it or ask for less."
_FALLS = {  # of workloads with several pods, by fault
    "drain": "Nothing keeps a drain from taking too many of its pods at once: add a PodDisruptionBudget "
    "(maxUnavailable: 1), or spread its pods over nodes.",
    "nodeLoss": "Too many of its pods may be on one node: spread them over kubernetes.io/hostname with DoNotSchedule, "
    "or keep them apart by required anti-affinity.",
    "zoneFailure": "Too many of its pods may be in one zone: spread them over topology.kubernetes.io/zone with "
    "DoNotSchedule.",
    "rollout": "The rollout may take too many pods away at once: RollingUpdate with maxUnavailable: 0 and maxSurge: 1.",
}
_FALLS |= {"upgrade": _FALLS["drain"], "nodeFailure": _FALLS["nodeLoss"]}


def advice(row: Row | None, cell: Cell, result: IntentResult) -> str:
    """What to change, in a sentence or two; what the intent says in general where nothing better is known."""
    if cell.grade == Grade.STUCK:
        return _unstick(row, cell, result) or result.remedy
    if cell.grade == Grade.DIPS and row is not None:
        return _steady(row, cell) or result.remedy
    return result.remedy


def _unstick(row: Row | None, cell: Cell, result: IntentResult) -> str:
    found = () if result.trace is None else result.trace.obstacles
    who = {name for name, _ in found}
    if BUDGET in who:
        return ""  # the intent about drains says it
    if ("InterPodAffinity", _ANTI) in found:
        return _ALONE
    for plugin, told in _BY_PLUGIN.items():
        if plugin in who:
            return told
    if NOT_CREATED in who:
        return _LET_IN
    is_stateful = cell.target.startswith(f"{STATEFUL_SET}/")
    return _DEAD if DEAD_NODE in who and is_stateful and cell.faults != (DEPLOY,) else ""


_ONLY_POD = (
    "It has one pod and none while that one is replaced: run at least 2 replicas on different nodes, if pods need not "
    "share data; what keeps data needs replication of its own, or the dip is accepted."
)


def _steady(row: Row, cell: Cell) -> str:
    kind = cell.target.partition("/")[0]
    if kind == DAEMON_SET:
        return ""
    if row.replicas == 1:
        return _ONLY_POD
    return _FALLS.get(cell.faults[0], "") if len(cell.faults) == 1 else ""
