"""Predicates on the parameters of a packet's position: `CURRENT_NODE == gateway and not DROPPED`.

A parameter is compared with a word, a number, a list or another parameter:

    CURRENT_NODE == ap      SOURCE in [dev1, dev2]      DESTINATION matches 10.1.0.0/16      HOP_COUNT <= 6
    DROPPED                 CURRENT_NODE == DESTINATION  not (DROP_NODE == router or PATH_ID > 0)

The text is parsed, never executed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kubeproof.logic.conditions import KEYWORDS, Algebra, Words, read_condition
from kubeproof.values import dataclass

NODES = ("CURRENT_NODE", "SOURCE", "DESTINATION", "DROP_NODE")
NUMBERS = ("HOP_COUNT", "PATH_ID")
TEXTS = ("PROCESS_ID",)
FLAGS = ("DROPPED", "DELIVERED", "OVERLAP", "SKEWED", "SHARED_QUEUE")  # delivered: at the destination
PARAMETERS = (*NODES, *NUMBERS, *TEXTS, *FLAGS)
MAX_DEPTH = 100
MOST_HOPS = 10_000  # that a counter can be compared with

_ORDER = {"<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}


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


_VALUES: Algebra[Predicate] = Algebra(Constant, Not, Both, Either)


def parse(text: str) -> Predicate:
    """The predicate that the text stands for; a mistake is reported with its column."""
    words = Words(text, reserved=(*KEYWORDS, *PARAMETERS), max_depth=MAX_DEPTH)
    return read_condition(words, _VALUES, lambda: _comparison(words))


def _comparison(words: Words) -> Predicate:
    name = _parameter(words)
    if name == "DELIVERED":
        return Same("CURRENT_NODE", "DESTINATION")
    if name in FLAGS:
        return Flag(name)
    if name in NUMBERS:
        return _number(words, name)
    if words.took("in"):
        return OneOf(name, words.read_list("a name"))
    if words.took("matches"):
        return OneOf(name, (words.word("a pattern"),))
    token = words.peek()
    if token is None or token.text not in ("==", "!="):
        words.fail(f"lacks a comparison of {name}", "Write ==, !=, in [...] or matches")
    words.step()
    positive = _equal(words, name)
    return positive if token.text == "==" else Not(positive)


def _parameter(words: Words) -> str:
    token = words.peek()
    if token is None or token.text not in PARAMETERS:
        words.fail("lacks a parameter", f"Parameters are {', '.join(PARAMETERS)}")
    words.step()
    return token.text


def _equal(words: Words, name: str) -> Predicate:
    token = words.peek()
    if token is not None and token.kind == "word" and token.text in NODES and name in NODES:
        words.step()
        return Same(name, token.text)
    word = words.word("a name")
    if "*" in word or "?" in word:
        words.step(-1)
        words.fail("compares with a pattern", "Write matches instead of ==")
    return OneOf(name, (word,))


def _number(words: Words, name: str) -> Predicate:
    token = words.peek()
    if token is None or token.kind != "op":
        words.fail(f"lacks a comparison of {name}", "Write ==, !=, <, <=, > or >=")
    words.step()
    number = words.peek()
    if number is None or not re.fullmatch(r"[0-9]{1,9}", number.text, re.ASCII) or int(number.text) > MOST_HOPS:
        words.fail("lacks a number", f"Write a number from 0 to {MOST_HOPS}")
    words.step()
    return Order(name, token.text, int(number.text))
