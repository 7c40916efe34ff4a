"""When requests come: rates that are inverted, streams, crowds, shifts of traffic."""

from __future__ import annotations

from math import inf, pi, sin

import pytest

from kubeproof.errors import HostileInputError
from kubeproof.events.workload import (
    Bursts,
    Clients,
    Constant,
    Modulated,
    Ramp,
    ServiceLoad,
    Sinusoid,
    Stream,
    TraceFile,
    TrafficShift,
)
from kubeproof.simulate.serving.rates import Pieces, Shifted, rate_of
from kubeproof.simulate.serving.sources import Crowd, Paced, Source
from kubeproof.simulate.serving.streams import source_of

np = pytest.importorskip("numpy")

RATES = [
    Constant(7.0),
    Ramp(0.0, 20.0, 100.0),
    Ramp(30.0, 5.0, 100.0, 50.0),
    Ramp(3.0, 9.0, 0.0, 20.0),
    Sinusoid(10.0, 5.0, 60.0, 7.0),
    Sinusoid(10.0, 10.0, 60.0),
    Sinusoid(2.0, 10.0, 60.0, 33.0),
    Sinusoid(10.0, -4.0, 60.0),
    Bursts(1.0, 50.0, 60.0, 10.0, 5.0),
]


def source(*streams: Stream, shifts: tuple[TrafficShift, ...] = (), seed: int = 1, duration_s: float = 600.0) -> Source:
    return source_of(ServiceLoad("web", "Deployment/default/web", streams), shifts, (seed, 0), duration_s)


def value(arrivals: object, t: float) -> float:
    """The declared rate at one moment, by its definition."""
    match arrivals:
        case Constant(rate):
            return rate
        case Ramp(first, last, over_s, start_s):
            part = 0.0 if t < start_s else 1.0 if t >= start_s + over_s else (t - start_s) / over_s
            return first + (last - first) * part
        case Sinusoid(mean, amplitude, period_s, shift_s):
            return max(0.0, mean + amplitude * sin(2 * pi * (t + shift_s) / period_s))
        case Bursts(base, burst, every_s, lasts_s, first_s):
            return burst if t >= first_s and (t - first_s) % every_s < lasts_s else base
    raise AssertionError(arrivals)


@pytest.mark.parametrize("arrivals", RATES, ids=str)
def test_expected_counts_are_the_integral_of_the_rate(arrivals: Constant | Ramp | Sinusoid | Bursts) -> None:
    rate, step = rate_of(arrivals, 300.0), 0.01
    middles = np.arange(0, 300, step) + step / 2
    summed = np.cumsum([value(arrivals, t) * step for t in middles])

    assert rate.expect(0.0) == pytest.approx(0.0, abs=1e-9)
    for until in (0.5, 20.0, 77.7, 150.0, 300.0):
        assert rate.expect(until) == pytest.approx(summed[round(until / step) - 1], rel=1e-3, abs=0.3)


@pytest.mark.parametrize("arrivals", RATES, ids=str)
def test_the_inverse_is_when_so_many_are_expected(arrivals: Constant | Ramp | Sinusoid | Bursts) -> None:
    rate = rate_of(arrivals, 300.0)
    counts = np.linspace(0.1, rate.expect(300.0), 500)

    times = rate.inverse(counts)

    assert (np.diff(times) >= 0).all()
    assert [rate.expect(float(t)) for t in times] == pytest.approx(counts, abs=1e-6)


@pytest.mark.parametrize("is_random", [False, True])
@pytest.mark.parametrize("arrivals", [*RATES, Modulated((1.0, 30.0), (20.0, 5.0))], ids=str)
def test_what_comes_does_not_depend_on_how_time_is_cut(arrivals: object, is_random: bool) -> None:
    stream = Stream(arrivals, is_random)
    whole, cut = source(stream), source(stream)

    parts = [cut.take(until) for until in (0.0, 0.3, 7.0, 7.0, 100.5, 333.0, 600.0)]

    assert np.concatenate(parts).tolist() == whole.take(600.0).tolist()


def test_even_requests_are_evenly_spaced() -> None:
    assert source(Stream(Constant(4.0))).take(1.0).tolist() == [0.125, 0.375, 0.625, 0.875]


