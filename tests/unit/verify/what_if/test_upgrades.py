"""Upgrades of many nodes are decided by one turn; compared with a search of all turns where that ends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kubeproof.manifests.scenarios.matrix_columns import rows_of
from kubeproof.verify.matrix.questions import CellQuestion
from kubeproof.verify.matrix.result import Grade
from kubeproof.verify.matrix.solve import Solver
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.what_if.questions import UPGRADE, ask_upgrade
from kubeproof.verify.what_if.upgrades import UpgradeSolver
from tests.unit.verify.what_if.clusters import budget, deployment, load, node

WEB = "Deployment/shop/web"
OPTIONS = VerifyOptions()


def question(target=WEB):
    return CellQuestion(target, (UPGRADE,), 20_000, 20.0)


def by_one_turn(*parts, target=WEB):
    asked = ask_upgrade(load(*parts))
    return UpgradeSolver(asked.loaded, OPTIONS, asked.columns)(question(target))


def by_all_turns(*parts, target=WEB):
    asked = ask_upgrade(load(*parts))
    return Solver(asked.loaded, OPTIONS, asked.columns)(question(target))


TWO, THREE = [node("a"), node("b")], [node("a"), node("b"), node("c")]
CLUSTERS = [
    ([TWO, deployment("web", {"a": 1})], Grade.DIPS),
    ([TWO, deployment("web", {"a": 1}), budget("web", minAvailable=1)], Grade.STUCK),
    ([THREE, deployment("web", {"a": 1, "b": 1}), budget("web", minAvailable=1)], Grade.STEADY),
    ([THREE, deployment("web", {"a": 1, "b": 1}), budget("web", maxUnavailable=1)], Grade.STEADY),
    ([TWO, deployment("web", {"a": 1}), deployment("db", {"a": 1, "b": 2})], Grade.UNKNOWN),
    ([TWO, deployment("web", {"a": 1}), deployment("db", {"b": 1})], Grade.DIPS),
    ([THREE, deployment("web", {"a": 2})], Grade.DIPS),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "grade"), CLUSTERS)
def test_one_turn_decides_what_all_turns_do(parts, grade):
    one, every = by_one_turn(*parts), by_all_turns(*parts)

    assert one.cell.grade == grade
    assert grade == Grade.UNKNOWN or every.cell.grade in (grade, Grade.UNKNOWN)
    assert (one.result.trace is not None) == (grade in (Grade.STUCK, Grade.DIPS))


def test_where_nothing_keeps_pods_apart_later_turns_are_not_decided():
    found = by_one_turn(THREE, deployment("web", {"a": 1, "b": 1}, cpu="100m"))

    assert (found.cell.grade, found.result.verdict) == (Grade.UNKNOWN, "HOLDS")
    assert "not decided of later turns" in found.cell.detail


def test_whoever_asks_for_steadiness_is_told_that_it_is_open():
    asked = ask_upgrade(load(THREE, deployment("web", {"a": 1, "b": 1}, cpu="100m")))
    found = UpgradeSolver(asked.loaded, OPTIONS, asked.columns, Grade.STEADY)(question())

    assert found.result.verdict == "UNKNOWN"


def test_a_budget_of_two_workloads_proves_nothing():
    both = budget("web", minAvailable=1)
    both["spec"]["selector"] = {}
    found = by_one_turn(THREE, deployment("web", {"a": 1, "b": 1}, cpu="100m"), deployment("db", {"c": 1}), both)

    assert found.cell.grade == Grade.UNKNOWN


def test_what_is_not_complete_at_the_start_is_not_proved():
    parts = deployment("web", {"a": 1, "b": 1}, cpu="100m")
    parts[0]["spec"]["replicas"] = 3

    assert by_one_turn(THREE, parts, budget("web", maxUnavailable=1)).cell.grade != Grade.STEADY


def test_workloads_that_differ_in_names_alone_are_searched_once():
    asked = ask_upgrade(load(THREE, deployment("web", {"a": 1}), deployment("api", {"b": 1})))
    solver = UpgradeSolver(asked.loaded, OPTIONS, asked.columns)
    found = {one.ref: solver(question(one.ref)).cell.grade for one in rows_of(asked.loaded.setup)}

    assert set(found.values()) == {Grade.DIPS}
    assert solver.alike == {"Deployment/shop/api": WEB}


def test_a_surge_adds_nodes():
    asked = ask_upgrade(load(TWO, deployment("web", {"a": 1})), surge=2)

    assert [one.name for one in asked.loaded.setup.nodes] == ["a", "b", "kubeproof-surge-1", "kubeproof-surge-2"]
    assert replace(asked.loaded.setup.nodes[2], name="a", labels=()) == replace(asked.loaded.setup.nodes[0], labels=())


MANY = [node(name) for name in "abcdefghi"]


def test_daemon_sets_of_large_clusters_are_not_asked_and_that_is_told():
    labels = {"app": "logs"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main"}]}}
    logs = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "logs", "namespace": "shop"},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }
    asked = ask_upgrade(load(MANY, logs, deployment("web", {"a": 1})))

    assert [w.ref for w in rows_of(asked.loaded.setup) if asked.columns[0].concerns(asked.loaded.setup, w)] == [WEB]
    assert asked.notes == ("DaemonSets are not asked: drains leave their pods alone, which come back with their node",)


def test_a_bare_pod_is_looked_for_on_its_own_node():
    bare = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "bare", "namespace": "shop", "labels": {"app": "bare"}},
        "spec": {"nodeName": "c", "containers": [{"name": "main"}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }
    found = by_one_turn(MANY, bare, deployment("web", {"a": 1}), target="Pod/shop/bare")

    assert found.cell.grade == Grade.STUCK
