"""What expressions of the PRISM language mean, as fractions: `/` never cuts off.

Storm gives an expression over whole numbers the type int, and evaluates it as such where it wants a whole number or
does not care: 9/10 becomes 0. PRISM has no division of whole numbers.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from kubeproof.errors import ProgramError, QuantityError
from kubeproof.quantify.storm import StormRefusal, ask, storm

MOST_BITS = 1 << 20  # of a power: more is no threshold
_BOUND = re.compile(r"(?<![\w}])(?:U(?:<=?|>=?|=|\[)|C<=?|I=)")  # on steps or time, as Storm prints them
_LITERAL = re.compile(r"(-?)\(?(\d+)(?:/(\d+))?\)?")
_CHOOSE: dict[str, Callable[..., Fraction]] = {"MIN": min, "MAX": max}
_SINGLE: dict[str, Callable[[Fraction], Fraction]] = {
    "MINUS": operator.neg,
    "FLOOR": lambda number: Fraction(math.floor(number)),
    "CEIL": lambda number: Fraction(math.ceil(number)),
}
_DOUBLE: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "PLUS": operator.add,
    "MINUS": operator.sub,
    "TIMES": operator.mul,
    "DIVIDE": operator.truediv,
    "MODULO": lambda one, two: one - two * math.trunc(one / two),  # its sign is that of the first, as in C
    "POWER": lambda one, two: _power(one, two),
    **_CHOOSE,
}
_COMPARED: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "EQUAL": operator.eq,
    "NOT_EQUAL": operator.ne,
    "GREATER": operator.gt,
    "GREATER_OR_EQUAL": operator.ge,
    "LESS": operator.lt,
    "LESS_OR_EQUAL": operator.le,
}
_LOGICAL: dict[str, Callable[[bool, bool], bool]] = {
    "AND": operator.and_,
    "OR": operator.or_,
    "XOR": operator.ne,
    "IFF": operator.eq,
    "IMPLIES": lambda one, two: not one or two,
}


def value_of(expression: Any) -> Fraction:
    """The number that an expression without variables is; ValueError if it is none, or none that is a fraction."""
    if not expression.is_function_application:
        return _literal(expression)
    name, operands = _parts(expression)
    if name == "ITE":
        return value_of(operands[1] if _truth(operands[0]) else operands[2])
    known: dict[str, Callable[..., Fraction]] = _SINGLE if len(operands) == 1 else _DOUBLE
    if name not in known:
        raise ValueError("it has no value that is a fraction")
    try:
        return known[name](*map(value_of, operands))
    except ZeroDivisionError:
        raise ValueError("it divides by zero") from None


def _parts(expression: Any) -> tuple[str, list[Any]]:
    """The name of the operator, empty if Storm's package has none for it, and its operands."""
    try:
        name = expression.operator.name
    except (AttributeError, RuntimeError, TypeError, ValueError):
        name = ""
    return name, [expression.get_operand(place) for place in range(expression.arity)]


def _literal(expression: Any) -> Fraction:
    found = _LITERAL.fullmatch(str(expression))
    if found is None:
        raise ValueError("it is not a number")
    return Fraction(int(found[1] + found[2]), int(found[3] or 1))


def _truth(expression: Any) -> bool:
    if not expression.is_function_application:
        return str(expression) == "true"
    name, operands = _parts(expression)
    if name in ("NOT", ""):
        return not _truth(operands[0])
    if name == "ITE":
        return _truth(operands[1] if _truth(operands[0]) else operands[2])
    if name in _LOGICAL or operands[0].has_boolean_type():
        logical = {**_LOGICAL, "EQUAL": operator.eq, "NOT_EQUAL": operator.ne}
        return bool(logical[name](*map(_truth, operands)))
    return _COMPARED[name](*map(value_of, operands))


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    size = max(base.numerator.bit_length(), base.denominator.bit_length())
    if exponent.denominator != 1 or abs(exponent) * size > MOST_BITS:
        raise ValueError("it has no value that is a fraction, or one that is too long")
    return Fraction(base ** int(exponent))


