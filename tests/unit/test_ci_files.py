"""What other programs read from the repository: the GitHub Action and the pre-commit hooks."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from kubeproof.cli.main import main
from tests.unit.report.formats import read_github, read_json, read_junit, read_markdown, read_sarif

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
SCRIPTS = sorted((ROOT / "tools" / "action").glob("*.sh"))
BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None, reason="bash is not installed")


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Runs the verifying script as a job would; returns exit code, stdout and outputs."""
    programs = tmp_path / "bin"
    programs.mkdir()
    launcher = programs / "kubeproof"
    launcher.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m kubeproof.cli.main "$@"\n')
    launcher.chmod(0o755)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    monkeypatch.setenv("RUNNER_TEMP", str(tmp_path))
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "output"))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    shutil.copytree(ROOT / "examples", tmp_path / "work" / "examples")

    def run(**inputs: str) -> tuple[int, str, dict[str, str]]:
        for name, value in inputs.items():
            monkeypatch.setenv(f"INPUT_{name}", value)
        script = str(ROOT / "tools" / "action" / "verify.sh")
        done = subprocess.run(["bash", script], cwd=tmp_path / "work", capture_output=True, text=True, check=False)
        written = (tmp_path / "output").read_text().splitlines()
        return done.returncode, done.stdout + done.stderr, dict(line.split("=", 1) for line in written)

    return run


def test_a_proved_repair_is_annotated_summed_up_and_kept_for_git_apply(job, tmp_path):
    code, said, outputs = job(PATHS="examples/01-conflicting-spread\n", FIX="true")

    assert (code, outputs["verdict"]) == (1, "VIOLATED")
    assert "+      - maxSkew: 2" in Path(outputs["repair"]).read_text()
    assert "title=A change that is proved to help" in said
    assert "### PROVED: 1 repair for 1 of 1 violation" in (tmp_path / "summary").read_text()


