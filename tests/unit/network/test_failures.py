"""`network verify --failures` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubeproof.cli.main import main


@pytest.fixture
def tree(tmp_path: Path) -> str:
    file = tmp_path / "tree.json"
    assert main(["network", "generate", "fattree", "--k", "4", "-o", f"json={file}"]) == 0
    return str(file)


def test_single_failures_of_a_fat_tree_are_told_with_those_like_them(
    tree: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["network", "verify", tree, "--failures", "1", "-o", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    (result,) = document["results"]

    assert (document["checked"], document["skipped"], document["complete"]) == (29, 8, True)
    assert (result["verdict"], result["survives"], result["already_bad"]) == ("VIOLATED", 0, 0)
    assert result["breaking"][0]["pairs"] == 16
    assert sum(one["alike"] for one in result["breaking"]) == 36
    assert result["counterexample"]["ending"] == "dropped"


def test_text_has_a_matrix_of_failures_and_properties(tree: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["network", "verify", tree, "--failures", "1", "-p", "noDrop", "--fail", "both"]) == 1
    out = capsys.readouterr().out

    assert "Pairs that one failure costs, by property" in out
    assert "  agg-0-0 - core-0-0      16      16" in out
    assert "and by 34 more sets" in out


def test_a_property_that_nothing_breaks_holds(tree: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = Path(tree)
    content = json.loads(file.read_text(encoding="utf-8"))
    content["spec"]["properties"] = [{"avoid": {"nodes": ["core-0-1"]}}]
    file.write_text(json.dumps(content), encoding="utf-8")

    assert main(["network", "verify", tree, "--failures", "2"]) == 0
    assert "survives any failure of 2 links" in capsys.readouterr().out
    assert main(["network", "verify", tree, "--failures", "2", "--max-sets", "9"]) == 3
    assert "not all sets were looked at" in capsys.readouterr().out


@pytest.mark.parametrize(
    "options",
    [["--failures", "0"], ["--reroute"], ["--fail", "links"], ["--failures", "1", "--final"],
     ["--failures", "1", "--from-manifests"]],
)  # fmt: skip
def test_wrong_wishes_end_with_2(tree: str, options: list[str]) -> None:
    assert main(["network", "verify", tree, *options]) == 2
