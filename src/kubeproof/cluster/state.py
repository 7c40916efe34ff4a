"""The parts of a cluster state that change, as small sortable values.

All fields are integers, so that values sort, hash and compare the same in every process. They are named
tuples rather than dataclasses because the search hashes and compares millions of them.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Protocol

from kubeproof.named_tuples import NamedTuple

NEVER = -1  # a clock that does not run
PUBLISHED = -2  # instead of `route_s`: it gets traffic as long as it exists
SERVING = -3  # instead of `route_s`: it was ready, and gets traffic only where no ready pod is left


class Phase(IntEnum):
    """Where a bound pod stands."""

    STARTING = 0  # bound, containers being created (API phase Pending)
    RUNNING = 1  # running, not ready yet
    READY = 2
    UNREADY = 3  # was running; the node controller marked it not ready
    TERMINATING = 4  # deletionTimestamp set, still holds resources


class Health(IntEnum):
    """What is true of a node's kubelet, and what the node controller knows of it."""

    UP = 0
    LOST = 1  # kubelet silent, not noticed yet
    UNKNOWN = 2  # noticed: Ready is Unknown, NoSchedule taint set
    BACK = 3  # kubelet reports again; the node controller has not cleared its marks yet
    ABSENT = 4  # there is no such node: nobody is shown it but who brings it; with clocks it is on its way


class Cause(IntEnum):
    """Why a node is down: each kind of failure ends in its own way."""

    NONE = 0
    FAILURE = 1  # may come back
    PANIC = 2  # comes back when its pods are gone
    FOR_GOOD = 3
    ZONE = 4  # comes back with its zone


class Work(IntEnum):
    """What an operator is doing with a node."""

    NONE = 0
    DRAIN = 1  # being drained, left cordoned
    DRAIN_UNCORDON = 2  # being drained, uncordoned afterwards
    MAINTAIN = 3  # being drained for maintenance
    DOWN = 4  # empty and down for maintenance; comes back and is uncordoned
    LEAVE = 5  # being drained by the cluster autoscaler, which deletes it when it is empty
    RETIRE = 6  # being drained by an operator who deletes it when it is empty


class JobPodEnd(IntEnum):
    """How a pod of a Job ended."""

    SUCCEEDED = 0
    FAILED = 1


ANY_LIFE = (NEVER, NEVER)
ACTIVE = (Phase.STARTING, Phase.RUNNING, Phase.READY, Phase.UNREADY)  # pods that count as replicas: not terminating
KUBELET_LIVES = (Health.UP, Health.BACK)
DRAINING = (Work.DRAIN, Work.DRAIN_UNCORDON, Work.MAINTAIN, Work.RETIRE)  # by an operator
EVICTING = (*DRAINING, Work.LEAVE)


class PodKind(NamedTuple):
    """Pods of one node that no controller can tell apart."""

    workload: int  # index into Setup.workloads
    phase: int
    least_s: int = NEVER  # seconds until the next phase may begin
    most_s: int = NEVER  # seconds until it must
    evict_s: int = NEVER  # seconds until taint eviction deletes it
    age_s: int = NEVER  # seconds since it started, up to the last age that matters; NEVER where none does
    restarts: int = 0  # containers restarted after crashes, up to where back-off stops growing
    preempted: int = 0  # 1 if it terminates to make room for a pod of higher priority
    route_s: int = NEVER  # of a terminating pod that still gets traffic: seconds until proxies have learnt it
    life_s: int = NEVER  # seconds since it got its node, up to the last that a loop asks for; NEVER where none does


class Moving(Protocol):
    """What pods are about to do: those that agree in it move on together."""

    @property
    def workload(self) -> int: ...

    @property
    def phase(self) -> int: ...

    @property
    def least_s(self) -> int: ...

    @property
    def most_s(self) -> int: ...


def moves_alike(one: Moving, other: Moving) -> bool:
    """True if pods, a step of theirs, or a step of all of them at once is about the same."""
    return (
        one.workload == other.workload
        and one.phase == other.phase
        and one.least_s == other.least_s
        and one.most_s == other.most_s
    )


class NodeCell(NamedTuple):
    """The content and condition of one node."""

    health: int = Health.UP
    least_s: int = NEVER  # seconds until the node controller may notice the silence
    most_s: int = NEVER  # seconds until it must
    cordoned: int = 0
    no_execute: int = 0  # 1 when the node controller's NoExecute taint is set
    work: int = 0  # what an operator does with it: see Work
    cause: int = 0  # why it is down: see Cause
    pods: tuple[tuple[PodKind, int], ...] = ()  # sorted, counts positive
    images: int = 0  # that started pods have brought, as bits: see kubeproof.cluster.nodes.images
    pinned: tuple[tuple[int, int], ...] = ()  # pods without a node that may only run here: (workload, count), sorted
    nominated: tuple[tuple[int, int], ...] = ()  # (workload, pods without a node that wait for this one), sorted
    spare_s: int = NEVER  # for how long the cluster autoscaler has found it unneeded, up to the last time that matters
    finished: tuple[tuple[tuple[int, int], int], ...] = ()  # ((Job, outcome), pods) that it has not counted yet, sorted
    marks: int = 0  # of the events that work on each node once and have had this one, as bits


