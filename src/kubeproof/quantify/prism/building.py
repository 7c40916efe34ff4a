"""Building the models of PRISM programs, with every row and every range checked."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kubeproof.errors import ProgramError, QuantityError
from kubeproof.quantify.chains.leaving import HARMLESS, in_matrix, least_constant
from kubeproof.quantify.prism.programs import Program, Property, line_of_command, one_line
from kubeproof.quantify.storm import Model, StormRefusal, build_measured, storm


def build(
    program: Program, wanted: Sequence[Property], *, exact: bool = False, valuations: bool = False, whole: bool = True
) -> Model:
    """The model of a program, with what the properties speak of; unless `whole`, only what they can depend on.

    Every row and every range is checked: Storm by itself would build a model from rows that sum to 0.9, and would
    wrap a value that does not fit into its range.
    """
    begin = time.perf_counter()
    options = _builder_options(wanted, valuations, whole)
    try:
        return _build(program, options, exact)
    except StormRefusal as problem:
        if exact or "to one" not in str(problem) or not _sums_are_right(program, options):
            raise _refuse(str(problem), program) from None
    return replace(_build_unchecked(program, options), build_s=time.perf_counter() - begin)


def _build_unchecked(program: Program, options: Any) -> Model:
    """The model of a program whose sums are known to be right; Storm's own check tolerates hardly any rounding."""
    can_mark = not program.handle.expression_manager.has_variable("_OutOfBoundsBit")  # Storm adds it, once
    is_in_range = can_mark or _is_right_exactly(program, options)
    options.set_exploration_checks(False)
    options.set_add_out_of_bounds_state(can_mark)
    model = _build(program, options, exact=False)
    if not is_in_range or model.handle.labeling.contains_label("out_of_bounds"):
        raise ProgramError("an update leads to an out-of-bounds value", file=program.file, remedy="Widen the range.")
    return model


def is_cut(wanted: Sequence[Property], whole: bool) -> bool:
    """True if the model is built only up to the goal of its only property."""
    logic = storm().logic
    goals = logic.EventuallyFormula | logic.UntilFormula | logic.BoundedUntilFormula
    return not whole and len(wanted) == 1 and isinstance(getattr(wanted[0].formula, "subformula", None), goals)


def _builder_options(wanted: Sequence[Property], valuations: bool, whole: bool) -> Any:
    stormpy = storm()
    formulas = [one.formula for one in wanted]
    # For a single formula Storm leaves out what lies behind its goal: for the whole model, one is given twice.
    again = formulas[:1] if whole else []
    options = stormpy.BuilderOptions([*formulas, *again]) if formulas else stormpy.BuilderOptions()
    options.set_exploration_checks(True)
    if valuations:
        options.set_build_state_valuations()
        options.set_build_choice_labels()
    return options


def _build(program: Program, options: Any, exact: bool) -> Model:
    stormpy = storm()
    make = stormpy.build_model[stormpy.Rational] if exact else stormpy.build_model
    model = build_measured(lambda: make(program.handle, options=options), branching=program.branching)
    is_harmless = exact or least_constant(program.handle) >= HARMLESS
    return replace(model, is_regular=program.is_regular, leaving=1.0 if is_harmless else in_matrix(model.handle))


def _sums_are_right(program: Program, options: Any) -> bool:
    """True if the probabilities of every command sum to 1 exactly.

    Constant ones are added up here; where they depend on the state, the model is built with fractions, too.
    """
    commands = [command for module in program.handle.modules for command in module.commands]
    shares = [[update.probability_expression for update in command.updates] for command in commands]
    if any(share.contains_variables() for command in shares for share in command):
        return _is_right_exactly(program, options)
    numbers = [[share.evaluate_as_rational() for share in command] for command in shares]
    return all(min(command) >= 0 and sum(command[1:], command[0]) == 1 for command in numbers)


def _is_right_exactly(program: Program, options: Any) -> bool:
    try:
        _build(program, options, exact=True)
    except StormRefusal:
        return False
    return True


def _refuse(message: str, program: Program) -> ProgramError | QuantityError:
    label = re.search(r"(?:unknown|illegal) label '([^']*)'", message)
    if "standard reward model is ambiguous" in message:
        known = ", ".join(sorted(one.name for one in program.handle.reward_models)) or "none"
        return QuantityError(
            "rewards without a name", file=program.file, remedy=f"Name them; the program has: {known}."
        )
    reward = re.search(r"unknown reward model '([^']*)'", message)
    if reward:
        known = ", ".join(sorted(one.name for one in program.handle.reward_models)) or "none"
        return QuantityError(
            f"there are no rewards {reward[1]!r}", file=program.file, remedy=f"The program has: {known}."
        )
    if label:
        known = ", ".join(sorted(one.name for one in program.handle.labels)) or "none"
        return QuantityError(f"there is no label {label[1]!r}", file=program.file, remedy=f"The program has: {known}.")
    remedy = "Make them sum to 1; write 1/3, not 0.333333" if "to one" in message else "Correct the PRISM program"
    problem = one_line(message).replace("some to", "sum to").rstrip(".")
    return ProgramError(problem, file=program.file, line=line_of_command(program, message), remedy=remedy)
