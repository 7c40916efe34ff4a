"""A cluster as the Python code that makes it, defaults left out: how witnesses are kept."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import Any


def write(value: Any) -> str:
    """Code that makes an equal value."""
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if is_dataclass(value) and not isinstance(value, type):
        return f"{type(value).__name__}({', '.join(_arguments(value))})"
    if isinstance(value, tuple):
        return _write_tuple(value)
    if isinstance(value, frozenset):
        return f"frozenset({{{', '.join(map(write, sorted(value)))}}})" if value else "frozenset()"
    return repr(value).replace("'", '"') if isinstance(value, str) else repr(value)


def _write_tuple(value: tuple[Any, ...]) -> str:
    inner = ", ".join(map(write, value))
    if hasattr(value, "_fields"):
        return f"{type(value).__name__}({inner})"
    return f"({inner},)" if len(value) == 1 else f"({inner})"


def _arguments(value: Any) -> list[str]:
    return [
        f"{one.name}={write(getattr(value, one.name))}"
        for one in fields(value)
        if one.init and one.compare and getattr(value, one.name) != _default(one)
    ]


def _default(one: Any) -> Any:
    return one.default_factory() if one.default_factory is not MISSING else one.default
