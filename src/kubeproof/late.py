"""Classes and functions that are imported when they are first called, so that starting up costs what a run needs."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")


def as_class(kind: Any) -> type:
    """The class, imported if it was not yet."""
    found: type = kind.resolve() if isinstance(kind, LateFunction) else kind
    return found


class LateFunction:
    """Stands for a function of a module that is imported by calling it."""

    __slots__ = ("_found", "_module", "_name")

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name
        self._found: Any = None

    def __call__(self, *values: Any, **named: Any) -> Any:
        return self.resolve()(*values, **named)

    def __repr__(self) -> str:
        return f"<late {self._module}.{self._name}>"

    def resolve(self) -> Any:
        """The function or class itself."""
        if self._found is None:
            self._found = getattr(import_module(self._module), self._name)
        return self._found


class LateClass(LateFunction):
    """Stands for a class of a module that is imported by calling it.

    `isinstance` never imports: a class whose module was not imported has no instances. Use it for what is called or
    asked for; a base class must be imported itself.
    """

    __slots__ = ()

    def __instancecheck__(self, instance: object) -> bool:
        if self._found is None:
            if getattr(sys.modules.get(self._module), self._name, None) is None:  # not or only partly imported
                return False
            self.resolve()
        return isinstance(instance, self._found)

    def __or__(self, other: Any) -> Either:
        return Either(self, other)

    def __ror__(self, other: Any) -> Either:
        return Either(other, self)


class Either:
    """Several classes of which some are late, for `isinstance`: what `|` makes of them."""

    __slots__ = ("_kinds",)

    def __init__(self, *kinds: Any) -> None:
        self._kinds = kinds

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, self._kinds)

    def __or__(self, other: Any) -> Either:
        return Either(*self._kinds, other)

    def __ror__(self, other: Any) -> Either:
        return Either(other, *self._kinds)


def resolve(cls: type[T]) -> type[T]:
    """The class itself, late or not."""
    found: type[T] = cls.resolve() if isinstance(cls, LateFunction) else cls
    return found
