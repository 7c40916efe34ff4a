"""The DaemonSet controller: one pod on every node that should have one, and rolling updates.

Mirrors `updateDaemonSet` of `pkg/controller/daemon/daemon_controller.go`: one sync looks at all nodes; a rolling
update goes on only when nothing else is to do. New pods are made for a node (required node affinity by name) and wait
there for the scheduler. Ready pods count as available (minReadySeconds 0). Upstream creates at most 250 pods per
sync; here one step does all. Of a deleted DaemonSet the garbage collector's work is done here, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kubeproof.cluster.control import (
    Action,
    Arrive,
    Decision,
    KeepNode,
    NodeRef,
    Reads,
    Seen,
    Stage,
)
from kubeproof.cluster.daemons import Eligibility, eligibility
from kubeproof.cluster.objects import Strategy, family, short_name
from kubeproof.cluster.places import Layout, taints_of
from kubeproof.cluster.state import NodeCell, Phase, WorkloadCell
from kubeproof.controllers.daemon_nodes import DaemonPod, node_work
from kubeproof.controllers.daemon_update import NodePods, Update, limits_of, old_and_new, surges, update
from kubeproof.values import dataclass

PINNED = -1  # in place of a phase: the pod has no node yet
View = tuple[tuple[Eligibility, ...], tuple[tuple[tuple[int, int], int], ...]]
# Per revision whether it should run on the node; ((revision, phase), pods), sorted.
Name = tuple[int, int]  # revision and phase: pods that agree in both are not told apart
Group = tuple[NodeRef, View, int]  # nodes that look alike, and how many there are


@dataclass(frozen=True, slots=True)
class DaemonSetController:
    """The loop for one DaemonSet with all its revisions."""

    layout: Layout
    workload: int
    stage: int = Stage.ALWAYS

    @property
    def name(self) -> str:
        return f"daemonset {short_name(self.layout.setup, self.workload)}"

    @property
    def members(self) -> tuple[int, ...]:
        """The DaemonSet's revisions, oldest first."""
        return family(self.layout.setup, self.workload)

    @property
    def reads(self) -> Reads:
        return Reads((self.workload,), self.layout.every_place)

    def show_workload(self, workload: int, cell: WorkloadCell) -> tuple[int, int]:
        """Whether the DaemonSet exists, and which revision it asks for."""
        return cell.exists, cell.template

    def show_node(self, place: int, cell: NodeCell) -> View | None:
        """Where it should run, and its pods by revision and phase; None for a node that it has nothing to do with."""
        amounts: Counter[Name] = Counter()
        for kind, count in cell.pods:
            if kind.workload in self.members:
                amounts[kind.workload, kind.phase] += count
        for workload, count in cell.pinned:
            if workload in self.members:
                amounts[workload, PINNED] += count
        where = tuple(self._eligibility(member, place, cell) for member in self.members)
        return (where, tuple(sorted(amounts.items()))) if amounts or any(map(any, where)) else None

    def _eligibility(self, member: int, place: int, cell: NodeCell) -> Eligibility:
        sample = self.layout.places[place].sample
        return eligibility(self.layout.setup.workloads[member].template, sample, taints_of(sample, cell))

    def act(self, seen: Seen) -> tuple[Decision, ...]:
        """One sync: what nodes lack or have too much of, otherwise the next step of an update, in every way."""
        groups = [
            (NodeRef(place, view), view, count)
            for place, shown in zip(self.reads.places, seen.places, strict=True)
            for view, count in _merged(shown).items()
        ]
        exists, template = seen.workloads[0]
        if not exists:
            cleared = tuple(action for group in groups for action in self._cleared(group))
            return (Decision(cleared),) if cleared else ()
        upkeep = tuple(action for group in groups for action in self._upkeep(group, template))
        if upkeep:
            return (Decision(upkeep),)
        return tuple(Decision(actions) for actions in self._updates(groups, template) if actions)

    # -- upkeep ---------------------------------------------------------------------------------

    @property
    def _strategy(self) -> Strategy:
        return self.layout.setup.workloads[self.workload].strategy

    def _cleared(self, group: Group) -> list[Action]:
        ref, view, nodes = group
        names = [name for name, count in view[1] if name[1] != Phase.TERMINATING for _ in range(count)]
        return [self._work(ref, None, names)] * nodes if names else []

    def _upkeep(self, group: Group, template: int) -> list[Action]:
        ref, view, nodes = group
        pods = self._pods(view, template)
        work = node_work(view[0][template], pods, surges=surges(self._strategy))
        if self.layout.setup.workloads[self.members[template]].refused:
            work = work._replace(creates=False)
        if not work.creates and not work.deletes:
            return []
        return [self._work(ref, template if work.creates else None, work.deletes)] * nodes

    def _pods(self, view: View, template: int) -> tuple[DaemonPod, ...]:
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
            for (revision, phase), count in view[1]
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

    # -- updates --------------------------------------------------------------------------------

    def _update(self, groups: Sequence[Group], template: int) -> tuple[list[NodePods], Update]:
        shown = [NodePods(view[0][template], self._pods(view, template), count) for _, view, count in groups]
        return shown, update(shown, self._strategy, self.layout.setup.settings.kubernetes_version)

    def _updates(self, groups: Sequence[Group], template: int) -> Iterator[tuple[Action, ...]]:
        """The actions of one step of the rolling update, for every choice of nodes that a limit leaves."""
        shown, done = self._update(groups, template)

        def deletion(index: int) -> Action:
            old, _ = old_and_new(shown[index].pods)
            return self._work(groups[index][0], None, [old[0].name])

        if self.layout.setup.workloads[self.members[template]].refused:
            done = done._replace(creates=(), chosen=0 if surges(self._strategy) else done.chosen)

        def creation(index: int) -> Action:
            return self._work(groups[index][0], template, ())

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

    def why(self, seen: Seen) -> tuple[str, ...]:
        """The numbers behind a sync now."""
        exists, template = seen.workloads[0]
        if not exists:
            return ()
        views = [(view, count) for shown in seen.places for view, count in shown]
        desired = sum(count for view, count in views if view[0][template].should_run)
        have = sum(
            count for view, count in views if any(p.is_available for p in self._pods(view, template) if p.is_new)
        )
        limits = limits_of(self._strategy, desired)
        rule = f"maxUnavailable {limits.unavailable}, maxSurge {limits.surge}" if self._strategy.rolling else "OnDelete"
        return (f"should run on {desired} node(s), has an available pod of this revision on {have}; {rule}",)


def _merged(shown: Sequence[tuple[View, int]]) -> dict[View, int]:
    """Nodes that look alike counted together, however they were shown."""
    amounts: dict[View, int] = {}
    for view, count in shown:
        amounts[view] = amounts.get(view, 0) + count
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
