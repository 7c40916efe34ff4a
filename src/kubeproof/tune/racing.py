"""A race of settings: few runs for each, more only for those that may still win.

All settings meet the same luck run by run, so that what tells them apart is seen after few runs. A setting gets more
runs as long as it may be cheaper than the best so far and its promises are neither kept nor broken for sure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from kubeproof.simulate.statistics.intervals import mean_interval
from kubeproof.stop import Stop
from kubeproof.tune.guessing import Guess, Known, first_settings, next_setting
from kubeproof.tune.space import Setting, Space
from kubeproof.tune.subject import Measure, RefusedSetting, Subject
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict

FIRST_RUNS = 2
SURE = 0.9  # that a setting is dearer, before it gets no more runs
HOPELESS = -0.25  # a margin below which a few runs are enough
FEW_RUNS = 4
SAME = 5e-4  # parts of the cost: settings that differ by less cost the same, and less is not worth a run
DULL = 8  # guesses in a row that are worth nothing

Tell = Callable[[int, int], None] | None  # settings looked at, runs made


@dataclass(frozen=True, slots=True)
class Budget:
    """How far a race goes."""

    settings: int
    runs: int


class Race:
    """What has been run, and what comes next."""

    def __init__(self, subject: Subject, budget: Budget, rng: Random, stop: Stop, tell: Tell = None) -> None:
        self._subject, self._budget, self._rng, self._stop, self._tell = subject, budget, rng, stop, tell
        self.measured: dict[Setting, Measure] = {}
        self.refused: dict[Setting, str] = {}
        self.runs = 0
        self.ended_by = "nothing more is expected"

    @property
    def space(self) -> Space:
        """What may be set."""
        return self._subject.space

    def run(self) -> None:
        """Looks at settings until nothing cheaper is to be expected, or the budget is spent."""
        for setting in self._settings():
            if self._stop.is_asked or self._is_spent():
                self.ended_by = "interrupted" if self._stop.is_asked else "the budget is spent"
                return
            try:
                self._measure(setting)
            except RefusedSetting as problem:
                self.refused[setting] = str(problem)
            if self._tell is not None:
                self._tell(len(self.measured), self.runs)

    def _is_spent(self) -> bool:
        first = min(FIRST_RUNS, self._subject.most_runs)
        return len(self.measured) >= self._budget.settings or self.runs + first > self._budget.runs

    def _settings(self) -> Iterator[Setting]:
        yield from first_settings(self._subject.space, self._rng)
        dull = 0
        while dull < DULL:
            guess = self._guess()
            if guess is None:
                self.ended_by = "all settings were looked at"
                return
            dull = dull + 1 if guess.gain < SAME else 0
            yield guess.setting

    def _guess(self) -> Guess | None:
        space = self._subject.space
        known = {setting: Known(one.cost, self._margin(one)) for setting, one in self.measured.items()}
        if not known:
            drawn = space.draw(self._rng)
            return None if len(self.refused) >= space.size else Guess(drawn, 1.0)
        return next_setting(space, known, set(self.refused), self._rng)

    @staticmethod
    def _margin(one: Measure) -> float:
        """Of a setting that was run to the end without being sure: it is not one to choose."""
        return min(one.margin, -1e-3) if one.verdict != Verdict.SAMPLED_OK else max(one.margin, 0.0)

    def _measure(self, setting: Setting) -> None:
        runs = min(FIRST_RUNS, self._subject.most_runs)
        measure = self._run(setting, runs)
        most = self._subject.most_runs
        while self._may_win(measure) and measure.runs < most and not self._stop.is_asked:
            runs = min(most, 2 * measure.runs)
            if self.runs + runs - measure.runs > self._budget.runs:
                return
            measure = self._run(setting, runs)

    def _run(self, setting: Setting, runs: int) -> Measure:
        before = self.measured[setting].runs if setting in self.measured else 0
        measure = self._subject.run(setting, runs)
        self.measured[setting] = measure
        self.runs += measure.runs - before
        return measure

    def _may_win(self, measure: Measure) -> bool:
        if measure.verdict == Verdict.VIOLATED:
            return False
        best = self.best()
        rival = None if best is None else self.measured[best]
        if rival is not None and rival is not measure and is_dearer(measure, rival):
            return False
        if measure.verdict == Verdict.UNKNOWN:
            return measure.runs < FEW_RUNS or measure.margin > HOPELESS
        return True

    def best(self) -> Setting | None:
        """The cheapest setting that keeps all promises so far."""
        return next(iter(self.ranked()), None)

    def ranked(self) -> list[Setting]:
        """The settings that keep all promises, the cheapest first; of equal ones what changes least."""
        cost = {setting: one.cost for setting, one in self.measured.items() if one.verdict == Verdict.SAMPLED_OK}
        kept = sorted(cost, key=lambda each: (cost[each], each))
        same = [each for each in kept if cost[each] - cost[kept[0]] <= SAME * abs(cost[kept[0]])]
        return sorted(same, key=lambda each: (self.space.count_changes(each), cost[each], each)) + kept[len(same) :]


def is_dearer(one: Measure, other: Measure) -> bool:
    """True if it surely is not cheaper than the other by anything that matters, run by run."""
    gaps = [mine - its for mine, its in zip(one.costs, other.costs, strict=False)]
    found = mean_interval(gaps, SURE)
    return (gaps[0] if found is None else found.lower) > -SAME * abs(other.cost)
