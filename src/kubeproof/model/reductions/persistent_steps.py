"""Steps that may be taken alone: they commute with all that others may do before them.

The first sync of a Deployment, and the first pods of a ReplicaSet, wait for nobody and hinder nobody; in which order
several workloads take them changes nothing but the order. So as soon as one is possible it is the only step that is
followed: a persistent set of one. `docs/explanation/reductions.md` has the conditions and the proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import Any

from kubeproof.cluster.loops.actions import CreatePods, SetReplicas
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Loop, Stage
from kubeproof.cluster.loops.footprint import NOBODY, Writes, footprint_of
from kubeproof.cluster.loops.tagging import tags_of
from kubeproof.cluster.objects import family
from kubeproof.cluster.state import NEVER
from kubeproof.cluster.steering.priorities import priority_of
from kubeproof.engine.system import Effect
from kubeproof.engine.system import Turn as EngineStage
from kubeproof.model.plan import Plan
from kubeproof.model.reductions.starts_in_unison import SETTLED_NODES

COMMUTING = SETTLED_NODES | Writes.FAILURES  # what events may change: nothing that first steps wait for or hinder


class FirstSync:
    """A Deployment's ReplicaSet is created: nobody else reads or writes its size before."""

    stage = int(EngineStage.FIRST)

    def __init__(self, name: Actor, workload: int, slot: int) -> None:
        self.name = name
        self.reads = (slot,)
        self._workload, self._slot = workload, slot

    def view(self, position: int, cell: Any) -> int | None:
        """The size that the new ReplicaSet gets, None if it is there or has to wait."""
        return cell.desired if cell.exists and cell.replicas == NEVER else None

    def act(self, views: tuple[Any, ...]) -> tuple[Effect, ...]:
        """The creation."""
        if views[0] is None:
            return ()
        return (_effect(SetReplicas(self._workload, views[0]), self._slot),)


class FirstPods:
    """A ReplicaSet without any pod creates all of them: there is none that anybody could change before."""

    stage = int(EngineStage.FIRST)

    def __init__(self, name: Actor, workload: int, slot: int, places: tuple[int, ...], *, follows: bool) -> None:
        self.name = name
        self.reads = (slot, *places)
        self._workload, self._slot, self._follows = workload, slot, follows

    def view(self, position: int, cell: Any) -> int | bool:
        """The pods to create, 0 if some wait or the size is about to change; of a place, whether it has any."""
        if position:
            return any(kind.workload == self._workload for node, _ in cell for kind, _ in node.pods)
        is_due = not cell.unbound and (not self._follows or (cell.exists and cell.desired == cell.replicas))
        return max(0, cell.replicas) if is_due else 0

    def act(self, views: tuple[Any, ...]) -> tuple[Effect, ...]:
        """The creation."""
        if not views[0] or any(views[1:]):
            return ()
        return (_effect(CreatePods(self._workload, int(views[0])), self._slot),)


Alone = FirstSync | FirstPods


def _effect(action: SetReplicas | CreatePods, slot: int) -> Effect:
    operation = (type(action).__name__, -1, action)
    decision = Decision((action,))
    return Effect(int(decision.role), tags_of(decision.actions), ((slot, operation),), decision)


def workload_of(effect: Effect) -> int:
    """The workload that a step taken alone is about."""
    assert isinstance(effect.label, Decision), effect
    (action,) = effect.label.actions
    assert isinstance(action, SetReplicas | CreatePods), effect
    return action.workload


def find_taken_alone(plan: Plan, workload_slots: tuple[int, ...], place_slots: tuple[int, ...]) -> Iterator[Alone]:
    """The actors whose steps may be taken alone, in the order of the workloads."""
    if not all(footprint_of(event).writes in COMMUTING for event in plan.events):
        return
    early = [footprint for actor, footprint in plan.awake if actor.stage == Stage.ALWAYS]
    seen = reduce(or_, (one.sees_objects for one in early), NOBODY)
    counted = reduce(or_, (one.sees_new_pods for one in early), NOBODY)
    for number, workload in enumerate(plan.setup.workloads):
        if workload.rules.loop != ActorKind.REPLICA_SET or number in seen or not _is_left_alone(plan, number):
            continue
        slot, is_deployment = workload_slots[number], workload.rules.owns_replica_sets
        if is_deployment and not workload.paused:
            yield FirstSync(_name(plan, ActorKind.DEPLOYMENT, number), number, slot)
        if number not in counted and _creates_unseen(plan, number):
            name = _name(plan, ActorKind.REPLICA_SET, number)
            yield FirstPods(name, number, slot, place_slots, follows=is_deployment)


def _name(plan: Plan, kind: ActorKind, workload: int) -> Actor:
    return next(c.name for c in plan.controllers if c.name.kind == kind and _is_of(c, workload))


def _is_of(controller: Loop, workload: int) -> bool:
    return getattr(controller, "workload", None) == workload


def _is_left_alone(plan: Plan, number: int) -> bool:
    """True if no property looks at the workload's object, and it has one revision."""
    watched = any(monitor.sees_object(number) for monitor in plan.monitors)
    return len(family(plan.setup, number)) == 1 and not watched


def _creates_unseen(plan: Plan, number: int) -> bool:
    """True if no loop and no property sees the new pods together with others."""
    workload = plan.setup.workloads[number]
    if workload.template.node_name or workload.refused:
        return False
    if _makes_others_wait(plan, number):
        return False
    return not any(number in m.reads.workloads and len(m.reads.workloads) > 1 for m in plan.monitors)


def _makes_others_wait(plan: Plan, number: int) -> bool:
    """True if pods of lower priority are scheduled after those of the workload, once these exist."""
    own = priority_of(plan.setup.workloads[number].template)
    return any(priority_of(other.template) < own for other in plan.setup.workloads)
