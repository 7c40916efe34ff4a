"""A timed run at the level of requests: CPU, memory and pods over time.

`kubeproof.simulate(paths)` calls this module, as `kubeproof.verify(paths)` calls that of verification.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """The module, which simulates when it is called."""

    def __call__(self, *values: Any, **named: Any) -> Any:
        from importlib import import_module

        return import_module("kubeproof.api.simulation").simulate(*values, **named)


sys.modules[__name__].__class__ = _Callable
