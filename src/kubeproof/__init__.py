"""Kubeproof: proofs and counterexamples for Kubernetes clusters.

Public names are loaded on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubeproof.api import Verification, assert_holds, verify
    from kubeproof.errors import KubeproofError
    from kubeproof.manifests.load import load
    from kubeproof.manifests.loaded import Loaded
    from kubeproof.monitor.trace.tracer import Tracer
    from kubeproof.verify.options import VerifyOptions
    from kubeproof.verify.result import IntentResult, Trace, TraceStep, VerifyResult
    from kubeproof.verify.run import verify as check

__version__ = "0.1.0"

__all__ = [
    "IntentResult",
    "KubeproofError",
    "Loaded",
    "Trace",
    "TraceStep",
    "Tracer",
    "Verification",
    "VerifyOptions",
    "VerifyResult",
    "__version__",
    "assert_holds",
    "check",
    "load",
    "verify",
]

_HOMES = {
    "IntentResult": ("kubeproof.verify.result", "IntentResult"),
    "KubeproofError": ("kubeproof.errors", "KubeproofError"),
    "Loaded": ("kubeproof.manifests.loaded", "Loaded"),
    "Trace": ("kubeproof.verify.result", "Trace"),
    "TraceStep": ("kubeproof.verify.result", "TraceStep"),
    "Tracer": ("kubeproof.monitor.trace.tracer", "Tracer"),
    "Verification": ("kubeproof.api", "Verification"),
    "VerifyOptions": ("kubeproof.verify.options", "VerifyOptions"),
    "VerifyResult": ("kubeproof.verify.result", "VerifyResult"),
    "assert_holds": ("kubeproof.api", "assert_holds"),
    "check": ("kubeproof.verify.run", "verify"),
    "load": ("kubeproof.manifests.load", "load"),
    # Once the room of this name is imported it takes the function's place, and does the same when it is called.
    "verify": ("kubeproof.api", "verify"),
}


def __getattr__(name: str) -> object:
    """The public name, imported from the room it lives in."""
    if name not in _HOMES:
        raise AttributeError(f"module 'kubeproof' has no attribute {name!r}")
    module, attribute = _HOMES[name]
    found: object = getattr(import_module(module), attribute)
    return found
