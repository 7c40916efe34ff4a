"""Loads a user's own controllers from `path.py:Class`."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import cast

from kubeproof.cluster.places import Layout
from kubeproof.controllers.own import Adapted, OwnController
from kubeproof.errors import UsageError
from kubeproof.model.plan import OwnLoop


def load_own(reference: str) -> OwnLoop:
    """The controller behind `path.py:Class`, ready to join a plan."""
    path, separator, name = reference.rpartition(":")
    if not separator or not path or not name:
        raise UsageError(
            f"--controller {reference!r} is not of the form path.py:Class", "Name a file and a class in it"
        )
    own = _instance(_module(path), path, name)
    labels = tuple(str(key) for key in getattr(own, "labels", ()))

    def make(layout: Layout) -> Adapted:
        return Adapted(layout, own, labels)

    return OwnLoop(make, labels)


def _module(path: str) -> object:
    if not os.path.isfile(path):
        raise UsageError(f"--controller: no file {path!r}", "Check the path")
    spec = importlib.util.spec_from_file_location(f"kubeproof_own_{abs(hash(path))}", path)
    if spec is None or spec.loader is None:
        raise UsageError(f"--controller: {path!r} is not a Python file", "Name a .py file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # a file that exits must not end the command with its exit code
        raise UsageError(f"--controller: {path!r} fails on import: {type(error).__name__}: {error}", "") from error
    return module


def _instance(module: object, path: str, name: str) -> OwnController:
    kind = getattr(module, name, None)
    if not isinstance(kind, type):
        raise UsageError(f"--controller: {path!r} has no class {name!r}", "Check the name after the colon")
    try:
        own = kind()
    except (Exception, SystemExit) as error:  # a file that exits must not end the command with its exit code
        raise UsageError(f"--controller: {name}() fails: {type(error).__name__}: {error}", "") from error
    if not isinstance(getattr(own, "name", None), str) or not callable(getattr(own, "act", None)):
        raise UsageError(
            f"--controller: {name} has no `name` or no `act(cluster)`", "See docs/how-to/own-controller.md"
        )
    return cast("OwnController", own)
