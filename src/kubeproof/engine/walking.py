"""A store that is explored wherever somebody looks, and random walks through it.

A breadth-first search of a large system never comes to what happens after many steps. A walk does, and each state that
it visits shows all of its successors. What walks find is what there is: their states and steps are those of the
system, so a bad state, or a fair cycle among the states looked at, breaks a check. That nothing is found says nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from random import Random
from typing import Protocol, cast

from kubeproof.engine.components import cyclic_components
from kubeproof.engine.cycles import find_lasso
from kubeproof.engine.kernel import Kernel
from kubeproof.engine.search import SAFETY, Finding, claim_promises
from kubeproof.engine.system import Cell, Check, Kind, Role, Step, System, View
from kubeproof.engine.words import Way
from kubeproof.named_tuples import NamedTuple
from kubeproof.verdicts import Verdict

EXPONENTS = (-3, 3)  # of two: how much likelier one walk makes the steps of an actor, or of a role
LOOKED_AT = 0.25  # how much less likely a step to a state is that was looked at before
WAITING = 0.5  # of walks take no event before a stable state
GREEDS = (0.0, 0.0, 0.5, 0.9)  # how often a walk takes the step that brings it nearest to what it looks for


class Guide(Protocol):
    """An observer that can tell how far a state is from breaking a check."""

    def estimate(self, check: int, memory: Cell, views: tuple[View, ...]) -> int:
        """At least 0; only for choosing where to look next."""
        ...


class Explorer(Kernel):
    """States and steps of a system, as far as somebody looked at them; a store for findings and their runs."""

    def __init__(self, system: System) -> None:
        self._looked: dict[int, tuple[Step, ...]] = {}
        self._estimates: dict[tuple[int, ...], int] = {}
        self._cyclic: tuple[int, list[list[int]]] = (0, [])
        super().__init__(system)

    def clear_states(self) -> None:
        """Forgets all states, and keeps all answers."""
        super().clear_states()
        self._looked.clear()
        self._cyclic = (0, [])

    @property
    def looks(self) -> int:
        """How many states were looked at."""
        return len(self._looked)

    @property
    def is_complete(self) -> bool:
        """True when every stored state was looked at."""
        return len(self._looked) == len(self)

    def look(self, state: int) -> tuple[Step, ...]:
        """All steps out of a state; their targets are stored."""
        known = self._looked.get(state)
        if known is None:
            known = tuple(
                Step(actor, compiled.effect, self._store(target, state))
                for actor, compiled, target in self._steps(state)
            )
            self._looked[state] = known
            self.transitions += len(known)
            if self.is_stable(state):
                self._note(self.first_stable, state)
        return known

    def was_looked_at(self, state: int) -> bool:
        """True if the steps out of a state are known."""
        return state in self._looked

    def find_step(self, tags: int) -> tuple[int, Step] | None:
        """The first step with one of the tags, with the state that it leaves."""
        found = ((state, step) for state, steps in self._looked.items() for step in steps)
        return next((one for one in found if one[1].effect.tags & tags), None)

    def steps(self, state: int) -> list[Step]:
        """All steps out of a state."""
        return list(self.look(state))

    def is_stable(self, state: int) -> bool:
        """True if only events leave the state."""
        return all(step.effect.role == Role.EVENT for step in self.look(state))

    def estimate(self, check: int, state: int) -> int:
        """How far a state is from breaking a check, as far as the observer can tell."""
        vector = self._vectors[state]
        key = (check, vector[0], *self._view_of(len(self._actors), vector))
        known = self._estimates.get(key)
        if known is None:
            guide = cast("Guide", self.system.observer)
            views = tuple(self._views.values[number] for number in key[2:])
            known = self._estimates[key] = guide.estimate(check, self.cells.values[vector[0]], views)
        return known

    def cyclic_components(self) -> list[list[int]]:
        """The components with a cycle among the states looked at."""
        if self._cyclic[0] == self.looks:
            return self._cyclic[1]

        def following(state: int) -> list[int]:
            steps = self._looked.get(state, ())
            return [one.target for one in steps if one.effect.role != Role.EVENT and one.target in self._looked]

        self._cyclic = (self.looks, cyclic_components(sorted(self._looked), following))
        return self._cyclic[1]

    def find_way(self, starts: Sequence[int], target: int) -> Way:
        """A shortest way to a state through the states looked at: the steps with the states they leave."""
        came: dict[int, tuple[int, Step] | None] = dict.fromkeys(starts)
        queue = deque(starts)
        while target not in came:
            state = queue.popleft()
            for step in self._looked.get(state, ()):
                if step.target not in came:
                    came[step.target] = (state, step)
                    queue.append(step.target)
        way: list[tuple[int, Step]] = []
        while (before := came[target]) is not None:
            way.append(before)
            target = before[0]
        return tuple(reversed(way))


class Mood(NamedTuple):
    """What one walk likes: the same number always gives the same walk."""

    random: Random
    check: int  # that it tries to break
    greed: float
    waits: bool  # for the first stable state, before it takes events
    roles: dict[int, float]
    actors: dict[int, float]

    def weigh(self, step: Step, was_looked_at: bool) -> float:
        """How likely the walk takes a step."""
        factor = self.actors.get(step.actor)
        if factor is None:
            factor = self.actors[step.actor] = self.random_factor()
        return factor * self.roles[step.effect.role] * (LOOKED_AT if was_looked_at else 1.0)

    def random_factor(self) -> float:
        """Between an eighth and eight."""
        return float(2.0 ** self.random.uniform(*EXPONENTS))


def make_mood(seed: int, checks: Sequence[int]) -> Mood:
    """The mood of one walk."""
    random = Random(seed)
    check, greed = (random.choice(checks), random.choice(GREEDS)) if checks else (-1, 0.0)
    mood = Mood(random, check, greed, random.random() < WAITING, {}, {})
    mood.roles.update((role, mood.random_factor()) for role in Role)
    return mood


def walk(explorer: Explorer, start: int, mood: Mood, most: int) -> Iterator[int]:
    """The states of a walk, each looked at; it ends where nothing happens any more, or after so many steps."""
    state, waits = start, mood.waits
    for _ in range(most):
        steps = explorer.look(state)
        yield state
        if not steps:
            return
        calm = tuple(step for step in steps if step.effect.role != Role.EVENT) if waits else ()
        waits = bool(calm)
        steps = calm or steps
        state = _choose(explorer, steps, mood).target


def _choose(explorer: Explorer, steps: Sequence[Step], mood: Mood) -> Step:
    if mood.random.random() < mood.greed:
        nearest = min(explorer.estimate(mood.check, step.target) for step in steps)
        steps = [step for step in steps if explorer.estimate(mood.check, step.target) == nearest]
    weights = [mood.weigh(step, explorer.was_looked_at(step.target)) for step in steps]
    return mood.random.choices(steps, weights)[0]


def look_nearest_first(explorer: Explorer, starts: Sequence[int], check: int, most: int) -> Iterator[int]:
    """So many states, each looked at, those first that are nearest to breaking a check."""
    seen = set(starts)
    waiting: list[tuple[int, int, int]] = []
    for state in starts:
        heappush(waiting, (explorer.estimate(check, state), 0, state))
    for _ in range(most):
        if not waiting:
            return
        _, depth, state = heappop(waiting)
        steps = explorer.look(state)
        yield state
        for target in dict.fromkeys(step.target for step in steps):
            if target not in seen:
                seen.add(target)
                heappush(waiting, (explorer.estimate(check, target), depth + 1, target))


# -- what is found ------------------------------------------------------------------------------------


def find_broken(explorer: Explorer, starts: Sequence[int], check: Check, most: int) -> Finding | None:
    """A violation of a check among the states looked at, with a run to it; None if there is none.

    Up to `most` more states are looked at to make the run shorter. Checks of words are not judged.
    """
    if check.kind == Kind.STEP:
        return _find_broken_by_step(explorer, starts, check, most)
    if check.kind == Kind.WORD:
        return None
    state = -1
    if check.kind != Kind.CYCLE:
        state = (explorer.first_any if check.kind == Kind.NEVER else explorer.first_stable)[check.flag]
    if state >= 0:

        def is_bad(_: int, step: Step) -> bool:
            is_so = explorer.flags(step.target) >> check.flag & 1
            return bool(is_so and (check.kind == Kind.NEVER or explorer.is_stable(step.target)))

        way = _shorten_way(explorer, explorer.find_way(starts, state), is_bad, most)
        return Finding(Verdict.VIOLATED, way[-1][1].target if way else state, way=way)
    return None if check.kind in SAFETY else _find_broken_by_cycle(explorer, starts, check)


def _find_broken_by_step(explorer: Explorer, starts: Sequence[int], check: Check, most: int) -> Finding | None:
    found = explorer.find_step(check.tags)
    if found is None:
        return None
    way = (*explorer.find_way(starts, found[0]), found)
    *rest, (state, last) = _shorten_way(explorer, way, lambda _, step: bool(step.effect.tags & check.tags), most)
    return Finding(Verdict.VIOLATED, state, last=last, way=tuple(rest))


def _find_broken_by_cycle(explorer: Explorer, starts: Sequence[int], check: Check) -> Finding | None:
    """A fair cycle of states looked at: of such a state all steps are known, so it is one of the system."""
    system = explorer.system
    cyclic = explorer.cyclic_components()
    lasso = find_lasso(claim_promises(system, explorer), cyclic, check, lambda actor: system.actors[actor].name)
    if lasso is None:
        return None
    return Finding(Verdict.VIOLATED, lasso.states[0], lasso, way=explorer.find_way(starts, lasso.states[0]))


# -- shorter runs -------------------------------------------------------------------------------------

IsBad = Callable[[int, Step], bool]  # about a step and the state it leaves


def _shorten_way(explorer: Explorer, way: Way, is_bad: IsBad, most: int) -> Way:
    """The run without steps that it does not need: ever smaller pieces are left out, up to so many looks.

    The run that is left breaks what it broke: it is followed step by step, and ends with the first bad step.
    """
    if not way:
        return way
    start, best = way[0][0], way
    end, size = explorer.looks + most, len(best) // 2
    while size and explorer.looks < end:
        place = 0
        while place < len(best) and explorer.looks < end:
            left = [step for _, step in (*best[:place], *best[place + size :])]
            found = _follow(explorer, start, left, is_bad)
            if found is not None and len(found) < len(best):
                best = found
            else:
                place += size
        size //= 2
    return best


def _follow(explorer: Explorer, start: int, steps: Sequence[Step], is_bad: IsBad) -> Way | None:
    """The run that takes these steps where they are possible, up to the first bad one; None if there is none."""
    way: list[tuple[int, Step]] = []
    state = start
    for wanted in steps:
        found = next((step for step in explorer.look(state) if _is_like(step, wanted)), None)
        if found is not None:
            way.append((state, found))
            if is_bad(state, found):
                return tuple(way)
            state = found.target
    return None


def _is_like(step: Step, wanted: Step) -> bool:
    """True if a step is the same, in another state: time may pass for longer or shorter."""
    if step.actor != wanted.actor:
        return False
    return step.effect.role == Role.TIME or step.effect.edits == wanted.effect.edits
