"""When things happen that may happen within a range of time: each moment is drawn once, all equally likely.

Loops named with a period act in rounds that begin with the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random

from kubeproof.simulate.control.walk import Key, Option, Taken, Walk


class Moments:
    """The drawn moments of what may happen, in whole seconds."""

    def __init__(self, rng: Random, periods_s: Mapping[str, int] | None = None) -> None:
        self._rng = rng
        self._periods_s = periods_s or {}
        self._moments: dict[Key, int] = {}
        self._options: dict[Key, Option] = {}

    def next_s(self, walk: Walk) -> int | None:
        """The next moment at which the model or a draw wants time to stop; None if nothing is under way."""
        self._look(walk)
        due_s = walk.due_s()
        moments = [self._moments[key] for key in self._options]
        if due_s is not None:
            moments.append(walk.now_s + due_s)
        return min(moments, default=None)

    def _look(self, walk: Walk) -> None:
        """Draws a moment for everything that has become possible, and forgets what is not possible any more."""
        self._options = {option.key: option for option in walk.options()}
        self._moments = {
            key: self._moments[key] if key in self._moments else self.draw(walk, option)
            for key, option in self._options.items()
        }

    def draw(self, walk: Walk, option: Option) -> int:
        """The moment of one possibility: any until its deadline, or the next round of who acts in rounds."""
        period_s = self._periods_s.get(option.onlooker.controller.name)
        if period_s is not None:
            return min(option.deadline_s, -(-walk.now_s // period_s) * period_s)
        return self._rng.randint(walk.now_s, max(walk.now_s, option.deadline_s))

    def take_due(self, walk: Walk) -> Iterator[Taken]:
        """Lets happen what was to happen by now; each step may change what else is possible."""
        while True:
            self._look(walk)
            due = [option for key, option in self._options.items() if self._moments[key] <= walk.now_s]
            taken = None
            while due and taken is None:
                option = due.pop(self._rng.randrange(len(due)))
                taken = walk.take(option.onlooker, option.decision)
            if taken is None:
                return
            yield taken
            yield from walk.settle()


def run_until_stable(walk: Walk, most_s: int) -> Iterator[Taken]:
    """Steps until only events could go on, or until so much time has passed."""
    moments = Moments(walk.rng)
    while True:
        yield from walk.settle()
        next_s = moments.next_s(walk)
        if next_s is None or walk.now_s >= most_s:
            return
        if next_s > walk.now_s and (taken := walk.pass_time(next_s - walk.now_s)) is not None:
            yield taken
            yield from walk.settle()
        yield from moments.take_due(walk)
