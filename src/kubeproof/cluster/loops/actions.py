"""What loops and events may do: one declaration per action, with what it changes, its tags and its words.

What becomes of cells stands in `kubeproof.model.mechanics`, and of a cluster by name in
`kubeproof.model.by_name.actions`. An action is recorded by a `Verb`, with the sentences of traces.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from enum import StrEnum
from typing import get_args

from kubeproof.cluster.loops.footprint import NOTHING, Clocks, Writes
from kubeproof.cluster.loops.meanings import (
    CREATED,
    ENDS,
    MEANINGS,
    MOVES_PODS,
    REMOVED,
    UNTAGGED,
    About,
    Recorded,
    means,
    tag,
    tag_losers,
    writes_if,
)
from kubeproof.cluster.loops.node_verbs import NodeVerb
from kubeproof.cluster.loops.tags import Tag
from kubeproof.cluster.state import ACTIVE, ANY_LIFE, NEVER, Phase
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import complete

# -- actions on workloads ---------------------------------------------------------------------------


@means(Writes.SIZES, Tag.REPLICAS, "sets replicas")
class SetDesired(NamedTuple):
    """Writes spec.replicas of the Deployment or bare ReplicaSet."""

    workload: int
    replicas: int


@means(Writes.REPLICA_SETS, Tag.REPLICAS, "scales ReplicaSets")
class SetReplicas(NamedTuple):
    """Writes spec.replicas of a Deployment's ReplicaSet, creating it if need be, and its annotations."""

    workload: int
    replicas: int
    noted: int = NEVER
    max_noted: int = NEVER


@means(Writes.TEMPLATES, UNTAGGED, "changes pod templates")
class SetTemplate(NamedTuple):
    """Gives a Deployment the pod template of one of its revisions."""

    workload: int
    template: int


@means(NOTHING, UNTAGGED, "completes updates")
class SetCurrent(NamedTuple):
    """A StatefulSet's update to a revision is complete: status.currentRevision."""

    workload: int
    revision: int


@means(NOTHING, UNTAGGED, "sets conditions")
class SetCondition(NamedTuple):
    """Writes the condition of a Job: see `kubeproof.controllers.workloads.job_sync`."""

    workload: int
    condition: int


@means(Writes.OBJECTS, UNTAGGED, "creates objects")
class CreateObject(NamedTuple):
    """The workload object itself appears."""

    workload: int


@means(Writes.REMOVALS, Tag.REPLICAS, "deletes objects")
class DeleteObject(NamedTuple):
    """The workload object disappears, and with it its ReplicaSet's claim to pods."""

    workload: int


@means(NOTHING, UNTAGGED, "notes failed pods")
class NoteFailed(NamedTuple):
    """Pods of the workload failed; their objects stay."""

    workload: int
    pods: int


@means(NOTHING, UNTAGGED, "notes completed pods")
class NoteCompleted(NamedTuple):
    """Pods of a Job that it has counted had succeeded; their objects stay as long as the Job's."""

    workload: int
    pods: int


@means(Writes.PODS, Tag.PODS, "creates pods")
class CreatePods(NamedTuple):
    """New pods without a node."""

    workload: int
    pods: int


@means(Writes.DELETIONS, Tag.PODS, "deletes pods without a node")
class DeleteUnbound(NamedTuple):
    """Pods without a node vanish at once."""

    workload: int
    pods: int


@means(NOTHING, UNTAGGED, "")
class Remember(NamedTuple):
    """A controller or event writes its own memory."""

    memory: int
    value: tuple[int, ...]


# -- actions on one node; `NodeRef` says which ------------------------------------------------------


ANY = "any"  # a view that every node answers to


class NodeRef(NamedTuple):
    """Any node of a place that looks like `view` to the controller who says so."""

    place: int
    view: Hashable


