"""The vertical pod autoscaler as a periodic control loop: recommender and updater of one VerticalPodAutoscaler.

Mirrors the recommender's and the updater's `RunOnce` (both every minute): the recommendation follows what pods use,
then pods are evicted whose requests are outside of its bounds, or that are older than 12 hours and 10 % off
(`AddPod` of the updater's priority calculator), as far as the updater's own limits and budgets allow. New pods get the
recommended requests from the admission webhook (`kubeproof.controllers.workloads.resized_replicaset`). The third reason
to evict, a container that has just run out of memory, never occurs: nothing here runs out of memory.

Memory is (least, most, recommended): seconds until the next round, and the number of the size that new pods get, 0 for
the requests of the template.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from fractions import Fraction
from itertools import product

from kubeproof.cluster.loops.actions import Action, DeleteUnbound, EvictedPods, EvictPods, NodeRef, Remember
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Reads, Role, Seen, Stage
from kubeproof.cluster.loops.footprint import NOBODY, Footprint, Writes, some
from kubeproof.cluster.loops.memories import Holds, MemoryKind
from kubeproof.cluster.loops.mentions import mention_nothing
from kubeproof.cluster.loops.tags import Tag
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.state import ACTIVE, ANY_LIFE, NEVER, NodeCell, Phase, WorkloadCell, life_span
from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.cluster.steering.vertical import CPU, INITIAL, MEMORY, VerticalPodAutoscaler, sizes_of
from kubeproof.cluster.usage import (
    Pod,
    UsageRule,
    containers_of,
    find_shared_rule,
    memories_read,
    rules_about,
    share_of,
    uses,
)
from kubeproof.controllers.evictions.budgets import (
    BudgetScale,
    amounts_of,
    budgets_of,
    facts_of,
    find_asked_by,
    status_of,
)
from kubeproof.controllers.evictions.disruption import BudgetStatus, Matching, evict
from kubeproof.controllers.vpa.recommendation import (
    Bounds,
    Rules,
    at_once,
    difference,
    is_far_off,
    is_outside,
    recommend,
    resize,
)
from kubeproof.errors import InternalError, LimitReached
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

REMEMBERS = MemoryKind("vertical autoscaler", Holds.TIMES)
MOST_WAYS = 10_000  # choices of pods in one round
LONG_LIFE_S = 12 * 3600  # in-recommendation-bounds-eviction-lifetime-threshold
LEAST_CHANGE = Fraction(1, 10)  # pod-update-threshold: how far off a pod of that age has to be


class Pods(NamedTuple):
    """Pods of one node that the updater cannot tell apart."""

    workload: int
    phase: int
    restarts: int
    life: tuple[int, int] = ANY_LIFE  # before or after LONG_LIFE_S, where that matters

    @property
    def is_old(self) -> bool:
        return self.life[0] >= LONG_LIFE_S


View = tuple[tuple[Pods, int], ...]  # on one node, sorted
Sight = Seen[BudgetScale, Groups[View]]


@dataclass(frozen=True, slots=True)
class VpaController:
    """The loop of one VerticalPodAutoscaler."""

    layout: Layout
    vpa: VerticalPodAutoscaler
    target: int
    memory: int
    rules: tuple[UsageRule, ...] = ()
    flags: Rules = Rules()
    asks_age: bool = False  # pods within the bounds may be so far off that they are replaced when they are old
    period_s: int = 60
    stage: int = Stage.ALWAYS
    reads: Reads = field(init=False, compare=False, repr=False)
    sizes: tuple[int, ...] = field(init=False, compare=False, repr=False)
    _budgets: tuple[PodDisruptionBudget, ...] = field(init=False, compare=False, repr=False)

    reads_nodes = mention_nothing

    def __post_init__(self) -> None:
        setup = self.layout.setup
        budgets = budgets_of(setup, self.target)
        asked = find_asked_by(setup, budgets[0]) if len(budgets) == 1 else ()
        sizes = sizes_of(setup, self.target)
        counted = (*sizes, *(other for other in asked if other not in sizes))
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(self, "_budgets", budgets)
        object.__setattr__(
            self, "reads", Reads(counted, self.layout.every_place, (self.memory, *memories_read(self.rules)))
        )

    @property
    def footprint(self) -> Footprint:
        return Footprint(
            writes=Writes.DELETIONS,
            tells_starts=some(self.reads.workloads),
            sees_objects=NOBODY,
            sees_new_pods=some(self.reads.workloads),
        )

    @property
    def name(self) -> Actor:
        return Actor(ActorKind.VPA, self.vpa.name)

    def show_workload(self, workload: int, cell: WorkloadCell) -> BudgetScale:
        """The scale, and the pods without a node."""
        return BudgetScale(cell.desired, cell.unbound)

    def show_node(self, place: int, cell: NodeCell) -> View | None:
        """The pods that matter, by workload, phase, restarts, and whether they are old."""
        ages = (LONG_LIFE_S,) if self.asks_age else ()
        amounts: dict[Pods, int] = {}
        for kind, count in cell.pods:
            if kind.workload in self.reads.workloads:
                key = Pods(kind.workload, kind.phase, kind.restarts, life_span(kind.life_s, ages))
                amounts[key] = amounts.get(key, 0) + count
        return tuple(sorted(amounts.items())) or None

    # -- decisions ------------------------------------------------------------------------------

    def act(self, seen: Sight) -> tuple[Decision, ...]:
        """A round, if it is due or may be, and changes something."""
        least_s, most_s, size = seen.memories[0]
        rounds = self._rounds(seen) if least_s == 0 else ()
        if not any(actions or new != size for new, actions in rounds):
            return ()
        role = Role.URGENT if most_s == 0 else Role.OPTIONAL
        return tuple(
            Decision((*actions, Remember(self.memory, (self.period_s, self.period_s, new))), role)
            for new, actions in rounds
        )

    def _rounds(self, seen: Sight) -> tuple[tuple[int, tuple[Action, ...]], ...]:
        """The size that a round recommends, with every choice of pods that it evicts."""
        usage = self._usage(seen)
        if usage is None:
            return ((seen.memories[0][2], ()),)  # without pods there are no new samples
        template = self.layout.setup.workloads[self.target].template
        recommendation = recommend(self.vpa, template, usage, self.flags)
        size = self._number(recommendation)
        if self.vpa.mode == INITIAL:
            return ((size, ()),)
        return tuple((size, actions) for actions in dict.fromkeys(self._evictions(seen, recommendation)))

    def _number(self, recommendation: tuple[dict[str, Bounds], ...]) -> int:
        """Which of the sizes has the recommended requests."""
        base = self.layout.setup.workloads[self.target].template
        wanted = resize(base, recommendation)
        for number, member in enumerate(self.sizes):
            if self.layout.setup.workloads[member].template.containers == wanted.containers:
                return number
        raise InternalError(f"E700 {self.name} recommends requests that no size has")

    def _usage(self, seen: Sight) -> dict[str, tuple[int, ...]] | None:
        """What the containers of a running pod use on average; None if none runs."""
        running = [(w, n) for w, phase, n in self._own(seen) if phase in (Phase.RUNNING, Phase.READY)]
        if not any(n for _, n in running):
            return None
        ready = sum(n for _, phase, n in self._own(seen) if phase == Phase.READY)
        memories = dict(zip(self.reads.memories, seen.memories, strict=True))
        return {resource: usage_of_containers(self, resource, ready, memories) for resource in (CPU, MEMORY)}

    def _own(self, seen: Sight) -> Iterator[tuple[int, int, int]]:
        """The target's pods on nodes: workload, phase, how many."""
        for groups in seen.places:
            for view, nodes in groups:
                for kind, pods in view:
                    if kind.workload in self.sizes:
                        yield kind.workload, kind.phase, pods * nodes

    # -- evictions ------------------------------------------------------------------------------

    def _evictions(self, seen: Sight, recommendation: tuple[dict[str, Bounds], ...]) -> Iterator[tuple[Action, ...]]:
        """Every choice of pods to evict: outside of the bounds, or old and far off; the most urgent first."""
        templates = {member: self.layout.setup.workloads[member].template for member in self.sizes}
        outside = frozenset(m for m, template in templates.items() if is_outside(template, recommendation))
        far_off = {m for m, t in templates.items() if self.asks_age and is_far_off(t, recommendation, LEAST_CHANGE)}
        scales = dict(zip(self.reads.workloads, seen.workloads, strict=True))
        configured = scales[self.target].desired
        bound = sum(n for _, phase, n in self._own(seen) if phase in ACTIVE)
        live = bound + sum(scales[member].unbound for member in self.sizes)
        if not (outside or far_off) or not configured or live < self.vpa.least_replicas:
            yield ()
            return
        running = sum(n for _, phase, n in self._own(seen) if phase in ACTIVE and phase != Phase.STARTING)
        room = at_once(configured, running)
        ranked = sorted(outside | far_off, key=lambda m: difference(templates[m], recommendation))
        yield from self._choose(seen, scales, ranked, outside, room)

    def _choose(
        self, seen: Sight, scales: dict[int, BudgetScale], ranked: Sequence[int], outside: frozenset[int], room: int
    ) -> Iterator[tuple[Action, ...]]:
        pending: list[Action] = [
            DeleteUnbound(m, scales[m].unbound) for m in ranked if m in outside and scales[m].unbound
        ]  # a pod without a node has no startTime, so that it is never old
        spots = [
            (NodeRef(place, view), view, nodes)
            for place, groups in zip(self.reads.places, seen.places, strict=True)
            for view, nodes in _merge(groups).items()
        ]
        nodes = [(ref, view) for ref, view, count in spots for _ in range(count)]
        losses: list[dict[Pods, int]] = [{} for _ in nodes]
        for number, (_, view) in enumerate(nodes):
            for kind, count in view:
                if kind.phase == Phase.STARTING and _is_meant(kind, ranked, outside):
                    losses[number][kind] = count
        matching = self._matching(seen, scales)
        drafts = [(losses, room, matching[0].status.allowed if len(matching) == 1 else 0)]
        for member in ranked:
            drafts = [after for draft in drafts for after in self._take(nodes, member, draft, matching, outside)]
            if len(drafts) > MOST_WAYS:
                raise LimitReached(f"more than {MOST_WAYS} ways to choose pods in one round of {self.name}")
        for lost, _, _ in drafts:
            yield (*pending, *_as_actions(nodes, lost))

    def _take(
        self,
        nodes: Sequence[tuple[NodeRef, View]],
        member: int,
        draft: tuple[list[dict[Pods, int]], int, int],
        matching: tuple[Matching, ...],
        outside: frozenset[int],
    ) -> Iterator[tuple[list[dict[Pods, int]], int, int]]:
        """Running pods of one size taken as far as there is room; where not all go, any may be the ones."""
        losses, room, allowed = draft
        kinds = [
            (number, key, count)
            for number, (_, view) in enumerate(nodes)
            for key, count in view
            if _is_meant(key, (member,), outside) and key.phase in ACTIVE and key.phase != Phase.STARTING
        ]
        granted = [(number, key, count) for number, key, count in kinds if evict(facts_of(key.phase), matching).granted]
        charged = bool(matching) and any(
            evict(facts_of(key.phase), matching).charged is not None for _, key, _ in granted
        )
        most = min(room, sum(count for _, _, count in granted), allowed if charged else room)
        for amounts in _ways([count for _, _, count in granted], most):
            after = [dict(own) for own in losses]
            for (number, key, _), amount in zip(granted, amounts, strict=True):
                if amount:
                    after[number][key] = amount
            yield after, room - most, allowed - (most if charged else 0)

    def _matching(self, seen: Sight, scales: dict[int, BudgetScale]) -> tuple[Matching, ...]:
        if len(self._budgets) != 1:  # several: the answer is the same whatever they allow
            return tuple(Matching(b.name, amounts_of(b), BudgetStatus()) for b in self._budgets)
        bound = [
            (kind.workload, facts_of(kind.phase), pods * nodes)
            for groups in seen.places
            for view, nodes in groups
            for kind, pods in view
        ]
        budget = self._budgets[0]
        return (Matching(budget.name, amounts_of(budget), status_of(self.layout.setup, budget, scales, bound)),)

    def why(self, seen: Sight) -> tuple[str, ...]:
        """The recommendation and what it rests on."""
        usage = self._usage(seen)
        if usage is None:
            return ("no pod runs",)
        template = self.layout.setup.workloads[self.target].template
        told = []
        found = recommend(self.vpa, template, usage, self.flags)
        for number, (container, own) in enumerate(zip(template.containers, found, strict=True)):
            for resource, bounds in own.items():
                unit = "m" if resource == CPU else ""
                told.append(
                    f"{container.name}: uses {usage[resource][number]}{unit} of {resource}, "
                    f"target {bounds.target}{unit}, bounds {bounds.lower}{unit} to {bounds.upper}{unit}"
                )
        return tuple(told)

    # -- time -----------------------------------------------------------------------------------

    def _is_idle(self, seen: Sight) -> bool:
        size = seen.memories[0][2]
        return not any(actions or new != size for new, actions in self._rounds(seen))

    def due(self, seen: Sight) -> int:
        """Seconds until a round that changes something may or must happen."""
        least_s, most_s, _ = seen.memories[0]
        if self._is_idle(seen):
            return NEVER
        return least_s if least_s > 0 else most_s

    def later(self, seen: Sight, seconds: int | None) -> tuple[int, ...]:
        """The clock later; forgotten while nothing would change and its phase is open."""
        least_s, most_s, size = seen.memories[0]
        is_idle = self._is_idle(seen)
        if seconds is None or (is_idle and least_s < most_s):
            return (0, self.period_s, size)
        if is_idle and most_s <= seconds:
            left = self.period_s - (seconds - most_s) % self.period_s
            return (left, left, size)
        return (max(0, least_s - seconds), max(0, most_s - seconds), size)


