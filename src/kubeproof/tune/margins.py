"""By how much promises are kept: a number above zero, below if they are broken, comparable among promises."""

from __future__ import annotations

from collections.abc import Iterable
from math import log

from kubeproof.intents.library.service_levels import LEVELS, Side, Unit
from kubeproof.simulate.outcome import IntentOutcome
from kubeproof.tune.subject import is_moot
from kubeproof.verdicts import Verdict

BROKEN = -1.0  # of an intent without a number that a run violates
SILENT = -0.5  # of one that had nothing to say
MOST, LEAST = 1.0, -3.0  # beyond, it does not matter how much
SMALLEST = 1e-6
_KINDS = {kind.key: kind for kind in LEVELS}


def margin_of(promises: Iterable[IntentOutcome]) -> float:
    """That of the promise that is kept least."""
    return min((_margin(promise) for promise in promises if not is_moot(promise)), default=MOST)


def _margin(promise: IntentOutcome) -> float:
    if promise.measured is None or promise.limit is None:
        return {Verdict.VIOLATED: BROKEN, Verdict.VACUOUS: SILENT}.get(promise.verdict, MOST)
    kind, value, limit = _KINDS[promise.key], promise.measured.value, promise.limit
    if kind.unit is Unit.SHARE and kind.side is Side.AT_LEAST:  # of what goes wrong: 99 % is not next to 99.9 %
        value, limit = 1 - value, 1 - limit
    is_upper = kind.side is Side.AT_MOST or kind.unit is Unit.SHARE
    ratio = log(max(limit, SMALLEST) / max(value, SMALLEST))
    return max(LEAST, min(MOST, ratio if is_upper else -ratio))
