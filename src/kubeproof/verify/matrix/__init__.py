"""The survival matrix: what each workload survives, one fault at a time, without a Scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubeproof.manifests.loaded import Loaded
    from kubeproof.verify.options import VerifyOptions


def asks_for_matrix(loaded: Loaded, options: VerifyOptions) -> bool:
    """True if the input has no Scenario, so that the question is what each workload survives."""
    return loaded.scenario.is_default and options.engine != "reference" and not options.find_all
