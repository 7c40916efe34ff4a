"""Metrics: windows, scrapes, delays, and pods without any."""

from __future__ import annotations

import pytest

from kubeproof.events.workload import MetricsPipeline
from kubeproof.simulate.control.measuring.metering import Expected, Metering, fill
from kubeproof.simulate.serving.contract import Endpoints, PodSpan, Room, Served, Slot

OLD, NEW = ("shop/web-1", 1), ("shop/web-2", 2)


def endpoints(*pods: tuple[str, int]) -> Endpoints:
    return Endpoints({"web": tuple(Slot(*pod, "n1", 500, None, None) for pod in pods)}, {})


def metered(pipeline: MetricsPipeline, uses: dict[int, dict[tuple[str, int], float]]) -> Metering:
    """Spans of 15 s in which pods use so many cores, a scrape after each."""
    metering = Metering(pipeline)
    for end_s, pods in uses.items():
        spans = {pod: PodSpan(15 * cores, 100) for pod, cores in pods.items()}
        metering.add(Served(end_s - 15, end_s, {}, spans))
        metering.scrape(end_s)
    return metering


STEPS = {15: {OLD: 0.2}, 30: {OLD: 0.4}, 45: {OLD: 0.8}}


def test_the_mean_is_that_of_the_window() -> None:
    short, long = metered(MetricsPipeline(15, 15), STEPS), metered(MetricsPipeline(15, 30), STEPS)

    assert short.mean("web", "cpu", endpoints(OLD), 45) == pytest.approx(800)
    assert long.mean("web", "cpu", endpoints(OLD), 45) == pytest.approx(600)
    assert short.mean("web", "memory", endpoints(OLD), 45) == 100_000


def test_what_is_delayed_is_not_known_yet() -> None:
    late = metered(MetricsPipeline(15, 15, delay_s=20), STEPS)

    assert late.mean("web", "cpu", endpoints(OLD), 45) is None  # of 30 s only one scrape is known
    assert late.mean("web", "cpu", endpoints(OLD), 50) == pytest.approx(400)
    assert late.mean("web", "cpu", endpoints(OLD), 65) == pytest.approx(800)


def test_pods_without_a_metric_count_as_expected_unless_they_are_young() -> None:
    metering = metered(MetricsPipeline(15, 15), STEPS)
    both, expected = endpoints(OLD, NEW), Expected(250, 500)

    assert metering.mean("web", "cpu", both, 45) == pytest.approx(800)
    assert metering.mean("web", "cpu", both, 45, expected=expected) == pytest.approx(400)
    assert metering.mean("web", "cpu", both, 45, expected=expected, young={NEW}) == pytest.approx(800)
    assert metering.mean("web", "cpu", endpoints(NEW), 45, expected=expected) is None
    assert metering.mean("cart", "cpu", both, 45) is None


def test_pods_of_a_silent_node_have_no_metric() -> None:
    """metrics-server keeps nothing of a node that it cannot scrape; nothing used is something else."""
    metering = Metering(MetricsPipeline(15, 15))
    slots = tuple(Slot(*pod, node, 500, None, None) for pod, node in ((OLD, "n1"), (NEW, "n2")))
    for end_s, n2_milli in ((15, 4000), (30, 4000), (45, 0)):
        cores = 0.2 if n2_milli else 0.0
        spans = {OLD: PodSpan(15 * 0.2, 100), NEW: PodSpan(15 * cores, 100)}
        metering.add(Served(end_s - 15, end_s, {}, spans))
        now = Endpoints({"web": slots}, {"n1": Room(4000, 1), "n2": Room(n2_milli, 1)})
        metering.scrape(end_s, now)

    expected = Expected(250, 500)
    assert metering.mean("web", "cpu", now, 30, expected=expected) == pytest.approx(200)
    assert (
        metering.mean("web", "cpu", now, 45, expected=expected) == 250
    )  # on the way down a pod without counts in full
    assert metering.mean("web", "memory", now, 45) == 100_000


@pytest.mark.parametrize(
    ("values", "missing", "mean"),
    [((400.0,), 1, 250.0), ((800.0,), 1, 400.0), ((100.0,), 1, 250.0), ((100.0, 100.0, 100.0), 1, 200.0)],
)
def test_missing_metrics_damp_a_change_and_never_turn_it(values: tuple[float, ...], missing: int, mean: float) -> None:
    assert fill(values, missing, Expected(250, 500)) == mean
