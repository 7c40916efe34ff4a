"""One proposal out of several metrics, and the decisions that need no metric.

Mirrors `computeReplicasForMetrics` and the order of `reconcileAutoscaler` in `horizontal.go`.
"""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.controllers.hpa.calculator import Failure
from kubeproof.named_tuples import NamedTuple


class Forced(NamedTuple):
    """A replica count decided without looking at metrics, behavior or recommendations."""

    replicas: int
    reason: str


def find_forced(current: int, minimum: int, maximum: int) -> Forced | None:
    """The decision that comes before any metric, None if metrics decide.

    Scale to zero (an Object or External metric brings a target back from zero) is not modelled: zero always disables.
    """
    if current == 0:
        return Forced(0, "disabled: the target has 0 replicas")
    if current > maximum:
        return Forced(maximum, f"{current} replicas are above maxReplicas {maximum}")
    if current < minimum:
        return Forced(minimum, f"{current} replicas are below minReplicas {minimum}")
    return None


def combine(current: int, proposals: Sequence[int | Failure]) -> int | Failure:
    """The largest proposal. A failed metric forbids scaling down; if all failed, nothing changes."""
    valid = [proposal for proposal in proposals if not isinstance(proposal, Failure)]
    failed = len(proposals) - len(valid)
    if not valid:
        return Failure("no metric gives a proposal")
    largest = _largest(valid)
    if failed and largest < current:
        return Failure(f"{failed} of {len(proposals)} metrics failed, which forbids scaling down to {largest}")
    return largest


def _largest(proposals: Sequence[int]) -> int:
    """The largest, except that upstream takes 0 for none yet: a negative one, overflown, may come after it."""
    largest = 0
    for proposal in proposals:
        if largest == 0 or proposal > largest:
            largest = proposal
    return largest
