"""Races of settings on a subject whose costs and promises are formulas."""

from random import Random

import pytest

from kubeproof.simulate.outcome import IntentOutcome
from kubeproof.stop import Stop
from kubeproof.tune.guessing import Known, first_settings, next_setting
from kubeproof.tune.racing import FIRST_RUNS, Budget, Race, is_dearer
from kubeproof.tune.space import Knob, Space
from kubeproof.tune.subject import Measure, RefusedSetting
from kubeproof.verdicts import Verdict

SPACE = Space(
    (Knob("pods", tuple("0123456789"), 7), Knob("target", tuple("01234"), 2), Knob("nodes", tuple("1234"), 2))
)


def measure(costs, margin, verdict=None):
    verdict = verdict or (Verdict.SAMPLED_OK if margin >= 0 else Verdict.VIOLATED)
    return Measure(tuple(costs), (IntentOutcome("P001", "responseTime", "", verdict, ""),), margin)


class Formula:
    """A promise that needs pods and nodes; both cost, and luck is the same for all settings."""

    space = SPACE

    def __init__(self, most_runs=1, refuses=lambda setting: False):
        self.most_runs, self.made, self._refuses = most_runs, {}, refuses

    def run(self, setting, runs):
        if self._refuses(setting):
            raise RefusedSetting("E202 no. Not so.")
        self.made[setting] = max(runs, self.made.get(setting, 0))
        return self.measure(setting, runs)

    def measure(self, setting, runs):
        pods, target, nodes = setting
        kept = (pods - 0.5 * target + 1.5 * nodes - 5.2) / 5
        cost = 10 * nodes + pods + 0.7 * (4 - target)
        return measure([cost * (1 + 0.01 * Random(number).random()) for number in range(runs)], kept)

    def run_again(self, setting, runs):
        return self.run(setting, runs)

    def cheapest(self):
        kept = [(one.cost, setting) for setting in self.space.all() if (one := self.measure(setting, 1)).margin >= 0]
        return min(kept)[1]


def race_of(subject, settings=20, runs=1000, seed=0):
    race = Race(subject, Budget(settings, runs), Random(seed), Stop())
    race.run()
    return race


@pytest.mark.parametrize("seed", range(5))
def test_a_tenth_of_the_settings_is_enough_to_find_the_cheapest_that_keeps_its_promise(seed):
    subject = Formula()

    race = race_of(subject, seed=seed)

    assert SPACE.size == 200
    assert race.best() == subject.cheapest()
    assert len(race.measured) <= 20
    assert race.runs == len(race.measured)


def test_settings_that_cannot_win_get_few_runs():
    subject = Formula(most_runs=16)

    race = race_of(subject, settings=20)

    losers = [setting for setting in race.measured if race.measured[setting].verdict == Verdict.VIOLATED]
    assert losers
    assert {subject.made[setting] for setting in losers} == {FIRST_RUNS}
    assert subject.made[race.best()] == 16
    assert race.runs < 20 * 16 / 2
    assert race.runs == sum(subject.made.values())


def test_a_race_keeps_to_its_budget_of_runs():
    race = race_of(Formula(most_runs=16), settings=100, runs=30)

    assert race.runs <= 30
    assert race.ended_by == "the budget is spent"


def test_a_refused_setting_is_never_best_and_is_told():
    subject = Formula(refuses=lambda setting: setting[0] < 6)

    race = race_of(subject, settings=25)

    assert all(setting[0] >= 6 for setting in race.measured)
    assert all(setting[0] < 6 and "Not so" in why for setting, why in race.refused.items())
    assert race.best()[0] >= 6


def test_a_race_of_refused_settings_ends():
    race = race_of(Formula(refuses=lambda setting: True), settings=5)

    assert race.best() is None
    assert len(race.refused) == SPACE.size


def test_of_settings_that_cost_the_same_the_one_that_changes_least_is_best():
    race = race_of(Formula(), settings=3)
    race.measured = {(1, 1, 1): measure([10.0], 1), (7, 2, 1): measure([10.001], 1), (7, 2, 2): measure([12.0], 1)}

    assert race.ranked() == [(7, 2, 1), (1, 1, 1), (7, 2, 2)]


def test_what_is_open_or_broken_is_not_ranked():
    race = race_of(Formula(), settings=1)
    race.measured = {(0, 0, 0): measure([1.0], 1, Verdict.UNKNOWN), (1, 0, 0): measure([2.0], -1)}

    assert race.best() is None


def test_a_setting_is_dearer_by_runs_that_met_the_same_luck():
    noisy = [10.0, 20.0, 15.0, 12.0]

    assert is_dearer(measure([cost + 0.5 for cost in noisy], 1), measure(noisy, 1))
    assert not is_dearer(measure([cost - 0.5 for cost in noisy], 1), measure(noisy, 1))
    assert is_dearer(measure([2.0], 1), measure([1.0, 5.0], 1))


def test_the_first_settings_have_what_is_and_lie_apart():
    first = first_settings(SPACE, Random(1))

    assert first[0] == SPACE.current
    assert len(first) == len(set(first)) == 6
    assert {(0, 0, 0), (9, 4, 3)} & set(first)


def test_of_a_space_too_large_to_list_a_sample_and_neighbours_are_looked_at():
    space = Space(tuple(Knob(str(at), tuple(map(str, range(20))), 0) for at in range(5)))
    known = {(10,) * 5: Known(50.0, 0.5), (0,) * 5: Known(0.0, -1.0), (19,) * 5: Known(95.0, 1.0)}

    guess = next_setting(space, known, set(), Random(0))

    assert guess.setting not in known
    assert guess.gain > 0
    assert sum(guess.setting) < 60


def test_nothing_is_left_of_a_space_that_was_looked_at():
    space = Space((Knob("a", ("1", "2"), 0),))

    assert next_setting(space, {(0,): Known(1, 1), (1,): Known(2, 1)}, set(), Random(0)) is None
