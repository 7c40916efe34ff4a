"""The exploration kernel in plain Python: interning, memoised actors, breadth-first expansion.

`_kernel.pyx` is its compiled twin with the same interface, the same numbering and the same order; tests
compare the two. This one serves where no compiler was available.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterator
from typing import NamedTuple

from kubeproof.engine.system import STAGE_ORDER, Cell, Effect, Role, Stage, Step, System
from kubeproof.errors import ImpureControllerError, InternalError

FLAG_BITS = 62
Vector = tuple[int, ...]


class _Compiled(NamedTuple):
    """An effect with its operations interned."""

    effect: Effect
    edits: tuple[tuple[int, int], ...]  # (slot, operation number)


def impure(actor: str) -> ImpureControllerError:
    """The error for an actor that gave two answers to one question."""
    return ImpureControllerError(
        f"E701 controller {actor} gave two answers for the same view. "
        "A controller must be a pure function of what it is shown: no clock, no randomness, no memory."
    )


def check_flags(flags: int) -> int:
    """The flags, if they fit."""
    if flags >> FLAG_BITS:
        raise InternalError(f"E700 flags {flags:#x} of a state exceed {FLAG_BITS} bits")
    return flags


class Interner:
    """Numbers values in order of first appearance."""

    def __init__(self) -> None:
        self.numbers: dict[Hashable, int] = {}
        self.values: list[Hashable] = []

    def __len__(self) -> int:
        return len(self.values)

    def number(self, value: Hashable) -> int:
        """The number of a value, a new one if it is new."""
        found = self.numbers.get(value)
        if found is None:
            found = self.numbers[value] = len(self.values)
            self.values.append(value)
        return found


class Kernel:
    """Explores a system breadth first and keeps what it found.

    Memo tables belong to the kernel and survive `clear_states`, so that several searches of one system
    (or of systems that share cells) run Python code only for what is new.
    """

    name = "python"

    def __init__(self, system: System, *, check_every: int = 0) -> None:
        self.system = system
        self.cells = Interner()
        self.operations = Interner()
        self.check_every = check_every
        self.calls = self.misses = self.hits = 0
        self._actors = tuple(system.actors)
        self._stages = {
            stage: tuple(i for i, actor in enumerate(self._actors) if actor.stage == stage) for stage in STAGE_ORDER
        }
        self._views = Interner()
        self._view_memo: list[list[dict[int, int]]] = [[{} for _ in actor.reads] for actor in self._actors]
        self._memo: list[dict[Vector, tuple[_Compiled, ...]]] = [{} for _ in self._actors]
        self._edit_memo: dict[tuple[int, int, int], tuple[int, ...]] = {}
        observer = system.observer
        self._observer_views: list[dict[int, int]] = [{} for _ in observer.reads]
        self._observer_memo: dict[Vector, int] = {}
        self._flags_memo: dict[int, int] = {}
        self._symmetric = tuple(tuple(family) for family in system.symmetric if len(family) > 1)
        self.clear_states()

    # -- the store ------------------------------------------------------------------------------

    def clear_states(self) -> None:
        """Forget all states, keep all memo tables."""
        self._numbers: dict[Vector, int] = {}
        self._vectors: list[Vector] = []
        self._parents = array("i")
        self._depths_end: list[int] = []
        self._edge_ends = array("q")
        self._edges = array("i")
        self._stable = bytearray()
        self.transitions = 0
        self.expanded = 0
        self.first_any = [-1] * FLAG_BITS
        self.first_stable = [-1] * FLAG_BITS

    def __len__(self) -> int:
        return len(self._vectors)

    @property
    def depth(self) -> int:
        """The depth of the state that is expanded next, or of the last one."""
        return max(0, len(self._depths_end) - 1)

    def bytes_used(self) -> int:
        """A rough size of the stored states; plain Python objects are large."""
        return len(self._vectors) * (200 + 8 * (len(self._vectors[0]) if self._vectors else 0))

    def parent(self, state: int) -> int:
        """The state from which `state` was first reached, -1 for initial ones."""
        return self._parents[state]

    def is_stable(self, state: int) -> bool:
        """True if only events leave this (expanded) state."""
        return bool(self._stable[state])

    def flags(self, state: int) -> int:
        """The observer's flags in this state."""
        return self._flags_of(self._vectors[state][0])

    def cells_of(self, state: int) -> tuple[Cell, ...]:
        """The state's cells."""
        return tuple(self.cells.values[number] for number in self._vectors[state])

    def successors(self, state: int) -> tuple[int, ...]:
        """Targets of the steps of an expanded state that are not events."""
        start = self._edge_ends[state - 1] if state else 0
        return tuple(self._edges[start : self._edge_ends[state]])

    # -- exploring ------------------------------------------------------------------------------

    def add_initial(self, cells: tuple[Cell, ...]) -> int:
        """Stores an initial state and returns its number."""
        vector = [0, *(self.cells.number(cell) for cell in cells[1:])]
        memory = self.cells.number(None)
        return self._store(self._finish(vector, memory), -1)

    def run(self, expansions: int, max_states: int) -> bool:
        """Expands up to `expansions` more states; True when none is left or `max_states` is reached."""
        if not self._depths_end:
            self._depths_end.append(len(self._vectors))
        for _ in range(expansions):
            if self.expanded >= len(self._vectors) or len(self._vectors) >= max_states:
                return True
            self._expand(self.expanded)
            self.expanded += 1
            if self.expanded == self._depths_end[-1] and self.expanded < len(self._vectors):
                self._depths_end.append(len(self._vectors))
        return self.expanded >= len(self._vectors)

    @property
    def is_complete(self) -> bool:
        """True when every stored state was expanded."""
        return self.expanded == len(self._vectors)

    def _expand(self, state: int) -> None:
        is_stable = True
        for _, compiled, target in self._steps(state):
            number = self._store(target, state)
            self.transitions += 1
            if compiled.effect.role != Role.EVENT:
                is_stable = False
                self._edges.append(number)
        self._edge_ends.append(len(self._edges))
        self._stable.append(is_stable)
        if is_stable:
            self._note(self.first_stable, state)

    def steps(self, state: int) -> list[Step]:
        """All steps out of a stored state, in the order of the search; targets must be stored."""
        return [
            Step(actor, compiled.effect, self._numbers[target])
            for actor, compiled, target in self._steps(state)
            if target in self._numbers
        ]

    def _steps(self, state: int) -> Iterator[tuple[int, _Compiled, Vector]]:
        vector = self._vectors[state]
        has_urgent, is_stable, is_alone = False, True, False
        for stage in STAGE_ORDER:
            if (stage == Stage.IDLE and has_urgent) or (stage == Stage.CALM and not is_stable):
                continue
            for actor in self._stages[stage]:
                for compiled in self._effects(actor, vector):
                    role = compiled.effect.role
                    for target in self._outcomes(vector, compiled):
                        has_urgent |= role == Role.URGENT
                        is_stable &= role == Role.EVENT
                        is_alone |= stage == Stage.FIRST
                        yield actor, compiled, target
                if is_alone:
                    return

    def urgent(self, state: int) -> list[int]:
        """The actors with urgent work in a stored state, also those that a step taken alone keeps waiting."""
        vector = self._vectors[state]
        return [
            actor
            for stage in (Stage.FIRST, Stage.ALWAYS)
            for actor in self._stages[stage]
            if any(
                draft != vector
                for compiled in self._effects(actor, vector)
                if compiled.effect.role == Role.URGENT
                for draft in self._drafts(vector, compiled)
            )
        ]

    def _effects(self, index: int, vector: Vector) -> tuple[_Compiled, ...]:
        actor, tables = self._actors[index], self._view_memo[index]
        key = tuple(
            self._view(actor.view, position, table, vector[slot])
            for position, (slot, table) in enumerate(zip(actor.reads, tables, strict=True))
        )
        self.calls += 1
        known = self._memo[index].get(key)
        if known is None:
            self.misses += 1
            known = self._memo[index][key] = self._ask(index, key)
        elif self.check_every:
            self._recheck(index, key, known)
        return known

    def _view(self, view, position: int, table: dict[int, int], cell: int) -> int:  # type: ignore[no-untyped-def]
        known = table.get(cell)
        if known is None:
            known = table[cell] = self._views.number(view(position, self.cells.values[cell]))
        return known

    def _ask(self, index: int, key: Vector) -> tuple[_Compiled, ...]:
        effects = self._actors[index].act(tuple(self._views.values[number] for number in key))
        return tuple(_Compiled(e, tuple((slot, self.operations.number(op)) for slot, op in e.edits)) for e in effects)

    def _recheck(self, index: int, key: Vector, known: tuple[_Compiled, ...]) -> None:
        self.hits += 1
        if self.hits % self.check_every == 0 and self._ask(index, key) != known:
            raise impure(self._actors[index].name)

    def _outcomes(self, vector: Vector, compiled: _Compiled) -> Iterator[Vector]:
        """The distinct successors by one effect; those equal to the source are left out."""
        seen = set()
        for draft in self._drafts(vector, compiled):
            if draft == vector:
                continue
            target = self._finish(list(draft), vector[0])
            if target not in seen:
                seen.add(target)
                yield target

    def _drafts(self, vector: Vector, compiled: _Compiled) -> list[Vector]:
        """The vectors after the edits of an effect, not yet canonical."""
        drafts = [vector]
        for slot, operation in compiled.edits:
            drafts = [
                (*draft[:slot], cell, *draft[slot + 1 :])
                for draft in drafts
                for cell in self._edited(slot, draft[slot], operation)
            ]
        return drafts

    def _edited(self, slot: int, cell: int, operation: int) -> tuple[int, ...]:
        key = (slot, cell, operation)
        known = self._edit_memo.get(key)
        if known is None:
            outcomes = self.system.edit(slot, self.cells.values[cell], self.operations.values[operation])
            known = self._edit_memo[key] = tuple(self.cells.number(outcome) for outcome in outcomes)
        return known

    def _finish(self, vector: list[int], memory: int) -> Vector:
        """The canonical vector: blocks sorted, observer's memory brought up to date."""
        for family in self._symmetric:
            contents = sorted(tuple(vector[slot] for slot in block) for block in family)
            for block, content in zip(family, contents, strict=True):
                for slot, number in zip(block, content, strict=True):
                    vector[slot] = number
        vector[0] = self._observed(memory, vector)
        return tuple(vector)

    def _observed(self, memory: int, vector: list[int]) -> int:
        observer = self.system.observer
        reads = zip(observer.reads, self._observer_views, strict=True)
        key = (
            memory,
            *(self._view(observer.view, position, table, vector[slot]) for position, (slot, table) in enumerate(reads)),
        )
        known = self._observer_memo.get(key)
        if known is None:
            views = tuple(self._views.values[number] for number in key[1:])
            known = self.cells.number(observer.observe(self.cells.values[memory], views))
            self._observer_memo[key] = known
        return known

    def _flags_of(self, memory: int) -> int:
        known = self._flags_memo.get(memory)
        if known is None:
            known = check_flags(self.system.observer.flags(self.cells.values[memory]))
            self._flags_memo[memory] = known
        return known

    def _store(self, vector: Vector, parent: int) -> int:
        number = self._numbers.get(vector)
        if number is None:
            number = len(self._vectors)
            self._parents.append(parent)
            self._vectors.append(vector)
            self._numbers[vector] = number  # last: an interrupt before leaves a complete store
            self._note(self.first_any, number)
        return number

    def _note(self, first: list[int], state: int) -> None:
        """Records the first state for every flag that is set in it."""
        flags = self._flags_of(self._vectors[state][0])
        while flags:
            bit = (flags & -flags).bit_length() - 1
            if first[bit] < 0:
                first[bit] = state
            flags &= flags - 1
