"""Rare violations: weighed runs give the probability that plain runs and closed forms have."""

from __future__ import annotations

import json
from math import exp
from pathlib import Path

import pytest

from kubeproof.cli.main import main
from kubeproof.errors import NothingToCheckError, UsageError
from kubeproof.manifests.loaded import Loaded
from kubeproof.simulate.options import SimulateOptions
from kubeproof.simulate.rare import count_effective, estimate_rare, probability_of
from kubeproof.simulate.simulation import simulate_cluster
from kubeproof.simulate.statistics.intervals import Interval
from tests.unit.manifests.inputs import deployment, load_text, node, scenario

WEB = "Deployment/shop/web"


def text(rate: str, count: int, more: str = "") -> tuple[str, str, str]:
    spec = f"""start: deployed
events: [{{podCrash: {{target: {WEB}, max: unlimited, {rate}}}}}]
intents: [{{minReady: {{target: {WEB}, count: {count}, when: always}}}}]
{more}"""
    return node("n1"), deployment("web", spec="replicas: 2,"), scenario(spec)


def crashes(rate: str, count: int = 2, more: str = "") -> Loaded:
    return load_text(*text(rate, count, more))


def first_crash(per_hour: float, hours: float) -> float:
    """Two pods: any crash leaves one of them not ready."""
    return 1 - exp(-2 * per_hour * hours)


def overlap(one: Interval, other: Interval) -> bool:
    return one.lower <= other.upper and other.lower <= one.upper


@pytest.mark.parametrize(("hours", "boost"), [(24, 10), (10_000, 5000), (1_000_000, 500_000)])
def test_the_first_failure_is_as_likely_as_the_closed_form_says(hours: int, boost: float) -> None:
    found = estimate_rare(crashes(f"mtbf: {hours}h"), SimulateOptions(duration_s=3600, runs=120), boost)

    (one,) = found.intents
    true = first_crash(1 / hours, 1)
    assert one.probability.lower <= true <= one.probability.upper
    assert one.probability.half_width < 0.3 * true
    assert one.hits > 40


def test_without_a_boost_every_run_counts_for_one() -> None:
    options = SimulateOptions(duration_s=600, runs=60)

    found = estimate_rare(crashes("ratePerHour: 3"), options, 1.0)
    plain = simulate_cluster(crashes("ratePerHour: 3"), options)

    assert plain.intents[0].violated_runs == found.intents[0].hits
    assert found.intents[0].probability.value == pytest.approx(found.intents[0].hits / 60)
    assert found.intents[0].seed == plain.intents[0].seed


def test_weighed_runs_agree_with_plain_ones_where_both_can_tell() -> None:
    """Both pods down at once: two failures that meet, with repairs in between."""
    loaded = crashes("ratePerHour: 8", count=1)
    options = SimulateOptions(duration_s=900, runs=80)

    rare = estimate_rare(loaded, options, 1.5).intents[0].probability
    plain = simulate_cluster(loaded, options).confidence

    assert plain is not None
    assert overlap(rare, plain.violated[0])
    assert 0.05 < rare.value < 0.15


def test_few_runs_that_carry_all_the_weight_are_told() -> None:
    assert count_effective([1.0] * 30) == pytest.approx(30)
    assert count_effective([0.0] * 30) == 0
    assert count_effective([100.0] + [0.01] * 30) < 2
    found = estimate_rare(crashes("ratePerHour: 20", count=1), SimulateOptions(duration_s=900, runs=20), 4.0)

    assert any("carry most of the weight" in note for note in found.notes)


def test_the_factor_is_chosen_by_runs_that_do_not_count() -> None:
    found = estimate_rare(crashes("mtbf: 100000h"), SimulateOptions(duration_s=3600, runs=60))

    assert found.boost > 10_000
    assert found.pilots >= 100
    assert found.runs == 60
    assert found.intents[0].probability.value == pytest.approx(first_crash(1e-5, 1), rel=0.5)
    assert found.intents[0].plain_runs(0.95) > 100_000


def test_what_was_never_seen_has_an_upper_bound_only() -> None:
    found = estimate_rare(crashes("mtbf: 1000h", count=0), SimulateOptions(duration_s=60, runs=20), 2.0)

    assert found.intents[0].hits == 0
    assert found.intents[0].probability.value == 0
    assert 0 < found.intents[0].probability.upper <= 1
    assert probability_of([0.0] * 20, 0.95, heaviest=3.0).upper == pytest.approx(
        3 * probability_of([0.0] * 20, 0.95).upper
    )


def test_without_chances_or_intents_there_is_nothing_to_estimate() -> None:
    with pytest.raises(UsageError, match="no event of the Scenario has a chance"):
        estimate_rare(
            load_text(*[part.replace(", ratePerHour: 1", "") for part in text("ratePerHour: 1", 2)]),
            SimulateOptions(duration_s=60, runs=5),
        )
    empty = [part.replace("intents: [{minReady", "intents: []\n#") for part in text("ratePerHour: 1", 2)]
    with pytest.raises(NothingToCheckError):
        estimate_rare(load_text(*empty), SimulateOptions(duration_s=60, runs=5))


def test_the_command_tells_probabilities(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, saved, page = tmp_path / "a.yaml", tmp_path / "rare.json", tmp_path / "rare.html"
    path.write_text("---\n".join(text("mtbf: 10000h", 2)), encoding="utf-8")
    words = ["simulate", str(path), "--rare", "--rare-factor", "5000", "--runs", "60", "--duration", "1h"]

    assert main([*words, "--workers", "1", "-o", "text", "-o", f"json={saved}", "-o", f"html={page}"]) == 1

    told = capsys.readouterr().out
    assert "P(minReady Deployment/shop/web is violated within 1h)  0.0001" in told
    (one,) = json.loads(saved.read_text(encoding="utf-8"))["intents"]
    assert one["lower"] <= first_crash(1e-4, 1) <= one["upper"]
    assert "How likely violations are" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--rare-factor", "10"], "is about --rare"),
        (["--rare", "--precision", "1%"], "is not for --rare"),
        (["--rare", "-o", "svg"], "--rare has reports in"),
    ],
)
def test_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], problem: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("---\n".join(text("mtbf: 10000h", 2)), encoding="utf-8")

    assert main(["simulate", str(path), *words]) == 2
    assert problem in capsys.readouterr().err


@pytest.mark.slow
def test_of_forty_intervals_hardly_any_misses_the_truth() -> None:
    loaded, true = crashes("mtbf: 10000h"), first_crash(1e-4, 1)

    found = [
        estimate_rare(loaded, SimulateOptions(duration_s=3600, runs=100, seed=1000 * seed), 5000.0)
        .intents[0]
        .probability
        for seed in range(40)
    ]

    assert sum(one.lower <= true <= one.upper for one in found) >= 35
    assert sum(one.value for one in found) / 40 == pytest.approx(true, rel=0.05)
