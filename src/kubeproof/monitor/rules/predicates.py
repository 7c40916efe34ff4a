"""Predicates on one event: `name == create_pods and code >= 400`.

Left of a comparison stands a field (`name`, `source`, `target`, `key`, `run`) or an attribute; right a word, a number
or a text in single quotes:

    name == attach_volume     target in [db-1, db-2]     source matches system:*     code >= 400     error exists

The text is parsed, never executed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fnmatch import translate
from typing import NamedTuple, NoReturn

from kubeproof.errors import FormulaError
from kubeproof.monitor.event import Event

Test = Callable[[Event], bool]
FIELDS = {"name": 1, "source": 2, "target": 3, "key": 4, "run": 5}
MOST_DEPTH = 50
_TOKEN = re.compile(
    r"\s*(?:(?P<quoted>'[^']*')|(?P<op>==|!=|<=|>=|<|>)|(?P<mark>[()\[\],])|(?P<word>[^\s()\[\],<>=!']+)|(?P<other>\S))"
)
_NUMBER = re.compile(r"[-+]?[0-9]{1,18}(?:\.[0-9]{1,18})?", re.ASCII)
_KEYWORDS = frozenset({"and", "or", "not", "in", "matches", "exists", "true", "false"})
_ORDERS: dict[str, Callable[[float, float], bool]] = {
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}


class Predicate(NamedTuple):
    """A condition on an event, its text, and whether it asks for the name alone."""

    text: str
    holds: Test
    fields: frozenset[str]

    @property
    def needs_only_the_name(self) -> bool:
        return self.fields <= {"name"}


def parse(text: str) -> Predicate:
    """The predicate that the text stands for; a mistake is reported with its column."""
    reader = _Reader(text)
    test = reader.either(0)
    reader.expect_end()
    return Predicate(text, test, frozenset(reader.fields))


class _Token(NamedTuple):
    kind: str
    text: str
    column: int


def _tokens(text: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        yield _Token(kind, match.group(kind), match.start(kind) + 1)


class _Reader:
    """Recursive descent over the tokens; gives functions on events."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._next = 0
        self.fields: set[str] = set()

    def either(self, depth: int) -> Test:
        """Parts joined by `or`."""
        if depth > MOST_DEPTH:
            self._fail("is nested too deeply", f"Nest at most {MOST_DEPTH} levels")
        parts = [self._both(depth)]
        while self._took("or"):
            parts.append(self._both(depth))
        return parts[0] if len(parts) == 1 else lambda event: any(part(event) for part in parts)

    def _both(self, depth: int) -> Test:
        parts = [self._single(depth)]
        while self._took("and"):
            parts.append(self._single(depth))
        return parts[0] if len(parts) == 1 else lambda event: all(part(event) for part in parts)

    def _single(self, depth: int) -> Test:
        if self._took("not"):
            if depth > MOST_DEPTH:
                self._fail("is nested too deeply", f"Nest at most {MOST_DEPTH} levels")
            inner = self._single(depth + 1)
            return lambda event: not inner(event)
        if self._took("("):
            inside = self.either(depth + 1)
            if not self._took(")"):
                self._fail("lacks )", "Close the parenthesis")
            return inside
        for word, value in (("true", True), ("false", False)):
            if self._took(word):
                return lambda event, constant=value: constant  # type: ignore[misc]
        return self._comparison()

    def _comparison(self) -> Test:
        get = self._field()
        token = self._peek()
        if self._took("exists"):
            return lambda event: bool(get(event))
        if self._took("in"):
            allowed = frozenset(self._list())
            return lambda event: get(event) in allowed
        if self._took("matches"):
            pattern = re.compile(translate(self._word("a pattern")))
            return lambda event: pattern.match(get(event)) is not None
        if token is None or token.kind != "op":
            self._fail("lacks a comparison", "Write ==, !=, <, <=, >, >=, in [...], matches or exists")
        self._next += 1
        if token.text in _ORDERS:
            return self._order(get, _ORDERS[token.text])
        word = self._word("a value")
        return (lambda event: get(event) == word) if token.text == "==" else (lambda event: get(event) != word)

    def _order(self, get: Callable[[Event], str], compare: Callable[[float, float], bool]) -> Test:
        token = self._peek()
        if token is None or not _NUMBER.fullmatch(token.text):
            self._fail("lacks a number", "Only numbers are greater or less")
        self._next += 1
        bound = float(token.text)

        def test(event: Event) -> bool:
            value = get(event)
            return _NUMBER.fullmatch(value) is not None and compare(float(value), bound)

        return test

    def _field(self) -> Callable[[Event], str]:
        name = self._word("a field")
        self.fields.add(name)
        place = FIELDS.get(name)
        if place is None:
            return lambda event: event.attributes.get(name, "")
        return lambda event: str(event[place])

    def _list(self) -> Iterator[str]:
        if not self._took("["):
            self._fail("lacks [ after in", "Write a list such as [a, b]")
        yield self._word("a value")
        while self._took(","):
            yield self._word("a value")
        if not self._took("]"):
            self._fail("lacks ]", "Close the list")

    def _word(self, what: str) -> str:
        token = self._peek()
        if token is None or token.kind not in ("word", "quoted") or (token.kind == "word" and token.text in _KEYWORDS):
            self._fail(f"lacks {what}", "Put texts with other characters in single quotes")
        self._next += 1
        return token.text[1:-1] if token.kind == "quoted" else token.text

    def expect_end(self) -> None:
        """Refuses what follows the predicate."""
        if self._peek() is not None:
            self._fail("goes on unexpectedly", "Join comparisons with and, or")

    def _peek(self) -> _Token | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _took(self, text: str) -> bool:
        token = self._peek()
        taken = token is not None and token.text == text and token.kind != "quoted"
        self._next += taken
        return taken

    def _fail(self, problem: str, remedy: str) -> NoReturn:
        token = self._peek()
        column = token.column if token is not None else len(self._text) + 1
        where = f" before {token.text!r}" if token is not None else " at its end"
        raise FormulaError(
            f"{problem}{where}", text=self._text, column=column, remedy=remedy, what=f"predicate {self._text!r}"
        )
