"""`kubeproof verify --without`: single reductions switched off."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubeproof.cli.main import main
from tests.unit.verify.inputs import node, scenario, web


@pytest.fixture
def manifest(tmp_path: Path) -> str:
    path = tmp_path / "in.yaml"
    path.write_text("---\n".join((node("a"), web(1), scenario("{settles: {}}"))), encoding="utf-8")
    return str(path)


def test_reductions_are_left_out_by_name(manifest: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", manifest, "--without", "unison,por", "-o", "json"]) == 0

    shown = capsys.readouterr().out
    assert "in unison" not in shown
    assert "taken alone" not in shown


def test_an_unknown_reduction_is_wrong_usage(manifest: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", manifest, "--without", "magic"]) == 2
    assert "'magic' is none of symmetry, unison, por, slicing" in capsys.readouterr().err
