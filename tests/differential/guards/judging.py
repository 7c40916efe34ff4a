"""One cluster with and without reductions: what is decided must be the same."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from kubeproof.errors import InternalError, ScenarioError
from kubeproof.manifests.loaded import Loaded
from kubeproof.verdicts import Verdict
from kubeproof.verify.options import Effort, VerifyOptions
from kubeproof.verify.run import verify

MOST_STATES = 2_000
CONTRADICTION = "E700"  # a replay, or a step of the search, does not fit
CRASHES = "crashes"  # any test would notice: no wrong verdict
EAGER = Effort(max_tried=1, max_repeated=1)
Verdicts = tuple[str, ...]


def verdicts_of(loaded: Loaded, options: VerifyOptions) -> Verdicts:
    """One word per intent; what is not judged because of a fault is raised."""
    results = verify(loaded, options).results
    faults = [result.detail for result in results if result.verdict == Verdict.ERROR]
    if faults:
        raise InternalError("; ".join(faults))
    return tuple(result.verdict for result in results)


def reduced_verdicts(loaded: Loaded, *, in_parts: bool) -> Verdicts:
    """What is said with all reductions; `in_parts`, as if the whole were too large to be searched at once.

    Small models are not tried in full before coarser ones.
    """
    if in_parts:
        return verdicts_of(loaded, VerifyOptions(max_states=2, effort=replace(EAGER, max_at_first=1)))
    return verdicts_of(loaded, VerifyOptions(max_states=MOST_STATES, effort=EAGER))


class Judge:
    """What is known of one cluster."""

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded

    @cached_property
    def exact(self) -> Verdicts:
        """What every run by itself says."""
        return verdicts_of(self._loaded, VerifyOptions(reductions=False, max_states=MOST_STATES))

    def reduce(self, *, in_parts: bool) -> Verdicts | None:
        """What is said with reductions; None where nothing can be looked at in parts."""
        if in_parts and len(self._loaded.setup.workloads) < 2:
            return None
        return reduced_verdicts(self._loaded, in_parts=in_parts)

    def find_disagreement(self, *, in_parts: bool) -> str:
        """Where reductions change a verdict; "" if they do not."""
        try:
            said = reduced_verdicts(self._loaded, in_parts=in_parts)
        except ScenarioError:
            raise
        except Exception as problem:
            is_found = isinstance(problem, InternalError) and CONTRADICTION in str(problem)
            return f"contradicts itself: {problem}" if is_found else f"{CRASHES}: {type(problem).__name__} {problem}"
        if set(said) == {Verdict.UNKNOWN}:
            return ""
        pairs = zip(self.exact, said, strict=True)
        differ = any(one != other for one, other in pairs if Verdict.UNKNOWN not in (one, other))
        return f"every run says {self.exact}, not {said}" if differ else ""
