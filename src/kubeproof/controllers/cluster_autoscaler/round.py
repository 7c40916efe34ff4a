"""One round of the cluster autoscaler: from what it sees to everything it may do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from typing import TYPE_CHECKING

from kubeproof.cluster.loops.mentions import Mentions
from kubeproof.cluster.nodes.daemons import eligibility
from kubeproof.cluster.nodes.node_groups import ClusterAutoscaler, find_requested_names
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import HOSTNAME, REGION, ZONE, Node, Setup
from kubeproof.cluster.state import NodeCell, Phase
from kubeproof.cluster.steering.priorities import priority_of
from kubeproof.cluster.volumes import with_bindings
from kubeproof.controllers.cluster_autoscaler.drainability import Drainability
from kubeproof.controllers.cluster_autoscaler.expanders import Option, Requests, best
from kubeproof.controllers.cluster_autoscaler.scale_down import Planner, Unneeded
from kubeproof.controllers.cluster_autoscaler.scale_up import Estimate, balance, by_size, fitting_template, new_node
from kubeproof.controllers.cluster_autoscaler.snapshot import (
    COMING,
    LEAVING,
    THERE,
    Counts,
    NodeView,
    Pending,
    Pods,
    Simulator,
    Spot,
    World,
    order,
    with_pod,
)
from kubeproof.controllers.evictions.budgets import BudgetScale, find_asked_by, select_by, status_of
from kubeproof.controllers.evictions.disruption import RUNNING, PodFacts
from kubeproof.controllers.scheduler.framework import PodCount, Scheduler
from kubeproof.controllers.scheduler.mentions import mention_scheduling
from kubeproof.controllers.scheduler.requests import CPU, MEMORY, pod_requests
from kubeproof.errors import LimitReached
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from kubeproof.cluster.loops.inaction import Idle

MOST_UNREADY_PERCENT = 45  # max-total-unready-percentage
MOST_UNREADY = 3  # ok-total-unready-count
AT_MAXIMUM = "is at its maximum"
LEAST_PRIORITY = -10  # expendable-pods-priority-cutoff
Node_ = tuple[int, NodeView]  # with its place


class Shown(NamedTuple):
    """What the autoscaler sees."""

    workloads: tuple[Pending, ...]
    nodes: tuple[tuple[tuple[int, NodeView], int], ...]  # (place, view), count
    free: tuple[int, ...]  # places of slots
    coming: tuple[int, ...]  # places of nodes that were asked for
    claims: tuple[tuple[int, ...], ...]  # memories of claims


@dataclass(frozen=True, slots=True)
class Round:
    """What one round does."""

    grown: tuple[int, ...] = ()  # places of slots that a node is asked for
    spare: tuple[Node_, ...] = ()  # nodes found unneeded
    needed: tuple[Node_, ...] = ()  # nodes found needed again
    gone: tuple[Node_, ...] = ()  # nodes deleted
    drained: tuple[Node_, ...] = ()  # nodes whose drain begins

    @property
    def changes(self) -> bool:
        """True if the round does anything at all."""
        return bool(self.grown or self.spare or self.needed or self.gone or self.drained)


@dataclass(slots=True)
class Rounds:
    """The rounds of one setup's autoscaler; pure, so that outcomes may be remembered."""

    layout: Layout
    claims: tuple[int, ...]
    flags: ClusterAutoscaler = field(init=False)
    counted: frozenset[int] = field(init=False)  # workloads that budgets ask for
    requests: dict[int, Requests] = field(init=False)
    _bound: dict[tuple[int, ...], Bound] = field(default_factory=dict)

    def __post_init__(self) -> None:
        setup = self.layout.setup
        assert setup.cluster_autoscaler is not None
        self.flags = setup.cluster_autoscaler
        self.counted = frozenset(workload for budget in setup.budgets for workload in find_asked_by(setup, budget))
        self.requests = _requests(setup)

    def bind_claims(self, claims: tuple[tuple[int, ...], ...]) -> Bound:
        """The setup with its claims bound as they are now."""
        numbers = tuple(memory[0] for memory in claims)
        if numbers not in self._bound:
            setup = self.layout.setup
            whole = with_bindings(setup, numbers) if numbers else setup
            self._bound[numbers] = Bound(whole, self.layout.unique_keys)
        return self._bound[numbers]

    def ready_pods(self, cell: NodeCell) -> Counts:
        """The ready pods of a node, where a budget asks for them."""
        amounts: dict[int, int] = {}
        for kind, count in cell.pods:
            if kind.workload in self.counted and kind.phase == Phase.READY:
                amounts[kind.workload] = amounts.get(kind.workload, 0) + count
        return tuple(sorted(amounts.items()))

    def outcomes(self, shown: Shown, *, in_cooldown: bool, backed_off: tuple[bool, ...]) -> tuple[Round, ...]:
        """Everything that a round may do now."""
        if not _is_healthy(shown):
            return (Round(),)
        scene = _Scene(self, shown)
        found: dict[Round, None] = {}
        for world, left in sorted(scene.settle_pods(), key=repr):
            for grown in scene.growths(world, left, backed_off):
                for one in scene.shrinks(world, may_delete=not grown and not in_cooldown):
                    found[replace(one, grown=grown)] = None
        return tuple(found)

    def explain(self, shown: Shown) -> tuple[str, ...]:
        """What the groups have, and which pods wait."""
        if not _is_healthy(shown):
            return ("too many nodes are not ready: nothing is done",)
        setup, scene = self.layout.setup, _Scene(self, shown)
        sizes = [f"{g.name} {n} of {g.least} to {g.most}" for g, n in zip(self.flags.groups, scene.sizes, strict=True)]
        waiting = [f"{n} of {setup.workloads[w].ref}" for w, (n, _) in enumerate(shown.workloads) if n]
        return (f"groups: {', '.join(sizes)}; pods without a node: {', '.join(waiting) or 'none'}",)

    def why_not(self, shown: Shown) -> Iterator[Idle]:
        """Why a round adds no node for pods that fit nowhere, and why nodes that it could do without are kept."""
        from kubeproof.controllers.cluster_autoscaler.inaction import why_kept, why_nothing_at_all, why_nothing_grows

        if not _is_healthy(shown):
            yield why_nothing_at_all(*_count_nodes(shown))
            return
        setup, scene = self.layout.setup, _Scene(self, shown)
        for world, left in sorted(scene.settle_pods(), key=repr)[:1]:
            if left and scene.growths_of(world, left) == ((),):
                pods = [f"{n} of {setup.workloads[w].ref}" for w, n in left]
                yield from why_nothing_grows(scene.list_hindrances(world, left), pods)
        yield from why_kept(scene.list_keepers())


