"""Kubeproof: proofs and counterexamples for Kubernetes clusters.

Public names are loaded on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubeproof.api.deprecation import Deprecated
    from kubeproof.api.matrix import matrix
    from kubeproof.api.repairs import Repairs, fix
    from kubeproof.api.simulation import Simulation, simulate
    from kubeproof.api.verification import Verification, assert_holds, verify
    from kubeproof.controllers.own import (
        ClusterView,
        Evict,
        NodeView,
        OwnController,
        PodCounts,
        Scale,
        SetCordon,
        WorkloadView,
        cordon,
        evict,
        scale,
        uncordon,
    )
    from kubeproof.errors import KubeproofError
    from kubeproof.manifests.load import load
    from kubeproof.manifests.loaded import Loaded
    from kubeproof.monitor.trace.tracer import Tracer
    from kubeproof.verify.matrix.result import Cell, Matrix
    from kubeproof.verify.options import VerifyOptions
    from kubeproof.verify.result import IntentResult, Trace, TraceStep, VerifyResult
    from kubeproof.verify.run import verify as check

__version__ = "0.1.0"

__all__ = [
    "Cell",
    "ClusterView",
    "Evict",
    "IntentResult",
    "KubeproofError",
    "Loaded",
    "Matrix",
    "NodeView",
    "OwnController",
    "PodCounts",
    "Repairs",
    "Scale",
    "SetCordon",
    "Simulation",
    "Trace",
    "TraceStep",
    "Tracer",
    "Verification",
    "VerifyOptions",
    "VerifyResult",
    "WorkloadView",
    "__version__",
    "assert_holds",
    "check",
    "cordon",
    "evict",
    "fix",
    "load",
    "matrix",
    "scale",
    "simulate",
    "uncordon",
    "verify",
]

_OWN = "kubeproof.controllers.own"
_HOMES = {
    "Cell": ("kubeproof.verify.matrix.result", "Cell"),
    "ClusterView": (_OWN, "ClusterView"),
    "Evict": (_OWN, "Evict"),
    "IntentResult": ("kubeproof.verify.result", "IntentResult"),
    "KubeproofError": ("kubeproof.errors", "KubeproofError"),
    "Loaded": ("kubeproof.manifests.loaded", "Loaded"),
    "Matrix": ("kubeproof.verify.matrix.result", "Matrix"),
    "NodeView": (_OWN, "NodeView"),
    "OwnController": (_OWN, "OwnController"),
    "PodCounts": (_OWN, "PodCounts"),
    "Repairs": ("kubeproof.api.repairs", "Repairs"),
    "Scale": (_OWN, "Scale"),
    "SetCordon": (_OWN, "SetCordon"),
    "Simulation": ("kubeproof.api.simulation", "Simulation"),
    "Trace": ("kubeproof.verify.result", "Trace"),
    "TraceStep": ("kubeproof.verify.result", "TraceStep"),
    "Tracer": ("kubeproof.monitor.trace.tracer", "Tracer"),
    "Verification": ("kubeproof.api.verification", "Verification"),
    "VerifyOptions": ("kubeproof.verify.options", "VerifyOptions"),
    "VerifyResult": ("kubeproof.verify.result", "VerifyResult"),
    "WorkloadView": (_OWN, "WorkloadView"),
    "assert_holds": ("kubeproof.api.verification", "assert_holds"),
    "check": ("kubeproof.verify.run", "verify"),
    "cordon": (_OWN, "cordon"),
    "evict": (_OWN, "evict"),
    "fix": ("kubeproof.api.repairs", "fix"),
    "load": ("kubeproof.manifests.load", "load"),
    "matrix": ("kubeproof.api.matrix", "matrix"),
    "scale": (_OWN, "scale"),
    # Once the room of this name is imported it takes the function's place, and does the same when it is called.
    "simulate": ("kubeproof.api.simulation", "simulate"),
    "uncordon": (_OWN, "uncordon"),
    "verify": ("kubeproof.api.verification", "verify"),
}
_DEPRECATED: Mapping[str, Deprecated] = MappingProxyType({})  # names that still work, and what replaces them


def __getattr__(name: str) -> object:
    """The public name, imported from the room it lives in."""
    if name in _DEPRECATED:
        from kubeproof.api import deprecation

        deprecation.warn(name, _DEPRECATED[name])
        name = _DEPRECATED[name].instead
    if name not in _HOMES:
        raise AttributeError(f"module 'kubeproof' has no attribute {name!r}")
    module, attribute = _HOMES[name]
    found: object = getattr(import_module(module), attribute)
    return found
