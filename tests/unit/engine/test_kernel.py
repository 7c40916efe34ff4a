from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kubeproof.engine.kernel import FLAG_BITS, Interner, Kernel
from kubeproof.engine.search import find_compiled_kernel
from kubeproof.engine.system import Role, Step, Turn
from kubeproof.errors import ImpureControllerError, InternalError
from tests.unit.engine.systems import (
    Cells,
    Drawing,
    Edge,
    Remembering,
    Scripted,
    counter,
    effect,
    explored,
)

MakeKernel = Callable[..., Any]


@pytest.fixture(params=["python", "compiled"])
def make(request: pytest.FixtureRequest) -> MakeKernel:
    """The class of each kernel in turn."""
    found = Kernel if request.param == "python" else find_compiled_kernel()
    if found is None:
        pytest.skip("the compiled engine is not built: pip install . with a C compiler")
    return found


@pytest.fixture
def compiled() -> MakeKernel:
    found = find_compiled_kernel()
    if found is None:
        pytest.skip("the compiled engine is not built: pip install . with a C compiler")
    return found


def nodes(kernel: Any) -> list[object]:
    return [kernel.cells_of(state)[1] for state in range(len(kernel))]


def test_values_are_numbered_in_order_of_appearance() -> None:
    interner = Interner()

    assert [interner.number(value) for value in ("x", "y", "x", None)] == [0, 1, 0, 2]
    assert (len(interner), interner.values) == (3, ["x", "y", None])


def test_states_are_numbered_breadth_first(make: MakeKernel) -> None:
    drawing = Drawing((Edge("a", "b"), Edge("a", "c"), Edge("b", "d"), Edge("c", "d"), Edge("d", "a")))

    kernel = explored(make(drawing), drawing)

    assert nodes(kernel) == ["a", "b", "c", "d"]
    assert [kernel.parent(state) for state in range(4)] == [-1, 0, 0, 1]
    assert [kernel.successors(state) for state in range(4)] == [(1, 2), (3,), (3,), (0,)]
    assert (kernel.transitions, kernel.depth, kernel.expanded, kernel.is_complete) == (5, 2, 4, True)


def test_each_kernel_says_its_name(compiled: MakeKernel) -> None:
    drawing = Drawing(())

    assert (Kernel(drawing).name, compiled(drawing).name) == ("python", "compiled")


def test_initial_states_that_are_equal_are_one(make: MakeKernel) -> None:
    kernel = make(Drawing(()))

    assert [kernel.add_initial((None, node)) for node in ("a", "b", "a")] == [0, 1, 0]
    assert len(kernel) == 2


def test_steps_tell_actor_effect_and_target(make: MakeKernel) -> None:
    drawing = Drawing((Edge("a", "b"), Edge("a", "c", "user", Role.EVENT, tags=4)))

    kernel = explored(make(drawing), drawing)

    assert kernel.steps(0) == [
        Step(0, effect((1, "b"), label="a -> b"), 1),
        Step(1, effect((1, "c"), role=Role.EVENT, tags=4, label="a -> c"), 2),
    ]
    assert kernel.successors(0) == (1,)


def test_steps_to_states_that_are_not_stored_are_left_out(make: MakeKernel) -> None:
    drawing = Drawing((Edge("a", "b"), Edge("b", "c"), Edge("b", "a")))

    kernel = explored(make(drawing), drawing, max_states=2)

    assert (len(kernel), kernel.expanded, kernel.is_complete) == (2, 1, False)
    assert [step.target for step in kernel.steps(1)] == [0]


def test_a_step_that_changes_nothing_is_no_step(make: MakeKernel) -> None:
    system = Cells(((None, 1),), (Scripted("idler", (1,), lambda n: [effect((1, ("set", 1))), effect()]),))

    kernel = explored(make(system), system)

    assert (len(kernel), kernel.transitions, kernel.is_stable(0)) == (1, 0, True)


def test_edits_of_one_slot_are_applied_in_order(make: MakeKernel) -> None:
    edits = ((1, ("add", 1)), (1, ("set", 5, 7)), (1, ("add", 10, 20)))
    system = Cells(((None, 0),), (Scripted("w", (1,), lambda n: [effect(*edits)] if n == 0 else []),))

    kernel = explored(make(system), system)

    assert nodes(kernel) == [0, 15, 25, 17, 27]


def test_edits_that_undo_each_other_are_no_step(make: MakeKernel) -> None:
    edits = ((1, ("add", 1)), (1, ("add", -1)))
    system = Cells(((None, 0),), (Scripted("w", (1,), lambda n: [effect(*edits)]),))

    assert explored(make(system), system).transitions == 0


