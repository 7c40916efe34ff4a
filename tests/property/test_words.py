"""Random graphs and random formulas: the search for words against the plain product, and against the formula itself."""

from __future__ import annotations

from collections.abc import Hashable
from random import Random
from typing import Any, NamedTuple

import pytest

from kubeproof.engine.reference import StateGraph
from kubeproof.engine.reference_words import makes_a_word
from kubeproof.engine.search import Finding, Search, explore, make_kernel
from kubeproof.engine.system import Check, Effect, Kind, Role
from kubeproof.logic.alphabet import Alphabet
from kubeproof.logic.formula import Formula
from kubeproof.logic.lasso import Lasso, holds
from kubeproof.logic.machine import BROKEN, SAFE, Machine, Memory
from kubeproof.logic.parser import parse
from kubeproof.logic.progress import is_ruled_out
from kubeproof.logic.vacuity import strengthen
from kubeproof.verdicts import Verdict
from tests.property.automata import random_formula
from tests.unit.engine.systems import Drawing, Edge

NODES = "abcdef"
ACTORS = ("one", "two", "three")
LIVE = (
    "G F a",
    "F G a",
    "F G !c",
    "G(a -> F b)",
    "(G F a) -> (G F c)",
    "G(a -> (b U c))",
    "F G (a | c)",
    "G F (c & F b)",
)
LETTERS = ("a", "b")  # of nodes; c is of steps


class DrawnWords:
    """Letters of a drawn graph: node names carry a and b, the tag of a step carries c."""

    def __init__(self, machine: Machine, of_node: dict[str, int], reads_stability: bool) -> None:
        self.start: Memory = machine.start
        self.reads_stability = reads_stability
        self.step, self.ways, self.after = machine.step, machine.ways, machine.after
        self.is_accepting, self.breaks_at_rest = machine.is_accepting, machine.breaks_at_rest
        self._of_node = of_node

    def letter(self, cells: tuple[Hashable, ...], effect: Effect | None, is_stable: bool) -> int:
        return letter(self._of_node, str(cells[1]), effect.tags if effect else 0, is_stable and self.reads_stability)

    def is_broken(self, memory: Any) -> bool:
        return bool(memory == BROKEN)

    def is_safe(self, memory: Any) -> bool:
        return bool(memory == SAFE)


def letter(of_node: dict[str, int], node: str, tags: int, is_stable: bool) -> int:
    """a and b as the node says, c by the step's tag; where stability is read, b is true in stable nodes."""
    return (of_node[node] | (2 if is_stable else 0)) | (tags & 1) << 2


class Drawn(NamedTuple):
    drawing: Drawing
    of_node: dict[str, int]
    formula: Formula
    reads_stability: bool


class NamedEdge(NamedTuple):
    actor: str
    role: int
    tags: int
    target: str
    is_promised: bool


def _draw(random: Random) -> Drawn:
    edges = {
        (random.choice(NODES), random.choice(NODES)): (random.choice(ACTORS), random.choice((0, 0, 0, 1, 3)))
        for _ in range(random.randrange(3, 14))
    }
    drawn = tuple(
        Edge(source, target, actor, role, random.randrange(2))
        for (source, target), (actor, role) in sorted(edges.items())
        if source != target
    )
    formula = parse(random.choice(LIVE)) if random.random() < 0.5 else random_formula(random, 3)
    promised = frozenset({random.randrange(3)} if random.random() < 0.3 else ())
    return Drawn(
        Drawing(drawn, promised=promised), {node: random.randrange(4) for node in NODES}, formula, random.random() < 0.5
    )


def _found(drawn: Drawn, engine: str = "auto") -> Search:
    def words(formula: Formula) -> DrawnWords:
        return DrawnWords(_machine(formula), drawn.of_node, drawn.reads_stability)

    stronger = tuple(words(formula) for formula in strengthen(drawn.formula))
    check = Check(Kind.WORD, words=words(drawn.formula), stronger=stronger)
    return explore(drawn.drawing, (check,), kernel=make_kernel(drawn.drawing, engine=engine))