def test_a_violation_fails_the_job_with_reports_a_summary_and_annotations(job, tmp_path):
    code, said, outputs = job(PATHS="examples/01-conflicting-spread\n")

    assert code == 1
    assert (outputs["verdict"], outputs["exit-code"]) == ("VIOLATED", "1")
    reports = Path(outputs["sarif"]).parent
    results = read_sarif(Path(outputs["sarif"]).read_text())["results"]
    (found,) = [one for one in results if not one["ruleId"].startswith("K")]  # beside what checks say
    place = found["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "examples/01-conflicting-spread/scenario.yaml", "uriBaseId": "%SRCROOT%"}
    read_json(Path(outputs["json"]).read_text())
    read_junit((reports / "kubeproof.xml").read_text())
    read_markdown((tmp_path / "summary").read_text())
    commands, token = re.search(r"(?s)\A(.*?)::stop-commands::(kubeproof-\d+)\n", said).groups()
    read_github(commands)
    assert said.endswith(f"::{token}::\n")


def test_what_holds_passes(job):
    code, _, outputs = job(PATHS="examples/03-repaired-spread")

    assert (code, outputs["verdict"], outputs["exit-code"]) == (0, "HOLDS", "0")


def test_a_soft_failure_passes_and_tells_the_verdict(job):
    code, said, outputs = job(PATHS="examples/01-conflicting-spread", SOFT_FAIL="true", ANNOTATIONS="false")

    assert (code, outputs["verdict"]) == (0, "VIOLATED")
    assert "::error" not in said


def test_input_that_cannot_be_read_fails_without_reports(job):
    code, said, outputs = job(PATHS="no such file.yaml")

    assert code == 4
    assert outputs == {"exit-code": "4"}
    assert "E101 no such file.yaml" in said


@pytest.mark.parametrize("hostile", ["$(touch pwned)", "; touch pwned", "`touch pwned`", "--help", "-o text=pwned"])
def test_inputs_are_never_code_nor_options(job, tmp_path, hostile):
    code, _, _ = job(PATHS=hostile)

    assert code == 4
    assert not (tmp_path / "work" / "pwned").exists()


def test_complaints_about_manifests_give_the_runner_no_orders(job, tmp_path):
    hostile = "##[set-output name=verdict;]HOLDS"
    (tmp_path / "work" / "bad.yaml").write_text(f"apiVersion: v1\nkind: Pod\nmetadata: {{name: '{hostile}'}}\n")

    code, said, outputs = job(PATHS="bad.yaml", ANNOTATIONS="false")

    assert (code, outputs) == (4, {"exit-code": "4"})
    token = re.match(r"::stop-commands::(kubeproof-\d+)\n", said)[1]
    assert hostile in said
    assert said.endswith(f"::{token}::\n")


def test_arguments_are_handed_over_one_per_line(job, tmp_path):
    code, _, outputs = job(PATHS="examples/01-conflicting-spread", ARGS="--max-states\n1\n", FAIL_ON="error")

    assert (code, outputs["verdict"]) == (3, "UNKNOWN")


def test_inputs_are_handed_to_scripts_as_variables_only():
    steps = ACTION["runs"]["steps"]

    assert ACTION["runs"]["using"] == "composite"
    assert [step["name"] for step in steps if "run" in step and ("${{" in step["run"] or step["shell"] != "bash")] == []
    used = set(re.findall(r"inputs\.([a-z-]+)", yaml.safe_dump(steps)))
    assert used == set(ACTION["inputs"])


def test_every_script_of_the_action_exists_and_is_valid():
    named = re.findall(r"tools/action/\w+\.sh", (ROOT / "action.yml").read_text(encoding="utf-8"))

    assert sorted(named) == [str(path.relative_to(ROOT)) for path in SCRIPTS]
    for path in SCRIPTS:
        subprocess.run(["bash", "-n", str(path)], check=True)


def test_outputs_of_the_action_are_those_that_the_script_writes():
    script = (ROOT / "tools" / "action" / "verify.sh").read_text(encoding="utf-8")

    assert set(ACTION["outputs"]) == set(re.findall(r'echo "([a-z-]+)=\$', script))


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_a_hook_runs_a_command_that_exists(hook, capsys):
    program, *words = shlex.split(hook["entry"])

    assert program == "kubeproof"
    assert main([*[word for word in words if word != "HEAD"][:1], "--help"]) == 0
    assert (hook["language"], hook["pass_filenames"]) == ("python", False)
    assert re.search(hook["files"], "k8s/web.yaml")


def test_the_action_installs_its_own_checkout_and_puts_it_on_the_path(tmp_path, monkeypatch):
    """A python that only writes down what it is asked stands in for the real one."""
    stub = '#!/bin/sh\\necho "$0 $*" >>"$SAID"\\n'
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\necho "python $*" >>"$SAID"\nmkdir -p "$3/bin"\nfor name in python kubeproof; do\n'
        f'printf \'{stub}\' >"$3/bin/$name"\nchmod +x "$3/bin/$name"\ndone\n'
    )
    python.chmod(0o755)
    for name, value in {
        "SAID": "said", "RUNNER_TEMP": "temp dir", "GITHUB_ACTION_PATH": "the action", "GITHUB_PATH": "path",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, str(tmp_path / value))
    monkeypatch.setenv("KUBEPROOF_PYTHON", str(python))

    subprocess.run(["bash", str(ROOT / "tools" / "action" / "install.sh")], check=True)

    venv, action = tmp_path / "temp dir" / "kubeproof", tmp_path / "the action"
    assert (tmp_path / "path").read_text() == f"{venv}/bin\n"
    assert (tmp_path / "said").read_text().splitlines() == [
        f"python -m venv {venv}",
        f"{venv}/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: "
        f"-r {action}/tools/action/requirements.txt",
        f"{venv}/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation {action}",
        f"{venv}/bin/kubeproof --version",
    ]
