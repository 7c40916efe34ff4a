"""What an autoscaler will do while its metrics ask for the same: the syncs to come, one period after the other.

Nothing here knows the pods. What the metrics ask for, the history and the spec decide alone, so that what was worked
out for one cluster holds for every other that asks for the same.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import field
from functools import lru_cache

from kubeproof.cluster.loops.memories import Holds, MemoryKind
from kubeproof.cluster.state import NEVER
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler
from kubeproof.controllers.hpa.behavior import behavior_of
from kubeproof.controllers.hpa.calculator import Failure
from kubeproof.controllers.hpa.combine import find_forced
from kubeproof.controllers.hpa.decide import Judged, ScaleDecision, conclude, never_acts
from kubeproof.controllers.hpa.history import History, Recommendation, ScaleEvent
from kubeproof.controllers.hpa.history import later as aged
from kubeproof.controllers.hpa.settings import AutoscalerSettings
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

REMEMBERS = MemoryKind("autoscaler", Holds.TIMES)
NO_HISTORY = -1
FOREVER = 2**63  # more syncs than any wait holds


class Asked(NamedTuple):
    """What a sync decides on, its history aside: spec.replicas, and the metrics' proposal if they are looked at."""

    current: int
    proposal: int | Failure | None


class Memory(NamedTuple):
    """The loop's memory, unpacked."""

    least_s: int
    most_s: int
    history: History
    is_known: bool = False  # to rivals, by its target's selector; kept only where there are some

    def pack(self) -> tuple[int, ...]:
        """As plain numbers."""
        recommendations = self.history.recommendations
        count = NO_HISTORY if recommendations is None else len(recommendations)
        entries = (*(recommendations or ()), *self.history.scale_events)
        return (
            self.least_s,
            self.most_s,
            int(self.is_known),
            count,
            *(number for entry in entries for number in entry),
        )


@lru_cache(maxsize=10_000)
def unpack(numbers: tuple[int, ...]) -> Memory:
    """The memory from plain numbers."""
    least_s, most_s, known, count, *rest = numbers
    pairs = list(zip(rest[::2], rest[1::2], strict=True))
    split = max(count, 0)
    recommendations = None if count == NO_HISTORY else tuple(Recommendation(*pair) for pair in pairs[:split])
    history = History(recommendations, tuple(ScaleEvent(*pair) for pair in pairs[split:]))
    return Memory(least_s, most_s, history, bool(known))


def first_memory(period_s: int, *, is_known: bool = False) -> tuple[int, ...]:
    """Before the first sync, which comes within a period."""
    return Memory(0, period_s, History(), is_known).pack()


@dataclass(frozen=True, slots=True)
class Recall:
    """What an autoscaler has worked out; holds for every cluster that `model.shared.recall_of` gives it to."""

    proposals: dict[object, Judged] = field(default_factory=dict)
    outcomes: dict[object, ScaleDecision] = field(default_factory=dict)
    acting: dict[object, int] = field(default_factory=dict)
    memories: dict[object, tuple[int, ...]] = field(default_factory=dict)


