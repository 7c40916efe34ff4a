"""The door for a user's own controller: a plain class with a name and a pure `act`.

    class Saver:
        name = "saver"
        labels = ("pool",)                       # node labels it wants to see; default none

        def act(self, cluster):
            web = cluster.workload("Deployment/shop/web")
            if web.pending:
                yield scale(web.ref, web.desired - 1)

`act` yields decisions: an action, or a tuple of actions done together. Several decisions mean that any of them may
be taken. A decision that would change nothing is ignored, so a controller may always say what it wants. It must be a
pure function of the cluster it is shown: no clock, no randomness, no memory (`--check-controllers` tests that).
Nodes come in groups of equals; a `NodeView` stands for `size` nodes and an action on it hits any one of them.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Sequence
from typing import Protocol, cast

from kubeproof.cluster.loops.actions import Action, Delete, NodeChange, NodeRef, SetDesired
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Reads, Seen, Stage, View
from kubeproof.cluster.loops.node_verbs import CORDON, UNCORDON
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.state import ACTIVE, Health, NodeCell, Phase, WorkloadCell
from kubeproof.errors import KubeproofError, UsageError
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass


class PodCounts(NamedTuple):
    """Pods of one workload, on one node or in all."""

    ready: int = 0
    starting: int = 0  # bound, not ready (yet or any longer)
    terminating: int = 0


class WorkloadView(NamedTuple):
    """A workload as a user's controller sees it."""

    ref: str  # "Deployment/shop/web"
    exists: bool
    desired: int  # spec.replicas
    pending: int  # pods without a node
    pods: PodCounts  # pods with one

    @property
    def ready(self) -> int:
        return self.pods.ready


class NodeView(NamedTuple):
    """`size` nodes that look alike."""

    labels: tuple[tuple[str, str], ...]  # those the controller declared
    is_ready: bool  # as the API tells
    is_cordoned: bool
    pods: tuple[tuple[str, PodCounts], ...]  # by workload
    size: int
    place: int = -1  # opaque
    view: View = None  # opaque

    def pods_of(self, ref: str) -> PodCounts:
        """The pods of a workload on each of these nodes."""
        return dict(self.pods).get(ref, PodCounts())


class ClusterView(NamedTuple):
    """Everything a user's controller is shown."""

    workloads: tuple[WorkloadView, ...]
    nodes: tuple[NodeView, ...]

    def workload(self, ref: str) -> WorkloadView:
        """The workload with this reference."""
        for workload in self.workloads:
            if workload.ref == ref:
                return workload
        raise UsageError(f"a controller asks for {ref}, which is not in the input", "Correct its reference")


class Scale(NamedTuple):
    """Sets spec.replicas."""

    ref: str
    replicas: int


class Evict(NamedTuple):
    """Deletes pods of a workload from one of the nodes; ready ones if there are any."""

    node: NodeView
    ref: str
    pods: int = 1


class SetCordon(NamedTuple):
    """Cordons or uncordons one of the nodes."""

    node: NodeView
    on: bool


OwnAction = Scale | Evict | SetCordon


def scale(ref: str, replicas: int) -> Scale:
    """The action that sets spec.replicas of a workload."""
    return Scale(ref, replicas)


def evict(node: NodeView, ref: str, pods: int = 1) -> Evict:
    """The action that deletes pods of a workload from one such node."""
    return Evict(node, ref, pods)


def cordon(node: NodeView) -> SetCordon:
    """The action that cordons one such node."""
    return SetCordon(node, True)


def uncordon(node: NodeView) -> SetCordon:
    """The action that uncordons one such node."""
    return SetCordon(node, False)


class OwnController(Protocol):
    """What a user writes."""

    @property
    def name(self) -> str: ...

    def act(self, cluster: ClusterView) -> Iterable[OwnAction | tuple[OwnAction, ...]]: ...


class WorkloadFacts(NamedTuple):
    """What of a workload a user's controller is told."""

    exists: int
    desired: int
    pending: int  # pods without a node


class NodeFacts(NamedTuple):
    """What of a node a user's controller is told."""

    is_ready: int
    is_cordoned: int
    pods: tuple[tuple[int, PodCounts], ...]  # by workload


Sight = Seen[WorkloadFacts, Groups[NodeFacts]]


