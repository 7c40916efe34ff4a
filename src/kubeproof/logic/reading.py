"""What readers of small languages are made of: tokens with their columns, a cursor, and mistakes told where they are.

Formulas (`logic.parser`), automata (`logic.formats.hoa_reader`), predicates over clusters
(`intents.predicates.expressions`) and conditions in words (`logic.conditions`) are read with it, by recursive descent.
Texts are hostile: depth is bounded, and nothing is ever executed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, NoReturn, Protocol, TypeVar

from kubeproof.named_tuples import NamedTuple

Mistake = Callable[[str, int, str], Exception]  # problem, column, remedy


class Placed(Protocol):
    """A piece of a text."""

    @property
    def text(self) -> str: ...

    @property
    def column(self) -> int: ...


class Token(NamedTuple):
    """A piece of a text, its kind the group of the pattern that it is of."""

    kind: str
    text: str
    column: int  # from 1


T = TypeVar("T", bound=Placed)


def split(pattern: re.Pattern[str], text: str) -> Iterator[Token]:
    """The tokens of a text; every alternative of the pattern is a named group, the last one takes what is unknown."""
    position = 0
    while match := pattern.match(text, position):
        kind = match.lastgroup or ""
        yield Token(kind, match.group(kind), match.start(kind) + 1)
        position = match.end()


class Cursor(Generic[T]):
    """A place among the tokens of a text."""

    def __init__(self, text: str, tokens: Sequence[T], mistake: Mistake, max_depth: int) -> None:
        self._text, self._tokens = text, tokens
        self._mistake, self._max_depth = mistake, max_depth
        self._next = 0

    def peek(self, ahead: int = 0) -> T | None:
        """The next token, or one behind it; None at the end."""
        place = self._next + ahead
        return self._tokens[place] if place < len(self._tokens) else None

    def step(self, count: int = 1) -> None:
        """Goes on, or back."""
        self._next += count

    def check_depth(self, depth: int) -> None:
        """Refuses what would exhaust the stack."""
        if depth > self._max_depth:
            self.fail("is nested too deeply", f"Nest at most {self._max_depth} levels")

    def expect_end(self, remedy: str) -> None:
        """Refuses what follows."""
        if self.peek() is not None:
            self.fail("goes on unexpectedly", remedy)

    def fail(self, problem: str, remedy: str) -> NoReturn:
        """Raises the error of a mistake at the next token."""
        token = self.peek()
        where = f" before {token.text!r}" if token is not None else " at its end"
        self.fail_at(token.column if token is not None else len(self._text) + 1, problem + where, remedy)

    def fail_at(self, column: int, problem: str, remedy: str) -> NoReturn:
        """Raises the error of a mistake in this column."""
        raise self._mistake(problem, column, remedy)
