"""CronJobs on a clock: a start comes at its time, or when the Job that held it up has ended.

The model lets a start come at any moment from its time on. Where in its schedule a run begins is drawn, and where a
schedule has different gaps each is equally likely to be next.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.actions import Remember
from kubeproof.cluster.loops.control import Decision
from kubeproof.cluster.objects import CronRules
from kubeproof.controllers.workloads.cronjob import Started
from kubeproof.simulate.control.measuring.views import Onlooker
from kubeproof.simulate.control.walk import Taken, Walk


class Schedules:
    """When the CronJobs of a run start their next Jobs."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._crons = tuple(_Cron(one, rules, walk) for one in walk.views.onlookers if (rules := _rules(one)))

    def next_s(self) -> int | None:
        """The next time of a schedule that is still to come."""
        return min((cron.at_s for cron in self._crons if cron.at_s > self._walk.now_s), default=None)

    def take_due(self) -> Iterator[Taken]:
        """Starts what is due and nothing holds up."""
        for cron in self._crons:
            if cron.at_s <= self._walk.now_s:
                taken = cron.start()
                if taken is not None:
                    yield taken
                    yield from self._walk.settle()


class _Cron:
    """One CronJob, and the time of its schedule that comes next or is held up."""

    def __init__(self, one: Onlooker, rules: CronRules, walk: Walk) -> None:
        self._one, self._rules, self._walk = one, rules, walk
        self.at_s = walk.rng.randrange(walk.rng.choice(rules.gaps_s))

    def start(self) -> Taken | None:
        """The start that is due; None if it has to wait, or if there is nobody to start it."""
        decisions = self._one.decisions
        if not decisions:
            shown = self._one.seen.workloads[0]
            if not (isinstance(shown, Started) and shown.is_active):
                self._skip()
            return None
        decision = self._walk.rng.choice(decisions)
        taken = self._walk.take(self._one, decision)
        gap_s = _gap_s(decision)
        if gap_s > 0:
            self.at_s = self._walk.now_s + gap_s
        else:
            self._skip()
        return taken

    def _skip(self) -> None:
        """Goes on to the first time that is still to come."""
        while self.at_s <= self._walk.now_s:
            self.at_s += self._walk.rng.choice(self._rules.gaps_s)


def _rules(one: Onlooker) -> CronRules | None:
    """The rules by which a loop starts Jobs; None for other loops, and for those that start none."""
    rules = getattr(one.controller, "rules", None)
    return rules if isinstance(rules, CronRules) and rules.gaps_s and not rules.suspended else None


def _gap_s(decision: Decision) -> int:
    """What a start writes down as the time until the next: the last thing that it remembers."""
    last = decision.actions[-1]
    assert isinstance(last, Remember)
    return last.value[0]
