"""Ultimately periodic words, and what a formula says about them directly: the oracle of the automata."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Generic, TypeVar

from kubeproof.logic.formula import Formula, Op
from kubeproof.named_tuples import NamedTuple

Letter = TypeVar("Letter")


class Lasso(NamedTuple, Generic[Letter]):
    """The word `stem` followed by `loop` for ever."""

    stem: tuple[Letter, ...]
    loop: tuple[Letter, ...]

    @property
    def letters(self) -> tuple[Letter, ...]:
        """One letter per position; after the last comes the first of the loop again."""
        return self.stem + self.loop

    def after(self, position: int) -> int:
        """The position that follows."""
        return position + 1 if position + 1 < len(self.stem) + len(self.loop) else len(self.stem)


def lassos(letters: Sequence[Letter], longest_stem: int, longest_loop: int) -> Iterator[Lasso[Letter]]:
    """All words with stem and loop of at most these lengths, repetitions of one word included."""
    for stem_length in range(longest_stem + 1):
        for loop_length in range(1, longest_loop + 1):
            for stem in product(letters, repeat=stem_length):
                for loop in product(letters, repeat=loop_length):
                    yield Lasso(stem, loop)


def holds(formula: Formula, word: Lasso[frozenset[str]]) -> bool:
    """True if the formula is true at the start of the word; a letter is the set of propositions true there."""
    return _values(formula, word, {})[0]


def _values(formula: Formula, word: Lasso[frozenset[str]], known: dict[Formula, tuple[bool, ...]]) -> tuple[bool, ...]:
    """The truth value at every position."""
    if formula not in known:
        parts = [_values(part, word, known) for part in formula.parts]
        known[formula] = tuple(_compute(formula, word, parts))
    return known[formula]


def _compute(formula: Formula, word: Lasso[frozenset[str]], parts: list[tuple[bool, ...]]) -> list[bool]:
    positions = range(len(word.letters))
    match formula.op:
        case Op.TRUE | Op.FALSE:
            return [formula.op is Op.TRUE for _ in positions]
        case Op.ATOM:
            return [formula.name in letter for letter in word.letters]
        case Op.NOT:
            return [not parts[0][i] for i in positions]
        case Op.AND:
            return [all(part[i] for part in parts) for i in positions]
        case Op.OR:
            return [any(part[i] for part in parts) for i in positions]
        case Op.IMPLIES:
            return [not parts[0][i] or parts[1][i] for i in positions]
        case Op.EQUIVALENT:
            return [parts[0][i] == parts[1][i] for i in positions]
        case Op.NEXT:
            return [parts[0][word.after(i)] for i in positions]
    return _temporal(formula.op, word, parts)


def _temporal(op: Op, word: Lasso[frozenset[str]], parts: list[tuple[bool, ...]]) -> list[bool]:
    """Least fixpoints from false, greatest from true: v = now | (stay & v at the next position)."""
    size = len(word.letters)
    match op:
        case Op.FINALLY:
            now, stay, least = list(parts[0]), [True] * size, True
        case Op.GLOBALLY:
            now, stay, least = [False] * size, list(parts[0]), False
        case Op.UNTIL | Op.WEAK_UNTIL:
            now, stay, least = list(parts[1]), list(parts[0]), op is Op.UNTIL
        case _:  # release: the right side holds until both do
            now = [a and b for a, b in zip(*parts, strict=True)]
            stay, least = list(parts[1]), op is Op.STRONG_RELEASE
    values = [not least] * size
    for _ in range(2 * size):
        for i in reversed(range(size)):
            values[i] = now[i] or (stay[i] and values[word.after(i)])
    return values
