"""Answers as functions of open constants: in closed form, how much each matters, where a threshold is met.

Chains give a fraction of polynomials, by taking states out one after the other with exact coefficients. Where a
threshold is met is decided region by region: by exact arithmetic with that fraction, for decision processes by Storm's
parameter lifting. What stays between is divided until it is small. (Its robust lifting, for chains whose probabilities
multiply parameters, is not used: it calls regions met in which the value at a corner is not.)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from kubeproof.errors import QuantityError
from kubeproof.quantify.bounds import number_of
from kubeproof.quantify.prism.expressions import threshold_of
from kubeproof.quantify.prism.formulas import is_finite
from kubeproof.quantify.prism.polynomials import read_polynomial
from kubeproof.quantify.prism.programs import Program, Property
from kubeproof.quantify.prism.ranges import Range
from kubeproof.quantify.storm import Model, StormRefusal, ask, build_measured, storm
from kubeproof.values import dataclass, replace
from kubeproof.verdicts import Verdict

SAMPLES = 41
LONGEST = 400  # letters of a function that is shown
LEAST_PART = Fraction(1, 500)  # of the whole, that an open region has to be divided further
MOST_CHECKS = 1000
EXTREME = 1e-6  # relative precision of the least and the greatest value
CHAINS = ("dtmc", "ctmc")
NO_FUNCTION = "a bound on steps or time leaves no short function"
Box = tuple[tuple[Fraction, Fraction], ...]  # per parameter from and to
Decide = Callable[[Box], Verdict]
_NEGATED = {"LEQ": "GREATER", "LESS": "GEQ", "GEQ": "LESS", "GREATER": "LEQ"}


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How much a parameter matters in the middle of all ranges."""

    name: str
    slope: float  # change of the value per change of the parameter
    elasticity: float | None  # percent of the value per percent of the parameter; None where the value is 0


