"""YAML as a tree in which every key and value knows where it stands.

Scalars keep their text: what a plain `no`, `010` or `1.30` means is decided by the field that reads it.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from typing import Any

from kubeproof.values import dataclass


class ScalarKind(Enum):
    """What a plain scalar may be taken for by the YAML readers of Kubernetes."""

    NULL = "null"
    BOOLEAN = "a boolean"
    INTEGER = "an integer"
    FLOAT = "a number"
    ODD_NUMBER = "a number in unusual notation"  # octal, hexadecimal, underscores: readers disagree on the value
    STRING = "a string"


TRUE_WORDS = frozenset({"true", "yes", "on", "y"})
FALSE_WORDS = frozenset({"false", "no", "off", "n"})
_NULL_WORDS = frozenset({"", "~", "null", "Null", "NULL"})
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_ODD_NUMBER = re.compile(
    r"[-+]?(?:0[0-9_]+|0[oO]?[0-7_]+|0[xX][0-9a-fA-F_]+|0[bB][01_]+|[0-9][0-9_]*(?:\.[0-9_]*)?)", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A leaf: its text, whether it was written plain (unquoted, untagged), and its place."""

    text: str
    plain: bool
    line: int
    column: int

    @property
    def kind(self) -> ScalarKind:
        return kind_of(self.text) if self.plain else ScalarKind.STRING


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list of values."""

    items: tuple[Value, ...]
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Entry:
    """The value of a key, and where the key stands."""

    value: Value
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys in file order, each with its entry."""

    entries: dict[str, Entry]
    line: int
    column: int

    def get(self, key: str) -> Value | None:
        """The value of the key; None if the key is absent or its value is null."""
        entry = self.entries.get(key)
        return None if entry is None or is_null(entry.value) else entry.value

    def line_of(self, key: str) -> int:
        """The line of the key, or of the mapping if it lacks the key."""
        entry = self.entries.get(key)
        return self.line if entry is None else entry.line


Value = Scalar | Sequence | Mapping


def is_null(value: Value) -> bool:
    """True for an explicit or empty null, which Kubernetes treats like an absent field."""
    return isinstance(value, Scalar) and value.kind is ScalarKind.NULL


@lru_cache(maxsize=4096)
def kind_of(text: str) -> ScalarKind:
    """What a plain scalar resolves to, following the YAML reader behind kubectl.

    It takes yes, no, on, off, y and n for booleans. Dates and `12:30:45` stay strings there and here.
    """
    if text in _NULL_WORDS:
        return ScalarKind.NULL
    if text.lower() in TRUE_WORDS | FALSE_WORDS and text in (text.lower(), text.capitalize(), text.upper()):
        return ScalarKind.BOOLEAN
    if _INTEGER.fullmatch(text):
        return ScalarKind.INTEGER
    if _ODD_NUMBER.fullmatch(text) and not _is_decimal_float(text):
        return ScalarKind.ODD_NUMBER
    return ScalarKind.FLOAT if _FLOAT.fullmatch(text) else ScalarKind.STRING


def _is_decimal_float(text: str) -> bool:
    """True for 0.5, 1.30, 1e3: a number that everybody reads alike."""
    return ("." in text or "e" in text.lower()) and _FLOAT.fullmatch(text) is not None


def whole_number(text: str) -> int | None:
    """The value of an integer in octal, hexadecimal, binary or with underscores, as kubectl reads it."""
    bare = text.replace("_", "")
    sign, digits = (bare[0], bare[1:]) if bare[:1] in ("+", "-") else ("", bare)
    if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
        digits = f"0o{digits[1:]}"
    try:
        return int(f"{sign}{digits}", 0)
    except ValueError:
        return int(bare) if bare.isdecimal() else None  # 08 is no octal number


def plain(value: Value) -> Any:
    """The value as plain Python: dicts, lists, strings, booleans, whole numbers and None; other numbers stay text."""
    if isinstance(value, Mapping):
        return {key: plain(entry.value) for key, entry in value.entries.items()}
    if isinstance(value, Sequence):
        return [plain(item) for item in value.items]
    if value.kind is ScalarKind.NULL:
        return None
    if value.kind is ScalarKind.BOOLEAN:
        return value.text.lower() in TRUE_WORDS
    return int(value.text) if value.kind is ScalarKind.INTEGER else value.text


def describe(value: Value) -> str:
    """What the value is, for messages: "a list", "a boolean"."""
    if isinstance(value, Mapping):
        return "a mapping"
    return "a list" if isinstance(value, Sequence) else value.kind.value


def tree_of(value: Any) -> Value:
    """Plain values as a tree, all of it in the first line: what was never text has no places."""
    if isinstance(value, dict):
        return Mapping({key: Entry(tree_of(inner), 1, 1) for key, inner in value.items()}, 1, 1)
    if isinstance(value, list):
        return Sequence(tuple(tree_of(inner) for inner in value), 1, 1)
    if isinstance(value, str):
        return Scalar(value, False, 1, 1)
    words = {None: "null", True: "true", False: "false"}
    return Scalar(words[value] if value is None or isinstance(value, bool) else repr(value), True, 1, 1)
