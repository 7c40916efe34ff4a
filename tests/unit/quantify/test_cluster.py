"""Chances of tiny clusters, against values computed by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from kubeproof.errors import LimitReached
from kubeproof.manifests.load import load
from kubeproof.manifests.loaded import Start
from kubeproof.quantify.clusters.options import AMOUNTS, EVER, FIRST, LONG_RUN, WITHIN, ClusterOptions
from kubeproof.quantify.clusters.space import SpaceOptions
from tests.unit.quantify.clusters import text_of, tiny
from tests.unit.quantify.programs import needs_storm

pytestmark = needs_storm

CRASH = "[{podCrash: {target: Deployment/web, probability: 0.25}}]"
CRASHES = "[{podCrash: {target: Deployment/web, max: unlimited, probability: 0.25}}]"


def quantified(loaded, **options):
    from kubeproof.quantify.clusters.run import quantify_cluster

    return quantify_cluster(loaded, ClusterOptions(**options))


def ask(loaded, *questions, **options):
    return quantified(loaded, questions=questions, **options)


def both(span):
    return span.least.value, span.greatest.value


def test_an_event_per_tick_is_geometric(tmp_path: Path) -> None:
    (one,) = ask(tiny(tmp_path, CRASH), WITHIN, EVER, FIRST, horizon_s=180).intents

    assert both(one.within) == pytest.approx((1 - 0.75**3,) * 2, rel=1e-9)
    assert both(one.ever) == (1.0, 1.0)
    assert both(one.first_s) == pytest.approx((240, 240), rel=1e-6)
    assert one.is_possible is True


def test_a_horizon_below_the_first_tick_sees_nothing(tmp_path: Path) -> None:
    (one,) = ask(tiny(tmp_path, CRASH), WITHIN, horizon_s=59).intents

    assert both(one.within) == (0.0, 0.0)


def test_a_rate_per_hour_is_what_a_probability_stands_for(tmp_path: Path) -> None:
    rate = -math.log(0.75) * 60
    events = f"[{{podCrash: {{target: Deployment/web, ratePerHour: {rate:.15f}}}}}]"
    (one,) = ask(tiny(tmp_path, events), WITHIN, horizon_s=180).intents

    assert both(one.within) == pytest.approx((1 - 0.75**3,) * 2, rel=1e-9)


def test_probabilities_refer_to_the_tick_of_the_scenario(tmp_path: Path) -> None:
    (one,) = ask(tiny(tmp_path, CRASH, quantify="{tick: 10s, horizon: 30s}"), WITHIN).intents

    assert both(one.within) == pytest.approx((1 - 0.75**3,) * 2, rel=1e-9)


def test_without_a_probability_an_event_may_come_at_the_worst_moment_or_never(tmp_path: Path) -> None:
    result = ask(tiny(tmp_path, "[{podCrash: {target: Deployment/web}}]"), WITHIN, EVER, FIRST, horizon_s=60)
    (one,) = result.intents

    assert result.open_events == ("podCrash-1",)
    assert both(one.within) == (0.0, 1.0)
    assert both(one.ever) == (0.0, 1.0)
    assert both(one.first_s) == (0.0, math.inf)


def test_the_long_run_share_is_that_of_ready_and_back_off_in_turn(tmp_path: Path) -> None:
    """In the end a crash every 208.6 s of readiness on average is followed by 300 s of back-off and 5 s of start."""
    (one,) = ask(tiny(tmp_path, CRASHES), LONG_RUN).shortages

    assert both(one.span) == pytest.approx((305 / (305 - 60 / math.log(0.75)),) * 2, rel=1e-5)


def test_a_bounded_number_of_crashes_leaves_no_share_in_the_long_run(tmp_path: Path) -> None:
    (one,) = ask(tiny(tmp_path, CRASH), LONG_RUN).shortages

    assert both(one.span) == pytest.approx((0, 0), abs=1e-9)


def test_energy_is_that_of_all_containers_each_at_its_own_level(tmp_path: Path) -> None:
    """Half of 500m, and of 100m nothing or twice as much, of one core: 125 W or 145 W, as likely after one tick."""
    change = "levels: ['0%', '200%'], transitions: [[0.5, 0.5], [0.25, 0.75]]"
    text = text_of(
        f"[{{cpuChange: {{target: Deployment/web, container: proxy, {change}}}}}]",
        quantify="{power: {idle: 100, max: 200}}",
    )
    file = tmp_path / "two.yaml"
    proxy = "{name: proxy, image: p, resources: {requests: {cpu: 100m}}}"
    file.write_text(text.replace("containers: [", f"containers: [{proxy}, "))
    found = {one.name: both(one.span) for one in ask(load((str(file),)), AMOUNTS, horizon_s=120).amounts}

    assert found["energy"] == pytest.approx(((125 * 60 + 135 * 60) / 3.6e6,) * 2, rel=1e-9)


def test_pods_nodes_energy_and_cost_follow_the_levels_of_load(tmp_path: Path) -> None:
    """Level 0 draws 100 W, level 100% half of the node's CPU and so 150 W; after one tick either is as likely."""
    events = (
        """[{cpuChange: {target: Deployment/web, levels: ["0%", "100%"], transitions: [[0.5, 0.5], [0.25, 0.75]]}}]"""
    )
    quantify = "{power: {idle: 100, max: 200}, cost: {nodeHour: 3, podHour: 30, kilowattHour: 100}}"
    amounts = ask(tiny(tmp_path, events, quantify=quantify), AMOUNTS, horizon_s=120).amounts

    found = {amount.name: both(amount.span) for amount in amounts}
    energy = (100 * 60 + 125 * 60) / 3.6e6
    assert [amount.unit for amount in amounts] == ["pod-hours", "node-hours", "kWh", "cost"]
    assert found["pods"] == pytest.approx((1 / 30,) * 2, rel=1e-9)
    assert found["nodes"] == pytest.approx((1 / 30,) * 2, rel=1e-9)
    assert found["energy"] == pytest.approx((energy,) * 2, rel=1e-9)
    assert found["cost"] == pytest.approx((33 / 30 + 100 * energy,) * 2, rel=1e-9)


