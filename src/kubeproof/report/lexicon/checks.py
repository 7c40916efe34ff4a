"""Checks that need no search, for `explain`."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.report.lexicon.entry import Explanation
from kubeproof.verify.checks.catalogue import checks

PAGE = "docs/reference/checks.md"


def explain_checks() -> Iterator[Explanation]:
    """Every check."""
    for check in checks():
        yield Explanation(
            name=check.id,
            kind="check",
            title=f"{check.key}: {check.title}",
            text=check.explanation,
            facts=(("severity", check.severity), ("accept it", f"annotation ignore.kubeproof.dev/{check.id}: reason")),
            remedy=f"{check.remedy}.",
            page=PAGE,
            aliases=(check.key,),
        )
