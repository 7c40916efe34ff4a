"""Questions about the decision process of a cluster, put to Storm."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kubeproof.errors import ProgramError
from kubeproof.quantify.bounds import INTERVAL, NONE, Number
from kubeproof.quantify.chains.arrays import ModelArrays, model_from_arrays
from kubeproof.quantify.chains.automaton import automaton_from_arrays
from kubeproof.quantify.checking import Answer, check
from kubeproof.quantify.clusters.exact import look_ahead
from kubeproof.quantify.clusters.options import silent
from kubeproof.quantify.clusters.result import Span, Value
from kubeproof.quantify.methods import CheckSettings
from kubeproof.quantify.prism.formulas import formula
from kubeproof.quantify.storm import Model, StormRefusal
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from kubeproof.quantify.chains.chain import Chain
    from kubeproof.quantify.clusters.options import ClusterOptions

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

MOST_WORK = 600_000_000  # choices times instants that one bounded question may look at: some five minutes
MOST_ITERATED = 300_000_000  # choices times iterations of one question without a bound, but for a million iterations
PER_INSTANT = 200  # what an instant costs beside its choices
EXACT_COST = 500  # of a fraction, in rounded numbers
MOST_EXACT = 2000  # states for which fractions are tried where iterations do not converge
ROUNDED = 1e-9  # what rounded probabilities of a process may do to a share of time, amply
LEAST_PROBABILITY = 1e-10  # below, iterating for the long run does not come to an end
TIMELESS = ("no timed states", "unbounded model")  # what Storm says, in rounded numbers and in fractions
ENDLESS = (
    "steps that take no time, such as open events, may follow one another for ever; "
    "give events a probability, or a max, to have a long run"
)
TIME = "time"
SOUND = "sound-value-iteration"  # the only method of Storm that gives long-run shares of all automata, and right ones


@dataclass(frozen=True, slots=True)
class Asked:
    """A process in Storm with what is needed to ask about it."""

    model: Model
    arrays: ModelArrays
    settings: CheckSettings
    work_per_s: float  # choices that one second of a bounded question costs
    unit_s: int = 1  # all durations are multiples of it
    tell: Callable[[str], None] = silent  # what is being answered
    has_bounds: bool = False  # shares of time are those of continuous time

    def ever(self, label: str) -> Span:
        """How likely a state with the label is reached at all."""
        return self._span(lambda best: self._ask_unbounded(f'P{best}=? [F "{label}"]'))

    def within(self, label: str, horizon_s: int) -> Span:
        """How likely it is reached within so many seconds."""
        return self._ask_bounded(lambda best, ahead_s: f'P{best}=? [F{{"{TIME}"}}<={ahead_s} "{label}"]', horizon_s)

    def first_s(self, label: str) -> Span:
        """Expected seconds until it is reached; infinite where that is not certain."""
        return self._span(lambda best: self._ask_unbounded(f'R{{"{TIME}"}}{best}=? [F "{label}"]'))

    def amount(self, reward: str, horizon_s: int, usual_per_s: float) -> Span:
        """An expected sum over so many seconds, of which the rewards are the differences from the usual.

        An interval that is not over then counts as usual.
        """
        found = self._ask_bounded(
            lambda best, ahead_s: f'R{{"{reward}"}}{best}=? [C{{"{TIME}"}}<={ahead_s}]', horizon_s
        )
        base = usual_per_s * horizon_s
        return replace(found, least=_raise(found.least, base), greatest=_raise(found.greatest, base))

    def share(self, label: str) -> Span:
        """The long-run share of time in states with the label."""
        least = float(self.arrays.probabilities[self.arrays.probabilities > 0].min())
        if least < LEAST_PROBABILITY and not self.model.is_exact:
            return Span(skipped=f"a probability of {least:.3g} is too small for the long run; compute with --exact")
        found = self._span(lambda best: self._share(f'LRA{best}=? ["{label}"]'))
        return replace(found, skipped=ENDLESS) if any(words in found.skipped for words in TIMELESS) else found

    def _ask_bounded(self, question: Callable[[str, int], str], horizon_s: int) -> Span:
        if self.work_per_s * horizon_s > MOST_WORK:
            longest = int(MOST_WORK / self.work_per_s)
            return Span(skipped=f"too many states to look {horizon_s} s ahead; ask for at most {longest} s (--within)")
        return self._span(lambda best: self._within(lambda ahead_s: question(best, ahead_s), horizon_s))

    def _within(self, question: Callable[[int], str], horizon_s: int) -> Value:
        """The answer by iteration; with fractions, where Storm refuses: next to 1, a probability is no longer below."""
        model = self.model
        if not model.is_exact:
            try:
                return self._value(question(horizon_s))
            except ProgramError:
                if model.states > MOST_EXACT or self.work_per_s * horizon_s * EXACT_COST > MOST_WORK:
                    raise
            model = model_from_arrays(self.arrays, exact=True)
        return _value(look_ahead(model, question, horizon_s, self.unit_s, self.tell))

    def _ask_unbounded(self, question: str) -> Value:
        """The answer by iteration; with fractions, where that does not converge or ends at 0, and if it is small."""
        self.tell(question)
        most = max(1_000_000, MOST_ITERATED // self.model.choices)
        found = check(self.model, formula(question), settings=replace(self.settings, max_iterations=most))
        is_lost = found.value == 0 and found.upper != 0  # too small for a number
        if (is_lost or not found.is_converged) and self.model.states <= MOST_EXACT:
            found = check(model_from_arrays(self.arrays, exact=True), formula(question))
        if not found.is_converged:
            raise StormRefusal(f"not converged to a relative precision of {self.settings.precision:g}")
        return _value(found)

    def _value(self, question: str) -> Value:
        self.tell(question)
        return _value(check(self.model, formula(question), settings=self.settings))

    def _share(self, question: str) -> Value:
        """A share with bounds that hold in continuous time, or with none.

        Fractions leave only what rounding has done to the probabilities of the process itself.
        """
        found = self._value(question)
        if not (self.model.is_exact and self.has_bounds):
            return replace(found, lower=None, upper=None, guarantee=NONE)
        bounds = max(0.0, found.value - ROUNDED), min(1.0, found.value + ROUNDED)
        return replace(found, lower=bounds[0], upper=bounds[1], guarantee=INTERVAL)

    def _span(self, answer: Callable[[str], Value]) -> Span:
        try:
            return Span(answer("min"), answer("max"))
        except (ProgramError, StormRefusal) as problem:
            return Span(skipped=" ".join(str(problem).split()))


def _value(found: Answer) -> Value:
    """An answer in rounded numbers."""
    lower, upper = (None if bound is None else _round(bound) for bound in (found.lower, found.upper))
    return Value(_round(found.value or 0), lower, upper, found.guarantee, found.elapsed_s)


def _round(number: Number) -> float:
    """The number, or one near it; what is possible stays possible."""
    try:
        return max(float(number), math.ulp(0.0)) if number > 0 else float(number)
    except OverflowError:
        raise StormRefusal("the value is too large for a number") from None


def _raise(value: Value | None, base: float) -> Value | None:
    """A value with its bounds, so much greater."""
    if value is None:
        return None
    lower, upper = (None if bound is None else base + bound for bound in (value.lower, value.upper))
    return replace(value, value=base + value.value, lower=lower, upper=upper)


def ask(chain: Chain, labels: Mapping[str, Ints], per_second: Mapping[str, Floats], options: ClusterOptions) -> Asked:
    """The process in Storm: labels are states of it, amounts are per second and state of it."""
    counts = np.diff(chain.arrays.choice_starts)
    rewards = {name: np.repeat(values * chain.duration_s, counts) for name, values in per_second.items()}
    rewards[TIME] = np.repeat(chain.duration_s, counts)
    arrays = replace(chain.arrays, labels=labels, rewards=rewards)
    model = model_from_arrays(arrays, exact=options.exact)
    unit = max(1, int(np.gcd.reduce(chain.duration_s.astype(np.int64))))
    return Asked(model, arrays, options.check, work_per_s(model.choices, unit, options), unit, options.tell)


def work_per_s(choices: int, unit_s: int, options: ClusterOptions) -> float:
    """What looking one second ahead costs, where all durations are multiples of a unit."""
    return (choices + PER_INSTANT) / unit_s * (EXACT_COST if options.exact else 1)


def ask_long_run(chain: Chain, labels: Mapping[str, Ints], options: ClusterOptions) -> Asked:
    """The process with exponential durations of the same mean, for shares of time in the long run."""
    arrays = replace(chain.arrays, labels=labels)
    model = automaton_from_arrays(arrays, chain.duration_s, exact=options.exact)
    settings = replace(options.check, method=SOUND)
    return Asked(model, arrays, settings, 0.0, tell=options.tell, has_bounds=chain.is_in_continuous_time)