def test_a_level_that_the_matrix_never_leads_to_is_never_reached(tmp_path: Path) -> None:
    from kubeproof.verify.run import verify

    events = """[{cpuChange: {target: Deployment/web, levels: ["10%", "20%", "90%"],
      transitions: [[0.5, 0.5, 0], [0.5, 0.5, 0], [0.5, 0, 0.5]]}}, {kernelPanic: {aboveCPU: "40%"}}]"""
    intents = "[{noEviction: {by: kernelPanic}}, {minReady: {target: Deployment/web, count: 1, when: always}}]"
    loaded = tiny(tmp_path, events, intents=intents)

    assert {one.verdict for one in verify(loaded).results} == {"HOLDS"}
    assert [both(one.ever) for one in ask(loaded, EVER).intents] == [(0.0, 0.0), (0.0, 0.0)]


def test_a_forbidden_step_counts_when_it_is_taken(tmp_path: Path) -> None:
    events = """[{cpuChange: {target: Deployment/web, levels: ["10%", "90%"], max: 1, probability: 0.5}},
      {kernelPanic: {aboveCPU: "40%"}}]"""
    (one,) = ask(
        tiny(tmp_path, events, intents="[{noEviction: {by: kernelPanic}}]"), WITHIN, EVER, horizon_s=120
    ).intents

    assert both(one.within) == pytest.approx((0.75, 0.75), rel=1e-9)
    assert both(one.ever) == (1.0, 1.0)


def test_intents_that_endless_runs_break_are_listed_and_not_quantified(tmp_path: Path) -> None:
    result = ask(tiny(tmp_path, CRASH, intents="[{settles: {}}]"), EVER)

    assert result.intents == ()
    assert result.not_quantified == ("settles: broken by endless runs, not at a moment",)


def test_a_part_of_the_states_has_no_probabilities(tmp_path: Path) -> None:
    with pytest.raises(LimitReached, match="stopped by 1 states"):
        ask(tiny(tmp_path, CRASH), EVER, space=SpaceOptions(max_states=1))


def test_both_engines_give_the_same_process(tmp_path: Path) -> None:
    from kubeproof.quantify.clusters.run import build_process

    loaded = tiny(tmp_path, CRASHES)
    one, other = (
        build_process(loaded, ClusterOptions(space=SpaceOptions(engine=engine))).chain.arrays
        for engine in ("python", "auto")
    )

    assert one.choice_starts.tolist() == other.choice_starts.tolist()
    assert one.row_starts.tolist() == other.row_starts.tolist()
    assert one.columns.tolist() == other.columns.tolist()
    assert one.probabilities.tolist() == other.probabilities.tolist()


def test_the_start_up_time_is_drawn_when_a_pod_is_bound(tmp_path: Path) -> None:
    """Ready after 5 s with 0.7, else after 20 s; a crash comes no sooner, and the node holds the pod from the start."""
    loaded = tiny(tmp_path, "[{podCrash: {target: Deployment/web, probability: 0.25}}]", quantify="{tick: 10s}")
    drawn = replace(loaded.setup.settings, startup_s=(5, 20), startup_choices=((5, 0.7), (20, 0.3)))
    empty = replace(loaded.scenario, start=Start("empty"))
    started = replace(loaded, setup=replace(loaded.setup, settings=drawn), scenario=empty)
    (one,) = ask(started, WITHIN, FIRST, horizon_s=15).intents

    assert both(one.within) == pytest.approx((0.7 * 0.25,) * 2, rel=1e-9)
    assert both(one.first_s) == pytest.approx((0.7 * 5 + 0.3 * 20 + 40,) * 2, rel=1e-6)


