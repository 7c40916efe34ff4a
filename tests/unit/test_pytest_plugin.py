"""The plugin of pytest: manifests are tests that hold, fail with their counterexample, or cannot be read."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SETTINGS = """
[pytest]
kubeproof =
    {holding}
    {violated}
kubeproof_faults = podCrash
kubeproof_nodes = 2x2cpu,4Gi
"""
SINGLE = """
apiVersion: v1
kind: Pod
metadata: {name: lonely}
spec: {containers: [{name: a, image: a}]}
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory) -> tuple[int, str]:
    """What a project's pytest says about its manifests."""
    project = tmp_path_factory.mktemp("project")
    examples = ROOT / "examples"
    paths = {"holding": examples / "03-repaired-spread", "violated": examples / "01-conflicting-spread"}
    (project / "pytest.ini").write_text(SETTINGS.format(**paths))
    (project / "pod.yaml").write_text(SINGLE)
    (project / "test_other.py").write_text("def test_other():\n    pass\n")
    command = [sys.executable, "-m", "pytest", "-p", "kubeproof.api.pytest_plugin", "-p", "no:cacheprovider", "-v"]
    named = ["--kubeproof", "pod.yaml", "--kubeproof", "missing.yaml", "test_other.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER"):
        environment.pop(name, None)
    done = subprocess.run([*command, *named], cwd=project, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "ending"),
    [
        ("test_other.py::test_other", "PASSED"),
        ("pod.yaml::kubeproof", "PASSED"),
        ("missing.yaml::kubeproof", "FAILED"),
        ("03-repaired-spread", "PASSED"),
        ("01-conflicting-spread", "FAILED"),
    ],
)
def test_each_path_is_a_test(said, words, ending):
    lines = [line for line in said[1].splitlines() if words in line and re.search("PASSED|FAILED", line)]

    assert lines, said[1]
    assert ending in lines[0]


def test_a_failure_is_told_by_its_counterexample_and_not_by_a_traceback(said):
    code, output = said

    assert code == 1
    assert "VIOLATED S005 schedulable" in output
    assert "E101" in output
    assert "Traceback" not in output
    assert "runtest" not in output


def test_the_header_says_what_is_verified(said):
    assert re.search("^kubeproof: pod.yaml, missing.yaml, .*03-repaired-spread", said[1], re.MULTILINE)


def test_loading_the_plugin_loads_nothing_of_kubeproof():
    script = (
        "import sys, kubeproof.api.pytest_plugin\n"
        "print(sorted(name for name in sys.modules if name.startswith('kubeproof')))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)

    assert done.stdout == "['kubeproof', 'kubeproof.api', 'kubeproof.api.pytest_plugin']\n"
