"""A cluster at one moment with everything by name, and a step from one moment to the next."""

from __future__ import annotations

from functools import lru_cache

from kubeproof.cluster.loops.actors import Actor
from kubeproof.cluster.loops.control import Decision, Role
from kubeproof.cluster.loops.tagging import tags_of
from kubeproof.cluster.loops.tags import Tag
from kubeproof.cluster.state import NodeCell, PodKind, WorkloadCell
from kubeproof.intents.monitor import Memory
from kubeproof.model.by_name.node import NodeState
from kubeproof.named_tuples import NamedTuple

Concrete = tuple[object, ...]  # (verb, arguments by name): what a trace records


class State(NamedTuple):
    """The cluster at one moment, everything by name."""

    specs: tuple[WorkloadCell, ...]  # but for their pods without a node
    unbound: tuple[tuple[str, ...], ...]  # names of pods without a node, per workload
    nodes: tuple[NodeState, ...]
    memories: tuple[tuple[int, ...], ...]
    observed: tuple[Memory, ...]


class Transition(NamedTuple):
    """One step by name."""

    controller: Actor  # who acts; the unit of fairness
    decision: Decision
    concrete: tuple[Concrete, ...]
    target: State
    is_promised: bool = False  # by an event that must happen and has not

    @property
    def actor(self) -> Actor:
        return self.controller

    @property
    def role(self) -> int:
        return self.decision.role

    @property
    def tags(self) -> int:
        return int(Tag.STEP) if self.role == Role.TIME else tags_of(self.decision.actions)


@lru_cache(maxsize=65536)
def node_cell(node: NodeState) -> NodeCell:
    """The node with its pods counted by kind, as controllers are shown it."""
    amounts: dict[PodKind, int] = {}
    for pod in node.pods:
        amounts[pod.kind] = amounts.get(pod.kind, 0) + 1
    pinned: dict[int, int] = {}
    for workload, _ in node.pinned:
        pinned[workload] = pinned.get(workload, 0) + 1
    waiting = tuple((workload, node.nominated.count(workload)) for workload in sorted(set(node.nominated)))
    pods = tuple(sorted(amounts.items()))
    ended = tuple((one, node.finished.count(one)) for one in sorted(set(node.finished)))
    return NodeCell(
        health=node.health,
        least_s=node.least_s,
        most_s=node.most_s,
        cordoned=node.cordoned,
        no_execute=node.no_execute,
        work=node.work,
        cause=node.cause,
        pods=pods,
        images=node.images,
        pinned=tuple(sorted(pinned.items())),
        nominated=waiting,
        spare_s=node.spare_s,
        finished=ended,
        marks=node.marks,
    )


def workload_cell(state: State, workload: int) -> WorkloadCell:
    """The workload as controllers see it."""
    spec, unbound = state.specs[workload], state.unbound[workload]
    return spec._replace(unbound=len(unbound)) if unbound else spec
