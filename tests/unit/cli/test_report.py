"""`kubeproof report`, and HTML from `replay` and `cases run`: one file, whoever writes it."""

import json

import pytest

from kubeproof.cli.main import main
from tests.unit.verify.inputs import LOOP


@pytest.fixture
def saved(tmp_path):
    """A saved result with a loop, and the page that was written with it."""
    manifest, result, page = tmp_path / "in.yaml", tmp_path / "result.json", tmp_path / "page.html"
    manifest.write_text("---\n".join(LOOP), encoding="utf-8")
    assert main(["verify", str(manifest), "-o", f"json={result}", "-o", f"html={page}", "-q"]) == 1
    return result, page


def test_a_saved_result_becomes_the_page_that_verify_writes(saved, tmp_path):
    result, page = saved
    again = tmp_path / "again.html"

    assert main(["report", str(result), "-o", f"html={again}"]) == 0
    assert again.read_text(encoding="utf-8") == page.read_text(encoding="utf-8")


def test_a_replay_becomes_a_page_with_its_one_run(saved, tmp_path):
    again = tmp_path / "again.html"

    assert main(["replay", str(saved[0]), "-o", f"html={again}"]) == 1
    assert '"film":{"keys":' in again.read_text(encoding="utf-8")


def test_a_saved_result_is_told_as_text_and_again_as_json(saved, capsys):
    result, _ = saved

    assert main(["report", str(result)]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("VIOLATED: ")
    assert main(["report", str(result), "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(result.read_text(encoding="utf-8"))


def test_a_run_that_cannot_be_re_executed_is_told_but_not_drawn(saved, tmp_path):
    result, _ = saved
    whole = json.loads(result.read_text(encoding="utf-8"))
    whole["results"][0]["trace"][0]["code"] = [["create-object", "x"]]
    result.write_text(json.dumps(whole), encoding="utf-8")
    page = tmp_path / "page.html"

    assert main(["report", str(result), "-o", f"html={page}"]) == 0
    assert '"film":null,"notDrawn":"This run is told but not drawn' in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(("arguments", "code"), [(["absent.json"], 4), (["x.json", "-v", "-q"], 2), ([], 2)])
def test_wrong_use_is_told_by_the_exit_code(arguments, code, capsys):
    assert main(["report", *arguments]) == code
    assert capsys.readouterr().out == ""


def test_a_case_becomes_a_page(tmp_path):
    page = tmp_path / "c3.html"

    assert main(["cases", "run", "c3", "-o", f"html={page}"]) == 0
    assert "kubeproof cases show c3 --variant violating" in page.read_text(encoding="utf-8")
