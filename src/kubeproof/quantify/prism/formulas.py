"""What kind of question a formula of Storm asks: how far it looks ahead, and what Storm computes for it."""

from __future__ import annotations

import re
from typing import Any

from kubeproof.quantify.storm import Model, StormRefusal, ask, storm


def formula(text: str) -> Any:
    """The formula of a property over labels and rewards, for a model that did not come from a program."""
    return ask(lambda: storm().parse_property(text)).get_raw_formula()


def is_finite(formula: Any) -> bool:
    """True if the formula looks ahead a bounded number of steps, time, or a bounded reward."""
    logic = storm().logic
    finite = logic.CumulativeRewardFormula | logic.InstantaneousRewardFormula | logic.BoundedUntilFormula
    return isinstance(_path(formula), finite)


def is_cost_bounded(formula: Any) -> bool:
    """True if it looks ahead until some reward is used up."""
    return is_finite(formula) and 'rew{""}' in _bare(_path(formula))


def steps(formula: Any) -> int | None:
    """How many steps a formula looks ahead; None if there is no bound on them, or not one that is a number."""
    logic = storm().logic
    path = _path(formula)
    if isinstance(path, logic.CumulativeRewardFormula | logic.InstantaneousRewardFormula):
        found = re.fullmatch(r"(?:C<=?|I=)\s*(\d+)", str(path))
        return int(found[1]) if found else None
    found = re.search(r" U(?:<=?|\[\s*\d+,\s*)(\d+)", str(path))
    return int(found[1]) if found and is_finite(formula) else None


def is_moment(formula: Any) -> bool:
    """True if it asks for the reward at one moment."""
    return isinstance(_path(formula), storm().logic.InstantaneousRewardFormula)


def is_nested(formula: Any) -> bool:
    """True if a state formula inside has an operator of its own: Storm decides it without bounds."""
    operators = re.findall(r"\b(?:P|R|T|S|LRA)(?:min|max)?(?:\{[^}]*\})?(?:min|max)?\s*[<>=]", _bare(formula))
    return len(operators) != 1


def is_complement(formula: Any) -> bool:
    """True if Storm computes one minus another probability, to which the precision then is relative."""
    return isinstance(_path(formula), storm().logic.GloballyFormula)


def is_probability(formula: Any) -> bool:
    """True if it asks for a probability."""
    return isinstance(formula, storm().logic.ProbabilityOperatorFormula)


def is_endless_reward(formula: Any, kind: str) -> bool:
    """True if it adds up a reward over runs that may be of any length, by iteration.

    So does one that another reward bounds, which does not bound steps: Storm iterates on every level. On decision
    processes it does so from any sign of the reward, on chains not.
    """
    logic = storm().logic
    discounted = logic.DiscountedTotalRewardFormula | logic.DiscountedCumulativeRewardFormula
    if not hasattr(formula, "has_reward_model_name") or isinstance(_path(formula), discounted):
        return False
    return not is_finite(formula) or (is_cost_bounded(formula) and kind != "mdp")


def by_graph(model: Model, formula: Any, value: int) -> bool:
    """True if the probability is 0 or 1, as `value` says: Storm compares with these on the graph, without numbers."""
    logic, numbers = storm().logic, storm().developer.storage.ExpressionManager()
    comparison = logic.ComparisonType.LEQ if value == 0 else logic.ComparisonType.GEQ
    compared = formula.clone()
    compared.set_bound(comparison, numbers.integer(value))
    try:
        result = ask(lambda: storm().model_checking(model.handle, compared, only_initial_states=True))
    except StormRefusal:
        return False
    return all(result[state] for state in model.handle.initial_states)


def _path(formula: Any) -> Any:
    return getattr(formula, "subformula", None)


def _bare(formula: Any) -> str:
    """The text without what stands in quotes: names of labels and rewards may look like anything."""
    return re.sub(r'"[^"]*"', '""', str(formula))