def restless(folder: Path, startup_s: int):
    """A pod that has to start while its load changes every 4.5 minutes, and that may crash once it runs."""
    events = """[{cpuChange: {target: Deployment/web, levels: ["20%", "80%"], transitions: [[0.8, 0.2], [0.2, 0.8]]}},
      {podCrash: {target: Deployment/web, probability: 0.25}}]"""
    loaded = tiny(folder, events)
    slow = replace(loaded.setup.settings, startup_s=(startup_s, startup_s))
    return replace(
        loaded,
        setup=replace(loaded.setup, settings=slow),
        scenario=replace(loaded.scenario, start=Start("empty")),
    )


@pytest.mark.parametrize("startup_s", [60, 300, 100_000])
def test_a_wait_takes_as_long_as_its_clock_says_however_often_the_load_changes(tmp_path: Path, startup_s: int) -> None:
    (one,) = ask(restless(tmp_path, startup_s), EVER, FIRST).intents

    assert both(one.ever) == (1.0, 1.0)
    assert both(one.first_s) == pytest.approx((startup_s + 60 / 0.25,) * 2, rel=1e-5)


@pytest.mark.parametrize(("change", "per_tick"), [(0.2, 0.25), (0.75, 0.8125 / 4)])
def test_at_rest_events_do_not_get_in_each_others_way_while_half_of_the_ticks_are_left(
    tmp_path: Path, change: float, per_tick: float
) -> None:
    """A load that changes with 0.2 leaves a crash its 0.25. With 0.75 a tick has an event with 1 - 0.25 * 0.75."""
    events = f"""[{{cpuChange: {{target: Deployment/web, levels: ["20%", "80%"], probability: {change}}}}},
      {{podCrash: {{target: Deployment/web, probability: 0.25}}}}]"""
    (one,) = ask(tiny(tmp_path, events), FIRST).intents

    assert both(one.first_s) == pytest.approx((60 / per_tick,) * 2, rel=1e-5)


def test_sums_are_found_where_they_are_the_greatest_possible(tmp_path: Path) -> None:
    """Storm's sound methods would iterate for ever here."""
    amounts = ask(restless(tmp_path, 300), AMOUNTS, horizon_s=3600).amounts

    assert [(amount.name, both(amount.span)) for amount in amounts] == [
        ("pods", pytest.approx((1, 1), rel=1e-6)),
        ("nodes", pytest.approx((1, 1), rel=1e-6)),
    ]


RARE = """[{{cpuChange: {{target: Deployment/web, levels: ["20%", "80%"], transitions: [[0.8, 0.2], [0.2, 0.8]]}}}},
  {{podCrash: {{target: Deployment/web, probability: {probability}, max: {most}}}}}]"""


@pytest.mark.parametrize("probability", [1e-3, 1e-12, 1e-300])
def test_what_is_too_rare_for_iterations_is_computed_with_fractions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, probability: float
) -> None:
    monkeypatch.setattr("kubeproof.quantify.clusters.questions.MOST_ITERATED", 100_000_000)
    loaded = tiny(tmp_path, RARE.format(probability=probability, most=1))
    (one,) = ask(loaded, EVER, FIRST).intents

    assert one.is_possible is True
    assert both(one.first_s) == pytest.approx((60 / probability,) * 2, rel=1e-5)
    assert one.first_s.greatest.guarantee == ("interval" if probability == 1e-3 else "exact")


def test_long_runs_with_hardly_any_chance_are_refused_but_for_fractions(tmp_path: Path) -> None:
    loaded = tiny(tmp_path, RARE.format(probability=1e-12, most="unlimited"))
    (rounded,) = ask(loaded, LONG_RUN).shortages
    (exact,) = ask(loaded, LONG_RUN, exact=True).shortages

    assert rounded.span.skipped == "a probability of 8.96e-13 is too small for the long run; compute with --exact"
    assert both(exact.span) == pytest.approx((305 / (60e12 + 305),) * 2, rel=1e-9)


def test_with_fractions_every_answer_is_exact_and_the_same(tmp_path: Path) -> None:
    loaded = tiny(tmp_path, CRASHES, quantify="{power: {idle: 100, max: 200}, horizon: 10m}")
    rounded, exact = (quantified(loaded, exact=flag) for flag in (False, True))

    for one, other in zip(rounded.spans, exact.spans, strict=True):
        assert both(one) == pytest.approx(both(other), rel=1e-6)
        is_share = other is exact.shortages[0].span  # of continuous time, with rounded rates
        assert {other.least.guarantee, other.greatest.guarantee} == {"interval" if is_share else "exact"}


def test_what_does_not_converge_has_no_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubeproof.quantify.clusters.questions.MOST_ITERATED", 0)
    monkeypatch.setattr("kubeproof.quantify.clusters.questions.MOST_EXACT", 0)
    (one,) = ask(tiny(tmp_path, RARE.format(probability=1e-12, most=1)), FIRST).intents

    assert one.first_s.skipped == "not converged to a relative precision of 1e-06"


def test_what_holds_from_the_start_is_no_open_event(tmp_path: Path) -> None:
    events = """[{kernelPanic: {}}, {neverReady: {target: Deployment/web}}, {nodeFailure: {probability: 0.1}}]"""

    assert ask(tiny(tmp_path, events), EVER).open_events == ("recovery of nodeFailure-3",)
