"""Repairs beside the violations of a verification."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubeproof.cli.options.settings import working_directory
from kubeproof.cli.running.interruption import current
from kubeproof.verdicts import Verdict

if TYPE_CHECKING:
    from kubeproof.manifests.loaded import Loaded
    from kubeproof.verify.options import VerifyOptions
    from kubeproof.verify.result import VerifyResult


def add_repairs(loaded: Loaded, result: VerifyResult, options: VerifyOptions, faults: tuple[str, ...]) -> VerifyResult:
    """The result with changes that are proved to help, where something is violated."""
    from dataclasses import replace

    from kubeproof.report.frame import Frame
    from kubeproof.report.verification.repairs import with_repairs
    from kubeproof.verify.fix.run import FixOptions, find_repairs

    if not any(one.verdict == Verdict.VIOLATED and one.trace is not None for one in result.results):
        return result
    each = replace(options, spent_s=0.0, timeout_s=None, processes=1)
    with current().gently() as stop:
        found = find_repairs(loaded, FixOptions(verify=each, faults=faults), stop=stop)
    return with_repairs(result, found, Frame(base=working_directory()))
