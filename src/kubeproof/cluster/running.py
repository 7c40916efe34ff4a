"""Pods that are there when a run begins, as a cluster shows them."""

from __future__ import annotations

from collections.abc import Iterable

from kubeproof.cluster.state import NEVER, Phase
from kubeproof.named_tuples import NamedTuple

PENDING = -1  # instead of a phase: the pod has no node yet
WORDS = {
    int(Phase.READY): "ready",
    int(Phase.STARTING): "starting",
    int(Phase.RUNNING): "running but not ready",
    int(Phase.TERMINATING): "terminating",
    PENDING: "without a node",
}


class RunningPods(NamedTuple):
    """Equal pods of one workload on one node; of a StatefulSet the one with this ordinal."""

    ref: str  # of the workload that they belong to in the end: the Deployment, not its ReplicaSet
    node: str  # "" where there is none; of a DaemonSet's pod without a node, the one it waits for
    phase: int  # Phase or PENDING
    number: int = 1  # of equal pods
    ordinal: int = NEVER


class NamedPod(NamedTuple):
    """A pod of a cluster by the name that it has there."""

    name: str
    ref: str  # of the workload that it belongs to in the end
    node: str


def count_running(pods: Iterable[RunningPods]) -> tuple[RunningPods, ...]:
    """Equal ones added up, sorted."""
    amounts: dict[RunningPods, int] = {}
    for one in pods:
        key = one._replace(number=0)
        amounts[key] = amounts.get(key, 0) + one.number
    return tuple(sorted(key._replace(number=count) for key, count in amounts.items()))


def in_words(pods: Iterable[RunningPods]) -> str:
    """`12 pods ready, 1 without a node`."""
    totals = dict.fromkeys(WORDS, 0)
    for one in pods:
        totals[one.phase] += one.number
    return ", ".join(f"{count} {WORDS[phase]}" for phase, count in totals.items() if count) or "no pods"
