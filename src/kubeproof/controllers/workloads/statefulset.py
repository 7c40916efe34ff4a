"""The StatefulSet controller: pods with ordinals, created, deleted and updated in order.

The rules are in `kubeproof.controllers.workloads.stateful_sync`. Every ordinal of every revision is a workload of its
own, so that its one pod has an identity: see `kubeproof.model.expansion.ordinals`. Ready pods count as available
(minReadySeconds 0). Of a deleted StatefulSet the garbage collector's work is done here, too. Where a pod may be
refused, ordinals of a Parallel one are created one by one, in the order that its batches leave open
(`slowStartBatch`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING

from kubeproof.cluster.loops.actions import Action, CreatePods, DeleteUnbound, KeepNode, NodeRef, SetCurrent
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Reads, Seen, Stage
from kubeproof.cluster.loops.footprint import NOBODY, Among, Clocks, Footprint, Writes, some
from kubeproof.cluster.loops.mentions import mention_nothing
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import StatefulRules, family, revisions_of, short_name
from kubeproof.cluster.said import NOTHING_SAID, Said, not_created
from kubeproof.cluster.state import NodeCell, Phase, WorkloadCell
from kubeproof.controllers.admission.quota import ENDLESS, Charged, Ration, find_charged, in_use, ration_of
from kubeproof.controllers.workloads.stateful_sync import PENDING, RUNNING, Replica, Sync, next_batch, sync
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from kubeproof.cluster.loops.inaction import Idle


class Spec(NamedTuple):
    """A StatefulSet as its loop sees it; of an ordinal or another workload its pods without a node alone."""

    exists: int = 0
    desired: int = 0
    template: int = 0  # the revision asked for
    current: int = 0  # the revision of those below the partition
    unbound: int = 0


class Owned(NamedTuple):
    """What it has on one node."""

    pods: tuple[tuple[tuple[int, int], int], ...]  # ((ordinal's workload, phase), pods), sorted
    charged: tuple[Charged, ...]  # the pods there that its quotas charge


Sight = Seen[Spec, Groups[Owned]]


class Found(NamedTuple):
    """The pod of an ordinal, and where it is."""

    member: int
    phase: int | None  # None: it has no node
    node: NodeRef | None = None


@dataclass(frozen=True, slots=True)
class StatefulSetController:
    """The loop for one StatefulSet with all its ordinals and revisions."""

    layout: Layout
    workload: int
    stage: int = Stage.ALWAYS
    at_once: bool = False  # nobody else can be refused, or cause a refusal, while it creates its pods
    _rations: tuple[Ration | None, ...] = field(init=False, compare=False, repr=False)  # per revision

    reads_nodes = mention_nothing

    @property
    def footprint(self) -> Footprint:
        return Footprint(
            writes=Writes.PODS | Writes.DELETIONS,
            clocks=Clocks(0),
            tells_starts=some((self.workload, *self.members)),
            sees_objects=NOBODY,
            sees_new_pods=some(self._charged),
            among=Among.BY_ITSELF,
        )

    def __post_init__(self) -> None:
        firsts = self.members[:: self._ordinals] if self.members else (self.workload,)  # all ordinals weigh the same
        object.__setattr__(self, "_rations", tuple(ration_of(self.layout.setup, first) for first in firsts))

    @property
    def name(self) -> Actor:
        return Actor(ActorKind.STATEFUL_SET, short_name(self.layout.setup, self.workload))

    @property
    def members(self) -> tuple[int, ...]:
        """The workloads of its ordinals, revision by revision."""
        return family(self.layout.setup, self.workload)[1:]

    @property
    def reads(self) -> Reads:
        own = (self.workload, *self.members)
        others = tuple(number for number in self._charged if number not in own)
        return Reads((*own, *others), self.layout.every_place)

    @property
    def _charged(self) -> tuple[int, ...]:
        """The workloads whose pods its quotas charge."""
        return tuple(sorted({number for ration in self._rations if ration is not None for number in ration.members}))

    @property
    def rules(self) -> StatefulRules:
        return self.layout.setup.workloads[self.workload].stateful

    def show_workload(self, workload: int, cell: WorkloadCell) -> Spec:
        """Of the StatefulSet its spec and revisions, of an ordinal and others their pods without a node."""
        if workload != self.workload:
            return Spec(unbound=cell.unbound)
        return Spec(cell.exists, cell.desired, cell.template, max(0, cell.noted))

    def show_node(self, place: int, cell: NodeCell) -> Owned | None:
        """Its pods by ordinal, revision and phase."""
        amounts: Counter[tuple[int, int]] = Counter()
        for kind, count in cell.pods:
            if kind.workload in self.members:
                amounts[kind.workload, kind.phase] += count
        charged = find_charged(cell, self._charged) if any(self._rations) else ()
        return Owned(tuple(sorted(amounts.items())), charged) if amounts or charged else None

    def act(self, seen: Sight) -> tuple[Decision, ...]:
        """One sync, or the note that an update is complete."""
        exists, desired, template, current, _ = seen.workloads[0]
        found = self._find_pods(seen)
        if not exists:
            gone = tuple(self._deletions(seen, [pod for pod in found.values() if pod.phase != Phase.TERMINATING]))
            return (Decision(gone),) if gone else ()
        ways = tuple(actions for actions in self._ways(seen, desired, template, current, found) if actions)
        if ways:
            return tuple(Decision(actions) for actions in ways)
        if self.rules.partition and current != template and self._is_complete(desired, template, found):
            return (Decision((SetCurrent(self.workload, template),)),)
        return ()

    def why(self, seen: Sight) -> tuple[str, ...]:
        """The numbers behind a sync now."""
        desired = seen.workloads[0].desired
        ready = sum(pod.phase == Phase.READY for pod in self._find_pods(seen).values())
        policy = "Parallel" if self.rules.parallel else "OrderedReady"
        return (f"wants {desired} pod(s), {ready} ready; {policy}",)

    def _ways(
        self, seen: Sight, desired: int, template: int, current: int, found: dict[int, Found]
    ) -> Iterator[tuple[Action, ...]]:
        """One sync; where a pod may be refused, which ends it, the next creation that gets through."""
        done = self._sync(desired, template, found)
        asked = {ordinal: self._member(template if new else current, ordinal) for ordinal, new in done.creates}
        if not asked or self._lets_all_in(seen, tuple(asked.values())):
            creations = tuple(CreatePods(member, 1) for member in asked.values())
            yield (*creations, *self._deletions(seen, [found[ordinal] for ordinal in done.deletes]))
            return
        version = self.layout.setup.settings.kubernetes_version
        for ordinal in next_batch(self.rules, tuple(asked), version):
            if self._room(seen, asked[ordinal]):
                yield (CreatePods(asked[ordinal], 1),)

    def _sync(self, desired: int, template: int, found: dict[int, Found]) -> Sync:
        pods = {ordinal: self._replica(pod, template) for ordinal, pod in found.items()}
        return sync(self.rules, desired, pods, self.layout.setup.settings.kubernetes_version)

    def _lets_all_in(self, seen: Sight, members: tuple[int, ...]) -> bool:
        """True if no pod of these is refused, and none can be because of others."""
        room = min(self._room(seen, member) for member in members)
        return len(members) <= room and (self.at_once or len(members) == 1 or not any(self._rations))

    def _room(self, seen: Sight, member: int) -> int:
        """How many pods like that of an ordinal the API server lets in at most."""
        if self.layout.setup.workloads[member].refused:
            return 0
        ration = self._rations[self._revision(member)]
        return ENDLESS if ration is None else ration.room(self._in_use(seen))

    def _in_use(self, seen: Sight) -> dict[int, Charged]:
        """The pods that its quotas charge, by workload; the StatefulSet itself has none."""
        waiting = zip(self.reads.workloads[1:], (other.unbound for other in seen.workloads[1:]), strict=True)
        return in_use(waiting, ((owned.charged, count) for groups in seen.places for owned, count in groups))

    def refusal(self, seen: Sight) -> Said:
        """Why the next ordinal is not created: a quota lets no pod in. Empty if that is not so."""
        exists, desired, template, current, _ = seen.workloads[0]
        found = self._find_pods(seen)
        creates = self._sync(desired, template, found).creates if exists else ()
        for ordinal, is_new in creates:
            ration = self._rations[self._revision(self._member(template if is_new else current, ordinal))]
            tightest = NOTHING_SAID if ration is None else ration.tightest(self._in_use(seen))
            if tightest:
                return not_created(desired - len(found), tightest)
        return NOTHING_SAID

    def why_not(self, seen: Sight) -> Iterator[Idle]:
        """Why ordinals that are missing, or of an old revision, are left as they are."""
        from kubeproof.controllers.workloads.inaction import why_ordinals_wait

        exists, desired, template, current, _ = seen.workloads[0]
        found = self._find_pods(seen)
        if exists and not any(self._ways(seen, desired, template, current, found)):
            pods = {ordinal: self._replica(pod, template) for ordinal, pod in found.items()}
            yield from why_ordinals_wait(self.layout.setup.workloads[self.workload], desired, pods)

    def _revision(self, member: int) -> int:
        return self.members.index(member) // self._ordinals

    @property
    def _ordinals(self) -> int:
        return len(self.members) // revisions_of(self.layout.setup, self.workload)

    def _member(self, revision: int, ordinal: int) -> int:
        return self.members[revision * self._ordinals + ordinal - self.rules.start]

    def _replica(self, pod: Found, template: int) -> Replica:
        is_ready = pod.phase == Phase.READY
        phase = PENDING if pod.phase in (None, Phase.STARTING) else RUNNING
        is_ending = pod.phase == Phase.TERMINATING
        return Replica(self._revision(pod.member) == template, phase, is_ready, is_ready, is_ending)

    def _find_pods(self, seen: Sight) -> dict[int, Found]:
        """Its pods by ordinal; while one ends there is no other of the same ordinal."""
        workloads = self.layout.setup.workloads
        found: dict[int, Found] = {}
        for member, spec in zip(self.members, seen.workloads[1 : 1 + len(self.members)], strict=True):
            if spec.unbound:
                found[workloads[member].ordinal or 0] = Found(member, None)
        for place, groups in zip(self.reads.places, seen.places, strict=True):
            for owned, _ in groups:
                for (member, phase), _ in owned.pods:
                    found[workloads[member].ordinal or 0] = Found(member, phase, NodeRef(place, owned))
        return found

    def _deletions(self, seen: Sight, pods: list[Found]) -> Iterator[Action]:
        """One action per node, since its view changes with the first."""
        per_node: dict[NodeRef, list[tuple[int, int, int]]] = {}
        for pod in pods:
            if pod.node is None or pod.phase is None:
                yield DeleteUnbound(pod.member, 1)
            else:
                per_node.setdefault(pod.node, []).append((pod.member, pod.phase, 1))
        for node, losses in per_node.items():
            yield KeepNode(node, self.workload, None, (), tuple(sorted(losses)))

    def _is_complete(self, desired: int, template: int, found: dict[int, Found]) -> bool:
        """True if exactly the pods wanted are there, ready, and of the revision asked for."""
        return len(found) == desired and all(
            pod.phase == Phase.READY and self._revision(pod.member) == template for pod in found.values()
        )