def test_an_edit_without_outcome_makes_its_effect_impossible(make: MakeKernel) -> None:
    edits = ((1, ("add", 1)), (2, ("set",)), (1, ("add", 1)))
    system = Cells(((None, 0, 0),), (Scripted("w", (1,), lambda n: [effect(*edits)]),))

    assert explored(make(system), system).transitions == 0


def test_equal_outcomes_count_once_per_effect_and_again_per_effect(make: MakeKernel) -> None:
    doubled = effect((1, ("set", 1, 2)), (1, ("set", 3)))
    system = Cells(((None, 0),), (Scripted("w", (1,), lambda n: [doubled, doubled] if n == 0 else []),))

    kernel = explored(make(system), system)

    assert (kernel.transitions, kernel.successors(0)) == (2, (1, 1))


def test_time_passes_only_when_no_urgent_step_changes_the_state(make: MakeKernel) -> None:
    system = Cells(((None, 0, 0),), (counter(1, 2), counter(2, 1, role=Role.TIME, stage=Turn.IDLE)))

    kernel = explored(make(system), system)

    assert [kernel.cells_of(s)[1:] for s in range(len(kernel))] == [(0, 0), (1, 0), (2, 0), (2, 1)]


def test_an_optional_step_lets_time_pass(make: MakeKernel) -> None:
    actors = (counter(1, 1, role=Role.OPTIONAL), counter(2, 1, role=Role.TIME, stage=Turn.IDLE))
    system = Cells(((None, 0, 0),), actors)

    kernel = explored(make(system), system)

    assert [kernel.cells_of(s)[1:] for s in range(len(kernel))] == [(0, 0), (1, 0), (0, 1), (1, 1)]


def test_a_step_that_is_taken_first_is_taken_alone(make: MakeKernel) -> None:
    system = Cells(((None, 0, 0),), (counter(1, 2), counter(2, 1, stage=Turn.FIRST)))

    kernel = explored(make(system), system)

    assert [kernel.cells_of(s)[1:] for s in range(len(kernel))] == [(0, 0), (0, 1), (1, 1), (2, 1)]


def test_of_several_actors_that_go_first_one_is_enough(make: MakeKernel) -> None:
    system = Cells(((None, 0, 0),), (counter(1, 1, stage=Turn.FIRST), counter(2, 1, stage=Turn.FIRST)))

    kernel = explored(make(system), system)

    assert [kernel.cells_of(s)[1:] for s in range(len(kernel))] == [(0, 0), (1, 0), (1, 1)]


def test_work_that_waits_for_a_step_taken_first_is_still_urgent(make: MakeKernel) -> None:
    actors = (counter(1, 1), counter(2, 1, role=Role.OPTIONAL), counter(3, 1, stage=Turn.FIRST))
    system = Cells(((None, 0, 0, 0),), actors)

    kernel = explored(make(system), system)

    assert [kernel.urgent(s) for s in range(3)] == [[2, 0], [0], []]


def test_calm_actors_wait_for_a_stable_state_and_events_do_not_disturb_it(make: MakeKernel) -> None:
    actors = (
        counter(1, 1, role=Role.TIME, stage=Turn.IDLE),
        counter(2, 1, role=Role.EVENT),
        counter(3, 1, role=Role.EVENT, stage=Turn.CALM),
    )
    system = Cells(((None, 0, 0, 0),), actors)

    kernel = explored(make(system), system)

    assert [kernel.cells_of(s)[1:] for s in range(len(kernel))] == [
        (0, 0, 0),
        (0, 1, 0),
        (1, 0, 0),
        (1, 1, 0),
        (1, 0, 1),
        (1, 1, 1),
    ]
    assert [kernel.is_stable(s) for s in range(6)] == [False, False, True, True, True, True]


def test_interchangeable_slots_are_kept_sorted(make: MakeKernel) -> None:
    actors = (counter(1, 9), counter(2, 9))
    plain = Cells(((None, 0, 0),), actors)
    reduced = Cells(((None, 0, 0),), actors, symmetric=(((1,), (2,)),))

    assert len(explored(make(plain), plain)) == 100
    assert len(explored(make(reduced), reduced)) == 55


def test_interchangeable_blocks_move_as_a_whole(make: MakeKernel) -> None:
    system = Cells(((None, 5, 1, 4, 2, 5, 0),), symmetric=(((1, 2), (3, 4), (5, 6)), ((1,),)))

    kernel = explored(make(system), system)

    # blocks are ordered by the cells' numbers, given as they appear: 5 is 0, 1 is 1, 4 is 2, 2 is 3, 0 is 4
    assert kernel.cells_of(0)[1:] == (5, 1, 5, 0, 4, 2)


