"""Requests that are served at the instant at which they come, against the plain way: through a backlog."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubeproof.simulate.published.cluster import TimedNode
from kubeproof.simulate.published.declarations import Experiment, NodeSpec, ServiceSpec, Thresholds, Wave
from kubeproof.simulate.published.experiments import find_published
from kubeproof.simulate.published.result import Curves
from kubeproof.simulate.published.run import simulate

INTERVALS = 25
NAMES = ("a", "b", "c")


@st.composite
def services(draw: st.DrawFn, name: str) -> ServiceSpec:
    """A service that may be short of CPU by its limit, and of memory."""
    scaler = Thresholds(draw(st.sampled_from((0.3, 0.8))), 0.05, draw(st.integers(1, 4)), most=draw(st.integers(1, 4)))
    return ServiceSpec(
        name,
        draw(st.integers(20, 80)),
        draw(st.integers(0, 200)),
        scaler,
        memory=draw(st.integers(0, 4)),
        newest_is_next=draw(st.booleans()),
    )


@st.composite
def waves(draw: st.DrawFn, name: str) -> Wave:
    """Requests that come with others, or alone; some at the first instant of an interval."""
    return Wave(
        name,
        draw(st.sampled_from((0, 1, 2.5, 4))),
        draw(st.integers(0, 40)),
        clients=draw(st.integers(1, 8)),
        spacing=draw(st.sampled_from((0.0, 0.25, 0.5))),
        requests=draw(st.integers(1, 8)),
        pause=draw(st.sampled_from((0.25, 0.5, 1.0))),
    )


@st.composite
def experiments(draw: st.DrawFn) -> Experiment:
    """Services that share few nodes; one may get requests of several costs at an instant."""
    names = NAMES[: draw(st.integers(1, len(NAMES)))]
    nodes = tuple(
        NodeSpec(f"node-{number}", draw(st.integers(240, 500)), draw(st.integers(2, 60)))
        for number in range(draw(st.integers(1, 3)))
    )
    load = tuple(draw(waves(draw(st.sampled_from(names)))) for _ in range(draw(st.integers(1, 5))))
    return Experiment("random", nodes, tuple(draw(services(name)) for name in names), load, INTERVALS)


def plain(experiment: Experiment) -> Curves:
    """The run in which no request is served before it is lined up."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TimedNode, "serves_at_once", lambda self, parcels: False)
        return simulate(experiment)


@settings(max_examples=400)
@given(experiments())
def test_requests_served_at_once_change_no_reading_and_no_response(experiment: Experiment) -> None:
    assert simulate(experiment) == plain(experiment)


@pytest.mark.parametrize("config", ["calibration", "1", "2"])
def test_nor_do_they_in_the_published_experiment(config: str) -> None:
    assert simulate(find_published("abs-2", config)) == plain(find_published("abs-2", config))
