"""What checks found, in every format."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kubeproof.cluster.objects import Source
from kubeproof.report.formats import github, json, junit, markdown, sarif
from kubeproof.report.formats.choice import FORMATS, render
from kubeproof.report.frame import Frame
from kubeproof.report.html import page as html
from kubeproof.report.style import Style
from kubeproof.report.verification import text
from kubeproof.report.verification.checks import check_counts, check_groups
from kubeproof.verify.findings.fingerprints import check_fingerprints
from kubeproof.verify.findings.saved import read_saved
from kubeproof.verify.result import CheckFinding, Suppression
from tests.unit.report.formats import READERS, read_junit, read_sarif
from tests.unit.report.results import RESULT
from tests.unit.report.test_formats import HOSTILE

FRAME = Frame("/repo")
BLOCKED = CheckFinding(
    "K019",
    "budget-blocks",
    "warning",
    "PodDisruptionBudget/shop/web",
    "never allows an eviction: minAvailable 2, 2 of 2 pods must stay",
    "Run one pod more",
    Source("pdb.yaml", 3),
    (("Deployment/shop/web", Source("web.yaml", 1)),),
)
UNKNOWN = replace(BLOCKED, id="K001", key="unknown-field", severity="error", target="Deployment/shop/web")
NOTE = replace(BLOCKED, id="K030", key="single-replica", severity="info", source=Source("web.yaml", 1))
ACCEPTED = replace(BLOCKED, suppression=Suppression("annotation", "one is enough", Source("pdb.yaml", 5)))


def found(*checks: CheckFinding):
    return replace(RESULT, checks=checks)


def test_text_has_one_line_for_each_finding_and_the_errors_in_its_last_line():
    lines = text.render(found(UNKNOWN, BLOCKED, NOTE), Style()).splitlines()

    first = lines.index("Checks (1 error, 1 warning, 1 note)")
    assert lines[first + 2] == (
        "  warning K019 pdb.yaml:3 PodDisruptionBudget/shop/web  "
        "never allows an eviction: minAvailable 2, 2 of 2 pods must stay -> Run one pod more"
    )
    assert lines[first + 4] == "  More: kubeproof explain K001"
    assert lines[-1].endswith("; checks found 1 error")


def test_many_findings_of_one_check_are_one_line_unless_all_are_asked_for():
    many = [replace(BLOCKED, target=f"PodDisruptionBudget/shop/{name}") for name in "abcdef"]

    (group,) = check_groups(many)
    assert len(group.findings) == 6
    assert text.render(found(*many), Style()).count("never allows an eviction") == 1
    assert text.render(found(*many), Style(verbose=True)).count("never allows an eviction") == 6


def test_accepted_findings_are_counted_nowhere_and_keep_their_reason():
    assert check_counts([ACCEPTED]) == ""
    assert "Checks (" not in text.render(found(ACCEPTED), Style())
    (one,) = [r for r in read_sarif(sarif.render(found(ACCEPTED), FRAME))["results"] if r["ruleId"] == "K019"]
    assert one["suppressions"][0]["justification"] == "one is enough"
    assert "one is enough" in html.render(found(ACCEPTED))


def test_sarif_has_a_rule_and_related_places():
    run = read_sarif(sarif.render(found(BLOCKED), FRAME))

    (one,) = [result for result in run["results"] if result["ruleId"] == "K019"]
    rule = run["tool"]["driver"]["rules"][one["ruleIndex"]]
    assert (rule["id"], rule["name"]) == ("K019", "BudgetBlocks")
    assert (one["level"], one["locations"][0]["physicalLocation"]["region"]["startLine"]) == ("warning", 3)
    assert [place["message"]["text"] for place in one["relatedLocations"]] == ["Deployment/shop/web"]


def test_only_errors_fail_a_test_suite():
    suite = read_junit(junit.render(found(UNKNOWN, BLOCKED, NOTE), FRAME))

    kinds = {case.attrib["classname"]: case[0].tag for case in suite.iter("testcase") if len(case)}
    assert kinds["K001.unknown-field"] == "failure"
    assert kinds["K019.budget-blocks"] == "skipped"
    assert kinds["K030.single-replica"] == "skipped"


def test_annotations_leave_notes_out_and_markdown_has_all():
    told = github.render(found(UNKNOWN, BLOCKED, NOTE), FRAME)

    assert "::error file=pdb.yaml,line=3,title=K001 unknown-field Deployment/shop/web::" in told
    assert "::warning file=pdb.yaml,line=3,title=K019" in told
    assert "K030" not in told
    assert "### Checks: 1 error, 1 warning, 1 note" in markdown.render(found(UNKNOWN, BLOCKED, NOTE), FRAME)


def test_a_fingerprint_outlives_moved_lines_and_changed_numbers():
    other = replace(BLOCKED, source=Source("new.yaml", 99), message=BLOCKED.message.replace("2", "17"))

    assert check_fingerprints(found(other)) == check_fingerprints(found(BLOCKED))
    assert len(set(check_fingerprints(found(BLOCKED, BLOCKED, UNKNOWN)))) == 3


def test_findings_are_read_back_as_they_were_written(tmp_path):
    (tmp_path / "a.json").write_text(json.render(found(UNKNOWN, ACCEPTED)), encoding="utf-8")

    assert read_saved(str(tmp_path / "a.json")).result.checks == (UNKNOWN, ACCEPTED)


@pytest.mark.parametrize("name", [*FORMATS, "text", "html", "json"])
def test_hostile_words_of_manifests_stay_words(name):
    hostile = replace(
        UNKNOWN, target=HOSTILE, message=HOSTILE, remedy=HOSTILE, source=Source(HOSTILE, 3), also=((HOSTILE, Source()),)
    )
    own = {"text": lambda r: text.render(r, Style()), "html": html.render, "json": json.render}
    written = own[name](found(hostile)) if name in own else render(name, found(hostile), FRAME)

    if name in READERS:
        READERS[name](written)
    assert "\x1b" not in written
    assert "\u202e" not in written
    assert "<b>" not in written or name not in ("html", "junit")
