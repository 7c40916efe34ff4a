"""Answers about a cluster's chances as text and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kubeproof.report.escape import escape

if TYPE_CHECKING:
    from kubeproof.quantify.clusters.result import ClusterResult, IntentChances, Span, Value, Waits

ORDERS = {
    "open": "any loop with work may act next: least and greatest value over all orders",
    "uniform": "every loop with work is equally likely to act next",
}


def as_text(result: ClusterResult) -> str:
    """All answers for people."""
    return "".join(f"{escape(line).rstrip()}\n" for line in _lines(result))


def _lines(result: ClusterResult) -> Iterator[str]:
    size = result.size
    yield f"Scenario {result.scenario}"
    yield from _section("Scope", (f"{name}: {value}" for name, value in result.scope))
    yield from ("", "Process")
    yield f"  {size.states:,} states and {size.transitions:,} transitions, as verify explores them"
    yield from _in_steps(result) if result.waits is None else _in_continuous_time(result, result.waits)
    yield from ("", *_table(list_rows(result)))
    yield from _section(f"At most {number(result.at_most or 0)} within the horizon", _judge(result))
    for varied in result.variations:
        title = f"Violated within {duration(result.horizon_s)}, by {varied.title}"
        yield from _section(title, (f"{duration(at)}: {_tell_span(span)}" for at, span in varied.points))
    yield from _section("Service levels", _tell_levels(result))
    told = "1 % more of a rate changes the probability of a violation within the horizon by"
    yield from _section(told, (f"{value:+.4g} %  {name}" for name, value in result.sensitivities))
    yield from _section("Not computed", _list_skipped(result))
    yield from _section("Not quantified", result.not_quantified)
    yield from _section(f"Not modelled ({len(result.not_modelled)})", result.not_modelled)


def _in_steps(result: ClusterResult) -> Iterator[str]:
    """The process with ticks."""
    size = result.size
    yield f"  {size.process_states:,} states, {size.choices:,} choices and {size.entries:,} probabilities in Storm"
    times = (size.explore_s, size.build_s, size.hand_over_s)
    yield "  explored in {:.2f} s, built in {:.2f} s, handed over in {:.2f} s".format(*times)
    yield f"  order {result.order}: {ORDERS[result.order]}"
    tick = duration(result.tick_s)
    yield f"  events come before waits, at rest at most one per tick of {tick}: numbers and bounds are of this process"
    if result.open_events:
        yield f"  open, at the worst and at the best moment: {', '.join(result.open_events)}"


def _in_continuous_time(result: ClusterResult, waits: Waits) -> Iterator[str]:
    """The process with rates."""
    size = result.size
    yield f"  in {size.process_states:,} states time passes; {size.entries:,} rates; explored in {size.explore_s:.2f} s"
    yield f"  order {result.order}: {ORDERS[result.order]}"
    if not waits.is_whole:
        yield (
            f"  failures in states that take up less than about {waits.rarest:.0e} of the time are counted both ways: "
            "as harmless in `from`, as a violation in `to`"
        )
    if waits.phases:
        phases = f"{', '.join(map(str, (1, *waits.phases[:-1])))} and {waits.phases[-1]}"
        told = "what the answers tend to: in that `from` and `to` are estimates, no bounds"
        yield f"  waits in {phases} phases, and {told}"
    else:
        yield "  waits are exponential, with the right mean: there are too many states for more phases"


def _section(title: str, lines: Sequence[str] | Iterator[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield from ("", title, *(f"  {line}" for line in found))


def list_rows(result: ClusterResult) -> list[list[str]]:
    """Head and rows of the table, each once: several promises may be about the same pods."""
    return [list(row) for row in dict.fromkeys(map(tuple, _rows(result)))]


def _rows(result: ClusterResult) -> Iterator[list[str]]:
    horizon = duration(result.horizon_s)
    cells = _least_and_greatest if result.waits is None else _value_and_extent
    yield ["", "least", "greatest"] if result.waits is None else ["", "value", "from", "to"]
    for one in result.intents:
        if one.within is not None:
            yield [f"P({one.intent} is violated within {horizon})", *cells(one.within, number)]
        if one.ever is not None:
            yield [f"P({one.intent} is ever violated)", *cells(one.ever, number)]
        if one.first_s is not None:
            yield [f"expected time to the first violation of {one.intent}", *cells(one.first_s, duration)]
    for amount in result.amounts:
        yield [f"expected {amount.unit} over {horizon}", *cells(amount.span, number)]
    for shortage in result.shortages:
        below = f"below {shortage.count} ready, {shortage.target}"
        if shortage.within is not None:
            yield [f"expected share of {horizon} {below}", *cells(shortage.within, number)]
        if shortage.span is not None:
            yield [f"long-run share of time {below}", *cells(shortage.span, number)]
        if shortage.recovery_s is not None:
            yield [f"mean time {below}, until it is over", *cells(shortage.recovery_s, duration)]


def _least_and_greatest(span: Span, shown: Any) -> list[str]:
    return [_cell(value, shown) for value in (span.least, span.greatest)]


def _value_and_extent(span: Span, shown: Any) -> list[str]:
    """The value, or from which to which it is for different first placements; and between what it lies."""
    least, greatest = span.least, span.greatest
    if least is None or greatest is None:
        return ["-", "-", "-"]
    ends = [_cell(least, shown), _cell(greatest, shown)]
    extent = ["-" if bound is None else str(shown(bound)) for bound in (least.lower, greatest.upper)]
    return [" to ".join(dict.fromkeys(ends)), *extent]


def _cell(value: Value | None, shown: Any) -> str:
    return "-" if value is None else str(shown(value.value))


def _table(rows: list[list[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
        yield "  ".join((f"{row[0]:<{widths[0]}}", *cells))


def _tell_span(span: Span) -> str:
    """The value, or from which to which it is."""
    if span.least is None or span.greatest is None:
        return span.skipped
    return " to ".join(dict.fromkeys(number(value.value) for value in (span.least, span.greatest)))


def _judge(result: ClusterResult) -> Iterator[str]:
    for one, verdict in zip(result.intents, result.verdicts, strict=False):
        yield f"{verdict} {one.intent}"


def _tell_levels(result: ClusterResult) -> Iterator[str]:
    """What is expected, in the long run or over the horizon, against what was promised."""
    for one in result.levels:
        value = "not computed" if one.value is None else f"{one.value:.8g}"
        yield f"{one.verdict} {one.id} {one.name}: {value}, limit {one.limit:.8g}"


def _list_skipped(result: ClusterResult) -> Iterator[str]:
    spans: list[tuple[str, Span | None]] = [
        (f"{one.intent}", span) for one in result.intents for span in (one.within, one.ever, one.first_s)
    ]
    spans += [(amount.unit, amount.span) for amount in result.amounts]
    for short in result.shortages:
        spans += [
            (f"share of the horizon of {short.intent}", short.within),
            (f"long run of {short.intent}", short.span),
        ]
        spans += [(f"recovery of {short.intent}", short.recovery_s)]
    for what, span in spans:
        if span is not None and span.skipped:
            yield f"{what}: {span.skipped}"


def number(value: float) -> str:
    """Six significant digits."""
    return "infinite" if math.isinf(value) else f"{value:.6g}"


def duration(seconds: float) -> str:
    """A duration in the largest unit that fits."""
    if math.isinf(seconds):
        return "infinite"
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length or (seconds >= length and seconds % length == 0):
            return f"{seconds / length:.6g} {unit}"
    return f"{seconds:.6g} s"


def as_json(result: ClusterResult) -> str:
    """The same as one JSON document."""
    return json.dumps(document(result), indent=2) + "\n"


def document(result: ClusterResult) -> dict[str, Any]:
    """The answers as plain values."""
    size = result.size
    return {
        "version": 1,
        "scenario": result.scenario,
        "order": result.order,
        "horizon_s": result.horizon_s,
        "tick_s": result.tick_s,
        "time": "steps" if result.waits is None else "rates",
        "waits": None
        if result.waits is None
        else {"phases": list(result.waits.phases), "rarest": result.waits.rarest, "is_whole": result.waits.is_whole},
        "verdict": result.verdict or None,
        "at_most": result.at_most,
        "scope": dict(result.scope),
        "process": {name: getattr(size, name) for name in size.__slots__},
        "results": [_intent(one) for one in result.intents],
        "amounts": [{"name": a.name, "unit": a.unit, **_span(a.span)} for a in result.amounts],
        "long_run": [
            {"intent": s.intent, "target": s.target, "below": s.count, **_span(s.span)} for s in result.shortages
        ],
        "share_of_horizon": [
            {"intent": s.intent, "target": s.target, "below": s.count, **_span(s.within)} for s in result.shortages
        ],
        "recovery_s": [
            {"intent": s.intent, "target": s.target, "below": s.count, **_span(s.recovery_s)} for s in result.shortages
        ],
        "service_levels": [
            {name: getattr(one, name) for name in ("id", "key", "name", "target", "verdict", "value", "limit")}
            for one in result.levels
        ],
        "variations": [
            {"of": one.title, "points": [{"mean_s": at, **_span(span)} for at, span in one.points]}
            for one in result.variations
        ],
        "sensitivities": [{"rate": name, "elasticity": value} for name, value in result.sensitivities],
        "open_events": list(result.open_events),
        "not_quantified": list(result.not_quantified),
        "not_modelled": list(result.not_modelled),
    }


def _intent(one: IntentChances) -> dict[str, Any]:
    return {
        "id": one.id,
        "intent": one.intent,
        "key": one.key,
        "target": one.target,
        "possible": one.is_possible,
        "violated_within": _span(one.within),
        "over_time": [{"within_s": seconds, **_span(span)} for seconds, span in one.over_time],
        "violated_ever": _span(one.ever),
        "first_violation_s": _span(one.first_s),
        "location": {"file": one.source.file, "line": one.source.line},
    }


def _span(span: Span | None) -> dict[str, Any]:
    """Least and greatest; null what was not asked for or not computed, and why."""
    if span is None:
        return {"min": None, "max": None}
    found: dict[str, Any] = {"min": _value(span.least), "max": _value(span.greatest)}
    return found | ({"not_computed": span.skipped} if span.skipped else {})


def _value(value: Value | None) -> dict[str, Any] | None:
    if value is None:
        return None
    numbers = {"value": value.value, "lower": value.lower, "upper": value.upper}
    return {name: _plain(found) for name, found in numbers.items()} | {"guarantee": value.guarantee}


def _plain(value: float | None) -> float | str | None:
    """A number that JSON has; an infinite one in words."""
    return "infinite" if value is not None and math.isinf(value) else value