@dataclass(frozen=True, slots=True)
class Adapted:
    """A user's controller as a control loop of the model."""

    layout: Layout
    own: OwnController
    labels: tuple[str, ...] = ()
    stage: int = Stage.ALWAYS

    @property
    def name(self) -> Actor:
        return Actor(ActorKind.OTHER, str(self.own.name))

    @property
    def reads(self) -> Reads:
        return Reads(tuple(range(len(self.layout.setup.workloads))), self.layout.every_place)

    def show_workload(self, workload: int, cell: WorkloadCell) -> WorkloadFacts:
        """Existence, spec.replicas, pods without a node."""
        return WorkloadFacts(cell.exists, cell.desired, cell.unbound)

    def show_node(self, place: int, cell: NodeCell) -> NodeFacts:
        """Condition and pods by workload; no clocks."""
        amounts: dict[int, list[int]] = {}
        for kind, count in cell.pods:
            counts = amounts.setdefault(kind.workload, [0, 0, 0])
            slot = 0 if kind.phase == Phase.READY else 1 if kind.phase in ACTIVE else 2
            counts[slot] += count
        pods = tuple((workload, PodCounts(*counts)) for workload, counts in sorted(amounts.items()))
        return NodeFacts(int(cell.health in (Health.UP, Health.LOST)), cell.cordoned, pods)

    def act(self, seen: Sight) -> tuple[Decision, ...]:
        """What the user's code decides, translated."""
        decisions = []
        for wanted in self._ask(self.cluster(seen)):
            decisions.append(Decision(tuple(self._translate(action) for action in _joint(wanted))))
        return tuple(dict.fromkeys(decisions))

    def _ask(self, cluster: ClusterView) -> list[OwnAction | tuple[OwnAction, ...]]:
        """The user's answer; whatever goes wrong in the user's code is the user's to mend."""
        try:
            return list(self.own.act(cluster) or ())
        except KubeproofError:
            raise
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            said = f"{type(error).__name__}: {error}"
            raise UsageError(
                f"controller {self.name} failed at {place.filename}:{place.lineno}: {said}", "Correct its act(cluster)"
            ) from error

    def cluster(self, seen: Sight) -> ClusterView:
        """The views put together for the user's eyes."""
        refs = [workload.ref for workload in self.layout.setup.workloads]
        nodes = [
            self._node(place, facts, count, refs)
            for place, groups in zip(self.reads.places, seen.places, strict=True)
            for facts, count in groups
        ]
        workloads = tuple(
            WorkloadView(ref, bool(exists), desired, pending, _total(nodes, ref))
            for ref, (exists, desired, pending) in zip(refs, seen.workloads, strict=True)
        )
        return ClusterView(workloads, tuple(nodes))

    def _node(self, place: int, facts: NodeFacts, count: int, refs: Sequence[str]) -> NodeView:
        labels = self.layout.places[place].sample.label_map
        shown = tuple((key, labels[key]) for key in self.labels if key in labels)
        is_ready, is_cordoned, pods = facts
        by_ref = tuple((refs[workload], counts) for workload, counts in pods)
        return NodeView(shown, bool(is_ready), bool(is_cordoned), by_ref, count, place, facts)

    def _translate(self, action: OwnAction) -> Action:
        if isinstance(action, Scale):
            return SetDesired(self._number(action.ref), max(0, action.replicas))
        if isinstance(action, SetCordon):
            node = NodeRef(action.node.place, action.node.view)
            return NodeChange(node, CORDON if action.on else UNCORDON)
        if isinstance(action, Evict):
            ready = action.node.pods_of(action.ref).ready
            phases = (Phase.READY,) if ready >= action.pods else ACTIVE
            losses = ((tuple(int(phase) for phase in phases), action.pods),)
            return Delete(NodeRef(action.node.place, action.node.view), self._number(action.ref), losses)
        raise UsageError(
            f"controller {self.name} returned {type(action).__name__}, which is no action",
            "Return scale(...), evict(...), cordon(...) or uncordon(...)",
        )

    def _number(self, ref: str) -> int:
        for index, workload in enumerate(self.layout.setup.workloads):
            if workload.ref == ref:
                return index
        raise UsageError(f"controller {self.name} acts on {ref}, which is not in the input", "Correct its reference")


def _joint(wanted: OwnAction | tuple[OwnAction, ...]) -> tuple[OwnAction, ...]:
    """The actions to do together; a single action is a named tuple and so a tuple, too."""
    return cast("tuple[OwnAction, ...]", wanted if type(wanted) is tuple else (wanted,))


def _total(nodes: Iterable[NodeView], ref: str) -> PodCounts:
    ready = starting = terminating = 0
    for node in nodes:
        counts = node.pods_of(ref)
        ready += counts.ready * node.size
        starting += counts.starting * node.size
        terminating += counts.terminating * node.size
    return PodCounts(ready, starting, terminating)