def _is_healthy(shown: Shown) -> bool:
    """False if so many nodes are not ready that nothing is done (`IsClusterHealthy`)."""
    unready, total = _count_nodes(shown)
    return unready <= MOST_UNREADY or 100 * unready <= MOST_UNREADY_PERCENT * total


def _count_nodes(shown: Shown) -> tuple[int, int]:
    """Those that are not ready, and all."""
    unready = sum(count for (_, view), count in shown.nodes if not view.is_ready)
    return unready, sum(count for _, count in shown.nodes)


class _Scene:
    """One round at work."""

    def __init__(self, rounds: Rounds, shown: Shown) -> None:
        self._layout, self._flags, self._shown = rounds.layout, rounds.flags, shown
        bound = rounds.bind_claims(shown.claims)
        self._setup, self._told = bound.setup, bound.told
        self._simulator = Simulator(self._layout, bound.kernel)
        self._requests = rounds.requests
        self._numbers = {group.name: number for number, group in enumerate(self._flags.groups)}
        present = [(self._group(place), count) for (place, _), count in shown.nodes]
        coming = [(self._group(place), 1) for place in shown.coming]
        self.sizes = [sum(n for group, n in (*present, *coming) if group == g.name) for g in self._flags.groups]

    def _group(self, place: int) -> str:
        return self._layout.places[place].sample.group

    # -- the cluster, with the pods that it will take -------------------------------------------

    def settle_pods(self) -> frozenset[tuple[World, Counts]]:
        """The cluster with waiting pods put where they fit, and those that fit nowhere (`filterOutSchedulable`)."""
        done: frozenset[tuple[World, Counts]] = frozenset({(self._first_world(), ())})
        waiting = self._waiting()
        for priority in sorted({self._priority(workload) for workload in waiting}, reverse=True):
            wanted = {w: n for w, n in waiting.items() if self._priority(w) == priority}
            done = frozenset(
                (after, tuple(sorted((*lost, *more))))
                for world, lost in done
                for after, more in self._simulator.pack(world, wanted, _is_open)
            )
        return done

    def _first_world(self) -> World:
        spots = [
            (Spot(LEAVING if view.is_leaving else THERE, place, view, self._standing(view)), count)
            for (place, view), count in self._shown.nodes
        ]
        coming = [
            (Spot(COMING, place, None, self._daemons(self._numbers[self._group(place)])), 1)
            for place in self._shown.coming
        ]
        return order([*spots, *coming])

    def _standing(self, view: NodeView) -> Pods:
        """The pods that a node has: expendable ones left out, those that preemption makes room for counted.

        (`FilterOutExpendablePods`, `filterOutExpendableAndSplit`)
        """
        pods = tuple(one for one in view.facts.pods if self._priority(one.workload) >= LEAST_PRIORITY)
        for workload, count in view.nominated:
            pods = with_pod(pods, workload, count)
        return pods

    def _waiting(self) -> dict[int, int]:
        """Pods without a node, and those that will be when their node is drained; not what may as well wait."""
        waiting = {w: unbound for w, (unbound, _) in enumerate(self._shown.workloads) if unbound}
        for (_, view), nodes in self._shown.nodes:
            for workload, count in view.nominated:
                waiting[workload] = max(0, waiting.get(workload, 0) - count * nodes)
            for one in view.facts.pods if view.is_leaving else ():
                rules = self._setup.workloads[one.workload].rules
                if not rules.runs_per_node and not rules.is_pod and one.alive:
                    waiting[one.workload] = waiting.get(one.workload, 0) + one.alive * nodes
        return {w: n for w, n in waiting.items() if n and self._priority(w) >= LEAST_PRIORITY}

    def _priority(self, workload: int) -> int:
        return priority_of(self._setup.workloads[workload].template)

    def _daemons(self, group: int) -> Pods:
        """The pods that a new node of the group gets by itself."""
        template = self._flags.groups[group].template
        return tuple(
            PodCount(number, 1, 0)
            for number, workload in enumerate(self._setup.workloads)
            if workload.rules.runs_per_node
            and workload.owner is None
            and eligibility(workload.template, template, template.taints).should_run
        )

    # -- scale-up -------------------------------------------------------------------------------

    def growths(self, world: World, left: Counts, backed_off: tuple[bool, ...]) -> Iterator[tuple[int, ...]]:
        """The slots that nodes are asked for, for every choice of the expander; none if nothing would help."""
        options = list(self._options(world, left, backed_off)) if left and self._spare_nodes() else []
        if not options:
            yield ()
            return
        chain = self._flags.expander_chain(self._setup.settings.kubernetes_version)
        for option in best(chain, options, self._flags.groups, self._requests, self._flags.priorities):
            alike = self._similar(world, option, left, backed_off)
            nodes = min(option.nodes, self._spare_nodes())
            grown = balance(self._flags.groups, self.sizes, alike, nodes)
            yield tuple(sorted(place for group, n in grown.items() for place in self._slots(group, n)))

    def growths_of(self, world: World, left: Counts) -> tuple[tuple[int, ...], ...]:
        """The same where no group is backed off."""
        return tuple(self.growths(world, left, ()))

    def list_hindrances(self, world: World, left: Counts) -> list[tuple[str, int, int, str]]:
        """Of each group its name, nodes and maximum, and why it does not grow for these pods."""
        found = []
        for number, group in enumerate(self._flags.groups):
            size = self.sizes[number]
            found.append((group.name, size, group.most, self._hindrance(number, world, left)))
        return found

    def _hindrance(self, number: int, world: World, left: Counts) -> str:
        group = self._flags.groups[number]
        if self.sizes[number] < group.most and not self._may_grow(number, ()):
            return "too many of its nodes are not ready"
        if not self._spare_nodes():
            return f"the cluster has its {self._flags.most_nodes} nodes"
        infos = [self._simulator.info(spot, count) for spot, count in world]
        infos.append(new_node(group, 0, self._daemons(number)))
        refusals = (self._simulator.find_refusal(infos, len(infos) - 1, workload) for workload, _ in left)
        refusing = ", ".join(dict.fromkeys(by for by in refusals if by))
        return f"{refusing} would refuse a new node" if refusing else AT_MAXIMUM

    def _spare_nodes(self) -> int:
        """How many nodes may be added in all."""
        if not self._flags.most_nodes:
            return sum(group.most for group in self._flags.groups)
        there = sum(count for _, count in self._shown.nodes) + len(self._shown.coming)
        return max(0, self._flags.most_nodes - there)

    def _options(self, world: World, left: Counts, backed_off: tuple[bool, ...]) -> Iterator[Option]:
        for number in range(len(self._flags.groups)):
            if not self._may_grow(number, backed_off):
                continue
            group, daemons = self._flags.groups[number], self._daemons(number)
            takes = fitting_template(self._simulator, world, group, daemons, left)
            similar = [n for n in self._alike(number) if n != number and self._may_grow(n, backed_off)]
            most = sum(self._flags.groups[n].most - self.sizes[n] for n in (number, *similar))
            estimate = Estimate(self._setup, self._simulator, world, group, daemons, min(most, self._spare_nodes()))
            for workload in by_size(takes, group.template, self._requests):
                if not estimate.take(workload, dict(left)[workload]):
                    break
            option = estimate.result(number)
            if option.nodes:
                yield option

    def _may_grow(self, number: int, backed_off: tuple[bool, ...]) -> bool:
        group = self._flags.groups[number]
        unready = sum(n for (p, view), n in self._shown.nodes if self._group(p) == group.name and not view.is_ready)
        there = sum(n for (p, _), n in self._shown.nodes if self._group(p) == group.name)
        is_ill = unready > MOST_UNREADY and 100 * unready > MOST_UNREADY_PERCENT * there
        waits = bool(backed_off) and backed_off[number]
        return self.sizes[number] < group.most and not is_ill and not waits

    def _alike(self, number: int) -> list[int]:
        """The groups among which a growth is balanced, the group itself first."""
        if not self._flags.balances:
            return [number]
        own = self._flags.groups[number].template
        others = [n for n, group in enumerate(self._flags.groups) if n != number and is_similar(own, group.template)]
        return [number, *others]

    def _similar(self, world: World, option: Option, left: Counts, backed_off: tuple[bool, ...]) -> list[int]:
        """The similar groups that take all the pods, too."""
        wanted = {workload for workload, _ in option.pods}
        found = [option.group]
        for number in self._alike(option.group)[1:]:
            daemons, group = self._daemons(number), self._flags.groups[number]
            takes = set(fitting_template(self._simulator, world, group, daemons, left))
            if self._may_grow(number, backed_off) and wanted <= takes:
                found.append(number)
        return found

    def _slots(self, group: int, nodes: int) -> list[int]:
        """The places of slots for so many nodes; a slot whose node is remembered by its name is never filled again."""
        usable = []
        for place in self._shown.free:
            sample = self._layout.places[place].sample
            names = {sample.name, sample.label_map.get(HOSTNAME)}
            if sample.group == self._flags.groups[group].name and not names & self._told:
                usable.append(place)
        if len(usable) < nodes:
            raise LimitReached(f"node group {self._flags.groups[group].name} would need more names than are modelled")
        return usable[:nodes]

    # -- scale-down -----------------------------------------------------------------------------

    def shrinks(self, world: World, *, may_delete: bool) -> Iterator[Round]:
        """The nodes that are found unneeded or needed again, and those that are deleted."""
        if not self._flags.scales_down:
            yield Round()
            return
        planner = Planner(self._layout, self._flags, self._rules(), self._requests)
        leaving = sum(count for (_, view), count in self._shown.nodes if view.is_leaving)
        for plan in sorted(planner.plans(self._simulator, world, self._find_allowed()), key=repr):
            if not may_delete:
                yield self._mark(plan, ())
                continue
            for removal in dict.fromkeys(planner.removals(plan, self._room(), leaving)):
                marked = self._mark(plan, (*removal.empty, *removal.drained))
                yield replace(marked, gone=_nodes(removal.empty), drained=_nodes(removal.drained))

    def list_keepers(self) -> list[tuple[str, str]]:
        """Nodes that are used below the threshold and are kept all the same, each with the pods that keep it."""
        planner = Planner(self._layout, self._flags, self._rules(), self._requests)
        if not self._flags.scales_down:
            return []
        found = dict.fromkeys(planner.list_blocked(self._first_world(), self._find_allowed()))
        return [(self._layout.places[place].sample.name, why) for place, why in found]

    def _mark(self, plan: tuple[Unneeded, ...], deleted: tuple[Unneeded, ...]) -> Round:
        chosen: dict[Node_, int] = {}
        for one in plan:
            chosen[one.place, one.view] = chosen.get((one.place, one.view), 0) + 1
        spare = [node for node, count in chosen.items() if node[1].spare == 0 for _ in range(count)]
        needed = [
            node
            for node, count in self._shown.nodes
            if node[1].spare and not node[1].is_leaving
            for _ in range(count - chosen.get(node, 0))
        ]
        return Round(spare=tuple(spare), needed=tuple(needed))

    def _room(self) -> dict[str, int]:
        """By how much each group may shrink."""
        leaving = [self._group(place) for (place, view), n in self._shown.nodes if view.is_leaving for _ in range(n)]
        return {
            group.name: size - leaving.count(group.name) - group.least
            for group, size in zip(self._flags.groups, self.sizes, strict=True)
        }

    def _rules(self) -> Drainability:
        setup = self._setup
        budgets = [
            tuple(number for number, budget in enumerate(setup.budgets) if workload in select_by(setup, budget))
            for workload in range(len(setup.workloads))
        ]
        return Drainability(setup, self._flags, budgets)

    def _find_allowed(self) -> tuple[int, ...]:
        """What each budget allows."""
        scales = {w: BudgetScale(desired, unbound) for w, (unbound, desired) in enumerate(self._shown.workloads)}
        bound = list(self._list_bound())
        return tuple(status_of(self._setup, budget, scales, bound).allowed for budget in self._setup.budgets)

    def _list_bound(self) -> Iterator[tuple[int, PodFacts, int]]:
        for (_, view), nodes in self._shown.nodes:
            ready = dict(view.ready)
            for workload, alive, terminating in view.facts.pods:
                healthy = ready.get(workload, 0)
                yield workload, PodFacts(RUNNING, True), healthy * nodes
                yield workload, PodFacts(RUNNING, False), (alive - healthy) * nodes
                yield workload, PodFacts(RUNNING, False, terminating=True), terminating * nodes


