"""Timed runs: `python benchmarks/simulate.py [--quick]`.

CPU seconds of the published experiments, of many services on as many nodes, and how they grow with pods and requests;
then those of requests that are served one by one (serving.py), and of whole clusters (clocked.py).
The authors' own model took 6 to 25 minutes for the second experiment on the same kind of machine.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from kubeproof.simulate.published.declarations import Experiment, NodeSpec, ServiceSpec, Thresholds, Wave
from kubeproof.simulate.published.experiments import HIGH, LOW, STARTS, find_published
from kubeproof.simulate.published.result import Curves
from kubeproof.simulate.published.run import simulate

try:  # as a script, and as a module of the repository
    from clocked import clocked
    from serving import serving
except ImportError:
    from benchmarks.clocked import clocked
    from benchmarks.serving import serving

SECOND_EXPERIMENT_S, MANY_SERVICES_S = 0.2, 20.0  # the bars


def main() -> None:
    """Prints a line for each run."""
    parser = argparse.ArgumentParser(description="CPU seconds of timed runs.")
    parser.add_argument(
        "--quick", action="store_true", help="leave out the run with 1,000 services, and days of requests"
    )
    arguments = parser.parse_args()
    for config in ("calibration", "1", "2"):
        _measured(
            f"experiment 2, {config}",
            lambda config=config: simulate(find_published("abs-2", config)),
            SECOND_EXPERIMENT_S,
        )
    for services in (10, 100) if arguments.quick else (10, 100, 1000):
        bar = MANY_SERVICES_S if services == 1000 else None
        _measured(f"{services:,} services, 400 intervals", lambda count=services: simulate(many(count)), bar)
    for clients in (50, 500, 5000):
        _measured(f"one service, {clients:,} clients at once", lambda count=clients: simulate(crowd(count)), None)
    serving(quick=arguments.quick)
    clocked(quick=arguments.quick)


def _measured(what: str, run: Callable[[], Curves], bar_s: float | None) -> None:
    begun = time.process_time()
    curves = run()
    spent_s = time.process_time() - begun
    requests = sum(one.finished for one in curves.responses)
    pods = max(reading.pods for reading in curves.readings)
    met = "" if bar_s is None else f"  {'met' if spent_s <= bar_s else 'NOT MET'}: at most {bar_s:g} s"
    print(f"{what:36} {requests:12,} requests, at most {pods:3} pods {spent_s:8.2f} s CPU{met}", flush=True)


def many(count: int) -> Experiment:
    """So many services on as many nodes, each with the waves of experiment 2's first."""
    names = [f"service-{number}" for number in range(count)]
    scaler = Thresholds(0.8, 0.05, 10, most=10)
    waves = tuple(
        Wave(name, start, 17, requests=requests, pause=pause)
        for name in names
        for start, (requests, pause) in zip(STARTS, (HIGH, LOW, HIGH, HIGH), strict=True)
    )
    nodes = tuple(NodeSpec(f"node-{number}", 3800, 4000) for number in range(count))
    return Experiment("many", nodes, tuple(ServiceSpec(name, 1000, 2500, scaler) for name in names), waves, 400)


def crowd(clients: int) -> Experiment:
    """One service and a wave of so many clients within 25 intervals."""
    size = clients // 10
    service = ServiceSpec("web", 100, 250, Thresholds(0.8, 0.05, 10, most=size), pods=size // 5)
    nodes = tuple(NodeSpec(f"node-{number}", 4000, 40_000) for number in range(max(1, clients // 200)))
    wave = Wave("web", 5, 17, clients=clients, spacing=25 / clients, requests=90)
    return Experiment("crowd", nodes, (service,), (wave,), 150)


if __name__ == "__main__":
    main()
