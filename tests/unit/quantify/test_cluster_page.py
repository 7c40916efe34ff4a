"""What is drawn of a cluster's chances: the probability over time, and how much each rate matters."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from kubeproof.cli.main import main
from kubeproof.quantify.clusters.options import WITHIN, ClusterOptions
from kubeproof.quantify.clusters.sensitivity import ask_again
from kubeproof.quantify.rates.run import quantify_rates
from kubeproof.report.quantify.cluster_page import as_html, as_svg, unit_of
from tests.unit.quantify.clusters import tiny
from tests.unit.quantify.test_rates import DAY_S, HOUR_S, ask, holds

pytest.importorskip("numpy")
CRASH = "[{podCrash: {target: Deployment/web, max: unlimited, mtbf: 10h}}]"


def test_the_chance_over_time_is_that_of_the_first_crash(tmp_path: Path) -> None:
    (intent,) = ask(tiny(tmp_path, CRASH), horizon_s=DAY_S, questions=(WITHIN,), parts=4).intents

    assert [seconds for seconds, _ in intent.over_time] == [6 * HOUR_S, 12 * HOUR_S, 18 * HOUR_S]
    for seconds, span in intent.over_time:
        assert holds(span, 1 - math.exp(-seconds / (10 * HOUR_S)), 1e-6)


def test_how_much_a_rate_matters_is_its_elasticity(tmp_path: Path) -> None:
    """P = 1 - exp(-r t): percent of P per percent of r are r t exp(-r t) / P."""
    options = ClusterOptions(horizon_s=DAY_S, questions=(WITHIN,), is_sensitive=True)

    found = ask_again(tiny(tmp_path, CRASH), options, quantify_rates, None)

    ((name, elasticity),) = found.sensitivities
    assert name == "podCrash-1: how often"
    assert elasticity == pytest.approx(2.4 * math.exp(-2.4) / (1 - math.exp(-2.4)), rel=0.01)
    assert "What matters" in as_svg(found)


def test_page_and_picture_have_all_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny(tmp_path, CRASH)
    page, picture = tmp_path / "page.html", tmp_path / "picture.svg"

    command = ["quantify", "cluster", str(tmp_path / "tiny.yaml"), "--rates", "--within", "1d", "--sensitivity"]
    assert main([*command, "-o", "json", "-o", f"html={page}", "-o", f"svg={picture}", "--log"]) == 0

    told = json.loads(capsys.readouterr().out)
    assert len(told["results"][0]["over_time"]) == 7
    assert told["sensitivities"][0]["rate"] == "podCrash-1: how often"
    assert picture.read_text().count("<polyline") > 5
    assert "Violated by then" in page.read_text()


def test_other_mean_times_are_asked_for_as_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny(tmp_path, CRASH)

    command = ["quantify", "cluster", str(tmp_path), "--rates", "--within", "1d", "--vary", "podCrash-1=5h,20h"]
    assert main([*command, "-o", "json", "-o", f"svg={tmp_path / 'p.svg'}"]) == 0

    (found,) = json.loads(capsys.readouterr().out)["variations"]
    assert found["of"] == "podCrash-1: mean time between two"
    for point, hours in zip(found["points"], (5, 20), strict=True):
        assert point["mean_s"] == hours * HOUR_S
        assert point["min"]["value"] == pytest.approx(1 - math.exp(-24 / hours), rel=1e-6)
    assert (tmp_path / "p.svg").read_text().count("<circle") == 2


@pytest.mark.parametrize(
    ("text", "problem"),
    [("podCrash-1=", "no mean times"), ("other=1h", "no such event"), ("podCrash-1/mttr=1h", "has no rate")],
)
def test_what_cannot_be_varied_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, problem: str
) -> None:
    tiny(tmp_path, CRASH)

    assert main(["quantify", "cluster", str(tmp_path), "--rates", "--ask", "within", "--vary", text]) == 2
    assert problem in capsys.readouterr().err


def test_what_matters_is_about_the_horizon(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny(tmp_path, CRASH)

    assert main(["quantify", "cluster", str(tmp_path), "--rates", "--ask", "amounts", "--sensitivity"]) == 2
    assert "Add --ask within" in capsys.readouterr().err


def test_without_an_intent_there_is_nothing_to_draw(tmp_path: Path) -> None:
    found = ask(tiny(tmp_path, CRASH, intents="[]"), questions=("amounts",))

    assert "no safety intent" in as_svg(found)
    assert "expected pod-hours" in as_html(found)


@pytest.mark.parametrize(("seconds", "unit"), [(90, "minutes"), (7200, "hours"), (86400, "hours"), (172800, "days")])
def test_horizons_have_units_of_their_size(seconds: int, unit: str) -> None:
    assert unit_of(seconds)[0] == unit
