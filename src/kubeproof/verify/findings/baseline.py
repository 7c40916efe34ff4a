"""Baselines: findings that were there when a project began to look, kept in a file by their fingerprints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from kubeproof.cluster.objects import Source
from kubeproof.errors import SettingsError
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.findings.fingerprints import check_fingerprints, fingerprints
from kubeproof.verify.result import VerifyResult

VERSION = 1
MOST_BYTES = 10_000_000
NOT_KEPT = "info"
DEFAULT_REASON = "in the baseline"
_REMEDY = "Write it again with --write-baseline"


@dataclass(frozen=True, slots=True)
class BaselineFinding:
    """One line of a baseline."""

    fingerprint: str
    id: str
    target: str
    scenario: str
    reason: str
    source: Source


def baseline_text(result: VerifyResult) -> str:
    """The violations of a result, and what checks found but for notes, one a line; reasons of the last one are kept."""
    marks = fingerprints(result)
    lines = []
    for one, mark in zip(result.results, marks, strict=True):
        kept = one.suppression is not None and one.suppression.kind == "baseline"
        if one.verdict != Verdict.VIOLATED and not (one.verdict == Verdict.SUPPRESSED and kept):
            continue
        reason = one.suppression.reason if one.suppression is not None else DEFAULT_REASON
        finding = {"fingerprint": mark, "id": one.id, "intent": one.intent, "target": one.target}
        lines.append(json.dumps({**finding, "scenario": result.scenario, "reason": reason}))
    for check, mark in zip(result.checks, check_fingerprints(result), strict=True):
        given = check.suppression
        if check.severity == NOT_KEPT or (given is not None and given.kind != "baseline"):
            continue
        reason = DEFAULT_REASON if given is None else given.reason
        finding = {"fingerprint": mark, "id": check.id, "intent": "", "target": check.target}
        lines.append(json.dumps({**finding, "scenario": result.scenario, "reason": reason}))
    body = ",\n".join(f"  {line}" for line in sorted(lines))
    return (
        f'{{"version": {VERSION}, "findings": [\n{body}\n]}}\n'
        if lines
        else f'{{"version": {VERSION}, "findings": []}}\n'
    )


def read_baseline(path: str) -> tuple[BaselineFinding, ...]:
    """The findings of a baseline; one that cannot be used is wrong configuration."""
    try:
        with open(path, "rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise ValueError(f"larger than {MOST_BYTES:,} bytes")
        text = content.decode("utf-8")
        document = json.loads(text)
    except OSError as problem:
        raise SettingsError(f"cannot be read: {problem.strerror}", file=path, line=0, remedy=_REMEDY) from None
    except (ValueError, RecursionError) as problem:
        raise SettingsError(f"not a baseline: {problem}", file=path, line=0, remedy=_REMEDY) from None
    return _findings(document, path, text.splitlines())


def _findings(document: Any, path: str, lines: Sequence[str]) -> tuple[BaselineFinding, ...]:
    found = document.get("findings") if isinstance(document, dict) else None
    if not isinstance(found, list) or not isinstance(document, dict) or document.get("version") != VERSION:
        raise SettingsError(f"not a baseline of version {VERSION}", file=path, line=0, remedy=_REMEDY)
    return tuple(_finding(one, path, lines) for one in found)


def _finding(one: Any, path: str, lines: Sequence[str]) -> BaselineFinding:
    if not isinstance(one, dict) or not isinstance(one.get("fingerprint"), str):
        raise SettingsError("a finding without fingerprint", file=path, line=0, remedy=_REMEDY)
    mark = one["fingerprint"]
    line = next((number for number, text in enumerate(lines, 1) if f'"{mark}"' in text), 1)
    told = {key: str(one.get(key) or "") for key in ("id", "target", "scenario", "reason")}
    return BaselineFinding(
        mark, told["id"], told["target"], told["scenario"], told["reason"].strip() or DEFAULT_REASON, Source(path, line)
    )
