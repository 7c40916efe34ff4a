"""How many requests a second come at most, by what a Scenario says of arrivals; on the mean, where they are random."""

from __future__ import annotations

from kubeproof.events.workload import (
    Arrivals,
    Bursts,
    Clients,
    Constant,
    Modulated,
    Ramp,
    ServiceLoad,
    Sinusoid,
    WorkloadSpec,
)


def peak_of(arrivals: Arrivals) -> float | None:
    """The greatest rate; None if only a file knows it."""
    if isinstance(arrivals, Constant):
        return arrivals.rate
    if isinstance(arrivals, Ramp):
        return max(arrivals.first, arrivals.last)
    if isinstance(arrivals, Sinusoid):
        return arrivals.mean + abs(arrivals.amplitude)
    if isinstance(arrivals, Bursts):
        return max(arrivals.base, arrivals.burst)
    if isinstance(arrivals, Modulated):
        return max(arrivals.rates)
    return _peak_of_clients(arrivals) if isinstance(arrivals, Clients) else None


def _peak_of_clients(arrivals: Clients) -> float | None:
    """As many as are there together, each at its pace."""
    if not arrivals.pause_s:
        return None
    stay_s = arrivals.requests * arrivals.pause_s
    there = arrivals.clients if not arrivals.spacing_s else min(arrivals.clients, -(-stay_s // arrivals.spacing_s))
    return there / arrivals.pause_s


def peaks_of(workload: WorkloadSpec) -> dict[str, float | None]:
    """Of each service the greatest rate, with the calls of others; None where it is not known."""
    services = {service.name: service for service in workload.services}
    found: dict[str, float | None] = {}
    for name in services:
        _peak(name, services, workload, found, ())
    return found


def _peak(
    name: str,
    services: dict[str, ServiceLoad],
    workload: WorkloadSpec,
    found: dict[str, float | None],
    above: tuple[str, ...],
) -> float | None:
    if name in found or name in above:
        return found.get(name)
    own = [peak_of(stream.arrivals) for stream in services[name].streams]
    factor = max([1.0, *(shift.factor for shift in workload.shifts if shift.service == name)])
    total: float | None = None if None in own else factor * sum(rate for rate in own if rate is not None)
    for caller in services.values():
        calls = sum(stage.calls.count(name) for stage in caller.stages)
        theirs = _peak(caller.name, services, workload, found, (*above, name)) if calls else 0.0
        total = None if total is None or theirs is None else total + calls * theirs
    found[name] = total
    return total
