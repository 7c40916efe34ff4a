from __future__ import annotations

from collections.abc import Mapping

import pytest

from kubeproof.engine.components import cyclic_components
from kubeproof.engine.cycles import Lasso, find_lasso, label_edges, tour
from kubeproof.engine.kernel import Kernel
from kubeproof.engine.system import Check, Kind, Role, Step
from tests.unit.engine.systems import Drawing, Edge, effect, explored

LOOP = 1  # the tag asked for
OTHER = 2
ANY_CYCLE = Check(Kind.CYCLE, tags=LOOP)


def lasso_in(edges: tuple[Edge, ...], check: Check, bad: Mapping[str, int] | None = None) -> Lasso | None:
    """What the search finds in a drawing; states are numbered in the order of the letters."""
    drawing = Drawing(edges, bad=bad or {})
    kernel = explored(Kernel(drawing), drawing)
    cyclic = cyclic_components(range(len(kernel)), kernel.successors)
    return find_lasso(kernel, cyclic, check, lambda actor: drawing.actors[actor].name)


def labels(lasso: Lasso | None) -> list[object]:
    return [step.effect.label for step in lasso.steps] if lasso else []


def test_without_a_cycle_nothing_is_found() -> None:
    assert lasso_in((Edge("a", "b", tags=LOOP),), ANY_CYCLE) is None


def test_a_cycle_with_the_tag_is_found_and_one_without_is_not() -> None:
    edges = (Edge("a", "b"), Edge("b", "c", tags=LOOP), Edge("c", "b"))

    found = lasso_in(edges, ANY_CYCLE)

    assert found is not None
    assert (found.states, labels(found), found.is_inevitable) == ((1, 2), ["b -> c", "c -> b"], True)
    assert lasso_in(edges, Check(Kind.CYCLE, tags=OTHER)) is None


def test_a_tag_on_the_way_to_a_cycle_does_not_count() -> None:
    assert lasso_in((Edge("a", "b", tags=LOOP), Edge("b", "c"), Edge("c", "b")), ANY_CYCLE) is None


def test_a_cycle_that_needs_events_is_none() -> None:
    edges = (Edge("a", "b", tags=LOOP), Edge("b", "a", "user", Role.EVENT, LOOP))

    assert lasso_in(edges, ANY_CYCLE) is None


def test_a_cycle_that_can_be_left_is_possible_and_not_inevitable() -> None:
    found = lasso_in((Edge("a", "b", tags=LOOP), Edge("b", "a"), Edge("b", "c")), ANY_CYCLE)

    assert found is not None
    assert (found.states, found.is_inevitable) == ((0, 1), False)


def test_an_event_that_leads_out_does_not_make_a_cycle_avoidable() -> None:
    edges = (Edge("a", "b", tags=LOOP), Edge("b", "a"), Edge("b", "c", "user", Role.EVENT))

    found = lasso_in(edges, ANY_CYCLE)

    assert found is not None
    assert found.is_inevitable


def test_an_inevitable_cycle_is_shown_before_a_possible_one_of_lower_states() -> None:
    edges = (
        Edge("a", "b", tags=LOOP),
        Edge("b", "a", tags=LOOP),
        Edge("b", "c"),
        Edge("c", "d", tags=LOOP),
        Edge("d", "c"),
    )

    found = lasso_in(edges, ANY_CYCLE)

    assert found is not None
    assert (found.states, found.is_inevitable) == ((2, 3), True)


def test_a_cycle_in_which_an_actor_with_work_never_acts_is_unfair() -> None:
    edges = (
        Edge("a", "b", "fast", tags=LOOP),
        Edge("b", "a", "fast"),
        Edge("a", "c", "starved"),
        Edge("b", "c", "starved"),
    )

    assert lasso_in(edges, ANY_CYCLE) is None


def test_an_actor_with_work_only_sometimes_is_not_starved() -> None:
    edges = (Edge("a", "b", "fast", tags=LOOP), Edge("b", "a", "fast"), Edge("a", "c", "slow"))

    found = lasso_in(edges, ANY_CYCLE)

    assert found is not None
    assert (found.states, found.is_inevitable) == ((0, 1), False)


def test_optional_work_may_wait_for_ever() -> None:
    edges = (
        Edge("a", "b", "fast", tags=LOOP),
        Edge("b", "a", "fast"),
        Edge("a", "c", "user", Role.OPTIONAL),
        Edge("b", "c", "user", Role.OPTIONAL),
    )

    found = lasso_in(edges, ANY_CYCLE)

    assert found is not None
    assert found.states == (0, 1)


def test_the_cycle_shown_lets_every_actor_with_constant_work_act() -> None:
    edges = (
        Edge("a", "b", "first", tags=LOOP),
        Edge("b", "a", "first"),
        Edge("a", "c", "second"),
        Edge("b", "c", "second"),
        Edge("c", "a", "first"),
        Edge("c", "b", "second"),
    )

    found = lasso_in(edges, ANY_CYCLE)

    assert found is not None
    assert labels(found) == ["a -> b", "b -> c", "c -> a"]


def test_the_cycle_shown_is_fair_itself_and_not_only_its_component() -> None:
    # "slow" has work in a and b but none in d: going round a and b alone would starve it
    edges = (
        Edge("a", "b", "fast", tags=LOOP),
        Edge("b", "a", "fast"),
        Edge("a", "c", "slow"),
        Edge("b", "c", "slow"),
        Edge("b", "d", "fast"),
        Edge("d", "a", "fast"),
    )

    found = lasso_in(edges, ANY_CYCLE)

    assert found is not None
    assert labels(found) == ["a -> b", "b -> d", "d -> a"]
    assert not found.is_inevitable


