"""The Python API: the same answers as the command line, for scripts, tests and notebooks."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from datetime import date
from html.parser import HTMLParser
from pathlib import Path

import pytest

import kubeproof
from kubeproof.api.verification import Verification
from kubeproof.errors import ManifestError
from tests.unit.report.results import RESULT
from tests.unit.report.test_formats import hostile

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
VIOLATED = EXAMPLES / "01-conflicting-spread"
LOOPING = EXAMPLES / "06-tainted-node-loop"
HOLDING = EXAMPLES / "03-repaired-spread"


def test_a_path_several_and_a_loaded_input_are_verified_alike():
    one = kubeproof.verify(str(VIOLATED))
    several = kubeproof.verify(sorted(VIOLATED.glob("*.yaml")))
    loaded = kubeproof.verify(kubeproof.load([str(VIOLATED)]))
    loaded_one = kubeproof.verify(kubeproof.load(VIOLATED))

    verdicts = [("S005", "VIOLATED"), ("L002", "HOLDS")]
    assert [[(r.id, r.verdict) for r in found.results] for found in (one, several, loaded, loaded_one)] == [
        verdicts
    ] * 4
    assert isinstance(one, kubeproof.VerifyResult)
    assert [r.id for r in one.violations] == ["S005"]
    assert not one.holds


def test_verify_can_be_called_before_and_after_its_room_is_imported():
    script = (
        f"import kubeproof; print(kubeproof.verify({str(HOLDING)!r}).verdict); import kubeproof.verify.run; "
        f"print(kubeproof.verify({str(HOLDING)!r}).verdict); from kubeproof import verify; print(callable(verify))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(ROOT / "src")},
    )

    assert done.stdout == "HOLDS\nHOLDS\nTrue\n"


def test_what_holds_is_returned():
    assert kubeproof.assert_holds(HOLDING).verdict == "HOLDS"


def test_the_assertion_tells_the_end_of_the_run_and_what_to_change():
    with pytest.raises(AssertionError) as problem:
        kubeproof.assert_holds(VIOLATED)

    lines = str(problem.value).splitlines()
    assert lines[0] == "VIOLATED: 2 properties checked (1 HOLDS, 1 VIOLATED)"
    assert any("starts 2 pods: web-2, web-4" in line for line in lines)
    assert any(line.startswith("  What to change: ") for line in lines)
    assert len(lines) < 30


def test_the_assertion_shows_a_loop_as_a_loop():
    with pytest.raises(AssertionError, match=r"┌▶ 2 .*(?s:.*)└─ back to step 2, for ever"):
        kubeproof.assert_holds(LOOPING)


def test_what_was_not_decided_does_not_hold():
    with pytest.raises(AssertionError, match="UNKNOWN"):
        kubeproof.assert_holds(HOLDING, kubeproof.VerifyOptions(max_states=2, without=("abstraction",)))


def test_exemptions_count_until_their_day(tmp_path: Path):
    settings = tmp_path / "settings.yaml"
    settings.write_text("exemptions: [{id: S005, reason: known, expires: 2026-06-01}]")

    assert kubeproof.verify(VIOLATED, settings=settings, today=date(2026, 6, 1)).holds
    assert not kubeproof.verify(VIOLATED, settings=settings, today=date(2026, 6, 2)).holds


def test_a_scale_is_swept():
    case = ROOT / "src" / "kubeproof" / "cases" / "c7" / "violating"
    found = kubeproof.verify(case, scale="esc")

    assert found.sweep is not None
    assert found.verdict == "VIOLATED"


def test_input_that_cannot_be_read_is_an_error():
    with pytest.raises(ManifestError, match="E101"):
        kubeproof.verify("no-such-file.yaml")


def test_a_result_as_text_is_the_report():
    assert str(kubeproof.verify(HOLDING)).splitlines()[-1].startswith("HOLDS: ")


class Tags(HTMLParser):
    """Counts tags."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)


def shown(result: kubeproof.VerifyResult) -> str:
    values = [getattr(result, name) for name in kubeproof.VerifyResult.__dataclass_fields__]
    return Verification(*values)._repr_html_()


def test_a_notebook_shows_a_table_in_which_names_are_text():
    tags = Tags()
    tags.feed(shown(hostile()))

    allowed = {"div", "p", "b", "table", "tr", "td", "details", "summary", "pre", "ul", "li"}
    assert set(tags.found) == allowed
    assert tags.found.count("tr") == 3
    assert tags.found.count("b") == 1
    assert "binds shop/web-1 to node-a" in shown(RESULT)


def test_the_code_in_the_documentation_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    text = (ROOT / "docs" / "reference" / "python-api.md").read_text(encoding="utf-8")
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    monkeypatch.chdir(tmp_path)

    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    for block in blocks:
        exec(block, {})

    assert len(blocks) == 3
