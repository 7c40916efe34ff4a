"""Reports that were written among the manifests: told from them, left out, and never a way to hide a manifest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubeproof.cluster.objects import Source
from kubeproof.errors import ManifestError
from kubeproof.manifests.folders.own_reports import WHAT, WHY, is_report
from kubeproof.manifests.load import load, load_files
from kubeproof.manifests.loaded import Omission
from tests.unit.manifests.inputs import deployment, node

MOST = 2_000_000
BASELINE = '{"version": 1, "findings": []}\n'
POD = '"apiVersion": "v1", "kind": "Pod"'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "web.yaml").write_text("\n---\n".join((node("n1"), deployment("web"))))
    (tmp_path / "known.json").write_text(BASELINE)
    return tmp_path


def test_a_report_in_a_folder_is_left_out_and_told(folder: Path) -> None:
    loaded = load(folder)

    assert loaded.files == (str(folder / "web.yaml"),)
    assert loaded.omissions[0] == Omission(WHAT, Source(str(folder / "known.json"), 1), WHY)
    assert [name for name, _ in loaded.texts] == [name for name, _ in load_files([str(folder)])] == list(loaded.files)


def test_a_report_that_is_named_is_refused_as_before(folder: Path) -> None:
    with pytest.raises(ManifestError, match="apiVersion"):
        load([str(folder / "known.json")])


def test_other_json_is_no_report_of_ours(folder: Path) -> None:
    (folder / "known.json").write_text('{"version": 1, "name": "x"}')
    loaded = load(folder)

    assert loaded.omissions == ()
    assert [note.source.file for note in loaded.notes] == [str(folder / "known.json")]


@pytest.mark.parametrize(
    "text",
    [
        f'{{"version": 1, "findings": [], {POD}}}',
        '{"version": 1, "findings": [], "kind" \n : "Pod"}',
        '{"version": 1, "findings": [], "\\u006bind": "Pod"}',
        '{"version": 1, "findings": [], kind: Pod}',  # YAML
        '{"version": 1, "findings": [], ? "kind" : "Pod"}',
        '{"version": 1, "findings": [], # "comment\n kind: "Pod"}',
        '{"version": 1, "findings": [], \'kind\': "Pod"}',
        f"{BASELINE}---\nkind: Pod",
        f"{BASELINE}{{{POD}}}",
        f"[{BASELINE}]",
        f"- {BASELINE}",
        BASELINE[:-2],
        '{"inner": {"version": 1, "findings": []}}',
        '{"version", "findings"}',
        "",
        "{",
    ],
)
def test_what_might_hold_a_manifest_is_no_report(text: str) -> None:
    assert not is_report(text.encode(), MOST)


def test_keys_deep_inside_do_not_count() -> None:
    inner = json.dumps({"version": 1, "findings": [{"kind": 'a "kind": {', "apiVersion": ["}", "\\"]}]}, indent=2)

    assert is_report(inner.encode(), MOST)


@pytest.mark.parametrize("filling", [b"[]", b"{}", b'"",', b"\\\\", b"[", b'"\\"'])
def test_files_with_too_many_parts_are_given_up(filling: bytes) -> None:
    content = b'{"version": 1, "findings": [' + filling * 500_000 + b"]}"

    is_recognised = is_report(content, 100_000)  # outside of the assertion, which would show the content

    assert not is_recognised


def test_long_series_of_numbers_are_few_parts() -> None:
    content = json.dumps({"version": 1, "verdict": "", "intents": [], "series": [1.5, -2e-7, None] * 100_000}, indent=2)

    is_recognised = is_report(content.encode(), 100)

    assert is_recognised
