"""Who stands still while something happens to a node, and that nobody does who does not."""

from dataclasses import replace

import pytest

from kubeproof.events.declarations import Drain, NodeChoice
from kubeproof.verify.matrix.result import Grade
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.standing import set_aside
from kubeproof.verify.what_if.questions import ask_drain
from kubeproof.verify.what_if.run import answer_question
from tests.unit.verify.what_if.clusters import budget, deployment, load, node

THREE = [node("a"), node("b"), node("c")]


def left_out(*parts):
    """The workloads that stand still while node a is drained."""
    loaded = load(THREE, *parts)
    event = Drain(name="drain", nodes=NodeChoice(names=("a",)))
    scenario = replace(loaded.scenario, events=(event,), intents=())
    return set_aside(replace(loaded, scenario=scenario))


def test_what_has_no_pod_on_the_node_is_room_that_is_taken():
    found = left_out(deployment("web", {"a": 1}), deployment("db", {"b": 1, "c": 1}))

    assert found.left_out == ("Deployment/shop/db",)
    assert [one.ref for one in found.loaded.setup.workloads] == ["Deployment/shop/web"]
    assert [(one.held.pods, dict(one.held.requested).get("cpu", 0)) for one in found.loaded.setup.nodes] == [
        (0, 0), (1, 1000), (1, 1000),
    ]  # fmt: skip
    assert {one.ref for one in found.loaded.scenario.start.pods} == {"Deployment/shop/web"}


APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
        ]
    }
}


@pytest.mark.parametrize(
    "parts",
    # web may take the place of db; db keeps web off its node; web is drawn to db; one budget counts both; db is there
    [
        [deployment("web", {"a": 1}, priorityClassName="system-cluster-critical"), deployment("db", {"b": 1})],
        [deployment("web", {"a": 1}), deployment("db", {"b": 1}, affinity=APART)],
        [deployment("web", {"a": 1}, affinity={"podAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": {
                "topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "db"}}}}]}}),
         deployment("db", {"b": 1})],
        [deployment("web", {"a": 1}), deployment("db", {"b": 1}), {
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "all", "namespace": "shop"},
            "spec": {"selector": {}, "minAvailable": 1}}],
        [deployment("web", {"a": 1}), deployment("db", {"a": 1, "b": 1})],
    ],
)  # fmt: skip
def test_whom_the_others_may_notice_is_searched_with_them(parts):
    assert left_out(*parts).left_out == ()


def test_a_pod_that_is_not_ready_may_move():
    parts = deployment("db", {"b": 1})
    parts[1]["status"]["conditions"][0]["status"] = "False"

    assert left_out(deployment("web", {"a": 1}), parts).left_out == ()


def answer(*parts, names=("a",)):
    return answer_question(ask_drain(load(*parts), names), VerifyOptions(timeout_s=None))


def test_room_that_others_hold_decides():
    crowded = answer(THREE, deployment("web", {"a": 1}), deployment("db", {"b": 2, "c": 2}))
    roomy = answer(THREE, deployment("web", {"a": 1}), deployment("db", {"b": 2, "c": 1}))

    assert [(one.target, one.grade) for one in crowded.effects] == [("Deployment/shop/web", Grade.STUCK)]
    assert [(one.target, one.grade) for one in roomy.effects] == [("Deployment/shop/web", Grade.DIPS)]
    assert crowded.untouched == roomy.untouched == 1


def test_a_budget_that_lets_no_pod_go_holds_the_drain_up():
    found = answer(THREE, deployment("web", {"a": 1}), budget("web", minAvailable=1), deployment("db", {"b": 1}))

    assert found.verdict == "VIOLATED"
    assert found.sentence == "Not safe: if a is drained, Deployment/shop/web may get stuck for good."
    assert found.worst is not None
    assert found.ordinary is not None
    assert [(one.pod, one.leaves_s) for one in found.ordinary.moves] == [("web-5d4f-0", None)]


def test_a_drain_tells_which_pods_go_and_who_is_short_for_how_long():
    found = answer(THREE, deployment("web", {"a": 1, "b": 1}), deployment("cart", {"a": 1}, cpu="100m"))

    assert found.verdict == "HOLDS"
    assert [(one.target, one.grade, one.lowest) for one in found.effects] == [
        ("Deployment/shop/cart", Grade.DIPS, 0),
        ("Deployment/shop/web", Grade.STEADY, None),
    ]
    assert found.sentence.startswith("Safe in the end: if a is drained, Deployment/shop/cart is without a ready pod")
    run = found.ordinary
    assert run is not None
    assert {one.pod for one in run.moves} == {"web-5d4f-0", "cart-5d4f-0"}
    assert all(one.gone_s is not None for one in run.moves)
    assert {one.target: (one.lowest, one.back_s) for one in run.spells} == {
        "Deployment/shop/cart": (0, run.lasts_s),
        "Deployment/shop/web": (1, run.lasts_s),
    }


# -- mutants: what becomes of verdicts if a condition is forgotten ----------------------------------

TWO = THREE[:2]
CROWDED = (THREE, deployment("web", {"a": 1}), deployment("db", {"b": 2, "c": 2}))
PREEMPTED = (TWO, deployment("web", {"a": 1}, priorityClassName="system-cluster-critical"), deployment("db", {"b": 2}))
KEPT_OFF = (TWO, deployment("web", {"a": 1}), deployment("db", {"b": 1}, affinity=APART))


def grade_of_web(*parts):
    (found,) = (one.grade for one in answer(*parts).effects if one.target == "Deployment/shop/web")
    return found


def hold_nothing(holding):
    yield from holding._setup.nodes


@pytest.mark.parametrize(
    ("parts", "right", "name", "mutant", "wrong"),
    [
        (CROWDED, Grade.STUCK, "_Holding.__iter__", hold_nothing, Grade.DIPS),
        (PREEMPTED, Grade.DIPS, "_find_preempted", lambda setup, moving: (), Grade.STUCK),
        (KEPT_OFF, Grade.STUCK, "find_related", lambda loaded, refs: frozenset(refs), Grade.DIPS),
    ],
    ids=["what is held", "priorities", "relations"],
)
def test_each_condition_is_needed(parts, right, name, mutant, wrong, monkeypatch):
    assert grade_of_web(*parts) == right
    monkeypatch.setattr(f"kubeproof.verify.proofs.standing.{name}", mutant)

    assert grade_of_web(*parts) == wrong
