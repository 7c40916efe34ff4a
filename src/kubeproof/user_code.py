"""Loads Python files of the user, for options that take one."""

from __future__ import annotations

import importlib.util
import os
import sys
from types import ModuleType

from kubeproof.errors import UsageError


def load_module(path: str, option: str) -> ModuleType:
    """The file as a module; whatever is wrong with it is told as a fault of the option."""
    if not os.path.isfile(path):
        raise UsageError(f"{option}: no file {path!r}", "Check the path; it must name a .py file")
    spec = importlib.util.spec_from_file_location(f"kubeproof_user_{len(sys.modules)}", path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{option}: {path!r} is not a Python file", "Name a .py file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # a file that exits must not end the command with its exit code
        raise UsageError(f"{option}: {path!r} fails on import: {type(error).__name__}: {error}", "") from error
    return module