class WorkloadCell(NamedTuple):
    """A workload's specs and its pods that have no node."""

    exists: int = 1
    desired: int = 0  # spec.replicas of the Deployment (or of a bare ReplicaSet); nodes that a DaemonSet wants
    replicas: int = NEVER  # spec.replicas of its ReplicaSet; NEVER before it is created
    unbound: int = 0  # pods without a node
    template: int = 0  # of a Deployment: which of its revisions it asks for, 0 the first
    noted: int = (
        NEVER  # annotation desired-replicas of its ReplicaSet, where rollouts can happen; of a Job its condition
    )
    max_noted: int = NEVER  # annotation max-replicas
    failed: int = 0  # failed pods whose objects are left, up to the number that somebody asks for
    completed: int = 0  # of a Job: succeeded pods whose objects are left, where an autoscaler counts them


def holds_up_zone(cell: NodeCell) -> bool:
    """True for a node that was tainted NoExecute so shortly before that the next one of its zone has to wait."""
    return bool(cell.health == Health.UNKNOWN and cell.no_execute and cell.work != Work.LEAVE and cell.least_s > 0)


def is_of_life(life_s: int, span: tuple[int, int]) -> bool:
    """True for a pod whose life is within a span of seconds, its end left out; NEVER leaves a side open."""
    least_s, below_s = span
    return life_s >= least_s and (below_s == NEVER or life_s < below_s)


def life_span(life_s: int, thresholds: tuple[int, ...]) -> tuple[int, int]:
    """The span between two thresholds (ascending) that a life is in: within it nobody can tell two pods apart."""
    if life_s == NEVER or not thresholds:
        return ANY_LIFE
    passed = [each for each in thresholds if each <= life_s]
    ahead = [each for each in thresholds if each > life_s]
    return passed[-1] if passed else 0, ahead[0] if ahead else NEVER


Nodes = tuple[tuple[NodeCell, int], ...]  # equal nodes as (content, count), sorted, counts positive


def add_pods(pods: tuple[tuple[PodKind, int], ...], kind: PodKind, count: int) -> tuple[tuple[PodKind, int], ...]:
    """The multiset with `count` more (or fewer) pods of a kind."""
    amounts = dict(pods)
    amounts[kind] = amounts.get(kind, 0) + count
    if amounts[kind] < 0:
        raise ValueError(f"no {-count} pods of {kind} to remove")
    return tuple(sorted((k, n) for k, n in amounts.items() if n))


def add_nominated(cell: NodeCell, workload: int, count: int) -> NodeCell:
    """The node with so many more (or fewer) pods of the workload nominated to it."""
    amounts = dict(cell.nominated)
    amounts[workload] = amounts.get(workload, 0) + count
    return cell._replace(nominated=tuple(sorted((w, n) for w, n in amounts.items() if n > 0)))


def present(nodes: Nodes) -> Nodes:
    """The nodes that are there."""
    return tuple((cell, count) for cell, count in nodes if cell.health != Health.ABSENT)


def add_pinned(pinned: tuple[tuple[int, int], ...], workload: int, count: int) -> tuple[tuple[int, int], ...]:
    """The pinned pods with `count` more (or fewer) of a workload."""
    amounts = dict(pinned)
    amounts[workload] = amounts.get(workload, 0) + count
    if amounts[workload] < 0:
        raise ValueError(f"no {-count} pinned pods of workload {workload} to remove")
    return tuple(sorted((w, n) for w, n in amounts.items() if n))


def add_finished(cell: NodeCell, workload: int, outcome: int, count: int) -> NodeCell:
    """The node with so many more pods of a Job that have ended, and that the Job has not counted yet."""
    amounts = dict(cell.finished)
    amounts[workload, outcome] = amounts.get((workload, outcome), 0) + count
    return cell._replace(finished=tuple(sorted((one, n) for one, n in amounts.items() if n)))


def without_finished(cell: NodeCell, workload: int) -> NodeCell:
    """The node with the finished pods of a Job forgotten."""
    return cell._replace(finished=tuple(one for one in cell.finished if one[0][0] != workload))


def replace_node(nodes: Nodes, old: NodeCell, new: NodeCell) -> Nodes:
    """The multiset of nodes with one `old` turned into `new`."""
    amounts = dict(nodes)
    amounts[old] -= 1
    amounts[new] = amounts.get(new, 0) + 1
    return tuple(sorted((cell, n) for cell, n in amounts.items() if n))
