"""What the fault-free traces have in common: pairs in order, answers, counts.

A candidate that some traces break is kept as long as these all lie in one fold of the cross-validation: it would be
learned when that fold is left out, so it counts in the estimate of false alarms, though never in the result.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

from kubeproof.monitor.mining.traces import Trace
from kubeproof.values import dataclass

Pair = tuple[str, str]


@dataclass(slots=True)
class Observed:
    """One candidate: its longest delay in each trace that it says something about, and the traces that break it."""

    longest: dict[int, int]
    broken: list[int]

    @property
    def holds(self) -> bool:
        return not self.broken


class Coverage:
    """How likely it is to see an event within some time of an arbitrary moment, for each event name."""

    def __init__(self, traces: Sequence[Trace]) -> None:
        gaps: dict[str, list[int]] = {name: [] for trace in traces for name in trace.times}
        for trace in traces:
            for name, found in gaps.items():
                times = trace.times.get(name, ())
                moments = [trace.start_us, *times, trace.end_us]
                found += [later - earlier for earlier, later in pairwise(moments)]
        self._gaps = {name: sorted(found) for name, found in gaps.items()}
        self._sums = {name: [0, *accumulate(found)] for name, found in self._gaps.items()}

    def of(self, name: str, window_us: int) -> float:
        """The share of all moments after which the event comes within the window."""
        gaps, sums = self._gaps[name], self._sums[name]
        place = bisect_right(gaps, window_us)
        return (sums[place] + window_us * (len(gaps) - place)) / max(1, sums[-1])


def fold_of(trace: int, folds: int) -> int:
    """The fold of a trace, by its position: neighbours are often alike, and go to different ones."""
    return trace % folds


def observe_pairs(traces: Sequence[Trace], folds: int) -> dict[Pair, Observed]:
    """Pairs of events that occur equally often, the i-th of one never before the i-th of the other."""
    names = sorted({name for trace in traces for name in trace.times})
    found = {(a, b): Observed({}, []) for a in names for b in names if a != b}
    for number, trace in enumerate(traces):
        for pair in _find_dropped(found, number, folds, ((p, _pair_by_count(trace, *p)) for p in found)):
            del found[pair]
    return found


def _pair_by_count(trace: Trace, first: str, then: str) -> int | None:
    """The longest delay between partners; None if they are not in order or not equally many, -1 if there are none."""
    ones, others = trace.times.get(first, ()), trace.times.get(then, ())
    if len(ones) != len(others):
        return None
    longest = -1
    for one, other in zip(ones, others, strict=True):
        if other < one:
            return None
        if other - one > longest:
            longest = other - one
    return longest


def observe_answers(traces: Sequence[Trace], folds: int, bounds: dict[str, int]) -> dict[Pair, Observed]:
    """Pairs of events of which the first is always followed by the second within the second's bound."""
    names = sorted({name for trace in traces for name in trace.times})
    found = {(a, b): Observed({}, []) for a in names for b in names if a != b and bounds[b] > 0}
    for number, trace in enumerate(traces):
        judged = ((p, _find_answer(trace, *p, bounds[p[1]])) for p in found)
        for pair in _find_dropped(found, number, folds, judged):
            del found[pair]
    return found


def _find_answer(trace: Trace, first: str, then: str, bound: int) -> int | None:
    """The longest time to the next answer; None if one takes longer than the bound, -1 if there is no question."""
    ones, others = trace.times.get(first, ()), trace.times.get(then, ())
    longest, place, count = -1, 0, len(others)
    for one in ones:
        place = bisect_right(others, one, place)
        if place == count or others[place] - one > bound:
            return None
        if others[place] - one > longest:
            longest = others[place] - one
    return longest


def _find_dropped(
    found: dict[Pair, Observed], number: int, folds: int, judged: Iterable[tuple[Pair, int | None]]
) -> list[Pair]:
    """Notes what a trace says about the candidates; gives those that are broken in two folds and so never learned."""
    dropped = []
    for pair, longest in judged:
        candidate = found[pair]
        if longest is None:
            if candidate.broken and fold_of(candidate.broken[0], folds) != fold_of(number, folds):
                dropped.append(pair)
            candidate.broken.append(number)
        elif longest >= 0:
            candidate.longest[number] = longest
    return dropped