def test_recurrent_means_that_a_cycle_comes_back_to_a_bad_state() -> None:
    edges = (Edge("a", "b"), Edge("b", "c"), Edge("c", "a"))

    found = lasso_in(edges, Check(Kind.RECURRENT, flag=3), {"c": 8})

    assert found is not None
    assert (found.states, found.is_inevitable) == ((0, 1, 2), True)
    assert lasso_in(edges, Check(Kind.RECURRENT, flag=3), {"c": 4}) is None


def test_a_bad_state_before_the_cycle_is_not_recurrent() -> None:
    edges = (Edge("a", "b"), Edge("b", "c"), Edge("c", "b"))

    assert lasso_in(edges, Check(Kind.RECURRENT), {"a": 1}) is None


def test_persistent_needs_a_cycle_of_bad_states_only() -> None:
    edges = (Edge("a", "b"), Edge("b", "c"), Edge("c", "b"), Edge("c", "a"))

    found = lasso_in(edges, Check(Kind.PERSISTENT), {"b": 1, "c": 1})

    assert found is not None
    assert (found.states, labels(found)) == ((1, 2), ["b -> c", "c -> b"])
    assert not found.is_inevitable
    assert lasso_in(edges, Check(Kind.PERSISTENT), {"a": 1, "c": 1}) is None


def test_persistent_is_inevitable_when_the_whole_bottom_is_bad() -> None:
    edges = (Edge("a", "b"), Edge("b", "c"), Edge("c", "b"))

    found = lasso_in(edges, Check(Kind.PERSISTENT), {"b": 1, "c": 1})

    assert found is not None
    assert (found.states, found.is_inevitable) == ((1, 2), True)


def test_persistent_leaves_out_edges_with_its_tags() -> None:
    edges = (Edge("a", "b"), Edge("b", "c"), Edge("c", "b", tags=LOOP))
    everywhere = {"a": 1, "b": 1, "c": 1}

    assert lasso_in(edges, Check(Kind.PERSISTENT, tags=LOOP), everywhere) is None
    assert lasso_in(edges, Check(Kind.PERSISTENT, tags=OTHER), everywhere) is not None


def test_persistent_is_only_possible_when_a_tagged_edge_offers_relief() -> None:
    edges = (Edge("a", "b"), Edge("b", "a"), Edge("b", "a", "helper", Role.OPTIONAL, LOOP))

    found = lasso_in(edges, Check(Kind.PERSISTENT, tags=LOOP), {"a": 1, "b": 1})

    assert found is not None
    assert (found.states, found.is_inevitable) == ((0, 1), False)


def test_persistent_is_fair_only_if_the_bad_part_starves_nobody() -> None:
    edges = (
        Edge("a", "b", "fast"),
        Edge("b", "a", "fast"),
        Edge("a", "c", "cure"),
        Edge("b", "c", "cure"),
        Edge("c", "a", "fast"),
    )

    assert lasso_in(edges, Check(Kind.PERSISTENT), {"a": 1, "b": 1}) is None
    assert lasso_in(edges, Check(Kind.RECURRENT), {"a": 1, "b": 1}) is not None


def test_several_bad_parts_of_one_component_are_judged_each() -> None:
    edges = (
        Edge("a", "b"),
        Edge("b", "c"),
        Edge("c", "b", "fast"),
        Edge("c", "d", "starved"),
        Edge("b", "d", "starved"),
        Edge("d", "e"),
        Edge("e", "f"),
        Edge("f", "e"),
        Edge("f", "a"),
    )

    found = lasso_in(edges, Check(Kind.PERSISTENT), {"b": 1, "c": 1, "e": 1, "f": 1})

    assert found is not None
    assert labels(found) == ["e -> f", "f -> e"]


def test_edges_tell_what_is_inside_what_is_urgent_and_whether_one_leaves() -> None:
    drawing = Drawing((Edge("a", "b", "x"), Edge("b", "a", "y", Role.OPTIONAL), Edge("b", "c", "z")))
    kernel = explored(Kernel(drawing), drawing)

    edges = label_edges(kernel, [0, 1], lambda actor: drawing.actors[actor].name)

    assert {state: [step.target for step in steps] for state, steps in edges.inside.items()} == {
        0: [1],
        1: [0],
    }
    assert edges.urgent == {0: frozenset({"x"}), 1: frozenset({"z"})}
    assert edges.leaves


def test_a_tour_takes_a_step_for_every_goal_and_comes_back() -> None:
    ring = {state: (Step(0, effect(label=str(state)), (state + 1) % 4),) for state in range(4)}
    chord = Step(1, effect(label="chord"), 0)
    inside = {**ring, 1: (*ring[1], chord)}

    assert [s.effect.label for s in tour(0, inside, [])] == ["0", "chord"]
    assert [s.effect.label for s in tour(0, inside, [lambda state, step: state == 2])] == ["0", "1", "2", "3"]
    goals = [lambda state, step: step.actor == 1, lambda state, step: state == 3]
    assert [s.effect.label for s in tour(0, inside, goals)] == ["0", "chord", "0", "1", "2", "3"]


def test_a_self_loop_is_a_tour() -> None:
    loop = Step(0, effect(), 7)

    assert tour(7, {7: (loop,)}, []) == [loop]


def test_a_tour_through_what_is_not_connected_is_an_error() -> None:
    with pytest.raises(ValueError, match="not strongly connected"):
        tour(0, {0: (Step(0, effect(), 1),), 1: ()}, [])
