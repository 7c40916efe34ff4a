"""Quantifies a cluster in continuous time: how far to look, into how many phases to divide waits, and what follows.

How far: failures in ever rarer states are looked at until the interval is as narrow as asked for. Phases: a wait in one
phase, in two, in four; what the answers tend to is their limit, and how far it is off is estimated, not proved.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kubeproof.errors import LimitReached, NothingToCheckError, UsageError
from kubeproof.intents.catalogue import entry
from kubeproof.intents.declarations import Amount as Count
from kubeproof.quantify.bounds import INTERVAL, NONE
from kubeproof.quantify.clusters.levels import judge_levels
from kubeproof.quantify.clusters.options import (
    AHEAD,
    AMOUNTS,
    EVER,
    FIRST,
    LONG_RUN,
    RECOVERY,
    SHORT,
    WITHIN,
    ClusterOptions,
)
from kubeproof.quantify.clusters.result import (
    Amount,
    ClusterResult,
    IntentChances,
    ProcessSize,
    Shortage,
    Span,
    Value,
    Waits,
)
from kubeproof.quantify.clusters.run import list_not_quantified
from kubeproof.quantify.clusters.shortages import list_ready_intents
from kubeproof.quantify.clusters.sums import UNITS
from kubeproof.quantify.rates.limit import EXTRAPOLATED, Estimate, find_limit
from kubeproof.quantify.rates.model import Found, Key, RatedModel
from kubeproof.quantify.rates.space import explore_rated
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kubeproof.manifests.loaded import Loaded
    from kubeproof.quantify.clusters.space import Report, Space

    Floats = NDArray[np.float64]

RARITIES = (20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120)  # tenths of powers of ten of a share of time
PHASES = ((2, 800), (4, 300), (8, 40))  # that follow one phase, with the timed states up to which they are asked
CHEAP = 5000  # states, up to which it is looked further than it must
MOST_STATES = 400_000  # of one process, unless --max-states says otherwise
ROUNDED = 1e-9  # relative: what rounding may do, amply
PART = 0.25  # of the width of an interval: how far it may shift beside one with other phases
CLOSE = 1.02  # bounds whose ratio is less change little with phases
WIDTH = 0.005  # relative, of an interval that is narrow enough
RARER = "too rare to tell: at most {most:.2g}; allow more states with --max-states"


@dataclass(frozen=True, slots=True)
class Look:
    """The answers for waits in so many phases, looked at up to so rare states."""

    phases: int
    rarest: int
    space: Space
    model: RatedModel
    found: dict[Key, Found]


class RatedRun:
    """Looks at one input as often as it takes."""

    def __init__(self, loaded: Loaded, options: ClusterOptions, progress: Report) -> None:
        self._loaded, self._options, self._progress = loaded, options, progress
        self.horizon_s = options.horizon_s or loaded.scenario.quantify.horizon_s
        self._looks: dict[tuple[int, int], Look | None] = {}
        self._problem: LimitReached | None = None

    def look(self, phases: int, rarest: int) -> Look | None:
        """The answers, unless there are too many states."""
        key = (phases, rarest)
        if key not in self._looks:
            try:
                self._looks[key] = self._look(*key)
            except LimitReached as problem:
                self._looks[key], self._problem = None, problem
        return self._looks[key]

    def _look(self, phases: int, rarest: int) -> Look:
        self._options.tell(f"waits in {phases} phases, states down to 1e-{rarest // 10} of the time")
        limits = replace(self._options.space, max_states=self._options.space.max_states or MOST_STATES)
        space = explore_rated(self._loaded, limits, phases, rarest, self._progress)
        model = RatedModel(space, self._loaded.scenario, self._options, self.horizon_s, has_errors=phases == 1)
        return Look(phases, rarest, space, model, dict(model.answers()))

    def widest(self) -> Look:
        """The look that goes far enough, or as far as there are not too many states."""
        last: Look | None = None
        for rarest in RARITIES:
            found = self.look(1, rarest)
            if found is None or (last is not None and len(found.found) < len(last.found)):
                break
            last, before = found, last
            is_enough = (
                all(map(_is_narrow, _main(found).values())) and found.space.states > CHEAP and before is not None
            )
            if found.model.is_whole or is_enough:
                break
        if last is None:
            raise self._problem or LimitReached("E302 no process was looked at.")
        return last

    def settle(self, key: Key, found: Found) -> Found:
        """The answer; where nothing bounds it, with how much it moved when it was looked further."""
        plain = list(self._plain())
        if len(plain) < 2 or not (np.isnan(found.lower) | np.isnan(found.upper)).any():
            return found
        finite = np.isfinite(found.value)
        moved = np.abs(np.where(finite, found.value, 0.0) - np.where(finite, plain[-2].found[key].value, 0.0))
        return Found(found.value, found.value - moved, found.value + moved, is_estimate=True)

    def in_phases(self, wide: Look) -> list[tuple[Look, Look]]:
        """Looks with more phases, each beside the one with one phase that goes as far.

        How far they go matters little to what they are for: how the answers change with phases.
        """
        plain = list(self._plain())
        far = next((n for n, look in enumerate(plain) if _main(look).keys() == _list_seen(look)), len(plain) - 1)
        chosen = [wide] if wide.space.states <= CHEAP else plain[far::-1]
        pairs: list[tuple[Look, Look]] = []
        for phases, most in PHASES:
            small = (look for look in chosen if look.model.timed_states <= most)
            looks = ((self.look(phases, look.rarest), look) for look in small)
            pair = next(((found, look) for found, look in looks if found is not None and not found.model.problem), None)
            if pair is None:
                break
            pairs.append(pair)
        return pairs

    def _plain(self) -> Iterator[Look]:
        """The looks with one phase, the least far first."""
        found = (self._looks.get((1, rarest)) for rarest in RARITIES)
        return (look for look in found if look is not None)


def _main(look: Look) -> dict[Key, Found]:
    """The answers that decide how far to look: those on the way to the horizon are as good as they are."""
    return {key: found for key, found in look.found.items() if key[0] != AHEAD}


def _list_seen(look: Look) -> set[Key]:
    """The questions to which the answer is known well enough to compare it."""
    return {key for key, found in _main(look).items() if not bool((_fill(found) > CLOSE * found.lower).any())}


def _fill(found: Found) -> Floats:
    return np.where(np.isnan(found.upper), found.lower, found.upper)


def _is_narrow(found: Found) -> bool:
    known = ~np.isnan(found.upper) & np.isfinite(found.upper)
    return bool((found.upper[known] - found.lower[known] <= WIDTH * found.upper[known]).all())


def quantify_rates(
    loaded: Loaded, options: ClusterOptions = ClusterOptions(), progress: Report = None
) -> ClusterResult:
    """The answers to all questions about one input, in continuous time."""
    if options.exact:
        raise UsageError("--exact computes with fractions, which continuous time has none of", "Leave out --rates.")
    run = RatedRun(loaded, options, progress)
    wide = run.widest()
    if options.at_most is not None and not wide.space.plan.monitors:
        raise NothingToCheckError("E301 --at-most has nothing to judge: the Scenario has no safety intent.")
    pairs = run.in_phases(wide)
    spans = {key: _span(key, run.settle(key, found), pairs) for key, found in wide.found.items()}
    for key in wide.model.asked:
        spans.setdefault(key, Span(skipped=wide.model.problem))
    return _result(run, loaded, options, wide, pairs, spans)


def _result(
    run: RatedRun,
    loaded: Loaded,
    options: ClusterOptions,
    wide: Look,
    pairs: list[tuple[Look, Look]],
    spans: dict[Key, Span],
) -> ClusterResult:
    scenario = loaded.scenario
    shortages = tuple(_shortages(loaded, spans))
    amounts = tuple(Amount(name, UNITS[name], span) for (what, name), span in spans.items() if what == AMOUNTS)
    return ClusterResult(
        scenario=scenario.name,
        order="uniform",
        horizon_s=run.horizon_s,
        tick_s=scenario.quantify.tick_s,
        size=_size(wide),
        intents=tuple(_intents(wide, spans, options.moments(run.horizon_s))),
        amounts=amounts,
        shortages=shortages,
        levels=judge_levels(scenario.levels, shortages, amounts, run.horizon_s, is_vague_open=True),
        open_events=(),
        not_quantified=tuple(list_not_quantified(scenario, wide.space.plan.layout, options)),
        files=loaded.files,
        at_most=options.at_most,
        waits=Waits(
            tuple(look.phases for look, _ in pairs if look.found),
            10.0 ** (-wide.rarest / 10),
            is_whole=wide.model.is_whole,
        ),
    )


def _size(wide: Look) -> ProcessSize:
    return ProcessSize(
        states=wide.space.states,
        transitions=wide.space.store.transitions,
        process_states=wide.model.timed_states,
        choices=wide.model.timed_states,
        entries=wide.model.moves,
        explore_s=wide.space.elapsed_s,
        build_s=0.0,
        hand_over_s=0.0,
    )


def _intents(wide: Look, spans: dict[Key, Span], moments: tuple[int, ...]) -> Iterator[IntentChances]:
    for number, monitor in enumerate(wide.space.plan.monitors):
        intent, key = monitor.intent, str(number)
        yield IntentChances(
            entry(intent.key).id,
            intent.name,
            intent.key,
            intent.target or "",
            intent.source,
            within=spans.get((WITHIN, key)),
            ever=spans.get((EVER, key)),
            first_s=spans.get((FIRST, key)),
            over_time=tuple((s, span) for s in moments if (span := spans.get((AHEAD, f"{key} {s}"))) is not None),
        )


def _shortages(loaded: Loaded, spans: dict[Key, Span]) -> Iterator[Shortage]:
    for intent in list_ready_intents(loaded.scenario):
        share, within, recovery = (spans.get((what, intent.name)) for what in (LONG_RUN, SHORT, RECOVERY))
        if share or within or recovery:
            yield Shortage(intent.name, str(intent.target), str(intent.count or Count(1)), share, within, recovery)


def _span(key: Key, found: Found, pairs: list[tuple[Look, Look]]) -> Span:
    """The answer where waits have so many phases that their lengths are certain."""
    most = 1.0 if key[0] in (WITHIN, AHEAD, EVER, SHORT, LONG_RUN) else np.inf
    values = [_value(number, key, found, pairs, most) for number in range(len(found.value))]
    if any(value is None for value in values):
        return Span(skipped=RARER.format(most=float(found.upper.max())))
    known = sorted((value for value in values if value is not None), key=lambda value: value.value)
    return Span(known[0], known[-1])


def _value(number: int, key: Key, found: Found, pairs: list[tuple[Look, Look]], most: float) -> Value | None:
    value, lower, upper = (float(each[number]) for each in (found.value, found.lower, found.upper))
    if value == 0 == upper or np.isinf(value):
        return Value(value, value, value, INTERVAL, 0.0)
    if lower <= 0:
        return None
    estimate = _ratio(number, key, pairs)
    if estimate is None:
        return Value(value, None, None, NONE, 0.0)
    value = min(most, value * estimate.ratio)
    if np.isnan(upper) or np.isnan(lower):
        return Value(value, None, None, NONE, 0.0)
    low, high = lower * (estimate.ratio - estimate.error), upper * (estimate.ratio + estimate.error)
    guarantee = EXTRAPOLATED if estimate.is_moved or found.is_estimate else INTERVAL
    return Value(
        value, max(0.0, min(low, value * (1 - ROUNDED))), min(most, max(high, value * (1 + ROUNDED))), guarantee, 0.0
    )


def _ratio(number: int, key: Key, pairs: list[tuple[Look, Look]]) -> Estimate | None:
    """The limit of the answers with more and more phases, relative to that with one."""
    ratios: list[tuple[int, float]] = []
    found: list[Estimate] = []
    vague = 0.0
    for look, plain in pairs:
        if key not in look.found or key not in plain.found:
            continue
        one, divided = plain.found[key], float(look.found[key].value[number])
        value, lower, upper = (float(each[number]) for each in (one.value, one.lower, _fill(one)))
        if value > 0 and np.isfinite(divided) and not lower <= 0:
            ratios.append((look.phases, divided / value))
            vague = max(vague, 0.0 if np.isnan(lower) else PART * (upper - lower) / value)
            estimate = find_limit(ratios, vague)
            found += [] if estimate is None else [estimate]
    return min(found, key=lambda estimate: estimate.error, default=None)
