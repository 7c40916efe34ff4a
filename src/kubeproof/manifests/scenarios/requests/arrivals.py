"""Where requests come from: the `arrivals` of a service in `spec.workload`."""

from __future__ import annotations

import math
from collections.abc import Callable

from kubeproof.events.workload import (
    Arrivals,
    Bursts,
    Clients,
    Constant,
    JMeterFile,
    Modulated,
    Ramp,
    Sinusoid,
    Stream,
    TraceFile,
)
from kubeproof.manifests.scenarios.events.chances import read_amount
from kubeproof.manifests.scenarios.events.fields import Surroundings, only_key
from kubeproof.manifests.yaml.durations import is_bare_number, parse_milliseconds
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.tree import Mapping, Scalar, Sequence, Value

MOST_RATE = 10_000_000.0  # requests per second
_MOST_PHASES = 100
_TOLERANCE = 1e-9


def read_streams(service: Fields, around: Surroundings) -> tuple[Stream, ...]:
    """The arrivals of a service: one mapping, or a list whose requests come together."""
    if not service.has("arrivals"):
        return ()
    if isinstance(service.value("arrivals"), Mapping):
        return (_stream(service.require_child("arrivals"), around),)
    return tuple(_stream(entry, around) for entry in service.children("arrivals"))


def _stream(entry: Fields, around: Surroundings) -> Stream:
    key, fields = only_key(entry, set(_READERS), "kind of arrivals")
    is_random = key in ("poisson", "mmpp")
    if key in _MAY_BE_RANDOM:
        is_random = fields.boolean("random") or False
    arrivals = _READERS[key](fields, around)
    fields.finish_strictly()
    return Stream(arrivals, is_random)


def _constant(fields: Fields, around: Surroundings) -> Arrivals:
    return Constant(_rate(fields, "rate"))


def _ramp(fields: Fields, around: Surroundings) -> Arrivals:
    return Ramp(_rate(fields, "from"), _rate(fields, "to"), _positive_s(fields, "over"), read_s(fields, "start") or 0.0)


def _sinusoid(fields: Fields, around: Surroundings) -> Arrivals:
    return Sinusoid(
        _rate(fields, "mean"), _rate(fields, "amplitude"), _positive_s(fields, "period"), read_s(fields, "shift") or 0.0
    )


def _bursts(fields: Fields, around: Surroundings) -> Arrivals:
    every_s, lasts_s = _positive_s(fields, "every"), _positive_s(fields, "for")
    if lasts_s > every_s:
        fields.fail("for", "is longer than every", remedy="A burst ends before the next begins")
    return Bursts(_rate(fields, "base"), _rate(fields, "burst"), every_s, lasts_s, read_s(fields, "first") or 0.0)


def _read_modulated(fields: Fields, around: Surroundings) -> Arrivals:
    phases = fields.children("phases")
    if not 2 <= len(phases) <= _MOST_PHASES:
        remedy = "Write phases: [{rate: 10, mean: 60s}, {rate: 200, mean: 5s}]"
        fields.fail("phases", f"has {len(phases)} entries, not 2 to {_MOST_PHASES}", remedy=remedy)
    rates = tuple(_rate(phase, "rate") for phase in phases)
    means = tuple(_positive_s(phase, "mean") for phase in phases)
    for phase in phases:
        phase.finish_strictly("rate", "mean")
    return Modulated(rates, means, _moves(fields, len(phases)))


def _moves(fields: Fields, size: int) -> tuple[tuple[float, ...], ...] | None:
    """Row i: with which probability each phase follows phase i."""
    if not fields.has("next"):
        return None
    rows = tuple(_row(fields, item) for item in fields.items("next"))
    for at, row in enumerate(rows):
        if len(row) != size or abs(math.fsum(row) - 1) > _TOLERANCE or row[at] != 0:
            remedy = "Give each phase a row: the probability of each next phase, 0 for itself, 1 in all"
            fields.fail("next", f"has a row {at + 1} that does not say which of {size} phases is next", remedy=remedy)
    if len(rows) != size:
        fields.fail("next", f"has {len(rows)} rows for {size} phases", remedy="Write one row for each phase")
    return rows


def _row(fields: Fields, item: Value) -> tuple[float, ...]:
    numbers = [_probability(each) for each in item.items] if isinstance(item, Sequence) else [None]
    if any(number is None for number in numbers):
        fields.fail("next", "holds something else than rows of probabilities", remedy="Write next: [[0, 1], [1, 0]]")
    return tuple(number for number in numbers if number is not None)


def _probability(item: Value) -> float | None:
    try:
        number = float(item.text) if isinstance(item, Scalar) else math.nan
    except ValueError:
        return None
    return number if 0 <= number <= 1 else None


def _clients(fields: Fields, around: Surroundings) -> Arrivals:
    return Clients(
        start_s=read_s(fields, "start") or 0.0,
        clients=fields.integer("count", least=1, most=1_000_000) or 1,
        spacing_s=read_s(fields, "spacing") or 0.0,
        requests=fields.integer("requests", least=1, most=100_000_000) or 1,
        pause_s=_positive_s(fields, "pause") if fields.has("pause") else 1.0,
    )


def _trace(fields: Fields, around: Surroundings) -> Arrivals:
    file, text = around.read_beside(fields, "file")
    return TraceFile(file, text, fields.source)


def _jmeter(fields: Fields, around: Surroundings) -> Arrivals:
    file, text = around.read_beside(fields, "file")
    return JMeterFile(file, text, fields.source)


_READERS: dict[str, Callable[[Fields, Surroundings], Arrivals]] = {
    "constant": _constant,
    "poisson": _constant,
    "ramp": _ramp,
    "sinusoid": _sinusoid,
    "bursts": _bursts,
    "mmpp": _read_modulated,
    "clients": _clients,
    "csv": _trace,
    "jmeter": _jmeter,
}
_MAY_BE_RANDOM = ("ramp", "sinusoid", "bursts", "csv")


def _rate(fields: Fields, key: str) -> float:
    rate = read_amount(fields, key)
    if rate is None:
        fields.fail(key, "is required", remedy="Write requests per second")
    if rate > MOST_RATE:
        fields.fail(key, f"is {rate:g}", remedy=f"At most {MOST_RATE:g} requests per second")
    return rate


def read_s(fields: Fields, key: str) -> float | None:
    """A duration in seconds, exact to a millisecond; None if absent."""
    if is_bare_number(fields, key):
        fields.fail(key, "has no unit", remedy="Write a duration such as 500ms, 40s or 1m30s")
    text = fields.text(key)
    if text is None:
        return None
    milliseconds = parse_milliseconds(text)
    if milliseconds is None:
        fields.fail(key, f"is {printable(text)!r}", remedy="Write a duration such as 500ms, 40s or 1m30s")
    return milliseconds / 1000


def _positive_s(fields: Fields, key: str) -> float:
    seconds = read_s(fields, key)
    if not seconds:
        fields.fail(key, "is zero" if fields.has(key) else "is required", remedy="Write a duration such as 40s")
    return seconds
