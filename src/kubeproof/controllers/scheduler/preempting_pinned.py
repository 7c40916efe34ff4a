"""Pods that may only run on one node where pods have priorities: they respect nominations, and preempt there.

An attempt is that of `kubeproof.controllers.scheduler.attempts` with the pod's node required by name, so that
preemption looks at that node alone. Pods of lower priority do not wait for daemon pods: any order is followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from kubeproof.cluster.loops.actions import Action, Bind, BindPinned, NodeRef, Unnominate
from kubeproof.cluster.loops.control import Decision, Groups, Reads, Seen
from kubeproof.cluster.loops.footprint import NOBODY, Among, Footprint
from kubeproof.cluster.state import NodeCell, WorkloadCell
from kubeproof.controllers.evictions.budgets import BudgetScale
from kubeproof.controllers.scheduler.attempts import Attempt, Entry, with_nominated
from kubeproof.controllers.scheduler.framework import Row
from kubeproof.controllers.scheduler.mentions import mention_scheduling
from kubeproof.controllers.scheduler.pinned import PinnedScheduler, Wanted
from kubeproof.controllers.scheduler.preempting import NodeFacts, PreemptingScheduler, find_read_by_preemption
from kubeproof.values import dataclass

Sight = Seen[BudgetScale, Groups[Wanted[NodeFacts]]]


@dataclass(frozen=True, slots=True)
class PreemptingPinnedScheduler(PinnedScheduler):
    """Binds pods of one workload to the nodes they are made for, and makes room for them there."""

    inner: PreemptingScheduler = field(init=False, compare=False, repr=False)  # knows nodes and budgets
    _attempts: dict[str, Attempt] = field(default_factory=dict, compare=False, repr=False)

    reads_nodes = mention_scheduling

    @property
    def footprint(self) -> Footprint:
        return Footprint(
            tells_starts=find_read_by_preemption(self.layout.setup),
            sees_objects=NOBODY,
            among=Among.FILLED,
        )

    def __post_init__(self) -> None:
        object.__setattr__(self, "inner", PreemptingScheduler(self.layout, self.workload))

    @property
    def reads(self) -> Reads:
        return self.inner.reads

    def show_workload(self, workload: int, cell: WorkloadCell) -> BudgetScale:  # type: ignore[override]
        """What budgets ask for."""
        return self.inner.show_workload(workload, cell)

    def show_node(self, place: int, cell: NodeCell) -> Wanted[NodeFacts]:  # type: ignore[override]
        """Condition, pods and nominations, and whether a pod waits for the node."""
        waits = any(workload == self.workload for workload, _ in cell.pinned)
        return Wanted(self.inner.show_node(place, cell), waits)

    def act(self, seen: Sight) -> tuple[Decision, ...]:  # type: ignore[override]
        """The attempts for every node that a pod waits for; a nomination that no pod has any more ends."""
        found: dict[Decision, None] = {}
        allowed = self._compute_allowed(seen)
        for place, groups in zip(self.reads.places, seen.places, strict=True):
            for position, (view, _) in enumerate(groups):
                for actions in self._steps(seen, place, position, view, allowed):
                    found[Decision(actions)] = None
        return tuple(found)

    def _compute_allowed(self, seen: Sight) -> tuple[int, ...]:
        plain = tuple(tuple((view.facts, count) for view, count in groups) for groups in seen.places)
        return self.inner.find_allowed(Seen(seen.workloads, plain, seen.memories))

    def _steps(
        self, seen: Sight, place: int, position: int, view: Wanted[NodeFacts], allowed: tuple[int, ...]
    ) -> Iterator[tuple[Action, ...]]:
        is_nominated = bool(dict(view.facts.claims).get(self.workload))
        if not view.waits:
            if is_nominated:
                yield (Unnominate(NodeRef(place, view), self.workload),)
            return
        entries, pinned = self._entries(seen, place, position)
        attempt = self._attempt(entries[pinned].info.node.name)
        for actions in attempt.try_entries(entries, pinned if is_nominated else None, allowed, set()):
            yield tuple(self._here(action) for action in actions)

    def _here(self, action: Action) -> Action:
        return BindPinned(*action) if isinstance(action, Bind) else action

    def _entries(self, seen: Sight, place: int, position: int) -> tuple[list[Entry], int]:
        """The nodes as an attempt takes them, the pod's own one alone under its name and without its nomination."""
        entries: list[Entry] = []
        pinned = 0
        for other, groups in zip(self.reads.places, seen.places, strict=True):
            for number, (view, count) in enumerate(groups):
                entry = self.inner.entry(other, view.facts, count)._replace(ref=NodeRef(other, view))
                if (other, number) != (place, position):
                    entries.append(_rename(entry))
                    continue
                pinned = len(entries)
                claims = tuple((w, n - (w == self.workload)) for w, n in entry.claims if n > (w == self.workload))
                entries.append(entry._replace(info=entry.info._replace(count=1), claims=claims))
                if count > 1:
                    entries.append(_rename(entry._replace(info=entry.info._replace(count=count - 1))))
        return entries, pinned

    def _attempt(self, node: str) -> Attempt:
        if node not in self._attempts:
            self._attempts[node] = Attempt(self.layout, self.workload, self._kernel(node))
        return self._attempts[node]

    def judgement(self, seen: Sight, place: int, position: int) -> Row:  # type: ignore[override]
        """The verdict on one node, the one at `position` among those shown of a place."""
        entries, pinned = self._entries(seen, place, position)
        attempt = self._attempt(entries[pinned].info.node.name)
        infos = [entry.info for entry in entries]
        infos[pinned] = infos[pinned]._replace(pods=with_nominated(infos[pinned].pods, attempt.beside(entries[pinned])))
        return attempt.kernel.evaluate(infos).rows[pinned]


def _rename(entry: Entry) -> Entry:
    """The group under a name that no pod asks for."""
    node = entry.info.node.rename(f"{entry.info.node.name} (others)")
    return entry._replace(info=entry.info._replace(node=node))
