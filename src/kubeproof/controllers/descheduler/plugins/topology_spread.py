"""RemovePodsViolatingTopologySpreadConstraint: evicts from domains that have too many pods.

Each constraint is balanced for itself, as if the others did not exist and as if what it moves arrived where it
should; the marked pods of all constraints are evicted together. Whether the scheduler can put them anywhere else
is asked of NodeFit only, pod by pod, against nodes of domains below the average.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from kubeproof.cluster.api import versions
from kubeproof.cluster.steering.priorities import priority_of
from kubeproof.controllers.descheduler.choices import assignments, check_limit, selections, share_out
from kubeproof.controllers.descheduler.ledger import (
    Block,
    Ledger,
    NodeState,
    Plan,
    Take,
    join,
    merge,
)
from kubeproof.controllers.descheduler.plugins.spread_choice import Domain, MarkedNode, Rank, after_loss
from kubeproof.controllers.descheduler.plugins.spread_constraints import (
    CONSTRAINTS_ARGUMENT_SINCE,
    HARD,
    SOFT,
    BalancedConstraint,
    identity,
    includes,
    is_balanced,
    moves,
    resolve,
)
from kubeproof.controllers.descheduler.protocol import Context
from kubeproof.controllers.descheduler.values import PodGroup
from kubeproof.named_tuples import NamedTuple

NAME = "RemovePodsViolatingTopologySpreadConstraint"
ARGUMENTS = frozenset(
    {"namespaces", "labelSelector", "includeSoftConstraints", "constraints", "topologyBalanceNodeFit"}
)

COUNTS_EVICTABLE_SINCE = versions.COUNTS_EVICTABLE.since
PREFERS_FITTING_SINCE = versions.PREFERS_FITTING.since
SORTED_BY_PRIORITY_SINCE = versions.SORTED_BY_PRIORITY.since

Marked = tuple[tuple[MarkedNode, int], ...]  # all nodes, sorted


class DomainKind(NamedTuple):
    """Equal domains: their size, their number, and the nodes of one of them."""

    size: int
    name: str
    domains: int
    nodes: Domain


class TopologySpread:
    """The plugin at work on one ledger after another."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._scene = context.scene
        self._actions = self._find_allowed_actions()
        self._needs_fit = self._scene.version < CONSTRAINTS_ARGUMENT_SINCE or context.arguments.flag(
            "topologyBalanceNodeFit", default=True
        )

    def run(self, ledger: Ledger) -> frozenset[Ledger]:
        """All ledgers: marks constraint by constraint, then evicts in any order."""
        states: set[Marked] = {tuple((MarkedNode(state, ()), count) for state, count in ledger.nodes)}
        for constraint in self.constraints(ledger):
            states = {after for before in states for after in self._balance(before, constraint)}
            check_limit(len(states))
        plans = {plan for state in states for plan in self._plans(state)}
        check_limit(len(plans))
        results = {end for plan in plans for end in self._context.evictions.pod_by_pod(ledger, plan)}
        check_limit(len(results))
        return frozenset(results)

    def never_evicts(self) -> bool:
        """True if no workload has a constraint that is balanced."""
        declared = (one for workload in self._scene.setup.workloads for one in workload.template.spread)
        return not any((HARD if one.hard else SOFT) in self._actions for one in declared)

    def keeps_even(self) -> bool:
        """Only without constraints: domains may differ in how many nodes they have."""
        return self.never_evicts()

    def constraints(self, ledger: Ledger) -> tuple[BalancedConstraint, ...]:
        """The distinct constraints of the pods that are looked at, namespace by namespace."""
        found: dict[tuple[object, ...], BalancedConstraint] = {}
        for workload in sorted(self._workloads(ledger)):
            for declared in self._scene.template(workload).spread:
                if (HARD if declared.hard else SOFT) in self._actions:
                    constraint = resolve(self._scene, workload, declared)
                    found.setdefault(identity(constraint), constraint)
        return tuple(sorted(found.values(), key=lambda constraint: constraint.namespace))

    def _workloads(self, ledger: Ledger) -> set[int]:
        """Workloads with pods that bring constraints: since 0.28 countable ones, before all of the namespace."""
        if self._scene.version >= COUNTS_EVICTABLE_SINCE:
            groups = (g for state, _ in ledger.nodes for _, g, _ in self._countable(state))
            return {group.workload for group in groups}
        everywhere = {group.workload for entry in self._scene.entries for group in entry.pods if group.pods}
        everywhere |= {workload for workload, pods in self._scene.unbound if pods}
        return {w for w in everywhere if self._context.arguments.admits_namespace(self._scene.workload(w).namespace)}

    def _countable(self, state: NodeState) -> Iterator[tuple[int, PodGroup, int]]:
        """Groups of a ready node that count for the size of a domain, if the selector matches."""
        if state.entry not in self._scene.ready:
            return
        strict = self._scene.version >= COUNTS_EVICTABLE_SINCE
        for index, group in enumerate(self._scene.entries[state.entry].pods):
            left = group.pods - state.losses[index]
            if group.terminating or left == 0:
                continue
            if strict and (
                group.failed or not self._context.admits(group) or not self._context.evictor.may_evict(group)
            ):
                continue
            yield index, group, left

    def _list_counted(self, state: NodeState, constraint: BalancedConstraint) -> list[tuple[int, PodGroup, int]]:
        """The groups of a node that the constraint counts."""
        return [
            (index, group, left)
            for index, group, left in self._countable(state)
            if self._scene.workload(group.workload).namespace == constraint.namespace
            and constraint.matches(self._scene.labels(group.workload))
        ]

    def kinds(self, nodes: Marked, constraint: BalancedConstraint) -> list[DomainKind]:
        """The domains of the constraint by ascending size, equal ones together.

        A domain exists if an eligible node or a counted pod is in it; a unique key makes each node a domain.
        """
        shared: dict[str, list[tuple[MarkedNode, int]]] = {}
        exists: set[str] = set()
        kinds = []
        for node, count in nodes:
            entry = node.state.entry
            labels = self._scene.entries[entry].node.label_map
            if entry not in self._scene.ready or constraint.key not in labels:
                continue
            size = self._size(node, constraint)
            is_domain = size > 0 or includes(self._scene, constraint, entry)
            if constraint.key not in self._scene.unique_keys:
                shared.setdefault(labels[constraint.key], []).append((node, count))
                exists |= {labels[constraint.key]} if is_domain else set()
            elif is_domain:
                kinds.append(DomainKind(size, labels[constraint.key], count, ((node, 1),)))
        for value in exists:
            size = sum(self._size(node, constraint) * count for node, count in shared[value])
            kinds.append(DomainKind(size, value, 1, tuple(shared[value])))
        return sorted(kinds)

    def _size(self, node: MarkedNode, constraint: BalancedConstraint) -> int:
        return sum(left for _, _, left in self._list_counted(node.state, constraint))

    def _balance(self, nodes: Marked, constraint: BalancedConstraint) -> set[Marked]:
        """The nodes with the constraint's marks added, for every choice."""
        kinds = self.kinds(nodes, constraint)
        sizes = [kind.size for kind in kinds for _ in range(kind.domains)]
        if is_balanced(sizes, constraint.max_skew):
            return {nodes}
        losses = [0] * len(sizes)
        for move in moves(sizes, constraint.max_skew):
            losses[move.source] += move.pods
        small = self._below_average(kinds, constraint)
        changes: set[Marked] = {()}
        for size in sorted(set(sizes)):
            of_size = [loss for loss, own in zip(losses, sizes, strict=True) if own == size]
            if any(of_size):
                alike = [kind for kind in kinds if kind.size == size]
                steps = self._share_out(alike, of_size, constraint, small)
                changes = {(*before, *step) for before in changes for step in steps}
                check_limit(len(changes))
        return {_sum((*nodes, *change)) for change in changes}

    def _share_out(
        self, alike: list[DomainKind], losses: list[int], constraint: BalancedConstraint, small: tuple[int, ...]
    ) -> set[Marked]:
        """Changes to nodes when domains of one size lose these numbers; which domain loses which is open."""
        results = set()
        for split in assignments(losses, [kind.domains for kind in alike]):
            partial: set[Marked] = {()}
            for kind, lost in zip(alike, split, strict=True):
                for loss, times in lost.items():
                    steps = list(self._losses(kind.nodes, loss, times, constraint, small)) if loss else [()]
                    partial = {_sum((*before, *step)) for before in partial for step in steps}
                    check_limit(len(partial))
            results |= partial
        return results

    def _losses(
        self, domain: Domain, loss: int, times: int, constraint: BalancedConstraint, small: tuple[int, ...]
    ) -> Iterator[Marked]:
        """Changes to nodes when so many equal domains lose the same number of pods."""
        ranks = cache(lambda node: self._ranks(node, constraint, small))
        ends = sorted(after_loss(domain, loss, ranks, self._scene.version))
        gone = [(node, -count * times) for node, count in domain]
        for shares in share_out(times, ends):
            come = [(node, count * share) for end, share in shares for node, count in end]
            yield _sum((*gone, *come))

    def _ranks(self, node: MarkedNode, constraint: BalancedConstraint, small: tuple[int, ...]) -> tuple[Rank, ...]:
        """The node's counted pods by the order in which they are taken."""
        ranks: dict[tuple[int, ...], list[tuple[int, int, bool]]] = {}
        for index, group, left in self._list_counted(node.state, constraint):
            fits = self._scene.fits_another(group.workload, node.state.entry, small)
            order = (int(not self._context.evictor.may_evict(group)), int(self._is_bound(group)), self._last(group))
            prefix = (int(not fits),) if self._scene.version >= PREFERS_FITTING_SINCE else ()
            ranks.setdefault((*prefix, *order), []).append((index, left, fits or not self._needs_fit))
        return tuple(
            Rank(
                order,
                tuple(index for index, _, _ in groups),
                tuple(index for index, _, marks in groups if marks),
                sum(left for _, left, _ in groups),
            )
            for order, groups in sorted(ranks.items())
        )

    def _last(self, group: PodGroup) -> int:
        """Since 0.33 high priorities are taken first: the list is sorted upwards, and read from its end."""
        by_priority = self._scene.version >= SORTED_BY_PRIORITY_SINCE
        return -priority_of(self._scene.template(group.workload)) if by_priority else 0

    def _is_bound(self, group: PodGroup) -> bool:
        """True if the pod has a nodeSelector or node affinity, required or preferred."""
        template = self._scene.template(group.workload)
        return bool(template.node_selector or template.preferred_terms or template.required_terms is not None)

    def _below_average(self, kinds: list[DomainKind], constraint: BalancedConstraint) -> tuple[int, ...]:
        """Entries with eligible nodes in domains smaller than the ideal average."""
        average = sum(kind.size * kind.domains for kind in kinds) / sum(kind.domains for kind in kinds)
        entries = {node.state.entry for kind in kinds if kind.size < average for node, _ in kind.nodes}
        return tuple(entry for entry in sorted(entries) if includes(self._scene, constraint, entry))

    def _plans(self, nodes: Marked) -> Iterator[Plan]:
        """What to evict, for every choice of marked pods; single pods in any order."""
        partial: set[tuple[tuple[NodeState, tuple[Block, ...], int], ...]] = {()}
        for node, count in nodes:
            works = sorted({self._work(node.state, lost) for lost in self._lose(node)})
            partial = {
                (*before, *((node.state, work, share) for work, share in shares))
                for before in partial
                for shares in share_out(count, works)
            }
            check_limit(len(partial))
        for plan in partial:
            yield join(plan)

    def _lose(self, node: MarkedNode) -> set[tuple[int, ...]]:
        """Marked pods by group; constraints that count different groups agree on the pods of a common one."""
        entry = self._scene.entries[node.state.entry]
        results = {(0,) * len(entry.pods)}
        for mark in node.marks:
            left = [entry.pods[group].pods - node.state.losses[group] for group in mark.groups]
            chosen = [dict(zip(mark.groups, pods, strict=True)) for pods in selections(left, mark.pods)]
            results = {
                tuple(max(n, choice.get(g, 0) if g in mark.marked else 0) for g, n in enumerate(before))
                for before in results
                for choice in chosen
            }
        return results

    def _work(self, state: NodeState, lost: tuple[int, ...]) -> tuple[Block, ...]:
        """The marked pods that the evictor lets go, checked once more pod by pod."""
        groups = self._scene.entries[state.entry].pods
        evictor = self._context.evictor
        return tuple(
            Block(0, (Take((index,), pods),))
            for index, pods in enumerate(lost)
            if pods
            and self._context.admits(groups[index])
            and evictor.may_evict(groups[index])
            and evictor.may_evict_now(groups[index], state.entry)
        )

    def _find_allowed_actions(self) -> frozenset[str]:
        """DoNotSchedule, and ScheduleAnyway if asked for: by a flag up to 0.27, by a list since."""
        arguments = self._context.arguments
        if self._scene.version >= CONSTRAINTS_ARGUMENT_SINCE:
            return frozenset(arguments.texts("constraints") or (HARD,))
        return frozenset({HARD, SOFT} if arguments.flag("includeSoftConstraints") else {HARD})

    def explain(self, ledger: Ledger) -> Iterator[str]:
        """Sizes, average and moves, constraint by constraint."""
        nodes: Marked = tuple((MarkedNode(state, ()), count) for state, count in merge(ledger.nodes))
        constraints = self.constraints(ledger)
        moved = 0
        for constraint in constraints:
            kinds = self.kinds(nodes, constraint)
            yield from self._tell_drops(kinds, constraint)
            sizes = [kind.size for kind in kinds for _ in range(kind.domains)]
            moved += not is_balanced(sizes, constraint.max_skew)
        if moved and len(constraints) > 1:
            yield (
                f"{NAME}: decides constraint by constraint: each is balanced for itself, "
                f"whatever the other {len(constraints) - 1} and the scheduler's preferences say"
            )

    def _tell_drops(self, kinds: list[DomainKind], constraint: BalancedConstraint) -> Iterator[str]:
        names = [kind.name for kind in kinds for _ in range(kind.domains)]
        sizes = [kind.size for kind in kinds for _ in range(kind.domains)]
        many = [f"{kind.domains} like " if kind.domains > 1 else "" for kind in kinds]
        listed = ", ".join(f"{some}{kind.name}={kind.size}" for some, kind in zip(many, kinds, strict=True))
        head = f"{NAME}: {constraint.key} (maxSkew {constraint.max_skew}): {listed}"
        if is_balanced(sizes, constraint.max_skew):
            yield f"{head}: balanced"
            return
        yield f"{head}; ideal average {sum(sizes)} / {len(sizes)} = {sum(sizes) / len(sizes):g}"
        for source, target, pods in moves(sizes, constraint.max_skew):
            yield f"{NAME}: moves {pods} from {names[source]} toward {names[target]}"


def build(context: Context) -> TopologySpread:
    """The plugin with its arguments."""
    return TopologySpread(context)


def _sum(nodes: Marked) -> Marked:
    """The numbers of equal nodes added up; in a change they may be negative."""
    counts: dict[MarkedNode, int] = {}
    for node, count in nodes:
        counts[node] = counts.get(node, 0) + count
    return tuple(sorted((node, count) for node, count in counts.items() if count))
