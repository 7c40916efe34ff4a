"""What a DaemonSet does node by node: which pods it creates and deletes there.

Mirrors `podsShouldBeOnNode` of `pkg/controller/daemon/daemon_controller.go` (v1.26 and v1.37 agree). A pod that does
not fit is created all the same and waits. The back-off before a failed pod is deleted (1 s to 15 min) is not modelled.
"""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.cluster.nodes.daemons import Eligibility
from kubeproof.named_tuples import NamedTuple

FAILED, SUCCEEDED, ALIVE = "Failed", "Succeeded", "alive"


class DaemonPod(NamedTuple):
    """A pod of a DaemonSet that is on a node or made for it."""

    name: object  # what the caller calls it
    is_new: bool  # of the template that the DaemonSet asks for
    is_ready: bool = False
    is_available: bool = False  # ready for minReadySeconds
    is_ending: bool = False
    phase: str = ALIVE
    rank: tuple[int, ...] = ()  # of several the lowest stays: those with a node first, then the oldest


class NodeWork(NamedTuple):
    """What is to do on one node."""

    creates: bool = False
    deletes: tuple[object, ...] = ()  # names of pods


def filter_counted(pods: Sequence[DaemonPod]) -> tuple[DaemonPod, ...]:
    """The pods that the controller looks at: finished ones with a deletionTimestamp are as good as gone."""
    return tuple(pod for pod in pods if pod.phase == ALIVE or not pod.is_ending)


def node_work(where: Eligibility, pods: Sequence[DaemonPod], *, surges: bool) -> NodeWork:
    """What one node lacks or has too much of, updates aside.

    A terminating pod holds its successor up unless the DaemonSet surges.
    """
    known = filter_counted(pods)
    if where.should_run and not known:
        return NodeWork(creates=True)
    if not where.may_continue:
        return NodeWork(deletes=tuple(pod.name for pod in known if not pod.is_ending))
    staying = [pod for pod in known if not pod.is_ending]
    finished = tuple(pod.name for pod in staying if pod.phase != ALIVE)
    alive = sorted((pod for pod in staying if pod.phase == ALIVE), key=lambda pod: pod.rank)
    if not surges:
        return NodeWork(deletes=(*finished, *(pod.name for pod in alive[1:])))
    if not alive:
        return NodeWork(creates=where.should_run, deletes=finished)
    return NodeWork(deletes=(*finished, *_find_superseded(alive)))


def _find_superseded(alive: Sequence[DaemonPod]) -> list[object]:
    """Of pods on one node of a surging DaemonSet those that have to go: at most one old and one new stay.

    The old one stays while it is ready and the new one is not available.
    """
    new = [pod for pod in alive if pod.is_new]
    old = [pod for pod in alive if not pod.is_new]
    gone = [pod.name for pod in (*new[1:], *old[1:])]
    if new and old and (not old[0].is_ready or new[0].is_available):
        gone.append(old[0].name)
    return gone
