"""Random formulas, words and automata."""

from __future__ import annotations

from random import Random

from kubeproof.logic.alphabet import Alphabet
from kubeproof.logic.automata.automaton import Buchi, make
from kubeproof.logic.formula import FALSE, TEMPORAL_BINARY, TRUE, UNARY, Formula, Op, atom
from kubeproof.logic.lasso import Lasso

PROPOSITIONS = ("a", "b", "c")
BINARY = (Op.AND, Op.OR, Op.IMPLIES, Op.EQUIVALENT, *TEMPORAL_BINARY)


def random_formula(random: Random, depth: int) -> Formula:
    """A formula of at most this depth over a, b and c."""
    if depth == 0 or random.random() < 0.15:
        return random.choice((TRUE, FALSE)) if random.random() < 0.05 else atom(random.choice(PROPOSITIONS))
    op = random.choice((*UNARY, *BINARY))
    return Formula(op, tuple(random_formula(random, depth - 1) for _ in range(1 if op in UNARY else 2)))


def random_word(random: Random) -> Lasso[frozenset[str]]:
    """A word with a stem of at most three letters and a loop of at most three."""

    def letters(count: int) -> tuple[frozenset[str], ...]:
        return tuple(frozenset(p for p in PROPOSITIONS if random.random() < 0.5) for _ in range(count))

    return Lasso(letters(random.randrange(4)), letters(random.randrange(1, 4)))


def numbered(alphabet: Alphabet, word: Lasso[frozenset[str]]) -> Lasso[int]:
    """The word in the alphabet's numbers."""
    stem, loop = (tuple(alphabet.letter(letter) for letter in part) for part in word)
    return Lasso(stem, loop)


def random_automaton(random: Random, most_states: int = 4) -> Buchi:
    """A sparse automaton over two letters, often nondeterministic, often with useless states."""
    size = random.randint(1, most_states)
    density = random.choice((0.2, 0.35, 0.5))
    edges = [
        [(1 << letter, target) for letter in range(2) for target in range(size) if random.random() < density]
        for _ in range(size)
    ]
    initial = random.sample(range(size), random.choice((1, 1, 1, min(2, size))))
    accepting = [state for state in range(size) if random.random() < 0.4]
    return make(Alphabet(letters=("a", "b")), initial, edges, accepting)
