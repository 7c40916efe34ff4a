"""Files for a call come from one folder alone, and are no more than a call can bear."""

from __future__ import annotations

import os

import pytest

from kubeproof.cli.assistants import fenced_files
from kubeproof.cli.assistants.fenced_files import Fence, copy, write_given
from kubeproof.errors import UsageError


@pytest.fixture
def root(tmp_path):
    """A folder with manifests, links inside of it, and links that lead out."""
    folder = tmp_path / "root"
    (folder / "k8s" / ".git").mkdir(parents=True)
    for name in ("k8s/a.yaml", "k8s/b.txt", "k8s/.git/c.yaml", "-", "given"):
        (folder / name).write_text(name)
    (tmp_path / "secret.yaml").write_text("secret")
    (folder / "k8s" / "leads-out.yaml").symlink_to(tmp_path / "secret.yaml")
    (folder / "k8s" / "folder").symlink_to(tmp_path)
    (folder / "inside.yaml").symlink_to("k8s/a.yaml")
    return folder


def fetch(root, *names, **bounds):
    target = root.parent / "copy"
    target.mkdir()
    copied = copy(Fence(str(root), **bounds), names, target)
    return copied, {str(path.relative_to(target)): path.read_text() for path in target.rglob("*") if path.is_file()}


def test_manifests_of_a_folder_are_copied_and_links_are_told(root):
    copied, files = fetch(root, "k8s")

    assert (copied.paths, files) == (("k8s",), {"k8s/a.yaml": "k8s/a.yaml"})
    assert copied.left_out == ("k8s/folder", "k8s/leads-out.yaml")


def test_all_files_come_along_where_charts_are_rendered(root):
    _, files = fetch(root, "k8s", takes_all=True)

    assert set(files) == {"k8s/a.yaml", "k8s/b.txt"}


def test_a_link_inside_of_the_folder_is_followed(root):
    copied, files = fetch(root, "inside.yaml")

    assert (copied.paths, set(files)) == (("k8s/a.yaml",), {"k8s/a.yaml"})


def test_a_file_that_is_called_like_standard_input_is_a_file(root):
    assert fetch(root, "-")[0].paths == ("./-",)


@pytest.mark.parametrize("name", ["..", "../secret.yaml", "/", "k8s/folder/secret.yaml", "k8s/leads-out.yaml", "\0"])
def test_what_lies_outside_is_refused(root, name):
    with pytest.raises(UsageError, match="not inside"):
        fetch(root, name)


def test_a_folder_that_begins_like_the_fence_is_outside(root):
    (root.parent / "root-beside").mkdir()

    with pytest.raises(UsageError, match="not inside"):
        fetch(root, "../root-beside")


@pytest.mark.parametrize("inner", ["k8s/leads-out.yaml", "k8s/folder/secret.yaml"])
@pytest.mark.skipif(os.open not in os.supports_dir_fd, reason="no opening below a folder")
def test_a_link_that_comes_between_looking_and_opening_is_not_followed(root, monkeypatch, inner):
    monkeypatch.setattr(fenced_files, "resolve", lambda fence, name: name)

    with pytest.raises(UsageError, match="cannot be read"):
        fetch(root, inner)


@pytest.mark.parametrize(
    ("bounds", "words"), [({"most_files": 0}, "more than 0"), ({"most_bytes": 9}, "more than 9 b")]
)
def test_too_many_files_and_too_many_bytes_are_refused(root, bounds, words):
    with pytest.raises(UsageError, match=words):
        fetch(root, "k8s", **bounds)


def test_a_text_goes_where_nothing_else_is(root):
    fetch(root, "given")

    assert write_given("text", "manifests.yaml", root.parent / "copy") == "given-2/manifests.yaml"
