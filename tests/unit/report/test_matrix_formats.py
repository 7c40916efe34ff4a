"""The survival matrix in the formats of other programs."""

import xml.etree.ElementTree as Tree
from dataclasses import replace

import pytest

from kubeproof.api.verification import Verification
from kubeproof.report.formats import github, junit, markdown, mermaid, sarif
from kubeproof.report.formats.choice import FORMATS, render
from kubeproof.report.frame import Frame
from kubeproof.verdicts import Verdict
from kubeproof.verify.result import Suppression
from tests.unit.report.formats import READERS
from tests.unit.report.results import MATRIX_RESULT

FRAME = Frame(replay_command="kubeproof replay trace.json")


@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"junit"}))
def test_every_format_holds_a_matrix(name):
    READERS[name](render(name, MATRIX_RESULT, FRAME))


def test_junit_has_a_suite_per_fault_in_which_only_the_stuck_fail():
    root = Tree.fromstring(junit.render(MATRIX_RESULT, FRAME).encode())

    assert [suite.attrib["name"] for suite in root] == [
        "rollout: a new revision is rolled out",
        "nodeLoss: a node fails and stays down",
        "podCrash: a container of one of its pods exits",
        "scope",
    ]
    assert [(suite.attrib["tests"], suite.attrib["failures"], suite.attrib["skipped"]) for suite in root] == [
        ("3", "0", "0"),
        ("3", "2", "1"),
        ("3", "0", "0"),
        ("0", "0", "0"),
    ]
    assert root.attrib["failures"] == "2"
    assert root[2][0].find("system-out").text == "dips: about Deployment/shop/api"


def test_a_dip_fails_where_steadiness_is_asked_for():
    results = tuple(replace(one, severity="error") for one in MATRIX_RESULT.results)
    root = Tree.fromstring(junit.render(replace(MATRIX_RESULT, results=results), FRAME).encode())

    assert root[2].attrib["failures"] == "3"


def test_sarif_has_a_result_for_each_workload_and_cause_with_the_run_of_what_counts():
    run = READERS["sarif"](sarif.render(MATRIX_RESULT, FRAME))

    assert [(one["level"], one["properties"]["target"], "codeFlows" in one) for one in run["results"]] == [
        ("error", "Deployment/shop/api", True),
        ("note", "Deployment/shop/api", False),
        ("error", "Deployment/shop/cart", True),
        ("note", "Deployment/shop/cart", False),
        ("note", "Deployment/shop/web", False),
    ]
    assert run["results"][0]["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}


def test_annotations_are_one_for_each_cause():
    lines = READERS["github"](github.render(MATRIX_RESULT, FRAME))

    assert [line.partition("::")[2].partition("::")[0] for line in lines] == [
        "error file=shop.yaml,line=1,title=stuck api%2C cart (node lost)",
        "notice file=shop.yaml,line=1,title=dips api%2C cart%2C web%3A no pod ready (pod crash%3A up to 6m)",
        "warning title=Kubeproof",
        "notice title=Kubeproof",
    ]
    assert "creates pod api-2" in lines[0]


def test_markdown_has_what_to_do_first_the_table_and_a_folded_run_per_cause():
    lines = READERS["markdown"](markdown.render(MATRIX_RESULT, FRAME)).splitlines()

    assert lines[4] == "**First:** api: Give it another node. The same for cart."
    assert lines[6:10] == [
        "| workload | pods | rollout | node lost | pod crash |",
        "|---|---|---|---|---|",
        "| `api`, `cart` | 1 | 🟢 | 🔴 stuck | 🟡 0 6m |",
        "| `web` | 1 | 🟢 | ❔ | 🟡 0 6m |",
    ]
    assert [line for line in lines if line.startswith("<details>")][:2] == [
        "<details><summary>🔴 api, cart (node lost)</summary>",
        "<details><summary>🟡 api, cart, web: no pod ready (pod crash: up to 6m)</summary>",
    ]


def test_an_accepted_cell_is_no_finding():
    accepted = Suppression("annotation", "known", MATRIX_RESULT.results[1].location)
    stuck = replace(MATRIX_RESULT.results[1], verdict=Verdict.SUPPRESSED, suppression=accepted)
    results = (MATRIX_RESULT.results[0], stuck, *MATRIX_RESULT.results[2:])

    lines = READERS["github"](github.render(replace(MATRIX_RESULT, results=results), FRAME))

    assert lines[0].startswith("::error file=shop.yaml,line=2,title=stuck cart (node lost)::")


def test_the_diagram_is_that_of_a_run_that_counts():
    assert "nodeLoss" in mermaid.render(MATRIX_RESULT, FRAME)


def test_nothing_from_the_input_acts_in_a_matrix():
    evil = "\x1b[2J\u202e\n<script>|`@x"
    rows = tuple(replace(row, target=f"Deployment/shop/{evil}") for row in MATRIX_RESULT.matrix.rows[:1])
    cells = tuple(replace(cell, target=rows[0].target, detail=evil) for cell in MATRIX_RESULT.matrix.cells[:3])
    matrix = replace(MATRIX_RESULT.matrix, rows=rows, cells=cells)
    results = tuple(replace(one, target=rows[0].target, detail=evil, remedy=evil) for one in MATRIX_RESULT.results[:3])
    hostile = replace(MATRIX_RESULT, matrix=matrix, results=results)

    for name in ("github", "markdown", "sarif", "ndjson"):
        text = render(name, hostile, FRAME)
        READERS[name](text)
        assert all(line.isprintable() for line in text.split("\n"))


def test_a_notebook_shows_the_matrix_as_a_table_with_the_findings_folded():
    fields = (getattr(MATRIX_RESULT, name) for name in MATRIX_RESULT.__slots__)
    shown = Verification(*fields)._repr_html_()

    assert shown.count("<tr>") == 4
    assert 'background:#b3261e;color:#ffffff" title="about Deployment/shop/api">STUCK</td>' in shown
    assert "<details><summary>findings</summary><pre>Read     3 workloads" in shown


def test_a_matrix_that_does_not_hold_is_told_with_its_findings():
    fields = (getattr(MATRIX_RESULT, name) for name in MATRIX_RESULT.__slots__)

    with pytest.raises(AssertionError, match=r"(?s)VIOLATED: 3 workloads.*STUCK  api, cart \(node lost\)"):
        Verification(*fields).assert_holds()
