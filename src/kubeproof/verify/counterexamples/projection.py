"""From a state of the whole to the share of one part of it, by name.

What a state holds is told by its fields, and every field is in one of the tables below: a field that is in none of them
is an error, never something left out. Workloads are found by reference, memories by name, images and volumes by
name; what the part counts up to a lower bound than the whole is cut off there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from kubeproof.cluster.loops.memories import Holds
from kubeproof.cluster.nodes.images import track_images
from kubeproof.cluster.state import NEVER, PodKind, WorkloadCell
from kubeproof.cluster.volumes import possible_volumes
from kubeproof.errors import InternalError
from kubeproof.model.by_name.node import NodeState, Pod
from kubeproof.model.by_name.state import State
from kubeproof.model.plan import Plan
from kubeproof.values import complete

T = TypeVar("T")


class Projection:
    """Where the things of a part stand in the whole."""

    def __init__(self, whole: Plan, part: Plan, monitors: Sequence[int] = ()) -> None:
        self.whole, self.part, self.monitors = whole, part, tuple(monitors)
        known = [(one.ref, one.owner) for one in whole.setup.workloads]
        wanted = [(one.ref, one.owner) for one in part.setup.workloads]
        self.workloads = _positions(known, wanted, "workload")
        self._memories = _positions(whole.memory_names, part.memory_names, "memory")
        self._own = {number: own for own, number in enumerate(self.workloads)}
        self._alike = _running_alike(whole, self.workloads)
        self._images = _translate(track_images(whole.setup), track_images(part.setup))
        self._volumes = _translate(*([v.name for v in possible_volumes(one.setup)] for one in (whole, part)))
        self._nodes: dict[tuple[int, NodeState], NodeState] = {}

    def of(self, state: State) -> State:
        """The part's share of a state of the whole."""
        return State(*(_of(STATE, name)(self, value) for name, value in zip(State._fields, state, strict=True)))

    # -- the fields of a state ----------------------------------------------------------------------

    def _specs(self, specs: tuple[WorkloadCell, ...]) -> tuple[WorkloadCell, ...]:
        return tuple(self._spec(own, specs[number]) for own, number in enumerate(self.workloads))

    def _spec(self, own: int, spec: WorkloadCell) -> WorkloadCell:
        values = zip(WorkloadCell._fields, spec, strict=True)
        return WorkloadCell(*(_of(SPEC, name)(self, own, value) for name, value in values))

    def _project_unbound(self, unbound: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        return tuple(unbound[number] for number in self.workloads)

    def _project_memories(self, memories: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
        held = (name.kind.holds for name in self.part.memory_names)
        return tuple(_HELD[what](self, memories[number]) for what, number in zip(held, self._memories, strict=True))

    def _project_observed(self, observed: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(observed[number] for number in self.monitors) if observed else ()

    def _all_nodes(self, nodes: tuple[NodeState, ...]) -> tuple[NodeState, ...]:
        return tuple(self._node(number, node) for number, node in enumerate(nodes))

    # -- the fields of a node and of its pods -------------------------------------------------------

    def _node(self, number: int, node: NodeState) -> NodeState:
        found = self._nodes.get((number, node))
        if found is None:
            values = zip(NodeState._fields, node, strict=True)
            found = NodeState(*(_of(NODE, name)(self, number, value) for name, value in values))
            self._nodes[number, node] = found
        return found

    def _pods(self, node: int, pods: tuple[Pod, ...]) -> tuple[Pod, ...]:
        return tuple(self._pod(pod) for pod in self._own_pods(node, pods))

    def _own_pods(self, node: int, pods: tuple[Pod, ...]) -> list[Pod]:
        """The part's pods; of equal bare Pods, as many as the part has on the node."""
        left = dict(self._alike.get(node, {}))
        found = []
        for pod in pods:
            if left.get(pod.workload, 0):
                left[pod.workload] -= 1
                found.append(pod)
            elif pod.workload in self._own and pod.workload not in left:
                found.append(pod)
        return found

    def _pod(self, pod: Pod) -> Pod:
        own = self._number(pod.workload)
        values = zip(PodKind._fields, pod.kind, strict=True)
        return Pod(pod.name, PodKind(*(_of(POD, name)(self, own, value) for name, value in values)))

    def _number(self, workload: int) -> int:
        """The part's number of a workload, as which its pods count there."""
        own = self._own.get(workload)
        if own is None:  # it counts as an equal one of another part
            own = next(self._own[one] for one in self.workloads if self.whole.kin[one] == workload)
        return self.part.kin[own] if self.part.kin else own

    def _project_pinned(self, node: int, pinned: tuple[tuple[int, str], ...]) -> tuple[tuple[int, str], ...]:
        return tuple((self._own[workload], name) for workload, name in pinned if workload in self._own)

    def _project_nominated(self, node: int, nominated: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(self._own[workload] for workload in nominated if workload in self._own))

    def _project_finished(self, node: int, finished: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
        return tuple(sorted((self._own[job], outcome) for job, outcome in finished if job in self._own))

    def _project_brought(self, node: int, images: int) -> int:
        return sum(1 << own for whole, own in self._images.items() if images >> whole & 1)

    # -- what is counted up to a bound --------------------------------------------------------------

    def _project_failed(self, own: int, failed: int) -> int:
        return min(failed, self.part.mechanics.most_failed[own])

    def _project_completed(self, own: int, completed: int) -> int:
        """A Job's finished pods are kept where an autoscaler counts them."""
        return completed if own in self.part.mechanics.kept else 0

    def _age(self, own: int, age_s: int) -> int:
        ages = self.part.mechanics.ages[own]
        return min(age_s, ages[-1]) if ages else NEVER

    def _life(self, own: int, life_s: int) -> int:
        lives = self.part.mechanics.lives[own]
        return min(life_s, lives[-1]) if lives else NEVER

    def _route(self, own: int, route_s: int) -> int:
        return route_s if own in self.part.mechanics.routes else NEVER

    def _volume(self, bound: tuple[int, ...]) -> tuple[int, ...]:
        """Volumes are numbered from 1 on; one that the part does not know is told as such."""
        return tuple(self._volumes.get(number - 1, NEVER - 1) + 1 if number else 0 for number in bound)


def _same(shares: Projection, *value: Any) -> Any:
    """What does not depend on the part."""
    return value[-1]


def _renumber(shares: Projection, own: int, workload: int) -> int:
    return own


Project = Callable[..., Any]
STATE: Mapping[str, Project] = {
    "specs": Projection._specs,
    "unbound": Projection._project_unbound,
    "nodes": Projection._all_nodes,
    "memories": Projection._project_memories,
    "observed": Projection._project_observed,
}
SPEC: Mapping[str, Project] = {
    **dict.fromkeys(("exists", "desired", "replicas", "unbound", "template", "noted", "max_noted"), _same),
    "failed": Projection._project_failed,
    "completed": Projection._project_completed,
}
NODE: Mapping[str, Project] = {
    **dict.fromkeys(("health", "least_s", "most_s", "cordoned", "no_execute", "work", "cause"), _same),
    **dict.fromkeys(("spare_s", "marks"), _same),
    "pods": Projection._pods,
    "images": Projection._project_brought,
    "pinned": Projection._project_pinned,
    "nominated": Projection._project_nominated,
    "finished": Projection._project_finished,
}
POD: Mapping[str, Project] = {
    **dict.fromkeys(("phase", "least_s", "most_s", "evict_s", "restarts", "preempted"), _same),
    "workload": _renumber,
    "age_s": Projection._age,
    "life_s": Projection._life,
    "route_s": Projection._route,
}
_HELD: Mapping[Holds, Project] = complete(Holds, {Holds.TIMES: _same, Holds.VOLUME: Projection._volume})


def _of(table: Mapping[str, Project], name: str) -> Project:
    if name not in table:
        raise InternalError(f"E700 nobody says what becomes of {name} in a part. Please report this with the input.")
    return table[name]


def _positions(known: Sequence[T], wanted: Sequence[T], what: str) -> tuple[int, ...]:
    """Where each of the part's things stands in the whole, each of which is there once."""
    numbers: dict[T, list[int]] = {}
    for number, name in enumerate(known):
        numbers.setdefault(name, []).append(number)
    odd = [name for name in wanted if len(numbers.get(name, ())) != 1]
    if odd:
        raise InternalError(f"E700 a {what} of a part is not in the whole, or more than once: {odd[0]}")
    return tuple(numbers[name][0] for name in wanted)


def _translate(known: Sequence[str], wanted: Sequence[str]) -> dict[int, int]:
    """Positions of the whole, each with that of the same name in the part."""
    return {number: list(wanted).index(name) for number, name in enumerate(known) if name in wanted}


def _running_alike(whole: Plan, workloads: Sequence[int]) -> dict[int, dict[int, int]]:
    """By node, how many of the bare Pods that count as one and the same the part has there."""
    shared = {number for number, count in Counter(whole.kin).items() if count > 1}
    homes = {node.name: index for index, node in enumerate(whole.setup.nodes)}
    found: dict[int, dict[int, int]] = {index: dict.fromkeys(shared, 0) for index in homes.values()} if shared else {}
    for number in workloads:
        home = whole.setup.workloads[number].bound_to
        if whole.kin and whole.kin[number] in shared and home in homes:
            found[homes[home]][whole.kin[number]] += 1
    return found
