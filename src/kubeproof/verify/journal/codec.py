"""Values as JSON and back, for an explicit list of classes.

Nothing read from a checkpoint can name code to run, as a pickle can: only the classes given here are made, from
their fields. Every container is an array whose first item tells what it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from kubeproof.errors import InternalError

TUPLE, LIST, MAPPING = "(", "[", "{"
PLAIN = (type(None), bool, int, float, str)


class Codec:
    """Encodes plain values, their containers and values of the classes that it was given; exact inverse of itself."""

    def __init__(self, *classes: type) -> None:
        self._names: dict[type, str] = {made: made.__name__ for made in classes}
        self._classes = {name: made for made, name in self._names.items()}
        if len(self._classes) != len(classes) or not all(map(_is_known, classes)):
            raise InternalError("E700 a codec needs dataclasses, or others that tell their parts, with different names")

    def encode(self, value: Any) -> bytes:
        """The value as JSON text."""
        return json.dumps(self._flat(value), separators=(",", ":"), allow_nan=False).encode("ascii")

    def decode(self, text: bytes) -> Any:
        """The value; ValueError if the text is not one of ours."""
        try:
            return self._make(json.loads(text))
        except (TypeError, KeyError, IndexError, RecursionError, ValueError) as problem:
            raise ValueError(f"not a value of a checkpoint: {problem}") from problem

    def _flat(self, value: Any) -> Any:
        kind = type(value)
        if kind in PLAIN:
            return value
        if isinstance(value, Enum) and kind in self._names:
            return [self._names[kind], value.value]
        if isinstance(value, str) and kind not in self._names:  # a word of another enumeration
            return str(value)
        if kind is tuple:
            return [TUPLE, *map(self._flat, value)]
        if kind is list:
            return [LIST, *map(self._flat, value)]
        if kind is dict:
            return [MAPPING, *([self._flat(key), self._flat(item)] for key, item in value.items())]
        if kind not in self._names:
            raise InternalError(f"E700 a {kind.__name__} cannot be written to a checkpoint")
        return [self._names[kind], *map(self._flat, _parts(value))]

    def _make(self, flat: Any) -> Any:
        if not isinstance(flat, list):
            if isinstance(flat, dict):
                raise TypeError("an object")
            return flat
        head, items = flat[0], flat[1:]
        if head == MAPPING:
            return {self._make(key): self._make(item) for key, item in items}
        make: Callable[..., Any] | None = {TUPLE: _tuple, LIST: _list}.get(head)
        return (make or _maker(self._classes[head]))(*map(self._make, items))


def _is_known(made: type) -> bool:
    return is_dataclass(made) or issubclass(made, Enum) or (made not in PLAIN and "__getnewargs__" in vars(made))


def _parts(value: Any) -> tuple[Any, ...]:
    """What a value is made of."""
    if is_dataclass(value):
        return tuple(getattr(value, field.name) for field in fields(value))
    parts: tuple[Any, ...] = value.__getnewargs__()
    return parts


def _maker(made: type) -> Callable[..., Any]:
    """What makes a value; of an enumeration only its words, as calling it with more would make another class."""
    return (lambda word: made(word)) if issubclass(made, Enum) else made


def _tuple(*items: Any) -> tuple[Any, ...]:
    return items


def _list(*items: Any) -> list[Any]:
    return list(items)
