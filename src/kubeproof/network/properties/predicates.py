"""Predicates on the parameters of a packet's position: `CURRENT_NODE == gateway and not DROPPED`.

A parameter is compared with a word, a number, a list or another parameter:

    CURRENT_NODE == ap      SOURCE in [dev1, dev2]      DESTINATION matches 10.1.0.0/16      HOP_COUNT <= 6
    DROPPED                 CURRENT_NODE == DESTINATION  not (DROP_NODE == router or PATH_ID > 0)

The text is parsed, never executed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from kubeproof.errors import FormulaError
from kubeproof.values import dataclass

NODES = ("CURRENT_NODE", "SOURCE", "DESTINATION", "DROP_NODE")
NUMBERS = ("HOP_COUNT", "PATH_ID")
TEXTS = ("PROCESS_ID",)
FLAGS = ("DROPPED", "DELIVERED", "OVERLAP", "SKEWED", "SHARED_QUEUE")  # delivered: at the destination
PARAMETERS = (*NODES, *NUMBERS, *TEXTS, *FLAGS)
MOST_DEPTH = 100
MOST_HOPS = 10_000  # that a counter can be compared with

_TOKEN = re.compile(
    r"\s*(?:(?P<quoted>'[^']*')|(?P<op>==|!=|<=|>=|<|>)|(?P<mark>[()\[\],])|(?P<word>[^\s()\[\],<>=!']+)|(?P<other>\S))"
)
_ORDER = {"<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}
_KEYWORDS = ("and", "or", "not", "in", "matches", "true", "false")


@dataclass(frozen=True, slots=True)
class Constant:
    """True or false everywhere."""

    value: bool


@dataclass(frozen=True, slots=True)
class Flag:
    """A parameter that is true or false."""

    parameter: str


@dataclass(frozen=True, slots=True)
class OneOf:
    """A node or text is one of those that the patterns cover."""

    parameter: str
    patterns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Same:
    """Two nodes are the same one."""

    left: str
    right: str


@dataclass(frozen=True, slots=True)
class Order:
    """A number compared with a constant; `==` and `!=` included."""

    parameter: str
    operator: str
    number: int


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite."""

    part: Predicate


@dataclass(frozen=True, slots=True)
class Both:
    """All of the parts."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """At least one of the parts."""

    parts: tuple[Predicate, ...]


Predicate = Constant | Flag | OneOf | Same | Order | Not | Both | Either


def compares(operator: str, left: int, right: int) -> bool:
    """What an order predicate says of two numbers."""
    if operator in ("==", "!="):
        return (left == right) == (operator == "==")
    return bool(_ORDER[operator](left, right))


def leaves(predicate: Predicate) -> Iterator[Constant | Flag | OneOf | Same | Order]:
    """The comparisons that a predicate is made of."""
    match predicate:
        case Not(part):
            yield from leaves(part)
        case Both(parts) | Either(parts):
            for one in parts:
                yield from leaves(one)
        case _:
            yield predicate


def parameters_of(predicate: Predicate) -> frozenset[str]:
    """The parameters that a predicate reads."""
    found: set[str] = set()
    for leaf in leaves(predicate):
        match leaf:
            case Flag(name) | OneOf(name, _) | Order(name, _, _):
                found.add(name)
            case Same(left, right):
                found |= {left, right}
    return frozenset(found)


def parse(text: str) -> Predicate:
    """The predicate that the text stands for; a mistake is reported with its column."""
    reader = _Reader(text)
    predicate = reader.either(0)
    reader.expect_end()
    return predicate


class _Token(NamedTuple):
    kind: str
    text: str
    column: int


class _Reader:
    """Recursive descent over the tokens."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [
            _Token(match.lastgroup or "", match.group(match.lastgroup or ""), match.start(match.lastgroup or "") + 1)
            for match in _TOKEN.finditer(text)
        ]
        self._next = 0

    def either(self, depth: int) -> Predicate:
        """Parts joined by `or`."""
        if depth > MOST_DEPTH:
            self._fail("is nested too deeply", f"Nest at most {MOST_DEPTH} levels")
        parts = [self._both(depth)]
        while self._took("or"):
            parts.append(self._both(depth))
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def _both(self, depth: int) -> Predicate:
        parts = [self._single(depth)]
        while self._took("and"):
            parts.append(self._single(depth))
        return parts[0] if len(parts) == 1 else Both(tuple(parts))

    def _single(self, depth: int) -> Predicate:
        if self._took("not"):
            if depth > MOST_DEPTH:
                self._fail("is nested too deeply", f"Nest at most {MOST_DEPTH} levels")
            return Not(self._single(depth + 1))
        if self._took("("):
            inner = self.either(depth + 1)
            if not self._took(")"):
                self._fail("lacks )", "Close the parenthesis")
            return inner
        for word, value in (("true", True), ("false", False)):
            if self._took(word):
                return Constant(value)
        return self._comparison()

    def _comparison(self) -> Predicate:
        name = self._parameter()
        if name == "DELIVERED":
            return Same("CURRENT_NODE", "DESTINATION")
        if name in FLAGS:
            return Flag(name)
        if name in NUMBERS:
            return self._number(name)
        if self._took("in"):
            return OneOf(name, self._list())
        if self._took("matches"):
            return OneOf(name, (self._word("a pattern"),))
        token = self._peek()
        if token is None or token.text not in ("==", "!="):
            self._fail(f"lacks a comparison of {name}", "Write ==, !=, in [...] or matches")
        self._next += 1
        positive = self._equal(name)
        return positive if token.text == "==" else Not(positive)

    def _equal(self, name: str) -> Predicate:
        token = self._peek()
        if token is not None and token.kind == "word" and token.text in NODES and name in NODES:
            self._next += 1
            return Same(name, token.text)
        word = self._word("a name")
        if "*" in word or "?" in word:
            self._next -= 1
            self._fail("compares with a pattern", "Write matches instead of ==")
        return OneOf(name, (word,))

    def _number(self, name: str) -> Predicate:
        token = self._peek()
        if token is None or token.kind != "op":
            self._fail(f"lacks a comparison of {name}", "Write ==, !=, <, <=, > or >=")
        self._next += 1
        number = self._peek()
        if number is None or not re.fullmatch(r"[0-9]{1,9}", number.text, re.ASCII) or int(number.text) > MOST_HOPS:
            self._fail("lacks a number", f"Write a number from 0 to {MOST_HOPS}")
        self._next += 1
        return Order(name, token.text, int(number.text))

    def _list(self) -> tuple[str, ...]:
        if not self._took("["):
            self._fail("lacks [ after in", "Write a list such as [a, b]")
        words = [self._word("a name")]
        while self._took(","):
            words.append(self._word("a name"))
        if not self._took("]"):
            self._fail("lacks ]", "Close the list")
        return tuple(words)

    def _parameter(self) -> str:
        token = self._peek()
        if token is None or token.text not in PARAMETERS:
            self._fail("lacks a parameter", f"Parameters are {', '.join(PARAMETERS)}")
        self._next += 1
        return token.text

    def _word(self, what: str) -> str:
        token = self._peek()
        if token is None or token.kind not in ("word", "quoted") or token.text in (*_KEYWORDS, *PARAMETERS):
            self._fail(f"lacks {what}", "Put names with other characters in single quotes")
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
