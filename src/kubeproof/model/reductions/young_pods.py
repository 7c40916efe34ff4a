"""Pods of an autoscaler's target while they are young, counted for the whole cluster instead of node by node.

An autoscaler asks how many pods have started and how old they are, never where they are. So nodes hold such pods as if
they had been ready for long, and one more cell, the *nursery*, holds phases, clocks and ages of the young ones. Pods of
the nursery move on one by one, whatever node they are on. That allows every run of the full model and some more (really
all pods of a kind on one node start together), so what holds here holds there; what does not is searched again
in full. If pods are about to be deleted while some are young, `StartMatters` ends the search: which of them are
young would matter then. `docs/explanation/reductions.md` has the argument.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Protocol

from kubeproof.cluster.loops.actions import Delete
from kubeproof.cluster.loops.actors import KUBELET, Actor
from kubeproof.cluster.loops.control import AnySeen, Decision, Groups, Role
from kubeproof.cluster.loops.footprint import NOBODY
from kubeproof.cluster.loops.tags import Tag
from kubeproof.cluster.objects import family
from kubeproof.cluster.state import NodeCell, Nodes, Phase, PodKind, add_pods
from kubeproof.controllers.kubelet import MOVING
from kubeproof.engine.system import Effect, Turn
from kubeproof.model.by_name.ticks import all_ticked
from kubeproof.model.mechanics import Mechanics
from kubeproof.model.plan import Plan
from kubeproof.model.reductions.ends_in_unison import find_watched_ends
from kubeproof.model.reductions.starts_in_unison import (
    StartMatters,
    actions_of,
    is_evicted_by_taints,
    only_replicasets_delete,
)
from kubeproof.named_tuples import NamedTuple

if TYPE_CHECKING:
    from kubeproof.controllers.hpa.pods import PodGroups

YOUNG = "young"  # who makes views of nurseries
EMPTY: Nodes = ((NodeCell(), 1),)


class Bear(NamedTuple):
    """One more pod has just been bound."""

    workload: int


class Grow(NamedTuple):
    """One young pod moves on to its next phase."""

    kind: PodKind


def countable(plan: Plan) -> frozenset[int]:
    """The workloads whose young pods may be counted for the whole cluster: an autoscaler alone looks at their start.

    None where it counts pods of others, or others count its own: the nursery is that of one workload's pods.
    """
    if not only_replicasets_delete(plan):
        return frozenset()
    scaled = reduce(or_, (one.tells_starts for one in plan.footprints if one.takes_young), NOBODY)
    told = reduce(or_, (one.tells_starts for one in plan.footprints if not one.takes_young), find_watched_ends(plan))
    everybody = range(len(plan.setup.workloads))
    return frozenset(w for w in everybody if w in scaled and w not in told and _is_countable(plan, w))


def _is_countable(plan: Plan, number: int) -> bool:
    return (
        len(family(plan.setup, number)) == 1
        and bool(plan.mechanics.ages[number])
        and not plan.mechanics.lives[number]
        and number not in plan.mechanics.never_ready
        and not any(monitor.tells_starts_of(number) for monitor in plan.monitors)
        and not is_evicted_by_taints(plan, number)
    )


class Nursery:
    """The cell of one workload's young pods, in the shape of a place with a single node."""

    def __init__(self, mechanics: Mechanics, workload: int) -> None:
        self._mechanics = mechanics
        self.workload = workload
        self._grown_s = mechanics.ages[workload][-1]

    def change(self, cell: Nodes, action: Bear | Grow) -> Nodes:
        """The nursery after one pod came or moved on."""
        (node, _), *_ = cell
        if isinstance(action, Bear):
            return _with(node, add_pods(node.pods, self._mechanics.newborn(action.workload), 1))
        after = self._mechanics.next_kind(action.kind)
        return self._prune(node._replace(pods=add_pods(add_pods(node.pods, action.kind, -1), after, 1)))

    def later(self, cell: Nodes, seconds: int) -> Nodes:
        """The nursery so many seconds later; who is grown up leaves it."""
        (node, _), *_ = all_ticked(cell, seconds, self._mechanics.ages, lives=self._mechanics.lives)
        return self._prune(node)

    def _prune(self, node: NodeCell) -> Nodes:
        is_young = [(k, n) for k, n in node.pods if not (k.phase == Phase.READY and k.age_s >= self._grown_s)]
        return _with(node, tuple(is_young))

    def see(self, cell: Nodes) -> Groups[PodGroups]:
        """The young pods as one more place for an autoscaler: they count as what they are, not as ready for long."""
        pods = cell[0][0].pods
        if not pods:
            return ()
        from kubeproof.controllers.hpa.pods import Key

        amounts = {Key(int(Phase.READY), self._grown_s): -sum(n for _, n in pods)}
        for kind, count in pods:
            key = Key(kind.phase, kind.age_s)
            amounts[key] = amounts.get(key, 0) + count
        return ((tuple(sorted(amounts.items())), 1),)


