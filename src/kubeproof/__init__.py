"""Kubeproof: proofs and counterexamples for Kubernetes clusters.

Public names are loaded on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubeproof.errors import KubeproofError
    from kubeproof.manifests.load import load
    from kubeproof.manifests.loaded import Loaded
    from kubeproof.monitor.trace.tracer import Tracer
    from kubeproof.verify.options import VerifyOptions
    from kubeproof.verify.result import VerifyResult
    from kubeproof.verify.run import verify as check

__version__ = "0.1.0"

__all__ = ["KubeproofError", "Loaded", "Tracer", "VerifyOptions", "VerifyResult", "__version__", "check", "load"]

_HOMES = {
    "KubeproofError": ("kubeproof.errors", "KubeproofError"),
    "Loaded": ("kubeproof.manifests.loaded", "Loaded"),
    "Tracer": ("kubeproof.monitor.trace.tracer", "Tracer"),
    "VerifyOptions": ("kubeproof.verify.options", "VerifyOptions"),
    "VerifyResult": ("kubeproof.verify.result", "VerifyResult"),
    # Not called `verify`: the room of that name would take its place once it is imported.
    "check": ("kubeproof.verify.run", "verify"),
    "load": ("kubeproof.manifests.load", "load"),
}


def __getattr__(name: str) -> object:
    """The public name, imported from the room it lives in."""
    if name not in _HOMES:
        raise AttributeError(f"module 'kubeproof' has no attribute {name!r}")
    module, attribute = _HOMES[name]
    found: object = getattr(import_module(module), attribute)
    return found
