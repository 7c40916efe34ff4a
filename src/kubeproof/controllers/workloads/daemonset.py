"""The DaemonSet controller: one pod on every node that should have one, and rolling updates.

Mirrors `updateDaemonSet` of `pkg/controller/daemon/daemon_controller.go`: one sync looks at all nodes; a rolling
update goes on only when nothing else is to do. New pods are made for a node (required node affinity by name) and wait
there for the scheduler. Ready pods count as available (minReadySeconds 0). Upstream creates at most 250 pods per
sync; here one step does all, unless the API server may refuse one of them: then which nodes get theirs is open, pods
that have to go do so all the same, and an update waits until nothing is refused (`syncNodes`, `updateDaemonSet`). Of a
deleted DaemonSet the garbage collector's work is done here, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import field

from kubeproof.cluster.loops.actions import Action, Arrive, KeepNode, NodeRef
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Reads, Seen, Stage
from kubeproof.cluster.loops.footprint import NOBODY, Among, Clocks, Footprint, Writes, some
from kubeproof.cluster.nodes.daemons import Eligibility, eligibility, mention_eligibility
from kubeproof.cluster.nodes.places import Layout, taints_of
from kubeproof.cluster.objects import Strategy, family, short_name
from kubeproof.cluster.said import NOTHING_SAID, Said, join_said, not_created
from kubeproof.cluster.state import NodeCell, Phase, WorkloadCell
from kubeproof.controllers.admission.quota import ENDLESS, Charged, Ration, find_charged, in_use, ration_of
from kubeproof.controllers.workloads.daemon_nodes import DaemonPod, node_work
from kubeproof.controllers.workloads.daemon_update import NodePods, Update, limits_of, old_and_new, surges, update
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

PINNED = -1  # in place of a phase: the pod has no node yet
Name = tuple[int, int]  # revision and phase: pods that agree in both are not told apart


class Asked(NamedTuple):
    """A DaemonSet as its loop sees it, or another workload that its quotas charge."""

    exists: int = 0
    template: int = 0  # the revision asked for
    unbound: int = 0  # pods without a node, of the others


class Owned(NamedTuple):
    """What it has on one node."""

    where: tuple[Eligibility, ...]  # per revision whether it should run there
    pods: tuple[tuple[Name, int], ...]  # sorted
    charged: tuple[Charged, ...]  # the pods there that quotas charge


class Group(NamedTuple):
    """Nodes that look alike."""

    ref: NodeRef
    owned: Owned
    nodes: int


Sight = Seen[Asked, Groups[Owned]]


@dataclass(frozen=True, slots=True)
class DaemonSetController:
    """The loop for one DaemonSet with all its revisions."""

    layout: Layout
    workload: int
    stage: int = Stage.ALWAYS
    at_once: bool = False  # nobody else can be refused, or cause a refusal, while it creates its pods
    _rations: tuple[Ration | None, ...] = field(init=False, compare=False, repr=False)  # per revision

    reads_nodes = mention_eligibility

    @property
    def footprint(self) -> Footprint:
        return Footprint(
            writes=Writes.PODS | Writes.DELETIONS,
            clocks=Clocks(0),
            tells_starts=some(self.members if len(self.members) > 1 else ()),
            chooses_by_start=some(self.members if len(self.members) == 1 else ()),
            sees_objects=NOBODY,
            sees_new_pods=some(self._charged),
            among=Among.BY_ITSELF,
        )

    def __post_init__(self) -> None:
        object.__setattr__(self, "_rations", tuple(ration_of(self.layout.setup, one) for one in self.members))

    @property
    def name(self) -> Actor:
        return Actor(ActorKind.DAEMON_SET, short_name(self.layout.setup, self.workload))

    @property
    def members(self) -> tuple[int, ...]:
        """The DaemonSet's revisions, oldest first."""
        return family(self.layout.setup, self.workload)

    @property
    def reads(self) -> Reads:
        others = tuple(number for number in self._charged if number not in self.members)
        return Reads((self.workload, *others), self.layout.every_place)

    @property
    def _charged(self) -> tuple[int, ...]:
        """The workloads whose pods its quotas charge."""
        return tuple(sorted({number for ration in self._rations if ration is not None for number in ration.members}))

    def show_workload(self, workload: int, cell: WorkloadCell) -> Asked:
        """Whether the DaemonSet exists, and which revision it asks for; of others their pods without a node."""
        return Asked(cell.exists, cell.template) if workload == self.workload else Asked(unbound=cell.unbound)

    def show_node(self, place: int, cell: NodeCell) -> Owned | None:
        """Where it should run, and its pods by revision and phase; None for a node that it has nothing to do with."""
        amounts: Counter[Name] = Counter()
        for kind, count in cell.pods:
            if kind.workload in self.members:
                amounts[kind.workload, kind.phase] += count
        for workload, count in cell.pinned:
            if workload in self.members:
                amounts[workload, PINNED] += count
        where = tuple(self._eligibility(member, place, cell) for member in self.members)
        charged = find_charged(cell, self._charged) if any(self._rations) else ()
        if not (amounts or charged or any(map(any, where))):
            return None
        return Owned(where, tuple(sorted(amounts.items())), charged)

    def _eligibility(self, member: int, place: int, cell: NodeCell) -> Eligibility:
        sample = self.layout.places[place].sample
        return eligibility(self.layout.setup.workloads[member].template, sample, taints_of(sample, cell))

    def act(self, seen: Sight) -> tuple[Decision, ...]:
        """One sync: what nodes lack or have too much of, otherwise the next step of an update, in every way."""
        groups = [
            Group(NodeRef(place, owned), owned, count)
            for place, shown in zip(self.reads.places, seen.places, strict=True)
            for owned, count in _merge(shown).items()
        ]
        exists, template, _ = seen.workloads[0]
        if not exists:
            cleared = tuple(action for group in groups for action in self._clear(group))
            return (Decision(cleared),) if cleared else ()
        upkeep = tuple(action for group in groups for action in self._upkeep(group, template))
        room = self._room(seen, template)
        if upkeep:
            return tuple(Decision(actions) for actions in self._admit(upkeep, room) if actions)
        ways = dict.fromkeys(w for actions in self._updates(groups, template) for w in self._in_part(actions, room))
        return tuple(Decision(actions) for actions in ways if actions)

    # -- upkeep ---------------------------------------------------------------------------------

    @property
    def _strategy(self) -> Strategy:
        return self.layout.setup.workloads[self.workload].strategy

    def _clear(self, group: Group) -> list[Action]:
        ref, owned, nodes = group
        names = [name for name, count in owned.pods if name[1] != Phase.TERMINATING for _ in range(count)]
        return [self._work(ref, None, names)] * nodes if names else []

    def _upkeep(self, group: Group, template: int) -> list[Action]:
        ref, owned, nodes = group
        pods = self._pods(owned, template)
        work = node_work(owned.where[template], pods, surges=surges(self._strategy))
        if not work.creates and not work.deletes:
            return []
        return [self._work(ref, template if work.creates else None, work.deletes)] * nodes

    def _pods(self, owned: Owned, template: int) -> tuple[DaemonPod, ...]:
        new = self.members[template]
        return tuple(
            DaemonPod(
                name=(revision, phase),
                is_new=revision == new,
                is_ready=phase == Phase.READY,
                is_available=phase == Phase.READY,
                is_ending=phase == Phase.TERMINATING,
                rank=(int(phase == PINNED),),
            )
            for (revision, phase), count in owned.pods
            for _ in range(count)
        )

    def _work(self, ref: NodeRef, creates: int | None, deletes: Sequence[object]) -> Action:
        """The work on one node as an action; a template that names its node brings its pods past the scheduler."""
        revision = None if creates is None else self.members[creates]
        if revision is not None and self.layout.setup.workloads[revision].template.node_name and not deletes:
            return Arrive(ref, revision, 1)
        names: Counter[Name] = Counter(deletes)  # type: ignore[arg-type]
        drops = tuple((w, count) for (w, phase), count in sorted(names.items()) if phase == PINNED)
        losses = tuple((w, phase, count) for (w, phase), count in sorted(names.items()) if phase != PINNED)
        return KeepNode(ref, self.workload, revision, drops, losses)

    # -- admission ------------------------------------------------------------------------------

    def _room(self, seen: Sight, template: int) -> int:
        """How many pods of a revision the API server lets in at most."""
        if self.layout.setup.workloads[self.members[template]].refused:
            return 0
        ration = self._rations[template]
        return ENDLESS if ration is None else ration.room(self._in_use(seen))

    def _in_use(self, seen: Sight) -> dict[int, Charged]:
        """The pods that its quotas charge, by workload; its own without a node wait with their nodes."""
        waiting = zip(self.reads.workloads[1:], (other.unbound for other in seen.workloads[1:]), strict=True)
        return in_use(waiting, ((owned.charged, count) for groups in seen.places for owned, count in groups))

    def _admit(self, actions: tuple[Action, ...], room: int) -> Iterator[tuple[Action, ...]]:
        """The upkeep; where a pod may be refused, one node's after the other, and what has to go when none gets in."""
        creations = tuple(action for action in actions if _creates(action))
        if len(creations) <= (self._most_at_once if room >= len(creations) else 0):
            yield actions
        elif room:
            yield from ((creation,) for creation in dict.fromkeys(creations))
        else:
            yield tuple(action for action in actions if not _creates(action))

    def _in_part(self, actions: tuple[Action, ...], room: int) -> Iterator[tuple[Action, ...]]:
        """A step of an update with as many of its creations as are let in, wherever; others may take room meanwhile."""
        creations = Counter(action for action in actions if _creates(action))
        most = min(room, creations.total())
        if most == creations.total() <= self._most_at_once:
            yield actions
            return
        rest = tuple(action for action in actions if not _creates(action))
        least = min(most, self._most_at_once)
        for number in range(least, most + 1):
            for picks in _picks(list(creations.values()), number):
                taken = (action for action, n in zip(creations, picks, strict=True) for _ in range(n))
                yield (*taken, *rest)

    @property
    def _most_at_once(self) -> int:
        return ENDLESS if self.at_once or not any(self._rations) else 1

    def refusal(self, seen: Sight) -> Said:
        """Why nodes are without their pod: the API server lets none in. Empty if that is not so."""
        exists, template, _ = seen.workloads[0]
        groups = [Group(NodeRef(-1, owned), owned, count) for groups in seen.places for owned, count in groups]
        missing = sum(_creates(action) for group in groups for action in self._upkeep(group, template)) if exists else 0
        if not missing or self._room(seen, template):
            return NOTHING_SAID
        ration = self._rations[template]
        refused = join_said(self.layout.setup.workloads[self.members[template]].refused)
        tightest = ration.tightest(self._in_use(seen)) if ration is not None else NOTHING_SAID
        return not_created(missing, refused or tightest)

    # -- updates --------------------------------------------------------------------------------

    def _update(self, groups: Sequence[Group], template: int) -> tuple[list[NodePods], Update]:
        shown = [NodePods(owned.where[template], self._pods(owned, template), count) for _, owned, count in groups]
        return shown, update(shown, self._strategy, self.layout.setup.settings.kubernetes_version)

    def _updates(self, groups: Sequence[Group], template: int) -> Iterator[tuple[Action, ...]]:
        """The actions of one step of the rolling update, for every choice of nodes that a limit leaves."""
        shown, done = self._update(groups, template)

        def deletion(index: int) -> Action:
            old, _ = old_and_new(shown[index].pods)
            return self._work(groups[index].ref, None, [old[0].name])

        def creation(index: int) -> Action:
            return self._work(groups[index].ref, template, ())

        sure = [deletion(index) for index in done.deletes for _ in range(shown[index].nodes)]
        sure += [creation(index) for index in done.creates for _ in range(shown[index].nodes)]
        chosen = creation if surges(self._strategy) else deletion
        sizes = [shown[index].nodes for index in done.candidates]
        sunset_sizes = [shown[index].nodes for index in done.sunset]
        for picks in _picks(sizes, done.chosen):
            taken = [chosen(index) for index, n in zip(done.candidates, picks, strict=True) for _ in range(n)]
            for ends in _picks(sunset_sizes, done.removed):
                gone = [deletion(index) for index, n in zip(done.sunset, ends, strict=True) for _ in range(n)]
                yield (*sure, *taken, *gone)

    def why(self, seen: Sight) -> tuple[str, ...]:
        """The numbers behind a sync now."""
        exists, template, _ = seen.workloads[0]
        if not exists:
            return ()
        views = [(owned, count) for shown in seen.places for owned, count in shown]
        desired = sum(count for owned, count in views if owned.where[template].should_run)
        have = sum(
            count for owned, count in views if any(p.is_available for p in self._pods(owned, template) if p.is_new)
        )
        limits = limits_of(self._strategy, desired)
        rule = f"maxUnavailable {limits.unavailable}, maxSurge {limits.surge}" if self._strategy.rolling else "OnDelete"
        return (f"should run on {desired} node(s), has an available pod of this revision on {have}; {rule}",)


def _creates(action: Action) -> bool:
    """True if a pod comes with the action."""
    return isinstance(action, Arrive) or (isinstance(action, KeepNode) and action.creates is not None)


def _merge(shown: Groups[Owned]) -> dict[Owned, int]:
    """Nodes that look alike counted together, however they were shown."""
    amounts: dict[Owned, int] = {}
    for owned, count in shown:
        amounts[owned] = amounts.get(owned, 0) + count
    return amounts


def _picks(sizes: Sequence[int], count: int) -> Iterator[tuple[int, ...]]:
    """Every way to take `count` nodes from groups of these sizes."""
    if not sizes:
        if count == 0:
            yield ()
        return
    rest = sum(sizes[1:])
    for taken in range(max(0, count - rest), min(sizes[0], count) + 1):
        for others in _picks(sizes[1:], count - taken):
            yield (taken, *others)
