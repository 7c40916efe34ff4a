"""How much of a number that Storm gives is certain."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from kubeproof.quantify.chains.leaving import digits_lost
from kubeproof.quantify.methods import CONTINUOUS, UNSOUND, CheckSettings
from kubeproof.quantify.prism.formulas import by_graph, is_complement, is_finite, is_nested, is_probability, steps
from kubeproof.quantify.rounding import after_steps
from kubeproof.quantify.storm import Model

Number = float | Fraction

EXACT = "exact"  # rational arithmetic, no error
INTERVAL = "interval"  # bounds that the method guarantees
ROUNDING = "rounding"  # a finite number of steps; the bounds are those of floating-point arithmetic
NONE = "none"  # converged by the method's own criterion, without bounds
LEAST_SLACK = 2.0**-46  # relative: what rounding may do to an iteration, amply
NEXT_TO_NOTHING = 1e-290  # absolute: what numbers too small to be written may do, amply


def bound(
    model: Model, formula: Any, value: Any, settings: CheckSettings
) -> tuple[Number, Number | None, Number | None, str]:
    """The value with its bounds, and what they rest on."""
    number = number_of(value.value)
    if model.is_exact:
        return number, number, number, EXACT
    if is_nested(formula) or settings.method in UNSOUND:
        return number, None, None, INTERVAL
    if is_finite(formula):
        lower, upper = _round(model, formula, float(number))
        is_stepwise = steps(formula) is not None and model.kind not in CONTINUOUS
        return number, lower, upper, ROUNDING if is_stepwise else NONE
    if not settings.is_sound:
        return number, None, None, INTERVAL
    low, high = (None if bound is None else float(number_of(bound)) for bound in (value.lower, value.upper))
    if low is None or high is None:
        return number, None, None, INTERVAL
    return number, *_widen(model, formula, low, high, settings.precision), INTERVAL


def _widen(model: Model, formula: Any, low: float, high: float, precision: float) -> tuple[float, float]:
    """The bounds of an iteration, moved apart by a thousandth of the precision, and by no less than rounding may do.

    Storm's bounds hold for real numbers. It computes with rounded ones, and may give 0.39999999999999997 as both bounds
    of 2/5. What is known without computing (infinity, and 0 and 1 if the graph says so) is left as it is.
    """
    if low == high and (math.isinf(low) or _is_by_graph(model, formula, low)):
        return low, high
    slack = max(precision / 1000, LEAST_SLACK, digits_lost(model))
    least = NEXT_TO_NOTHING if is_probability(formula) else 0.0
    least = 1.0 if is_complement(formula) else least  # one minus a number loses what that number lost
    lower, upper = low - slack * max(abs(low), least), high + slack * max(abs(high), least)
    return (lower if low < 0 else max(0.0, lower)), (min(1.0, upper) if is_probability(formula) else upper)


def _is_by_graph(model: Model, formula: Any, value: float) -> bool:
    """True if the graph alone says that a probability is 0 or 1; a computed one may be a rounded other."""
    return value in (0.0, 1.0) and is_probability(formula) and by_graph(model, formula, int(value))


def _round(model: Model, formula: Any, number: float) -> tuple[float, float] | tuple[None, None]:
    """Bounds on a value after finitely many steps: Storm gives the rounded value as both.

    In continuous time a bound is one on time, and Storm's answer an approximation.
    """
    ahead = steps(formula)
    is_rough = model.kind in CONTINUOUS or not model.is_regular
    if ahead is None or is_rough or not is_unsigned(model, formula):
        return None, None
    return after_steps(number, ahead, model.branching) or (None, None)


def is_unsigned(model: Model, formula: Any) -> bool:
    """True if no reward that the formula adds up is negative."""
    if not hasattr(formula, "has_reward_model_name"):
        return True
    names = list(model.handle.reward_models)
    name = formula.reward_name if formula.has_reward_model_name() else names[0] if len(names) == 1 else ""
    if name in model.unsigned:
        return True
    rewards = model.handle.reward_models.get(name)
    if rewards is None or rewards.has_transition_rewards:
        return False
    parts = ((rewards.has_state_rewards, "state_rewards"), (rewards.has_state_action_rewards, "state_action_rewards"))
    return all(min(getattr(rewards, part), default=0.0) >= 0 for has, part in parts if has)


def number_of(value: Any) -> Number:
    """A number of Storm as one of Python."""
    if isinstance(value, float):
        return value
    return Fraction(_integer(str(value.numerator)), _integer(str(value.denominator)))


def _integer(digits: str) -> int:
    """A whole number of any length: Python refuses to read long ones at once, as hostile input."""
    if len(digits) <= 4000:
        return int(digits)
    sign, digits = (-1, digits[1:]) if digits[0] == "-" else (1, digits)
    return sign * (_integer(digits[:-4000]) * 10**4000 + int(digits[-4000:]))
