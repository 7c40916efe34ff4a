"""`kubeproof quantify cluster`: reports, exit codes, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubeproof.cli.commands.quantify_cluster import SMALLER
from kubeproof.cli.main import main
from tests.unit.quantify.clusters import text_of
from tests.unit.quantify.programs import needs_storm, run_apart

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


@pytest.mark.parametrize(
    ("most", "code", "verdict"),
    [("0.4", 1, "VIOLATED"), ("0.4376", 0, "HOLDS"), ("0.4375", 3, "UNKNOWN"), ("0.43750001", 3, "UNKNOWN")],
)
def test_a_risk_above_the_one_allowed_is_a_violation(
    file: str, most: str, code: int, verdict: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["quantify", "cluster", file, "--ask", "within", "--at-most", most]

    assert main(words) == code
    told = f"At most {float(most):.6g} within the horizon\n  {verdict} minReady Deployment/default/web\n"
    assert told in capsys.readouterr().out
    assert main([*words, "-o", "json"]) == code
    document = json.loads(capsys.readouterr().out)
    assert (document["verdict"], document["at_most"]) == (verdict, float(most))


def test_what_cannot_happen_is_no_more_likely_than_nothing(tmp_path: Path) -> None:
    path = tmp_path / "calm.yaml"
    path.write_text(text_of("[]"))

    assert main(["quantify", "cluster", str(path), "--at-most", "0"]) == 0


def test_no_probability_is_above_1(file: str) -> None:
    assert main(["quantify", "cluster", file, "--ask", "within", "--within", "10h", "--at-most", "1"]) == 0


def test_where_nothing_is_answered_nothing_was_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "lively.yaml"
    formula = """[{ltl: {formula: "G p", where: {p: "ready('Deployment/web') >= 1"}}}]"""
    path.write_text(text_of(CRASH, intents=formula))

    assert main(["quantify", "cluster", str(path), "--ask", "ever"]) == 5
    assert "Not quantified\n  ltl: an LTL formula, which verify judges\n" in capsys.readouterr().out


def test_an_empty_input_is_nothing_to_check(tmp_path: Path) -> None:
    path = tmp_path / "empty.yaml"
    path.write_text("")

    assert main(["quantify", "cluster", str(path)]) == 5


@pytest.mark.parametrize("precision", [[], ["--exact"]])
def test_without_passing_time_there_is_no_long_run(
    tmp_path: Path, precision: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "restless.yaml"
    path.write_text(text_of(f"""[{{cpuChange: {{target: Deployment/web, levels: ["20%", "80%"]}}}}, {CRASH[1:]}"""))

    assert main(["quantify", "cluster", str(path), "--ask", "long-run", *precision]) == 3
    assert "steps that take no time, such as open events, may follow one another for ever" in capsys.readouterr().out


def test_without_a_safety_intent_there_is_nothing_to_hold_against_a_limit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "lively.yaml"
    path.write_text(text_of(CRASH, intents="[{settles: {}}]"))

    assert main(["quantify", "cluster", str(path), "--at-most", "0.1"]) == 5
    assert "--at-most has nothing to judge" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("limit", "problem"),
    [
        (["--timeout", "0.001"], f"error: E302 no answer within 0.001 s. Allow more --timeout, or {SMALLER}.\n"),
        (["--memory", "16"], "error: E302 more than 16 MiB would be needed. Allow more --memory.\n"),
    ],
)
def test_limits_hold_for_storm_too(file: str, limit: list[str], problem: str) -> None:
    done = run_apart("cluster", file, *limit)

    assert (done.returncode, done.stdout, done.stderr) == (3, "", problem)


def test_within_its_limits_a_command_says_the_same(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["cluster", file, "--ask", "within", "--at-most", "0.4", "-o", "json"]

    done = run_apart(*words, "--timeout", "1e10", "--memory", "99999999999999")

    assert main(["quantify", *words]) == done.returncode == 1
    assert json.loads(done.stdout)["results"] == json.loads(capsys.readouterr().out)["results"]


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (["--within", "5"], 2, "--within '5' is not a duration above zero"),
        (["--within", "0s"], 2, "--within '0s' is not a duration above zero"),
        (["--precision", "2"], 2, "--precision 2 is not between 0 and 1"),
        (
            ["--ask", "ever", "--at-most", "0.1"],
            2,
            "--at-most is about violations within the horizon. Add --ask within.",
        ),
        (["--at-most", "nan"], 2, "'nan' is not a number"),
        (["--timeout", "nan"], 2, "'nan' is not a number"),
        (["--max-states", "1"], 3, "explored in part only (1 states): stopped by 1 states"),
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


@pytest.mark.parametrize("missing", ["stormpy", "numpy"])
@pytest.mark.parametrize("words", [["cluster"], ["compare", "other.yaml"]])
def test_what_is_missing_is_told_with_the_remedy_before_the_work(
    file: str, missing: str, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(__import__("sys").modules, missing, None)

    assert main(["quantify", *words, file]) == 6
    assert capsys.readouterr().err.endswith("is not installed. Install it: pip install 'kubeproof[quantify]'\n")
