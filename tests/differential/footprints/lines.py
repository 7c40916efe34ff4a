"""Every line of every footprint in the package, removed or weakened: what somebody might forget to say.

Lines are read from the source: a new one is found by itself.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Flag
from pathlib import Path
from typing import Any

import kubeproof
from kubeproof.cluster.footprint import NOBODY, NOTHING, UNKNOWN, Deletes, Footprint, Scope, Sizing, Workloads

PACKAGE = Path(kubeproof.__file__).parent
ROOMS = ("controllers", "events", "intents")
LEAST = {"deletes": Deletes.NO_PODS, "sizing": Sizing.KEPT, "takes_pods_of": Scope.NOWHERE, "wakes_on": NOTHING}
REMOVED, NO_MORE = "removed", "nothing"
Change = Callable[[Footprint], Footprint]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a class's footprint, and what is left of it."""

    module: str
    owner: str
    field: str
    left: str  # REMOVED: the default; NO_MORE: it says that there is nothing; otherwise a flag that it leaves out

    def __str__(self) -> str:
        return f"{self.owner}.{self.field} {self.left}"

    @property
    def kind(self) -> type[Any]:
        """The class that says it."""
        found: type[Any] = getattr(importlib.import_module(self.module), self.owner)
        return found

    def changed(self, told: Footprint) -> Footprint:
        """The footprint with this line changed."""
        return replace(told, **{self.field: self._value(getattr(told, self.field))})

    def _value(self, value: Any) -> Any:
        if self.left == REMOVED:
            return getattr(UNKNOWN, self.field)
        if isinstance(value, Workloads):
            return NOBODY
        if isinstance(value, str):
            return ""
        if isinstance(value, Flag) and self.left != NO_MORE:
            return value & ~type(value)[self.left]
        return LEAST[self.field]


def all_lines() -> tuple[Line, ...]:
    """The lines of all footprints, each as often as something of it can be left out."""
    return tuple(line for room in ROOMS for file in sorted((PACKAGE / room).rglob("*.py")) for line in _lines(file))


def _lines(file: Path) -> Iterator[Line]:
    module = "kubeproof." + ".".join(file.relative_to(PACKAGE).with_suffix("").parts)
    for owner in (node for node in ast.parse(file.read_text("utf-8")).body if isinstance(node, ast.ClassDef)):
        for told in (node for node in ast.walk(owner) if isinstance(node, ast.Call) and _is_footprint(node)):
            for keyword in told.keywords:
                yield from _changes(module, owner.name, str(keyword.arg), keyword.value)


def _is_footprint(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "Footprint"


def _changes(module: str, owner: str, field: str, value: ast.expr) -> Iterator[Line]:
    yield Line(module, owner, field, REMOVED)
    default, text = getattr(UNKNOWN, field), ast.unparse(value)
    if isinstance(default, Flag) and field != "wakes_on":
        flags = type(default).__members__
        named = [node.attr for node in ast.walk(value) if isinstance(node, ast.Attribute) and node.attr in flags]
        yield from (Line(module, owner, field, flag) for flag in named)
    elif not _says_nothing(default, field, text):
        yield Line(module, owner, field, NO_MORE)


def _says_nothing(default: object, field: str, text: str) -> bool:
    """True for a line of which nothing can be left out."""
    if isinstance(default, Workloads):
        return default.numbers is not None or text == "NOBODY"
    if isinstance(default, str):
        return text == "''"
    return field not in LEAST or text.rpartition(".")[2] == getattr(LEAST[field], "name", "")


class Forgotten:
    """While it is entered, a class says its footprint with one line changed."""

    def __init__(self, line: Line) -> None:
        self._line, self._kind = line, line.kind
        self._told = vars(self._kind)["footprint"]

    def __enter__(self) -> None:
        told, line = self._told, self._line
        if isinstance(told, property):
            self._kind.footprint = property(lambda one: line.changed(told.__get__(one)))
        else:
            self._kind.footprint = line.changed(told)

    def __exit__(self, *problem: object) -> None:
        self._kind.footprint = self._told
