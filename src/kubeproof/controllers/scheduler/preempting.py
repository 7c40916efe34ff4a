"""The scheduler as a control loop where pods have different priorities.

The queue gives the highest priority first: no pod is tried while one of higher priority has something to do. Back-off
is left out, as everywhere, so that a pod of higher priority never waits behind others. Among equal priorities any pod
may be next. A nomination belongs to a workload's pods, not to one of them: if the nominated pod is deleted while others
wait, one of those takes it over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING

from kubeproof.cluster.loops.actions import NodeRef
from kubeproof.cluster.loops.control import Decision, Groups, Reads, Seen
from kubeproof.cluster.loops.footprint import NOBODY, Among, Footprint, Workloads, Writes, some
from kubeproof.cluster.nodes.places import CORDONED, condition, taints_of, unwelcome
from kubeproof.cluster.objects import Setup
from kubeproof.cluster.state import Health, NodeCell, Phase, WorkloadCell
from kubeproof.cluster.steering.priorities import preemptible, priority_of
from kubeproof.controllers.evictions.budgets import BudgetScale, find_asked_by, find_read_by_budgets, status_of
from kubeproof.controllers.evictions.disruption import RUNNING, PodFacts
from kubeproof.controllers.scheduler.attempts import Attempt, Claims, Entry, Held, with_nominated
from kubeproof.controllers.scheduler.controller import NO_ATTEMPT, Answer, SchedulerController, remember
from kubeproof.controllers.scheduler.framework import NodeInfo, PodCount
from kubeproof.controllers.scheduler.mentions import mention_scheduling
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from kubeproof.cluster.loops.inaction import Idle


class NodeFacts(NamedTuple):
    """What it sees of a node."""

    unwelcome: int  # bits of `places.unwelcome`
    unreachable: int
    no_execute: int
    held: tuple[Held, ...]
    claims: Claims
    images: int


Sight = Seen[BudgetScale, Groups[NodeFacts]]


@dataclass(frozen=True, slots=True)
class PreemptingScheduler(SchedulerController):
    """The scheduler's work for one workload's pods among others that go before or after them."""

    rivals: tuple[PreemptingScheduler, ...] = ()  # those whose pods go first
    attempt: Attempt = field(init=False, compare=False, repr=False)
    _counted: frozenset[int] = field(init=False, compare=False, repr=False)  # workloads that budgets ask for
    _reads: Reads = field(init=False, compare=False, repr=False)
    _tried: dict[object, Answer] = field(default_factory=dict, compare=False, repr=False)

    reads_nodes = mention_scheduling

    @property
    def footprint(self) -> Footprint:
        return Footprint(
            writes=Writes.BINDINGS | Writes.DELETIONS,
            tells_starts=find_read_by_preemption(self.layout.setup),
            sees_objects=NOBODY,
            sees_new_pods=some(w for w in self.reads.workloads if w != self.workload),
            among=Among.CHOOSING,
        )

    def __post_init__(self) -> None:
        object.__setattr__(self, "attempt", Attempt(self.layout, self.workload, self.kernel))
        asks = any(one.attempt.asks_budgets for one in (self, *self.rivals))
        counted = _under_budgets(self.layout.setup) if asks else frozenset()
        queued = {self.workload, *(rival.workload for rival in self.rivals)}
        object.__setattr__(self, "_counted", counted)
        mounted = any(self.layout.setup.workloads[one].template.claims for one in queued)
        memories = self.claims if mounted else ()
        object.__setattr__(self, "_reads", Reads(tuple(sorted(queued | counted)), self.layout.every_place, memories))

    # -- what it is shown -----------------------------------------------------------------------

    @property
    def reads(self) -> Reads:
        return self._reads

    def show_workload(self, workload: int, cell: WorkloadCell) -> BudgetScale:  # type: ignore[override]
        """Pods without a node, and the scale where a budget asks for it."""
        return BudgetScale(cell.desired if workload in self._counted else 0, cell.unbound)

    def show_node(self, place: int, cell: NodeCell) -> NodeFacts:  # type: ignore[override]
        """Condition, pods by workload, nominations; readiness where a budget asks for it."""
        counts: dict[int, list[int]] = {}
        for kind, count in cell.pods:
            own = counts.setdefault(kind.workload, [0, 0, 0, 0])
            own[kind.phase == Phase.TERMINATING] += count
            own[2] += count * kind.preempted
            own[3] += count * (kind.phase == Phase.READY and kind.workload in self._counted)
        held = tuple(Held(workload, *own) for workload, own in sorted(counts.items()))
        is_out = int(cell.health >= Health.UNKNOWN)
        return NodeFacts(unwelcome(cell), is_out, cell.no_execute, held, cell.nominated, cell.images)

    # -- decisions ------------------------------------------------------------------------------

    def is_idle(self, workloads: tuple[BudgetScale, ...]) -> bool:  # type: ignore[override]
        """Never: nodes hold the nominations of its pods."""
        return False

    def act(self, seen: Sight) -> tuple[Decision, ...]:  # type: ignore[override]
        """The attempts of this workload's pods."""
        return self.answer(seen).decisions

    def answer(self, seen: Sight) -> Answer:  # type: ignore[override]
        """The attempts of this workload's pods, unless one of higher priority has something to do."""
        scales = self._scales(seen)
        if not scales[self.workload].unbound and not self._claims(seen):
            return NO_ATTEMPT
        allowed = self._compute_allowed(seen, scales)
        if any(rival.attempts(seen, scales[rival.workload].unbound, allowed).decisions for rival in self.rivals):
            return NO_ATTEMPT
        return self.attempts(seen, scales[self.workload].unbound, allowed)

    def why_not(self, seen: Sight) -> Iterator[Idle]:
        """For whom the queue holds its pods back, if it does."""
        from kubeproof.controllers.scheduler.inaction import why_queued

        scales = self._scales(seen)
        if scales[self.workload].unbound:
            allowed, setup = self._compute_allowed(seen, scales), self.layout.setup
            for rival in self.rivals:
                if rival.attempts(seen, scales[rival.workload].unbound, allowed).decisions:
                    yield why_queued(setup, self.workload, rival.workload)

    def attempts(self, seen: Sight, unbound: int, allowed: tuple[int, ...]) -> Answer:
        """What this workload's pods would do if they were next."""
        claims = self._claims(seen)
        if not unbound and not claims:
            return NO_ATTEMPT
        free = max(-1, min(1, unbound - claims))
        key = (seen.places, seen.memories, free, allowed)
        return self._tried.get(key) or remember(self._tried, key, self._try(seen, free, allowed))

    def _try(self, seen: Sight, free: int, allowed: tuple[int, ...]) -> Answer:
        setup, kernel = self._bind_claims(seen.memories)
        attempt = self.attempt if kernel is self.kernel else Attempt(self.layout, self.workload, kernel)
        refusing: set[str] = set()
        plain = attempt.decisions(self.entries(seen), free, allowed, refusing)
        decisions = tuple(decision for one in plain for decision in self.with_volumes(setup, one))
        return Answer(decisions, frozenset(refusing))

    def _claims(self, seen: Sight) -> int:
        """How many of its pods are nominated."""
        return sum(
            dict(facts.claims).get(self.workload, 0) * count for groups in seen.places for facts, count in groups
        )

    def _scales(self, seen: Sight) -> dict[int, BudgetScale]:
        return dict(zip(self.reads.workloads, seen.workloads, strict=True))

    def entries(self, seen: Sight) -> list[Entry]:
        """The nodes as attempts take them."""
        return [
            self.entry(place, facts, count)
            for place, groups in zip(self.reads.places, seen.places, strict=True)
            for facts, count in groups
        ]

    def entry(self, place: int, facts: NodeFacts, count: int) -> Entry:
        """A group of nodes as attempts take it."""
        sample = self.layout.places[place].sample
        is_cordoned = bool(facts.unwelcome & CORDONED)
        node = condition(facts.unwelcome, is_out=facts.unreachable, no_execute=facts.no_execute)
        pods = tuple(PodCount(one.workload, one.alive, one.terminating) for one in facts.held)
        info = NodeInfo(sample, count, is_cordoned, taints_of(sample, node), pods, facts.images)
        return Entry(NodeRef(place, facts), info, facts.held, facts.claims)

    def info_of(self, place: int, cell: NodeCell) -> NodeInfo:
        """One node as the filters see it first: with the nominated pods that it must leave room for."""
        entry = self.entry(place, self.show_node(place, cell), 1)
        return entry.info._replace(pods=with_nominated(entry.info.pods, self.attempt.beside(entry)))

    # -- budgets --------------------------------------------------------------------------------

    def find_allowed(self, seen: Sight) -> tuple[int, ...]:
        """What each budget still allows; empty if none matters."""
        return self._compute_allowed(seen, self._scales(seen))

    def _compute_allowed(self, seen: Sight, scales: dict[int, BudgetScale]) -> tuple[int, ...]:
        if not self._counted:
            return ()
        setup, bound = self.layout.setup, list(_list_bound(seen))
        return tuple(status_of(setup, budget, scales, bound).allowed for budget in setup.budgets)


def find_read_by_preemption(setup: Setup) -> Workloads:
    """The workloads of which it matters who has started: others vanish at once, and budgets count the ready ones."""
    return some(preemptible(setup)) | find_read_by_budgets(setup)


def _under_budgets(setup: Setup) -> frozenset[int]:
    """The workloads that some budget asks for."""
    return frozenset(workload for budget in setup.budgets for workload in find_asked_by(setup, budget))


def _list_bound(seen: Sight) -> Iterator[tuple[int, PodFacts, int]]:
    """The pods with a node as budgets count them."""
    for groups in seen.places:
        for facts, nodes in groups:
            for held in facts.held:
                yield held.workload, PodFacts(RUNNING, True), held.ready * nodes
                yield held.workload, PodFacts(RUNNING, False), (held.alive - held.ready) * nodes
                yield held.workload, PodFacts(RUNNING, False, terminating=True), held.terminating * nodes


def goes_first(setup: Setup, one: int, other: int) -> bool:
    """True if pods of one workload are tried before those of another."""
    return priority_of(setup.workloads[one].template) > priority_of(setup.workloads[other].template)
