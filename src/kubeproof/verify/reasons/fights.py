"""Who fights over what in a run that never ends: the field, and those who write it against each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubeproof.cluster.loops.actions import (
    Arrive,
    CreateObject,
    CreatePods,
    DeleteObject,
    KeepNode,
    NodeChange,
    SetDesired,
)
from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.cluster.loops.tags import Tag
from kubeproof.model.by_name.state import Transition
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.values import dataclass
from kubeproof.verify.result import TraceStep

MOST_WRITERS = 4


@dataclass(frozen=True, slots=True)
class Fight:
    """A field, and the steps of a loop by which several write it, with the step of each."""

    field: str  # "spec.replicas of Deployment/shop/web"
    writers: tuple[TraceStep, ...]

    @property
    def says(self) -> str:
        """Who undoes whose work, in a sentence without a full stop."""
        told = ", then ".join(_tell(step) for step in self.writers)
        who = len({step.actor for step in self.writers})
        if who == 1:
            return f"there is no end of changes of {self.field}: {told}"
        return f"{who} actors write {self.field} against each other, without end: {told}"


def _tell(step: TraceStep) -> str:
    return step.action if step.actor.kind == ActorKind.EVENT else f"{step.actor} {step.action}"


def find_fight(model: IndividualModel, loop: Sequence[tuple[Transition, TraceStep]]) -> Fight | None:
    """What the actors of a loop fight over: a size that two set differently, the place of pods, or nodes."""
    panics = any(step.tags & Tag.PANIC for step, _ in loop)
    found = (
        _of_objects(model, loop)
        or _of_sizes(model, loop)
        or (_of_nodes(loop) if panics else None)
        or _of_pods(loop)
        or _of_nodes(loop)
    )
    return Fight(*found) if found else None


Found = tuple[str, tuple[TraceStep, ...]] | None


def _of_sizes(model: IndividualModel, loop: Sequence[tuple[Transition, TraceStep]]) -> Found:
    writes: dict[int, dict[tuple[str, int], TraceStep]] = {}
    for step, told in loop:
        for action in step.decision.actions:
            if isinstance(action, SetDesired):
                writes.setdefault(action.workload, {}).setdefault((str(step.actor), action.replicas), told)
    for workload, by in writes.items():
        if len({replicas for _, replicas in by}) > 1:
            return f"spec.replicas of {model.setup.workloads[workload].ref}", tuple(by.values())[:MOST_WRITERS]
    return None


def _of_objects(model: IndividualModel, loop: Sequence[tuple[Transition, TraceStep]]) -> Found:
    """An object that one creates and another deletes."""
    created: dict[int, TraceStep] = {}
    deleted: dict[int, TraceStep] = {}
    for step, told in loop:
        for action in step.decision.actions:
            if isinstance(action, CreateObject):
                created.setdefault(action.workload, told)
            elif isinstance(action, DeleteObject):
                deleted.setdefault(action.workload, told)
    for workload in created.keys() & deleted.keys():
        return model.setup.workloads[workload].ref, (deleted[workload], created[workload])
    return None


def _of_pods(loop: Sequence[tuple[Transition, TraceStep]]) -> Found:
    """Who takes pods away, who creates them anew, and who places them."""
    roles: dict[str, TraceStep] = {}
    for step, told in loop:
        for role in _roles_in(step):
            roles.setdefault(role, told)
    if "takes" not in roles or len(roles) < 2:
        return None
    field = "spec.nodeName of pods" if "places" in roles else "pods"
    steps = dict.fromkeys(id(roles[role]) for role in ("takes", "creates", "places") if role in roles)
    by_id = {id(told): told for _, told in loop}
    return field, tuple(by_id[one] for one in steps)


def _roles_in(step: Transition) -> Iterator[str]:
    if step.tags & (Tag.EVICT | Tag.REJECT):
        yield "takes"
    for action in step.decision.actions:
        if isinstance(action, (CreatePods, Arrive)) or (isinstance(action, KeepNode) and action.creates is not None):
            yield "creates"
    if step.tags & Tag.BIND:
        yield "places"


def _of_nodes(loop: Sequence[tuple[Transition, TraceStep]]) -> Found:
    """Nodes that fail and come back: of overload first, since all else follows."""
    changes = [(step, told) for step, told in loop if any(isinstance(a, NodeChange) for a in step.decision.actions)]
    events = [(step, told) for step, told in changes if told.actor.kind == ActorKind.EVENT]
    found = {told.action: told for _, told in reversed(events or changes)}
    steps = tuple(reversed(found.values()))[:MOST_WRITERS]
    return ("the condition of nodes", steps) if len(steps) > 1 else None
