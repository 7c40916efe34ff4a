"""What older releases wrote is read as before: results that are replayed, baselines that accept what they list."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubeproof.cli.main import main

ROOT = Path(__file__).parents[2]
RELEASES = sorted((ROOT / "tests" / "golden" / "releases").iterdir())
pytestmark = pytest.mark.parametrize("release", RELEASES, ids=lambda path: path.name)


def test_a_saved_result_is_replayed(release, capsys):
    assert main(["replay", str(release / "result.json")]) == 1
    assert "the run breaks the intent" in capsys.readouterr().out


def test_a_baseline_accepts_what_it_lists(release, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)

    assert main(["verify", "examples/01-conflicting-spread", "--baseline", str(release / "baseline.json"), "-q"]) == 0
    assert "SUPPRESSED S005" in capsys.readouterr().out
