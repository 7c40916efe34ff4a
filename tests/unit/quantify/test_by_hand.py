"""Clusters of a few nodes, against values that are computed by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kubeproof.manifests.load import load
from kubeproof.manifests.loaded import Start
from kubeproof.quantify.clusters.options import AMOUNTS, EVER, FIRST, LONG_RUN, WITHIN, ClusterOptions
from kubeproof.quantify.clusters.result import ClusterResult, Span
from tests.unit.quantify.clusters import OBJECTS, READY, SCENARIO, tiny
from tests.unit.quantify.programs import needs_storm

pytestmark = needs_storm

NODE = """
apiVersion: v1
kind: Node
metadata: {{name: {name}}}
status: {{allocatable: {{cpu: "1", memory: 8Gi, pods: "110"}}}}
---
"""
RATES = ((0.9, 0.06, 0.04), (0.1, 0.7, 0.2), (0.05, 0.25, 0.7))
LOAD = f"""[{{cpuChange: {{target: Deployment/web, levels: ["0%", "50%", "100%"],
  transitions: {[list(row) for row in RATES]}}}}}]"""


def ask(loaded, *questions: str, **options) -> ClusterResult:
    from kubeproof.quantify.clusters.run import quantify_cluster

    return quantify_cluster(loaded, ClusterOptions(questions=questions, **options))


def both(span: Span) -> tuple[float, float]:
    return span.least.value, span.greatest.value


def pinned(folder: Path, others: int, events: str):
    """A pod that only n1 may hold, beside other nodes."""
    objects = OBJECTS.replace("    spec:\n", "    spec:\n      nodeSelector: {pool: web}\n")
    objects = objects.replace("{name: n1}", "{name: n1, labels: {pool: web}}")
    more = "".join(NODE.format(name=f"other{number}") for number in range(others))
    file = folder / "pinned.yaml"
    file.write_text(objects + more + SCENARIO.format(events=events, quantify="{}", intents=READY))
    return load((str(file),))


@pytest.mark.parametrize("others", [1, 2])
@pytest.mark.parametrize("order", ["open", "uniform"])
def test_one_of_several_nodes_fails_first_and_for_good(tmp_path: Path, others: int, order: str) -> None:
    """One failure of n nodes, 0.1 each in a tick: it is n1's with 1/n, and its pod is missed within the next minute.

    In the long run the cluster is then in one of two classes that it never leaves, with the pod or without.
    """
    nodes = others + 1
    loaded = pinned(tmp_path, others, "[{nodeFailure: {recovers: false, probability: 0.1}}]")
    result = ask(loaded, WITHIN, EVER, FIRST, LONG_RUN, horizon_s=4 * 60 - 1, order=order)
    (one,), (short,) = result.intents, result.shortages

    assert both(one.within) == pytest.approx(((1 - (1 - 0.1 * nodes) ** 3) / nodes,) * 2, rel=1e-9)
    assert both(one.ever) == pytest.approx((1 / nodes,) * 2, rel=1e-6)
    assert both(one.first_s) == (math.inf, math.inf)
    assert both(short.span) == pytest.approx((1 / nodes,) * 2, rel=1e-5)


def test_energy_over_an_hour_is_that_of_the_chain_of_levels(tmp_path: Path) -> None:
    """100 W idle, and of the next 100 W what the levels use of the node's CPU: nothing, a quarter, a half."""
    watts, matrix = 100 + 100 * np.array([0, 0.25, 0.5]), np.array(RATES)
    now, kilowatt_hours = np.array([1.0, 0, 0]), 0.0
    for _ in range(60):
        kilowatt_hours += now @ watts / 60 / 1000
        now = now @ matrix
    found = ask(tiny(tmp_path, LOAD, quantify="{power: {idle: 100, max: 200}}"), AMOUNTS, horizon_s=3600).amounts

    assert {amount.name: both(amount.span) for amount in found} == {
        "pods": (1.0, 1.0),
        "nodes": (1.0, 1.0),
        "energy": pytest.approx((kilowatt_hours,) * 2, rel=1e-9),
    }


def test_in_the_end_the_chain_of_levels_draws_what_its_stationary_distribution_says(tmp_path: Path) -> None:
    """Balance: 0.1 p1 = 0.1 p2 + 0.05 p3 and 0.3 p3 = 0.04 p1 + 0.2 p2, so that p1 : p2 : p3 = 10 : 7 : 6."""
    loaded = tiny(tmp_path, LOAD, quantify="{power: {idle: 100, max: 200}}")
    before, after = (ask(loaded, AMOUNTS, horizon_s=hours * 3600).amounts[2] for hours in (30, 31))
    watts = 100 + (7 * 25 + 6 * 50) / 23

    assert after.span.least.value - before.span.least.value == pytest.approx(watts / 1000, rel=1e-6)


def test_two_events_of_one_kind_add_up(tmp_path: Path) -> None:
    crash = "{{podCrash: {{target: Deployment/web, max: unlimited, probability: {0}}}}}"
    events = f"[{crash.format(0.1)}, {crash.format(0.3)}]"
    (one,) = ask(tiny(tmp_path, events), WITHIN, FIRST, horizon_s=120).intents

    assert both(one.within) == pytest.approx((1 - 0.6**2,) * 2, rel=1e-9)
    assert both(one.first_s) == pytest.approx((60 / 0.4,) * 2, rel=1e-6)


