"""The ReplicaSet controller: creates missing pods, deletes surplus ones by rank.

Mirrors `manageReplicas` of `pkg/controller/replicaset/replica_set.go`. Upstream creates or deletes at most 500 pods per
sync and syncs again at once; here one step does the whole difference, since nothing between two such syncs
changes what they do. Where a quota has room for some of the missing pods only, these are created, and the rest when
there is room again; a workload whose pods the API server refuses as such never has any. Where others may take that
room in between, pods are created one by one: see `kubeproof.model.reductions.bursts`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from itertools import islice
from typing import cast

from kubeproof.cluster.loops.actions import ANY, Action, Arrive, CreatePods, Delete, DeleteUnbound, NodeRef
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Reads, Seen, Stage
from kubeproof.cluster.loops.footprint import NOBODY, Among, Clocks, Deletes, Footprint, Sizing, Writes, some
from kubeproof.cluster.loops.mentions import mention_nothing
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import family, short_name
from kubeproof.cluster.said import NOTHING_SAID, Said, join_said, not_created
from kubeproof.cluster.state import NEVER, NodeCell, Phase, WorkloadCell
from kubeproof.controllers.admission.quota import ENDLESS, Charged, Ration, find_charged, in_use, ration_of
from kubeproof.controllers.workloads.victims import PENDING, RUNNING, Choose, Loss, Tier, choices
from kubeproof.errors import LimitReached
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

MOST_WAYS = 50_000  # alternatives of one scale-down that are followed

# What rules 2 and 3 compare, by phase of a bound pod.
RANKS: dict[int, tuple[int, int]] = {
    Phase.STARTING: (PENDING, 0),
    Phase.RUNNING: (RUNNING, 0),
    Phase.UNREADY: (RUNNING, 0),
    Phase.READY: (RUNNING, 1),
}
PHASES_OF_RANK = {
    rank: tuple(int(phase) for phase, other in RANKS.items() if other == rank) for rank in set(RANKS.values())
}


class Size(NamedTuple):
    """A ReplicaSet as its loop sees it, or another workload that its quotas charge."""

    replicas: int  # NEVER: another workload
    unbound: int  # pods without a node


class Owned(NamedTuple):
    """What it has on one node."""

    pods: tuple[tuple[tuple[int, int], int], ...]  # ((phase rank, ready), pods), sorted
    others: int  # active pods of other revisions of its Deployment
    charged: tuple[Charged, ...]  # the pods there that its quotas charge


Owner = tuple[int, Owned, tuple[int, int]]  # place, view of the node, phase and readiness
Sight = Seen[Size | None, Groups[Owned]]


@dataclass(frozen=True, slots=True)
class ReplicaSetController:
    """The loop for one ReplicaSet (a Deployment's, or a bare one)."""

    layout: Layout
    workload: int
    stage: int = Stage.ALWAYS
    at_once: bool = False  # nobody else can be refused, or cause a refusal, while it creates its pods
    _ration: Ration | None = field(init=False, compare=False, repr=False)
    _siblings: tuple[int, ...] = field(init=False, compare=False, repr=False)  # of its Deployment: rule 5 counts them

    reads_nodes = mention_nothing

    @property
    def footprint(self) -> Footprint:
        return Footprint(
            writes=Writes.PODS | Writes.DELETIONS,
            deletes=Deletes.SURPLUS,
            sizing=Sizing.KEPT,
            clocks=Clocks(0),
            tells_starts=NOBODY,
            chooses_by_start=some((self.workload,)),
            tells_ends=some(self._charged),
            sees_objects=NOBODY,
            sees_new_pods=some(self._charged),
            among=Among.BY_ITSELF,
        )

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ration", ration_of(self.layout.setup, self.workload))
        object.__setattr__(self, "_siblings", family(self.layout.setup, self.workload))

    @property
    def name(self) -> Actor:
        loop = self.layout.setup.workloads[self.workload].rules.loop
        return Actor(loop or ActorKind.REPLICA_SET, short_name(self.layout.setup, self.workload))

    @property
    def reads(self) -> Reads:
        others = tuple(number for number in self._charged if number != self.workload)
        return Reads(workloads=(self.workload, *others), places=self.layout.every_place)

    @property
    def _charged(self) -> tuple[int, ...]:
        """The workloads whose pods its quotas charge."""
        return self._ration.members if self._ration is not None else ()

    def show_workload(self, workload: int, cell: WorkloadCell) -> Size | None:
        """The ReplicaSet's size and the pods without a node; of other workloads these alone."""
        if workload != self.workload:
            return Size(NEVER, cell.unbound)
        if cell.replicas == NEVER:
            return None  # of a deleted workload the size is 0: the garbage collector's work is done here, too
        return Size(cell.replicas, cell.unbound)

    def show_node(self, place: int, cell: NodeCell) -> Owned | None:
        """How many of its active pods the node has, by phase and readiness."""
        amounts: dict[tuple[int, int], int] = {}
        others, siblings = 0, self._siblings
        for kind, count in cell.pods:
            if kind.phase == Phase.TERMINATING:
                continue
            if kind.workload == self.workload:
                rank = RANKS[kind.phase]
                amounts[rank] = amounts.get(rank, 0) + count
            elif kind.workload in siblings:
                others += count
        charged = find_charged(cell, self._charged) if self._ration is not None else ()
        return Owned(tuple(sorted(amounts.items())), others, charged) if amounts or charged else None

    def act(self, seen: Sight) -> tuple[Decision, ...]:
        """Creates what is missing, or deletes what is too much in every way the ranking allows."""
        return self.acting(seen, choices)

    def acting(self, seen: Sight, chosen: Choose) -> tuple[Decision, ...]:
        """The same with another way to go through the choices among equals: a simulation draws one of them."""
        own = seen.workloads[0]
        if own is None:
            return ()
        replicas, unbound = own
        bound = sum(_total(owned) * count for groups in seen.places for owned, count in groups)
        surplus = unbound + bound - replicas
        if surplus < 0:
            allowed = min(-surplus, self._room(seen), self._most_at_once)
            return (Decision(self._creation(allowed)),) if allowed else ()
        if surplus == 0:
            return ()
        ways = tuple(islice(self._deletions(seen, surplus, unbound, chosen), MOST_WAYS + 1))
        if len(ways) > MOST_WAYS:
            raise LimitReached(f"more than {MOST_WAYS} ways to choose {surplus} victims in one scale-down")
        return tuple(Decision(actions) for actions in ways)

    def _room(self, seen: Sight) -> int:
        """How many pods the API server lets in at most."""
        if self.layout.setup.workloads[self.workload].refused:
            return 0
        return self._ration.room(self._in_use(seen)) if self._ration is not None else ENDLESS

    @property
    def _most_at_once(self) -> int:
        return ENDLESS if self.at_once or self._ration is None else 1

    def _in_use(self, seen: Sight) -> dict[int, Charged]:
        """The pods that its quotas charge, by workload."""
        waiting = ((w, view.unbound) for w, view in zip(self.reads.workloads, seen.workloads, strict=True) if view)
        return in_use(waiting, ((owned.charged, count) for groups in seen.places for owned, count in groups))

    def refusal(self, seen: Sight) -> Said:
        """Why pods are missing that the API server does not let in; empty if none is missing for that."""
        own = seen.workloads[0]
        if own is None:
            return NOTHING_SAID
        replicas, unbound = own
        bound = sum(_total(owned) * count for groups in seen.places for owned, count in groups)
        if unbound + bound >= replicas:
            return NOTHING_SAID
        refused = self.layout.setup.workloads[self.workload].refused
        tightest = self._ration.tightest(self._in_use(seen)) if self._ration is not None else NOTHING_SAID
        reason = join_said(refused) or tightest
        return not_created(replicas - unbound - bound, reason) if reason else NOTHING_SAID

    def _creation(self, count: int) -> tuple[Action, ...]:
        template = self.layout.setup.workloads[self.workload].template
        place = self.layout.find_named(template.node_name) if template.node_name else None
        if place is None:
            return (CreatePods(self.workload, count),)
        return (Arrive(NodeRef(place, ANY), self.workload, count),)

    def _deletions(
        self, seen: Sight, surplus: int, unbound: int, chosen: Choose = choices
    ) -> Iterator[tuple[Action, ...]]:
        """Unassigned pods go first (rule 1), then bound ones by rules 2, 3 and 5."""
        direct = min(surplus, unbound)
        first: tuple[Action, ...] = (DeleteUnbound(self.workload, direct),) if direct else ()
        tiers = [
            Tier((*rank, -_total(owned) - owned.others), (place, owned, rank), per_node, nodes)
            for place, groups in zip(self.reads.places, seen.places, strict=True)
            for owned, nodes in _merge(groups).items()
            for rank, per_node in owned.pods
        ]
        for losses in chosen(tiers, surplus - direct):
            yield (*first, *self._as_actions(losses))

    def _as_actions(self, losses: tuple[Loss, ...]) -> Iterator[Action]:
        """One deletion per node. Of the tiers on one node all but the last are taken whole."""
        per_group: dict[tuple[int, Owned, int], list[tuple[tuple[int, ...], tuple[int, ...]]]] = {}
        for tier, parts in losses:
            place, owned, rank = cast("Owner", tier.owner)
            per_group.setdefault((place, owned, tier.nodes), []).append((PHASES_OF_RANK[rank], parts))
        for (place, owned, nodes), lost in per_group.items():
            for index in range(nodes):
                taken = tuple((phases, parts[index]) for phases, parts in lost if index < len(parts))
                if taken:
                    yield Delete(NodeRef(place, owned), self.workload, taken)


def _total(owned: Owned) -> int:
    return sum(pods for _, pods in owned.pods)


def _merge(groups: Groups[Owned]) -> dict[Owned, int]:
    """Nodes that look alike counted together, however they were shown."""
    amounts: dict[Owned, int] = {}
    for owned, count in groups:
        amounts[owned] = amounts.get(owned, 0) + count
    return amounts
