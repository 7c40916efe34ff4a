"""Start-up in unison: pods whose start nobody watches start together, on all nodes in one step.

A pod that starts at its own moment, early or late within its range, makes every set of started pods a state of its own.
Where no loop, event or property tells a pod that is about to be ready from one that is, such sets differ only in
whether somebody still waits, since that keeps a clock running. `docs/explanation/reductions.md` has the proof. What
cannot be known from the plan alone is watched during the search: if somebody is about to delete pods of
which some still start, `StartMatters` ends it, and it begins again without this reduction for that workload.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any

from kubeproof.cluster.labels import NO_EXECUTE, Taint, tolerates_all
from kubeproof.cluster.loops.actions import Action, Advance, NodeRef
from kubeproof.cluster.loops.actors import KUBELET
from kubeproof.cluster.loops.control import Decision, Role
from kubeproof.cluster.loops.effects import losers
from kubeproof.cluster.loops.footprint import NOBODY, Deletes, Workloads, Writes, footprint_of
from kubeproof.cluster.loops.meanings import MEANINGS
from kubeproof.cluster.loops.tags import Tag
from kubeproof.cluster.nodes.images import track_images
from kubeproof.cluster.objects import Node, family
from kubeproof.cluster.state import KUBELET_LIVES, NEVER, NodeCell, Nodes, Phase, PodKind, add_pods, moves_alike
from kubeproof.cluster.steering.priorities import has_priorities
from kubeproof.cluster.steering.profiles import TAINT_TOLERATION, is_switched_on
from kubeproof.controllers.evictions.taint_eviction import seconds_tolerated
from kubeproof.engine.system import Effect, Marked, Turn
from kubeproof.errors import KubeproofError
from kubeproof.model.mechanics import Mechanics
from kubeproof.model.plan import Plan
from kubeproof.named_tuples import NamedTuple

SETTLED_NODES = (
    Writes.USAGE
    | Writes.SIZES
    | Writes.TEMPLATES
    | Writes.OBJECTS
    | Writes.REMOVALS
    | Writes.PODS
    | Writes.CRASHES
    | Writes.DELETIONS
    | Writes.CORDONS
)  # what events may change: no node fails, comes, goes or is emptied, and no budget changes
BY_SIZE_ALONE = (Deletes.NO_PODS, Deletes.SURPLUS, Deletes.TAINTED)


class StartMatters(KubeproofError):
    """Somebody is about to delete pods of a workload some of whose pods still start."""

    def __init__(self, workload: int) -> None:
        super().__init__(f"the start-up of workload {workload} matters")
        self.workload = workload


class StartAll(NamedTuple):
    """The kubelets move all pods of one kind on, on every node: the last step to ready."""

    workload: int
    phase: int
    least_s: int
    most_s: int


def find_started_together(effect: Effect) -> StartAll | None:
    """Which pods an effect starts in unison, None if it is another effect."""
    action = effect.label.actions[0] if isinstance(effect.label, Decision) and effect.label.actions else None
    return action if isinstance(action, StartAll) else None


# -- whose start nobody watches ---------------------------------------------------------------------


def find_unwatched(plan: Plan) -> frozenset[int]:
    """The workloads whose pods may start in unison, as far as the plan tells.

    None where somebody may look at anything: a loop that does not say what it reads, a failure of nodes, a drain, a pod
    that names its node, whose admission counts the started pods, an image that comes to a node with the first pod.
    """
    if not is_settled(plan):
        return frozenset()
    told = find_watched_starts(plan)
    return frozenset(w for w in range(len(plan.setup.workloads)) if w not in told and _is_unwatched(plan, w))


def find_watched_starts(plan: Plan) -> Workloads:
    """The workloads of whose pods a loop or event tells those that start from those that are ready."""
    return reduce(or_, (one.tells_starts for one in plan.footprints), NOBODY)


def starts_freely(plan: Plan) -> bool:
    """True if a plan without events, properties and periodic loops places its pods whenever they start.

    Then the moment of a start changes nothing that follows, and every start may be the first step of all.
    """
    if plan.events or plan.monitors or plan.periodic or not is_settled(plan) or has_priorities(plan.setup):
        return False
    everybody, told = range(len(plan.setup.workloads)), find_watched_starts(plan)
    return all(
        w not in told and len(family(plan.setup, w)) == 1 and not is_evicted_by_taints(plan, w) for w in everybody
    )


def is_settled(plan: Plan) -> bool:
    """True if events leave nodes in place, and neither admission nor images make a start count for others."""
    events = all(footprint_of(event).writes in SETTLED_NODES for event in plan.events)
    named = any(workload.template.node_name for workload in plan.setup.workloads)
    return events and not named and not track_images(plan.setup)  # the scheduler sees who has brought one


def only_replicasets_delete(plan: Plan) -> bool:
    """True if pods go only by ReplicaSets, deletions of whole workloads and taints that are there from the start.

    Nobody evicts, drains or preempts, and there are no owners with an order of their own.
    """
    plain = all(footprint.deletes in BY_SIZE_ALONE for _, footprint in plan.with_footprints[: len(plan.controllers)])
    return plain and is_settled(plan)


def _is_unwatched(plan: Plan, number: int) -> bool:
    return (
        len(family(plan.setup, number)) == 1
        and not plan.mechanics.ages[number]
        and not plan.mechanics.lives[number]
        and number not in plan.mechanics.never_ready
        and not any(monitor.tells_starts_of(number) for monitor in plan.monitors)
        and not is_evicted_by_taints(plan, number)
    )


def is_evicted_by_taints(plan: Plan, number: int) -> bool:
    """True if a pod is on, or may come to, a node whose declared taints evict it.

    Untolerated ones keep it off, unless its scheduler does not ask for taints.
    """
    if any(kind.workload == number and kind.evict_s != NEVER for cell in plan.nodes for kind, _ in cell.pods):
        return True
    template = plan.setup.workloads[number].template
    keeps_off = is_switched_on(plan.setup, template, TAINT_TOLERATION)
    return any(
        seconds_tolerated(template.tolerations, node.taints) != NEVER
        and not (keeps_off and not tolerates_all(template.tolerations, _evicting(node)))
        for node in plan.setup.nodes
    )


def _evicting(node: Node) -> tuple[Taint, ...]:
    return tuple(taint for taint in node.taints if taint.effect == NO_EXECUTE)


# -- cells ------------------------------------------------------------------------------------------


class Starts:
    """What the start of some workloads' pods looks like: the kinds that wait for their last step to ready.

    With `whole` the steps before the last one count as well. Of the workloads in `ending` the terminating pods move
    in unison, too (`kubeproof.model.reductions.ends_in_unison`): their last step is the one out of the cluster.
    """

    def __init__(
        self,
        mechanics: Mechanics,
        workloads: frozenset[int],
        *,
        whole: bool = False,
        ending: frozenset[int] = frozenset(),
    ) -> None:
        self._mechanics = mechanics
        self._ending = ending
        self._workloads = workloads
        # Pairs of workload and phase: views ask them of every kind of pods in every cell.
        self._starting = {(w, int(phase)) for w in workloads for phase in self._phases_of(w)[0 if whole else -1 :]}
        self._moving = self._starting | {(w, int(Phase.TERMINATING)) for w in ending}

    def of(self, workloads: Workloads) -> bool:
        """True if some of these workloads' pods move in unison."""
        return workloads.numbers is None or not workloads.numbers.isdisjoint(self._workloads)

    def __bool__(self) -> bool:
        return bool(self._moving)

    def _phases_of(self, workload: int) -> tuple[Phase, ...]:
        probed = self._mechanics.setup.workloads[workload].template.readiness is not None
        return (Phase.STARTING, Phase.RUNNING) if probed else (Phase.STARTING,)

    def is_starting(self, kind: PodKind) -> bool:
        """True for a pod whose next step makes it ready, or with `whole` leads there."""
        return (kind.workload, kind.phase) in self._starting

    def is_ending(self, kind: PodKind) -> bool:
        """True for a terminating pod that ends in unison with its like."""
        return kind.phase == Phase.TERMINATING and kind.workload in self._ending

    def waiting(self, nodes: Nodes) -> frozenset[int]:
        """The workloads with such pods on the nodes."""
        starting = self._starting
        return frozenset([k.workload for cell, _ in nodes for k, _ in cell.pods if (k.workload, k.phase) in starting])

    def ending(self, nodes: Nodes) -> frozenset[int]:
        """The workloads with pods on the nodes that end in unison."""
        return frozenset([k.workload for cell, _ in nodes for k, _ in cell.pods if self.is_ending(k)])

    def due(self, nodes: Nodes) -> tuple[StartAll, ...]:
        """The kinds that may or must start now."""
        found = {
            StartAll(kind.workload, kind.phase, kind.least_s, kind.most_s)
            for cell, _ in nodes
            if cell.health in KUBELET_LIVES
            for kind, _ in cell.pods
            if kind.least_s == 0 and (kind.workload, kind.phase) in self._moving
        }
        return tuple(sorted(found))

    def settle(self, cell: NodeCell) -> NodeCell:
        """The node as if all of them had started, and all that end had ended."""
        if self._moving.isdisjoint([(kind.workload, kind.phase) for kind, _ in cell.pods]):
            return cell
        pods: tuple[tuple[PodKind, int], ...] = ()
        for kind, count in cell.pods:
            if not self.is_ending(kind):
                ready = kind._replace(phase=int(Phase.READY), least_s=NEVER, most_s=NEVER)
                pods = add_pods(pods, ready if self.is_starting(kind) else kind, count)
        return cell._replace(pods=pods)

    def start(self, nodes: Nodes, start: StartAll) -> Nodes:
        """The place after all pods of one kind have started."""
        amounts: dict[NodeCell, int] = {}
        step = Advance(NodeRef(-1, None), start.workload, start.phase, start.least_s, start.most_s)
        for cell, count in nodes:
            moves = cell.health in KUBELET_LIVES and any(moves_alike(kind, start) for kind, _ in cell.pods)
            # The node itself matters to admission alone, and pods that name their node are never started so. Without
            # clocks any part of the pods may move; the last outcome is that of all.
            *_, after = self._mechanics.on_node(self._mechanics.setup.nodes[0], cell, step) if moves else (cell,)
            amounts[after] = amounts.get(after, 0) + count
        return tuple(sorted(amounts.items()))


