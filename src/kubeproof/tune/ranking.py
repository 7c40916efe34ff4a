"""The ranking of a race, as a result tells it."""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.tune.racing import Race
from kubeproof.tune.result import Ranked
from kubeproof.tune.space import Setting, Space
from kubeproof.tune.subject import Measure
from kubeproof.verdicts import Verdict

MOST_SHOWN = 1_000
_ORDER = {Verdict.SAMPLED_OK: 0, Verdict.UNKNOWN: 1, Verdict.VIOLATED: 2}


def rank(race: Race, best: Setting | None) -> tuple[Ranked, ...]:
    """All settings that were looked at, the best first."""
    first = {setting: at for at, setting in enumerate(race.ranked())}

    def order(setting: Setting) -> tuple[int, int, float]:
        one = race.measured[setting]
        return _ORDER[one.verdict], first.get(setting, 0), -one.margin

    chosen: Sequence[Setting] = sorted(race.measured, key=order)
    return tuple(rank_one(race, setting, best) for setting in chosen[:MOST_SHOWN])


def rank_one(race: Race, setting: Setting, best: Setting | None) -> Ranked:
    """One of the settings of a race."""
    return rank_measure(race.space, setting, race.measured[setting], best)


def rank_measure(space: Space, setting: Setting, one: Measure, best: Setting | None) -> Ranked:
    """A setting with what runs of it gave."""
    return Ranked(
        space.describe(setting),
        one.cost,
        one.runs,
        one.verdict,
        one.promises,
        setting == space.current,
        setting == best,
    )


def describe(space: Space, setting: Setting) -> str:
    """A setting in words."""
    return ", ".join(f"{key}={value}" for key, value in space.describe(setting))