@means(Writes.BINDINGS, Tag.PLACEMENT | Tag.BIND, "binds pods")
class Bind(NamedTuple):
    """One unbound pod of the workload goes to the node."""

    node: NodeRef
    workload: int
    was_nominated: bool = False  # to this node, so that its nomination ends


@means(
    Writes.DELETIONS,
    lambda one: tag_losers(one.losses, Tag.BY_PREEMPTION),
    "preempts pods",
    losers=lambda one: (loss[0] for loss in one.losses),
    picks=lambda one: (EvictedPods(workload, ACTIVE, NEVER, count) for workload, count in one.losses),
)
class Preempt(NamedTuple):
    """Pods of lower priority get a deletionTimestamp, and the node is nominated for a pod of the workload."""

    node: NodeRef
    workload: int  # of the pod that gets room
    losses: tuple[tuple[int, int], ...]  # (workload, pods)
    was_nominated: bool = False  # to this node already


@means(Writes.BINDINGS, UNTAGGED, "gives up nominations")
class Unnominate(NamedTuple):
    """One pod of the workload is no longer nominated to the node."""

    node: NodeRef
    workload: int


@means(Writes.PODS, Tag.PODS | Tag.PLACEMENT, "creates pods on their nodes")
class Arrive(NamedTuple):
    """New pods that name their node in the template appear there, past the scheduler."""

    node: NodeRef
    workload: int
    pods: int


@means(
    Writes.DELETIONS,
    lambda one: tag(one.workload, MOVES_PODS | (Tag.EVICT | Tag.BY_DRAIN if one.is_eviction else Tag(0))),
    "deletes pods",
    picks=lambda one: _pick_losses(one),
)
class Delete(NamedTuple):
    """Pods get a deletionTimestamp: for each loss, so many of the workload's pods in one of the phases."""

    node: NodeRef
    workload: int
    losses: tuple[tuple[tuple[int, ...], int], ...]  # (phases, count)
    is_eviction: bool = False  # not by the workload's own controller


@means(
    lambda one: writes_if(Writes.PODS, one.creates is not None) | writes_if(Writes.DELETIONS, one.drops or one.losses),
    Tag.PODS | Tag.PLACEMENT,
    "creates and deletes pods of nodes",
    losers=lambda one: (loss[0] for loss in (*one.drops, *one.losses)),
    picks=lambda one: (),  # those of its losses are not told apart by whoever asks
)
class KeepNode(NamedTuple):
    """An owner's work on one node: a new pod that may only run there, and pods of any revision that have to go."""

    node: NodeRef
    workload: int  # the DaemonSet or StatefulSet
    creates: int | None = None  # of which revision one new pod comes; None: of none
    drops: tuple[tuple[int, int], ...] = ()  # (revision, pods) without a node that vanish
    losses: tuple[tuple[int, int, int], ...] = ()  # (revision, phase, pods) that get a deletionTimestamp


@means(
    lambda one: writes_if(Writes.DELETIONS, one.losses),
    lambda one: tag(one.workload, MOVES_PODS) if one.losses else 0,
    "counts pods that ended",
    clocks=Clocks.OTHER,
    picks=lambda one: _pick_losses(one),
)
class TendJob(NamedTuple):
    """A Job's work on one node: its finished pods there are counted, and some that run get a deletionTimestamp."""

    node: NodeRef
    workload: int
    losses: tuple[tuple[tuple[int, ...], int], ...] = ()  # (phases, count)
    succeeded: int = 0  # of the finished pods


@means(Writes.BINDINGS, Tag.PLACEMENT | Tag.BIND, "binds pods")
class BindPinned(NamedTuple):
    """One pod that may only run on this node, and has none yet, goes there."""

    node: NodeRef
    workload: int
    was_nominated: bool = False


@means(
    Writes.CRASHES,
    UNTAGGED,
    "crashes containers",
    clocks=Clocks.BACK_OFF,
    picks=lambda one: (EvictedPods(one.workload, (int(Phase.READY),), NEVER, 1),),
)
class Crash(NamedTuple):
    """A container of one of the workload's running pods exits; the kubelet restarts it after its back-off."""

    node: NodeRef
    workload: int


