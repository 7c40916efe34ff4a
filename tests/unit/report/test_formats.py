"""The formats of a finished verification: of every shipped case, and of a hostile one."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from kubeproof.cases.library import list_cases
from kubeproof.cases.run import run_case
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.meanings import REMOVED
from kubeproof.cluster.objects import Source
from kubeproof.report.formats import github, itf, junit, markdown, mermaid, ndjson, safe_markdown, sarif
from kubeproof.report.formats.choice import FORMATS, render
from kubeproof.report.formats.json import render as render_json
from kubeproof.report.frame import Frame
from kubeproof.verify.explained import Cause, Causes, Explanation, Inaction
from kubeproof.verify.facts import Fact
from kubeproof.verify.findings.fingerprints import fingerprints
from kubeproof.verify.result import Change, Suppression, SuppressionNote, Trace, VerifyResult
from tests.unit.report.formats import PUBLISHED, READERS, read_itf, read_junit, read_mermaid, read_sarif
from tests.unit.report.results import PROOF, RESULT, TRACE, VIOLATION, step

ROOT = Path(__file__).parents[3]
FRAME = Frame("/repo", "kubeproof replay trace.json")
VARIANTS = [(case, variant) for case in list_cases() for variant in case.variants if not variant.is_extra]
HOSTILE = "\x1b[31m<b>&\"'|`#1 @team\n::error::x\r %0A ]](http://e.vil) {0} end ;\u202e\u2028 www.e.vil \ud800"


@pytest.mark.parametrize("chosen", VARIANTS, ids=lambda chosen: f"{chosen[0].name}-{chosen[1].name}")
def test_every_format_of_every_case_is_valid(chosen):
    result = run_case(chosen, keep_result=True).result

    found = {name: READERS[name](render(name, result, FRAME)) for name in FORMATS}
    found["json"] = READERS["json"](render_json(result))

    violated = [one for one in found["json"]["results"] if one["verdict"] == "VIOLATED"]
    of_checks = [one["id"] for one in found["json"]["checks"]]
    assert [one["ruleId"] for one in found["sarif"]["results"]] == [*(one["id"] for one in violated), *of_checks]
    for one, expected in zip(found["sarif"]["results"], violated, strict=False):
        (flow,) = one["codeFlows"][0]["threadFlows"]
        assert len(flow["locations"]) == len(expected["trace"])
        assert all("physicalLocation" in step["location"] for step in flow["locations"])
    if violated:
        assert len(found["itf"]["states"]) == len(violated[0]["trace"]) + 1


def test_the_published_schema_is_the_one_in_the_documentation():
    for path in PUBLISHED.glob("*.json"):
        assert (ROOT / "docs" / "reference" / "schemas" / path.name).read_text() == path.read_text()


# --- fingerprints -----------------------------------------------------------------------------------------------------


def test_a_fingerprint_does_not_depend_on_lines_files_sizes_or_the_trace():
    moved = replace(VIOLATION, location=Source("other.yaml", 99), nodes=7, states=1, trace=Trace(()), sources=())

    assert fingerprints(RESULT) == fingerprints(replace(RESULT, results=(moved, PROOF)))
    assert fingerprints(RESULT) == ("032819e40c10ca1af26b746a9a29d89a", "297fe713bdc93b7b9e35b64a7a677357")


@pytest.mark.parametrize("change", [{"id": "S001"}, {"intent": "other"}, {"target": "Deployment/shop/api"}])
def test_a_fingerprint_depends_on_what_is_violated(change):
    other = replace(RESULT, results=(replace(VIOLATION, **change), PROOF))

    assert fingerprints(other)[0] != fingerprints(RESULT)[0]


def test_violations_of_one_intent_have_different_fingerprints():
    other = replace(VIOLATION, trace=Trace((step("hpa", "scales"),)))
    many = replace(RESULT, results=(VIOLATION, other, VIOLATION))

    assert len(set(fingerprints(many))) == 3


# --- SARIF ------------------------------------------------------------------------------------------------------------


def test_paths_below_the_working_directory_are_relative_uris():
    placed = replace(
        VIOLATION, location=Source("/repo/k8s/my web.yaml", 9), sources=(("Node/a", Source("/etc/n.yaml", 2)),)
    )
    (found,) = read_sarif(sarif.render(replace(RESULT, results=(placed,)), FRAME))["results"]

    artifact = found["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": "k8s/my%20web.yaml", "uriBaseId": "%SRCROOT%"}
    elsewhere = found["relatedLocations"][0]["physicalLocation"]["artifactLocation"]
    assert elsewhere == {"uri": "file:///etc/n.yaml"}


def test_an_intent_of_the_default_scenario_is_shown_at_its_object():
    (found,) = read_sarif(sarif.render(replace(RESULT, results=(replace(VIOLATION, location=Source()),)), FRAME))[
        "results"
    ]

    place = found["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("web.yaml", 4)


def test_standard_input_has_no_physical_location():
    piped = replace(VIOLATION, location=Source("<stdin>", 9), sources=())
    (found,) = read_sarif(sarif.render(replace(RESULT, results=(piped,)), FRAME))["results"]

    assert found["locations"] == [
        {"logicalLocations": [{"fullyQualifiedName": "Deployment/shop/web", "kind": "object", "name": "web"}]}
    ]


def test_the_loop_of_a_trace_is_nested_in_its_code_flow():
    looping = replace(VIOLATION, trace=Trace(TRACE.steps, loop_start=1))
    (found,) = read_sarif(sarif.render(replace(RESULT, results=(looping,)), FRAME))["results"]

    steps = found["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [one["nestingLevel"] for one in steps] == [0, 1]
    assert steps[1]["location"]["message"]["text"] == "2. 3 s: scheduler binds shop/web-1 to node-a (in the loop)"
    assert steps[1]["state"] == {"Pod/shop/web-1 spec.nodeName": {"text": "node-a"}}


def test_the_middle_of_a_very_long_trace_is_left_out():
    steps = tuple(step("scheduler", f"binds {number}") for number in range(2500))
    (found,) = read_sarif(sarif.render(replace(RESULT, results=(replace(VIOLATION, trace=Trace(steps)),)), FRAME))[
        "results"
    ]

    order = [one["executionOrder"] for one in found["codeFlows"][0]["threadFlows"][0]["locations"]]
    assert order == [*range(1, 501), *range(2001, 2501)]


@pytest.mark.parametrize(("severity", "level"), [("error", "error"), ("warning", "warning"), ("info", "note")])
def test_the_level_is_the_intents_severity(severity, level):
    (found,) = read_sarif(sarif.render(replace(RESULT, results=(replace(VIOLATION, severity=severity),)), FRAME))[
        "results"
    ]

    assert found["level"] == level


@pytest.mark.parametrize(
    ("verdict", "level", "successful"),
    [("UNKNOWN", "warning", True), ("VACUOUS", "note", True), ("ERROR", "error", False)],
)
def test_what_is_no_finding_is_a_notification(verdict, level, successful):
    run = read_sarif(sarif.render(replace(RESULT, results=(replace(PROOF, verdict=verdict),)), FRAME))

    (invocation,) = run["invocations"]
    assert run["results"] == []
    assert [note["level"] for note in invocation["toolExecutionNotifications"]] == [level]
    assert invocation["executionSuccessful"] is successful


# --- suppressions -----------------------------------------------------------------------------------------------------

GIVEN = Suppression("annotation", "one node is enough", Source("web.yaml", 6))
LATE = Suppression("exemption", "until the move", Source(".kubeproof.yaml", 4), "2020-01-01")
ACCEPTED = replace(
    RESULT,
    verdict="SUPPRESSED",
    results=(replace(VIOLATION, id="S005", verdict="SUPPRESSED", suppression=GIVEN), replace(PROOF, id="L002")),
    suppressions=(
        SuppressionNote(GIVEN, "S005", "Deployment/shop/web", "used"),
        SuppressionNote(LATE, "L002", "", "expired"),
    ),
)


@pytest.mark.parametrize("name", ["json", "junit", "sarif", "github", "markdown", "ndjson"])
def test_reasons_and_expired_exemptions_are_told(name):
    text = render_json(ACCEPTED) if name == "json" else render(name, ACCEPTED, FRAME)

    READERS[name](text)
    assert "one node is enough" in text
    assert "until the move" in text
    assert "expired" in text


def test_a_suppressed_result_is_suppressed_in_sarif_where_it_was_accepted():
    (found,) = read_sarif(sarif.render(ACCEPTED, FRAME))["results"]

    (given,) = found["suppressions"]
    assert (given["kind"], given["status"], given["justification"]) == ("inSource", "accepted", "one node is enough")
    assert given["location"]["physicalLocation"]["region"] == {"startLine": 6}


def test_a_suppressed_result_is_skipped_in_junit_and_a_notice_on_github():
    case = read_junit(junit.render(ACCEPTED, FRAME)).find("testcase")

    assert "one node is enough" in case.find("skipped").attrib["message"]
    assert github.render(ACCEPTED, FRAME).startswith("::notice file=web.yaml,") is False
    assert github.render(ACCEPTED, FRAME).startswith("::notice file=scenario.yaml,line=9,title=SUPPRESSED S005")


# --- hostile text -----------------------------------------------------------------------------------------------------


def hostile() -> VerifyResult:
    """A result in which everything that comes from the input is hostile."""
    changes = (Change(HOSTILE, "", HOSTILE), Change(HOSTILE, HOSTILE, HOSTILE))
    plain = replace(step("event", HOSTILE), actor=Actor(ActorKind.OTHER, HOSTILE))
    bad = replace(plain, object=HOSTILE, changes=changes, why=(HOSTILE,), counts=HOSTILE)
    idle = Inaction(bad.actor, HOSTILE, "no-node-fits", HOSTILE, HOSTILE, ((HOSTILE, HOSTILE),), 1)
    cause = Cause(HOSTILE, HOSTILE, HOSTILE, Source(HOSTILE, 5), HOSTILE, decides=True)
    final = (Fact(HOSTILE, HOSTILE, HOSTILE, HOSTILE),)
    given = Suppression("annotation", HOSTILE, Source(HOSTILE, 3))
    one = replace(
        VIOLATION,
        id="S005",
        intent=HOSTILE,
        target=HOSTILE,
        detail=HOSTILE,
        remedy=HOSTILE,
        explanation=Explanation(HOSTILE, (HOSTILE, HOSTILE), HOSTILE),
        causes=Causes((cause, replace(cause, decides=False)), lost_after=1),
        trace=Trace((bad, bad), loop_start=1, final=final, inaction=(idle, replace(idle, step=None))),
        sources=((HOSTILE, Source(HOSTILE, 2)),),
        location=Source(HOSTILE, 1),
    )
    two = replace(one, verdict="SUPPRESSED", suppression=given)
    three = replace(one, verdict="UNKNOWN", trace=None)
    return replace(
        RESULT,
        scenario=HOSTILE,
        scope=((HOSTILE, HOSTILE),),
        results=(one, two, three),
        not_modelled=(HOSTILE,),
        suppressions=(SuppressionNote(given, HOSTILE, HOSTILE, "used"),),
        inputs=(),
    )


@pytest.mark.parametrize("name", FORMATS)
def test_hostile_text_stays_text(name):
    text = render(name, hostile(), FRAME)

    READERS[name](text)
    assert not set("\x1b\r\u202e\u2028\ud800") & set(text)
    assert text.encode("utf-8")


def test_a_workflow_command_has_exactly_the_escapes_of_the_runner():
    assert github.command("error", "a%b\r\nc:d,e", file="x:y,z%\n") == "::error file=x%3Ay%2Cz%25\\n::a%25b%0D%0Ac:d,e"


def test_no_line_of_the_markdown_holds_markup_of_the_input():
    text = markdown.render(hostile(), FRAME)

    outside = re.sub(r"(`{3,})(?:text|mermaid)\n.*?\n\1\n", "", text, flags=re.DOTALL)
    outside = re.sub(r"(?<![\\`])(`+)[^`].*?(?<!`)\1(?!`)", "", outside)
    assert "<b>" not in outside
    assert not re.search(r"@(?!<!-- -->)", outside)
    assert not re.search(r"(?<!&)#(?!#|<!-- -->| )", outside)
    assert "://" not in outside
    assert "www." not in outside


def test_a_block_cannot_be_ended_from_inside():
    assert safe_markdown.fence("a\n````\nb", "text") == "`````text\na\n````\nb\n`````"
    assert safe_markdown.code("``") == "``` `` ```"
    assert safe_markdown.code("a|b") == "`a\\|b`"


def test_too_many_counterexamples_for_a_comment_are_named():
    def run(n: int) -> Trace:
        return Trace(tuple(step("scheduler", f"binds {'x' * n} {number}") for number in range(39)))

    many = replace(RESULT, results=tuple(replace(VIOLATION, key=f"i{n}", trace=run(n)) for n in range(60)))

    text = READERS["markdown"](markdown.render(many, FRAME))
    assert re.search(r"\d+ counterexamples left out: the comment would be too long", text)


# --- diagrams and traces ----------------------------------------------------------------------------------------------


def test_the_diagram_shows_who_acts_on_what_and_loops_as_loops():
    steps = (step("replicaset", "creates web-1"), step("time", "5 s pass", 5), step("descheduler", "evicts web-1", 5))
    looping = replace(VIOLATION, trace=Trace(steps, loop_start=1, loop_certainty="inevitable"))

    assert read_mermaid(mermaid.render(replace(RESULT, results=(looping,)), FRAME)) == [
        "  accTitle: VIOLATED S004 schedulable (web fits) Deployment/shop/web",
        "  participant p1 as replicaset",
        "  participant p2 as pods of shop/web",
        "  participant p3 as descheduler",
        "  p1->>p2: 1. creates web-1",
        "  loop for ever (inevitable)",
        "  Note over p1,p3: 2. 5 s pass (5 s)",
        "  p3->>p2: 3. evicts web-1",
        "  end",
    ]


def test_the_word_that_ends_a_block_is_spelled_out():
    assert mermaid.text("end of END; ends") == "#101;nd of #69;ND#59; ends"


def test_a_long_diagram_leaves_out_its_middle():
    steps = tuple(step("scheduler", f"binds {number}") for number in range(500))
    lines = read_mermaid(mermaid.diagram("x", steps, 250))

    assert "  Note over p1,p2: 300 steps left out" in lines
    assert sum("->>" in line for line in lines) == 200


def test_the_trace_in_itf_has_the_first_state_and_one_after_each_step():
    found = read_itf(itf.render(RESULT, FRAME))

    assert found["vars"] == ["actor", "action", "object", "time", "cluster", "holds"]
    assert [state["actor"] for state in found["states"]] == ["", "replicaset", "scheduler"]
    assert found["states"][2]["time"] == {"#bigint": "3"}
    assert found["states"][2]["cluster"] == {"#map": [["Pod/shop/web-1 spec.nodeName", "node-a"]]}
    assert "loop" not in found


def test_a_loop_in_itf_goes_on_with_what_its_first_step_leads_to():
    looping = replace(VIOLATION, trace=Trace(TRACE.steps, loop_start=1))

    assert read_itf(itf.render(replace(RESULT, results=(looping,)), FRAME))["loop"] == 2


def test_removed_objects_leave_the_map():
    gone = replace(step("kubelet", "ends web-1"), changes=(Change("Pod/shop/web-1", "", REMOVED),))
    found = read_itf(
        itf.render(replace(RESULT, results=(replace(VIOLATION, trace=Trace((*TRACE.steps, gone))),)), FRAME)
    )

    assert found["states"][3]["cluster"] == {"#map": []}


def test_json_lines_hold_the_same_results_as_the_document():
    lines = READERS["ndjson"](ndjson.render(RESULT, FRAME))

    whole = json.loads(render_json(RESULT))
    assert [{"type": "result", **one} for one in whole["results"]] == lines[1:-1]
