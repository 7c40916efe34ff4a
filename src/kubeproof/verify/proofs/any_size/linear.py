"""Numbers that follow the size of an input, and when one of them never exceeds another.

A number is the largest of several, each the least of linear terms: what `spec.scale` can say, and what follows from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class Linear:
    """`pods` times the replicas, `nodes` times the nodes kind by kind, and `plus`."""

    pods: int
    nodes: tuple[int, ...]
    plus: int

    def minus(self, other: Linear) -> Linear:
        """The difference of the two."""
        nodes = tuple(mine - theirs for mine, theirs in zip(self.nodes, other.nodes, strict=True))
        return Linear(self.pods - other.pods, nodes, self.plus - other.plus)

    def plus_term(self, other: Linear) -> Linear:
        """The sum of the two."""
        nodes = tuple(mine + theirs for mine, theirs in zip(self.nodes, other.nodes, strict=True))
        return Linear(self.pods + other.pods, nodes, self.plus + other.plus)

    def at(self, pods: int, nodes: Sequence[int]) -> int:
        """Its value at one size."""
        grown = sum(factor * count for factor, count in zip(self.nodes, nodes, strict=True))
        return self.pods * pods + grown + self.plus


Number = tuple[tuple[Linear, ...], ...]  # the largest of these, each the least of its terms


def value_at(number: Number, pods: int, nodes: Sequence[int]) -> int:
    """The number at one size."""
    return max(min(term.at(pods, nodes) for term in terms) for terms in number)


class Box(NamedTuple):
    """Sizes: so many replicas and so many nodes of each kind at least; `most` bounds the replicas, None is no bound."""

    least: int
    most: int | None
    nodes: tuple[int, ...]

    def keeps(self, term: Linear) -> bool:
        """True if the term is never below zero."""
        if any(factor < 0 for factor in term.nodes) or (term.pods < 0 and self.most is None):
            return False
        pods = self.least if term.pods >= 0 or self.most is None else self.most
        return term.at(pods, self.nodes) >= 0

    def ever(self, term: Linear) -> bool:
        """True if the term is not below zero at some size."""
        if any(factor > 0 for factor in term.nodes) or (term.pods > 0 and self.most is None):
            return True
        pods = self.least if term.pods <= 0 or self.most is None else self.most
        return term.at(pods, self.nodes) >= 0


def at_most(box: Box, number: Number, other: Number) -> tuple[Linear, ...] | None:
    """What must not be below zero for the number never to exceed the other; None if no size is found that way.

    Each of the alternatives of the number has to stay below one alternative of the other: one of its terms below all of
    that one's terms. So every size that keeps to the terms found is right; others may be.
    """
    found: list[Linear] = []
    for terms in number:
        ways = (_stay_below(box, terms, bounds) for bounds in other)
        possible: list[tuple[Linear, ...]] = [way for way in ways if way is not None]
        if not possible:
            return None
        found += sorted(possible, key=len)[0]
    return join_ties(box, found)


def join_ties(box: Box, found: Sequence[Linear]) -> tuple[Linear, ...] | None:
    """The terms without those that follow from others; None if two of them exclude each other."""
    is_possible = all(box.ever(one.plus_term(other)) for one, other in combinations(found, 2))
    return simplify(box, found) if is_possible else None


def _stay_below(box: Box, terms: Sequence[Linear], bounds: Sequence[Linear]) -> tuple[Linear, ...] | None:
    """What keeps the least of the terms below each of the bounds."""
    found: list[Linear] = []
    for bound in bounds:
        ways = [bound.minus(term) for term in terms]
        if any(map(box.keeps, ways)):
            continue
        possible = [way for way in ways if box.ever(way)]
        if not possible:
            return None
        found.append(possible[0])
    return tuple(found)


def simplify(box: Box, terms: Iterable[Linear]) -> tuple[Linear, ...]:
    """The terms without those that follow from the box or from others."""
    asked = [term for term in dict.fromkeys(terms) if not box.keeps(term)]
    return tuple(
        term
        for number, term in enumerate(asked)
        if not any(
            box.keeps(term.minus(other)) and not (box.keeps(other.minus(term)) and number < place)
            for place, other in enumerate(asked)
            if other != term
        )
    )
