"""Negation normal form and simplification.

Afterwards a formula consists of constants, literals, `X`, `U`, `R`, and of `&` and `|` with two or more sorted,
different parts; `F p` is `true U p` and `G p` is `false R p`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from kubeproof.logic.formula import FALSE, TRUE, Formula, Op, binary, unary

_CACHE = 200_000


@lru_cache(maxsize=_CACHE)
def normal(formula: Formula) -> Formula:
    """An equivalent formula in negation normal form, simplified."""
    return _positive(formula)


def negate(formula: Formula) -> Formula:
    """The negation, in negation normal form."""
    return _negative(formula)


@lru_cache(maxsize=_CACHE)
def _positive(formula: Formula) -> Formula:
    if formula.op is Op.NOT:
        return _negative(formula.parts[0])
    if not formula.parts:
        return formula
    if formula.op is Op.IMPLIES:
        return disjunction((_negative(formula.parts[0]), _positive(formula.parts[1])))
    if formula.op is Op.EQUIVALENT:
        return _equivalent(formula, _positive(formula.parts[1]), _negative(formula.parts[1]))
    return _BUILD[formula.op](*(_positive(part) for part in formula.parts))


@lru_cache(maxsize=_CACHE)
def _negative(formula: Formula) -> Formula:
    if formula.op is Op.NOT:
        return _positive(formula.parts[0])
    if formula.op is Op.ATOM:
        return unary(Op.NOT, formula)
    if not formula.parts:
        return FALSE if formula.op is Op.TRUE else TRUE
    if formula.op is Op.IMPLIES:
        return conjunction((_positive(formula.parts[0]), _negative(formula.parts[1])))
    if formula.op is Op.EQUIVALENT:
        return _equivalent(formula, _negative(formula.parts[1]), _positive(formula.parts[1]))
    return _BUILD[_DUAL[formula.op]](*(_negative(part) for part in formula.parts))


def _equivalent(formula: Formula, if_true: Formula, if_false: Formula) -> Formula:
    left = formula.parts[0]
    both = conjunction((_positive(left), if_true))
    return disjunction((both, conjunction((_negative(left), if_false))))


def conjunction(parts: Iterable[Formula]) -> Formula:
    """All of the parts: flat, sorted, without repetitions, false if two contradict each other."""
    return _junction(parts, Op.AND, unit=TRUE, zero=FALSE)


def disjunction(parts: Iterable[Formula]) -> Formula:
    """At least one of the parts; the dual of `conjunction`."""
    return _junction(parts, Op.OR, unit=FALSE, zero=TRUE)


def _junction(parts: Iterable[Formula], op: Op, *, unit: Formula, zero: Formula) -> Formula:
    found: set[Formula] = set()
    for part in parts:
        found |= set(part.parts) if part.op is op else {part}
    found.discard(unit)
    if zero in found or any(part.op is Op.NOT and part.parts[0] in found for part in found):
        return zero
    other = Op.OR if op is Op.AND else Op.AND
    found = {part for part in found if not _is_absorbed(part, found, other)}
    ordered = tuple(sorted(found))
    if len(ordered) < 2:
        return ordered[0] if ordered else unit
    return Formula(op, ordered)


def _is_absorbed(part: Formula, beside: set[Formula], op: Op) -> bool:
    """True for `p | q` beside `p` in a conjunction, and for `p & q` beside `p` in a disjunction."""
    return part.op is op and any(inner in beside for inner in part.parts)


def next_(part: Formula) -> Formula:
    """X part."""
    return part if part in (TRUE, FALSE) else unary(Op.NEXT, part)


def until(left: Formula, right: Formula) -> Formula:
    """left U right."""
    if right in (TRUE, FALSE) or left in (FALSE, right):
        return right
    if right.op is Op.UNTIL and right.parts[0] in (left, TRUE):  # p U (p U q) = p U q, p U F q = F q
        return right
    if left == TRUE and right.op is Op.UNTIL:  # F(p U q) = F q
        return until(TRUE, right.parts[1])
    if left == TRUE and is_infinitely_often(right):  # F G F p = G F p
        return right
    return binary(Op.UNTIL, left, right)


def release(left: Formula, right: Formula) -> Formula:
    """left R right."""
    if right in (TRUE, FALSE) or left in (TRUE, right):
        return right
    if right.op is Op.RELEASE and right.parts[0] in (left, FALSE):
        return right
    if left == FALSE and right.op is Op.RELEASE:  # G(p R q) = G q
        return release(FALSE, right.parts[1])
    if left == FALSE and is_finally_always(right):  # G F G p = F G p
        return right
    return binary(Op.RELEASE, left, right)


def is_infinitely_often(formula: Formula) -> bool:
    """True for G F p in normal form."""
    return formula.op is Op.RELEASE and formula.parts[0] == FALSE and _is(formula.parts[1], Op.UNTIL, TRUE)


def is_finally_always(formula: Formula) -> bool:
    """True for F G p in normal form."""
    return formula.op is Op.UNTIL and formula.parts[0] == TRUE and _is(formula.parts[1], Op.RELEASE, FALSE)


def _is(formula: Formula, op: Op, left: Formula) -> bool:
    return formula.op is op and formula.parts[0] == left


def _weak_until(left: Formula, right: Formula) -> Formula:
    return release(right, disjunction((left, right)))


def _strong_release(left: Formula, right: Formula) -> Formula:
    return until(right, conjunction((left, right)))


_BUILD: dict[Op, Callable[..., Formula]] = {
    Op.AND: lambda *parts: conjunction(parts),
    Op.OR: lambda *parts: disjunction(parts),
    Op.NEXT: next_,
    Op.FINALLY: lambda part: until(TRUE, part),
    Op.GLOBALLY: lambda part: release(FALSE, part),
    Op.UNTIL: until,
    Op.RELEASE: release,
    Op.WEAK_UNTIL: _weak_until,
    Op.STRONG_RELEASE: _strong_release,
}
_DUAL = {
    Op.AND: Op.OR,
    Op.OR: Op.AND,
    Op.NEXT: Op.NEXT,
    Op.FINALLY: Op.GLOBALLY,
    Op.GLOBALLY: Op.FINALLY,
    Op.UNTIL: Op.RELEASE,
    Op.RELEASE: Op.UNTIL,
    Op.WEAK_UNTIL: Op.STRONG_RELEASE,
    Op.STRONG_RELEASE: Op.WEAK_UNTIL,
}
