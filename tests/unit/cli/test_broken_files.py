"""Files that are none, and disks that are full: the exit code of the contract, and no answer is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kubeproof.cli.main import main
from kubeproof.cli.running.reports import RESULT_FORMATS
from tests.unit.verify.inputs import node, scenario, web

ROOT = Path(__file__).parents[3]
VIOLATED = "---\n".join((node("n1"), web(3), scenario("{schedulable: {target: Deployment/shop/web}}")))
FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a disk that is always full")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "web.yaml").write_text(VIOLATED, encoding="utf-8")
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "fifo")
    os.symlink("/dev/null", tmp_path / "device")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    return tmp_path


@pytest.mark.parametrize("path", [".", "directory", "fifo", "device", "loop", "missing", "web.yaml/below"])
@pytest.mark.parametrize(
    "spec",
    [
        "events: [{apply: {file: %s}}]",
        "workload: {faults: [{at: 1s, apply: {file: %s}}]}",
        "workload: {services: [{target: Deployment/shop/web, cpuPerRequest: 20m, arrivals: {csv: {file: %s}}}]}",
        "workload: {services: [{target: Deployment/shop/web, cpuPerRequest: 20m, arrivals: {jmeter: {file: %s}}}]}",
    ],
)
def test_a_file_of_a_scenario_that_is_none_is_refused(folder: Path, capsys, spec: str, path: str) -> None:
    text = f"apiVersion: kubeproof.dev/v1alpha1\nkind: Scenario\nmetadata: {{name: s}}\nspec:\n  {spec % path}\n"
    (folder / "s.yaml").write_text("---\n".join((node("n1"), web(1), text)), encoding="utf-8")

    assert main(["verify", "s.yaml"]) == 4
    assert capsys.readouterr().err.startswith("error: E1")


@pytest.mark.parametrize("path", ["directory", "loop", "missing"])
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["verify", "web.yaml", "--config", "%"], 2),
        (["verify", "web.yaml", "--baseline", "%"], None),
        (["verify", "web.yaml", "--controller", "%:Class"], None),
        (["replay", "%"], 4),
        (["report", "%"], 4),
        (["network", "verify", "%"], 4),
        (["network", "verify", "home.yaml", "--automaton", "%"], None),
        (["monitor", "run", "--rules", "%", "web.yaml"], None),
        (["monitor", "rules", "%"], None),
        (["monitor", "run", "--rules", "rules.yaml", "%"], 4),
        (["monitor", "run", "--scenario", "web.yaml", "--audit-log", "%"], 4),
        (["monitor", "run", "--scenario", "web.yaml", "--watch-log", "%"], 4),
        (["quantify", "prism", "%", "-p", "Pmax=? [F true]"], 4),
        (["snapshot", "--kubeconfig", "%"], 6),
    ],
)
def test_an_argument_that_is_no_file_is_told_by_the_contract(folder: Path, capsys, words, code, path: str) -> None:
    (folder / "rules.yaml").write_text(
        "apiVersion: kubeproof.dev/v1alpha1\nkind: MonitorRules\n"
        "spec: {rules: [{name: a, followedBy: {first: ask, then: answer, within: 5s}}]}\n"
    )
    main(["network", "generate", "home", "-o", "yaml=home.yaml"])
    capsys.readouterr()

    found = main([word.replace("%", path) for word in words])
    assert found in ((2, 4) if code is None else (code,))
    told = capsys.readouterr().err
    assert "error: E" in told or "Error: " in told
    assert "internal" not in told


@FULL
@pytest.mark.parametrize("form", [form for form in RESULT_FORMATS if form != "svg"])
def test_a_violation_counts_although_its_report_meets_a_full_disk(folder: Path, capsys, form: str) -> None:
    other = "json" if form == "text" else "text"

    assert main(["verify", "web.yaml", "-o", f"{form}=/dev/full", "-o", other]) == 1
    out, err = capsys.readouterr()
    assert "VIOLATED" in out  # the other report is there
    assert "error: E401 cannot write /dev/full: No space left on device.\n" in err


@FULL
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["verify", "good.yaml"], 6),
        (["verify", "web.yaml"], 1),
        (["verify", "web.yaml", "--soft-fail"], 6),
        (["verify", "web.yaml", "-o", "json=trace.json", "--write-baseline", "/dev/full"], 1),
        (["cases", "list"], 6),
        (["explain", "S005"], 6),
        (["diff", "good.yaml", "web.yaml"], 1),
        (["network", "generate", "home"], 6),
    ],
)
def test_stdout_on_a_full_disk(folder: Path, words: list[str], code: int) -> None:
    good = "---\n".join((node("n1"), web(1), scenario("{schedulable: {target: Deployment/shop/web}}")))
    (folder / "good.yaml").write_text(good, encoding="utf-8")

    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "kubeproof.cli.main", *words], stdout=full, stderr=subprocess.PIPE, text=True,
            check=False, env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        )  # fmt: skip

    assert (done.returncode, "error: E401 cannot write" in done.stderr) == (code, True)
    assert "Traceback" not in done.stderr