def test_random_requests_are_a_poisson_process() -> None:
    times = source(Stream(Constant(50.0), is_random=True), duration_s=2000.0).take(2000.0)
    gaps, counts = np.diff(times), np.histogram(times, 2000)[0]

    assert len(times) == pytest.approx(100_000, abs=5 * 100_000**0.5)
    assert gaps.std() == pytest.approx(0.02, rel=0.03)  # as long as the mean: exponential
    assert counts.var() == pytest.approx(50.0, rel=0.15)


def test_modulated_requests_have_the_mean_of_their_phases() -> None:
    phases = Modulated((10.0, 100.0), (30.0, 10.0))
    counts = [len(source(Stream(phases), seed=seed, duration_s=4000.0).take(4000.0)) for seed in range(8)]

    assert sum(counts) / 8 / 4000 == pytest.approx(32.5, rel=0.15)
    assert len(set(counts)) == 8


def test_phases_follow_the_moves_that_are_given() -> None:
    moves = ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 1.0))  # the last one is kept
    times = source(Stream(Modulated((0.0, 0.0, 40.0), (1.0, 1.0, 1.0), moves))).take(600.0)

    assert len(times) / 600 == pytest.approx(40.0, rel=0.05)
    assert times[0] > 0.1


def test_a_rate_of_nothing_never_comes() -> None:
    assert source(Stream(Constant(0.0))).take(1e9).tolist() == []
    assert source(Stream(Sinusoid(-3.0, 2.0, 10.0))).take(1e6).tolist() == []
    assert Pieces([0.0, 1.0], [1.0, 0.0]).inverse(np.array([0.5, 1.0, 1.5])).tolist() == [0.5, inf, inf]


def test_clients_come_one_after_the_other() -> None:
    clients = Clients(start_s=10.0, clients=2, spacing_s=0.5, requests=3, pause_s=2.0)

    assert source(Stream(clients)).take(100.0).tolist() == [10.0, 10.5, 12.0, 12.5, 14.0, 14.5]


def test_pauses_may_have_a_random_part() -> None:
    times = Paced(Crowd(0.0, 1, 0.0, inf, 1.0, 0.0, 0.5, 1000.0), np.random.default_rng(1)).take(2000.0)

    assert np.diff(times).min() >= 1.0
    assert np.diff(times).max() <= 1.5
    assert len(times) == pytest.approx(800, abs=10)


def test_shifts_multiply_what_comes() -> None:
    shifts = (TrafficShift(100, "web", 3.0, 100), TrafficShift(150, "web", 0.5), TrafficShift(0, "other", 9.0))
    even = source(Stream(Constant(10.0)), shifts=shifts).take(300.0)
    crowd = source(Stream(Clients(clients=1, requests=3000, pause_s=0.1)), shifts=shifts).take(300.0)

    for times in (even, crowd):
        counts = np.histogram(times, [0, 100, 150, 200, 300])[0]
        assert counts.tolist() == pytest.approx([1000, 1500, 750, 500], abs=3)


def test_a_shift_to_nothing_stops_and_resumes() -> None:
    shifted = Shifted(Pieces([0.0], [10.0]), [0.0, 10.0, 20.0], [1.0, 0.0, 1.0])

    assert shifted.expect(15.0) == 100.0
    assert shifted.inverse(np.array([99.0, 101.0])).tolist() == [9.9, 20.1]


def test_several_streams_of_a_service_are_merged() -> None:
    both = source(Stream(Constant(1.0)), Stream(Clients(clients=1, requests=2, pause_s=1.0))).take(2.0)

    assert both.tolist() == [0.0, 0.5, 1.0, 1.5]


@pytest.mark.parametrize(
    "arrivals",
    [Clients(clients=10**9), Modulated((1.0, 2.0), (1e-12, 1.0)), Bursts(1.0, 2.0, 1e-9, 1e-9)],
    ids=lambda one: type(one).__name__,
)
def test_what_would_exhaust_memory_is_refused(arrivals: object) -> None:
    with pytest.raises(HostileInputError, match="web has more than 1,000,000"):
        source(Stream(arrivals))


def test_a_trace_gives_rates_from_its_times_on() -> None:
    times = source(Stream(TraceFile("a.csv", "time_s,rate\n10,2\n20,0\n\n30,1\n"))).take(40.0)

    counts = np.histogram(times, [0, 10, 20, 30, 40])[0]
    assert counts.tolist() == [0, 20, 0, 10]