@dataclass(frozen=True, slots=True)
class Region:
    """A box of parameters, and whether the threshold is met in all of it (HOLDS) or nowhere in it (VIOLATED)."""

    box: Box
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Curve:
    """The values along one parameter, others in the middle of their ranges."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Varied:
    """What one property is over the ranges of open constants."""

    name: str
    text: str
    parameters: tuple[str, ...]
    function: str = ""  # empty where there is none, or one too long
    curves: tuple[Curve, ...] = ()
    least: float | None = None
    greatest: float | None = None
    sensitivities: tuple[Sensitivity, ...] = ()
    regions: tuple[Region, ...] = ()
    elapsed_s: float = 0.0

    @property
    def verdict(self) -> Verdict | None:
        """VIOLATED if it is missed somewhere, HOLDS if it is met everywhere; None for a number."""
        words = {region.verdict for region in self.regions}
        return next((word for word in (Verdict.VIOLATED, Verdict.UNKNOWN, Verdict.HOLDS) if word in words), None)

    def share(self, verdict: Verdict) -> float:
        """The share of all regions with this verdict."""
        sizes = [(_size(region.box), region.verdict) for region in self.regions]
        return float(sum(size for size, word in sizes if word == verdict) / sum(size for size, _ in sizes))


def vary(program: Program, wanted: Property, ranges: Mapping[str, Range]) -> tuple[Varied, Model]:
    """The answer to one property over the ranges, and the model that it is about."""
    begin = time.perf_counter()
    built = _build(program, wanted)
    model = built.handle
    if not {variable.name for variable in model.collect_all_parameters()} <= ranges.keys():
        raise _refuse(wanted, "some constant has neither a value nor a range", "Add --const NAME=… or --vary NAME=A..B")
    if len(list(model.initial_states)) != 1:
        raise _refuse(wanted, "there are several initial states", "Give the program one")
    try:
        if getattr(wanted.formula, "has_bound", False):
            decide = _by_fraction if program.kind in CHAINS else _by_lifting
            found = _by_regions(wanted, ranges, decide(model, wanted, tuple(ranges)))
        elif program.kind in CHAINS:
            found = _by_function(model, wanted, ranges)
        else:
            found = _by_extremes(model, wanted, ranges)
    except StormRefusal as problem:
        remedy = "Keep ranges away from where probabilities become 0 or 1, or try values: --const p=0.1..0.5/0.1"
        raise _refuse(wanted, " ".join(str(problem).split()).rstrip(".?"), remedy) from None
    return replace(found, elapsed_s=time.perf_counter() - begin), built


def _build(program: Program, wanted: Property) -> Model:
    """The model with fractions of polynomials as probabilities."""
    stormpy = storm()
    options = stormpy.BuilderOptions([wanted.formula])
    try:
        return build_measured(
            lambda: stormpy.build_model[stormpy.RationalFunction](program.handle, options=options),
            branching=program.branching,
        )
    except StormRefusal as problem:
        raise _refuse(
            wanted, " ".join(str(problem).split()).rstrip(".?"), "Write probabilities as polynomials"
        ) from None


# -- chains: a function -------------------------------------------------------------------------


def _by_function(model: Any, wanted: Property, ranges: Mapping[str, Range]) -> Varied:
    if is_finite(wanted.formula):
        raise _refuse(wanted, NO_FUNCTION, "Try values: --const p=0.1..0.5/0.1")
    function = _solve(model, wanted.formula)
    variables = {variable.name: variable for variable in function.gather_variables()}
    if not variables:
        value = float(number_of(function.constant_part()))
        return Varied(wanted.name, wanted.text, tuple(ranges), str(function), least=value, greatest=value)
    function_of = _Function(function, variables, ranges)
    curves = tuple(Curve(name, tuple(function_of.trace(name))) for name in variables)
    shown = str(function.rational_function()) if hasattr(function, "rational_function") else str(function)
    values = [value for curve in curves for _, value in curve.points]
    is_single = len(variables) == 1
    return Varied(
        wanted.name, wanted.text, tuple(ranges), shown if len(shown) <= LONGEST else "", curves,
        min(values) if is_single else None, max(values) if is_single else None,
        tuple(sorted(function_of.sensitivities(), key=lambda one: -abs(one.elasticity or 0))),
    )  # fmt: skip


def _solve(model: Any, formula: Any) -> Any:
    """The value in the initial state, by taking states out."""
    result = ask(lambda: storm().model_checking(model, formula, only_initial_states=True))
    function = result[next(iter(model.initial_states))]
    return getattr(function, "value", function)


class _Function:
    """A fraction of polynomials over ranges."""

    def __init__(self, function: Any, variables: Mapping[str, Any], ranges: Mapping[str, Range]) -> None:
        self._function, self._variables, self._ranges = function, variables, ranges
        self._middle = {name: Fraction(ranges[name].middle) for name in variables}

    def trace(self, name: str) -> Iterator[tuple[float, float]]:
        """The values along one parameter."""
        span = self._ranges[name]
        for number in range(SAMPLES):
            at = Fraction(span.least) + Fraction(span.greatest - span.least) * number / (SAMPLES - 1)
            yield float(at), float(self._evaluate(self._function, self._middle | {name: at}))

    def sensitivities(self) -> Iterator[Sensitivity]:
        """What each parameter changes in the middle."""
        value = self._evaluate(self._function, self._middle)
        for name, variable in self._variables.items():
            slope = self._evaluate(self._function.derive(variable), self._middle)
            elasticity = float(slope * self._middle[name] / value) if value else None
            yield Sensitivity(name, float(slope), elasticity)

    def _evaluate(self, function: Any, values: Mapping[str, Fraction]) -> Fraction:
        known = {self._variables[name]: _rational(value) for name, value in values.items()}
        return Fraction(number_of(ask(lambda: function.evaluate(known))))


# -- regions ------------------------------------------------------------------------------------


def _by_extremes(model: Any, wanted: Property, ranges: Mapping[str, Range]) -> Varied:
    """The least and the greatest value over the ranges, for the decisions that the property asks for."""
    stormpy = storm()
    from stormpy import pars

    region = _region(model, tuple(ranges), _whole(ranges))
    ends = [
        float(number_of(ask(lambda way=way: pars.compute_extremal_value(  # type: ignore[misc]
            model, wanted.formula, region=region, direction=way, precision=EXTREME
        ))[0]))
        for way in (stormpy.logic.OptimizationDirection.MINIMIZE, stormpy.logic.OptimizationDirection.MAXIMIZE)
    ]  # fmt: skip
    return Varied(wanted.name, wanted.text, tuple(ranges), least=ends[0], greatest=ends[1])


def _by_regions(wanted: Property, ranges: Mapping[str, Range], decide: Decide) -> Varied:
    """Where the threshold is met: boxes are divided until they are decided, or small."""
    whole = _whole(ranges)
    queue, found, checks = [whole], list[Region](), 0
    while queue:
        box, checks = queue.pop(0), checks + 1
        verdict = decide(box)
        if verdict == Verdict.UNKNOWN and _size(box) > LEAST_PART * _size(whole) and checks < MOST_CHECKS:
            queue += _halve(box, whole)
        else:
            found.append(Region(box, verdict))
    return Varied(wanted.name, wanted.text, tuple(ranges), regions=tuple(sorted(found, key=lambda one: one.box)))


def _by_fraction(model: Any, wanted: Property, names: tuple[str, ...]) -> Decide:
    """Decides boxes for a chain: the value less the threshold is a fraction whose sign is looked at."""
    number = wanted.formula.clone()
    number.remove_bound()
    if is_finite(number):
        raise _refuse(wanted, NO_FUNCTION, "Try values: --const p=0.1..0.5/0.1")
    function = _solve(model, number)
    if not hasattr(function, "rational_function"):
        raise StormRefusal("it has no finite value")
    fraction = function.rational_function()
    below = read_polynomial(fraction.denominator)
    above = read_polynomial(fraction.numerator).minus(threshold_of(wanted.formula), below)
    comparison = wanted.formula.comparison_type.name

    def decide(box: Box) -> Verdict:
        sides = dict(zip(names, box, strict=True))
        low, high = below.within(sides)
        least, most = above.within(sides)
        if low <= 0 <= high:
            return Verdict.UNKNOWN
        least, most = (least, most) if low > 0 else (-most, -least)
        return _judge(comparison, least, most)

    return decide


def _judge(comparison: str, least: Fraction, most: Fraction) -> Verdict:
    """Whether what lies between these is on the right side of 0."""
    if comparison in ("GEQ", "GREATER"):
        least, most = -most, -least
    is_strict = comparison in ("LESS", "GREATER")
    if most < 0 or (most == 0 and not is_strict):
        return Verdict.HOLDS
    return Verdict.VIOLATED if least > 0 or (least == 0 and is_strict) else Verdict.UNKNOWN


def _by_lifting(model: Any, wanted: Property, names: tuple[str, ...]) -> Decide:
    """Decides boxes for a decision process."""
    from stormpy import pars

    asked, negated = wanted.formula, _negate(wanted.formula)

    def decide(box: Box) -> Verdict:
        region = _region(model, names, box)
        for formula, verdict in ((asked, Verdict.HOLDS), (negated, Verdict.VIOLATED)):
            if ask(lambda: pars.verify(model, formula, region=region)):  # noqa: B023  asked at once
                return verdict
        return Verdict.UNKNOWN

    return decide


def _negate(formula: Any) -> Any:
    """The formula that holds where the first is missed: some decisions miss it."""
    comparison = _NEGATED[formula.comparison_type.name]
    threshold_of(formula)
    negated = formula.clone()
    negated.set_bound(getattr(storm().logic.ComparisonType, comparison), formula.threshold_expr)
    ways = storm().logic.OptimizationDirection
    negated.set_optimality_type(ways.MINIMIZE if comparison.startswith("LE") else ways.MAXIMIZE)
    return negated


def _halve(box: Box, whole: Box) -> list[Box]:
    """Two halves of a box, along its longest side."""
    shares = [(high - low) / (last - first) for (low, high), (first, last) in zip(box, whole, strict=True)]
    at = shares.index(max(shares))
    low, high = box[at]
    halves = ((low, (low + high) / 2), ((low + high) / 2, high))
    return [(*box[:at], half, *box[at + 1 :]) for half in halves]


def _whole(ranges: Mapping[str, Range]) -> Box:
    return tuple((Fraction(span.least), Fraction(span.greatest)) for span in ranges.values())


def _size(box: Box) -> Fraction:
    size = Fraction(1)
    for low, high in box:
        size *= high - low
    return size


def _region(model: Any, names: tuple[str, ...], box: Box) -> Any:
    """The box in Storm, without the parameters that the model does not depend on."""
    from stormpy import pars

    sides = dict(zip(names, box, strict=True))
    variables = {variable: sides[variable.name] for variable in model.collect_all_parameters()}
    return pars.create_region({one: (_rational(low), _rational(high)) for one, (low, high) in variables.items()})


def _rational(value: Fraction | Decimal) -> Any:
    number = Fraction(value)
    return storm().numbers.RationalFunctionCoefficient(f"{number.numerator}/{number.denominator}")


def _refuse(wanted: Property, reason: str, remedy: str) -> QuantityError:
    return QuantityError(f"cannot be varied: {reason}", file=f"property {wanted.text}", remedy=remedy)
