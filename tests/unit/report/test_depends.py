"""What verdicts depend on, in one line and in JSON."""

from __future__ import annotations

import json
from dataclasses import replace

from kubeproof.report.formats import json as as_json
from kubeproof.report.style import Style
from kubeproof.report.verification.depends import depends_document, depends_lines
from kubeproof.report.verification.text import render
from kubeproof.verify.dependence import EVERY_NODE, Apart, DependsOn
from tests.unit.report.results import PROOF, RESULT

WEB = "Deployment/shop/web"
FOUND = DependsOn(
    objects=(WEB, "HorizontalPodAutoscaler/shop/web"),
    labels=("zone",),
    resources=("cpu", "memory", "pods"),
    nodes=3,
    events=("scale-1",),
    not_on=(
        Apart("Deployment/lab/report", "", "nothing relates it"),
        Apart(WEB, "image", "no node lists images"),
        Apart("Deployment/shop/db", "image", "no node lists images"),
        Apart(EVERY_NODE, "label rack", "nothing in the input reads it"),
    ),
)
LINE = (
    f"depends on {WEB}, HorizontalPodAutoscaler/shop/web, 3 nodes (label zone), event scale-1; "
    "not on Deployment/lab/report, image of 2 workloads, label rack of nodes"
)


def test_a_line_names_what_decides_and_then_what_does_not() -> None:
    assert list(depends_lines(FOUND, Style())) == [LINE]


def test_a_line_is_short_where_much_decides() -> None:
    many = replace(FOUND, objects=tuple(f"Deployment/shop/web-{number}" for number in range(20)), not_on=(), labels=())
    (line,) = depends_lines(many, Style())

    first = ", ".join(f"Deployment/shop/web-{number}" for number in range(6))
    assert line == f"depends on {first}, 14 more, 3 nodes, event scale-1"


def test_hostile_names_are_escaped() -> None:
    (line,) = depends_lines(replace(FOUND, objects=("Service/a\x1b[31m",)), Style())

    assert "\x1b" not in line


def test_the_line_is_there_with_v_alone() -> None:
    result = replace(RESULT, results=(replace(PROOF, depends_on=FOUND),))

    assert LINE in render(result, Style(verbose=True))
    assert "depends on" not in render(result, Style())


def test_json_has_all_of_it() -> None:
    result = replace(RESULT, results=(replace(PROOF, depends_on=FOUND),))
    (one,) = json.loads(as_json.render(result))["results"]

    assert one["depends_on"] == depends_document(FOUND)
    assert one["depends_on"]["nodes"] == {"count": 3, "labels": ["zone"], "resources": ["cpu", "memory", "pods"]}
    assert one["depends_on"]["not_on"] == [
        {"objects": ["Deployment/lab/report"], "field": "", "why": "nothing relates it"},
        {"objects": [WEB, "Deployment/shop/db"], "field": "image", "why": "no node lists images"},
        {"objects": ["Node/*"], "field": "label rack", "why": "nothing in the input reads it"},
    ]


def test_what_was_not_found_out_is_null() -> None:
    assert depends_document(None) is None
