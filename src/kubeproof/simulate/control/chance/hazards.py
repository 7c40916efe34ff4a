"""Events that have a probability: when the next one happens, and which."""

from __future__ import annotations

from collections.abc import Iterator
from math import log

from kubeproof.cluster.loops.control import Decision, Role, Stage
from kubeproof.events.common import ends_earlier
from kubeproof.events.rates import event_rate, share_of
from kubeproof.simulate.control.measuring.views import Onlooker
from kubeproof.simulate.control.walk import Taken, Walk

Threat = tuple[Onlooker, Decision, float]


class Hazards:
    """The events of a plan that have a rate; a rate means the same as for `quantify`.

    With a boost failures come so many times as often as they should, and `log_weight` says by how much the run counts:
    the likelihood of what was drawn under the true rates by that under the boosted ones (importance sampling).
    """

    def __init__(self, walk: Walk, tick_s: int, steered: frozenset[int], boost: float = 1.0) -> None:
        self._walk = walk
        self._tick_s = tick_s
        self._boost = boost
        self.log_weight = 0.0
        self.expected = 0.0  # failures so far, at the true rates
        self._events = tuple(
            one for one in walk.events if id(one.controller) not in steered and _has_rate(one)
        )  # steered ones happen when a timetable or a measurement says so

    def draw(self, most_s: float) -> tuple[float, Threat] | None:
        """How long it takes until the next event, and which; None if none happens within `most_s`."""
        threats = list(self._threats())
        rates = [rate * self._boost if _is_failure(one, decision) else rate for one, decision, rate in threats]
        total = sum(rates)
        if total <= 0:
            return None
        failing = sum(rate for one, decision, rate in threats if _is_failure(one, decision))
        wait_s = self._walk.rng.expovariate(total)
        self.expected += failing * min(wait_s, most_s)
        self.log_weight += (self._boost - 1) * failing * min(wait_s, most_s)
        if wait_s >= most_s:
            return None
        (chosen,) = self._walk.rng.choices(threats, rates)
        if _is_failure(chosen[0], chosen[1]):
            self.log_weight -= log(self._boost)
        return wait_s, chosen

    def _threats(self) -> Iterator[Threat]:
        for one in self._events:
            if one.controller.stage == Stage.CALM and not self._walk.is_stable():
                continue
            yield from self._of(one)

    def _of(self, one: Onlooker) -> Iterator[Threat]:
        level = one.seen.memories[0][0] if one.seen.memories else 0
        ways = {d: self._walk.model.ways(one.controller, self._walk.state, d) for d in one.decisions}
        everything = sum(ways.values())
        for decision, number in ways.items():
            if decision.role == Role.EVENT and number:
                rate = event_rate(one.controller, decision, level, self._tick_s)
                if rate is not None:
                    yield one, decision, rate.per_s * number * share_of(rate, everything)

    def take(self, threat: Threat) -> Iterator[Taken]:
        """Lets it happen, if it still may: clocks may have run out since it was drawn."""
        one, decision, _ = threat
        if one.controller.stage == Stage.CALM:
            if not self._walk.is_stable():
                return
            rested = self._walk.rest()  # what comes to a cluster at rest finds its loops in any phase
            yield from () if rested is None else (rested,)
        if decision not in one.decisions:
            again = [d for d in one.decisions if d.role == Role.EVENT and _is_alike(d, decision)]
            if not again:
                return
            decision = self._walk.rng.choice(again)
        taken = self._walk.take(one, decision)
        yield from () if taken is None else (taken,)


def _is_failure(one: Onlooker, decision: Decision) -> bool:
    """True for what a chance begins; not for recoveries, nor for usage that moves between levels."""
    event = getattr(getattr(one.controller, "source", None), "event", None)
    if event is None or event.level_count or event.chance is None:
        return False
    return not ends_earlier(one.controller, decision)


def _is_alike(one: Decision, other: Decision) -> bool:
    return type(one.actions[0]) is type(other.actions[0])


def _has_rate(one: Onlooker) -> bool:
    event = getattr(getattr(one.controller, "source", None), "event", None)
    return event is not None and (event.chance is not None or event.recovery is not None or event.moves is not None)
