"""The exploration kernel in plain Python: interning, memoised actors, breadth-first expansion.

`_kernel.pyx` is its compiled twin with the same interface, the same numbering and the same order; tests
compare the two. This one serves where no compiler was available.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

from kubeproof.engine.interner import Interner
from kubeproof.engine.kernel_shared import FLAG_BITS, Lesson, Mark, Weigh, Weighed, check_flags, check_restored, impure
from kubeproof.engine.system import STAGE_ORDER, Actor, Cell, Effect, Observer, Role, Step, System, Turn
from kubeproof.named_tuples import NamedTuple

__all__ = [  # the compiled twin finds here what both share
    "FLAG_BITS", "Interner", "Kernel", "Lesson", "Mark", "Weigh", "Weighed", "check_flags", "check_restored", "impure",
]  # fmt: skip
Vector = tuple[int, ...]


class _Compiled(NamedTuple):
    """An effect with its operations interned."""

    effect: Effect
    edits: tuple[tuple[int, int], ...]  # (slot, operation number)


def _natural(number: int) -> int:
    """The number, which must not count from the end."""
    if number < 0:
        raise IndexError(f"{number} is no place")
    return number


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
        self._readers: tuple[Actor | Observer, ...] = (*self._actors, system.observer)
        self._stages = {
            stage: tuple(i for i, actor in enumerate(self._actors) if actor.stage == stage) for stage in STAGE_ORDER
        }
        self._views = Interner()
        self._view_memo: list[list[dict[int, int]]] = [[{} for _ in reader.reads] for reader in self._readers]
        self._memo: list[dict[Vector, tuple[_Compiled, ...]]] = [{} for _ in self._actors]
        self._first_effects: list[dict[Vector, int]] = [{} for _ in self._actors]
        self.effect_values: list[Effect] = []
        self._edit_memo: dict[tuple[int, int, int], tuple[int, ...]] = {}
        self._observer_memo: dict[Vector, int] = {}
        self._flags_memo: dict[int, int] = {}
        self._symmetric = tuple(tuple(family) for family in system.symmetric if len(family) > 1)
        self._lessons = array("i")
        self._initials = 0
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

    # -- snapshots ------------------------------------------------------------------------------

    def mark(self) -> Mark:
        """This moment; only between two calls of `run`."""
        return Mark(
            len(self._vectors),
            self.expanded,
            len(self._edges),
            self.transitions,
            len(self._depths_end),
            self._depths_end[-1] if self._depths_end else 0,
            self.calls,
            self.misses,
            self.hits,
            len(self._lessons),
            len(self.cells),
            len(self._views),
            len(self.operations),
        )

    def lessons(self, end: int) -> bytes:
        """The first lessons, as 32-bit numbers."""
        return self._lessons[:end].tobytes()

    def rows(self, first: int, last: int) -> tuple[int, bytes]:
        """Vectors of states as numbers of so many bytes."""
        numbers = array("i", chain.from_iterable(self._vectors[first:last]))
        if max(numbers, default=0) < 65536:
            return 2, array("H", numbers).tobytes()
        return 4, numbers.tobytes()

    def parents(self, first: int, last: int) -> bytes:
        """Parents of states, as 32-bit numbers."""
        return self._parents[first:last].tobytes()

    def edges(self, first: int, last: int) -> tuple[bytes, bytes]:
        """How many steps leave each of these expanded states, events left out, and where to, as 32-bit numbers."""
        ends = [self._edge_ends[first - 1] if first else 0, *self._edge_ends[first:last]]
        degrees = array("i", (end - start for start, end in pairwise(ends)))
        return degrees.tobytes(), self._edges[ends[0] : ends[-1]].tobytes()

    def relearn(self, lessons: bytes) -> None:
        """Asks the system everything again, in the order of the lessons; ValueError if they make no sense."""
        numbers = array("i", lessons)
        place = 0
        try:
            while place < len(numbers):
                place = self._relearn_one(numbers, place)
        except (IndexError, TypeError) as problem:
            raise ValueError(f"lessons that this system does not teach: {problem}") from problem
        if self._lessons != numbers:
            raise ValueError("the system does not answer as it did before")

    def _relearn_one(self, numbers: array[int], place: int) -> int:
        """Learns the lesson at a place; returns the place of the next."""
        kind, rest = numbers[place], place + 1
        if kind == Lesson.INITIAL:
            self._learn_initial(tuple(self.system.initial[self._initials]))
            return rest + 1
        if kind == Lesson.ANSWER:
            index, rest = numbers[rest], rest + 1
            width = len(self._actors[_natural(index)].reads)
            self._learn_answer(index, self._lesson(numbers, rest, width))
            return rest + width + 1
        width = 1 + len(self.system.observer.reads) if kind == Lesson.MEMORY else 3
        lesson = self._lesson(numbers, rest, width)
        if kind == Lesson.MEMORY:
            self._learn_memory(lesson)
        elif kind == Lesson.VIEW:
            self._learn_view(*lesson)
        elif kind == Lesson.EDIT:
            self._learn_edit(*lesson)
        else:
            raise ValueError(f"no lesson is called {kind}")
        return rest + width + 1

    @staticmethod
    def _lesson(numbers: array[int], first: int, width: int) -> Vector:
        lesson = tuple(map(_natural, numbers[first : first + width]))
        if len(lesson) != width:
            raise ValueError("a lesson is cut short")
        return lesson

    def restore_states(self, width: int, rows: bytes, parents: bytes) -> None:
        """Stores states as `rows` and `parents` gave them; ValueError if they are none."""
        slots = len(self.system.initial[0])
        numbers, above = array("H" if width == 2 else "i", rows), array("i", parents)
        if len(numbers) != slots * len(above) or not 0 <= min(numbers) <= max(numbers) < len(self.cells):
            raise ValueError("states that do not fit")
        for row, parent in enumerate(above):
            if not -1 <= parent < len(self._vectors):
                raise ValueError("a state before its parent")
            self._store(tuple(numbers[row * slots : (row + 1) * slots]), parent)

    def restore_edges(self, degrees: bytes, edges: bytes) -> None:
        """Marks the next states as expanded, with the steps that `edges` gave; ValueError if they are none."""
        counts, targets = array("i", degrees), array("i", edges)
        is_room = len(counts) <= len(self._vectors) - self.expanded
        if not is_room or min(counts, default=0) < 0 or sum(counts) != len(targets):
            raise ValueError("steps that do not fit")
        if targets and not 0 <= min(targets) <= max(targets) < len(self._vectors):
            raise ValueError("a step to nowhere")
        self._edges.extend(targets)
        for count in counts:
            self._edge_ends.append(count + (self._edge_ends[-1] if self._edge_ends else 0))
            self._stable.append(count == 0)
            if count == 0:
                self._note(self.first_stable, self.expanded)
            self.expanded += 1

    def restore_counts(self, mark: Mark) -> None:
        """Sets what the mark says and the states do not; ValueError if it is not the mark of what was restored."""
        check_restored(self.mark(), mark)
        self.transitions = mark.transitions
        self.calls, self.misses, self.hits = mark.calls, mark.misses, mark.hits
        self._depths_end = [0] * (mark.levels - 1) + [mark.level_end] if mark.levels else []

    # -- exploring ------------------------------------------------------------------------------

    def add_initial(self, cells: tuple[Cell, ...]) -> int:
        """Stores an initial state and returns its number."""
        vector = self._learn_initial(cells)
        memory = self.cells.number(None)
        return self._store(self._finish(vector, memory), -1)

    def _learn_initial(self, cells: tuple[Cell, ...]) -> list[int]:
        vector = [0, *(self.cells.number(cell) for cell in cells[1:])]
        self.cells.number(None)
        self._initials += 1
        self._lessons.extend((Lesson.INITIAL, len(self.cells)))
        return vector

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
            if (stage == Turn.IDLE and has_urgent) or (stage == Turn.CALM and not is_stable):
                continue
            for actor in self._stages[stage]:
                for compiled in self._effects(actor, vector):
                    role = compiled.effect.role
                    for target in self._outcomes(vector, compiled):
                        has_urgent |= role == Role.URGENT
                        is_stable &= role == Role.EVENT
                        is_alone |= stage == Turn.FIRST
                        yield actor, compiled, target
                if is_alone:
                    return

    def weighed(self, first: int, last: int, weigh: Weigh) -> Weighed:
        """All steps out of these states, by actor and effect, those of one effect to one target perhaps repeated.

        A step's weight is the product of what `weigh` gives the outcomes of its edits. All targets must be stored.
        """
        degrees, actors, effects, targets = array("i"), array("i"), array("i"), array("i")
        weights = array("d")
        for state in range(first, last):
            before = len(targets)
            for actor, effect, target, weight in self._weigh_steps(state, weigh):
                actors.append(actor)
                effects.append(effect)
                targets.append(self._numbers[target])
                weights.append(weight)
            degrees.append(len(targets) - before)
        return Weighed(*(numbers.tobytes() for numbers in (degrees, actors, effects, targets, weights)))

    def _weigh_steps(self, state: int, weigh: Weigh) -> Iterator[tuple[int, int, Vector, float]]:
        vector = self._vectors[state]
        for actor in dict.fromkeys(actor for actor, _, _ in self._steps(state)):
            key = self._view_of(actor, vector)
            for number, compiled in enumerate(self._memo[actor][key], self._first_effects[actor][key]):
                for draft, weight in self._weigh_drafts(vector, compiled, weigh):
                    if draft != vector:
                        yield actor, number, self._finish(list(draft), vector[0]), weight

    def _weigh_drafts(self, vector: Vector, compiled: _Compiled, weigh: Weigh) -> list[tuple[Vector, float]]:
        drafts = [(vector, 1.0)]
        for slot, operation in compiled.edits:
            drafts = [
                ((*draft[:slot], cell, *draft[slot + 1 :]), weight * factor)
                for draft, weight in drafts
                for cell, factor in zip(
                    self._edit(slot, draft[slot], operation),
                    weigh(slot, self.cells.values[draft[slot]], self.operations.values[operation]),
                    strict=True,
                )
            ]
        return drafts

    def urgent(self, state: int) -> list[int]:
        """The actors with urgent work in a stored state, also those that a step taken alone keeps waiting."""
        vector = self._vectors[state]
        return [
            actor
            for stage in (Turn.FIRST, Turn.ALWAYS)
            for actor in self._stages[stage]
            if any(
                draft != vector
                for compiled in self._effects(actor, vector)
                if compiled.effect.role == Role.URGENT
                for draft in self._drafts(vector, compiled)
            )
        ]

    def _effects(self, index: int, vector: Vector) -> tuple[_Compiled, ...]:
        key = self._view_of(index, vector)
        self.calls += 1
        known = self._memo[index].get(key)
        if known is None:
            known = self._learn_answer(index, key)
        elif self.check_every:
            self._recheck(index, key, known)
        return known

    def _learn_answer(self, index: int, key: Vector) -> tuple[_Compiled, ...]:
        self.misses += 1
        known = self._memo[index][key] = self._ask(index, key)
        self._first_effects[index][key] = len(self.effect_values)
        self.effect_values += [compiled.effect for compiled in known]
        self._lessons.extend((Lesson.ANSWER, index, *key, len(known)))
        return known

    def _view_of(self, reader: int, vector: Sequence[int]) -> Vector:
        """The views that an actor, or the observer after the last of them, has of a vector."""
        return tuple(
            self._view(reader, position, table, vector[slot])
            for position, (slot, table) in enumerate(
                zip(self._readers[reader].reads, self._view_memo[reader], strict=True)
            )
        )

    def _view(self, reader: int, position: int, table: dict[int, int], cell: int) -> int:
        known = table.get(cell)
        return self._learn_view(reader, position, cell) if known is None else known

    def _learn_view(self, reader: int, position: int, cell: int) -> int:
        number = self._views.number(self._readers[reader].view(position, self.cells.values[cell]))
        self._view_memo[reader][position][cell] = number
        self._lessons.extend((Lesson.VIEW, reader, position, cell, number))
        return number

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
                for cell in self._edit(slot, draft[slot], operation)
            ]
        return drafts

    def _edit(self, slot: int, cell: int, operation: int) -> tuple[int, ...]:
        key = (slot, cell, operation)
        known = self._edit_memo.get(key)
        return self._learn_edit(slot, operation, cell) if known is None else known

    def _learn_edit(self, slot: int, operation: int, cell: int) -> tuple[int, ...]:
        outcomes = self.system.edit(slot, self.cells.values[cell], self.operations.values[operation])
        known = tuple(self.cells.number(outcome) for outcome in outcomes)
        self._edit_memo[slot, cell, operation] = known
        self._lessons.extend((Lesson.EDIT, slot, operation, cell, known[-1] if known else -1))
        return known

    def _finish(self, vector: list[int], memory: int) -> Vector:
        """The canonical vector: blocks sorted, observer's memory brought up to date."""
        for family in self._symmetric:
            contents = sorted(tuple(vector[slot] for slot in block) for block in family)
            for block, content in zip(family, contents, strict=True):
                for slot, number in zip(block, content, strict=True):
                    vector[slot] = number
        vector[0] = self._observe(memory, vector)
        return tuple(vector)

    def _observe(self, memory: int, vector: list[int]) -> int:
        key = (memory, *self._view_of(len(self._actors), vector))
        known = self._observer_memo.get(key)
        return self._learn_memory(key) if known is None else known

    def _learn_memory(self, key: Vector) -> int:
        views = tuple(self._views.values[number] for number in key[1:])
        known = self.cells.number(self.system.observer.observe(self.cells.values[key[0]], views))
        self._observer_memo[key] = known
        self._lessons.extend((Lesson.MEMORY, *key, known))
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