def _is_open(spot: Spot) -> bool:
    return spot.role in (THERE, COMING)


def _nodes(chosen: tuple[Unneeded, ...]) -> tuple[Node_, ...]:
    return tuple((one.place, one.view) for one in chosen)


def mention_groups(found: Mentions, setup: Setup) -> None:
    """Adds what simulated scheduling reads of nodes, and by which name a node is remembered."""
    mention_scheduling(found, setup)
    found.topology.add(HOSTNAME)


IGNORED_LABELS = (
    *(HOSTNAME, ZONE, REGION),
    *("failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"),
)
MOST_DIFFERENCE_PERCENT = 5  # max-allocatable-difference-ratio


def is_similar(one: Node, other: Node) -> bool:
    """True if nodes of two groups are alike but for where they are (`IsCloudProviderNodeInfoSimilar`)."""
    labels = [tuple(pair for pair in node.labels if pair[0] not in IGNORED_LABELS) for node in (one, other)]
    amounts = zip(_amounts(one), _amounts(other), strict=False)
    return (
        labels[0] == labels[1]
        and [name for name, _ in one.others] == [name for name, _ in other.others]
        and all(100 * abs(a - b) <= MOST_DIFFERENCE_PERCENT * max(a, b) for a, b in amounts)
    )


def _amounts(node: Node) -> tuple[int, ...]:
    return (node.cpu_milli, node.memory_bytes, *(amount for _, amount in node.others))


def _requests(setup: Setup) -> dict[int, Requests]:
    found = {}
    for number, workload in enumerate(setup.workloads):
        amounts = pod_requests(workload.template, setup.settings.kubernetes_version).true
        found[number] = Requests(amounts.get(CPU, 0), amounts.get(MEMORY, 0))
    return found


class Bound:
    """The setup with its claims bound in one way: the scheduler's filters, and the names that somebody remembers."""

    def __init__(self, setup: Setup, unique_keys: frozenset[str]) -> None:
        self.setup = setup
        self.told = find_requested_names(setup)
        self._unique_keys = unique_keys
        self._made: dict[int, Scheduler] = {}

    def kernel(self, workload: int) -> Scheduler:
        """The scheduler of a workload's pods."""
        if workload not in self._made:
            self._made[workload] = Scheduler(self.setup, workload, self._unique_keys)
        return self._made[workload]