class EvictedPods(NamedTuple):
    """Pods of one workload that the one who evicts cannot tell apart."""

    workload: int
    phases: tuple[int, ...]
    restarts: int
    pods: int
    life: tuple[int, int] = ANY_LIFE  # span of seconds since they got their node: see life_span


@means(
    Writes.DELETIONS,
    lambda one: tag_losers(one.losses, one.by),
    "evicts pods",
    losers=lambda one: (loss.workload for loss in one.losses),
    picks=lambda one: one.losses,
)
class EvictPods(NamedTuple):
    """Pods of any workloads get a deletionTimestamp by other hands than their controllers'."""

    node: NodeRef
    losses: tuple[EvictedPods, ...]
    by: int = Tag.BY_DESCHEDULER


@means(Writes.ROUTES, UNTAGGED, "takes pods out of traffic", clocks=Clocks.OTHER)
class Unroute(NamedTuple):
    """Proxies stop to send traffic to the workload's terminating pods with this much time left to learn it."""

    node: NodeRef
    workload: int
    route_s: int


@means(Writes.DELETIONS, Tag.PODS | Tag.PLACEMENT | Tag.EVICT | Tag.BY_TAINT, "evicts pods", clocks=Clocks.TAINTS)
class EvictDue(NamedTuple):
    """All pods of the workload whose taint eviction is due get a deletionTimestamp."""

    node: NodeRef
    workload: int


@means(
    Writes.PHASES,
    lambda one: tag(one.workload, MOVES_PODS | Tag.REJECT) if one.rejected else 0,
    "moves pods on",
    clocks=Clocks.PHASES,
)
class Advance(NamedTuple):
    """The kubelet moves pods of one kind on: started, ready, gone. `rejected` of them fail admission."""

    node: NodeRef
    workload: int
    phase: int
    least_s: int
    most_s: int
    rejected: int = 0
    pods: int | None = None  # so many of them, any; None: all


@means(lambda one: one.verb.meaning.writes, lambda one: one.verb.meaning.tag, "changes nodes")
class NodeChange(NamedTuple):
    """A change of the node itself."""

    node: NodeRef
    verb: NodeVerb
    mark: int = 0  # that is left on the node: a bit of `NodeCell.marks`


@means(NOTHING, UNTAGGED, "")
class Tick(NamedTuple):
    """Time passes for the whole cluster."""

    seconds: int


Writing = SetDesired | SetReplicas | SetTemplate | SetCurrent | SetCondition  # of a spec or a status
WorkloadAction = Writing | DeleteObject | NoteFailed | NoteCompleted | CreateObject | CreatePods | DeleteUnbound
NodeAction = (
    Bind
    | BindPinned
    | KeepNode
    | TendJob
    | Preempt
    | Unnominate
    | Arrive
    | Crash
    | Delete
    | EvictPods
    | EvictDue
    | Unroute
    | Advance
    | NodeChange
)
Action = WorkloadAction | NodeAction | Remember | Tick


def _pick_losses(one: Delete | TendJob) -> Iterable[EvictedPods]:
    return (EvictedPods(one.workload, phases, NEVER, count) for phases, count in one.losses)


complete(get_args(Action), MEANINGS)


# -- how traces record them -------------------------------------------------------------------------