def _machine(formula: Formula) -> Machine:
    return Machine(formula, Alphabet(propositions=("a", "b", "c")))


def _plain(drawn: Drawn) -> str:
    graph: StateGraph[str] = StateGraph()
    promised = {actor.name for number, actor in enumerate(drawn.drawing.actors) if number in drawn.drawing.promised}
    for node in _reachable(drawn.drawing):
        out = [edge for edge in drawn.drawing.edges if edge.source == node]
        graph.steps[node] = [NamedEdge(e.actor, e.role, e.tags, e.target, e.actor in promised) for e in out]

    def read(node: str, step: NamedEdge | None, is_stable: bool) -> int:
        return letter(drawn.of_node, node, step.tags if step else 0, is_stable and drawn.reads_stability)

    def breaks(formula: Formula) -> bool:
        return makes_a_word(graph, ("a",), _machine(formula), read)

    if breaks(drawn.formula):
        return Verdict.VIOLATED
    return Verdict.HOLDS if all(breaks(formula) for formula in strengthen(drawn.formula)) else Verdict.VACUOUS


def _reachable(drawing: Drawing) -> list[str]:
    found = ["a"]
    for node in found:
        found += [t for t in dict.fromkeys(e.target for e in drawing.edges if e.source == node) if t not in found]
    return found


def _word(drawn: Drawn, found: Search, finding: Finding) -> tuple[list[frozenset[str]], list[frozenset[str]]]:
    """The letters of the way, and of the loop: the cycle, or a stable state that lasts."""

    def read(state: int, tags: int) -> frozenset[str]:
        is_stable = drawn.reads_stability and found.store.is_stable(state)
        number = letter(drawn.of_node, str(found.store.cells_of(state)[1]), tags, is_stable)
        return frozenset(name for place, name in enumerate("abc") if number >> place & 1)

    way = found.way_of(finding)
    stem = [read(found.start_of(finding), 0), *(read(step.target, step.effect.tags) for _, step in way)]
    if finding.lasso is not None:
        return stem, [read(step.target, step.effect.tags) for step in finding.lasso.steps]
    return stem, [read(finding.state, 0)] if found.store.is_stable(finding.state) else []


def _confirm(drawn: Drawn, found: Search, finding: Finding) -> None:
    stem, loop = _word(drawn, found, finding)
    if finding.lasso is not None:
        assert finding.lasso.steps[-1].target == finding.lasso.states[0] == finding.state
        assert all(step.effect.role != Role.EVENT for step in finding.lasso.steps)
        assert not holds(drawn.formula, Lasso(tuple(stem), tuple(loop)))
        return
    breaks_at_rest = bool(loop) and not holds(drawn.formula, Lasso(tuple(stem), tuple(loop)))
    assert breaks_at_rest or is_ruled_out(drawn.formula, stem)


def _compare(random: Random) -> str:
    drawn = _draw(random)
    found = _found(drawn)
    (finding,) = found.findings
    assert finding.verdict == _plain(drawn), drawn
    if finding.verdict == Verdict.VIOLATED:
        _confirm(drawn, found, finding)
    return "loop" if finding.lasso is not None else finding.verdict


def test_the_search_for_words_agrees_with_the_plain_product():
    random = Random(7)
    counts: dict[str, int] = {}
    for _ in range(1500):
        kind = _compare(random)
        counts[kind] = counts.get(kind, 0) + 1

    assert min(counts[kind] for kind in (Verdict.HOLDS, Verdict.VACUOUS, Verdict.VIOLATED, "loop")) > 50, counts


@pytest.mark.slow
def test_the_search_for_words_agrees_with_the_plain_product_many_times():
    random = Random(8)
    for _ in range(40_000):
        _compare(random)


def test_both_kernels_find_the_same_words():
    random = Random(9)
    for _ in range(100):
        drawn = _draw(random)

        assert _found(drawn, "python").findings == _found(drawn).findings
