"""What a project accepts, from the command line: baselines, exemptions, severities, soft failures."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator, FormatChecker

from kubeproof.cli.main import main
from kubeproof.cli.options.settings import SECTIONS, VERIFY_KEYS
from kubeproof.cluster.objects import Source
from kubeproof.engine.stopped import INTERRUPTED
from kubeproof.verify.resize import Size
from kubeproof.verify.result import CheckFinding
from kubeproof.verify.scaling.result import SizeVerdict, Sweep
from tests.unit.report.formats import PUBLISHED, schema
from tests.unit.report.results import PROOF, RESULT, VIOLATION

SETTINGS = schema(PUBLISHED / "settings.schema.json")
SAMPLE = """\
verify: {timeout: 60, failOn: warning, softFail: false, baseline: known.json}
exemptions:
- {id: S004, target: Deployment/shop/web, reason: known, expires: "2999-12-31"}
"""


def test_a_baseline_written_once_accepts_the_same_violations_afterwards(fakes, capsys, tmp_path):
    assert main(["verify", "x", "-o", "json=a.json", "--write-baseline", "known.json"]) == 1
    assert "1 violation(s) written to known.json" in capsys.readouterr().err

    assert main(["verify", "x", "-q", "--baseline", "known.json"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "SUPPRESSED: 2 properties checked (1 HOLDS, 1 SUPPRESSED)"


def test_the_settings_file_names_a_baseline_beside_it(fakes, tmp_path, monkeypatch):
    main(["verify", "x", "-q", "--write-baseline", "known.json"])
    (tmp_path / ".kubeproof.yaml").write_text("verify: {baseline: known.json}")
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")

    assert main(["verify", "x", "-q"]) == 0


def test_an_exemption_of_the_settings_file_is_applied_and_told(fakes, capsys, tmp_path):
    (tmp_path / ".kubeproof.yaml").write_text("exemptions:\n- {id: S001, reason: old, expires: 2020-01-01}\n")
    fakes.result = replace(RESULT, results=(replace(VIOLATION, id="S001"), PROOF))

    assert main(["verify", "x"]) == 1
    told = "expired, suppresses nothing: exemption for S001 until 2020-01-01 (.kubeproof.yaml:2): old"
    assert told in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "arguments"),
    [("exemptions: [{id: S001}]", []), ("", ["--baseline", "none.json"]), ("exemptions: 3", [])],
)
def test_wrong_configuration_ends_before_the_search(fakes, capsys, tmp_path, content, arguments):
    (tmp_path / ".kubeproof.yaml").write_text(content)

    assert main(["verify", "x", *arguments]) == 2
    assert "error: E210" in capsys.readouterr().err
    assert fakes.options is None


@pytest.mark.parametrize(
    ("severities", "fail_on", "code"),
    [
        (["error"], "error", 1),
        (["warning"], "error", 0),
        (["warning"], "warning", 1),
        (["info"], "warning", 0),
        (["info"], "info", 1),
        (["info", "error"], "error", 1),
    ],
)
def test_only_violations_that_are_severe_enough_fail(fakes, severities, fail_on, code):
    results = tuple(replace(VIOLATION, severity=severity) for severity in severities)
    fakes.result = replace(RESULT, results=results)

    assert main(["verify", "x", "-q", "--fail-on", fail_on]) == code


def test_what_was_not_decided_still_counts_when_no_violation_is_severe_enough(fakes):
    fakes.result = replace(RESULT, results=(replace(VIOLATION, severity="info"), replace(PROOF, verdict="UNKNOWN")))

    assert main(["verify", "x", "-q", "--fail-on", "error"]) == 3


def test_an_interrupted_run_stays_one_when_no_violation_is_severe_enough(fakes):
    stopped = replace(RESULT.statistics, stopped_by=INTERRUPTED)
    fakes.result = replace(RESULT, results=(replace(VIOLATION, severity="info"),), statistics=stopped)

    assert main(["verify", "x", "-q", "--fail-on", "error"]) == 130


def test_sizes_that_a_mild_violation_kept_from_being_tried_are_not_taken_for_proved(fakes):
    sizes = tuple(SizeVerdict(Size((("a", n),), ()), verdict) for n, verdict in enumerate(("VIOLATED", "NOT-TRIED")))
    mild = replace(RESULT, results=(replace(VIOLATION, severity="info"), replace(PROOF, verdict="HOLDS-BOUNDED")))
    fakes.result = replace(mild, sweep=Sweep(sizes, "2 sizes"))
    assert main(["verify", "x", "-q", "--fail-on", "error"]) == 3

    fakes.result = replace(mild, sweep=Sweep(sizes[:1], "1 size"))
    assert main(["verify", "x", "-q", "--fail-on", "error"]) == 0


@pytest.mark.parametrize(
    ("verdict", "code"), [("VIOLATED", 0), ("UNKNOWN", 0), ("VACUOUS", 0), ("ERROR", 70), ("HOLDS", 0)]
)
def test_soft_failures_end_with_0_but_errors_do_not(fakes, verdict, code):
    fakes.answer(verdict)

    assert main(["verify", "x", "-q", "--soft-fail"]) == code


def test_soft_failure_can_be_set_in_the_environment_and_undone(fakes, monkeypatch):
    monkeypatch.setenv("KUBEPROOF_SOFT_FAIL", "1")

    assert main(["verify", "x", "-q"]) == 0
    assert main(["verify", "x", "-q", "--no-soft-fail"]) == 1


def test_the_schema_of_the_settings_has_exactly_the_settings():
    content = json.loads((PUBLISHED / "settings.schema.json").read_text())

    assert set(content["properties"]) == set(SECTIONS)
    assert set(content["properties"]["verify"]["properties"]) == set(VERIFY_KEYS)


@pytest.mark.parametrize("text", [SAMPLE, "", "verify:\n", "exemptions: []"])
def test_settings_that_are_taken_are_valid(fakes, tmp_path: Path, text):
    (tmp_path / "known.json").write_text('{"version": 1, "findings": []}')
    (tmp_path / ".kubeproof.yaml").write_text(text)

    SETTINGS.validate(yaml.safe_load(text))
    assert main(["verify", "x", "-q"]) in (0, 1)


@pytest.mark.parametrize(
    "text", ["other: 1", "verify: {controllers: [x]}", "verify: {failOn: never}", "exemptions: [{id: S001}]"]
)
def test_settings_that_are_refused_are_invalid(fakes, tmp_path: Path, text):
    (tmp_path / ".kubeproof.yaml").write_text(text)

    assert not Draft202012Validator(SETTINGS.schema, format_checker=FormatChecker()).is_valid(yaml.safe_load(text))
    assert main(["verify", "x", "-q"]) == 2


# -- checks ---------------------------------------------------------------------------------------


CHECKED = CheckFinding(
    "K001", "unknown-field", "error", "Deployment/shop/web", "wrong", "Correct it", Source("a.yaml", 3)
)


def test_an_error_of_a_check_ends_with_1_and_warnings_do_not(fakes):
    fakes.result = replace(RESULT, results=(PROOF,), verdict="HOLDS", checks=(CHECKED,))
    assert main(["verify", "x", "-q"]) == 1
    assert main(["verify", "x", "-q", "--fail-on", "error"]) == 1
    assert main(["verify", "x", "-q", "--soft-fail"]) == 0

    fakes.result = replace(fakes.result, checks=(replace(CHECKED, severity="warning"),))
    assert main(["verify", "x", "-q"]) == 0


def test_errors_of_checks_are_accepted_by_exemptions_and_baselines(fakes, tmp_path):
    fakes.result = replace(RESULT, results=(PROOF,), verdict="HOLDS", checks=(CHECKED,))
    assert main(["verify", "x", "-q", "--write-baseline", "known.json"]) == 1
    assert main(["verify", "x", "-q", "--baseline", "known.json"]) == 0

    (tmp_path / ".kubeproof.yaml").write_text("exemptions:\n- {id: unknown-field, reason: an older cluster}\n")
    assert main(["verify", "x", "-q"]) == 0
    (tmp_path / ".kubeproof.yaml").write_text("exemptions:\n- {id: K999, reason: unknown}\n")
    assert main(["verify", "x", "-q"]) == 2
