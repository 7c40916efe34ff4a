import json
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from kubeproof.cli.commands.doctor import NEEDED_FOR, Finding, examine, find_compiled_engine, package, request_kernel
from kubeproof.cli.main import main

ROOT = Path(__file__).parents[3]


def test_replay_shows_the_steps_and_confirms_the_violation_with_exit_1(fakes, capsys):
    assert main(["replay", "trace.json"]) == 1

    assert capsys.readouterr().out.splitlines()[-1] == "VIOLATED: confirmed"
    assert fakes.paths == "trace.json"


def test_replay_shows_reasons_when_verbose(fakes, capsys):
    main(["replay", "trace.json", "-v"])

    assert "because node-a scores 100" in capsys.readouterr().out


@pytest.mark.parametrize(("verdict", "code"), [("HOLDS", 70), ("UNKNOWN", 3)])
def test_a_replay_that_does_not_confirm_is_a_disagreement(fakes, verdict, code):
    fakes.replayed = replace(fakes.replayed, verdict=verdict)

    assert main(["replay", "trace.json"]) == code


def test_init_prints_the_scenario_and_nothing_else(fakes, capsys):
    assert main(["init", "a", "b"]) == 0

    assert capsys.readouterr() == ("kind: loaded\n", "")
    assert fakes.paths == ("a", "b")


def test_properties_are_listed_as_a_table_and_after_them_the_checks(fakes, capsys):
    assert main(["properties", "list"]) == 0

    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "S001 minReady numbers At least count pods are ready."
    assert lines[1] == "L001 settles oscillation The cluster becomes stable."
    assert lines[lines.index("") + 1] == "K001 unknown-field error a field that the Kubernetes API does not have"


def test_properties_are_listed_as_json(fakes, capsys):
    assert main(["properties", "list", "-o", "json"]) == 0

    assert json.loads(capsys.readouterr().out)["properties"][0] == {
        "id": "S001",
        "key": "minReady",
        "category": "numbers",
        "text": "At least count pods are ready.",
        "fields": ["count"],
    }


def test_doctor_says_the_same_in_text_and_json(fakes, capsys):
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    assert main(["doctor", "-o", "json"]) == 0
    checks = json.loads(capsys.readouterr().out)["checks"]

    assert [check["name"] for check in checks] == [
        "kubeproof",
        "python",
        "compiled engine",
        "libyaml",
        "storm",
        "numpy",
        "request kernel",
        "dask",
        "ruamel.yaml",
        "mcp",
        "pika",
        "redis",
        "helm",
        "kustomize",
        "git",
        "settings",
        "terminal",
    ]
    assert all(check["found"] in text and check["remedy"] in text for check in checks)


def test_a_missing_extra_comes_with_what_needs_it_and_how_to_get_it():
    assert package("storm", "kubeproof_absent", "quantify") == Finding(
        "storm", False, "missing; quantify needs it", "Install it: pip install 'kubeproof[quantify]'."
    )
    assert package("storm", "yaml", "quantify") == Finding("storm", True, "present")


def test_doctor_tells_of_every_extra_that_needs_a_package():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]

    assert set(NEEDED_FOR) == {name for name, packages in extras.items() if packages} - {"dev"}


def test_a_package_inside_of_one_that_is_missing_is_missing():
    assert not package("x", "kubeproof_absent.inner", "fix").ok


def test_a_missing_engine_comes_with_a_remedy():
    finding = find_compiled_engine("kubeproof.engine.absent")

    assert (finding.ok, finding.found) == (False, "not built; the pure-Python engine is used")
    assert "Install a C compiler" in finding.remedy


def test_an_engine_that_cannot_be_loaded_says_why(tmp_path, monkeypatch):
    (tmp_path / "broken_kernel.py").write_text("raise ImportError('wrong\\nABI')")
    monkeypatch.syspath_prepend(str(tmp_path))

    assert find_compiled_engine("broken_kernel").found == (
        "cannot be loaded: wrong ABI; the pure-Python engine is used"
    )


def test_an_engine_that_loads_is_present():
    assert find_compiled_engine("json").ok


def test_a_missing_libyaml_comes_with_a_remedy(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    libyaml = next(finding for finding in examine() if finding.name == "libyaml")

    assert (libyaml.ok, libyaml.found) == (False, "missing; large manifests are read slowly")


def test_missing_storm_comes_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    storm = next(finding for finding in examine() if finding.name == "storm")

    assert (storm.ok, storm.remedy) == (False, "Install it: pip install 'kubeproof[quantify]'.")


def test_doctor_tells_which_programs_are_on_the_path(monkeypatch, tmp_path):
    (tmp_path / "kubectl").write_text("")
    (tmp_path / "kubectl").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    found = {one.name: one for one in examine()}
    assert (found["kustomize"].ok, found["kustomize"].found) == (True, str(tmp_path / "kubectl"))
    assert (found["helm"].ok, found["helm"].found) == (False, "not on the PATH; charts are not rendered")
    assert found["git"].remedy == "Install git, if you need it."


@pytest.mark.parametrize(
    ("text", "ok", "said"),
    [
        (None, True, "no .kubeproof.yaml here or above: defaults"),
        ("exemptions: [{id: S005, reason: known}]", True, ".kubeproof.yaml, 1 exemption(s)"),
        ("exemptions: [{id: S005}]", False, ".kubeproof.yaml cannot be used"),
        ("[", False, ".kubeproof.yaml cannot be used"),
        ("verify: {timeout: 60, failOn: warning}", True, ".kubeproof.yaml, 0 exemption(s)"),
        ("verify: {timeuot: 60}", False, ".kubeproof.yaml cannot be used"),
        ("verify: {failOn: high}", False, ".kubeproof.yaml cannot be used"),
    ],
)
def test_doctor_looks_at_the_settings(monkeypatch, tmp_path, text, ok, said):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        (tmp_path / ".kubeproof.yaml").write_text(text)

    found = next(one for one in examine() if one.name == "settings")
    assert found.ok is ok
    assert found.found.endswith(said)


def test_doctor_tells_that_requests_are_served_slowly():
    finding = request_kernel("kubeproof.no_such_module")

    assert (finding.ok, finding.found) == (False, "not built; simulated requests are served many times slower")
