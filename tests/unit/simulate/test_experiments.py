"""The published experiments against curves obtained by running the authors' own model."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

import pytest

from kubeproof.errors import UsageError
from kubeproof.simulate.published.declarations import Experiment, NodeSpec, ServiceSpec, Thresholds, Wave
from kubeproof.simulate.published.experiments import find_published
from kubeproof.simulate.published.result import Curves
from kubeproof.simulate.published.run import simulate

DATA = Path(__file__).parent / "data"
NAMES = {"service_one": "service-1", "service_sms": "service-1", "service_call": "service-2"}
FIRST, SECOND = "service-1", "service-2"


class Point(NamedTuple):
    pods: int
    cpu: float


def reference(file: str) -> dict[str, list[Point]]:
    """The curves of a file by our names of the services."""
    found: dict[str, list[Point]] = {}
    with (DATA / file).open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            found.setdefault(NAMES[row["service"]], []).append(Point(int(row["pods"]), float(row["cpu"])))
    return found


def points(curves: Curves, service: str, count: int) -> list[Point]:
    """The first readings of a service."""
    return [Point(reading.pods, reading.cpu) for reading in curves.of(service)[:count]]


@pytest.mark.parametrize(
    ("experiment", "config", "file", "intervals"),
    [
        ("abs-1", "calibration", "exp1_abs.csv", 350),
        ("abs-2", "calibration", "exp2_calibration_abs_first223.csv", 223),
        ("abs-2", "calibration", "exp2_calibration_port.csv", 400),
        ("abs-2", "1", "exp2_config1_abs_quantum17_13.csv", 400),
        ("abs-2", "2", "exp2_config2_abs_quantum17_13.csv", 400),
    ],
)
def test_pods_and_cpu_are_those_of_the_authors_model_in_every_interval(
    experiment: str, config: str, file: str, intervals: int
) -> None:
    curves = simulate(find_published(experiment, config))

    for service, wanted in reference(file).items():
        assert len(wanted) == intervals
        assert points(curves, service, intervals) == wanted


def test_with_a_larger_quantum_one_launch_is_printed_an_interval_later() -> None:
    curves = simulate(find_published("abs-2"))
    wanted = reference("exp2_calibration_abs_quantum17_13.csv")

    assert points(curves, SECOND, 400) == wanted[SECOND]
    differing = [
        n for n, pair in enumerate(zip(points(curves, FIRST, 400), wanted[FIRST], strict=True)) if len({*pair}) > 1
    ]
    assert differing == [30]
    assert [point.cpu for point in points(curves, FIRST, 400)] == [point.cpu for point in wanted[FIRST]]


@pytest.mark.parametrize(
    ("experiment", "config", "maxima"),
    [("abs-1", "calibration", [3]), ("abs-2", "calibration", [3, 5]), ("abs-2", "1", [2, 6]), ("abs-2", "2", [2, 5])],
)
def test_the_most_pods_are_those_of_the_paper(experiment: str, config: str, maxima: list[int]) -> None:
    curves = simulate(find_published(experiment, config))

    assert [max(reading.pods for reading in curves.of(service)) for service in curves.services] == maxima


def test_change_points_of_the_first_experiment() -> None:
    assert list(simulate(find_published("abs-1")).changes(FIRST)) == [(0, 1), (30, 2), (119, 3), (306, 2), (307, 1)]


def test_with_the_papers_300_seconds_nothing_is_shut_down_before_the_end() -> None:
    assert list(simulate(find_published("abs-1", quiet_intervals=150)).changes(FIRST)) == [(0, 1), (30, 2), (119, 3)]


def overload() -> Experiment:
    """One node of 200 units; two services that ask for 170 and 80."""
    scaler = Thresholds(up=0.8, down=0.05, quiet_cycles=10, most=1)
    services = tuple(ServiceSpec(name, 50, 150, scaler) for name in (FIRST, SECOND))
    waves = tuple(Wave(name, 5, cost, clients=10, spacing=0, requests=30) for name, cost in ((FIRST, 17), (SECOND, 8)))
    return Experiment("overload", (NodeSpec("node", 200, 4000),), services, waves, 90)


def test_a_node_that_is_too_small_is_shared_as_in_the_authors_model_in_all_90_intervals() -> None:
    curves = simulate(overload())

    for service, wanted in reference("overload_abs.csv").items():
        assert points(curves, service, 90) == wanted
    assert sum(reading.cpu for reading in curves.of(FIRST)) == 5100
    assert sum(reading.cpu for reading in curves.of(SECOND)) == 2400


def test_requests_wait_where_cpu_is_short_and_end_at_once_where_it_is_not() -> None:
    slow, quick = simulate(overload()).responses

    assert (slow.finished, slow.unfinished, quick.finished) == (300, 0, 300)
    assert quick.percentile(99) == 0
    # The first ten get 12 of their 17 units at once; an interval later twenty share 120, and they get the other 5.
    assert slow.counts[0] == (1.0, 10)
    assert (slow.percentile(50), slow.percentile(100)) == (12.0, 17.0)


@pytest.mark.parametrize(("name", "config"), [("abs-3", "1"), ("abs-2", "3")])
def test_an_unknown_experiment_is_wrong_usage(name: str, config: str) -> None:
    with pytest.raises(UsageError):
        find_published(name, config)
