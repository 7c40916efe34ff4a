"""Confidence intervals: tabulated values, and how often they hold what is true."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import accumulate
from math import exp, log

import pytest

from kubeproof.cli.main import main
from kubeproof.simulate.control.clocked import RunRecord
from kubeproof.simulate.options import SimulateOptions
from kubeproof.simulate.outcome import Costs, ServiceTotals, Timeline
from kubeproof.simulate.serving.times import Histogram, bucket_of
from kubeproof.simulate.simulation import simulate_cluster
from kubeproof.simulate.statistics.confidence import confidence_of, next_runs
from kubeproof.simulate.statistics.intervals import (
    Interval,
    mean_interval,
    quantile_interval,
    ratio_interval,
    share_interval,
    t_quantile,
)
from tests.unit.simulate.inputs import WEB, cluster

Model = Callable[[random.Random], tuple[Interval | None, float]]
CRASHES = f"""start: deployed
events: [{{podCrash: {{target: {WEB}, max: unlimited, ratePerHour: 6}}}}]
intents: [{{minReady: {{target: {WEB}, count: 2, when: always}}}}]"""


@pytest.mark.parametrize(
    ("confidence", "freedom", "expected"),
    [(0.95, 1, 12.7062), (0.95, 2, 4.3027), (0.95, 3, 3.1824), (0.95, 9, 2.2622), (0.99, 29, 2.7564)],
)
def test_quantiles_of_student_are_those_of_tables(confidence: float, freedom: int, expected: float) -> None:
    assert t_quantile(confidence, freedom) == pytest.approx(expected, rel=2e-3)


def test_shares_have_wilsons_interval() -> None:
    found = share_interval(6, 100, 0.95)

    assert (found.value, found.lower, found.upper) == pytest.approx((0.06, 0.02779, 0.12477), abs=1e-5)
    assert share_interval(0, 100, 0.95).lower == 0
    assert share_interval(0, 100, 0.95).upper == pytest.approx(0.03699, abs=1e-5)
    assert share_interval(100, 100, 0.95).upper == 1


def test_means_have_students_interval() -> None:
    found = mean_interval([1.0, 2.0, 3.0, 4.0], 0.95)

    assert found is not None
    assert (found.value, found.half_width) == pytest.approx((2.5, 3.1824 * (5 / 3) ** 0.5 / 2), rel=2e-3)
    assert mean_interval([1.0], 0.95) is None
    assert ratio_interval([1.0, 2.0], [0.0, 0.0], 0.95) is None


def test_a_ratio_of_equal_wholes_is_a_mean() -> None:
    ratio, mean = ratio_interval([1.0, 4.0, 3.0], [10.0] * 3, 0.9), mean_interval([0.1, 0.4, 0.3], 0.9)

    assert ratio is not None
    assert mean is not None
    assert (ratio.value, ratio.lower, ratio.upper) == pytest.approx((mean.value, mean.lower, mean.upper))


# -- how often they hold the truth ----------------------------------------------------------------


def bernoulli(chance: random.Random) -> tuple[Interval | None, float]:
    """200 runs, one in ten violates."""
    return share_interval(sum(chance.random() < 0.1 for _ in range(200)), 200, 0.95), 0.1


def exponential(chance: random.Random) -> tuple[Interval | None, float]:
    """The mean of 200 costs that are exponential."""
    return mean_interval([chance.expovariate(1.0) for _ in range(200)], 0.95), 1.0


def clustered(chance: random.Random) -> tuple[Interval | None, float]:
    """The share in time of requests that come by the run, in runs that are good or bad and of different lengths."""
    wholes = [float(chance.randint(50, 150)) for _ in range(100)]
    parts = [float(round(whole * chance.choice((0.8, 1.0)))) for whole in wholes]
    return ratio_interval(parts, wholes, 0.95), 0.9


def queue(chance: random.Random, serve: Callable[[random.Random], float]) -> Iterator[float]:
    """The times in the system of 60 requests to one server that is busy six tenths, from a settled start (Lindley)."""
    wait = 0.0
    for number in range(120):
        service = serve(chance)
        if number >= 60:
            yield wait + service
        wait = max(0.0, wait + service - chance.expovariate(0.6))


def quantile_of(runs: list[list[float]], share: float) -> Interval | None:
    every = sorted(value for run in runs for value in run)
    return quantile_interval(
        share,
        lambda value: [float(sum(each <= value for each in run)) for run in runs],
        [float(len(run)) for run in runs],
        lambda part: every[min(len(every) - 1, int(part * len(every)))],
        0.95,
    )


def m_m_1(chance: random.Random) -> tuple[Interval | None, float]:
    """The 90th percentile of M/M/1: the time in the system is exponential with the rate 1 - 0.6."""
    runs = [list(queue(chance, lambda c: c.expovariate(1.0))) for _ in range(100)]
    return quantile_of(runs, 0.9), log(10) / 0.4


def m_d_1(chance: random.Random) -> tuple[Interval | None, float]:
    """The mean of M/D/1, by Pollaczek and Khinchine: 1 + 0.6 / (2 (1 - 0.6))."""
    runs = [list(queue(chance, lambda _: 1.0)) for _ in range(100)]
    return ratio_interval([sum(run) for run in runs], [float(len(run)) for run in runs], 0.95), 1.75


MODELS = (bernoulli, exponential, clustered, m_m_1, m_d_1)


def coverage(model: Model, times: int) -> float:
    hits = 0
    for seed in range(times):
        found, true = model(random.Random(seed))
        hits += found is not None and found.lower <= true <= found.upper
    return hits / times


@pytest.mark.parametrize("model", MODELS)
def test_intervals_hold_the_truth_about_as_often_as_they_say(model: Model) -> None:
    assert coverage(model, 60) >= 0.85


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_of_a_thousand_intervals_of_95_percent_93_to_97_percent_hold(model: Model) -> None:
    assert 0.93 <= coverage(model, 1000) <= 0.97


# -- of runs --------------------------------------------------------------------------------------


def test_runs_stop_when_they_are_precise_enough() -> None:
    loaded = cluster(CRASHES)
    options = SimulateOptions(duration_s=600, runs=500, precision=0.2)

    found = simulate_cluster(loaded, options)

    assert found.confidence is not None
    assert 20 <= found.runs < 500
    assert found.confidence.worst() <= 0.2
    assert not found.is_cut
    again = simulate_cluster(loaded, replace(options, runs=found.runs, precision=None))
    assert again.confidence == found.confidence


def test_too_few_runs_for_a_precision_are_told() -> None:
    found = simulate_cluster(cluster(CRASHES), SimulateOptions(duration_s=600, runs=25, precision=0.001))

    assert found.runs == 25
    assert any(note.startswith("25 runs are not enough for a precision of 0.1 %") for note in found.notes)


def test_a_single_run_is_sure_of_nothing() -> None:
    assert simulate_cluster(cluster(CRASHES), SimulateOptions(duration_s=60)).confidence is None


def test_looks_come_at_growing_distances() -> None:
    looks = list(accumulate(range(4), lambda done, _: next_runs(done, 30), initial=0))

    assert looks == [0, 20, 25, 30, 30]


def test_response_times_of_runs_have_intervals_that_hold_the_pooled_value() -> None:
    def run(number: int) -> ServiceTotals:
        times = [exp(random.Random(number * 100 + n).gauss(-3, 0.5)) for n in range(100)]
        counts: dict[int, int] = {}
        for each in times:
            counts[bucket_of(each)] = counts.get(bucket_of(each), 0) + 1
        histogram = Histogram(tuple(sorted(counts.items())), 100, sum(times), min(times), max(times))
        return ServiceTotals("web", 104, 90, 10, 4, 0, histogram)

    records = [make_record(run(number)) for number in range(30)]

    found = confidence_of(records, 0.95)

    assert found is not None
    (service,) = found.services
    assert service.in_time is not None
    assert service.in_time.value == pytest.approx(90 / 104)
    percentiles = dict(service.percentiles_s)
    assert percentiles[50] is not None
    assert percentiles[50].lower < exp(-3) < percentiles[50].upper
    assert percentiles[95] is not None
    assert percentiles[95].lower < exp(-3 + 0.5 * 1.6449) < percentiles[95].upper


def make_record(totals: ServiceTotals) -> RunRecord:
    return RunRecord(Timeline((), ()), (totals,), Costs(1.0, 1.0), (), (), 0, 0)


@pytest.mark.parametrize("given", [["--precision", "0"], ["--confidence", "100%"], ["--precision", "little"]])
def test_what_is_no_percentage_is_refused(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", ".", *given]) == 2

    assert "is not between 0 and 100 %" in capsys.readouterr().err
