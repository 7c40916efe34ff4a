"""create, delete and apply of a PodDisruptionBudget: which budgets there are, before and after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from kubeproof.cluster.loops.actions import Action, Remember
from kubeproof.cluster.loops.control import Decision, Groups, Loop, Reads, Role, Seen
from kubeproof.cluster.loops.footprint import Footprint, Scope, Writes
from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.events.common import Around, EventSource, NoNodes, NoWorkloads, Sourced
from kubeproof.events.event import CREATED, DELETED, Budgets, Event
from kubeproof.values import dataclass, replace


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

    def write_budgets(self, budgets: Budgets, *, has_happened: bool) -> Budgets:
        """One that is created is in the input, and absent before; one that is applied may be new."""
        if self.verb in (CREATED, DELETED):
            is_there = has_happened == (self.verb == CREATED)
            return tuple(one for one in budgets if is_there or name_of(one) != self.budget)
        content = self.content
        if not has_happened or content is None:
            return budgets
        if all(name_of(one) != self.budget for one in budgets):
            return (*budgets, content)
        return tuple(content if name_of(one) == self.budget else one for one in budgets)

    @property
    def budget_form(self) -> PodDisruptionBudget | None:
        return self.content

    def with_budget_form(self, form: PodDisruptionBudget) -> Self:
        return replace(self, content=form)

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
