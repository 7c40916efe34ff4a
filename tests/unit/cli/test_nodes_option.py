"""`--nodes`, and the settings file, for manifests without Node objects."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubeproof.cli.main import main
from tests.unit.manifests.test_assumed_nodes import NODE, deployment


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("web.yaml").write_text(deployment(replicas=1))


def test_a_first_run_needs_no_nodes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "web.yaml"]) == 0

    told = capsys.readouterr().out
    assert "assumed nodes" in told
    assert told.rstrip().endswith("; on assumed nodes")


def test_nodes_are_given_in_a_few_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "web.yaml", "--nodes", "1x2,4Gi", "--nodes", "1x4,8Gi"]) in (0, 1)

    told = capsys.readouterr().out
    assert "Nodes    1 node of 2 CPU and 4 GiB in 1 zone; 1 node of 4 CPU and 8 GiB in 1 zone" in told
    assert "assumed" not in told


def test_nodes_of_the_settings_file_count(capsys: pytest.CaptureFixture[str]) -> None:
    Path(".kubeproof.yaml").write_text(
        "verify:\n  nodes: [1x2cpu,4Gi, 1x4cpu,8Gi]\n".replace(
            "[1x2cpu,4Gi, 1x4cpu,8Gi]", '["1x2cpu,4Gi", "1x4cpu,8Gi"]'
        )
    )

    main(["verify", "web.yaml"])

    assert (
        "Nodes    1 node of 2 CPU and 4 GiB in 1 zone; 1 node of 4 CPU and 8 GiB in 1 zone" in capsys.readouterr().out
    )


def test_a_wrong_pool_of_the_settings_file_has_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path(".kubeproof.yaml").write_text("verify:\n  nodes: many\n")

    assert main(["verify", "web.yaml"]) == 2
    assert "COUNTxCPU,MEMORY" in capsys.readouterr().err


def test_nodes_beside_node_objects_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("node.yaml").write_text(NODE)

    assert main(["verify", "web.yaml", "node.yaml", "--nodes", "1x2,4Gi"]) == 2
    assert "node.yaml:2" in capsys.readouterr().err


def test_init_writes_the_assumed_nodes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "web.yaml"]) == 0

    Path("scenario.yaml").write_text(capsys.readouterr().out)
    main(["verify", "web.yaml", "scenario.yaml"])
    told = capsys.readouterr().out
    assert "3 in 1 class(es)" in told
    assert "assumed" not in told


def test_init_writes_given_nodes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "web.yaml", "--nodes", "2x2,4Gi"]) == 0

    assert capsys.readouterr().out.count("kind: Node") == 2


def test_a_diff_refuses_nodes_beside_node_objects(capsys: pytest.CaptureFixture[str]) -> None:
    Path("node.yaml").write_text(NODE)

    assert main(["diff", "web.yaml", "web.yaml", "--with", "node.yaml", "--nodes", "1x2,4Gi"]) == 2
    assert "node.yaml:2" in capsys.readouterr().err


def test_both_sides_of_a_diff_run_on_the_same_nodes(capsys: pytest.CaptureFixture[str]) -> None:
    Path("base").mkdir()
    Path("head").mkdir()
    Path("base/web.yaml").write_text(deployment(replicas=1, requests="{cpu: 100m}"))
    Path("head/web.yaml").write_text(deployment(replicas=1, requests="{cpu: 30}"))

    assert main(["diff", "base", "head"]) == 0
    assert "newly violated" not in capsys.readouterr().out.replace("0 newly violated", "")
