"""What editors and pipelines use: a schema of Scenarios, lines that a problem matcher reads, files to copy."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from kubeproof.cli.main import cli, main

jsonschema = pytest.importorskip("jsonschema")

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs" / "reference" / "schemas" / "scenario.schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
FOLDERS = (ROOT / "examples", ROOT / "src" / "kubeproof" / "cases", ROOT / "tests" / "golden")
HEAD = {"apiVersion": "kubeproof.dev/v1alpha1", "kind": "Scenario", "metadata": {"name": "a"}}
Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def scenarios() -> list[dict]:
    """Every Scenario of the examples, the cases and the recorded inputs."""
    texts = [
        text
        for folder in FOLDERS
        for file in sorted(folder.rglob("*.yaml"))
        if "kind: Scenario" in (text := file.read_text("utf-8"))
    ]
    parts = [part for text in texts for part in text.split("\n---") if "kind: Scenario" in part]
    return [document for part in parts if isinstance(document := yaml.load(part, Loader), dict)]


def test_every_scenario_that_we_ship_is_one_by_the_schema():
    found = scenarios()

    assert len(found) > 100
    assert [(one["metadata"], error.message) for one in found for error in VALIDATOR.iter_errors(one)] == []


@pytest.mark.parametrize(
    "spec",
    [
        {"event": []},
        {"events": [{"nodeFailures": {}}]},
        {"events": [{"nodeFailure": {"recovers": "yes"}}]},
        {"events": [{"drain": {}, "cordon": {}}]},
        {"intents": [{"minready": {}}]},
        {"intents": [{"settles": {"severity": "fatal"}}]},
    ],
)
def test_what_is_misspelt_is_underlined(spec):
    assert not VALIDATOR.is_valid({**HEAD, "spec": spec})


def test_an_editor_is_told_what_events_and_intents_mean():
    lists = SCHEMA["properties"]["spec"]["properties"]

    for name in ("events", "intents"):
        entries = lists[name]["items"]["properties"]
        assert [key for key, entry in entries.items() if not entry["description"]] == []


PIPELINES = ROOT / "deploy" / "pipelines"


@pytest.fixture
def checkout(tmp_path, monkeypatch) -> Path:
    """A checkout with manifests, and kubeproof on the PATH."""
    (tmp_path / "bin").mkdir()
    launcher = tmp_path / "bin" / "kubeproof"
    launcher.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m kubeproof.cli.main "$@"\n')
    launcher.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    shutil.copytree(ROOT / "examples" / "01-conflicting-spread", tmp_path / "work" / "k8s")
    return tmp_path / "work"


def test_lines_of_a_task_are_problems_with_a_place(checkout, monkeypatch, capsys):
    (task,) = json.loads((ROOT / "deploy" / "editors" / "tasks.json").read_text())["tasks"]
    pattern = task["problemMatcher"]["pattern"]
    monkeypatch.chdir(checkout)

    assert main(task["args"]) == 1
    lines = [line for line in capsys.readouterr().out.splitlines() if "::" in line and " file=" in line]
    found = [re.match(pattern["regexp"], line) for line in lines]
    assert lines
    assert all(found)
    groups = [(one[pattern["severity"]], one[pattern["file"]], int(one[pattern["line"]])) for one in found]
    assert ("error", "k8s/scenario.yaml", 7) in groups
    assert all(one[pattern["message"]] for one in found)


def test_schemas_that_an_editor_is_told_of_are_there():
    told = json.loads((ROOT / "deploy" / "editors" / "settings.json").read_text())["yaml.schemas"]

    assert [url for url in told if not (ROOT / url.partition("/main/")[2]).is_file()] == []


def test_the_job_of_gitlab_writes_its_reports_and_fails(checkout):
    job = yaml.safe_load((PIPELINES / "gitlab-ci.yml").read_text())["kubeproof"]

    done = subprocess.run(
        ["bash", "-c", "\n".join(job["script"])], cwd=checkout, env={**os.environ, **job["variables"]}, check=False
    )

    kept = [*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]]
    assert done.returncode == 1
    assert [name for name in kept if not (checkout / name).stat().st_size] == []


@pytest.mark.parametrize(("soft", "code"), [("false", 1), ("true", 0)])
def test_the_task_of_tekton_tells_verdict_and_exit_code(checkout, tmp_path, soft, code):
    (step,) = yaml.safe_load((PIPELINES / "tekton.yaml").read_text())["spec"]["steps"]
    script = tmp_path / "script"
    script.write_text(step["script"].replace("/tmp/", f"{tmp_path}/"))
    told = {"TIMEOUT": "60", "SOFT_FAIL": soft, "VERDICT": str(tmp_path / "v"), "EXIT_CODE": str(tmp_path / "e")}
    assert {entry["name"] for entry in step["env"]} == set(told)

    done = subprocess.run(["sh", str(script), "k8s/"], cwd=checkout, env={**os.environ, **told}, check=False)

    assert done.returncode == code
    assert ((tmp_path / "v").read_text(), (tmp_path / "e").read_text()) == ("VIOLATED", "1")


def test_no_parameter_of_tekton_is_pasted_into_a_script():
    text = (PIPELINES / "tekton.yaml").read_text()

    assert "$(params" not in text[text.index("script: |") :]


def test_the_hook_of_argo_cd_can_be_read_by_the_command_line_and_has_no_rights():
    job = yaml.safe_load((PIPELINES / "argocd-presync.yaml").read_text())
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    name, *words = container["args"]

    command = cli.get_command(None, name)
    assert command.make_context(name, words).params["live"]
    assert pod["securityContext"]["runAsNonRoot"]
    for each in (*pod["initContainers"], container):
        assert each["securityContext"]["readOnlyRootFilesystem"]
        assert each["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert not each["image"].endswith(":latest")


@pytest.mark.parametrize("path", sorted(PIPELINES.glob("[at]*.yaml")), ids=lambda path: path.name)
def test_kubeproof_can_read_its_own_pipelines(path):
    assert main(["verify", str(path), "--no-pairs", "--timeout", "5", "-q"]) in (0, 1, 3, 5)
