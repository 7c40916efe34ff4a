"""Trade-offs between objectives: which values can be had together, as the corners of what is achievable."""

from __future__ import annotations

import math
import time
from itertools import combinations
from math import comb
from typing import Any

from kubeproof.errors import QuantityError
from kubeproof.quantify.methods import CheckSettings, environment_of
from kubeproof.quantify.storm import Model, StormRefusal, ask, storm
from kubeproof.values import dataclass

Point = tuple[float, ...]
Side = tuple[Point, float]  # what is inside has at most so much in this direction
MOST_TRIED = 200_000  # choices of sides
NEAR = 1e-8  # relative: what rounding does to a corner
TINY = 1e-7


@dataclass(frozen=True, slots=True)
class Objective:
    """One number that is to be as large, or as small, as possible."""

    text: str
    is_greatest_best: bool


@dataclass(frozen=True, slots=True)
class Front:
    """The corners of what can be achieved, and of what nothing goes beyond; between both lies the true front."""

    name: str
    text: str
    objectives: tuple[Objective, ...]
    points: tuple[Point, ...]
    limit: tuple[Point, ...]
    elapsed_s: float

    @property
    def gap(self) -> float:
        """How far the two are apart at most, from a corner of one to the nearest of the other."""
        ends = [math.inf if not self.points else min(math.dist(a, b) for b in self.points) for a in self.limit]
        return max(ends, default=0.0)


def asks_for_front(formula: Any) -> bool:
    """True if the formula has several objectives that are numbers to be found."""
    if not isinstance(formula, storm().logic.MultiObjectiveFormula):
        return False
    return sum(not part.has_bound for part in formula.subformulas) > 1


def find_front(model: Model, name: str, formula: Any, settings: CheckSettings) -> Front:
    """The front of a formula `multi(...)`; objectives with a threshold are conditions that all points meet."""
    begin = time.perf_counter()
    objectives = tuple(
        Objective(str(part), part.optimality_type.name == "MAXIMIZE")
        for part in formula.subformulas
        if not part.has_bound
    )
    if model.kind in ("dtmc", "ctmc"):
        raise _uncheckable(
            formula, "a Markov chain has no decisions, and so nothing to trade", "Ask for each by itself"
        )
    if model.is_exact:
        raise _uncheckable(formula, "Storm does not end a front of fractions", "Leave out --exact")
    environment = environment_of(model, formula, settings)
    try:
        result = ask(
            lambda: storm().model_checking(model.handle, formula, only_initial_states=True, environment=environment)
        )
        inner, outer = result.get_under_approximation(), result.get_over_approximation()
        points, limit = (_corners(part, objectives) for part in (inner, outer))
    except (StormRefusal, AttributeError, RuntimeError) as problem:
        raise _uncheckable(formula, " ".join(str(problem).split()).rstrip(".?"), "Ask for fewer objectives") from None
    return Front(name, str(formula), objectives, points, limit, time.perf_counter() - begin)


def _corners(part: Any, objectives: tuple[Objective, ...]) -> tuple[Point, ...]:
    """The corners that no other is better than in everything, by the first objective.

    They are computed from the sides: what Storm lists as corners of rounded numbers may lack some.
    """
    size = len(objectives)
    sides = [(tuple(map(float, side.normal_vector)), float(side.offset)) for side in part.halfspaces]
    if comb(len(sides), size) > MOST_TRIED:
        raise StormRefusal("its front has too many sides")
    found: list[Point] = []
    for chosen in combinations(sides, size):
        point = _meet(chosen)
        if point is not None and all(_is_inside(point, side) for side in sides):
            point = tuple(0.0 if abs(value) < TINY else value for value in point)
            found += [] if any(_is_near(point, other) for other in found) else [point]
    return tuple(sorted(point for point in found if not any(_beats(other, point, objectives) for other in found)))


def _meet(sides: tuple[Side, ...]) -> Point | None:
    """Where so many sides meet, by elimination with the largest pivot; None where they do not."""
    rows = [[*normal, offset] for normal, offset in sides]
    size = len(rows)
    for column in range(size):
        best = max(range(column, size), key=lambda row: abs(rows[row][column]))
        if abs(rows[best][column]) < TINY:
            return None
        rows[column], rows[best] = rows[best], rows[column]
        for row in range(size):
            if row != column:
                share = rows[row][column] / rows[column][column]
                rows[row] = [one - share * other for one, other in zip(rows[row], rows[column], strict=True)]
    return tuple(rows[place][size] / rows[place][place] for place in range(size))


def _is_inside(point: Point, side: Side) -> bool:
    normal, offset = side
    products = [one * other for one, other in zip(normal, point, strict=True)]
    return sum(products) <= offset + NEAR * max(1.0, abs(offset), *map(abs, products))


def _is_near(one: Point, other: Point) -> bool:
    return all(abs(a - b) <= 100 * NEAR * max(1.0, abs(a)) for a, b in zip(one, other, strict=True))


def _beats(one: Point, other: Point, objectives: tuple[Objective, ...]) -> bool:
    """True if one is at least as good in everything, and better in something."""
    gains = [
        (a - b if objective.is_greatest_best else b - a) for a, b, objective in zip(one, other, objectives, strict=True)
    ]
    return min(gains) >= 0 and max(gains) > 0


def _uncheckable(formula: Any, reason: str, remedy: str) -> QuantityError:
    return QuantityError(f"has no front: {reason}", file=f"property {formula}", remedy=remedy)
