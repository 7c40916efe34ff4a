"""An input without anything to verify: what the checks found in it is worth telling all the same."""

from __future__ import annotations

from kubeproof.manifests.loaded import Loaded
from kubeproof.verdicts import Verdict
from kubeproof.verify.checks.run import run_checks
from kubeproof.verify.findings.left_out import group_omitted, list_omissions
from kubeproof.verify.result import Statistics, VerifyResult


def check_alone(loaded: Loaded) -> VerifyResult | None:
    """A result without any property that has what the checks found; None if they found nothing either."""
    found = run_checks(loaded)
    if not found:
        return None
    version = ".".join(str(part) for part in loaded.setup.settings.kubernetes_version)
    return VerifyResult(
        scenario=loaded.scenario.name,
        verdict=Verdict.VACUOUS,
        scope=(("kubernetes", version), ("workloads", "none")),
        results=(),
        not_modelled=tuple(list_omissions(loaded)),
        omitted=group_omitted(loaded, None),
        statistics=Statistics(),
        inputs=loaded.texts,
        checks=found,
    )
