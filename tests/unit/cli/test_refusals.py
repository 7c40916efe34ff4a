"""A part of the input that is refused: the rest is used, and nobody overlooks it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubeproof.cli.main import main
from kubeproof.manifests.loaded import READING_NOTES
from tests.unit.manifests.inputs import deployment

OUTDATED = deployment("old").replace("apps/v1", "extensions/v1beta9")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "old.yaml").write_text(OUTDATED)
    (tmp_path / "web.yaml").write_text(deployment())
    return tmp_path


def test_init_writes_a_scenario_for_the_rest_tells_the_refusal_and_ends_with_4(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(folder)]) == 4

    written, told = capfd.readouterr()
    assert "Deployment/shop/web" in written
    assert told == (
        f"error: R003 {folder}/old.yaml:1: Deployment/shop/old: apiVersion is 'extensions/v1beta9'. "
        "Write apiVersion: apps/v1\n"
    )


def test_verify_shows_the_verdicts_of_the_rest_and_ends_with_4(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "scenario.yaml").write_text(
        "apiVersion: kubeproof.dev/v1alpha1\nkind: Scenario\nmetadata: {name: calm}\nspec: {intents: [{settles: {}}]}\n"
    )

    assert main(["verify", "--progress", "never", str(folder)]) == 4
    written = capfd.readouterr().out
    assert "HOLDS L002 settles" in written
    assert f"error   R003 {folder}/old.yaml:1" in written


def test_every_note_about_the_reading_is_explained(capfd: pytest.CaptureFixture[str]) -> None:
    for note, title in READING_NOTES.items():
        assert main(["explain", note]) == 0
        assert title in capfd.readouterr().out


def test_an_input_without_workloads_ends_with_what_checks_found(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "values.yaml").write_text("a: 1\n")
    assert main(["verify", str(tmp_path)]) == 5
    written, told = capfd.readouterr()
    assert "info    R001" in written
    assert "error: E301 the input holds no workload" in told

    (tmp_path / "old.yaml").write_text("apiVersion: extensions/v1beta1\nkind: Ingress\nmetadata: {name: i}\nspec: {}\n")
    assert main(["verify", str(tmp_path)]) == 1
    assert "error   K002" in capfd.readouterr().out
