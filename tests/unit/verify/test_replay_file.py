"""`replay` of saved results: what is confirmed, what is refused."""

import json

import pytest

from kubeproof.errors import KubeproofError, ManifestError
from kubeproof.report.formats.json import document
from kubeproof.verify.counterexamples.replay import replay_file
from kubeproof.verify.counterexamples.replayer import ReplayMismatch
from tests.unit.verify.inputs import FAILING, LOOP, PENDING, node, scenario, verified, web


def _saved(tmp_path, documents, change=lambda whole: None):
    whole = json.loads(json.dumps(document(verified(*documents))))
    change(whole)
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(whole), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("documents", [PENDING, LOOP, FAILING], ids=["path", "loop", "deployed"])
def test_a_saved_counterexample_is_confirmed_with_the_same_words(tmp_path, documents):
    report = replay_file(_saved(tmp_path, documents))

    (result,) = verified(*documents).results
    assert report.verdict == "VIOLATED"
    assert report.steps == result.trace.steps
    assert (report.loop_start, report.final, report.intent) == (
        result.trace.loop_start,
        result.trace.final,
        result.intent,
    )


RUNNING_POD = """apiVersion: v1
kind: Pod
metadata: {name: p, namespace: shop}
spec: {nodeName: n1, containers: [{name: main, image: registry.example.com/main}]}
status: {phase: Running}
"""


@pytest.mark.parametrize(
    "documents",
    [
        pytest.param(
            (
                node("n1"),
                web(2),
                scenario(
                    "{maxReplicas: {target: Deployment/shop/web, count: 1}}",
                    start="{placement: {Deployment/shop/web: {n1: 2}}}",
                ),
            ),
            id="placement",
        ),
        pytest.param(
            (node("n1"), RUNNING_POD, scenario("{maxReplicas: {target: Pod/shop/p, count: 0}}", start="deployed")),
            id="deployed",
        ),
    ],
)
def test_a_counterexample_without_steps_is_confirmed(tmp_path, documents):
    report = replay_file(_saved(tmp_path, documents))

    assert (report.verdict, report.steps, report.deployed_steps) == ("VIOLATED", (), 0)


def test_violations_of_namesakes_in_two_namespaces_are_confirmed(tmp_path):
    nodes = (node("a1", cpu="1"), node("b1", cpu="1"))
    documents = (*nodes, web(1, namespace="green"), web(2, namespace="blue"), scenario("{schedulable: {}}"))
    path = _saved(tmp_path, documents)

    for result in verified(*documents).results:
        assert replay_file(path, result.intent).steps == result.trace.steps


def test_an_intent_is_chosen_by_name_or_by_id(tmp_path):
    path = _saved(tmp_path, PENDING)

    assert replay_file(path, "S005").intent == replay_file(path, "schedulable Deployment/shop/web").intent
    with pytest.raises(ManifestError, match="no counterexample for L002"):
        replay_file(path, "L002")


def _without(key):
    return lambda whole: whole["results"][0].pop(key)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda whole: whole.pop("input"), id="no input"),
        pytest.param(lambda whole: whole["results"][0].update(intent="other"), id="unknown intent"),
        pytest.param(lambda whole: whole["results"][0].update(loop_start="soon"), id="loop start in words"),
        pytest.param(lambda whole: whole["results"][0].update(trace=["step"]), id="steps are text"),
        pytest.param(lambda whole: whole["results"][0]["trace"][0].pop("code"), id="a step without code"),
        pytest.param(_without("intent"), id="no intent"),
        pytest.param(lambda whole: whole.pop("results"), id="no results"),
        pytest.param(lambda whole: whole["results"][0].update(trace=None), id="no trace"),
    ],
)
def test_a_file_that_is_no_result_is_refused_as_input(tmp_path, change):
    with pytest.raises(ManifestError) as caught:
        replay_file(_saved(tmp_path, PENDING, change))

    assert caught.value.exit_code == 4


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 100_000, '{"results": 3}', "\x00"])
def test_text_that_is_no_document_is_refused_as_input(tmp_path, text):
    path = tmp_path / "trace.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(ManifestError):
        replay_file(str(path))


def test_a_missing_file_is_refused_as_input(tmp_path):
    with pytest.raises(ManifestError, match=r"absent\.json: cannot be read"):
        replay_file(str(tmp_path / "absent.json"))


def _doctored(position, code):
    def change(whole):
        whole["results"][0]["trace"][position]["code"] = code

    return change


@pytest.mark.parametrize(
    ("documents", "change"),
    [
        pytest.param(PENDING, _doctored(2, [["bind", "web-1", "n9"]]), id="another node"),
        pytest.param(PENDING, lambda w: w["results"][0]["trace"].pop(1), id="a step dropped"),
        pytest.param(PENDING, lambda w: w["results"][0].update(deployed_steps=2), id="deployed without saying"),
        pytest.param(LOOP, lambda w: w["results"][0].update(loop_start=0), id="the loop starts elsewhere"),
        pytest.param(LOOP, lambda w: w["results"][0].update(loop_start=-2), id="the loop starts before"),
        pytest.param(LOOP, lambda w: w["results"][0].update(loop_start=None), id="no loop"),
        pytest.param(FAILING, lambda w: w["results"][0].update(deployed_steps=0), id="not deployed"),
        pytest.param(FAILING, lambda w: w["results"][0].update(deployed_steps=4), id="not stable"),
        pytest.param(FAILING, _doctored(0, [["create-object", "x"]]), id="a deploying step changed"),
    ],
)
def test_a_doctored_counterexample_is_a_disagreement(tmp_path, documents, change):
    with pytest.raises(ReplayMismatch) as caught:
        replay_file(_saved(tmp_path, documents, change))

    assert caught.value.exit_code == 70


def test_other_input_than_the_traces_is_a_disagreement_or_refused(tmp_path):
    def fewer(whole):
        (file,) = whole["input"]["files"]
        file["text"] = file["text"].replace("replicas: 3", "replicas: 2")

    with pytest.raises(KubeproofError, match="not possible"):
        replay_file(_saved(tmp_path, PENDING, fewer))
