"""Loops with a period, in continuous time: their clock goes round for ever, whether a round finds something or not.

A period is a wait in phases like any other, so that with more and more phases rounds come at equal distances, and what
happens between two of them finds the clock anywhere. Loops that remember more than when their next round is (those of
autoscalers know what they recommended, and when) are not followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kubeproof.cluster.loops.actions import Remember
from kubeproof.cluster.loops.actors import TIME
from kubeproof.cluster.loops.control import Decision, PeriodicLoop, Role, Stage
from kubeproof.cluster.loops.tags import Tag
from kubeproof.engine.system import Effect
from kubeproof.model.loops.actors import GroupedActor, Slots
from kubeproof.quantify.chains.steps import Rated
from kubeproof.quantify.rates.phases import make_clock, read_clock, runs
from kubeproof.values import replace

if TYPE_CHECKING:
    from collections.abc import Hashable

    from kubeproof.model.plan import Plan

Period = tuple[int, int]  # least and most time to the next round, in seconds or in phases
DUE: Period = (0, 0)
OUTSIDE: Period = (1, 1)  # of what is not looked at: no round comes
SET = "Set"  # an operation that says what a cell becomes


def has_plain_clock(loop: PeriodicLoop) -> bool:
    """True if all that the loop remembers is when its next round comes."""
    return bool(getattr(loop, "remembers_next_round_only", False))


def start_period(memory: Any, phases: int) -> Period:
    """The clock of a loop whose rounds are so many seconds apart, with all phases to come."""
    _, most_s = memory
    if most_s <= 0 or runs(most_s):
        return (most_s, most_s)
    clock = make_clock(2 * most_s, phases)
    return (clock, clock)


def divide_periods(plan: Plan, phases: int) -> Plan:
    """The plan whose periods are divided into so many phases; the first round comes a period after the start."""
    periods = {loop.memory for loop in plan.periodic}
    cells = enumerate(plan.memories)
    return replace(
        plan, memories=tuple(start_period(cell, phases) if number in periods else cell for number, cell in cells)
    )


class RoundActor(GroupedActor):
    """The loop when its clock has run out: it acts, or it finds nothing to do and waits for the next round."""

    def __init__(self, plan: Plan, slots: Slots, number: int, loop: PeriodicLoop, phases: int) -> None:
        super().__init__(plan, slots, number, loop)
        self._memory = loop.memory
        self._again = start_period(plan.memories[loop.memory], phases)

    def act(self, views: tuple[Any, ...]) -> tuple[Effect, ...]:
        """What a round that is due does."""
        seen = self.see(views)
        if seen.memories[0] != DUE:
            return ()
        return self.acting(seen) or (self._pass_round(),)

    def _pass_round(self) -> Effect:
        operation = (SET, -1, self._again)
        decision = Decision((Remember(self._memory, self._again),), Role.URGENT)
        return Effect(int(Role.URGENT), 0, ((self._slots.memory(self._memory), operation),), decision)


class PeriodClock:
    """The clock of one loop with a period: the end of each phase is a step, when nobody has urgent work."""

    name = TIME
    stage = int(Stage.IDLE)

    def __init__(self, slot: int, phases: int) -> None:
        self.reads = (slot,)
        self._phases = phases

    def view(self, position: int, cell: Any) -> Hashable:
        """The clock as it is."""
        return (self.name, "period"), cell

    def act(self, views: tuple[Any, ...]) -> tuple[Effect, ...]:
        """The end of the phase that runs."""
        return tuple(self._end_phase(views[0][1]))

    def _end_phase(self, period: Period) -> Iterator[Effect]:
        if not runs(period[1]):
            return
        half_seconds, left = read_clock(period[1])
        clock = make_clock(half_seconds, left - 1)
        label = Rated(2 * self._phases / half_seconds)
        yield Effect(int(Role.TIME), int(Tag.STEP), ((self.reads[0], (SET, -1, (clock, clock))),), label)
