"""From a formula to a generalised Büchi automaton, one state at a time.

A state is the set of formulas that must hold from here on. What a formula asks of this letter and of the
rest of the word follows from `p U q = q | (p & X(p U q))` and `p R q = q & (p | X(p R q))`. A transition that puts off
the right side of an until is not in that until's acceptance set; a word is accepted if some run takes, for every
until, infinitely many transitions that do not put it off (Couvreur 1999; Gastin and Oddoux 2001).
"""

from __future__ import annotations

from functools import lru_cache

from kubeproof.errors import LimitReached
from kubeproof.logic.alphabet import Alphabet
from kubeproof.logic.formula import FALSE, TRUE, Formula, Op, subformulas
from kubeproof.named_tuples import NamedTuple

MOST_MOVES = 20_000  # of one state
MOST_COMPARISONS = 5_000_000  # of moves, in all: some seconds

Obligations = frozenset[Formula]


class Move(NamedTuple):
    """One way to go on: letters that allow it, what must hold afterwards, and the untils put off."""

    guard: int
    then: Obligations
    postponed: Obligations


class Tableau:
    """The generalised automaton of a formula in normal form; states are built when asked for."""

    def __init__(self, formula: Formula, alphabet: Alphabet) -> None:
        self.alphabet = alphabet
        self.initial: Obligations = frozenset(_conjuncts(formula))
        self.untils = tuple(sorted({part for part in subformulas(formula) if part.op is Op.UNTIL}))
        self._of_formula = lru_cache(maxsize=None)(self._formula_moves)
        self._of_state: dict[Obligations, tuple[Move, ...]] = {}
        self._compared = 0

    def moves(self, state: Obligations) -> tuple[Move, ...]:
        """All ways to go on from a state, without those that another one makes needless."""
        if state not in self._of_state:
            moves: tuple[Move, ...] = (Move(self.alphabet.everything, frozenset(), frozenset()),)
            for formula in sorted(state):
                moves = self._both(moves, self._of_formula(formula))
            self._of_state[state] = moves
        return self._of_state[state]

    def _formula_moves(self, formula: Formula) -> tuple[Move, ...]:
        nothing: Obligations = frozenset()
        match formula.op:
            case Op.TRUE:
                return (Move(self.alphabet.everything, nothing, nothing),)
            case Op.FALSE:
                return ()
            case Op.ATOM:
                return self._literal(self.alphabet.where(formula.name))
            case Op.NOT:
                return self._literal(self.alphabet.everything & ~self.alphabet.where(formula.parts[0].name))
            case Op.NEXT:
                return (Move(self.alphabet.everything, frozenset(_conjuncts(formula.parts[0])), nothing),)
            case Op.AND:
                moves = self._of_formula(TRUE)
                for part in formula.parts:
                    moves = self._both(moves, self._of_formula(part))
                return moves
            case Op.OR:
                return self._drop_needless([move for part in formula.parts for move in self._of_formula(part)])
        left, right = formula.parts
        again = frozenset((formula,))
        if formula.op is Op.UNTIL:
            later = Move(self.alphabet.everything, again, again)
            return self._drop_needless([*self._of_formula(right), *self._both(self._of_formula(left), (later,))])
        stay = Move(self.alphabet.everything, again, nothing)
        return self._both(self._of_formula(right), self._drop_needless([*self._of_formula(left), stay]))

    def _literal(self, guard: int) -> tuple[Move, ...]:
        return (Move(guard, frozenset(), frozenset()),) if guard else ()

    def _both(self, ones: tuple[Move, ...], others: tuple[Move, ...]) -> tuple[Move, ...]:
        if len(ones) * len(others) > MOST_MOVES:
            raise LimitReached(f"E302 the formula has more than {MOST_MOVES} alternatives in one step. Split it")
        united = [
            Move(one.guard & other.guard, one.then | other.then, one.postponed | other.postponed)
            for one in ones
            for other in others
            if one.guard & other.guard
        ]
        return self._drop_needless(united)

    def _drop_needless(self, moves: list[Move]) -> tuple[Move, ...]:
        """Without moves for which another allows more letters, asks less afterwards and puts off less."""
        different = sorted(set(moves), key=_order)
        kept: list[Move] = []
        for move in different:
            self._compared += len(kept)
            if self._compared > MOST_COMPARISONS:
                raise LimitReached("E302 the automaton of the formula takes too long to build. Split the formula")
            if FALSE in move.then or any(_covers(better, move) for better in kept):
                continue
            kept = [other for other in kept if not _covers(move, other)]
            kept.append(move)
        return tuple(kept)


def _conjuncts(formula: Formula) -> tuple[Formula, ...]:
    if formula == TRUE:
        return ()
    return formula.parts if formula.op is Op.AND else (formula,)


def _covers(better: Move, move: Move) -> bool:
    return not move.guard & ~better.guard and better.then <= move.then and better.postponed <= move.postponed


def _order(move: Move) -> tuple[int, list[Formula], list[Formula], int]:
    return len(move.then), sorted(move.then), sorted(move.postponed), move.guard
