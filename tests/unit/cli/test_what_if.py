"""`kubeproof what-if`: questions as people type them, answers in every format, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubeproof.cli.main import main
from tests.unit.live.api_server import Recorded, kubeconfig, serving
from tests.unit.report.formats import schema
from tests.unit.verify.what_if.clusters import budget, deployment, node, text_of

ZONE = "topology.kubernetes.io/zone"
NODES = [node("a", **{ZONE: "one"}), node("b", **{ZONE: "two"}), node("c", **{ZONE: "two"})]
WEB, CART = deployment("web", {"a": 1, "b": 1}, cpu="500m"), deployment("cart", {"a": 1}, cpu="100m")
SCHEMA = Path(__file__).parents[3] / "src" / "kubeproof" / "report" / "schemas" / "what-if.schema.json"


@pytest.fixture
def snap(tmp_path):
    file = tmp_path / "snap.yaml"
    file.write_text(text_of(NODES, WEB, CART), encoding="utf-8")
    return str(file)


def ask(capsys, *words):
    """The exit code, what was answered, and what was complained about."""
    code = main(["what-if", *words, "--progress", "never"])
    told = capsys.readouterr()
    return code, told.out, told.err


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["drain", "a"], 0, "Safe in the end: if a is drained, Deployment/shop/cart is without a ready pod for up to"),
        (["drain", "a", "--grade", "steady"], 1, "Safe in the end: if a is drained, Deployment/shop/cart"),
        (["drain", "c"], 0, "Safe: if c is drained, no workload is concerned."),
        (["remove", "a"], 0, "Safe in the end: if a is drained and deleted, Deployment/shop/cart"),
        (["fail", "b"], 0, "Safe: if b fails and stays down, Deployment/shop/web is never below its minimum"),
        (["fail", "two"], 0, "Safe: if all 2 nodes of zone two fail and stay down, Deployment/shop/web is never"),
        (["cordon", "a"], 0, "Safe: if a is cordoned, no pod moves, and all that has pods there can be rolled out"),
        (["scale", "cart=2"], 0, "Safe: if Deployment/shop/cart is scaled from 1 to 2, Deployment/shop/cart is never"),
        (["scale", "shop/web=90"], 1, "Not safe: if Deployment/shop/web is scaled from 2 to 90, Deployment/shop/web"),
    ],
)
def test_questions_have_an_answer_in_one_sentence(snap, capsys, words, code, sentence):
    found, said, complaints = ask(capsys, *words, "--on", snap, "-q")

    assert (found, complaints) == (code, "")
    assert said.startswith(sentence)


def test_an_upgrade_with_a_budget_that_allows_nothing_is_stuck(tmp_path, capsys):
    file = tmp_path / "snap.yaml"
    file.write_text(text_of(NODES[:2], CART, budget("cart", minAvailable=1)), encoding="utf-8")

    code, said, _ = ask(capsys, "upgrade", "--surge", "1", "--on", str(file))
    assert code == 1
    assert "one after the other, with 1 more meanwhile, Deployment/shop/cart may get stuck for good" in said
    assert "cart-5d4f-0  cart  stays: nothing lets it go" in said


def test_manifests_are_applied_to_what_runs(snap, tmp_path, capsys):
    changed = deployment("web", {"a": 2}, cpu="1")[:1]
    new = tmp_path / "new.yaml"
    new.write_text(text_of(changed, deployment("mail", {"a": 1}, cpu="9")[:1]), encoding="utf-8")

    code, said, _ = ask(capsys, "apply", "-f", str(new), "--on", snap)
    assert code == 1
    assert "(1 workload changes, 1 workload comes)" in said
    assert "Deployment/shop/mail may get stuck for good" in said.splitlines()[0]


def test_manifests_that_change_nothing_are_no_question(snap, capsys):
    code, _, complaints = ask(capsys, "apply", "-f", snap, "--on", snap)

    assert (code, "no workload of it differs from what runs" in complaints) == (2, True)


def test_load_moves_autoscalers(tmp_path, capsys):
    scaler = {
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "minReplicas": 2, "maxReplicas": 4,
            "metrics": [{"type": "Resource", "resource": {
                "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}],
        },
    }  # fmt: skip
    file = tmp_path / "snap.yaml"
    file.write_text(text_of(NODES, WEB, scaler), encoding="utf-8")

    code, said, complaints = ask(capsys, "load", "+50%", "--on", str(file), "-o", "json")
    answer = json.loads(said)
    assert (code, complaints) == (0, "")
    assert answer["question"] == "load +50%"
    assert [one["target"] for one in answer["workloads"]] == ["Deployment/shop/web"]
    assert any("scales" in one["action"] or "3" in one["action"] for one in answer["ordinary"]["steps"])


@pytest.mark.parametrize("words", [["drain", "a"], ["scale", "web=90"], ["drain", "c"]])
def test_json_is_as_its_schema_says(snap, capsys, words):
    _, said, _ = ask(capsys, *words, "--on", snap, "-o", "json")

    assert list(schema(SCHEMA).iter_errors(json.loads(said))) == []


def test_the_published_schema_is_the_one_that_is_installed():
    published = Path(__file__).parents[3] / "docs" / "reference" / "schemas" / SCHEMA.name

    assert published.read_text(encoding="utf-8") == SCHEMA.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["drain", "d"], "there is no node 'd'"),
        (["fail", "tow"], "Did you mean 'two'?"),
        (["scale", "web"], "'web' is no TARGET=N"),
        (["scale", "wbe=3"], "Did you mean 'web'?"),
        (["load", "50"], "is no share of the load"),
        (["load", "+50%"], "no workload has an autoscaler that looks at its CPU"),
    ],
)
def test_what_is_not_there_is_wrong_usage(snap, capsys, words, complaint):
    code, said, complaints = ask(capsys, *words, "--on", snap)

    assert (code, said) == (2, "")
    assert complaint in complaints


def test_a_cluster_must_be_named(capsys):
    code, _, complaints = ask(capsys, "drain", "a")

    assert (code, "name the cluster: --live, or --on PATH" in complaints) == (2, True)


def test_a_scenario_says_already_what_happens(snap, tmp_path, capsys):
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(
        "apiVersion: kubeproof.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec: {intents: [{settles: {}}]}\n",
        encoding="utf-8",
    )
    code, _, complaints = ask(capsys, "drain", "a", "--on", snap, "--on", str(scenario))

    assert (code, "a Scenario says what may happen" in complaints) == (2, True)


def test_manifests_without_pods_are_asked_when_they_are_deployed(tmp_path, capsys):
    file = tmp_path / "web.yaml"
    file.write_text(text_of(WEB[:1]), encoding="utf-8")

    code, said, _ = ask(capsys, "drain", "node-1", "--on", str(file), "--nodes", "3x4cpu,16Gi")
    assert code == 0
    assert "a run begins when everything is deployed" in said


def test_a_running_cluster_is_asked_as_its_snapshot_is(snap, tmp_path, capsys):
    recorded = Recorded(json.loads(Path(snap).read_text(encoding="utf-8"))["items"])
    with serving(recorded):
        config = kubeconfig(tmp_path, recorded.server)
        code, said, _ = ask(capsys, "drain", "a", "--live", "-A", "--kubeconfig", config, "-o", "json")
    live = json.loads(said)
    saved = json.loads(ask(capsys, "drain", "a", "--on", snap, "-o", "json")[1])

    assert code == 0
    assert {method for method, *_ in recorded.requests} == {"GET"}
    for key in ("sentence", "verdict", "untouched", "ordinary"):
        assert live[key] == saved[key]


def test_an_input_without_workloads_is_nothing_to_ask_about(tmp_path, capsys):
    file = tmp_path / "nodes.yaml"
    file.write_text(text_of(NODES), encoding="utf-8")
    code, said, complaints = ask(capsys, "drain", "a", "--on", str(file))

    assert (code, said) == (5, "")
    assert "E301 the input holds no workload" in complaints


@pytest.mark.parametrize(
    ("words", "kind"), [(["remove", "a"], "remove"), (["fail", "a"], "fail"), (["cordon", "a"], "cordon")]
)
def test_json_names_the_kind_of_question(snap, capsys, words, kind):
    answer = json.loads(ask(capsys, *words, "--on", snap, "-o", "json")[1])

    assert (answer["kind"], answer["question"]) == (kind, " ".join(words))
