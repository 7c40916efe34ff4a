"""create, delete and apply of a PodDisruptionBudget: which budgets there are, before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubeproof.cluster.loops.actions import Action, Remember
from kubeproof.cluster.loops.control import Decision, Groups, Loop, Reads, Role, Seen
from kubeproof.cluster.loops.footprint import Footprint, Scope, Writes
from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.events.common import Around, EventSource, NoNodes, NoWorkloads, Sourced
from kubeproof.events.event import APPLIED, CREATED, DELETED, Event
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetChange(Event):
    """A PodDisruptionBudget comes, goes, or becomes another one."""

    budget: str  # namespace/name
    verb: str  # CREATED: it is absent before; DELETED; APPLIED: `content` is what it looks like afterwards
    content: PodDisruptionBudget | None = None

    manuals = ()  # written as `create`, `apply` and `delete`

    footprint = Footprint(
        writes=Writes.BUDGETS,
        concerns_all="a budget that changes may be anybody's",
        takes_pods_of=Scope.NOWHERE,
    )

    def describe(self) -> str:
        return f"PodDisruptionBudget/{self.budget} is {self.verb}"

    def sources(self, at: EventSource, around: Around) -> Iterator[Loop]:
        yield BudgetEvent(at, self)


@dataclass(frozen=True, slots=True)
class BudgetEvent(Sourced, NoWorkloads, NoNodes):
    """Changes one budget, once; who asks budgets is told by its memory."""

    source: EventSource
    event: BudgetChange

    footprint = Footprint(
        writes=Writes.BUDGETS,
    )

    @property
    def reads(self) -> Reads:
        return self.source.reads()

    def act(self, seen: Seen[None, Groups[None]]) -> tuple[Decision, ...]:
        """The change, unless it has happened."""
        if seen.memories[0][0] <= 0 or not self.source.may_happen(seen.memories):
            return ()
        return (Decision((Remember(self.source.memory, (0,)),), Role.EVENT),)

    def tells(self, actions: tuple[Action, ...]) -> str:
        """What happens, in words."""
        return f"PodDisruptionBudget/{self.event.budget} is {self.event.verb}"


def name_of(budget: PodDisruptionBudget) -> str:
    """How events name a budget."""
    return f"{budget.namespace}/{budget.name}"


def budgets_after(
    budgets: Sequence[PodDisruptionBudget], changes: Sequence[BudgetChange], happened: Sequence[bool]
) -> tuple[PodDisruptionBudget, ...]:
    """The budgets that there are when some of the changes have happened."""
    return tuple(_after(budgets, dict(zip((change.budget for change in changes), changes, strict=True)), happened))


def _after(
    budgets: Sequence[PodDisruptionBudget], changes: dict[str, BudgetChange], happened: Sequence[bool]
) -> Iterator[PodDisruptionBudget]:
    done = dict(zip(changes, happened, strict=True))
    for budget in budgets:
        change = changes.get(name_of(budget))
        if change is None:
            yield budget
        elif change.verb == APPLIED:
            yield change.content if done[change.budget] and change.content is not None else budget
        elif change.verb == (CREATED if done[change.budget] else DELETED):
            yield budget
    known = {name_of(budget) for budget in budgets}
    for change in changes.values():
        if change.budget not in known and done[change.budget] and change.content is not None:
            yield change.content