def test_the_observer_remembers_along_the_run(make: MakeKernel) -> None:
    def highest(memory: int | None, number: int) -> int:
        return max(memory or 0, number)

    wrapping = Scripted("w", (1,), lambda n: [effect((1, ("set", (n + 1) % 3)))])
    observer = Remembering((1,), highest, lambda memory: 1 << memory)
    system = Cells(((None, 0),), (wrapping,), observer)

    kernel = explored(make(system), system)

    assert [kernel.cells_of(s) for s in range(len(kernel))] == [(0, 0), (1, 1), (2, 2), (2, 0), (2, 1)]
    assert [kernel.flags(s) for s in range(5)] == [1, 2, 4, 4, 4]
    assert kernel.first_any[:4] == [0, 1, 2, -1]
    assert kernel.first_stable == [-1] * FLAG_BITS
    assert kernel.successors(4) == (2,)


def test_the_first_stable_state_of_each_flag_is_kept(make: MakeKernel) -> None:
    drawing = Drawing((Edge("a", "b"), Edge("a", "c")), bad={"a": 1, "b": 6, "c": 4})

    kernel = explored(make(drawing), drawing)

    assert kernel.first_any[:4] == [0, 1, 1, -1]
    assert kernel.first_stable[:4] == [-1, 1, 1, -1]


def test_an_actor_is_asked_once_per_view(make: MakeKernel) -> None:
    system = Cells(((None, 0, 0),), (counter(1, 9), counter(2, 9)))

    kernel = explored(make(system), system)

    assert (kernel.calls, kernel.misses) == (200, 20)


def test_answers_survive_when_states_are_cleared(make: MakeKernel) -> None:
    system = Cells(((None, 0, 0),), (counter(1, 9), counter(2, 9)))
    kernel = explored(make(system), system)

    kernel.clear_states()
    assert (len(kernel), kernel.transitions, kernel.expanded, kernel.is_complete) == (0, 0, 0, True)
    explored(kernel, system)

    assert (len(kernel), kernel.transitions, kernel.depth) == (100, 180, 18)
    assert (kernel.calls, kernel.misses) == (400, 20)


def test_an_actor_with_two_answers_is_an_error_when_checked(make: MakeKernel) -> None:
    asked: list[int] = []

    def fickle(number: int) -> list[Any]:
        asked.append(number)
        return [effect((2, ("add", 1)))] if len(asked) == 1 else []

    system = Cells(((None, 0, 0),), (Scripted("fickle", (1,), fickle), counter(2, 3)))

    with pytest.raises(ImpureControllerError, match="E701 controller fickle gave two answers"):
        explored(make(system, check_every=1), system)


def test_a_pure_actor_passes_the_check(make: MakeKernel) -> None:
    system = Cells(((None, 0, 0),), (counter(1, 9), counter(2, 9)))

    kernel = explored(make(system, check_every=7), system)

    assert (len(kernel), kernel.misses, kernel.hits) == (100, 20, 180)


def test_flags_beyond_the_last_bit_are_refused(make: MakeKernel) -> None:
    for flags in (1 << FLAG_BITS, -1):
        system = Cells(((None, 0),), observer=Remembering(facts=lambda memory, flags=flags: flags))
        with pytest.raises(InternalError, match="E700"):
            make(system).add_initial((None, 0))


def test_a_run_stops_at_the_limit_of_states(make: MakeKernel) -> None:
    system = Cells(((None, 0),), (counter(1, 99),))
    kernel = make(system)
    kernel.add_initial((None, 0))

    assert [kernel.run(5, 10), kernel.run(5, 10), kernel.run(5, 10)] == [False, True, True]
    assert (len(kernel), kernel.expanded, kernel.is_complete) == (10, 9, False)
    assert kernel.run(1000, 1000)
    assert (len(kernel), kernel.expanded, kernel.is_complete) == (100, 100, True)


def test_a_system_of_the_observer_alone_has_one_state(make: MakeKernel) -> None:
    system = Cells(((None,),))

    kernel = explored(make(system), system)

    assert (kernel.cells_of(0), kernel.is_stable(0), kernel.transitions) == (("nothing",), True, 0)


def test_without_initial_states_there_is_nothing_to_do(make: MakeKernel) -> None:
    kernel = make(Cells(()))

    assert kernel.run(10, 10)
    assert (len(kernel), kernel.depth, kernel.is_complete) == (0, 0, True)


def test_an_actor_that_reads_nothing_is_asked_once(make: MakeKernel) -> None:
    system = Cells(((None, 0),), (Scripted("w", (), lambda: [effect((1, ("set", 1)))]),))

    kernel = explored(make(system), system)

    assert (len(kernel), kernel.calls, kernel.misses) == (2, 2, 1)