def usage_of_containers(
    loop: VpaController, resource: str, ready: int, memories: dict[int, tuple[int, ...]]
) -> tuple[int, ...]:
    """What the containers of one long-running pod of the target use, in millicores or bytes; sidecars come last."""
    setup = loop.layout.setup
    rules = rules_about(loop.rules, resource, loop.target)
    pod = Pod(containers_of(setup.workloads[loop.target].template, setup.settings.kubernetes_version))
    load = find_shared_rule(rules, memories)
    share = None if load is None else share_of(load, NEVER, memories, ready)
    found = uses(rules, pod, resource, memories, share)
    return found if resource == CPU else tuple(used // 1000 for used in found)


def _is_meant(kind: Pods, members: Sequence[int], outside: frozenset[int]) -> bool:
    """True for pods of these sizes that are replaced: outside of the bounds at once, within them when they are old."""
    return kind.workload in members and (kind.workload in outside or kind.is_old)


def _merge(groups: Groups[View]) -> dict[View, int]:
    amounts: dict[View, int] = {}
    for view, count in groups:
        amounts[view] = amounts.get(view, 0) + count
    return amounts


def _ways(available: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    """Every way to take exactly `most` from what is available."""
    for amounts in product(*(range(min(count, most) + 1) for count in available)):
        if sum(amounts) == most:
            yield amounts


def _as_actions(nodes: Sequence[tuple[NodeRef, View]], losses: Sequence[dict[Pods, int]]) -> Iterator[EvictPods]:
    for (ref, _), lost in sorted(zip(nodes, losses, strict=True), key=repr):
        if lost:
            told = tuple(
                EvictedPods(w, (phase,), restarts, count, life)
                for (w, phase, restarts, life), count in sorted(lost.items())
            )
            yield EvictPods(ref, told, Tag.BY_VPA)
