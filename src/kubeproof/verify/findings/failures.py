"""What goes wrong in one part of a verification: told of the intents that it concerns, and of no others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kubeproof.cluster.nodes.near_nodes import NodeSizeMatters
from kubeproof.engine.stopped import INTERNAL, StoppedBy
from kubeproof.errors import FootprintError, InternalError, KubeproofError, LimitReached
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.result import IntentResult


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no answer."""

    verdict: Verdict  # UNKNOWN, or ERROR if the fault is ours
    reason: str
    stopped_by: StoppedBy | None = None  # what ended a search that it needed

    def apply_to(self, result: IntentResult) -> IntentResult:
        """The result of an intent that this leaves without an answer."""
        word = "not judged" if self.verdict == Verdict.ERROR else "not decided"
        told = f"{word}: {self.reason}"
        stopped_by = self.stopped_by or result.stopped_by
        return replace(result, verdict=self.verdict, trace=None, remedy="", detail=told, stopped_by=stopped_by)


def failure_of(problem: Exception) -> Failure:
    """How a problem is told; one with the input or the machine concerns everybody, and is raised again."""
    from kubeproof.verify.counterexamples.weave import CannotWeave

    if isinstance(problem, CannotWeave | LimitReached):
        return Failure(Verdict.UNKNOWN, str(problem))
    if isinstance(problem, MemoryError | OSError | NodeSizeMatters | FootprintError):
        raise problem  # a size of nodes that matters to where a search begins again
    if isinstance(problem, KubeproofError) and problem.exit_code != InternalError.exit_code:
        raise problem
    return Failure(
        Verdict.ERROR, f"{INTERNAL}, {_what(problem)}. This is a fault of Kubeproof: please report it with the input"
    )


def _what(problem: Exception) -> str:
    """The problem, and for one that nobody expected where it happened."""
    if isinstance(problem, KubeproofError):
        return str(problem).rstrip(".")
    import traceback

    frame = traceback.extract_tb(problem.__traceback__)[-1]
    place = frame.filename.replace("\\", "/").rpartition("/")[2]
    return f"{type(problem).__name__}: {problem} ({place}:{frame.lineno})"


def is_open(result: IntentResult) -> bool:
    """True if the intent is not decided, for whatever reason."""
    return result.verdict in (Verdict.UNKNOWN, Verdict.ERROR)


def any_open(results: Sequence[IntentResult]) -> bool:
    """True if an intent is not decided."""
    return any(is_open(result) for result in results)


def choose_best(later: IntentResult, earlier: IntentResult) -> IntentResult:
    """The answer of two searches to one intent: what is decided, then a fault of ours, then what the first one says."""
    if not is_open(earlier):
        return earlier
    return (
        later
        if not is_open(later) or (later.verdict == Verdict.ERROR and earlier.verdict == Verdict.UNKNOWN)
        else earlier
    )
