"""From a formula to a small Büchi automaton."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.logic.alphabet import Alphabet
from kubeproof.logic.automata.automaton import Buchi
from kubeproof.logic.automata.degeneralise import degeneralise
from kubeproof.logic.automata.operations import merge, reduce
from kubeproof.logic.automata.tableau import Obligations, Tableau
from kubeproof.logic.formula import Formula, atoms
from kubeproof.logic.normal import normal


def translate(formula: Formula, alphabet: Alphabet | None = None) -> Buchi:
    """A Büchi automaton that accepts exactly the words on which the formula holds; no useless states."""
    simple = normal(formula)
    tableau = Tableau(simple, alphabet or Alphabet(propositions=atoms(formula)))

    def moves(state: Obligations) -> Iterator[tuple[int, Obligations, frozenset[int]]]:
        for move in tableau.moves(state):
            kept = (place for place, until in enumerate(tableau.untils) if until not in move.postponed)
            yield move.guard, move.then, frozenset(kept)

    return merge(reduce(degeneralise(tableau.alphabet, (tableau.initial,), moves, len(tableau.untils))))
