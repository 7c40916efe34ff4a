"""`kubeproof quantify cluster`: reports, exit codes, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubeproof.cli.main import main
from tests.unit.quantify.clusters import text_of
from tests.unit.quantify.programs import needs_storm

pytestmark = needs_storm

CRASH = "[{podCrash: {target: Deployment/web, probability: 0.25}}]"


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "tiny.yaml"
    path.write_text(text_of(CRASH, quantify="{horizon: 2m}"))
    return str(path)


def test_text_tells_scope_process_answers_and_what_is_left_out(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["quantify", "cluster", file]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == ["Scenario tiny", "", "Scope", "  scenario: tiny"]
    assert "  4 states and 3 transitions, as verify explores them" in lines
    answers = [" ".join(line.split()) for line in lines[lines.index("Process") :]]
    assert "P(minReady Deployment/default/web is violated within 2 min) 0.4375 0.4375" in answers
    assert "expected time to the first violation of minReady Deployment/default/web 4 min 4 min" in answers
    assert lines[-2:] == ["Not quantified", "  energy: the Scenario gives no spec.quantify.power"]


def test_json_has_every_value_with_its_bounds(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["quantify", "cluster", file, "-o", "json", "--ask", "ever", "--ask", "first"]) == 0

    document = json.loads(capsys.readouterr().out)
    (one,) = document["results"]
    assert (one["id"], one["key"], one["possible"]) == ("S001", "minReady", True)
    certain = {"value": 1.0, "lower": 1.0, "upper": 1.0, "guarantee": "interval"}
    assert one["violated_ever"] == {"min": certain, "max": certain}
    assert one["violated_within"] == {"min": None, "max": None}
    assert one["first_violation_s"]["max"]["lower"] <= 240 <= one["first_violation_s"]["max"]["upper"]
    assert (document["process"]["states"], document["order"], document["horizon_s"]) == (4, "open", 120)


@pytest.mark.parametrize(("most", "code"), [("0.4", 1), ("0.4376", 0)])
def test_a_risk_above_the_one_allowed_is_a_violation(file: str, most: str, code: int) -> None:
    assert main(["quantify", "cluster", file, "--ask", "within", "--at-most", most, "-o", "json"]) == code


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (["--within", "5"], 2, "--within '5' is not a duration above zero"),
        (["--within", "0s"], 2, "--within '0s' is not a duration above zero"),
        (["--precision", "2"], 2, "--precision 2 is not between 0 and 1"),
        (["--max-states", "1"], 3, "explored in part only: stopped by 1 states"),
    ],
)
def test_wrong_words_and_limits_end_with_their_codes(
    file: str, words: list[str], code: int, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["quantify", "cluster", file, *words]) == code
    assert problem in capsys.readouterr().err


def test_a_question_that_looks_too_far_ahead_is_left_out_and_told(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["quantify", "cluster", file, "--ask", "within", "--within", "87600h"]) == 3

    told = "minReady Deployment/default/web: too many states to look 315360000 s ahead; ask for at most 14705882 s"
    assert f"Not computed\n  {told} (--within)\n" in capsys.readouterr().out


def test_without_storm_the_remedy_is_told_before_the_work(
    file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "stormpy", None)

    assert main(["quantify", "cluster", file]) == 6
    assert "pip install 'kubeproof[quantify]'" in capsys.readouterr().err
