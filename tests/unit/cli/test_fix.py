"""`kubeproof fix`: what it prints, what it writes, how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubeproof.cli.commands.fix import _write
from kubeproof.cli.main import main
from kubeproof.errors import EnvironmentProblem
from kubeproof.manifests.load import load
from kubeproof.verify.fix.run import FixOptions, find_repairs
from tests.unit.verify.inputs import node, scenario, web

BUDGET = """# Ours.
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec:
  minAvailable: 2  # both
  selector: {matchLabels: {app: web}}
"""
DRAINED = scenario("{drainCompletes: {}}", events="{drain: {uncordon: true}}", start="deployed")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "in.yaml"
    file.write_text("---\n".join((node("a"), node("b"), web(2), BUDGET, DRAINED)), encoding="utf-8")
    return file


def test_a_proposal_is_shown_with_its_diff_and_nothing_is_written(path, capsys):
    before = path.read_text(encoding="utf-8")

    assert main(["fix", str(path), "--proposals", "1"]) == 0

    printed = capsys.readouterr().out
    assert "    -  minAvailable: 2  # both\n    +  minAvailable: 1  # both\n" in printed
    assert printed.endswith("PROVED: 1 repair for 1 of 1 violation\n")
    assert path.read_text(encoding="utf-8") == before


def test_a_proposal_is_written_and_then_there_is_nothing_to_fix(path, capsys):
    before = path.read_text(encoding="utf-8")

    assert main(["fix", str(path), "--proposals", "1", "--write"]) == 0
    assert path.read_text(encoding="utf-8") == before.replace("minAvailable: 2 ", "minAvailable: 1 ")
    assert main(["fix", str(path)]) == 0
    assert capsys.readouterr().out.endswith("NOTHING TO FIX: nothing is violated\n")


def test_without_a_repair_the_code_is_that_of_a_violation(path, capsys):
    assert main(["fix", str(path), "--allow", "minReadySeconds"]) == 1
    assert "minReadySeconds (3): up to Deployment/shop/web: minReadySeconds 0 -> 60" in capsys.readouterr().out


def test_programs_get_the_same_as_json(path, capsys):
    assert main(["fix", str(path), "--proposals", "1", "-o", "json"]) == 0

    told = json.loads(capsys.readouterr().out)
    assert [one["intent"] for one in told["violated"]] == ["drainCompletes"]
    (proposal,) = told["proposals"]
    assert proposal["edits"][0]["object"] == "PodDisruptionBudget/shop/web"
    assert proposal["proved"] == ["drainCompletes"]
    assert "-  minAvailable: 2  # both\n+  minAvailable: 1  # both\n" in proposal["files"][0]["diff"]


def test_a_kind_or_proposal_that_there_is_not_is_wrong_usage(path, capsys):
    assert main(["fix", str(path), "--deny", "magic"]) == 2
    assert main(["fix", str(path), "--proposals", "1", "--write", "--choose", "2"]) == 2
    assert "there is no proposal 2" in capsys.readouterr().err


def test_kinds_of_edits_are_listed(capsys):
    assert main(["fix", "--kinds"]) == 0
    assert "budget                 numbers and selectors of PodDisruptionBudgets\n" in capsys.readouterr().out


def test_a_file_that_somebody_changed_meanwhile_is_left_alone(path):
    found = find_repairs(load(str(path)), FixOptions(wanted=1))
    path.write_text(path.read_text(encoding="utf-8") + "# More.\n", encoding="utf-8")

    with pytest.raises(EnvironmentProblem, match="has been changed meanwhile"):
        _write(found, 1)
    assert path.read_text(encoding="utf-8").endswith("# More.\n")


def test_what_comes_from_an_anchor_gets_a_patch_instead(tmp_path, capsys):
    file = tmp_path / "in.yaml"
    shared = BUDGET.replace("minAvailable: 2  # both", "minAvailable: &all 2").replace("# Ours.", "# Ours.")
    file.write_text("---\n".join((node("a"), node("b"), web(2), shared, DRAINED)), encoding="utf-8")

    assert main(["fix", str(file), "--proposals", "1", "--allow", "budget"]) == 0
    printed = capsys.readouterr().out
    assert '{"op": "replace", "path": "/spec/minAvailable", "value": 1}' in printed
    assert "in.yaml cannot be changed in place (the value has an anchor): take the patch" in printed
    assert main(["fix", str(file), "--proposals", "1", "--allow", "budget", "--write"]) == 2


def test_the_first_proposal_is_a_diff_for_git_apply(path, capsys, monkeypatch):
    monkeypatch.chdir(path.parent)

    assert main(["fix", "in.yaml", "-o", "diff"]) == 0
    printed = capsys.readouterr().out

    assert printed.startswith("--- a/in.yaml\n+++ b/in.yaml\n")
    assert "-  minAvailable: 2  # both\n+  minAvailable: 1  # both\n" in printed


def test_the_first_proposal_is_annotated_where_it_changes_something(path, capsys, monkeypatch):
    monkeypatch.chdir(path.parent)
    line = path.read_text(encoding="utf-8").split("\n").index("  minAvailable: 2  # both") + 1

    assert main(["fix", "in.yaml", "-o", "github"]) == 0
    (printed,) = capsys.readouterr().out.splitlines()

    assert printed.startswith(f"::notice file=in.yaml,line={line},title=A change that is proved to help::")
    assert "%0A+  minAvailable: 1  # both" in printed


def test_the_first_proposal_stands_in_a_summary(path, capsys):
    assert main(["fix", str(path), "-o", "markdown"]) == 0
    printed = capsys.readouterr().out

    assert printed.startswith("### PROVED: ")
    assert "```diff\n" in printed
    assert main(["fix", str(path), "--write"]) == 0
    capsys.readouterr()
    assert main(["fix", str(path), "-o", "markdown"]) == 0
    assert capsys.readouterr().out.strip() == ""


def test_an_annotation_denies_kinds_of_edits_of_its_object(path, capsys):
    denied = (
        'name: web, namespace: shop, annotations: {kubeproof.dev/deny-edits: "budget, other"}}\nspec:\n  minAvailable'
    )
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("name: web, namespace: shop}\nspec:\n  minAvailable", denied), encoding="utf-8")

    assert main(["fix", str(path), "--proposals", "1"]) == 0
    printed = capsys.readouterr().out

    assert "spec.replicas 2 -> 3" in printed
    assert "minAvailable: 1" not in printed


def test_where_nothing_helps_what_the_loops_ask_for_is_told(path, capsys):
    assert main(["fix", str(path), "--allow", "minReadySeconds"]) == 1

    told = capsys.readouterr().out
    assert "What the loops of the runs ask for\n  Write maxUnavailable: 1 or minAvailable: 1 in Pod" in told
