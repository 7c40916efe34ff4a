"""Conditions in words: comparisons joined by `and`, `or`, `not` and parentheses, with `true` and `false`.

What is compared with what, and what becomes of it, is said by those who read them: `monitor.rules.predicates` makes
functions on events, `network.properties.predicates` values that are looked into.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Generic, TypeVar

from kubeproof.errors import FormulaError
from kubeproof.logic.reading import Cursor, Token, split
from kubeproof.named_tuples import NamedTuple

COMPARISONS = ("==", "!=", "<=", ">=", "<", ">")
KEYWORDS = ("and", "or", "not", "in", "matches", "true", "false")
_TOKEN = re.compile(
    rf"\s*(?:(?P<quoted>'[^']*')|(?P<op>{'|'.join(COMPARISONS)})|(?P<mark>[()\[\],])"
    r"|(?P<word>[^\s()\[\],<>=!']+)|(?P<other>\S))"
)

C = TypeVar("C")


class Algebra(NamedTuple, Generic[C]):
    """What joined conditions become."""

    constant: Callable[[bool], C]
    negate: Callable[[C], C]
    all_of: Callable[[tuple[C, ...]], C]
    any_of: Callable[[tuple[C, ...]], C]


class Words(Cursor[Token]):
    """The words of a condition; `reserved` are those that name nothing unless they are quoted."""

    def __init__(self, text: str, *, reserved: tuple[str, ...], max_depth: int) -> None:
        def mistake(problem: str, column: int, remedy: str) -> FormulaError:
            return FormulaError(problem, text=text, column=column, remedy=remedy, what=f"predicate {text!r}")

        super().__init__(text, tuple(split(_TOKEN, text)), mistake, max_depth)
        self._reserved = frozenset(reserved)

    def took(self, text: str) -> bool:
        """Whether this word or sign comes next; it is then read."""
        token = self.peek()
        taken = token is not None and token.text == text and token.kind != "quoted"
        self.step(taken)
        return taken

    def word(self, what: str) -> str:
        """The name or text that comes next."""
        token = self.peek()
        if token is None or token.kind not in ("word", "quoted") or token.text in self._reserved:
            self.fail(f"lacks {what}", "Put texts with other characters in single quotes")
        self.step()
        return token.text[1:-1] if token.kind == "quoted" else token.text

    def read_list(self, what: str) -> tuple[str, ...]:
        """The names or texts in brackets that come next."""
        if not self.took("["):
            self.fail("lacks [ after in", "Write a list such as [a, b]")
        found = [self.word(what)]
        while self.took(","):
            found.append(self.word(what))
        if not self.took("]"):
            self.fail("lacks ]", "Close the list")
        return tuple(found)


def read_condition(words: Words, algebra: Algebra[C], compare: Callable[[], C]) -> C:
    """The condition that the words stand for; `compare` reads one comparison."""
    condition = _Reader(words, algebra, compare).either(0)
    words.expect_end("Join comparisons with and, or")
    return condition


class _Reader(Generic[C]):
    """Recursive descent, one method per level."""

    def __init__(self, words: Words, algebra: Algebra[C], compare: Callable[[], C]) -> None:
        self._words, self._algebra, self._compare = words, algebra, compare

    def either(self, depth: int) -> C:
        self._words.check_depth(depth)
        return self._join("or", self._both, self._algebra.any_of, depth)

    def _both(self, depth: int) -> C:
        return self._join("and", self._single, self._algebra.all_of, depth)

    def _join(self, word: str, inner: Callable[[int], C], join: Callable[[tuple[C, ...]], C], depth: int) -> C:
        parts = [inner(depth)]
        while self._words.took(word):
            parts.append(inner(depth))
        return parts[0] if len(parts) == 1 else join(tuple(parts))

    def _single(self, depth: int) -> C:
        if self._words.took("not"):
            self._words.check_depth(depth)
            return self._algebra.negate(self._single(depth + 1))
        if self._words.took("("):
            inside = self.either(depth + 1)
            if not self._words.took(")"):
                self._words.fail("lacks )", "Close the parenthesis")
            return inside
        for word, value in (("true", True), ("false", False)):
            if self._words.took(word):
                return self._algebra.constant(value)
        return self._compare()
