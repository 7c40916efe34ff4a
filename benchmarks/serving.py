"""Requests served one by one: `python benchmarks/serving.py [--quick]`.

CPU seconds of a day of 100 pods with 1,000 requests per second, in several shapes, and how they grow with pods and
requests. Time is cut every 15 s, as scrapes of metrics would do.
"""

from __future__ import annotations

import argparse
import resource
import time

from kubeproof.events.workload import (
    LEAST_CONNECTIONS,
    RANDOM,
    CallStage,
    Constant,
    ServiceLoad,
    Sinusoid,
    Stream,
    WorkloadSpec,
)
from kubeproof.simulate.serving.contract import Endpoints, Room, Slot
from kubeproof.simulate.serving.plane import make_data_plane
from kubeproof.simulate.serving.times import Histogram

DAY_S, DAY_BAR_S, SPAN_S = 24 * 3600.0, 60.0, 15.0
RATE, PODS = 1000.0, 100


def main() -> None:
    """Prints a line for each run."""
    parser = argparse.ArgumentParser(description="CPU seconds of requests that are served one by one.")
    parser.add_argument("--quick", action="store_true", help="six minutes in place of a day")
    serving(quick=parser.parse_args().quick)


def serving(*, quick: bool) -> None:
    """All runs."""
    length_s = 360.0 if quick else DAY_S
    bar_s = None if quick else DAY_BAR_S
    name = f"{PODS} pods, {RATE:,.0f}/s, {length_s / 3600:g} h"
    steady = Stream(Constant(RATE), is_random=True)
    measure(f"{name}, in turn", load(steady), length_s, bar_s=bar_s)
    measure(f"{name}, random", load(steady, balancing=RANDOM), length_s, bar_s=bar_s)
    measure(f"{name}, least connections", load(steady, balancing=LEAST_CONNECTIONS), length_s, bar_s=bar_s)
    daily = Stream(Sinusoid(RATE, 0.6 * RATE, DAY_S), is_random=True)
    measure(f"{name}, daily rhythm, full nodes", load(daily, balancing=RANDOM), length_s, bar_s=bar_s, limit=None)
    part_s = 360.0 if quick else 3600.0
    measure(f"{RATE:,.0f}/s, {part_s / 3600:g} h, front end and four services", shop(steady), part_s)
    for pods in (10, 100, 1000):
        for rate in (100.0, 1000.0, 10_000.0):
            stream = Stream(Constant(rate), is_random=True)
            cost_ms = 500 * pods / rate  # half of what the pods can do
            measure(
                f"{pods:,} pods, {rate:,.0f}/s, 0.1 h", load(stream, balancing=RANDOM, cpu_ms=cost_ms), 360.0, pods=pods
            )
    measure("100 pods, 1,000/s, 20 s, without a compiler", load(steady, balancing=RANDOM), 20.0, plain=True)


def load(stream: Stream, **fields: object) -> WorkloadSpec:
    """One service."""
    usual = {"cpu_ms": 50.0, "memory_bytes": 2**20, "deadline_s": 1.0}
    return WorkloadSpec((ServiceLoad("web", "Deployment/default/web", (stream,), **{**usual, **fields}),))


def shop(stream: Stream) -> WorkloadSpec:
    """A front end that calls four services at the same time."""
    others = tuple(f"service-{number}" for number in range(4))
    front = ServiceLoad("web", "Deployment/default/web", (stream,), 10.0, balancing=RANDOM, stages=(CallStage(others),))
    return WorkloadSpec((front, *(ServiceLoad(name, f"Deployment/default/{name}", (), 10.0) for name in others)))


def endpoints(workload: WorkloadSpec, pods: int, limit: int | None) -> Endpoints:
    """The pods of all services, ten on a node; without a limit the nodes can be short of CPU."""
    each = pods // len(workload.services)
    births = {load.name: range(place * each, (place + 1) * each) for place, load in enumerate(workload.services)}
    services = {
        name: tuple(Slot(f"{name}-{n}", n, f"node-{n // 10}", 500, limit, 2**30) for n in numbers)
        for name, numbers in births.items()
    }
    return Endpoints(services, {f"node-{n}": Room(10_000, 2**35) for n in range(-(-pods // 10))})


def measure(
    what: str, workload: WorkloadSpec, length_s: float, *, pods: int = PODS, limit: int | None = 1000,
    bar_s: float | None = None, plain: bool = False,
) -> None:  # fmt: skip
    """Serves and prints."""
    there = endpoints(workload, pods, limit)
    begun = time.process_time()
    plane = make_data_plane(workload, seed=1, duration_s=length_s, plain=plain)
    requests, times = 0, None
    for span in range(1, int(length_s / SPAN_S) + 1):
        served = plane.advance(span * SPAN_S, there)
        requests += sum(one.arrived for one in served.services.values())
        times = _added(times, served.services["web"].times)
    spent_s = time.process_time() - begun
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    met = "" if bar_s is None else f"  {'met' if spent_s <= bar_s else 'NOT MET'}: at most {bar_s:g} s"
    told = ", ".join(f"p{percent} {times.percentile(percent):.3f}" for percent in (50, 95, 99)) if times else ""
    rate = requests / spent_s / 1e6
    print(
        f"{what:58} {requests:12,} requests {spent_s:7.2f} s CPU {rate:6.2f} M/s {memory:5} MB  {told}{met}", flush=True
    )


def _added(times: Histogram | None, more: object) -> Histogram | None:
    if not isinstance(more, Histogram):
        return times
    return more if times is None else times.merge(more)


if __name__ == "__main__":
    main()
