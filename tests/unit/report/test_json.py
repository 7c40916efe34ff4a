import json
from dataclasses import replace

import pytest

from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.errors import ManifestError
from kubeproof.report.formats.json import render
from kubeproof.report.sentences import list_omitted
from kubeproof.verify.explained import Explanation, Inaction
from kubeproof.verify.findings.saved import read_saved
from kubeproof.verify.result import Trace
from tests.unit.report.formats import read_json
from tests.unit.report.results import MATRIX_RESULT, PROOF, RESULT, TRACE, VIOLATION


def test_the_document_is_the_contract():
    assert json.loads(render(RESULT)) == {
        "version": 1,
        "verdict": "VIOLATED",
        "scenario": "one-node-down",
        "scope": {"nodes": "3", "workloads": "Deployment/shop/web"},
        "results": [
            {
                "id": "S004",
                "intent": "web fits",
                "key": "schedulable",
                "target": "Deployment/shop/web",
                "verdict": "VIOLATED",
                "severity": "error",
                "fingerprint": "032819e40c10ca1af26b746a9a29d89a",
                "suppression": None,
                "detail": "pod shop/web-1 has no feasible node",
                "scale": {"nodes": 3, "pods": 1},
                "size": {},
                "states": 1200,
                "transitions": 3400,
                "strategy": None,
                "depends_on": None,
                "holds_for": None,
                "trace": [
                    {
                        "actor": "replicaset",
                        "by": {"kind": "replicaset", "object": ""},
                        "action": "creates shop/web-1",
                        "object": "Pod/shop/web-1",
                        "changes": ["Pod/shop/web-1 spec.nodeName = node-a"],
                        "changed": [{"object": "Pod/shop/web-1", "field": "spec.nodeName", "value": "node-a"}],
                        "time": 0,
                        "why": [],
                        "code": ["bind", 0, [1, 2]],
                    },
                    {
                        "actor": "scheduler",
                        "by": {"kind": "scheduler", "object": ""},
                        "action": "binds shop/web-1 to node-a",
                        "object": "Pod/shop/web-1",
                        "changes": ["Pod/shop/web-1 spec.nodeName = node-a"],
                        "changed": [{"object": "Pod/shop/web-1", "field": "spec.nodeName", "value": "node-a"}],
                        "time": 3,
                        "why": ["node-a scores 100", "node-b scores 90"],
                        "code": ["bind", 0, [1, 2]],
                    },
                ],
                "loop_start": None,
                "loop_certainty": "",
                "deployed_steps": 0,
                "location": {"file": "scenario.yaml", "line": 9},
                "objects": [
                    {"object": "Deployment/shop/web", "file": "web.yaml", "line": 4},
                    {"object": "Node/node-b", "file": "nodes.yaml", "line": 20},
                ],
                "remedy": "Raise maxSkew to 2.",
                "explanation": None,
                "final": ["node-b: PodTopologySpread skew 2 above 1"],
                "facts": [{"about": "", "node": "", "shape": ""}],
                "obstacles": [],
                "inaction": [],
            },
            {
                "id": "L001",
                "intent": "settles",
                "key": "settles",
                "target": "",
                "verdict": "HOLDS",
                "severity": "error",
                "fingerprint": "297fe713bdc93b7b9e35b64a7a677357",
                "suppression": None,
                "detail": "every run becomes stable",
                "scale": {"nodes": 3, "pods": 1},
                "size": {},
                "states": 1,
                "transitions": 1,
                "strategy": None,
                "depends_on": None,
                "holds_for": None,
                "trace": None,
                "loop_start": None,
                "loop_certainty": "",
                "deployed_steps": 0,
                "location": {"file": "<built-in>", "line": 0},
                "objects": [],
                "remedy": "",
                "explanation": None,
                "final": [],
                "facts": [],
                "obstacles": [],
                "inaction": [],
            },
        ],
        "checks": [],
        "not_modelled": ["kind Service (web.yaml:40)"],
        "not_modelled_kinds": [],
        "suppressions": [],
        "statistics": {
            "states": 1200,
            "transitions": 3400,
            "depth": 17,
            "elapsed_s": 0.5,
            "memo_calls": 1000,
            "memo_misses": 50,
            "engine": "compiled",
            "reductions": ["symmetry"],
            "stopped_by": "",
            "start_states": 0,
            "acted": [["replicaset web", ["creates pods"]]],
            "idle": ["taint-eviction"],
            "refused": [],
            "unused": [],
            "stop_reason": "",
            "stop_limit": None,
        },
        "elapsed_s": 0.5,
        "input": {"files": [{"name": "web.yaml", "text": "kind: Deployment\n"}]},
    }