@pytest.mark.parametrize("place", ["view", "act", "edit", "observe", "flags"])
def test_an_error_in_the_system_reaches_the_caller(make: MakeKernel, place: str) -> None:
    def failing(*_: object) -> Any:
        raise LookupError(place)

    class Broken(Scripted):
        def view(self, position: int, cell: object) -> object:
            return failing() if place == "view" and cell == 1 else cell

    def move(number: int) -> list[Any]:
        return failing() if place == "act" and number == 1 else [effect((1, ("add", 1)))]

    class System(Cells):
        def edit(self, slot: int, cell: Any, operation: Any) -> Any:
            return failing() if place == "edit" and cell == 1 else [cell + 1]

    observer = Remembering(
        (1,),
        lambda memory, number: failing() if place == "observe" and number == 2 else number,
        lambda memory: failing() if place == "flags" and memory == 2 else 0,
    )
    system = System(((None, 0),), (Broken("broken", (1,), move),), observer)
    kernel = make(system)
    kernel.add_initial((None, 0))

    with pytest.raises(LookupError, match=place):
        kernel.run(10, 10)
    assert (kernel.expanded, kernel.successors(0), kernel.is_complete) == (1, (1,), False)


@pytest.mark.parametrize("method", ["parent", "flags", "cells_of", "steps", "successors", "is_stable"])
def test_a_state_that_is_not_there_is_an_error(make: MakeKernel, method: str) -> None:
    drawing = Drawing((Edge("a", "b"),))
    kernel = explored(make(drawing), drawing)

    with pytest.raises(IndexError):
        getattr(kernel, method)(2)


def test_memory_is_given_back_when_states_are_cleared(compiled: MakeKernel) -> None:
    system = Cells(((None, 0, 0, 0),), tuple(counter(slot, 19) for slot in (1, 2, 3)))
    kernel = compiled(system)
    empty = kernel.bytes_used()
    full = explored(kernel, system).bytes_used()
    kernel.clear_states()
    cleared = kernel.bytes_used()
    explored(kernel, system)

    assert empty < cleared < full == kernel.bytes_used()
    roots, table = 8192 * 8, 16384 * 4
    parts = 1024 * 4 + 1024 * 4  # 420 halves of two cells each, and their table
    edges, parents = 32768 + 2048 * 8, 2048 + 64 * 8  # a byte per edge or state, and places now and then
    assert full - cleared == roots + table + parts + edges + parents + 5 * 8 * 8  # lists of blocks


def test_the_plain_kernel_knows_roughly_what_it_holds() -> None:
    system = Cells(((None, 0),), (counter(1, 9),))
    kernel = explored(Kernel(system), system)

    assert kernel.bytes_used() == 10 * (200 + 2 * 8)
    kernel.clear_states()
    assert kernel.bytes_used() == 0


def test_the_compiled_kernel_refuses_slots_that_do_not_exist(compiled: MakeKernel) -> None:
    reading = Cells(((None, 0),), (counter(2, 1),))
    writing = Cells(((None, 0),), (Scripted("w", (1,), lambda n: [effect((2, ("add", 1)))]),))

    with pytest.raises(IndexError, match="slot 2 does not exist"):
        compiled(reading).add_initial((None, 0))
    with pytest.raises(IndexError, match="slot 2 does not exist"):
        explored(compiled(writing), writing)
    with pytest.raises(IndexError, match="slot -1 does not exist"):
        compiled(Cells(((None, 0),), (counter(-1, 1),)))


def test_the_compiled_kernel_refuses_states_of_another_length(compiled: MakeKernel) -> None:
    kernel = compiled(Cells(()))
    kernel.add_initial((None, 0))

    with pytest.raises(ValueError, match="states have 2 slots, not 3"):
        kernel.add_initial((None, 0, 0))
    with pytest.raises(ValueError, match="same length"):
        compiled(Cells((), symmetric=(((1,), (2, 3)),)))


def test_the_compiled_kernel_finds_components_with_a_cycle(compiled: MakeKernel) -> None:
    edges = (Edge("a", "b"), Edge("b", "c"), Edge("c", "b"), Edge("c", "d"), Edge("d", "e"), Edge("e", "d"))
    drawing = Drawing((*edges, Edge("e", "a", "user", Role.EVENT)))

    assert explored(compiled(drawing), drawing).cyclic_components() == [[1, 2], [3, 4]]


def test_a_step_back_to_the_same_state_is_a_cycle(compiled: MakeKernel) -> None:
    swap = Scripted("swap", (1, 2), lambda x, y: [effect((1, ("set", y)), (2, ("set", x)))])
    system = Cells(((None, 0, 1),), (swap,), symmetric=(((1,), (2,)),))

    kernel = explored(compiled(system), system)

    assert (len(kernel), kernel.successors(0), kernel.cyclic_components()) == (1, (0,), [[0]])
