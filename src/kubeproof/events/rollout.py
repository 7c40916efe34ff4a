"""rollout and rollback: a user gives a Deployment, DaemonSet or StatefulSet another pod template."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kubeproof.cluster.kinds import ROLLED_OUT
from kubeproof.cluster.loops.actions import Remember, SetTemplate
from kubeproof.cluster.loops.control import Decision, Groups, Loop, Reads, Role, Seen
from kubeproof.cluster.loops.footprint import MOMENT, NOBODY, Clocks, Footprint, Scope, Writes, some
from kubeproof.cluster.objects import Workload, revisions_of, workload_number
from kubeproof.cluster.state import WorkloadCell
from kubeproof.events.common import Around, EventSource, NoNodes, Sourced
from kubeproof.events.event import WEB, Event
from kubeproof.events.manual import TARGET, Manual
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout(Event):
    """A user gives a Deployment a new revision of its pod template, or with `back` its previous one."""

    target: str
    back: bool = False

    manuals = (
        Manual(
            key="rollout",
            text="The Deployment gets a new revision of its pod template, as kubectl rollout restart makes it.",
            fields=(TARGET,),
            example=f"rollout: {{{WEB}}}",
            settings=(("back", False),),
            is_timed=True,
        ),
        Manual(
            key="rollback",
            text="The Deployment goes back to the revision before.",
            fields=(TARGET,),
            example=f"rollback: {{{WEB}}}",
            settings=(("back", True),),
            is_timed=True,
        ),
    )

    footprint = replace(MOMENT, writes=Writes.TEMPLATES, takes_pods_of=Scope.WORKLOAD, reshapes=False)

    @property
    def new_revisions(self) -> int:
        return 0 if self.back else self.max

    @staticmethod
    def unfit(workload: Workload) -> str:
        return "" if workload.kind in ROLLED_OUT else f"is not a {' or '.join(ROLLED_OUT)}, so it has no revisions"

    def describe(self) -> str:
        return f"{self.target} gets {'its previous' if self.back else 'a new'} pod template {self.times}"

    def sources(self, at: EventSource, around: Around) -> Iterator[Loop]:
        setup = at.layout.setup
        number = workload_number(setup, self.target)
        yield RolloutEvent(at, number, revisions_of(setup, number), self.back)


class Asked(NamedTuple):
    """What a Deployment asks for."""

    exists: int
    template: int  # which revision


@dataclass(frozen=True, slots=True)
class RolloutEvent(Sourced, NoNodes):
    """Gives a Deployment its next revision of the pod template, or with `back` the previous one."""

    source: EventSource
    workload: int
    revisions: int
    back: bool

    @property
    def footprint(self) -> Footprint:
        return Footprint(
            writes=Writes.TEMPLATES,
            clocks=Clocks(0),
            tells_starts=NOBODY,
            tells_ends=NOBODY,
            sees_objects=some((self.workload,)),
            sees_new_pods=NOBODY,
        )

    @property
    def reads(self) -> Reads:
        return self.source.reads(workloads=(self.workload,))

    def show_workload(self, workload: int, cell: WorkloadCell) -> Asked:
        """Whether the Deployment exists, and which revision it asks for."""
        return Asked(cell.exists, cell.template)

    def act(self, seen: Seen[Asked, Groups[None]]) -> tuple[Decision, ...]:
        """The change of the template, while its budget lasts."""
        left = seen.memories[0][0]
        exists, template = seen.workloads[0]
        target = template - 1 if self.back else template + 1
        possible = exists and 0 <= target < self.revisions
        if left <= 0 or not possible or not self.source.may_happen(seen.memories):
            return ()
        memory = Remember(self.source.memory, (left - 1,))
        return (Decision((SetTemplate(self.workload, target), memory), Role.EVENT),)
