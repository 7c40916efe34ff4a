"""The descheduler as a periodic control loop of the model.

Memory is (least, most): seconds until the next cycle. A cycle that evicts nothing is not a step, and at rest the phase
of the interval is forgotten. Evictions go through the eviction API, which asks disruption budgets pod by pod; one that
is refused is skipped, and tried again in the next cycle.
"""

from __future__ import annotations

from dataclasses import field

from kubeproof.cluster.loops.actions import EvictedPods, EvictPods, NodeRef, Remember
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Reads, Role, Seen, Stage
from kubeproof.cluster.loops.footprint import EVERYBODY, NOBODY, Footprint
from kubeproof.cluster.loops.memories import Holds, MemoryKind
from kubeproof.cluster.nodes.places import Layout, taints_of
from kubeproof.cluster.state import NEVER, Health, NodeCell, Phase, WorkloadCell, life_span
from kubeproof.cluster.steering.policies import DeschedulerPolicy
from kubeproof.controllers.descheduler.ages import ages_asked
from kubeproof.controllers.descheduler.cycle import evictions, explain, list_plugins
from kubeproof.controllers.descheduler.mentions import mention_policy
from kubeproof.controllers.descheduler.protocol import Plugin, Restful
from kubeproof.controllers.descheduler.values import NodeEntry, Outcome, PodGroup
from kubeproof.controllers.evictions.budgets import BudgetScale, find_asked_by, find_read_by_budgets
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

REMEMBERS = MemoryKind("descheduler", Holds.TIMES)
OLD_S = 10**9  # the age of pods of which no rule asks how old they are: an eviction too early rather than none


class Alike(NamedTuple):
    """Pods of one node that a cycle cannot tell apart."""

    workload: int
    phase: int
    restarts: int
    life: tuple[int, int]  # seconds since they got their node, between two ages that the policy asks for


class Facts(NamedTuple):
    """What a cycle sees of a node."""

    is_ready: int  # as the API tells
    cordoned: int
    no_execute: int
    pods: tuple[tuple[Alike, int], ...]


class Pending(NamedTuple):
    """What a cycle sees of a workload."""

    unbound: int  # pods without a node
    desired: int  # where a budget depends on it


Sight = Seen[Pending, Groups[Facts]]
MOST_KNOWN = 100_000  # cycles that a controller remembers beyond one search


