"""What holds at one size of an input, told with all other sizes at which it holds, too."""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.manifests.loaded import Loaded
from kubeproof.values import replace
from kubeproof.verdicts import Verdict
from kubeproof.verify.holds_for import HoldsFor
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.result import IntentResult


def with_sizes(loaded: Loaded, options: VerifyOptions, results: Sequence[IntentResult]) -> list[IntentResult]:
    """The results with the sizes at which what holds here holds, too."""
    if all(one.verdict != Verdict.HOLDS for one in results):
        return list(results)
    from kubeproof.verify.proofs.any_size.derive import prove_any_size

    known = prove_any_size(loaded, options)
    return [_with_sizes(one, known.get(one.intent)) for one in results]


def _with_sizes(one: IntentResult, found: HoldsFor | None) -> IntentResult:
    if found is None or one.verdict != Verdict.HOLDS:
        return one
    return replace(one, holds_for=found, detail=f"{one.detail}; so it is at {found.describe()}, as spec.scale says")