def test_a_loop_is_its_first_step_and_its_certainty():
    looping = replace(VIOLATION, trace=Trace(TRACE.steps, loop_start=1, loop_certainty="inevitable"))

    result = json.loads(render(replace(RESULT, results=(looping,))))["results"][0]

    assert (result["loop_start"], result["loop_certainty"]) == (1, "inevitable")


def test_hostile_text_stays_inside_plain_ascii_and_comes_back_unchanged():
    evil = "\x1b\x7f\x9b\u202e\ud800\n"

    text = render(replace(RESULT, scenario=evil))

    assert text.isascii()
    assert "\x1b" not in text
    assert "\x7f" not in text
    assert json.loads(text)["scenario"] == evil


def test_repeated_keys_of_the_scope_are_all_kept():
    scope = (("assumption", "a"), ("assumption", "b"))

    assert json.loads(render(replace(RESULT, scope=scope)))["scope"] == {"assumption": "a; b"}


def test_a_matrix_is_a_list_of_cells_with_rows_and_columns_beside_it():
    found = read_json(render(MATRIX_RESULT))

    assert found["matrix"][1] == {
        "target": "Deployment/shop/api",
        "fault": "nodeLoss",
        "grade": "stuck",
        "lowest": None,
        "longest_s": None,
        "finding": 1,
        "detail": "about Deployment/shop/api",
    }
    assert [column["key"] for column in found["matrix_columns"]] == ["rollout", "nodeLoss", "podCrash"]
    assert [row["target"].rpartition("/")[2] for row in found["matrix_rows"]] == ["api", "cart", "web"]
    assert found["results"][1]["faults"] == ["nodeLoss"]


def test_a_saved_matrix_is_read_back_as_it_was(tmp_path):
    pair = replace(MATRIX_RESULT.matrix.cells[1], faults=("rollout", "nodeLoss"))
    trace = replace(MATRIX_RESULT.results[1].trace, obstacles=(("NodeAffinity", "no label"),))
    results = (MATRIX_RESULT.results[0], replace(MATRIX_RESULT.results[1], trace=trace), *MATRIX_RESULT.results[2:])
    whole = replace(MATRIX_RESULT, matrix=replace(MATRIX_RESULT.matrix, pairs=(pair,)), results=results)
    path = tmp_path / "result.json"
    path.write_text(render(whole))

    read = read_saved(str(path)).result

    assert read.matrix == whole.matrix
    assert read.omitted == whole.omitted
    assert [(one.faults, one.trace and one.trace.obstacles) for one in read.results] == [
        (one.faults, one.trace and one.trace.obstacles) for one in whole.results
    ]


def test_why_a_violation_happens_is_read_back_as_it_was(tmp_path):
    scheduler = Actor(ActorKind.SCHEDULER, "web")
    idle = Inaction(scheduler, "Deployment/shop/web", "no-node-fits", "finds no node", "add one", (("pods", 1),), 2)
    told = Explanation("A pod waits.", ("the scheduler finds no node",), "Add one.")
    trace = replace(VIOLATION.trace, inaction=(idle, replace(idle, step=None)))
    whole = replace(RESULT, results=(replace(VIOLATION, explanation=told, trace=trace), PROOF))
    path = tmp_path / "result.json"
    path.write_text(render(whole))

    read = read_saved(str(path)).result.results[0]

    assert (read.explanation, read.trace.inaction) == (told, trace.inaction)
    assert read.trace.inaction[0].actor.kind == ActorKind.SCHEDULER


def test_a_run_of_a_saved_matrix_is_named_by_workload_and_fault(tmp_path):
    path = tmp_path / "result.json"
    path.write_text(render(MATRIX_RESULT))
    saved = read_saved(str(path))

    assert saved.choose(None) == saved.result.results[1]
    assert saved.choose("web podCrash").target == "Deployment/shop/web"
    assert saved.choose("Deployment/shop/cart").faults == ("nodeLoss",)
    assert saved.choose("podCrash").target == "Deployment/shop/api"
    with pytest.raises(ManifestError, match="no counterexample for web nodeLoss"):
        saved.choose("web nodeLoss")


def test_what_is_not_modelled_of_an_older_file_is_shown_as_it_was_written(tmp_path):
    document = json.loads(render(MATRIX_RESULT))
    assert document["not_modelled_kinds"] == [
        {"what": "kind Service", "sort": "kind", "name": "Service", "count": 1, "may_decide": False}
    ]
    for group in document["not_modelled_kinds"]:
        del group["sort"], group["name"]
    path = tmp_path / "result.json"
    path.write_text(json.dumps(document))

    read = read_saved(str(path)).result

    assert list(list_omitted(read.omitted)) == ["kind Service"]
    assert list(list_omitted(MATRIX_RESULT.omitted)) == ["objects: Service (1)"]
