"""Accepts violations that somebody gave a reason for, and keeps the trail of all reasons, used or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from datetime import date
from fnmatch import fnmatchcase

from kubeproof.manifests.loaded import Ignore
from kubeproof.manifests.settings.exemptions import Exemption, property_named
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.checks.catalogue import check_named
from kubeproof.verify.findings.baseline import BaselineFinding
from kubeproof.verify.findings.fingerprints import check_fingerprints, fingerprints
from kubeproof.verify.result import CheckFinding, IntentResult, Suppression, SuppressionNote, VerifyResult
from kubeproof.verify.scaling.result import Skipped

USED, UNUSED, EXPIRED, NO_REASON = "used", "unused", "expired", "no reason"


@dataclass(slots=True)
class _Given:
    """One reason, and whether it was needed."""

    suppression: Suppression
    id: str
    target: str
    status: str = UNUSED
    intent: str = ""
    fingerprint: str = ""
    scenario: str = field(default="")

    def accepts(self, one: IntentResult | CheckFinding, fingerprint: str) -> bool:
        """True if it speaks of this result or finding and counts."""
        if self.status in (EXPIRED, NO_REASON):
            return False
        if self.fingerprint:
            return self.fingerprint == fingerprint
        if self.id != one.id or (self.intent and self.intent != getattr(one, "intent", "")):
            return False
        return not self.target or fnmatchcase(one.target, self.target)


def suppress(
    result: VerifyResult,
    *,
    ignores: Sequence[Ignore] = (),
    exemptions: Sequence[Exemption] = (),
    baseline: Sequence[BaselineFinding] = (),
    today: date,
) -> VerifyResult:
    """The result with accepted violations SUPPRESSED, their counterexamples kept, and the audit trail.

    Only violations can be accepted: what was not decided or says nothing stays as it is. Accepted findings of checks
    keep their severity and have the reason beside them.
    """
    given = [
        *(_of_annotation(ignore, result.scenario) for ignore in ignores),
        *(_of_exemption(exemption, today) for exemption in exemptions),
        *(_of_baseline(finding) for finding in baseline if finding.scenario in ("", result.scenario)),
    ]
    if not given:
        return result
    marks = fingerprints(result)
    results = tuple(_judge(one, mark, given) for one, mark in zip(result.results, marks, strict=True))
    results = _as_far_as_tried(result, results)
    found = zip(result.checks, check_fingerprints(result), strict=True)
    checks = tuple(_accept_check(one, mark, given) for one, mark in found)
    notes = tuple(SuppressionNote(one.suppression, one.id, one.target, one.status) for one in given)
    verdict = _overall(result.verdict, results)
    return replace(result, results=results, verdict=verdict, suppressions=notes, checks=checks)


def _of_annotation(ignore: Ignore, scenario: str) -> _Given:
    """On a workload it is about that workload, on the Scenario about all its intents."""
    known = property_named(ignore.id) or check_named(ignore.id)
    target = "" if ignore.ref == f"Scenario/{scenario}" else _literal(ignore.ref)
    given = Suppression("annotation", ignore.reason, ignore.source)
    return _Given(given, known.id if known else ignore.id, target, UNUSED if ignore.reason else NO_REASON)


def _literal(ref: str) -> str:
    """The name as a pattern; Kubernetes names hold no wildcards, but what was never checked might."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in ref)


def _of_exemption(exemption: Exemption, today: date) -> _Given:
    expires = exemption.expires.isoformat() if exemption.expires else ""
    is_late = exemption.expires is not None and exemption.expires < today
    given = Suppression("exemption", exemption.reason, exemption.source, expires)
    return _Given(given, exemption.id, exemption.target, EXPIRED if is_late else UNUSED, exemption.intent)


def _of_baseline(finding: BaselineFinding) -> _Given:
    given = Suppression("baseline", finding.reason, finding.source)
    return _Given(given, finding.id, finding.target, fingerprint=finding.fingerprint)


def _judge(one: IntentResult, fingerprint: str, given: Sequence[_Given]) -> IntentResult:
    """The result, suppressed by the first reason that accepts it; all that do are used."""
    if one.verdict != Verdict.VIOLATED:
        return one
    accepting = [*_accepting(one, fingerprint, given)]
    return replace(one, verdict=Verdict.SUPPRESSED, suppression=accepting[0].suppression) if accepting else one


def _accept_check(one: CheckFinding, fingerprint: str, given: Sequence[_Given]) -> CheckFinding:
    accepting = [*_accepting(one, fingerprint, given)]
    return replace(one, suppression=accepting[0].suppression) if accepting else one


def _accepting(one: IntentResult | CheckFinding, fingerprint: str, given: Sequence[_Given]) -> Iterator[_Given]:
    for reason in given:
        if reason.accepts(one, fingerprint):
            reason.status = USED
            yield reason


def _as_far_as_tried(result: VerifyResult, results: tuple[IntentResult, ...]) -> tuple[IntentResult, ...]:
    """A sweep ends at its first violation; once that is accepted, what was not tried is open for all the others."""
    untried = 0 if result.sweep is None else result.sweep.count(Skipped.NOT_TRIED)
    found = {one.verdict for one in results}
    if not untried or Verdict.SUPPRESSED not in found or Verdict.VIOLATED in found:
        return results
    why = f"{untried:,} larger sizes were not tried: the sweep ended at an accepted violation; --all goes on after it"
    return tuple(
        replace(one, verdict=Verdict.UNKNOWN, detail=why)
        if one.verdict in (Verdict.HOLDS_BOUNDED, Verdict.SAMPLED_OK, Verdict.VACUOUS)
        else one
        for one in results
    )


def _overall(verdict: Verdict, results: Sequence[IntentResult]) -> Verdict:
    """The worst verdict that is left; a suppressed violation is told, never taken for a proof."""
    found = {one.verdict for one in results if one.is_decisive}
    return next(
        (word for word in (Verdict.VIOLATED, Verdict.ERROR, Verdict.UNKNOWN, Verdict.SUPPRESSED) if word in found),
        verdict,
    )
