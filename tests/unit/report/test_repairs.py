"""Repairs beside the violations that they mend, and as suggested changes of a pull request."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kubeproof.manifests.load import load
from kubeproof.report.formats.json import document
from kubeproof.report.frame import Frame
from kubeproof.report.html.page import render as render_page
from kubeproof.report.review import FENCE, as_review, suggest
from kubeproof.report.style import Style
from kubeproof.report.verification.repairs import with_repairs
from kubeproof.report.verification.text import render
from kubeproof.verify.findings.saved import read_saved
from kubeproof.verify.fix.result import FileChange, FixResult
from kubeproof.verify.fix.run import FixOptions, find_repairs
from kubeproof.verify.result import VerifyResult
from kubeproof.verify.run import verify

EDIT = "Deployment/shop/web: spread over kubernetes.io/hostname: maxSkew 1 -> 2"


@pytest.fixture(scope="module")
def repaired() -> tuple[VerifyResult, FixResult]:
    loaded = load("examples/01-conflicting-spread")
    found = find_repairs(loaded, FixOptions(wanted=1))
    return with_repairs(verify(loaded), found, Frame()), found


def test_a_repair_stands_beside_what_it_mends_and_nowhere_else(repaired: tuple[VerifyResult, FixResult]) -> None:
    result, _ = repaired
    text = render(result, Style(width=200))

    assert [[repair.edits for repair in one.repairs] for one in result.results] == [[(EDIT,)], []]
    assert text.index("What to change") < text.index(f"Proved to help: {EDIT}") < text.index("Shortest run")
    assert "+      - maxSkew: 2" in text


def test_the_page_and_json_have_it_too(repaired: tuple[VerifyResult, FixResult], tmp_path: Path) -> None:
    result, _ = repaired
    told = document(result)

    assert EDIT in render_page(result).replace("\\u003e", ">")
    assert told["results"][0]["repairs"][0]["edits"] == [EDIT]  # type: ignore[index]
    (tmp_path / "r.json").write_text(json.dumps(told), encoding="utf-8")
    read = read_saved(str(tmp_path / "r.json")).result
    assert [one.repairs for one in read.results] == [one.repairs for one in result.results]


def test_a_review_suggests_the_lines(repaired: tuple[VerifyResult, FixResult]) -> None:
    (comment,) = json.loads(as_review(repaired[1], Frame()))["comments"]

    assert (comment["path"], comment["line"]) == ("examples/01-conflicting-spread/web.yaml", 16)
    assert comment["body"].endswith(f"{FENCE}suggestion\n      - maxSkew: 2\n{FENCE}\n")
    assert as_review(replace(repaired[1], proposals=()), Frame()) == ""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nb\nc\n", "a\nB\nc\n"),
        ("a\nb\nc\n", "a\nc\n"),
        ("a\nb\n", "a\nx\ny\nb\n"),
        ("a\nb\n", "x\na\nb\n"),
        ("a\nb\nc\nd\n", "A\nb\nc\nD\ne\n"),
    ],
)
def test_suggestions_taken_over_give_the_file_of_the_proposal(before: str, after: str) -> None:
    lines = before.splitlines(keepends=True)
    for first, last, text in reversed([*suggest(FileChange("x.yaml", before, after))]):
        lines[first - 1 : last] = [text]

    assert "".join(lines) == after
