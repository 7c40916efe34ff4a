"""A GitOps reconciler as a periodic control loop: it puts a workload's object back to what its manifest says.

Modelled after Flux's Kustomizations, which apply anew at every interval, and Argo CD's automated sync with self-heal.
Only fields that the manifest sets are written: spec.replicas if it stands there, the pod template always; an object
that was deleted is created again. Memory is (least, most): seconds until the next reconciliation. One that finds
nothing to do is not a step, and at rest the phase of the interval is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.actions import Action, CreateObject, Remember, SetDesired, SetTemplate
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Loop, Reads, Role, Seen, Stage
from kubeproof.cluster.loops.footprint import NOBODY, Among, Deletes, Footprint, Sizing, Writes, some
from kubeproof.cluster.loops.making import Making
from kubeproof.cluster.loops.memories import Holds, MemoryKind
from kubeproof.cluster.loops.mentions import mention_nothing
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import Setup
from kubeproof.cluster.state import NEVER, NodeCell, WorkloadCell
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

REMEMBERS = MemoryKind("reconciler", Holds.TIMES)
MANIFEST = 0  # the revision whose pod template stands in the manifest


class Spec(NamedTuple):
    """What of an object a manifest says."""

    exists: int
    replicas: int
    template: int  # revision of the pod template


Sight = Seen[Spec, Groups[None]]


def find_reconciled(setup: Setup, past_git: frozenset[int]) -> tuple[int, ...]:
    """The workloads that a reconciler keeps up: those of the input, but for bare Pods. None if none heals drift.

    Workloads that only an event brings come `past_git`.
    """
    if setup.settings.gitops_interval_s is None:
        return ()
    scope = setup.settings.gitops_namespaces
    return tuple(
        number
        for number, workload in enumerate(setup.workloads)
        if workload.owner is None and not workload.rules.is_pod and number not in past_git
        if not scope or workload.namespace in scope
    )


@dataclass(frozen=True, slots=True)
class GitOpsController:
    """The loop for one workload."""

    layout: Layout
    workload: int
    memory: int
    interval_s: int
    commits: tuple[tuple[int, tuple[int, ...]], ...] = ()  # (memory of an event that brings it, before the event)
    stage: int = Stage.ALWAYS

    remembers_next_round_only = True
    reads_nodes = mention_nothing

    @property
    def footprint(self) -> Footprint:
        return Footprint(
            deletes=Deletes.NO_PODS,
            sizing=Sizing.TOLD,
            tells_starts=NOBODY,
            tells_ends=NOBODY,
            sees_objects=some((self.workload,)),
            sees_new_pods=NOBODY,
            wakes_on=Writes.SIZES | Writes.TEMPLATES | Writes.REMOVALS,  # at first every object is what Git says
            among=Among.IN_ROUNDS,
        )

    @property
    def name(self) -> Actor:
        return Actor(ActorKind.GITOPS, self.layout.setup.workloads[self.workload].ref)

    @property
    def reads(self) -> Reads:
        return Reads((self.workload,), (), (self.memory, *(memory for memory, _ in self.commits)))

    def sizes_for(self, workload: int) -> tuple[int, ...]:
        """The size that the manifest says, if it is written back."""
        return (self.layout.setup.workloads[workload].replicas,) if workload == self.workload else ()

    def show_workload(self, workload: int, cell: WorkloadCell) -> Spec:
        """The fields that a manifest may set."""
        return Spec(cell.exists, cell.desired, cell.template)

    def show_node(self, place: int, cell: NodeCell) -> None:
        """Never looks at nodes."""

    # -- decisions ------------------------------------------------------------------------------

    def act(self, seen: Sight) -> tuple[Decision, ...]:
        """The reconciliation, if it is due or may be, and something drifted."""
        least_s, most_s = seen.memories[0]
        writes = self._writes(seen) if least_s == 0 else ()
        if not writes:
            return ()
        again = Remember(self.memory, (self.interval_s, self.interval_s))
        return (Decision((*writes, again), Role.URGENT if most_s == 0 else Role.OPTIONAL),)

    def _writes(self, seen: Sight) -> tuple[Action, ...]:
        """What it takes to make the object what the manifest says; nothing while the object is not in Git yet."""
        if any(memory == before for memory, (_, before) in zip(seen.memories[1:], self.commits, strict=True)):
            return ()
        exists, replicas, template = seen.workloads[0]
        declared = self.layout.setup.workloads[self.workload]
        if not exists:
            return (CreateObject(self.workload),)
        writes: list[Action] = []
        has_drifted = template != MANIFEST
        is_sized = not declared.rules.runs_per_node and declared.replicas_given and replicas != declared.replicas
        if is_sized and self._writes_replicas(declared.ref, is_written=has_drifted):
            writes.append(SetDesired(self.workload, declared.replicas))
        if has_drifted:
            writes.append(SetTemplate(self.workload, MANIFEST))
        return tuple(writes)

    def _writes_replicas(self, ref: str, *, is_written: bool) -> bool:
        """True unless replicas may differ: then they are written with the rest at most (Argo CD: ignoreDifferences)."""
        kept = dict(self.layout.setup.settings.gitops_ignored).get(ref)
        return kept is None or (is_written and not kept)

    def why(self, seen: Sight) -> tuple[str, ...]:
        """What the object and its manifest say."""
        told = {
            CreateObject: "the manifest is in Git, the object is gone",
            SetDesired: f"the object says replicas: {seen.workloads[0].replicas}, "
            f"the manifest {self.layout.setup.workloads[self.workload].replicas}",
            SetTemplate: "the pod template is not the manifest's",
        }
        return tuple(told[type(write)] for write in self._writes(seen))

    # -- time -----------------------------------------------------------------------------------

    def due(self, seen: Sight) -> int:
        """Seconds until a reconciliation that writes may or must run."""
        least_s, most_s = seen.memories[0]
        if not self._writes(seen):
            return NEVER
        return least_s if least_s > 0 else most_s

    def later(self, seen: Sight, seconds: int | None) -> tuple[int, ...]:
        """The clock later; forgotten while nothing has drifted and its phase is open."""
        least_s, most_s = seen.memories[0]
        is_idle = not self._writes(seen)
        if seconds is None or (is_idle and least_s < most_s):
            return (0, self.interval_s)
        if is_idle and most_s <= seconds:  # reconciliations that found nothing have passed
            left = self.interval_s - (seconds - most_s) % self.interval_s
            return (left, left)
        return (max(0, least_s - seconds), max(0, most_s - seconds))


def make_loops(making: Making) -> Iterator[Loop]:
    """One for each workload that is kept up; what an event brings is committed by that event."""
    interval_s = making.setup.settings.gitops_interval_s
    assert interval_s is not None
    for number in find_reconciled(making.setup, making.applied):
        memory, commits = making.remember(REMEMBERS, (0, interval_s), number), making.find_brought(number)
        yield GitOpsController(making.to(GitOpsController), number, memory, interval_s, commits)
