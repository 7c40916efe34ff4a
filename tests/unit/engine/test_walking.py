"""Walks find nothing that is not there, and in a small graph all of it; runs are cut down to what they need."""

from __future__ import annotations

from random import Random

import pytest

from kubeproof.engine.search import Finding, Search, explore, make_kernel
from kubeproof.engine.system import Check, Kind, Role
from kubeproof.engine.walking import Explorer, find_broken, look_nearest_first, make_mood, walk
from kubeproof.verdicts import Verdict
from tests.unit.engine.systems import Cells, Drawing, Edge, Remembering, counter

LOOP = 1
CHECKS = (
    Check(Kind.NEVER, 0),
    Check(Kind.STABLE, 0),
    Check(Kind.RECURRENT, 0),
    Check(Kind.PERSISTENT, 0),
    Check(Kind.CYCLE, tags=LOOP),
    Check(Kind.STEP, tags=LOOP),
)


def draw(number: int) -> Drawing:
    """A random graph of up to eight nodes."""
    random = Random(number)
    nodes = "abcdefgh"[: random.randint(2, 8)]
    roles = (Role.URGENT, Role.URGENT, Role.OPTIONAL, Role.EVENT)
    edges = tuple(
        Edge(
            random.choice(nodes),
            random.choice(nodes),
            random.choice(("x", "y")),
            random.choice(roles),
            random.choice((0, 0, LOOP)),
        )
        for _ in range(random.randint(1, 14))
    )
    return Drawing(edges, random.choice((("a",), ("a", "b"))), {node: 1 for node in nodes if random.random() < 0.3})


def walked(system: Drawing | Cells, walks: int = 40, most: int = 30) -> tuple[Explorer, list[int]]:
    """What so many walks from each first state have seen."""
    explorer = Explorer(system)
    starts = [explorer.add_initial(cells) for cells in system.initial]
    for number in range(walks):
        mood = make_mood(number, ())
        assert len([*walk(explorer, mood.random.choice(starts), mood, most)]) <= most
    return explorer, starts


def assert_is_run(explorer: Explorer, finding: Finding, starts: list[int], check: Check) -> None:
    """The run of a finding is one of the system, and breaks the check at its end."""
    way = Search((), explorer, None, 0.0).way_of(finding)
    states = [*(state for state, _ in way), finding.state]
    assert states[0] in starts
    assert all(step in explorer.steps(state) for state, step in way)
    assert [step.target for _, step in way] == states[1:]
    if finding.last is not None:
        assert finding.last in explorer.steps(finding.state)
        assert finding.last.effect.tags & check.tags
    elif finding.lasso is None:
        assert explorer.flags(finding.state) & 1


@pytest.mark.parametrize("number", range(60))
def test_walks_through_a_whole_graph_find_what_a_search_finds(number: int) -> None:
    drawing = draw(number)
    search = explore(drawing, CHECKS, kernel=make_kernel(drawing), stop_early=False)
    explorer, starts = walked(drawing)

    found = [find_broken(explorer, starts, check, 100) for check in CHECKS]

    broken = [finding.is_violated for finding in search.findings]
    assert all(there for there, one in zip(broken, found, strict=True) if one is not None)
    if explorer.is_complete:
        assert [one is not None for one in found] == broken
    for check, one in zip(CHECKS, found, strict=True):
        if one is not None:
            assert_is_run(explorer, one, starts, check)


def test_most_small_graphs_are_walked_through() -> None:
    assert sum(walked(draw(number))[0].is_complete for number in range(60)) > 50


def test_the_same_seed_gives_the_same_walk() -> None:
    drawing = draw(7)
    first, second = (Explorer(drawing) for _ in range(2))
    starts = [explorer.add_initial(drawing.initial[0]) for explorer in (first, second)]

    walks = [[*walk(one, start, make_mood(3, (0,)), 20)] for one, start in zip((first, second), starts, strict=True)]

    assert walks[0] == walks[1]


class Nearing(Remembering):
    """An observer that tells how far the first slot is from 3."""

    def estimate(self, check: int, memory: int, views: tuple[int, ...]) -> int:
        return abs(3 - memory)


def crowd(observer: type[Remembering] = Remembering) -> Cells:
    """Eight counters, of which the first must not come to 3."""
    return Cells(
        ((None, *[0] * 8),),
        tuple(counter(slot, 6, role=Role.OPTIONAL) for slot in range(1, 9)),
        observer((1,), lambda memory, number: number, lambda memory: int(memory == 3)),
    )


def test_a_run_is_cut_down_to_the_steps_that_it_needs() -> None:
    explorer, starts = walked(crowd(), walks=3, most=60)

    finding = find_broken(explorer, starts, Check(Kind.NEVER, 0), 2_000)

    assert finding is not None
    assert finding.way is not None
    assert [explorer.system.actors[step.actor].name for _, step in finding.way] == ["counter-1"] * 3
    assert finding.verdict == Verdict.VIOLATED


def test_a_run_that_ends_with_a_step_keeps_that_step() -> None:
    explorer, starts = walked(Drawing((Edge("a", "b"), Edge("b", "c", tags=LOOP), Edge("c", "d"))))

    finding = find_broken(explorer, starts, Check(Kind.STEP, tags=LOOP), 10)

    assert finding is not None
    assert finding.last is not None
    assert (len(finding.way or ()), finding.last.effect.label) == (1, "b -> c")


def test_states_that_are_nearest_are_looked_at_first() -> None:
    explorer = Explorer(crowd(Nearing))
    start = explorer.add_initial(explorer.system.initial[0])

    seen = [*look_nearest_first(explorer, [start], 0, 4)]

    assert [explorer.cells_of(state)[1] for state in seen] == [0, 1, 2, 3]


def test_a_greedy_walk_goes_straight_there() -> None:
    explorer = Explorer(crowd(Nearing))
    start = explorer.add_initial(explorer.system.initial[0])
    greedy = make_mood(1, (0,))._replace(greed=1.0)

    seen = [*walk(explorer, start, greedy, 4)]

    assert [explorer.cells_of(state)[1] for state in seen] == [0, 1, 2, 3]


def test_without_states_everything_is_forgotten_but_answers() -> None:
    explorer, _ = walked(crowd(), walks=1)
    asked = explorer.misses

    explorer.clear_states()
    start = explorer.add_initial(crowd().initial[0])
    explorer.look(start)

    assert (explorer.looks, explorer.misses) == (1, asked)
