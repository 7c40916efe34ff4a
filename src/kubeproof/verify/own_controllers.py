"""Loads a user's own controllers from `path.py:Class`."""

from __future__ import annotations

from typing import cast

from kubeproof.cluster.nodes.places import Layout
from kubeproof.controllers.own import Adapted, OwnController
from kubeproof.errors import UsageError
from kubeproof.model.plan import OwnLoop
from kubeproof.user_code import load_module


def load_own(reference: str) -> OwnLoop:
    """The controller behind `path.py:Class`, ready to join a plan."""
    path, separator, name = reference.rpartition(":")
    if not separator or not path or not name:
        raise UsageError(
            f"--controller {reference!r} is not of the form path.py:Class", "Name a file and a class in it"
        )
    own = _instance(load_module(path, "--controller"), path, name)
    labels = tuple(str(key) for key in getattr(own, "labels", ()))

    def make(layout: Layout) -> Adapted:
        return Adapted(layout, own, labels)

    return OwnLoop(make, labels)


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
