"""Answers of probabilistic models as text and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from kubeproof.report.escape import escape
from kubeproof.report.quantify.tradeoffs import (
    front_json,
    strategy_json,
    tell_front,
    tell_strategy,
    tell_varied,
    varied_json,
)
from kubeproof.verdicts import Verdict

if TYPE_CHECKING:
    from kubeproof.quantify.checking import Answer
    from kubeproof.quantify.published.policy import Policy
    from kubeproof.quantify.result import ModelResult, PropertyResult, QuantifyResult

COUNTING = "choices counted as Storm does: commands with the same action and outcome are not merged"
_GUARANTEES = {
    "exact": "exact",
    "interval": "bounds of a sound method",
    "rounding": "bounds of rounding",
    "none": "no bounds: converged by the method's own criterion",
}
NOTHING = 1e-300
_DIGITS = 4000  # of an exact fraction; longer ones are given as a decimal number only


def as_text(result: QuantifyResult) -> str:
    """All answers for people."""
    is_table = len(result.models) > 1
    lines = [*_table(result.models), ""] if is_table else [*_model(result.models[0]), ""]
    lines += [line for model in result.models if model.policy for line in (*_policy(model.title, model.policy), "")]
    lines += [line for model in result.models for one in model.strategies for line in (*tell_strategy(one), "")]
    lines.append(f"{COUNTING}.")
    lines.append(_summary(result))
    return "".join(f"{escape(line).rstrip()}\n" for line in lines)


def _model(model: ModelResult) -> Iterator[str]:
    given = f" ({', '.join(f'{name}={value}' for name, value in model.headline)})" if model.headline else ""
    yield f"{model.title}{given}"
    yield (
        f"  {model.kind}: {model.states:,} states, {model.choices:,} choices, {model.transitions:,} transitions; "
        f"built in {model.build_s:.2f} s, checked in {model.check_s:.2f} s"
    )
    yield from (f"  note: {note}" for note in model.notes)
    for one in model.results:
        yield from _property(one)
    yield from _beyond_numbers(model)


def _beyond_numbers(model: ModelResult) -> Iterator[str]:
    """Fronts, and functions of constants."""
    for front in model.fronts:
        yield from tell_front(front)
    for varied in model.varied:
        yield from tell_varied(varied)


def _table(models: Sequence[ModelResult]) -> Iterator[str]:
    """One line a model, one column a property; bounds and methods are in the JSON report."""
    names = list(dict.fromkeys(one.name for model in models for one in model.results))
    rows = [["model", "states", "transitions", "choices", "build s", "check s", *names]]
    for model in models:
        found = {one.name: one for one in model.results}
        sizes = [f"{model.states:,}", f"{model.transitions:,}", f"{model.choices:,}"]
        times = [f"{model.build_s:.2f}", f"{model.check_s:.2f}"]
        rows.append([model.title, *sizes, *times, *(_cell(found.get(name)) for name in names)])
    yield from _align(rows)
    for model in models:
        told = list(_beyond_numbers(model))
        yield from (f"{model.title}:", *told) if told else ()
    yield from (f"note: {model.title}: {note}" for model in models for note in model.notes)


def _cell(one: PropertyResult | None) -> str:
    if one is None:
        return ""
    return one.verdict or (number(one.answer.value) if one.answer.value is not None else show_answer(one.answer))


def _align(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The rows with columns of equal width, the first to the left, all others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = (f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
        yield f"{row[0]:<{widths[0]}}  " + "  ".join(cells)


def _policy(title: str, policy: Policy) -> Iterator[str]:
    """The optimal decisions by situation."""
    from kubeproof.quantify.published.policy import ranges

    yield f"{title}: optimal decisions for {policy.property}, with all steps still to come"
    rows = [["utilisation", "pods", "pods wanted", "best", "possible"]]
    for row in policy.rows:
        best = "; ".join(" or ".join(good) for good in row.best)
        rows.append([f"{row.utilisation} %", ranges(row.pods), ranges(row.wanted), best, ", ".join(row.possible)])
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    for cells in rows:
        yield "  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))
    yield "  wait: take new metrics first; a or b: equally good; a; b: depends on the rest of the situation"
    yield f"  HPA: {policy.reason}"
    yield from (f"    {line}" for line in policy.behavior.splitlines())


def _property(one: PropertyResult) -> Iterator[str]:
    answer = one.answer
    word = f"{one.verdict} " if one.verdict else ""
    named = f"{one.name}: " if one.name != one.text else ""
    yield f"  {word}{named}{one.text}"
    yield f"    {show_answer(answer)}"
    yield f"    {answer.method}, {_GUARANTEES[answer.guarantee]}, {answer.elapsed_s:.2f} s"
    if one.verdict == Verdict.UNKNOWN:
        yield f"    {_reason(answer)}"


def _is_nothing(answer: Answer) -> bool:
    """True for an amount of 0 whose bound stands for numbers that are too small to be written; JSON has it."""
    return answer.value == 0 == answer.lower and (answer.upper or 0) < NOTHING and not answer.formula.startswith("P")


def show_answer(answer: Answer) -> str:
    """The number with its bounds, or the truth."""
    if answer.value is None and answer.lower is None:
        return "true" if answer.holds else "false" if answer.holds is not None else "open"
    if answer.value is None:
        return (
            f"between {number(answer.lower)} and {number(answer.upper)} over {answer.initial_states:,} initial states"
        )
    if answer.guarantee == "exact":
        return _exact(answer.value)
    if answer.lower is None or answer.lower == answer.upper or _is_nothing(answer):
        return number(answer.value)
    return f"{number(answer.value)}  within [{number(answer.lower)}, {number(answer.upper)}]"


def _exact(value: float | Fraction) -> str:
    """The number, and as a fraction if that is another text and short."""
    shown = number(value)
    is_told = isinstance(value, Fraction) and _is_short(value) and str(value) != shown
    return f"{shown} = {value}" if is_told else shown


def _reason(answer: Answer) -> str:
    if answer.is_question and answer.lower is not None:
        return "the threshold lies between the bounds: ask for more --precision, or --exact"
    if answer.is_question:
        return "the threshold is too close to a value without bounds: ask for --exact, or without --no-sound"
    return f"not converged to a relative precision of {answer.precision:g}: allow more --max-iterations, or --exact"


def _is_short(value: Fraction) -> bool:
    return max(value.numerator.bit_length(), value.denominator.bit_length()) < 128


def number(value: float | Fraction | None) -> str:
    """A number with as many digits as double precision has."""
    if value is None:
        return "unknown"
    rounded = _round(value)
    if rounded is None or (rounded == 0 and value != 0):
        return _beyond_floats(Fraction(value))
    return "infinity" if rounded == math.inf else "-infinity" if rounded == -math.inf else f"{rounded:.15g}"


def _round(value: float | Fraction) -> float | None:
    """The nearest number of double precision; None for a fraction beyond them."""
    try:
        return float(value)
    except OverflowError:
        return None


def _beyond_floats(value: Fraction) -> str:
    """A number that is too large or too small for double precision."""
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = 15, MAX_EMAX, MIN_EMIN
        return f"{(Decimal(value.numerator) / Decimal(value.denominator)).normalize():e}"


def _summary(result: QuantifyResult) -> str:
    verdicts = [one.verdict for model in result.models for one in model.results]
    verdicts += [one.verdict or "" for model in result.models for one in model.varied]
    computed = verdicts.count("") + sum(len(model.fronts) for model in result.models)
    counts = ((verdicts.count(word), word) for word in (Verdict.HOLDS, Verdict.VIOLATED, Verdict.UNKNOWN))
    parts = [f"{computed} computed", *(f"{count} {word}" for count, word in counts if count)]
    asked = len(verdicts) + sum(len(model.fronts) for model in result.models)
    many = "property" if asked == 1 else "properties"
    return f"{result.verdict + ': ' if result.verdict else ''}{asked} {many} ({', '.join(parts)})"


def as_yaml(result: QuantifyResult) -> str:
    """The HPA behaviors that policies suggest, one document a model; where none fits, the reason as a comment."""
    policies = [(model.title, model.policy) for model in result.models if model.policy is not None]
    return "---\n".join(f"# {title}, {one.property}: {one.reason}\n{one.behavior}" for title, one in policies)


def as_json(result: QuantifyResult) -> str:
    """All answers as one document."""
    content = {
        "version": 1,
        "verdict": result.verdict or None,
        "counting": COUNTING,
        "swept": list(result.swept),
        "models": [model_json(model) for model in result.models],
    }
    return json.dumps(content, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def model_json(model: ModelResult) -> dict[str, Any]:
    """One model as plain values."""
    return {
        "model": model.title,
        "parameters": dict(model.parameters),
        "kind": model.kind,
        "states": model.states,
        "choices": model.choices,
        "transitions": model.transitions,
        "build_s": model.build_s,
        "check_s": model.check_s,
        "notes": list(model.notes),
        "results": [_property_json(one) for one in model.results],
        "fronts": [front_json(one) for one in model.fronts],
        "varied": [varied_json(one) for one in model.varied],
        "strategies": [strategy_json(one) for one in model.strategies],
        **({} if model.policy is None else {"policy": _policy_json(model.policy)}),
    }


def _policy_json(policy: Policy) -> dict[str, Any]:
    rows = [
        {
            "utilisation": row.utilisation,
            "pods": list(row.pods),
            "wanted": list(row.wanted),
            "best": [list(good) for good in row.best],
            "possible": list(row.possible),
        }
        for row in policy.rows
    ]
    return {"property": policy.property, "rows": rows, "behavior": policy.behavior or None, "reason": policy.reason}


def _property_json(one: PropertyResult) -> dict[str, Any]:
    answer = one.answer
    is_exact = answer.guarantee == "exact" and isinstance(answer.value, Fraction)
    return {
        "name": one.name,
        "property": one.text,
        "verdict": one.verdict or None,
        "value": _plain(answer.value),
        "exact": _fraction(answer.value) if is_exact else None,
        "lower": _plain(answer.lower),
        "upper": _plain(answer.upper),
        "holds": answer.holds,
        "guarantee": answer.guarantee,
        "method": answer.method,
        "precision": answer.precision,
        "converged": answer.is_converged,
        "initial_states": answer.initial_states,
        "elapsed_s": answer.elapsed_s,
    }


def _fraction(value: object) -> str | None:
    """The fraction, unless Python refuses to write one so long."""
    is_short = isinstance(value, Fraction) and max(map(int.bit_length, value.as_integer_ratio())) < 3 * _DIGITS
    return str(value) if is_short else None


def _plain(value: float | Fraction | None) -> float | str | None:
    """A number of JSON; infinity, which it has not, as a word."""
    if value is None:
        return None
    plain = _round(value)
    if plain is None:
        return None  # beyond all numbers; `exact` has it
    return plain if math.isfinite(plain) else "infinity" if plain > 0 else "-infinity"
