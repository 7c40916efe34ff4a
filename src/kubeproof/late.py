"""Classes and functions that are imported when they are first called, so that starting up costs what a run needs."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any


class LateFunction:
    """Stands for a function of a module that is imported by calling it."""

    __slots__ = ("_found", "_module", "_name")

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name
        self._found: Any = None

    def __call__(self, *values: Any, **named: Any) -> Any:
        return self.imported()(*values, **named)

    def __repr__(self) -> str:
        return f"<late {self._module}.{self._name}>"

    def imported(self) -> Any:
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
            self.imported()
        return isinstance(instance, self._found)
