"""The compiled kernel against the plain one, and the plain one against a search without any cleverness."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from tempfile import gettempdir
from typing import Any
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubeproof.engine.components import cyclic_components
from kubeproof.engine.kernel import FLAG_BITS, Kernel
from kubeproof.engine.limits import Limits
from kubeproof.engine.search import Store, explore, find_compiled_kernel, make_kernel
from kubeproof.engine.sharing import Sharing
from kubeproof.engine.spill import PARTS, Disk
from kubeproof.engine.system import Effect, Role, System, Turn

EXAMPLES = settings(max_examples=300, deadline=None, derandomize=True)
NO_LIMIT = 2**31 - 2
CAP = 1500  # states at which a random system is cut off

needs_extension = pytest.mark.skipif(
    find_compiled_kernel() is None, reason="the compiled engine is not built: pip install . with a C compiler"
)


def chosen(options: int, *key: object) -> int:
    """A number below `options`, fixed by the key alone."""
    return crc32(repr(key).encode()) % options


@dataclass(frozen=True)
class RandomActor:
    """Sees cells through a remainder; its effects are fixed by what it sees."""

    name: str
    stage: int
    reads: tuple[int, ...]
    seed: int
    slots: int
    blur: int

    def view(self, position: int, cell: Any) -> object:
        return (cell % self.blur, position % 2)

    def act(self, views: tuple[object, ...]) -> Sequence[Effect]:
        count = chosen(4, self.seed, views, "effects")
        return [self._effect(views, number) for number in range(count)]

    def _effect(self, views: tuple[object, ...], number: int) -> Effect:
        key = (self.seed, views, number)
        edits = tuple(
            (1 + chosen(self.slots - 1, key, edit, "slot"), ("op", chosen(3, key, edit, "operation")))
            for edit in range(chosen(4, key, "edits") if self.slots > 1 else 0)
        )
        return Effect(chosen(4, key, "role"), chosen(4, key, "tags"), edits, ("label", number))


@dataclass(frozen=True)
class RandomObserver:
    """Remembers a small number and derives flags from it."""

    reads: tuple[int, ...]
    seed: int
    memories: int

    def view(self, position: int, cell: Any) -> object:
        return cell % 2 if isinstance(cell, int) else cell

    def observe(self, memory: object, views: tuple[object, ...]) -> object:
        return ("memory", chosen(self.memories, self.seed, memory, views))

    def flags(self, memory: object) -> int:
        return chosen(16, self.seed, memory) | (1 << (FLAG_BITS - 1)) * chosen(2, self.seed, memory, "top")


@dataclass(frozen=True)
class RandomSystem:
    """A small transition system whose behaviour is fixed by a seed."""

    initial: tuple[tuple[object, ...], ...]
    actors: tuple[RandomActor, ...]
    observer: RandomObserver
    symmetric: tuple[tuple[tuple[int, ...], ...], ...]
    seed: int
    values: int
    promised: frozenset[int] = frozenset()

    def edit(self, slot: int, cell: Any, operation: object) -> Sequence[object]:
        count = (1, 1, 1, 2, 3, 0, 1, 2)[chosen(8, self.seed, slot, cell, operation)]
        first = chosen(self.values, self.seed, slot, cell, operation, "first")
        return [(first + offset) % self.values for offset in range(min(count, self.values))]


@st.composite
def actors(draw: st.DrawFn, slots: int, number: int) -> RandomActor:
    return RandomActor(
        f"actor-{number}",
        draw(st.sampled_from((Turn.ALWAYS, Turn.ALWAYS, Turn.IDLE, Turn.CALM, Turn.FIRST))),
        tuple(draw(st.lists(st.integers(1, slots - 1), max_size=3)) if slots > 1 else ()),
        draw(st.integers(0, 999)),
        slots,
        draw(st.integers(1, 3)),
    )


@st.composite
def families(draw: st.DrawFn, slots: int) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """One or two families of disjoint blocks of equal length."""
    free = draw(st.permutations(range(1, slots)))
    found = []
    for _ in range(draw(st.integers(0, 2))):
        length, blocks = draw(st.integers(1, 2)), draw(st.integers(1, 4))
        taken, free = free[: length * blocks], free[length * blocks :]
        if len(taken) == length * blocks:
            starts = range(0, len(taken), length)
            found.append(tuple(tuple(taken[start : start + length]) for start in starts))
    return tuple(found)


@st.composite
def systems(draw: st.DrawFn, *, with_symmetry: bool = True) -> RandomSystem:
    slots = draw(st.sampled_from((1, 2, 3, 4, 5, 6, 17, 41)))  # the last two have six parts
    values = draw(st.integers(1, 4))
    cell = st.integers(0, values - 1)
    rest = st.lists(cell, min_size=slots - 1, max_size=slots - 1)
    initial = draw(st.lists(rest, min_size=1, max_size=3))
    count = draw(st.integers(0, 5))
    return RandomSystem(
        tuple((None, *cells) for cells in initial),
        tuple(draw(actors(slots, number)) for number in range(count)),
        RandomObserver(
            tuple(draw(st.lists(st.integers(1, slots - 1), max_size=2)) if slots > 1 else ()),
            draw(st.integers(0, 999)),
            draw(st.integers(1, 3)),
        ),
        draw(families(slots)) if with_symmetry else (),
        draw(st.integers(0, 999)),
        values,
    )


def explored(kernel: Any, system: System, max_states: int, chunk: int = 7) -> Any:
    """The kernel after it has seen everything, or as many states as it may."""
    for cells in system.initial:
        kernel.add_initial(cells)
    while not kernel.run(chunk, max_states):
        pass
    return kernel


def picture(kernel: Store) -> dict[str, object]:
    """Everything that a kernel tells about what it found."""
    states, expanded = range(len(kernel)), range(kernel.expanded)
    return {
        "states": len(kernel),
        "expanded": kernel.expanded,
        "transitions": kernel.transitions,
        "depth": kernel.depth,
        "is complete": kernel.is_complete,
        "cells": [kernel.cells_of(state) for state in states],
        "parents": [kernel.parent(state) for state in states],
        "flags": [kernel.flags(state) for state in states],
        "stable": [kernel.is_stable(state) for state in expanded],
        "successors": [kernel.successors(state) for state in expanded],
        "steps": [kernel.steps(state) for state in states],
        "urgent": [kernel.urgent(state) for state in states],
        "first any": list(kernel.first_any),
        "first stable": list(kernel.first_stable),
        "calls": kernel.calls,
        "misses": kernel.misses,
        "numbered cells": list(kernel.cells.values),
        "numbered operations": list(kernel.operations.values),  # type: ignore[attr-defined]
    }


def plain_components(kernel: Store) -> list[list[int]]:
    expanded = kernel.expanded
    found = cyclic_components(range(expanded), lambda s: kernel.successors(s) if s < expanded else ())
    return sorted(sorted(component) for component in found)


@needs_extension
@EXAMPLES
@given(systems(), st.sampled_from((CAP, CAP, 1, 2, 10, 40)))
def test_both_kernels_tell_the_same(system: RandomSystem, max_states: int) -> None:
    compiled_class = pytest.importorskip("kubeproof.engine._kernel").CompiledKernel
    plain, compiled = Kernel(system), compiled_class(system)

    explored(plain, system, max_states)
    explored(compiled, system, max_states)

    assert picture(compiled) == picture(plain)
    assert compiled.cyclic_components() == plain_components(plain)


@needs_extension
@settings(EXAMPLES, max_examples=60)
@given(systems(), st.lists(st.sampled_from(range(PARTS)), max_size=4), st.integers(0, 5))
def test_a_store_on_a_disk_tells_the_same(system: RandomSystem, parts: list[int], after: int) -> None:
    compiled_class = pytest.importorskip("kubeproof.engine._kernel").CompiledKernel
    plain, compiled, disk = Kernel(system), compiled_class(system), Disk(gettempdir(), free_share=10**9)
    for cells in system.initial:
        compiled.add_initial(cells)

    explored(plain, system, CAP)
    compiled.run(after, CAP)
    for part in parts:
        compiled.spill(disk, part)
        compiled.run(after, CAP)
    while not compiled.run(7, CAP):
        pass

    assert picture(compiled) == picture(plain)
    assert compiled.cyclic_components() == plain_components(plain)


@needs_extension
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@settings(EXAMPLES, max_examples=60)
@given(systems(), st.integers(2, 3), st.integers(1, 60), st.sampled_from((CAP, 40)))
def test_several_processes_tell_the_same(system: RandomSystem, processes: int, most: int, max_states: int) -> None:
    plain, compiled = (make_kernel(system, engine=engine) for engine in ("python", "compiled"))
    sharing = Sharing(processes, after_s=-1.0, least=1, most=most, may_fork=lambda: True)

    explore(system, (), kernel=plain, limits=Limits(max_states=max_states))
    explore(system, (), kernel=compiled, limits=Limits(max_states=max_states, sharing=sharing))

    assert compiled.calls == plain.calls
    told, expected = picture(compiled), picture(plain)
    for inside in ("misses", "numbered operations"):  # of each process
        del told[inside], expected[inside]
    assert told == expected


@needs_extension
@EXAMPLES
@given(systems(), st.integers(1, 60), st.integers(1, 3))
def test_both_kernels_tell_the_same_when_they_start_again(
    system: RandomSystem, max_states: int, check_every: int
) -> None:
    compiled_class = pytest.importorskip("kubeproof.engine._kernel").CompiledKernel
    kernels = Kernel(system, check_every=check_every), compiled_class(system, check_every=check_every)

    for kernel in kernels:
        explored(kernel, system, max_states)
        kernel.clear_states()
        assert (len(kernel), kernel.transitions, kernel.expanded, kernel.depth) == (0, 0, 0, 0)
        explored(kernel, system, CAP)

    plain, compiled = kernels
    assert picture(compiled) == picture(plain)
    assert compiled.hits == plain.hits
    assert compiled.cyclic_components() == plain_components(plain)


# -- the plain kernel against a search that remembers nothing but whole states ---------------------------

State = tuple[Any, ...]


def observed(system: RandomSystem, memory: object, cells: State) -> State:
    views = tuple(system.observer.view(at, cells[slot]) for at, slot in enumerate(system.observer.reads))
    return (system.observer.observe(memory, views), *cells[1:])


def outcomes(system: RandomSystem, state: State, effect: Effect) -> list[State]:
    drafts = [state]
    for slot, operation in effect.edits:
        drafts = [
            (*draft[:slot], cell, *draft[slot + 1 :])
            for draft in drafts
            for cell in system.edit(slot, draft[slot], operation)
        ]
    moved = [observed(system, state[0], draft) for draft in drafts if draft != state]
    return list(dict.fromkeys(moved))


def moves(system: RandomSystem, state: State, stage: int) -> Iterator[tuple[Effect, State]]:
    for actor in system.actors:
        if actor.stage == stage:
            yield from moves_of(system, state, actor)


def moves_of(system: RandomSystem, state: State, actor: RandomActor) -> Iterator[tuple[Effect, State]]:
    views = tuple(actor.view(at, state[slot]) for at, slot in enumerate(actor.reads))
    for effect in actor.act(views):
        yield from ((effect, target) for target in outcomes(system, state, effect))


def naive_steps(system: RandomSystem, state: State) -> list[tuple[Effect, State]]:
    for actor in system.actors:
        if actor.stage == Turn.FIRST and (alone := list(moves_of(system, state, actor))):
            return alone
    found = list(moves(system, state, Turn.ALWAYS))
    if not any(effect.role == Role.URGENT for effect, _ in found):
        found += moves(system, state, Turn.IDLE)
    if all(effect.role == Role.EVENT for effect, _ in found):
        found += moves(system, state, Turn.CALM)
    return found


def naive_search(system: RandomSystem) -> dict[State, list[tuple[Effect, State]]]:
    """All states in breadth-first order with their steps; no memo, no numbers."""
    found = {observed(system, None, cells): [] for cells in system.initial}  # type: dict[State, Any]
    queue = list(found)
    for state in queue:  # grows while it is walked
        found[state] = naive_steps(system, state)
        for _, target in found[state]:
            if target not in found:
                found[target] = []
                queue.append(target)
    return found


@EXAMPLES
@given(systems(with_symmetry=False))
def test_the_plain_kernel_finds_what_a_naive_search_finds(system: RandomSystem) -> None:
    kernel = explored(Kernel(system), system, NO_LIMIT)
    naive = naive_search(system)

    cells = [kernel.cells_of(state) for state in range(len(kernel))]
    steps = [[(s.effect, cells[s.target]) for s in kernel.steps(state)] for state in range(len(kernel))]
    assert cells == list(naive)
    assert steps == list(naive.values())
    assert kernel.transitions == sum(map(len, naive.values()))
    assert [kernel.urgent(state) for state in range(len(kernel))] == [naive_urgent(system, state) for state in cells]


def naive_urgent(system: RandomSystem, state: State) -> list[int]:
    """The actors with an urgent step, those that are asked first at the front."""
    numbered = enumerate(system.actors)
    asked = sorted(((a.stage != Turn.FIRST, i, a) for i, a in numbered if a.stage in (Turn.FIRST, Turn.ALWAYS)))
    return [i for _, i, a in asked if any(e.role == Role.URGENT for e, _ in moves_of(system, state, a))]


# -- what random small systems do not reach ----------------------------------------------------------------


@dataclass(frozen=True)
class Walker:
    """Raises the number in one slot by one, up to a top; then starts again if asked."""

    name: str
    reads: tuple[int, ...]
    top: int
    wraps: bool = False
    stage: int = Turn.ALWAYS

    def view(self, position: int, cell: Any) -> bool:
        return bool(cell < self.top)

    def act(self, views: tuple[object, ...]) -> Sequence[Effect]:
        if views[0] or self.wraps:
            return [Effect(Role.URGENT, 0, ((self.reads[0], "up" if views[0] else "reset"),), self.name)]
        return []


@dataclass(frozen=True)
class Forgetful:
    """An observer that remembers nothing."""

    reads: tuple[int, ...] = ()

    def view(self, position: int, cell: object) -> object:
        return cell

    def observe(self, memory: object, views: tuple[object, ...]) -> object:
        return "nothing"

    def flags(self, memory: object) -> int:
        return 0


@dataclass(frozen=True)
class Grid:
    """Walkers side by side."""

    actors: tuple[Walker, ...]
    initial: tuple[tuple[object, ...], ...]
    symmetric: tuple[tuple[tuple[int, ...], ...], ...] = ()
    promised: frozenset[int] = frozenset()
    observer: Forgetful = Forgetful()

    def edit(self, slot: int, cell: Any, operation: object) -> Sequence[object]:
        return [cell + 1 if operation == "up" else 0]


@needs_extension
def test_cell_numbers_above_sixteen_bits_are_kept_exactly() -> None:
    compiled_class = pytest.importorskip("kubeproof.engine._kernel").CompiledKernel
    system = Grid((Walker("w", (1,), 140_000, wraps=True),), ((None, 0, "x"),))

    kernel = explored(compiled_class(system), system, NO_LIMIT, chunk=4096)

    assert (len(kernel), kernel.transitions, kernel.depth) == (140_001, 140_001, 140_000)
    assert [kernel.cells_of(s)[1] for s in range(len(kernel))] == list(range(140_001))
    assert kernel.cyclic_components() == [list(range(140_001))]
    assert [kernel.parent(s) for s in (0, 65_535, 65_536, 140_000)] == [-1, 65_534, 65_535, 139_999]


@needs_extension
def test_chunks_and_tables_grow_without_losing_a_state() -> None:
    compiled_class = pytest.importorskip("kubeproof.engine._kernel").CompiledKernel
    walkers = tuple(Walker(f"w{slot}", (slot,), 9) for slot in range(1, 6))
    system = Grid(walkers, ((None, 0, 0, 0, 0, 0),))

    kernel = explored(compiled_class(system), system, NO_LIMIT, chunk=4096)

    assert (len(kernel), kernel.transitions, kernel.depth) == (100_000, 450_000, 45)
    assert {kernel.cells_of(s) for s in range(len(kernel))} == {
        ("nothing", *(state // 10**place % 10 for place in range(5))) for state in range(100_000)
    }
    assert all(kernel.parent(t) <= s for s in range(len(kernel)) for t in kernel.successors(s))
    assert kernel.cyclic_components() == []
    assert kernel.bytes_used() < 36 * len(kernel)
