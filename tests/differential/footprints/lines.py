"""Every line of every footprint in the package, removed or weakened: what somebody might forget to say.

What a loop reads of nodes (`reads_nodes`) counts as a line of its footprint.

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
from kubeproof.cluster.loops.footprint import (
    NOBODY,
    NOTHING,
    UNKNOWN,
    Among,
    Deletes,
    Footprint,
    Scope,
    Sizing,
    Workloads,
)
from kubeproof.cluster.loops.mentions import mention_everything, mention_nothing
from kubeproof.model.loops.shared import forget

PACKAGE = Path(kubeproof.__file__).parent
ROOMS = ("controllers", "events", "intents")
LEAST = {
    **{"deletes": Deletes.NO_PODS, "sizing": Sizing.KEPT, "takes_pods_of": Scope.NOWHERE, "wakes_on": NOTHING},
    "among": Among.BY_ITSELF,
}
REMOVED, NO_MORE = "removed", "nothing"
NODES = "reads_nodes"
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
        for told in (node for node in owner.body if _is_about_nodes(node)):
            yield Line(module, owner.name, NODES, REMOVED)
            if ast.unparse(told).rpartition(" ")[2] != mention_nothing.__name__:
                yield Line(module, owner.name, NODES, NO_MORE)
        for told in (told for node in ast.walk(owner) if (told := _told(node)) is not None):
            for field, value in told.items():
                yield from _changes(module, owner.name, field, value)


def _is_about_nodes(line: ast.stmt) -> bool:
    return isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == NODES


def _told(node: ast.AST) -> dict[str, ast.expr] | None:
    """The lines of a footprint that stands here: its own, after those of the value that it is made from."""
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
        return BASES.get(node.value.id) if _names(node.targets) == ["footprint"] else None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return None
    own = {str(keyword.arg): keyword.value for keyword in node.keywords}
    if node.func.id == "Footprint":
        return own
    base = node.args[0] if node.func.id == "replace" and node.args else None
    return BASES[base.id] | own if isinstance(base, ast.Name) and base.id in BASES else None


def _names(targets: list[ast.expr]) -> list[str]:
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _bases() -> dict[str, dict[str, ast.expr]]:
    """The named footprints that others are made from, by what they say."""
    tree = ast.parse((PACKAGE / "cluster" / "loops" / "footprint.py").read_text("utf-8"))
    named = [node for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)]
    found = {name: _told(node.value) for node in named for name in _names(node.targets)}
    return {name: told for name, told in found.items() if told}


BASES: dict[str, dict[str, ast.expr]] = {}
BASES.update(_bases())


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
        self._name = NODES if line.field == NODES else "footprint"
        self._told = vars(self._kind)[self._name]

    def __enter__(self) -> None:
        told, line = self._told, self._line
        forget()  # loops that were made before
        if line.field == NODES:
            self._kind.reads_nodes = mention_nothing if line.left == NO_MORE else mention_everything
        elif isinstance(told, property):
            self._kind.footprint = property(lambda one: line.changed(told.__get__(one)))
        else:
            self._kind.footprint = line.changed(told)

    def __exit__(self, *problem: object) -> None:
        forget()
        setattr(self._kind, self._name, self._told)