class StartTogether:
    """All kubelets as one actor, for the pods that start in unison."""

    name = KUBELET

    def __init__(self, starts: Starts, slots: tuple[int, ...], *, alone: bool) -> None:
        self.stage = int(Turn.FIRST if alone else Turn.ALWAYS)
        self.reads = slots
        self._starts = starts

    def view(self, position: int, cell: Any) -> Marked:
        """The kinds of a place that are due."""
        return self.name, self._starts.due(cell)

    def act(self, views: tuple[Any, ...]) -> tuple[Effect, ...]:
        """One step per kind, for all places at once."""
        shown = tuple((slot, view) for slot, (_, view) in zip(self.reads, views, strict=True))
        kinds = sorted({kind for _, view in shown for kind in view})
        return tuple(start_effect(kind, tuple(slot for slot, view in shown if kind in view)) for kind in kinds)


def start_effect(kind: StartAll, slots: tuple[int, ...]) -> Effect:
    """All pods of a kind start, in these places."""
    role = int(Role.URGENT if kind.most_s == 0 else Role.OPTIONAL)
    operation = ("StartAll", -1, kind)
    edits = tuple((slot, operation) for slot in slots)
    return Effect(role, int(Tag.STEP), edits, Decision((kind,), role))  # type: ignore[arg-type]


def actions_of(effect: Effect) -> tuple[Action, ...]:
    """What an effect of a controller does."""
    return effect.label.actions if isinstance(effect.label, Decision) else ()


def check_untouched(effects: tuple[Effect, ...], waiting: frozenset[int]) -> tuple[Effect, ...]:
    """The effects, if none chooses among pods of a workload that waits for a start; otherwise raises StartMatters."""
    if not waiting:
        return effects
    for action in (action for effect in effects for action in actions_of(effect)):
        if MEANINGS[type(action)].picks is not None:
            for workload in losers(action):
                if workload in waiting:
                    raise StartMatters(workload)
    return effects