@dataclass(frozen=True, slots=True)
class DeschedulerController:
    """The loop of the one descheduler."""

    layout: Layout
    policy: DeschedulerPolicy
    memory: int
    stage: int = Stage.ALWAYS
    name: Actor = Actor(ActorKind.DESCHEDULER)
    _known: dict[object, tuple[Outcome, ...]] = field(default_factory=dict, compare=False, repr=False)
    _counts_unbound: bool = field(init=False, compare=False, repr=False)
    _ages: tuple[tuple[int, ...], ...] = field(init=False, compare=False, repr=False)

    remembers_next_round_only = True
    reads_nodes = mention_policy

    @property
    def footprint(self) -> Footprint:
        return Footprint(
            tells_starts=find_read_by_budgets(self.layout.setup),
            chooses_by_start=EVERYBODY,
            sees_objects=NOBODY,
        )

    def __post_init__(self) -> None:
        object.__setattr__(self, "_counts_unbound", "minReplicas" in repr(self.policy.profiles))
        object.__setattr__(self, "_ages", ages_asked(self.layout.setup, self.policy))

    @property
    def reads(self) -> Reads:
        every = tuple(range(len(self.layout.setup.workloads)))
        return Reads(every, self.layout.every_place, (self.memory,))

    def show_workload(self, workload: int, cell: WorkloadCell) -> Pending:
        """Pods without a node, and the size; both exactly only where minReplicas or a budget asks for them."""
        asked = self._is_asked(workload)
        unbound = cell.unbound if self._counts_unbound or asked else min(cell.unbound, 1)
        return Pending(unbound, cell.desired if asked else 0)

    def _is_asked(self, workload: int) -> bool:
        """True if a budget depends on the workload."""
        setup = self.layout.setup
        return any(workload in find_asked_by(setup, budget) for budget in setup.budgets)

    def show_node(self, place: int, cell: NodeCell) -> Facts:
        """Condition, and pods by workload, phase and age, as far as somebody asks for that."""
        amounts: dict[Alike, int] = {}
        for kind, count in cell.pods:
            life = life_span(kind.life_s, self._ages[kind.workload])
            key = Alike(kind.workload, kind.phase, kind.restarts, life)
            amounts[key] = amounts.get(key, 0) + count
        is_ready = int(cell.health in (Health.UP, Health.LOST))
        return Facts(is_ready, cell.cordoned, cell.no_execute, tuple(sorted(amounts.items())))

    # -- decisions ------------------------------------------------------------------------------

    def act(self, seen: Sight) -> tuple[Decision, ...]:
        """A cycle, if it is due or may be, with each of its possible outcomes."""
        least_s, most_s = seen.memories[0]
        outcomes = self._outcomes(seen) if least_s == 0 else ()
        if not any(outcomes):
            return ()
        interval_s = self.layout.setup.settings.descheduler_interval_s
        memory = Remember(self.memory, (interval_s, interval_s))
        role = Role.URGENT if most_s == 0 else Role.OPTIONAL
        nodes = self._nodes(seen)
        return tuple(Decision((*self._actions(nodes, outcome), memory), role) for outcome in outcomes)

    def _actions(self, nodes: list[tuple[int, Facts]], outcome: Outcome) -> list[EvictPods]:
        actions = []
        for loss in outcome:
            place, facts = nodes[loss.entry]
            losses = tuple(_evict(facts.pods[index][0], pods) for index, pods in loss.losses)
            actions.append(EvictPods(NodeRef(place, facts), losses))
        return actions

    def _nodes(self, seen: Sight) -> list[tuple[int, Facts]]:
        """The nodes in the order of the entries, each with its place."""
        shown = zip(self.reads.places, seen.places, strict=True)
        return [(place, facts) for place, groups in shown for facts, _ in groups]

    def _outcomes(self, seen: Sight) -> tuple[Outcome, ...]:
        key = (seen.workloads, seen.places)
        outcomes = self._known.get(key)
        if outcomes is None:
            setup = self.layout.setup
            entries = self._entries(seen)
            unbound = tuple((w, n) for w, (n, _) in enumerate(seen.workloads) if n)
            version, unique = setup.settings.descheduler_version, self.layout.unique_keys
            scales = self._scales(seen)
            outcomes = evictions(setup, self.policy, tuple(entries), version, unique, unbound=unbound, scales=scales)
            if len(self._known) < MOST_KNOWN:
                self._known[key] = outcomes
        return outcomes

    def _scales(self, seen: Sight) -> dict[int, BudgetScale]:
        return {workload: BudgetScale(desired, unbound) for workload, (unbound, desired) in enumerate(seen.workloads)}

    def _entries(self, seen: Sight) -> list[NodeEntry]:
        entries: list[NodeEntry] = []
        for place, groups in zip(self.reads.places, seen.places, strict=True):
            sample = self.layout.places[place].sample
            for view, count in groups:
                is_ready, cordoned, no_execute, pods = view
                health = Health.UP if is_ready else Health.UNKNOWN
                taints = taints_of(sample, NodeCell(health=health, cordoned=cordoned, no_execute=no_execute))
                shown = tuple(_pod_group(key, n) for key, n in pods)
                entries.append(NodeEntry(sample, count, bool(is_ready), bool(cordoned), taints, shown))
        return entries

    def why(self, seen: Sight) -> tuple[str, ...]:
        """The numbers behind a cycle."""
        entries = self._entries(seen)
        setup, unique = self.layout.setup, self.layout.unique_keys
        version = setup.settings.descheduler_version
        return explain(setup, self.policy, tuple(entries), version, unique, scales=self._scales(seen))

    # -- at any size ----------------------------------------------------------------------------

    @property
    def never_evicts(self) -> bool:
        """True if no cycle evicts anything, wherever which pods are and however many nodes there are."""
        return all(isinstance(one, Restful) and one.never_evicts() for one in self._plugins())

    @property
    def keeps_even(self) -> bool:
        """True if no cycle evicts anything while the pods of each owner are spread evenly over all nodes."""
        return all(isinstance(one, Restful) and one.keeps_even() for one in self._plugins())

    def _plugins(self) -> tuple[Plugin, ...]:
        """The plugins, for two ready nodes of each place: with fewer in all none runs."""
        samples = [place.sample for place in self.layout.places]
        entries = tuple(NodeEntry(one, 2, True, False, taints_of(one, NodeCell()), ()) for one in samples)
        version = self.layout.setup.settings.descheduler_version
        return list_plugins(self.layout.setup, self.policy, entries, version, self.layout.unique_keys)

    # -- time -----------------------------------------------------------------------------------

    def due(self, seen: Sight) -> int:
        """Seconds until a cycle that evicts may or must run."""
        least_s, most_s = seen.memories[0]
        if not any(self._outcomes(seen)):
            return NEVER
        return least_s if least_s > 0 else most_s

    def later(self, seen: Sight, seconds: int | None) -> tuple[int, ...]:
        """The clock later; forgotten while nothing would be evicted."""
        least_s, most_s = seen.memories[0]
        interval_s = self.layout.setup.settings.descheduler_interval_s
        is_idle = not any(self._outcomes(seen))
        if seconds is None or (is_idle and least_s < most_s):
            return (0, interval_s)
        if is_idle and most_s <= seconds:  # cycles that evict nothing have passed
            left = interval_s - (seconds - most_s) % interval_s
            return (left, left)
        return (max(0, least_s - seconds), max(0, most_s - seconds))


def _pod_group(alike: Alike, pods: int) -> PodGroup:
    workload, phase, restarts, (age_s, _) = alike
    is_ready, pending = phase == Phase.READY, phase == Phase.STARTING
    age_s = OLD_S if age_s == NEVER else age_s
    return PodGroup(workload, pods, phase == Phase.TERMINATING, False, age_s, restarts, is_ready, pending)


def _evict(alike: Alike, pods: int) -> EvictedPods:
    return EvictedPods(alike.workload, (alike.phase,), alike.restarts, pods, alike.life)
