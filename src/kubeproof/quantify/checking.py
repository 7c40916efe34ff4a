"""Asking Storm for the value of a property, and how much of the answer is certain."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from fractions import Fraction
from typing import Any

from kubeproof.errors import QuantityError
from kubeproof.quantify.bounds import EXACT, INTERVAL, NONE, ROUNDING, Number, bound, is_unsigned
from kubeproof.quantify.methods import MOST_ITERATIONS, CheckSettings, environment_of
from kubeproof.quantify.prism.expressions import threshold_of
from kubeproof.quantify.prism.formulas import is_complement, is_endless_reward
from kubeproof.quantify.storm import Model, StormRefusal, ask, storm
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    """The value of a property in the initial state, or its range over several of them (`value` is then None).

    The true value lies between `lower` and `upper`; both are None if nothing is guaranteed (`guarantee` is then
    "none"). A property with a threshold (`is_question`) also has `holds`, which is None if the bounds leave it open.
    """

    formula: str
    value: Number | None
    lower: Number | None
    upper: Number | None
    guarantee: str
    method: str
    precision: float
    is_converged: bool
    elapsed_s: float
    initial_states: int = 1
    is_question: bool = False
    holds: bool | None = None


def check(model: Model, formula: Any, *, settings: CheckSettings = CheckSettings()) -> Answer:
    """The answer to one formula of Storm (see `programs.properties` and `formula`)."""
    begin = time.perf_counter()
    asked_for, threshold = _without_threshold(formula)
    _refuse_negative(model, asked_for)
    environment = environment_of(model, asked_for, settings)
    result = _result(model, asked_for, environment)
    found = _answer(model, (formula, asked_for), result, settings, time.perf_counter() - begin)
    return found if threshold is None else _judge(found, *threshold)


def _refuse_negative(model: Model, formula: Any) -> None:
    """Refuses what Storm iterates for with rewards of both signs in mind, but gets wrong, or never ends."""
    if model.is_exact or not is_endless_reward(formula, model.kind) or is_unsigned(model, formula):
        return
    problem = "some of the rewards are negative, and iterating over runs of any length does not converge to their sum"
    raise QuantityError(problem, file=f"property {formula}", remedy="Compute with --exact, or bound the steps: C<=100")


def _result(model: Model, formula: Any, environment: Any) -> Any:
    """What Storm answers; a property that it cannot check is an error with its reason."""
    try:
        result = ask(
            lambda: storm().model_checking(model.handle, formula, only_initial_states=True, environment=environment)
        )
    except StormRefusal as problem:
        raise _uncheckable(model, formula, " ".join(str(problem).split()).rstrip(".?")) from None
    if not hasattr(result, "__getitem__"):  # nothing at all, or a curve of several objectives
        raise _uncheckable(model, formula, "Storm gives no value for such a property on such a model")
    return result


def _uncheckable(model: Model, formula: Any, reason: str) -> QuantityError:
    remedy = f"Ask for something else, or {'without' if model.is_exact else 'with'} --exact"
    return QuantityError(f"cannot be checked: {reason}", file=f"property {formula}", remedy=remedy)


def _without_threshold(formula: Any) -> tuple[Any, tuple[str, Fraction] | None]:
    """The formula that asks for the number, and the comparison that was asked for, if any.

    The comparison is made here, with the bounds of the number: Storm would compare an approximation.
    """
    if not getattr(formula, "has_bound", False):
        return formula, None
    stormpy = storm()
    comparison = formula.comparison_type.name
    number = formula.clone()
    number.remove_bound()
    if not number.has_optimality_type:  # for every scheduler: the worst of them
        worst = stormpy.logic.OptimizationDirection
        number.set_optimality_type(worst.MINIMIZE if comparison in ("GEQ", "GREATER") else worst.MAXIMIZE)
    return number, (comparison, threshold_of(formula))


def _answer(model: Model, formulas: tuple[Any, Any], result: Any, settings: CheckSettings, elapsed_s: float) -> Answer:
    formula, asked_for = formulas
    states = list(model.handle.initial_states)
    values = [result[state] for state in states]
    if isinstance(values[0], bool):
        found = _make(formula, (None, None, None), INTERVAL, model, settings, elapsed_s, states)
        truth = values[0] if len(set(values)) == 1 else None
        return replace(found, is_question=True, holds=truth, is_converged=found.is_converged and truth is not None)
    numbers = [bound(model, asked_for, value, settings) for value in values]
    span = _over_initial_states([number[:3] for number in numbers])
    found = _make(formula, span, numbers[0][3], model, settings, elapsed_s, states)
    least = 1.0 if is_complement(asked_for) else 0.0
    each = (_is_converged(low, high, settings, least) for _, low, high, _ in numbers)
    return replace(found, is_converged=all(each))


def _make(
    formula: Any, found: tuple[Number | None, Number | None, Number | None], guarantee: str, model: Model,
    settings: CheckSettings, elapsed_s: float, states: list[int],
) -> Answer:  # fmt: skip
    value, lower, upper = found
    is_bounded = lower is not None and upper is not None
    return Answer(
        str(formula), value, lower, upper, guarantee if is_bounded or model.is_exact else NONE,
        _method(guarantee, settings), settings.precision, _is_converged(lower, upper, settings), elapsed_s, len(states),
    )  # fmt: skip


def _over_initial_states(
    numbers: list[tuple[Number, Number | None, Number | None]],
) -> tuple[Number | None, Number | None, Number | None]:
    """The number of the only initial state; the range over several of them, without a single value."""
    if len(numbers) == 1:
        return numbers[0]
    lowers = [low for _, low, _ in numbers if low is not None]
    uppers = [high for _, _, high in numbers if high is not None]
    is_bounded = len(lowers) == len(uppers) == len(numbers)
    return None, min(lowers) if is_bounded else None, max(uppers) if is_bounded else None


def _is_converged(lower: Number | None, upper: Number | None, settings: CheckSettings, least: float = 0.0) -> bool:
    """True if the bounds are as close as Storm demands; without bounds, if it was not cut short."""
    if lower is None or upper is None:
        return settings.max_iterations is None and settings.method not in MOST_ITERATIONS
    if lower == upper:
        return True
    width = 2.01 * settings.precision * max(abs(float(lower)), abs(float(upper)), least)
    return math.isfinite(upper) and upper - lower <= width + 1e-100  # next to nothing is as good as 0


def _method(guarantee: str, settings: CheckSettings) -> str:
    """What was done, in words."""
    if guarantee == EXACT:
        return "exact rational arithmetic"
    if guarantee == ROUNDING:
        return "value iteration for the given number of steps"
    if guarantee == NONE:
        return "iteration within a bound"
    if not settings.is_sound:
        return "value iteration"
    return "sound iteration, component by component" if settings.method == "auto" else settings.method.replace("-", " ")


def _judge(answer: Answer, comparison: str, threshold: Fraction) -> Answer:
    """The answer to a property with a threshold; open if the threshold lies between the bounds."""
    low, high = answer.lower, answer.upper
    if low is None or high is None:
        if answer.value is None:
            return replace(answer, is_question=True, is_converged=False)
        slack = answer.precision * max(1.0, abs(float(answer.value)))
        low, high = float(answer.value) - slack, float(answer.value) + slack
    least, most = _compare(comparison, low, threshold), _compare(comparison, high, threshold)
    holds = least if least == most else None
    return replace(answer, is_question=True, holds=holds, is_converged=answer.is_converged and holds is not None)


def _compare(comparison: str, number: Number, threshold: Fraction) -> bool:
    if comparison == "GEQ":
        return number >= threshold
    if comparison == "GREATER":
        return number > threshold
    return number <= threshold if comparison == "LEQ" else number < threshold
