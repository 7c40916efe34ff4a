"""One cluster with and without reductions: what is decided must be the same."""

from __future__ import annotations

from kubeproof.manifests.loaded import Loaded
from kubeproof.verify import shares
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.run import verify

MOST_STATES = 4_000
UNKNOWN = "UNKNOWN"
Verdicts = tuple[str, ...]


def verdicts_of(loaded: Loaded, options: VerifyOptions) -> Verdicts:
    """One word per intent."""
    return tuple(result.verdict for result in verify(loaded, options).results)


def exact_verdicts(loaded: Loaded) -> Verdicts:
    """What every run by itself says."""
    return verdicts_of(loaded, VerifyOptions(reductions=False, max_states=MOST_STATES))


def reduced_verdicts(loaded: Loaded, *, in_parts: bool) -> Verdicts:
    """What is said with all reductions; `in_parts`, as if the whole were too large to be searched at once."""
    usual = shares.MOST_AT_FIRST
    try:
        if in_parts:
            shares.MOST_AT_FIRST = 1
        return verdicts_of(loaded, VerifyOptions(max_states=2 if in_parts else MOST_STATES))
    finally:
        shares.MOST_AT_FIRST = usual


def find_disagreement(loaded: Loaded) -> str:
    """Where reductions change a verdict; "" if they do not."""
    exact: Verdicts | None = None
    for in_parts in (False, True):
        if in_parts and len(loaded.setup.workloads) < 2:
            continue
        reduced = reduced_verdicts(loaded, in_parts=in_parts)
        if set(reduced) == {UNKNOWN}:
            continue
        exact = exact_verdicts(loaded) if exact is None else exact
        pairs = zip(exact, reduced, strict=True)
        if any(one != other for one, other in pairs if UNKNOWN not in (one, other)):
            return f"every run says {exact}, {'parts' if in_parts else 'reductions'} {reduced}"
    return ""
