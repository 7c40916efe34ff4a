"""Where input comes from."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kubeproof.errors import ManifestError, UsageError
from kubeproof.manifests.load import load
from kubeproof.manifests.yaml.printable import printable
from tests.unit.manifests.inputs import node


def test_directories_are_read_recursively_sorted_and_without_hidden_files(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / ".git").mkdir()
    for name, text in (
        ("b/x.yml", node("n2")),
        ("a.yaml", node("n1")),
        (".git/c.yaml", "["),
        (".h.yaml", "["),
    ):
        (tmp_path / name).write_text(text)
    (tmp_path / "readme.md").write_text("[")
    (tmp_path / "z.json").write_text('{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}')
    loaded = load([str(tmp_path)])

    assert [n.name for n in loaded.setup.nodes] == ["n1", "n2"]
    assert [os.path.relpath(f, tmp_path) for f in loaded.files] == ["a.yaml", "b/x.yml", "z.json"]
    assert str(loaded.setup.nodes[0].source) == f"{tmp_path}/a.yaml:1"


def test_a_file_named_twice_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(node())

    assert len(load([str(tmp_path), str(tmp_path / "a.yaml")]).setup.nodes) == 1


@pytest.mark.parametrize(
    ("recipe", "remedy"), [("Chart.yaml", "helm template"), ("kustomization.yaml", "kustomize build")]
)
def test_recipes_are_refused_with_the_command_that_renders_them(tmp_path: Path, recipe: str, remedy: str) -> None:
    (tmp_path / recipe).write_text("")

    with pytest.raises(ManifestError, match=f"{remedy} .* | kubeproof verify -"):
        load([str(tmp_path)], render=None)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="No such file"):
        load([str(tmp_path / "none.yaml")])


def test_a_path_with_a_nul_is_refused() -> None:
    with pytest.raises(ManifestError, match="cannot be read"):
        load(["a\0b"])


def test_no_paths_and_no_standard_input_are_wrong_usage() -> None:
    with pytest.raises(UsageError):
        load([])
    with pytest.raises(UsageError):
        load(["-"])


def test_printable_escapes_what_a_terminal_would_obey() -> None:
    assert printable("a\x1b[2J\u202eb\ud800") == "a\\x1b[2J\\u202eb\\ud800"
    assert len(printable("x" * 1000)) == 200
