"""Predicates on one event: `name == create_pods and code >= 400`.

Left of a comparison stands a field (`name`, `source`, `target`, `key`, `run`) or an attribute; right a word, a number
or a text in single quotes:

    name == attach_volume     target in [db-1, db-2]     source matches system:*     code >= 400     error exists

The text is parsed, never executed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import translate

from kubeproof.logic.conditions import KEYWORDS, Algebra, Words, read_condition
from kubeproof.monitor.event import Event
from kubeproof.named_tuples import NamedTuple

Test = Callable[[Event], bool]
FIELDS = {"name": 1, "source": 2, "target": 3, "key": 4, "run": 5}
MAX_DEPTH = 50
_NUMBER = re.compile(r"[-+]?[0-9]{1,18}(?:\.[0-9]{1,18})?", re.ASCII)
_ORDERS: dict[str, Callable[[float, float], bool]] = {
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}
_TESTS: Algebra[Test] = Algebra(
    constant=lambda value: lambda event: value,
    negate=lambda part: lambda event: not part(event),
    all_of=lambda parts: lambda event: all(part(event) for part in parts),
    any_of=lambda parts: lambda event: any(part(event) for part in parts),
)


class Predicate(NamedTuple):
    """A condition on an event, and its text."""

    text: str
    holds: Test


def parse(text: str) -> Predicate:
    """The predicate that the text stands for; a mistake is reported with its column."""
    words = Words(text, reserved=(*KEYWORDS, "exists"), max_depth=MAX_DEPTH)
    return Predicate(text, read_condition(words, _TESTS, lambda: _comparison(words)))


def _comparison(words: Words) -> Test:
    get = _field(words.word("a field"))
    if words.took("exists"):
        return lambda event: bool(get(event))
    if words.took("in"):
        allowed = frozenset(words.read_list("a value"))
        return lambda event: get(event) in allowed
    if words.took("matches"):
        pattern = re.compile(translate(words.word("a pattern")))
        return lambda event: pattern.match(get(event)) is not None
    token = words.peek()
    if token is None or token.kind != "op":
        words.fail("lacks a comparison", "Write ==, !=, <, <=, >, >=, in [...], matches or exists")
    words.step()
    if token.text in _ORDERS:
        return _order(words, get, _ORDERS[token.text])
    word = words.word("a value")
    return (lambda event: get(event) == word) if token.text == "==" else (lambda event: get(event) != word)


def _order(words: Words, get: Callable[[Event], str], compare: Callable[[float, float], bool]) -> Test:
    token = words.peek()
    if token is None or not _NUMBER.fullmatch(token.text):
        words.fail("lacks a number", "Only numbers are greater or less")
    words.step()
    bound = float(token.text)

    def test(event: Event) -> bool:
        value = get(event)
        return _NUMBER.fullmatch(value) is not None and compare(float(value), bound)

    return test


def _field(name: str) -> Callable[[Event], str]:
    place = FIELDS.get(name)
    if place is None:
        return lambda event: event.attributes.get(name, "")
    return lambda event: str(event[place])
