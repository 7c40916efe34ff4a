"""What a search of a coarser model may decide, and how much time it may take of the one that follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import takewhile
from operator import or_

from kubeproof.engine.search import Finding, Search
from kubeproof.engine.stopped import StoppedBy, StopReason
from kubeproof.engine.system import Check
from kubeproof.verdicts import Verdict
from kubeproof.verify.options import VerifyOptions

LEAST_S = 0.001  # of a search for which no time is left: it says so
PARTS = 2  # a coarser model may take one of so many parts of the time; the full one needs the rest


def is_proved(checks: Sequence[Check], search: Search) -> bool:
    """True if a search that allows more runs than there are shows that every check holds."""
    return all(proofs(checks, search))


def proofs(checks: Sequence[Check], search: Search) -> tuple[bool, ...]:
    """For every check, whether a search that allows more runs than there are shows that it holds.

    A check must matter in a state that is there for certain, one of the first, or the answer may be vacuous.
    """
    seen = reduce(or_, list_first_flags(search), 0)
    return tuple(
        finding.verdict == Verdict.HOLDS and (check.relevant < 0 or bool(seen >> check.relevant & 1))
        for check, finding in zip(checks, search.findings, strict=True)
    )


def list_first_flags(search: Search) -> list[int]:
    """The flags of the states that the runs of a search begin in."""
    store = search.store
    return [store.flags(state) for state in takewhile(lambda state: store.parent(state) < 0, range(len(store)))]


def drop_findings(search: Search) -> Search:
    """The search without its findings: those of additional runs say nothing as long as they are not proofs."""
    return replace(search, findings=tuple(Finding(Verdict.UNKNOWN) for _ in search.findings))


def within(options: VerifyOptions, spent_s: float, *, is_relaxed: bool) -> VerifyOptions:
    """The options with the time that is left for the next search of the same plan."""
    if options.timeout_s is None:
        return options
    left_s = options.timeout_s - spent_s
    return replace(options, timeout_s=max(LEAST_S, left_s / PARTS if is_relaxed else left_s))


def explain_limits(search: Search, used: VerifyOptions, asked: VerifyOptions) -> Search:
    """The search as the user's limits explain it, not those of its own share."""
    if asked.timeout_s is None or search.stopped_by != StoppedBy(StopReason.TIME, used.timeout_s):
        return search
    return replace(search, stopped_by=StoppedBy(StopReason.TIME, asked.timeout_s))
