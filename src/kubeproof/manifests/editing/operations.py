"""Changes of single fields as values, and what they make of plain objects."""

from __future__ import annotations

import copy
from typing import Any

from kubeproof.values import dataclass

Path = tuple[str | int, ...]
Plain = Any  # what an object is in YAML: dicts, lists, texts, numbers, booleans and None


@dataclass(frozen=True, slots=True)
class Operation:
    """One field that gets a value, or goes."""

    path: Path  # of the object; a number as long as a list stands for a new item of it
    value: Plain = None
    is_removed: bool = False

    @property
    def field(self) -> str:
        """The path as people write it: "spec.template.spec.containers[0]"."""
        parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.path)
        return "".join(parts).removeprefix(".")


def put(*path: str | int, value: Plain) -> Operation:
    """The field gets the value; what is missing above it is made."""
    return Operation(path, value)


def drop(*path: str | int) -> Operation:
    """The field goes."""
    return Operation(path, is_removed=True)


def value_at(root: Plain, path: Path) -> Plain:
    """What stands there; None if nothing does."""
    for part in path:
        if isinstance(part, int):
            root = root[part] if isinstance(root, list) and part < len(root) else None
        else:
            root = root.get(part) if isinstance(root, dict) else None
    return root


def holds(root: Plain, path: Path) -> bool:
    """True if the field is there, also with null."""
    above = value_at(root, path[:-1])
    last = path[-1]
    return (
        last < len(above)
        if isinstance(last, int) and isinstance(above, list)
        else (isinstance(above, dict) and last in above)
    )


def settle(root: Plain, operation: Operation) -> Operation:
    """The same change at the lowest place that is there: what is missing above becomes part of the value.

    A mapping or list that would be left empty goes as a whole.
    """
    path, value = operation.path, operation.value
    if operation.is_removed:
        while len(path) > 1 and len(value_at(root, path[:-1]) or ()) == 1:
            path = path[:-1]
        return Operation(path, is_removed=True)
    while len(path) > 1 and value_at(root, path[:-1]) is None:
        last, path = path[-1], path[:-1]
        value = [value] if isinstance(last, int) else {last: value}
    return Operation(path, value)


def apply(root: Plain, operations: tuple[Operation, ...]) -> Plain:
    """The object with the changes, in their order."""
    root = copy.deepcopy(root)
    for operation in operations:
        done = settle(root, operation)
        above, last = value_at(root, done.path[:-1]), done.path[-1]
        if done.is_removed:
            if holds(root, done.path):
                del above[last]
        elif isinstance(above, list) and last == len(above):
            above.append(done.value)
        else:
            above[last] = done.value
    return root
