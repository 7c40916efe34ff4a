"""Hostile input is refused with its place, in bounded time and memory, and nothing else ever escapes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from kubeproof.errors import HostileInputError, ManifestError
from kubeproof.manifests.load import load
from kubeproof.manifests.yaml.guard import Bounds

BOMB = b"a: &a [x,x,x,x,x,x,x,x,x,x]\n" + b"".join(
    b"k%d: &%c [%s]\n" % (i, 98 + i, b",".join([b"*%c" % (97 + i)] * 10)) for i in range(20)
)
MERGE_BOMB = b"a: &a {x: {z: 1}}\n" + b"".join(
    b"k%d: &%c {p: *%c, q: *%c, <<: *%c}\n" % (i, 98 + i, 97 + i, 97 + i, 97 + i) for i in range(24)
)
CORPUS = {
    "alias bomb": (BOMB, "counting each use of an alias"),
    "merge bomb": (MERGE_BOMB, "counting each use of an alias"),
    "cyclic alias": (b"a: &a [*a]\n", "stands inside the value it names"),
    "cyclic merge": (b"a: &a {<<: *a}\n", "stands inside the value it names"),
    "unknown alias": (b"a: *b\n", "has no anchor"),
    "flow nesting": (b"[" * 100_000, "nested more than 100 levels deep"),
    "mapping nesting": (b"{a: " * 100_000, "nested more than 100 levels deep"),
    "block nesting": (b"- " * 100_000, "nested more than 100 levels deep"),
    "key nesting": (b"? " * 100_000, "nested more than 100 levels deep"),
    "indentation nesting": (
        b"".join(b" " * i + b"a:\n" for i in range(2_000)),
        "nested more than 100 levels deep",
    ),
    "digits": (b"a: " + b"9" * 5_000, "more than 64 digits"),
    "float digits": (b"a: 0." + b"9" * 5_000, "more than 64 digits"),
    "duplicate key": (b"a: 1\nb: 2\na: 3 # kubeproof.dev/\n", "key a again, first on line 1"),
    "not a number": (b"a: .NaN\n", "not a number Kubernetes can store"),
    "infinity": (b"a: -.inf\n", "not a number Kubernetes can store"),
    "control character": (b"a: \x07\n", "control character U+0007"),
    "escape sequence": (b"a: \x1b[2J\n", "control character U+001B"),
    "nul": (b"a: b\x00\n", "control character U+0000"),
    "invalid utf-8": (b"a: 1\nb: \xff\n", "not valid UTF-8"),
    "surrogate": ("a: \ud800".encode("utf-8", "surrogatepass"), "not valid UTF-8"),
    "utf-16": ("a: 1\n".encode("utf-16"), "not UTF-8"),
    "giant scalar": (b'a: "' + b"x" * 2**21 + b'"\n', "more than 1,048,576 characters"),
    "python object": (b"a: !!python/object/apply:os.system [x]\n", "tag tag:yaml.org,2002:python"),
    "custom tag": (b"a: !secret x\n", "tag !secret"),
    "null as key": (b"~: 1\n", "is taken for null"),
    "list as key": (b"? [a]\n: 1\n", "a key that is a list or a mapping"),
    "unrendered template": (b"name: {{ .Values.name }}\n", "has to be rendered first"),
    "tab": (b"a:\n\tb: 1\n", "not valid YAML"),
    "unfinished": (b'a: "b\n', "not valid YAML"),
    "unknown directive": (b"%YAML 9.9\n---\na: 1\n", "not valid YAML"),
    "many documents": (b"---\n" * 100_002, "more than 100,000 documents"),
    "deep lists": (
        b"{apiVersion: v1, kind: List, items: [" * 60 + b"]}" * 60,
        "nested more than 100 levels deep",
    ),
}


def refusal(content: bytes) -> ManifestError:
    with pytest.raises(ManifestError) as refused:
        load(["-"], stdin=lambda: content)
    return refused.value


@pytest.mark.parametrize("name", CORPUS)
def test_hostile_yaml_is_refused_with_its_place(name: str) -> None:
    content, problem = CORPUS[name]
    error = refusal(content)

    assert problem in str(error)
    assert error.exit_code == 4
    assert f"<stdin>:{error.line}: " in str(error)
    assert error.line >= 1


@pytest.mark.parametrize(
    "name",
    ["alias bomb", "cyclic alias", "flow nesting", "block nesting", "digits", "duplicate key", "custom tag"],
)
def test_the_guard_does_not_need_libyaml(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    content, problem = CORPUS[name]

    assert problem in str(refusal(content))


def test_half_a_surrogate_pair_is_refused_by_both_parsers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal(b'a: "\\ud800"\n').line == 1
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    assert refusal(b'a: "\\ud800"\n').line == 1


def test_a_bad_date_is_text_and_never_reaches_a_calendar() -> None:
    text = b"apiVersion: v1\nkind: Namespace\nmetadata: {name: a, annotations: {d: 2026-13-45}}\n"

    assert load(["-"], stdin=lambda: text).omissions == ()


def test_a_byte_order_mark_is_accepted() -> None:
    text = b"\xef\xbb\xbfapiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n"

    assert load(["-"], stdin=lambda: text).setup.nodes == ()


def test_more_input_than_the_bound_is_refused() -> None:
    with pytest.raises(HostileInputError, match="larger than"):
        load(["-"], stdin=lambda: b"# " + b"x" * 100, bounds=Bounds(file_bytes=50))


def test_a_loop_of_links_ends(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "back").symlink_to(tmp_path)
    (tmp_path / "self.yaml").symlink_to(tmp_path / "self.yaml")
    (tmp_path / "self.yaml").unlink()

    assert load([str(tmp_path)]).files == ()


def test_a_link_to_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "self.yaml").symlink_to(tmp_path / "self.yaml")

    with pytest.raises(ManifestError, match="cannot be read"):
        load([str(tmp_path)])


def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")

    with pytest.raises(ManifestError, match="not a regular file"):
        load([str(tmp_path)])


def test_a_device_is_refused() -> None:
    with pytest.raises(ManifestError, match="not a regular file"):
        load(["/dev/zero"])