class LookAhead:
    """The syncs of one autoscaler, remembered in `recall`: many clusters ask for the same."""

    def __init__(self, autoscaler: HorizontalPodAutoscaler, settings: AutoscalerSettings, recall: Recall) -> None:
        self._autoscaler = autoscaler
        self._settings = settings
        self._recall = recall
        self._period_s = settings.sync_period_s
        self._windows_s, self._periods_s = _ends(autoscaler, settings)

    def outcome(self, asked: Asked, history: History) -> ScaleDecision:
        """What one sync makes of it."""
        key = asked, history
        if key not in self._recall.outcomes:
            self._recall.outcomes[key] = conclude(self._autoscaler, *asked, history, self._settings)
        return self._recall.outcomes[key]

    def due(self, asked: Asked, memory: Memory) -> int:
        """Seconds until the first sync that changes the size; the deadline where the phase is open."""
        return memory.most_s if self._may_act_now(asked, memory) else self._first_acting(asked, memory)

    def later(self, asked: Asked, numbers: tuple[int, ...], seconds: int | None) -> tuple[int, ...]:
        """The memory after syncs that change nothing; at rest, if no seconds are given."""
        key = asked, numbers, seconds
        if key not in self._recall.memories:
            memory = unpack(numbers)
            aged_memory = self._age(asked, memory, seconds)
            self._recall.memories[key] = aged_memory._replace(is_known=memory.is_known).pack()
        return self._recall.memories[key]

    def _age(self, asked: Asked, memory: Memory, seconds: int | None) -> Memory:
        if seconds is not None and self._may_act_now(asked, memory):
            return Memory(0, memory.most_s - seconds, aged(memory.history, seconds))
        is_open = memory.least_s < memory.most_s
        if seconds is None or (is_open and self._first_acting(asked, memory) == NEVER):
            return Memory(0, self._period_s, self._rest(asked, memory, seconds))
        next_s, history = self._catch_up(asked, memory, seconds)
        return Memory(next_s - seconds, next_s - seconds, history)

    def _may_act_now(self, asked: Asked, memory: Memory) -> bool:
        is_open = memory.least_s == 0 < memory.most_s
        return is_open and self.outcome(asked, memory.history).replicas != asked.current

    def _first_acting(self, asked: Asked, memory: Memory) -> int:
        """Seconds until the first sync that changes the size."""
        if never_acts(self._autoscaler, asked.current, asked.proposal):
            return NEVER
        key = asked, memory
        if key not in self._recall.acting:
            self._recall.acting[key] = self._look_ahead(asked, memory)
        return self._recall.acting[key]

    def _look_ahead(self, asked: Asked, memory: Memory) -> int:
        before: History | None = None
        for time_s, outcome in self.syncs(asked, memory):
            if outcome.replicas != asked.current:
                return time_s
            if outcome.history == before:
                return NEVER
            before = outcome.history
        return NEVER

    def _rest(self, asked: Asked, memory: Memory, seconds: int | None) -> History:
        """The history after idle syncs: those within `seconds`, or as many as still change it."""
        history = memory.history
        for time_s, outcome in self.syncs(asked, memory, seconds):
            if seconds is not None and time_s > seconds:
                return history
            if outcome.history == history:
                return history
            history = outcome.history
        return history

    def _catch_up(self, asked: Asked, memory: Memory, seconds: int) -> tuple[int, History]:
        """When the first sync after `seconds` is (or the acting one at that moment), and the history by then."""
        history = aged(memory.history, seconds)
        for time_s, outcome in self.syncs(asked, memory, seconds):
            acts = outcome.replicas != asked.current
            if time_s > seconds or (time_s == seconds and acts):
                return time_s, history
            history = aged(outcome.history, seconds - time_s)
        raise AssertionError("syncs never end")

    def syncs(self, asked: Asked, memory: Memory, until_s: int | None = None) -> Iterator[tuple[int, ScaleDecision]]:
        """The syncs to come while nothing else changes: when, and with which outcome (reasons may be left out).

        Of equal ones in a row only the last is told: the last until then, if a time is given. It never ends. Each sync
        that is worked out brings an entry of the memory beyond a window, so that their number depends on the entries,
        not on how long the wait is; where no entry is left that ages, the memory repeats, and any wait is one jump.
        """
        time_s = 0 if memory.least_s < memory.most_s else memory.most_s
        outcome = self.outcome(asked, aged(memory.history, time_s))
        while True:
            yield time_s, outcome
            skipped = self.repeats(asked, outcome)
            if until_s is not None:
                skipped = min(skipped, (until_s - time_s) // self._period_s)
            if skipped == FOREVER:
                skipped = 1  # no time given: whoever looks sees that the memory stays the same
            if skipped > 0:
                outcome = self._repeat(asked, outcome, skipped * self._period_s)
            else:
                outcome = self.outcome(asked, aged(outcome.history, self._period_s))
            time_s += max(skipped, 1) * self._period_s

    def repeats(self, asked: Asked, outcome: ScaleDecision) -> int:
        """How many of the next syncs are sure to have this outcome again.

        A sync that changed nothing is followed by equal ones until some entry of the memory leaves a window or a
        period. The newest recommendation is made anew each time, and a change beyond all periods keeps its place
        only; all other entries age.
        """
        others = self._others(asked, outcome.history)
        if outcome.replicas != asked.current or any(each.age_s == 0 for each in others):
            return 0  # of two entries of one age the newest may be missing
        left = [self._count_left(age_s, self._windows_s) for age_s, _ in others]
        ageing = [event.age_s for event in outcome.history.scale_events if not self._is_outdated(event)]
        return min(left + [self._count_left(age_s, self._periods_s) for age_s in ageing], default=FOREVER)

    def _repeat(self, asked: Asked, outcome: ScaleDecision, seconds: int) -> ScaleDecision:
        recommendations, events = outcome.history
        older = tuple(e if self._is_outdated(e) else ScaleEvent(e.age_s + seconds, e.change) for e in events)
        if recommendations is None:
            return ScaleDecision(outcome.replicas, History(None, older), ())
        newest = self._newest(asked)
        kept = (newest,) if newest is not None and newest in recommendations else ()
        others = tuple(Recommendation(age_s + seconds, r) for age_s, r in self._others(asked, outcome.history))
        return ScaleDecision(outcome.replicas, History((*kept, *others), older), ())

    def _is_outdated(self, event: ScaleEvent) -> bool:
        """True if no period reaches back to this change: a sync keeps it, if at all, at this age (`history.pruned`)."""
        return not self._periods_s or event.age_s >= self._periods_s[-1]

    def _others(self, asked: Asked, history: History) -> tuple[Recommendation, ...]:
        newest = self._newest(asked)
        return tuple(each for each in history.recommendations or () if each != newest)

    def _newest(self, asked: Asked) -> Recommendation | None:
        """The recommendation that a sync adds, as a pruned memory keeps it."""
        minimum, maximum = self._autoscaler.min_replicas, self._autoscaler.max_replicas
        if not isinstance(asked.proposal, int) or find_forced(asked.current, minimum, maximum) is not None:
            return None
        return Recommendation(0, min(max(asked.proposal, minimum), maximum))

    def _count_left(self, age_s: int, ends: tuple[int, ...]) -> int:
        """How many syncs come before an entry of this age meets the next of these ages."""
        place = bisect_right(ends, age_s)
        return (ends[place] - age_s - 1) // self._period_s if place < len(ends) else 0


def _ends(autoscaler: HorizontalPodAutoscaler, settings: AutoscalerSettings) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The ages at which a recommendation leaves a window, and those at which a scale event leaves a period; sorted."""
    behavior = behavior_of(autoscaler)
    if behavior is None:
        return (settings.downscale_stabilization_s,), ()
    windows = {behavior.up_window_s, behavior.down_window_s(settings.downscale_stabilization_s)}
    readers = [rules for rules in behavior if rules.select != "Disabled"]
    return tuple(sorted(windows)), tuple(sorted({policy.period_s for rules in readers for policy in rules.policies}))
