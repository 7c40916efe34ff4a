"""Cross-validation of what was learned, on fault-free traces alone: false alarms on runs that were left out."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, exp

from kubeproof.monitor.mining.observations import Observed, fold_of

Window = Callable[[int], int]  # from the longest delay seen to the time allowed


def window_of(margin: float, slack_us: int) -> Window:
    """Windows that are longer than the longest delay by a factor and a constant, in whole milliseconds."""
    return lambda longest_us: ceil((longest_us * margin + slack_us) / 1000) * 1000


def late_traces(candidate: Observed, folds: int, window: Window) -> list[int]:
    """The traces in which the candidate, learned without their fold, would find a delay too long."""
    longest = [-1] * folds
    for trace, delay in candidate.longest.items():
        fold = fold_of(trace, folds)
        if delay > longest[fold]:
            longest[fold] = delay
    allowed = [window(max(_without(longest, fold), default=-1)) for fold in range(folds)]
    return [trace for trace, delay in candidate.longest.items() if delay > allowed[fold_of(trace, folds)]]


def breaking_traces(candidate: Observed, folds: int) -> list[int]:
    """The traces that break a candidate which would have been learned without their fold, and only then."""
    return candidate.broken if candidate.broken and _has_others(candidate, folds) else []


def _has_others(candidate: Observed, folds: int) -> bool:
    fold = fold_of(candidate.broken[0], folds)
    return any(fold_of(trace, folds) != fold for trace in candidate.longest)


def _without(values: list[int], place: int) -> list[int]:
    return values[:place] + values[place + 1 :]


def most_events(seen: int, confidence: float = 0.95) -> float:
    """The largest expectation of a rare event that is still plausible after it was seen this often (Poisson)."""
    low, high = float(seen), 2.0 * seen + 10.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if _at_most(seen, middle) > 1 - confidence else (low, middle)
    return high


def _at_most(seen: int, expected: float) -> float:
    """The probability of seeing a rare event at most this often."""
    term = total = exp(-expected)
    for number in range(1, seen + 1):
        term *= expected / number
        total += term
    return total