@pytest.mark.parametrize("horizon_s", [59, 120, 600, 3599])
def test_a_node_counts_until_it_fails_also_where_the_horizon_cuts_an_interval(tmp_path: Path, horizon_s: int) -> None:
    """After k ticks the node is up with 0.9^k, whatever loops do later; its failure is noticed after 40 to 55 s."""
    ticks, rest_s = divmod(horizon_s, 60)
    seconds = sum(60 * 0.9**tick for tick in range(ticks)) + rest_s * 0.9**ticks
    loaded = tiny(tmp_path, "[{nodeFailure: {recovers: false, probability: 0.1}}]", quantify="{cost: {nodeHour: 7}}")
    found = {amount.name: both(amount.span) for amount in ask(loaded, AMOUNTS, horizon_s=horizon_s).amounts}

    assert found["pods"] == pytest.approx((horizon_s / 3600,) * 2, rel=1e-9)
    assert found["nodes"] == pytest.approx((seconds / 3600,) * 2, rel=1e-9)
    assert found["cost"] == pytest.approx((7 * seconds / 3600,) * 2, rel=1e-9)


def test_a_cluster_that_starts_empty_and_rests_takes_what_its_pod_takes(tmp_path: Path) -> None:
    """The pod is bound at once, starts for 5 s, and then uses half of its request, a quarter of the node."""
    loaded = tiny(tmp_path, "[]", quantify="{power: {idle: 100, max: 200}}")
    empty = replace(loaded, scenario=replace(loaded.scenario, start=Start("empty")))
    found = {amount.name: both(amount.span) for amount in ask(empty, AMOUNTS, horizon_s=600).amounts}

    assert found["pods"] == pytest.approx((600 / 3600,) * 2, rel=1e-9)
    assert found["energy"] == pytest.approx(((5 * 100 + 595 * 125) / 3.6e6,) * 2, rel=1e-9)


def test_where_intervals_are_too_many_to_be_divided_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At 60 s the node has failed with 0.1; the interval that follows is cut at 61 s and counts like the usual ones."""
    monkeypatch.setattr("kubeproof.quantify.clusters.sums.MOST_SLICED", 0)
    result = ask(tiny(tmp_path, "[{nodeFailure: {recovers: false, probability: 0.1}}]"), AMOUNTS, horizon_s=61)
    note = "an interval that the horizon cuts counts as usual, as there are too many to divide them"

    assert {f"pod-hours: {note}", f"node-hours: {note}"} <= set(result.not_quantified)
    assert both(result.amounts[0].span) == pytest.approx((61 / 3600,) * 2, rel=1e-9)
    assert both(result.amounts[1].span)[0] + 1e-12 >= 60 / 3600


@pytest.mark.parametrize("probability", [1e-9, 1e-15, 1e-17, 1e-100])
def test_rare_events_keep_their_digits(tmp_path: Path, probability: float) -> None:
    """60 ticks of an hour; below 1e-16 one minus it is 1, and fractions are used."""
    events = f"[{{podCrash: {{target: Deployment/web, max: unlimited, probability: {probability}}}}}]"
    result = ask(tiny(tmp_path, events), WITHIN, horizon_s=3600, at_most=0.0)

    assert both(result.intents[0].within) == pytest.approx((60 * probability,) * 2, rel=1e-6)
    assert result.verdicts == ("VIOLATED",)


@pytest.mark.parametrize("probability", [1e-5, 1e-9, 1e-12])
def test_the_expected_time_to_something_rare_lies_within_its_bounds(tmp_path: Path, probability: float) -> None:
    events = f"[{{podCrash: {{target: Deployment/web, max: unlimited, probability: {probability}}}}}]"
    first = ask(tiny(tmp_path, events), FIRST).intents[0].first_s.greatest

    assert first.lower * (1 - 1e-15) <= 60 / probability <= first.upper * (1 + 1e-15)
    assert first.value == pytest.approx(60 / probability, rel=1e-6)
    assert first.guarantee == ("interval" if probability == 1e-5 else "exact")


@pytest.mark.parametrize("most", [0, 2000])
def test_what_is_too_rare_for_any_number_is_still_possible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Level 3 is reached by two jumps of 1e-200, each in a race with one of 1/2: 4e-400."""
    from kubeproof.verify.run import verify

    monkeypatch.setattr("kubeproof.quantify.clusters.questions.MOST_EXACT", most)
    events = """[{cpuChange: {target: Deployment/web, levels: ["10%", "20%", "30%", "90%"],
      transitions: [[0.5, 1e-200, 0.5, 0], [0, 0.5, 0.5, 1e-200], [0, 0, 1, 0], [0, 0, 0, 1]]}},
      {kernelPanic: {aboveCPU: "40%"}}]"""
    loaded = tiny(tmp_path, events)
    (one,) = ask(loaded, EVER).intents

    assert [result.verdict for result in verify(loaded).results] == ["VIOLATED"]
    assert one.is_possible is True
    assert one.ever.greatest.upper < 1e-200
