"""Recorded runs of a small shop to try mining and monitoring on: clean ones, and some with one injected fault each.

Orders go from the gateway to stock, payments, packing and mail; a worker polls all the time. Events carry no identity
of their order: as in many real traces, whoever watches has to count.
"""

from __future__ import annotations

import csv
import json
import os
import random
from collections.abc import Callable, Sequence
from enum import Enum

from kubeproof.errors import EnvironmentProblem, UsageError
from kubeproof.manifests.yaml.printable import printable
from kubeproof.monitor.event import SECOND_US, Event
from kubeproof.monitor.mining.runs import FAILURE, INDEX, NO_FAILURE, RunInfo
from kubeproof.values import dataclass

NOTICED_US = 45 * SECOND_US  # after which a customer complains
POLL_US = 10 * SECOND_US
HARMLESS_SHARE = 0.4  # of the injected faults


class Fault(Enum):
    """What is done to one order, or to a service in the middle of a run."""

    OMISSION = "omission"  # a message is lost, and nothing of its order comes after it
    DELAY = "delay"  # a message comes a minute late, and the rest of its order with it
    DUPLICATION = "duplication"  # a message is sent, and acted on, twice
    DISORDER = "disorder"  # a message comes before the one that it answers
    CRASH = "crash"  # a service sends nothing any more


@dataclass(frozen=True, slots=True)
class Step:
    """One message of an order, and how long after the one before it comes, in milliseconds."""

    name: str
    source: str
    target: str
    least_ms: int
    most_ms: int


ORDER = (
    Step("place order", "gateway", "shop", 0, 0),
    Step("reserve", "shop", "stock", 20, 200),
    Step("charge", "shop", "payments", 50, 400),
    Step("charged", "payments", "shop", 200, 1_500),
    Step("pack", "shop", "stock", 100, 800),
    Step("packed", "stock", "shop", 1_000, 4_000),
    Step("confirm", "shop", "mail", 100, 900),
)


@dataclass(frozen=True, slots=True)
class Recorded:
    """One run, with what is known about it."""

    info: RunInfo
    fault: str  # empty without one
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class SampleOptions:
    """How many runs of which kinds."""

    clean: int = 120
    faulty: int = 40
    faults: tuple[Fault, ...] = tuple(Fault)
    seed: int = 1


def record_samples(options: SampleOptions = SampleOptions()) -> list[Recorded]:
    """The runs; the same for the same options."""
    chance = random.Random(options.seed)
    clean = [_record(f"clean-{number:03}", None, chance) for number in range(options.clean)]
    faults = [options.faults[number % len(options.faults)] for number in range(options.faulty)]
    return clean + [_record(f"faulty-{number:03}", fault, chance) for number, fault in enumerate(faults)]


def _record(name: str, fault: Fault | None, chance: random.Random) -> Recorded:
    """Ten to twenty orders within five minutes, one of them with the fault if there is one."""
    starts = sorted(chance.randrange(5 * SECOND_US, 280 * SECOND_US) for _ in range(chance.randrange(10, 21)))
    orders = [_order(start, chance) for start in starts]
    is_failure = fault is not None and chance.random() >= HARMLESS_SHARE
    moment_us = None
    if fault is not None:
        hit, place = chance.randrange(len(orders) // 2), chance.randrange(1, len(ORDER) - 2)
        moment_us = orders[hit][place].time_us
        if is_failure:
            _INJECT[fault](orders, hit, place)
        else:
            _delay(orders, hit, place, chance.randrange(SECOND_US // 10, SECOND_US // 2))
    end_us = 360 * SECOND_US
    polls = [Event(time, "poll", "worker", "stock") for time in range(chance.randrange(POLL_US), end_us, POLL_US)]
    events = sorted(event for order in [*orders, polls] for event in order)
    noticed_us = None if moment_us is None or not is_failure else moment_us + NOTICED_US
    info = RunInfo(name, name, is_failure, fault is not None, is_failure, noticed_us, moment_us, end_us)
    return Recorded(info, fault.value if fault else "", tuple(event._replace(run=name) for event in events))


def _order(start_us: int, chance: random.Random) -> list[Event]:
    events, now = [], start_us
    for step in ORDER:
        now += 1000 * chance.randint(step.least_ms, step.most_ms)
        events.append(Event(now, step.name, step.source, step.target))
    return events


Orders = list[list[Event]]


def _omit(orders: Orders, hit: int, place: int) -> None:
    del orders[hit][place:]


def _delay(orders: Orders, hit: int, place: int, by_us: int = 60 * SECOND_US) -> None:
    order = orders[hit]
    order[place:] = [event._replace(time_us=event.time_us + by_us) for event in order[place:]]


def _duplicate(orders: Orders, hit: int, place: int) -> None:
    rest = orders[hit][place:]
    orders[hit] += [event._replace(time_us=event.time_us + SECOND_US // 2) for event in rest]


def _disorder(orders: Orders, hit: int, place: int) -> None:
    """The answer comes at once, before anybody has asked, and what it should have waited for never happens."""
    order = orders[hit]
    early = order[place + 1]._replace(time_us=order[place - 1].time_us + 1000)
    order[place:] = [early]


def _crash(orders: Orders, hit: int, place: int) -> None:
    dead, since_us = orders[hit][place].source, orders[hit][place].time_us
    for order in orders[hit:]:
        first = next((n for n, event in enumerate(order) if event.source == dead and event.time_us >= since_us), None)
        if first is not None:
            del order[first:]


_INJECT: dict[Fault, Callable[[Orders, int, int], None]] = {
    Fault.OMISSION: _omit,
    Fault.DELAY: _delay,
    Fault.DUPLICATION: _duplicate,
    Fault.DISORDER: _disorder,
    Fault.CRASH: _crash,
}


def write_samples(runs: Sequence[Recorded], directory: str) -> None:
    """Writes the events and what is known about their runs, as `mine` and `evaluate` read them."""
    try:
        os.makedirs(directory, exist_ok=True)
        if os.listdir(directory):
            raise UsageError(f"{printable(directory)} is not empty", "Name a new directory.")
        with open(os.path.join(directory, "events.jsonl"), "w", encoding="utf-8") as events:
            for run in runs:
                events.writelines(f"{json.dumps(_record_of(event))}\n" for event in run.events)
        with open(os.path.join(directory, INDEX), "w", encoding="utf-8", newline="") as index:
            csv.writer(index, lineterminator="\n").writerows([_HEAD, *map(_row, runs)])
    except OSError as problem:
        raise EnvironmentProblem(f"E401 cannot write {printable(directory)}: {problem.strerror}.") from None


_HEAD = ["run", "label", "fault_type", "first_activation_s", "first_symptom_s", "workload_end_s"]


def _record_of(event: Event) -> dict[str, object]:
    return {
        "run": event.run, "time": event.time_us / SECOND_US, "name": event.name, "source": event.source,
        "target": event.target,
    }  # fmt: skip


def _row(one: Recorded) -> list[str]:
    label = FAILURE if one.info.is_failure else NO_FAILURE
    moments = (one.info.activation_us, one.info.symptom_us, one.info.end_us)
    return [one.info.name, label, one.fault, *("" if us is None else f"{us / SECOND_US:.6f}" for us in moments)]