def _with(node: NodeCell, pods: tuple[tuple[PodKind, int], ...]) -> Nodes:
    return ((node._replace(pods=pods), 1),)


class NurseryKubelet:
    """All kubelets as one actor, for the pods of one nursery."""

    name = KUBELET
    stage = int(Turn.ALWAYS)

    def __init__(self, slot: int) -> None:
        self.reads = (slot,)

    def view(self, position: int, cell: Any) -> tuple[PodKind, ...]:
        """The kinds that may or must move on now."""
        return tuple(kind for kind, _ in cell[0][0].pods if kind.phase in MOVING and kind.least_s == 0)

    def act(self, views: tuple[Any, ...]) -> tuple[Effect, ...]:
        """One step per kind."""
        return tuple(self._effect(kind) for kind in views[0])

    def _effect(self, kind: PodKind) -> Effect:
        role = int(Role.URGENT if kind.most_s == 0 else Role.OPTIONAL)
        edit = (self.reads[0], ("Grow", -1, Grow(kind)))
        return Effect(role, int(Tag.STEP), (edit,), Decision((), role))


class GroupActor(Protocol):
    """What is asked of the actor inside: a controller that sees groups."""

    name: Actor
    stage: int
    reads: tuple[int, ...]

    def view(self, position: int, cell: Any) -> Any: ...

    def node_view(self, place: int, cell: NodeCell) -> Any: ...

    def see(self, views: tuple[Any, ...]) -> AnySeen: ...

    def acting(self, seen: AnySeen) -> tuple[Effect, ...]: ...

    def act(self, views: tuple[Any, ...]) -> tuple[Effect, ...]: ...


class Attentive(ABC):
    """An actor that is also shown the nursery; what it sees of the rest is the inner actor's."""

    def __init__(self, inner: GroupActor, nursery: Nursery, slot: int) -> None:
        self.inner, self.nursery = inner, nursery
        self.shown = len(inner.reads)
        self.name, self.stage = inner.name, inner.stage
        self.reads = (*inner.reads, slot)

    def node_view(self, place: int, cell: NodeCell) -> Any:
        """The controller's view of one node."""
        return self.inner.node_view(place, cell)

    def view(self, position: int, cell: Any) -> Any:
        """As without the nursery, then the young pods as one more place."""
        return self.inner.view(position, cell) if position < self.shown else (YOUNG, self.nursery.see(cell))

    @abstractmethod
    def act(self, views: tuple[Any, ...]) -> tuple[Effect, ...]:
        """The controller's decisions as effects."""


class AttentiveAutoscaler(Attentive):
    """An autoscaler that takes the young pods for what they are."""

    def act(self, views: tuple[Any, ...]) -> tuple[Effect, ...]:
        """The autoscaler's decisions as effects."""
        _, young = views[self.shown]
        return self.inner.acting(with_young(self.inner.see(views[: self.shown]), young))


class AttentiveReplicaSet(Attentive):
    """A ReplicaSet that must not delete pods while some are young."""

    def act(self, views: tuple[Any, ...]) -> tuple[Effect, ...]:
        """The ReplicaSet's decisions as effects."""
        effects = self.inner.act(views[: self.shown])
        deletes = any(isinstance(action, Delete) for effect in effects for action in actions_of(effect))
        _, young = views[self.shown]
        if deletes and young:
            raise StartMatters(self.nursery.workload)
        return effects


def with_young(seen: AnySeen, young: Groups[PodGroups]) -> AnySeen:
    """What an autoscaler sees, with the young pods taken for what they are."""
    return seen._replace(places=(*seen.places, young)) if young else seen
