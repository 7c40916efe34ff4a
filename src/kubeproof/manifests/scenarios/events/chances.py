"""Probabilities and rates in a Scenario, and its `quantify` section; `verify` reads them as "may happen"."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from kubeproof.cluster.chances import Chance
from kubeproof.cluster.objects import Node
from kubeproof.events.declarations import Event, Moves
from kubeproof.events.quantities import Power, Prices, QuantifySettings
from kubeproof.manifests.scenarios.intents.targets import read_nodes
from kubeproof.manifests.yaml.durations import parse_long_seconds, parse_milliseconds, read_seconds
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.tree import Scalar, ScalarKind, Value, describe
from kubeproof.manifests.yaml.tree import Sequence as ListValue

_NUMBERS = (ScalarKind.INTEGER, ScalarKind.FLOAT)
_TOLERANCE = 1e-9  # of the sum of a row
_LARGEST = 1e12
_LEAST = 1e-300  # what is rarer may become 0 when it is divided among seconds, and the impossible is no event
_MOST_TIMES = 20  # start-up times: each is a way of its own for every pod
_CHANCES = ("probability", "ratePerHour", "ratePerYear", "mtbf")
CHANCE_KEYS = (*_CHANCES, "mttr", "crews")  # of an event, beside its own fields
_HOUR_S, _YEAR_H = 3600, 8760


def with_chance(fields: Fields, event: Event) -> Event:
    """The event with how likely it and its end are, as far as the Scenario says so."""
    if event.level_count and fields.has("transitions"):
        return event.with_moves(_moves(fields, event.level_count))
    chance = _chance(fields)
    if chance is not None and not event.is_chosen:
        key = next(key for key in _CHANCES if fields.has(key))
        fields.fail(key, "has no meaning here", remedy="It is not something that happens at a moment: remove the field")
    recovery = _recovery(fields, event)
    return replace(event, chance=chance, recovery=recovery, crews=_crews(fields, recovery))


def _crews(fields: Fields, recovery: Chance | None) -> int | None:
    """How many ends are worked on at a time; absent, each goes on by itself."""
    if not fields.has("crews"):
        return None
    if recovery is None:
        fields.fail("crews", "is given, but not how long a repair takes", remedy="Write mttr: 1h beside it")
    return fields.integer("crews", least=1)


def _recovery(fields: Fields, event: Event) -> Chance | None:
    key = next((key for key in ("mttr", "recovery") if fields.has(key)), None)  # not asked for, it is not suggested
    if key is None:
        return None
    if not event.may_end:
        fields.fail(key, "is given, but nothing recovers", remedy="Remove it, or let the event recover")
    if key == "mttr":
        if fields.has("recovery"):
            fields.fail("recovery", "is given beside mttr", remedy="Give one of the two")
        return _mean(fields, "mttr")
    child = fields.child("recovery")
    chance = None if child is None else _chance(child)
    if child is not None:
        child.finish_strictly(*_CHANCES[:3])
    if chance is None:
        fields.fail("recovery", "is empty", remedy="Write {probability: 0.1}, or {ratePerHour: 6}")
    return chance


def _chance(fields: Fields) -> Chance | None:
    given = [key for key in _CHANCES if fields.has(key)]
    if len(given) > 1:
        fields.fail(given[1], f"is given beside {given[0]}", remedy="Give one of the two")
    if "probability" in given:
        return Chance(per_tick=_probability(fields))
    if "mtbf" in given:
        return _mean(fields, "mtbf")
    for key in given:
        rate = read_amount(fields, key) or 0.0
        if rate == 0:
            fields.fail(key, "is 0", remedy="What never happens is no event: remove it")
        _refuse_next_to_nothing(fields, key, rate)
        return Chance(per_hour=rate / (_YEAR_H if key == "ratePerYear" else 1))
    return None


def _mean(fields: Fields, key: str) -> Chance:
    """The rate of what takes so long on average."""
    text = fields.text(key) or ""
    seconds = parse_long_seconds(text)
    if not seconds:
        fields.fail(key, f"is {printable(text)!r}", remedy="Write a duration such as 90d, 4h or 2y, above zero")
    return Chance(per_hour=_HOUR_S / seconds)


def _refuse_next_to_nothing(fields: Fields, key: str, value: float) -> None:
    if 0 < value < _LEAST:
        fields.fail(key, f"is {value:g}", remedy=f"Write at least {_LEAST:g}, or remove what never happens")


def _probability(fields: Fields) -> float:
    """A number above 0 and below 1, so that what may happen may, and what may wait may."""
    value = _number(fields, "probability", fields.value("probability"))
    if not 0 <= value <= 1:
        fields.fail("probability", f"is {value:g}", remedy="A probability lies between 0 and 1")
    if value == 0:
        fields.fail("probability", "is 0", remedy="What never happens is no event: remove it")
    _refuse_next_to_nothing(fields, "probability", value)
    if value == 1:
        remedy = "What happens for certain in every tick leaves no time for anything else: write less, such as 0.99"
        fields.fail("probability", "is 1", remedy=remedy)
    return value


def _moves(fields: Fields, levels: int) -> Moves:
    """A stochastic matrix with a row and a column per level, none of which is left for certain."""
    for key in _CHANCES:
        if fields.has(key):
            fields.fail(key, "is given beside transitions", remedy="Give one of the two")
    rows = fields.items("transitions")
    if len(rows) != levels:
        fields.fail("transitions", f"has {len(rows)} rows for {levels} levels", remedy="Write one row per level")
    return tuple(_row(fields, index, row, levels) for index, row in enumerate(rows))


def _row(fields: Fields, index: int, row: Value, levels: int) -> tuple[float, ...]:
    def fail(problem: str, remedy: str) -> None:
        fields.log.fail(f"{fields.path_of('transitions')}[{index}] {problem}", line=row.line, remedy=remedy)

    if not isinstance(row, ListValue):
        fail(f"is {describe(row)}", "Write a list of probabilities, one per level")
    numbers = tuple(_number(fields, "transitions", item) for item in getattr(row, "items", ()))
    if len(numbers) != levels:
        fail(f"has {len(numbers)} entries for {levels} levels", "Write one probability per level")
    if any(not 0 <= number <= 1 for number in numbers):
        fail("holds a number outside 0 to 1", "Each entry is a probability")
    if any(0 < number < _LEAST for number in numbers):
        fail("holds a number next to 0", f"Write 0, or at least {_LEAST:g}")
    if abs(math.fsum(numbers) - 1) > _TOLERANCE:
        fail(f"sums to {math.fsum(numbers):.12g}", "The probabilities of a row sum to 1")
    if numbers[index] == 0 and levels > 1:
        fail("leaves its level for certain", "Give the level itself, the diagonal, a probability above 0")
    return numbers


def read_start_times(kubelet: Fields) -> tuple[tuple[int, float], ...]:
    """`startup` as a list of times with probabilities that sum to 1."""
    choices = []
    for child in kubelet.children("startup"):
        seconds, probability = read_seconds(child, "time"), _number(child, "probability", child.value("probability"))
        if seconds is None:
            child.fail("time", "is required", remedy="Write [{time: 5s, probability: 0.7}, ...]")
        if not 0 < probability <= 1:
            child.fail("probability", f"is {probability:g}", remedy="It lies above 0 and is at most 1")
        child.finish_strictly("time", "probability")
        choices.append((seconds, probability))
    if not 0 < len(choices) <= _MOST_TIMES or len({seconds for seconds, _ in choices}) < len(choices):
        remedy = f"Write each time once, {_MOST_TIMES} at most"
        kubelet.fail("startup", f"has {len(choices)} entries, or a time twice", remedy=remedy)
    total = math.fsum(probability for _, probability in choices)
    if abs(total - 1) > _TOLERANCE:
        kubelet.fail("startup", f"has probabilities that sum to {total:.12g}", remedy="They sum to 1")
    return tuple(sorted(choices))


def _number(fields: Fields, key: str, value: Value | None) -> float:
    if not isinstance(value, Scalar) or value.kind not in _NUMBERS:
        shown = "absent" if value is None else describe(value)
        fields.fail(key, f"is or holds {shown}", remedy="Write plain numbers such as 0.05")
    return float(value.text)


def read_amount(fields: Fields, key: str) -> float | None:
    """A number that is not negative; None if absent."""
    if not fields.has(key):
        return None
    value = _number(fields, key, fields.value(key))
    if not 0 <= value <= _LARGEST:
        fields.fail(key, f"is {value:g}", remedy=f"It lies between 0 and {_LARGEST:g}")
    return value


def read_quantify(spec: Fields, nodes: Sequence[Node]) -> QuantifySettings:
    """`spec.quantify`, defaults where nothing is said."""
    fields = spec.child("quantify")
    default = QuantifySettings()
    if fields is None:
        return default
    settings = QuantifySettings(
        tick_s=_duration(fields, "tick", default.tick_s),
        step_s=_step_s(fields, default.step_s),
        horizon_s=_duration(fields, "horizon", default.horizon_s),
        power=tuple(_power(child, nodes) for child in _powers(fields)),
        prices=_prices(fields),
    )
    fields.finish_strictly("tick", "stepTime", "horizon", "power", "cost")
    return settings


def _duration(fields: Fields, key: str, default: int) -> int:
    seconds = read_seconds(fields, key)
    if seconds == 0:
        fields.fail(key, "is zero", remedy="Write a duration of at least 1s")
    return default if seconds is None else seconds


def _step_s(fields: Fields, default: float) -> float:
    if not fields.has("stepTime"):
        return default
    text = fields.number("stepTime") or ""
    milliseconds = parse_milliseconds(text)
    if not milliseconds:
        fields.fail("stepTime", f"is {printable(text)!r}", remedy="Write a duration such as 100ms, above zero")
    return milliseconds / 1000


def _powers(fields: Fields) -> list[Fields]:
    """One mapping for all nodes, or a list of them."""
    if isinstance(fields.value("power"), ListValue):
        return fields.children("power")
    child = fields.child("power")
    return [] if child is None else [child]


def _power(fields: Fields, nodes: Sequence[Node]) -> Power:
    idle, most = read_amount(fields, "idle"), read_amount(fields, "max")
    if idle is None or most is None or idle > most:
        remedy = "Write watts, such as {idle: 80, max: 200}"
        fields.log.fail(
            f"{fields.path} needs idle and max, idle not above max", line=fields.mapping.line, remedy=remedy
        )
    power = Power(idle, most, read_nodes(fields, nodes))
    fields.finish_strictly("idle", "max", "nodes")
    return power


def _prices(fields: Fields) -> Prices | None:
    child = fields.child("cost")
    if child is None:
        return None
    prices = Prices(
        read_amount(child, "nodeHour") or 0.0,
        read_amount(child, "podHour") or 0.0,
        read_amount(child, "kilowattHour") or 0.0,
    )
    child.finish_strictly("nodeHour", "podHour", "kilowattHour")
    return prices
