"""Stronger formulas that tell whether a formula holds for an interesting reason.

`G(a -> b)` also holds where `a` never happens. Then it would still hold with `false` in place of `b`: if a formula
remains true when the right side of one of its implications is made impossible, it is vacuous (after Beer, Ben-David,
Eisner and Rodeh 2001).
"""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.logic.formula import FALSE, TRUE, Formula, Op


def strengthen(formula: Formula) -> tuple[Formula, ...]:
    """One formula per implication, stronger than the given one: its right side is as hard to satisfy as can be."""
    return tuple(dict.fromkeys(_strengthen_parts(formula, is_positive=True)))


def _strengthen_parts(formula: Formula, *, is_positive: bool) -> Iterator[Formula]:
    if formula.op is Op.EQUIVALENT:
        return  # both sides count both ways: nothing inside is stronger or weaker
    if formula.op is Op.IMPLIES:
        yield Formula(Op.IMPLIES, (formula.parts[0], FALSE if is_positive else TRUE))
    for place, part in enumerate(formula.parts):
        flips = formula.op is Op.NOT or (formula.op is Op.IMPLIES and place == 0)
        for other in _strengthen_parts(part, is_positive=is_positive != flips):
            yield Formula(formula.op, (*formula.parts[:place], other, *formula.parts[place + 1 :]))
