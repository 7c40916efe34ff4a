"""From what a Scenario declares to sources of requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kubeproof.errors import HostileInputError
from kubeproof.events.workload import (
    Bursts,
    Clients,
    JMeterFile,
    Modulated,
    ServiceLoad,
    Stream,
    TraceFile,
    TrafficShift,
)
from kubeproof.simulate.serving.jmeter import crowds_of
from kubeproof.simulate.serving.numbers import numpy
from kubeproof.simulate.serving.rates import Pieces, Rate, Shifted, rate_of
from kubeproof.simulate.serving.sources import Crowd, Merged, Multiplied, Paced, Points, Source
from kubeproof.simulate.serving.traces import pieces_of

MOST_PIECES, MOST_CLIENTS = 1_000_000, 1_000_000


def source_of(load: ServiceLoad, shifts: Sequence[TrafficShift], seed: Sequence[int], duration_s: float) -> Source:
    """All requests that come to a service from outside."""
    own = [shift for shift in shifts if shift.service == load.name]
    changes = _factors(own) if own else None
    return Merged(
        [
            source
            for number, stream in enumerate(load.streams)
            for source in _sources(load, stream, numpy().random.default_rng([*seed, number]), changes, duration_s)
        ]
    )


Changes = tuple[list[float], list[float]]


def _factors(shifts: Sequence[TrafficShift]) -> Changes:
    """Moments at which the product of all factors changes, and that product."""
    ends = [shift.at_s + shift.for_s for shift in shifts if shift.for_s is not None]
    starts = sorted({0.0, *(float(shift.at_s) for shift in shifts), *(float(end) for end in ends)})
    return starts, [_factor(shifts, start) for start in starts]


def _factor(shifts: Sequence[TrafficShift], now: float) -> float:
    product = 1.0
    for shift in shifts:
        if shift.at_s <= now and (shift.for_s is None or now < shift.at_s + shift.for_s):
            product *= shift.factor
    return product


def _sources(
    load: ServiceLoad, stream: Stream, random: Any, changes: Changes | None, duration_s: float
) -> Sequence[Source]:
    arrivals = stream.arrivals
    if isinstance(arrivals, Clients | JMeterFile):
        crowds = crowds_of(arrivals) if isinstance(arrivals, JMeterFile) else [_crowd(arrivals)]
        _check(load, sum(crowd.clients for crowd in crowds), MOST_CLIENTS, "clients")
        paced: list[Source] = [Paced(crowd, random) for crowd in crowds]
        return [Multiplied(one, *changes) for one in paced] if changes else paced
    is_random = stream.is_random or isinstance(arrivals, Modulated)
    rate: Rate
    if isinstance(arrivals, TraceFile):
        rate = pieces_of(arrivals)
    elif isinstance(arrivals, Modulated):
        _check(load, duration_s / min(arrivals.means_s), MOST_PIECES, "phases")
        rate = _phases(arrivals, random, duration_s)
    else:
        if isinstance(arrivals, Bursts):
            _check(load, duration_s / arrivals.every_s, MOST_PIECES, "bursts")
        rate = rate_of(arrivals, duration_s)
    return [Points(Shifted(rate, *changes) if changes else rate, random if is_random else None)]


def _check(load: ServiceLoad, count: float, most: int, what: str) -> None:
    if count > most:
        raise HostileInputError(
            f"{load.name} has more than {most:,} {what}",
            file=load.source.file or "Scenario",
            line=load.source.line,
            remedy="Describe the load with fewer of them",
        )


def _crowd(clients: Clients) -> Crowd:
    return Crowd(clients.start_s, clients.clients, clients.spacing_s, clients.requests, clients.pause_s)


def _phases(modulated: Modulated, random: Any, duration_s: float) -> Pieces:
    """The phases of one run, drawn until its end."""
    now, phase, count = 0.0, 0, len(modulated.rates)
    starts: list[float] = []
    rates: list[float] = []
    while now <= duration_s and len(starts) <= 4 * MOST_PIECES:
        starts.append(now)
        rates.append(modulated.rates[phase])
        now += float(random.standard_exponential()) * modulated.means_s[phase]
        if modulated.moves is not None:
            phase = int(random.choice(count, p=modulated.moves[phase]))
        elif count > 1:
            phase = (phase + 1 + int(random.integers(count - 1))) % count
    return Pieces(starts, rates)