def threshold_of(formula: Any) -> Fraction:
    """The threshold of a formula that has one; that of a probability lies between 0 and 1."""
    expression = formula.threshold_expr
    try:
        value = value_of(expression)
    except ValueError as problem:
        raise _unusable(formula, f"the threshold {expression} cannot be used: {problem}", "Write a number") from None
    logic = storm().logic
    is_share = isinstance(formula, logic.ProbabilityOperatorFormula | logic.LongRunAverageOperatorFormula)
    if is_share and not 0 <= value <= 1:
        raise _unusable(formula, f"the threshold {expression} is no probability", "Write a number from 0 to 1")
    return value


def refuse_unusable_numbers(formula: Any, kind: str) -> None:
    """Refuses a threshold that is none, and a number of steps that is not whole: Storm would cut it off."""
    if getattr(formula, "has_bound", False):
        threshold_of(formula)
    if kind in ("ctmc", "ma"):  # bounds on time
        return
    for text in _bounds(re.sub(r'"[^"]*"', '""', str(formula))):
        if "/" in text or "^" in text:
            _refuse_broken(formula, text)


def _refuse_broken(formula: Any, text: str) -> None:
    remedy = "Write a whole number of steps, such as floor(N/2)"
    try:
        parsed = ask(lambda: storm().parse_properties(f"P>={text} [F true]"))
        expression = parsed[0].get_raw_formula().threshold_expr
        value = value_of(expression)
    except (ValueError, StormRefusal):
        raise _unusable(formula, f"the bound {text} cannot be used", remedy) from None
    if value.denominator != 1 or not expression.has_integer_type() or value != expression.evaluate_as_int():
        raise _unusable(formula, f"the bound {text} is no whole number of steps", remedy)


def _bounds(text: str) -> Iterator[str]:
    """The bounds on steps or time in a formula, as texts."""
    for found in _BOUND.finditer(text):
        both = _upto(text[found.end() :], "]" if found[0].endswith("[") else " ])")
        first = _upto(both, ",")
        yield from (part for part in (first, both[len(first) + 1 :].strip()) if part)


def _upto(text: str, ends: str) -> str:
    """The text before the first of these characters, or "discount", outside of parentheses."""
    depth = 0
    for place, character in enumerate(text):
        if depth == 0 and (character in ends or text.startswith("discount", place)):
            return text[:place]
        depth += (character == "(") - (character == ")")
    return text


def refuse_broken_numbers(program: Any, file: str) -> None:
    """Refuses divisions where a whole number is wanted, as PRISM does: Storm would cut off what is behind the point."""
    plain = program.substitute_formulas()
    broken = ((what, str(expression)) for what, expression in _whole_ones(plain) if _is_broken(expression))
    for what, text in (*_find_broken(str(plain)), *broken):
        raise ProgramError(
            f"{what} is a whole number, but {text} divides", file=file, remedy="Write floor(…) or ceil(…)"
        )


def _find_broken(text: str) -> Iterator[tuple[str, str]]:
    """Ranges and first values of variables that divide; as text, for Storm's package crashes where there is none."""
    for name, what in re.findall(r"^(?:\s|global )*(\w+): ((?:\[.*\]|int\b)[^;]*);$", text, re.MULTILINE):
        if " / " in what and not re.search(r"\b(?:floor|ceil)\(", what):
            yield f"the variable {name}", what


def _whole_ones(program: Any) -> Iterator[tuple[str, Any]]:
    """What constants and updates of whole numbers are set to, with what it is."""
    for constant in program.constants:
        if constant.defined and constant.expression_variable.has_integer_type():
            yield f"the constant {constant.name}", constant.definition
    for command in (command for module in program.modules for command in module.commands):
        for assignment in (one for update in command.updates for one in update.assignments):
            if assignment.variable.has_integer_type():
                yield f"the variable {assignment.variable.name}", assignment.expression


def _is_broken(expression: Any) -> bool:
    """True if it divides outside of floor and ceil."""
    if not expression.is_function_application:
        return False
    name, operands = _parts(expression)
    if name in ("FLOOR", "CEIL"):
        return False
    if name == "ITE":
        operands = operands[1:]
    return name == "DIVIDE" or any(_is_broken(operand) for operand in operands)


def _unusable(formula: Any, problem: str, remedy: str) -> QuantityError:
    return QuantityError(problem, file=f"property {formula}", remedy=remedy)
