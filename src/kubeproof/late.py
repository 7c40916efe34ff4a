"""Classes that are imported when the first instance is made, so that starting up costs what a run needs."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any


class LateClass:
    """Stands for a class of a module that is imported by calling it.

    `isinstance` never imports: a class whose module was not imported has no instances. Use it for what is called or
    asked for; a base class must be imported itself.
    """

    __slots__ = ("_class", "_module", "_name")

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name
        self._class: Any = None

    def __call__(self, *values: Any, **named: Any) -> Any:
        return self.imported()(*values, **named)

    def __instancecheck__(self, instance: object) -> bool:
        if self._class is None:
            if getattr(sys.modules.get(self._module), self._name, None) is None:  # not or only partly imported
                return False
            self.imported()
        return isinstance(instance, self._class)

    def __repr__(self) -> str:
        return f"<late {self._module}.{self._name}>"

    def imported(self) -> Any:
        """The class itself."""
        if self._class is None:
            self._class = getattr(import_module(self._module), self._name)
        return self._class
