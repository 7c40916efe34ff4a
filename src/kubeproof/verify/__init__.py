"""Verification: from a loaded input to one verdict per intent.

`kubeproof.verify(paths)` calls this module: the room and the function that users call have the same name, and Python
puts a package's rooms among its attributes. A module may have a class of its own, so this one can be called.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """The module, which verifies when it is called."""

    def __call__(self, *values: Any, **named: Any) -> Any:
        from importlib import import_module

        return import_module("kubeproof.api.verification").verify(*values, **named)


sys.modules[__name__].__class__ = _Callable
