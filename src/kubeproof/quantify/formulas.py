"""What kind of question a formula of Storm asks: how far it looks ahead, and what Storm computes for it."""

from __future__ import annotations

import re
from typing import Any

from kubeproof.quantify.storm import asked, storm


def formula(text: str) -> Any:
    """The formula of a property over labels and rewards, for a model that did not come from a program."""
    return asked(lambda: storm().parse_property(text)).get_raw_formula()


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


def _path(formula: Any) -> Any:
    return getattr(formula, "subformula", None)


def _bare(formula: Any) -> str:
    """The text without what stands in quotes: names of labels and rewards may look like anything."""
    return re.sub(r'"[^"]*"', '""', str(formula))
