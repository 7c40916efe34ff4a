"""What is left of a formula after a finite word (Bacchus and Kabanza 1998): rewriting, without any automaton."""

from __future__ import annotations

from collections.abc import Iterable, Set

from kubeproof.logic.automata.automaton import is_empty
from kubeproof.logic.automata.translate import translate
from kubeproof.logic.formula import FALSE, TRUE, Formula, Op
from kubeproof.logic.normal import conjunction, disjunction, normal

Letter = Set[str]  # the propositions that are true


def progress(formula: Formula, letter: Letter) -> Formula:
    """What the rest of a word must satisfy for the formula, in normal form, to hold on the letter and that rest."""
    match formula.op:
        case Op.TRUE | Op.FALSE:
            return formula
        case Op.ATOM:
            return TRUE if formula.name in letter else FALSE
        case Op.NOT:  # in normal form only in front of an atom
            return FALSE if formula.parts[0].name in letter else TRUE
        case Op.NEXT:
            return formula.parts[0]
    parts = [progress(part, letter) for part in formula.parts]
    match formula.op:
        case Op.AND:
            return conjunction(parts)
        case Op.OR:
            return disjunction(parts)
        case Op.UNTIL:
            return disjunction((parts[1], conjunction((parts[0], formula))))
        case _:  # release, the last operator of normal form
            return conjunction((parts[1], disjunction((parts[0], formula))))


def is_ruled_out(formula: Formula, word: Iterable[Letter]) -> bool:
    """True if no continuation of the finite word satisfies the formula: the word is a bad prefix."""
    rest = normal(formula)
    for letter in word:
        rest = progress(rest, letter)
    return is_empty(translate(rest))