class Verb(StrEnum):
    """The first word of a recorded action, which saved results keep; what happens to a node itself is a `NodeVerb`."""

    recorded: Recorded

    def __new__(cls, word: str, recorded: Recorded | None = None) -> Verb:
        """The verb; it is found again by its word alone."""
        assert recorded is not None, word
        verb = str.__new__(cls, word)
        verb._value_ = word
        verb.recorded = recorded
        return verb

    SET_DESIRED = (
        "set-desired",
        Recorded(
            "sets spec.replicas of {0} to {1}",
            About.WORKLOAD,
            (("{0}", "spec.replicas", "{1}"),),
            "{0} gets {1} replicas",
        ),
    )
    SET_REPLICAS = "set-replicas", Recorded("", About.WORKLOAD, (("ReplicaSet of {0}", "spec.replicas", "{1}"),))
    SET_TEMPLATE = (
        "set-template",
        Recorded(
            "gives {0} the pod template of revision {1:revision}",
            About.WORKLOAD,
            (("{0}", "spec.template", "revision {1:revision}"),),
            "{0} gets revision {1:revision}",
        ),
    )
    SET_CURRENT = (
        "set-current",
        Recorded(
            "has updated {0} to revision {1:revision}",
            About.WORKLOAD,
            (("{0}", "status.currentRevision", "revision {1:revision}"),),
        ),
    )
    SET_CONDITION = "set-condition", Recorded("", About.WORKLOAD, None)
    CREATE_OBJECT = "create-object", Recorded("creates {0}", About.WORKLOAD, (("{0}", *CREATED),), "{0} is created")
    DELETE_OBJECT = (
        "delete-object",
        Recorded("deletes {0}", About.WORKLOAD, (("{0}", "", "deleted"),), "{0} is deleted"),
    )
    CREATE = "create", Recorded("creates {1}", About.WORKLOAD, ((1, *CREATED),))
    ARRIVE = (
        "arrive",
        Recorded(
            "creates {2} directly on {1} (spec.nodeName)", About.WORKLOAD, ((2, *CREATED), (2, "spec.nodeName", "{1}"))
        ),
    )
    KEEP = "keep", Recorded("", changes=((1, *CREATED), (1, "spec.affinity", "node {0}"), (2, *ENDS)))
    DELETE = "delete", Recorded("deletes {0}", About.POD, ((0, *ENDS),))
    TEND = "tend", Recorded("", changes=((2, *ENDS),))
    EVICT = (
        "evict",
        Recorded(
            "evicts {1} from {0} (NoExecute taint not tolerated any longer)",
            changes=((1, *ENDS),),
            tells="evicts {1} from {0}",
        ),
    )
    EVICT_PODS = "evict-pods", Recorded("evicts {1} from {0}", changes=((1, *ENDS),), tells="evicts {1} from {0}")
    BIND = "bind", Recorded("", About.POD, ((0, "spec.nodeName", "{1}"),))
    PREEMPT = "preempt", Recorded("", changes=None, tells="makes room on {0} for {2}: {1}")
    UNNOMINATE = (
        "unnominate",
        Recorded(
            "gives up {0} for a pod of {1}, which was nominated to it",
            changes=(("a pod of {1}", "status.nominatedNodeName", "''"),),
        ),
    )
    CRASH = (
        "crash",
        Recorded(
            "a container of pod {1} on {0} exits",
            changes=((1, "Ready", "False"), (1, "restartCount", "+1")),
            tells="{1} on {0} crashes",
        ),
    )
    UNROUTE = "unroute", Recorded("are told: no more traffic to {1} on {0}", changes=((1, "traffic", "none"),))
    START = "start", Recorded("", changes=((1, "status.phase", "Running"), (2, "status.phase", "Failed")))
    READY = "ready", Recorded("", changes=((1, "Ready", "True"), (2, "status.phase", "Failed")))
    COMPLETE = "complete", Recorded("", changes=((1, "status.phase", "Succeeded"), (2, "status.phase", "Failed")))
    FINISH = "finish", Recorded("", changes=((1, "", REMOVED), (2, "status.phase", "Failed")))
    TICK = "tick", Recorded("{0} s pass", About.NOTHING)
    REST = "rest", Recorded("nothing is due any more; time passes", About.NOTHING)
    REMEMBER = "remember", Recorded("", About.NOTHING, None)  # nobody is told of it
