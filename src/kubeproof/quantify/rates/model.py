"""One cluster in continuous time, with waits in so many phases and looked at up to so rare states: its answers."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kubeproof.intents.monitor import IN_STABLE, STEP
from kubeproof.quantify.chains.steps import Effects, effects_of, steps_of
from kubeproof.quantify.clusters.options import AHEAD, AMOUNTS, EVER, FIRST, LONG_RUN, RECOVERY, SHORT, WITHIN
from kubeproof.quantify.clusters.shortages import list_ready_intents, list_shortages
from kubeproof.quantify.clusters.sums import rates_of_sums
from kubeproof.quantify.clusters.values import StateValues
from kubeproof.quantify.rates.chain import Moves, RateChain, follow_instants, forget_beyond, moves_of, sum_by
from kubeproof.quantify.rates.endless import may_reach, reach, reach_after, share_of_time
from kubeproof.quantify.rates.lumping import Lumped, lump
from kubeproof.quantify.rates.system import RatedWeights
from kubeproof.quantify.rates.transient import Ahead, TooLarge, look_ahead
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kubeproof.intents.declarations import Intent
    from kubeproof.intents.monitor import Monitor
    from kubeproof.manifests.loaded import Scenario
    from kubeproof.quantify.clusters.options import ClusterOptions
    from kubeproof.quantify.clusters.space import Space

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

Key = tuple[str, str]  # the question, and what it is about


@dataclass(frozen=True, slots=True)
class Found:
    """The answer per first placement, and between which numbers it lies; not numbers where nobody knows."""

    value: Floats
    lower: Floats
    upper: Floats
    is_estimate: bool = False  # what lies between is not proved


class RatedModel:
    """A process with all that is asked about it; without `has_errors` only the values matter, not what bounds them."""

    def __init__(
        self, space: Space, scenario: Scenario, options: ClusterOptions, horizon_s: int, *, has_errors: bool = True
    ) -> None:
        self._has_errors = has_errors
        self._space, self._scenario, self._options, self._horizon_s = space, scenario, options, horizon_s
        self._steps = steps_of(space, RatedWeights(space.system))
        self._effects: Effects = effects_of(space, self._steps, scenario.quantify.tick_s)
        self._moves = moves_of(space, self._steps, self._effects)
        self._values = StateValues(space)
        self.problem = ""  # what was too large

    @property
    def is_whole(self) -> bool:
        """True if nothing was left out."""
        return not self._moves.is_beyond.any()

    @property
    def timed_states(self) -> int:
        """The states in which time passes."""
        return int((~self._moves.is_instant).sum())

    @property
    def moves(self) -> int:
        """The rates between them, before instants are followed."""
        return len(self._moves.rated.row)

    def answers(self) -> Iterator[tuple[Key, Found]]:
        """All that was asked for, and that is not too large."""
        wanted = self._options.questions
        asked: list[Iterator[tuple[Key, Found]]] = []
        if {WITHIN, EVER, FIRST} & set(wanted):
            monitors = enumerate(self._space.plan.monitors)
            asked += [self._ask_intent(number, monitor) for number, monitor in monitors]
        asked += [self._ask_amounts()] if AMOUNTS in wanted else []
        asked += [self._ask_shortages()] if {SHORT, RECOVERY} & set(wanted) else []
        asked += [self._ask_shares()] if LONG_RUN in wanted else []
        for each in asked:
            try:
                yield from each
            except TooLarge as problem:
                self.problem = str(problem)

    @property
    def asked(self) -> tuple[Key, ...]:
        """All questions, answered or not."""
        wanted, intents = self._options.questions, list_ready_intents(self._scenario)
        monitors = range(len(self._space.plan.monitors))
        chances = [(what, str(number)) for number in monitors for what in (WITHIN, EVER, FIRST) if what in wanted]
        amounts = [(AMOUNTS, name) for name in rates_of_sums(self._values, self._scenario) if AMOUNTS in wanted]
        shares = [(what, intent.name) for intent in intents for what in (SHORT, LONG_RUN, RECOVERY) if what in wanted]
        return (*chances, *amounts, *shares)

    def _ask_intent(self, number: int, monitor: Monitor) -> Iterator[tuple[Key, Found]]:
        wanted, key = self._options.questions, str(number)
        moves, bad = self._forbidden(monitor) if monitor.kind == STEP else (self._moves, self._bad(number, monitor))
        beyond = moves.is_beyond
        chain = follow_instants(moves, self._space.initial, bad | beyond)
        small, told = _lump(chain, np.stack((bad, beyond), axis=1))
        hit, left = told[0] > 0, told[1] > 0
        if WITHIN in wanted:
            yield (WITHIN, key), self._within(small, (hit, left), self._horizon_s)
            for seconds in self._options.moments(self._horizon_s):
                yield (AHEAD, f"{number} {seconds}"), self._within(small, (hit, left), seconds)
        if EVER in wanted:
            bounds = _begin(small, reach(small, hit)), _begin(small, reach(small, hit | left))
            yield (EVER, key), _between(*bounds, most=1.0)
        if FIRST in wanted:
            yield (FIRST, key), self._first(moves, bad, _begin(small, reach_after(small, hit | left)))

    def _within(self, small: Lumped, goals: tuple[Bools, Bools], seconds: int) -> Found:
        """How likely the first goal is reached within so many seconds; the second is what is not looked at."""
        hit, left = goals
        columns, sums = np.stack((hit, hit | left), axis=1).astype(np.float64), np.zeros((small.states, 0))
        ahead = look_ahead(small, seconds, columns, sums, has_error=self._has_errors)
        lower, upper = (_begin(small, column) for column in ahead.ends.T)
        possible = _begin(small, may_reach(small, hit | left).astype(np.float64)) > 0
        return _between(lower - ahead.error, np.where(possible, upper + ahead.error, 0.0), most=1.0)

    def _first(self, moves: Moves, bad: Bools, lower: Floats) -> Found:
        """The expected time; failures that are not looked at leave it open at the top."""
        if not moves.is_beyond.any():
            return Found(lower, lower, lower)
        chain = follow_instants(forget_beyond(moves), self._space.initial, bad)
        small, (hit,) = _lump(chain, bad[:, None])
        value = _begin(small, reach_after(small, hit > 0))
        return Found(value, np.minimum(lower, value), np.where(np.isinf(value), value, np.nan))

    def _forbidden(self, monitor: Monitor) -> tuple[Moves, Bools]:
        moves = moves_of(self._space, self._steps, self._effects, monitor.tags)
        bad = np.zeros(moves.states, dtype=np.bool_)
        bad[moves.goal] = True
        return moves, bad

    def _bad(self, number: int, monitor: Monitor) -> Bools:
        bad = self._flags >> 2 * number & 1 == 1
        if monitor.kind == IN_STABLE:
            store = self._space.store
            bad &= np.fromiter((store.is_stable(s) for s in range(len(store))), dtype=np.bool_, count=len(store))
        found: Bools = bad & ~self._moves.is_beyond
        return found

    @cached_property
    def _flags(self) -> Ints:
        store = self._space.store
        return np.fromiter((store.flags(s) for s in range(len(store))), dtype=np.int64, count=len(store))

    def _ask_amounts(self) -> Iterator[tuple[Key, Found]]:
        """What running takes; what is not looked at may take as much as anything does, or nothing."""
        found = rates_of_sums(self._values, self._scenario)
        small, columns = self._lump_all(list(found.values()))
        ahead = self._look_ahead(small, np.stack(columns, axis=1))
        slack = ahead.error * float(np.abs(ahead.sums).max(initial=0.0))
        sums = [_begin(small, column) for column in ahead.sums.T]
        for (name, each), lower in zip(found.items(), sums, strict=False):
            yield (AMOUNTS, name), _between(lower - slack, lower + sums[-1] * float(each.max()) + slack)

    def _ask_shortages(self) -> Iterator[tuple[Key, Found]]:
        """Time with too few ready pods within the horizon; what is not looked at has enough of them."""
        shortages = self._list_shortages()
        if not shortages:
            return
        small, columns = self._lump_all([short for _, short in shortages])
        begins = [_rates_into(small, short > 0) for short in columns[:-1]]
        sums = self._look_ahead(small, np.stack((*columns[:-1], *begins), axis=1)).sums.T
        halves = sums[: len(shortages)], sums[len(shortages) :]
        for (intent, _), short, seconds, times in zip(shortages, columns, *halves, strict=False):
            yield from self._told_of(intent, _begin(small, seconds), _begin(small, times) + _begin(small, short))

    def _lump_all(self, told: list[Floats] | list[Bools]) -> tuple[Lumped, list[Floats]]:
        """The chain of all that is looked at, by these; the last column is what is not."""
        beyond = self._moves.is_beyond
        chain = follow_instants(self._moves, self._space.initial, beyond)
        return _lump(chain, np.stack((*(np.where(beyond, 0.0, each) for each in told), beyond), axis=1))

    def _look_ahead(self, small: Lumped, per_second: Floats) -> Ahead:
        ends = np.zeros((small.states, 0))
        return look_ahead(small, self._horizon_s, ends, per_second, has_error=self._has_errors)

    def _told_of(self, intent: Intent, seconds: Floats, times: Floats) -> Iterator[tuple[Key, Found]]:
        """Expected time with too few ready pods: as a share of the horizon, and each time that it comes to that."""
        if SHORT in self._options.questions:
            yield (SHORT, intent.name), self._bound(seconds / self._horizon_s)
        if RECOVERY in self._options.questions:
            found = np.where(times > 0, seconds / np.where(times > 0, times, 1.0), 0.0)
            yield (RECOVERY, intent.name), self._bound(found)

    def _ask_shares(self) -> Iterator[tuple[Key, Found]]:
        """Shares of time in the long run with too few ready pods."""
        shortages = self._list_shortages()
        if shortages:
            moves = forget_beyond(self._moves)
            chain = follow_instants(moves, self._space.initial, np.zeros(moves.states, dtype=np.bool_))
            small, columns = _lump(chain, np.stack([short for _, short in shortages], axis=1))
            means = share_of_time(small, np.stack(columns, axis=1))
            for (intent, _), column in zip(shortages, means.T, strict=True):
                yield (LONG_RUN, intent.name), self._bound(_begin(small, column))

    def _list_shortages(self) -> list[tuple[Intent, Bools]]:
        return list_shortages(self._space.plan.setup, list_ready_intents(self._scenario), self._values)

    def _bound(self, value: Floats) -> Found:
        known = value if self.is_whole else np.full(len(value), np.nan)
        return Found(value, known, known)


def _rates_into(chain: Lumped, marked: Bools) -> Floats:
    """Per state how often per second it is left for marked ones; of those nothing."""
    rates = chain.rates
    enters = marked[rates.column] & ~marked[rates.row]
    return sum_by(rates.row[enters], rates.value[enters], chain.states)


def _lump(chain: RateChain, told: NDArray[np.bool_] | Floats) -> tuple[Lumped, list[Floats]]:
    """The smaller chain, and per class what it is told apart by, one vector per column."""
    own = told[chain.kept].astype(np.float64)
    small = lump(chain, own)
    _, sample = np.unique(small.block, return_index=True)
    return small, list(own[sample].T)


def _begin(chain: Lumped, by_state: Floats) -> Floats:
    """The value of each run, by where it begins."""
    first = chain.first
    return sum_by(first.row, first.value * by_state[first.column], int(first.row.max()) + 1)


def _between(lower: Floats, upper: Floats, most: float = np.inf) -> Found:
    lower, upper = np.maximum(lower, 0.0), np.minimum(upper, most)
    upper = np.maximum(lower, upper)
    return Found((lower + upper) / 2, lower, upper)
