"""A guess of what has not been run: Gaussian processes of the cost and of how well promises are kept.

Both are functions of few numbers, of which some tens of values are known: a linear trend with a smooth deviation, whose
reach in each direction is the most likely one. What to run next is where a cheaper setting that keeps all promises
is most to be expected (expected improvement times the probability that promises are kept).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import erf, pi, sqrt
from random import Random
from typing import Any

from kubeproof.named_tuples import NamedTuple
from kubeproof.simulate.serving.numbers import numpy
from kubeproof.tune.space import MOST_LISTED, Setting, Space

REACHES = (0.15, 0.3, 0.6, 1.2, 2.4, 4.8)
NOISE = 1e-4  # of the variance
TREND = 4.0  # variance of the slope, of values whose variance is 1
ROUNDS = 2  # in which reaches are fitted one after the other


class Known(NamedTuple):
    """What runs of a setting gave."""

    cost: float
    margin: float  # by how much the promise is kept that is kept least; below zero: broken


class Process:
    """A Gaussian process through known values."""

    def __init__(self, places: Any, values: Sequence[float]) -> None:
        np = numpy()
        self._places = places
        known = np.asarray(values, dtype=float)
        self._mean, self._scale = float(known.mean()), float(known.std()) or 1.0
        self._values = (known - self._mean) / self._scale
        self._reaches = np.full(places.shape[1], 0.6)
        self._fit()

    def _fit(self) -> None:
        best = self._likelihood(self._reaches)
        for _ in range(ROUNDS):
            for at in range(len(self._reaches)):
                for reach in REACHES:
                    tried = self._reaches.copy()
                    tried[at] = reach
                    found = self._likelihood(tried)
                    if found > best:
                        best, self._reaches = found, tried
        np = numpy()
        lower = np.linalg.cholesky(self._covariance(self._places, self._places, self._reaches, has_noise=True))
        self._lower = lower
        self._weights = np.linalg.solve(lower.T, np.linalg.solve(lower, self._values))

    def _likelihood(self, reaches: Any) -> float:
        np = numpy()
        lower = np.linalg.cholesky(self._covariance(self._places, self._places, reaches, has_noise=True))
        half = np.linalg.solve(lower, self._values)
        return float(-0.5 * half @ half - np.log(np.diag(lower)).sum() - 0.05 * (np.log(reaches) ** 2).sum())

    @staticmethod
    def _covariance(some: Any, others: Any, reaches: Any, *, has_noise: bool = False) -> Any:
        np = numpy()
        gaps = (some[:, None, :] - others[None, :, :]) / reaches
        found = np.exp(-0.5 * (gaps**2).sum(axis=2)) + TREND * ((some - 0.5) @ (others - 0.5).T)
        return found + NOISE * np.eye(len(some)) if has_noise else found

    def predict(self, places: Any) -> tuple[Any, Any]:
        """Means and standard deviations there."""
        np = numpy()
        across = self._covariance(places, self._places, self._reaches)
        own = 1.0 + TREND * ((places - 0.5) ** 2).sum(axis=1)
        part = np.linalg.solve(self._lower, across.T)
        spread = np.sqrt(np.maximum(1e-12, own - (part**2).sum(axis=0)))
        return self._mean + self._scale * (across @ self._weights), self._scale * spread


def first_settings(space: Space, rng: Random) -> list[Setting]:
    """With what to begin: what the input has, the middle, and a few that lie far apart."""
    most = min(space.size, len(space.knobs) + 3)
    chosen = [space.current]
    middle = tuple(len(knob.values) // 2 for knob in space.knobs)
    chosen += [] if middle in chosen else [middle]
    pool = list(space.all()) if space.size <= MOST_LISTED else [space.draw(rng) for _ in range(MOST_LISTED)]
    rng.shuffle(pool)
    while len(chosen) < most:
        chosen.append(max(pool, key=lambda setting: min(_gap(space, setting, other) for other in chosen)))
    return list(dict.fromkeys(chosen))


def _gap(space: Space, one: Setting, other: Setting) -> float:
    return sum((a - b) ** 2 for a, b in zip(space.place(one), space.place(other), strict=True))


class Guess(NamedTuple):
    """A setting to run next, and how much cheaper it is expected to be, in parts of the best cost."""

    setting: Setting
    gain: float


def next_setting(space: Space, known: Mapping[Setting, Known], refused: set[Setting], rng: Random) -> Guess | None:
    """The most promising setting that has not been run; None if there is none."""
    np = numpy()
    left = _list_left(space, known, refused, rng)
    if not left:
        return None
    places = np.array([space.place(setting) for setting in known])
    wanted = np.array([space.place(setting) for setting in left])
    kept, spread = Process(places, [one.margin for one in known.values()]).predict(wanted)
    chance = _below(kept / spread)
    best = min((one.cost for one in known.values() if one.margin >= 0), default=None)
    if best is None:
        at = int(np.argmax(kept + spread))
        return Guess(left[at], 1.0)
    cost, unsure = Process(places, [one.cost for one in known.values()]).predict(wanted)
    z = (best - cost) / unsure
    gain = ((best - cost) * _below(z) + unsure * np.exp(-0.5 * z * z) / sqrt(2 * pi)) * chance
    at = int(np.argmax(gain))
    return Guess(left[at], float(gain[at]) / max(abs(best), 1e-12))


def _list_left(space: Space, known: Mapping[Setting, Known], refused: set[Setting], rng: Random) -> list[Setting]:
    if space.size <= MOST_LISTED:
        return [setting for setting in space.all() if setting not in known and setting not in refused]
    kept = [setting for setting, one in known.items() if one.margin >= 0] or list(known)
    near = [
        other for setting in sorted(kept, key=lambda each: known[each].cost)[:8] for other in space.neighbours(setting)
    ]
    pool = dict.fromkeys([*near, *(space.draw(rng) for _ in range(MOST_LISTED // 2))])
    return [setting for setting in pool if setting not in known and setting not in refused]


def _below(z: Any) -> Any:
    """The standard normal distribution function."""
    np = numpy()
    return np.array([0.5 * (1 + erf(each / sqrt(2))) for each in z])
