from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kubeproof.cluster.kinds import POD
from kubeproof.cluster.labels import LabelSelector, Requirement
from kubeproof.cluster.objects import (
    HOSTNAME,
    ZONE,
    PodAffinity,
    PodTemplate,
    PodTerm,
    SchedulerProfile,
    Settings,
    Setup,
    WeightedPodTerm,
    Workload,
)
from kubeproof.controllers.scheduler.framework import NodeInfo, Scheduler
from tests.unit.controllers.scheduler.builders import WEB, info, node, only, refusals, scheduler, scores, workload

PLUGIN = "InterPodAffinity"
DB = LabelSelector((Requirement("app", "In", ("db",)),))
ALL = LabelSelector()


def term(key: str, selector: LabelSelector | None = WEB, **fields: Any) -> PodTerm:
    return PodTerm(key, selector, **fields)


def near(*terms: PodTerm) -> PodAffinity:
    return PodAffinity(required=terms)


def rather(weight: int, *terms: PodTerm) -> PodAffinity:
    return PodAffinity(preferred=tuple(WeightedPodTerm(weight, one) for one in terms))


def web(**fields: Any) -> Workload:
    return workload(PodTemplate(labels=(("app", "web"),), **fields), kind=POD)


def db(namespace: str = "shop", **fields: Any) -> Workload:
    return workload(PodTemplate(labels=(("app", "db"),), **fields), POD, namespace, "db")


def both(*pods: tuple[int, ...]) -> list[NodeInfo]:
    """Two nodes in different zones, the pods on the first."""
    return [info(node("n1", "a"), *pods), info(node("n2", "b"))]


# Required anti-affinity of the incoming pod


def test_3_nodes_take_3_pods_that_avoid_their_own_kind_and_reject_the_4th() -> None:
    decider = scheduler(web(pod_anti_affinity=near(term(HOSTNAME))))
    names = ["n1", "n2", "n3"]
    left = [
        decider.choose([info(node(name), (0, int(i < taken))) for i, name in enumerate(names)]) for taken in (0, 1, 2)
    ]
    rows = decider.evaluate([info(node(name), (0, 1)) for name in names]).rows

    assert left == [(0, 1, 2), (1, 2), (2,)]
    assert refusals(rows) == [PLUGIN] * 3
    assert {row.reason for row in rows} == {"node(s) didn't match pod anti-affinity rules"}
    assert not rows[0].unresolvable
    assert rows[1].detail == "kubernetes.io/hostname=n2: 1 pod(s) there that it must avoid, of web"


def test_one_group_of_3_nodes_with_a_pod_each_is_full_for_pods_that_avoid_their_kind() -> None:
    decider = scheduler(web(pod_anti_affinity=near(term(HOSTNAME))))

    assert refusals(decider.evaluate([info(node("n1"), (0, 1), count=3)]).rows) == [PLUGIN]
    assert decider.choose([info(node("n1"), (0, 1), count=2), info(node("n3"))]) == (1,)


def test_terminating_pods_count() -> None:
    decider = scheduler(web(pod_anti_affinity=near(term(HOSTNAME))))

    assert decider.choose(both((0, 0, 1))) == (1,)


def test_anti_affinity_reaches_over_the_whole_domain() -> None:
    decider = scheduler(web(pod_anti_affinity=near(term(ZONE, DB))), db())
    nodes = [info(node("n1", "a"), (1, 2)), info(node("n2", "a"), count=2), info(node("n3", "b"))]
    rows = decider.evaluate(nodes).rows

    assert refusals(rows) == [PLUGIN, PLUGIN, ""]
    assert rows[1].detail == "topology.kubernetes.io/zone=a: 2 pod(s) there that it must avoid, of db"


def test_pods_of_a_group_add_up_in_a_shared_domain() -> None:
    decider = scheduler(web(pod_anti_affinity=near(term(ZONE, DB))), db())
    rows = decider.evaluate([info(node("n1", "a"), (1, 2), count=3)]).rows

    assert rows[0].detail == "topology.kubernetes.io/zone=a: 6 pod(s) there that it must avoid, of db"


def test_node_without_the_key_passes_anti_affinity() -> None:
    decider = scheduler(web(pod_anti_affinity=near(term(ZONE, DB))), db())

    assert decider.choose([info(node("n1"), (1, 1)), info(node("n2", "a"), (1, 1))]) == (0,)


def test_every_anti_affinity_term_repels_by_itself() -> None:
    decider = scheduler(web(pod_anti_affinity=near(term(ZONE, DB), term(HOSTNAME, WEB))), db())
    nodes = [info(node("n1", "a"), (1, 1)), info(node("n2", "b"), (0, 1)), info(node("n3", "b"))]

    assert refusals(decider.evaluate(nodes).rows) == [PLUGIN, PLUGIN, ""]


# Required anti-affinity of existing pods


def test_existing_pods_reject_a_pod_that_has_no_rule() -> None:
    decider = scheduler(web(), db(pod_anti_affinity=near(term(HOSTNAME, WEB))))
    rows = decider.evaluate(both((1, 1))).rows

    assert refusals(rows) == [PLUGIN, ""]
    assert rows[0].reason == "node(s) didn't satisfy existing pods anti-affinity rules"
    assert not rows[0].unresolvable
    assert rows[0].detail == "kubernetes.io/hostname=n1: 1 pod(s) there that reject it, of db"


def test_existing_pods_reject_in_their_whole_domain() -> None:
    decider = scheduler(web(), db(pod_anti_affinity=near(term(ZONE, WEB))))
    nodes = [info(node("n1", "a"), (1, 0, 1)), info(node("n2", "a")), info(node("n3"), (1, 1))]

    assert refusals(decider.evaluate(nodes).rows) == [PLUGIN, PLUGIN, ""]


def test_required_affinity_of_existing_pods_rejects_nobody() -> None:
    decider = scheduler(web(), db(pod_affinity=near(term(HOSTNAME, WEB))))

    assert refusals(decider.evaluate(both((1, 1))).rows) == ["", ""]


# Required affinity


def test_affinity_needs_a_matching_pod_in_the_domain() -> None:
    decider = scheduler(web(pod_affinity=near(term(ZONE, DB))), db())
    nodes = [info(node("n1", "a"), (1, 1)), info(node("n2", "a")), info(node("n3", "b")), info(node("n4"), (1, 1))]
    rows = decider.evaluate(nodes).rows

    assert refusals(rows) == ["", "", PLUGIN, PLUGIN]
    assert rows[2].reason == "node(s) didn't match pod affinity rules"
    assert rows[2].unresolvable
    assert rows[2].detail == "topology.kubernetes.io/zone=b: no pods there that it must be near, of db"
    assert rows[3].detail == "no label topology.kubernetes.io/zone"


def test_a_pod_that_matches_its_own_terms_may_be_the_first() -> None:
    decider = scheduler(web(pod_affinity=near(term(ZONE))))

    assert decider.choose(both()) == (0, 1)
    assert decider.choose(both((0, 1))) == (0,)


def test_the_first_pod_needs_the_key_too() -> None:
    decider = scheduler(web(pod_affinity=near(term(ZONE))))

    assert decider.choose([info(node("n1")), info(node("n2", "b"))]) == (1,)


def test_a_pod_on_a_node_without_the_key_leaves_the_next_one_the_first() -> None:
    decider = scheduler(web(pod_affinity=near(term(ZONE))))

    assert decider.choose([info(node("n1"), (0, 1)), info(node("n2", "b"))]) == (1,)


def test_a_pod_that_does_not_match_its_own_terms_is_never_the_first() -> None:
    rows = scheduler(web(pod_affinity=near(term(ZONE, DB)))).evaluate(both()).rows

    assert refusals(rows) == [PLUGIN, PLUGIN]
    assert rows[0].detail == "topology.kubernetes.io/zone=a: no pods there that it must be near, no workload matches"


def test_only_pods_that_match_all_terms_count_for_affinity() -> None:
    tier = LabelSelector((Requirement("tier", "In", ("back",)),))
    plain, tiered = db(), db(namespace="shop")
    tiered = replace(tiered, template=replace(tiered.template, labels=(("app", "db"), ("tier", "back"))))
    decider = scheduler(web(pod_affinity=near(term(ZONE, DB), term(HOSTNAME, tier))), plain, tiered)
    nodes = [info(node("n1", "a"), (1, 1)), info(node("n2", "b"), (2, 1)), info(node("n3", "b"))]

    assert refusals(decider.evaluate(nodes).rows) == [PLUGIN, "", PLUGIN]


def test_affinity_is_judged_before_anti_affinity_and_that_before_existing_pods() -> None:
    apart = near(term(HOSTNAME, DB))
    rejecting = db(pod_anti_affinity=near(term(HOSTNAME)))
    decider = scheduler(web(pod_affinity=near(term(ZONE, DB)), pod_anti_affinity=apart), rejecting)
    nodes = [info(node("n1", "a"), (1, 1)), info(node("n2"), (1, 1))]
    rows = decider.evaluate(nodes).rows

    assert [row.reason for row in rows] == [
        "node(s) didn't match pod anti-affinity rules",
        "node(s) didn't match pod affinity rules",
    ]


# What a term means


@pytest.mark.parametrize(
    ("fields", "meant"),
    [
        ({}, False),
        ({"namespaces": ("store",)}, True),
        ({"namespaces": ("shop",)}, False),
        ({"namespace_selector": ALL}, True),
        ({"namespace_selector": LabelSelector((Requirement("team", "In", ("blue",)),))}, True),
        ({"namespace_selector": LabelSelector((Requirement("team", "In", ("red",)),))}, False),
        ({"namespaces": ("shop",), "namespace_selector": LabelSelector((Requirement("team", "Exists"),))}, True),
        ({"namespace_selector": LabelSelector((Requirement("kubernetes.io/metadata.name", "In", ("store",)),))}, True),
    ],
)
def test_namespaces_are_listed_or_selected_and_the_own_one_by_default(fields: dict[str, Any], meant: bool) -> None:
    pods = (web(pod_anti_affinity=near(term(HOSTNAME, DB, **fields))), db("store"))
    setup = Setup(workloads=pods, namespaces=(("store", (("team", "blue"),)),))
    rows = Scheduler(setup, 0, frozenset({HOSTNAME})).evaluate(both((1, 1))).rows

    assert refusals(rows) == [PLUGIN if meant else "", ""]


def test_namespaces_of_an_existing_pods_term_are_those_of_its_own_side() -> None:
    own_only = scheduler(web(), db("store", pod_anti_affinity=near(term(HOSTNAME))))
    listed = scheduler(web(), db("store", pod_anti_affinity=near(term(HOSTNAME, namespaces=("shop",)))))

    assert refusals(own_only.evaluate(both((1, 1))).rows) == ["", ""]
    assert refusals(listed.evaluate(both((1, 1))).rows) == [PLUGIN, ""]


@pytest.mark.parametrize(("selector", "meant"), [(None, False), (ALL, True)])
def test_nil_selector_means_no_pod_and_an_empty_one_all(selector: LabelSelector | None, meant: bool) -> None:
    decider = scheduler(web(pod_anti_affinity=near(term(HOSTNAME, selector))), db())

    assert refusals(decider.evaluate(both((1, 1))).rows) == [PLUGIN if meant else "", ""]


def revisions(version: tuple[int, int], **fields: Any) -> Scheduler:
    """The scheduler of the second of two revisions of one Deployment that keeps apart on host names."""
    rule = near(term(HOSTNAME, WEB, **fields))
    first = workload(PodTemplate(labels=(("app", "web"),), pod_anti_affinity=rule))
    second = replace(first, kind="ReplicaSet", name="web-rev2", owner=first.ref)
    setup = Setup(workloads=(first, second), settings=Settings(kubernetes_version=version))
    return Scheduler(setup, 1, frozenset({HOSTNAME}))


@pytest.mark.parametrize(
    ("version", "fields", "refused"),
    [
        ((1, 37), {}, [PLUGIN, PLUGIN, ""]),
        ((1, 37), {"match_label_keys": ("pod-template-hash",)}, ["", PLUGIN, ""]),
        ((1, 37), {"mismatch_label_keys": ("pod-template-hash",)}, [PLUGIN, "", ""]),
        ((1, 37), {"match_label_keys": ("absent",)}, [PLUGIN, PLUGIN, ""]),
        ((1, 30), {"match_label_keys": ("pod-template-hash",)}, [PLUGIN, PLUGIN, ""]),
    ],
)
def test_label_keys_are_merged_with_the_values_of_the_terms_owner(
    version: tuple[int, int], fields: dict[str, Any], refused: list[str]
) -> None:
    nodes = [info(node("n1"), (0, 1)), info(node("n2"), (1, 1)), info(node("n3"))]

    assert refusals(revisions(version, **fields).evaluate(nodes).rows) == refused


# Scores


def test_preferred_affinity_of_the_pod_adds_its_weight_per_matching_pod() -> None:
    decider = scheduler(web(pod_affinity=rather(10, term(HOSTNAME, DB))), db(), profile=only(PLUGIN))
    nodes = [info(node("n1"), (1, 3)), info(node("n2"), (1, 0, 1)), info(node("n3"))]
    rows = decider.evaluate(nodes).rows

    assert scores(rows, PLUGIN) == [100, 33, 0]  # 30, 10 and 0 points
    assert [row.total for row in rows] == [200, 66, 0]


def test_preferred_anti_affinity_of_the_pod_takes_its_weight_away() -> None:
    decider = scheduler(web(pod_anti_affinity=rather(10, term(HOSTNAME, DB))), db(), profile=only(PLUGIN))
    nodes = [info(node("n1"), (1, 3)), info(node("n2"), (1, 1)), info(node("n3"))]

    assert scores(decider.evaluate(nodes).rows, PLUGIN) == [0, 66, 100]  # -30, -10 and 0 points


def test_preferred_terms_of_existing_pods_pull_and_push() -> None:
    other = db(pod_affinity=rather(30, term(ZONE)), pod_anti_affinity=rather(50, term(HOSTNAME)))
    nodes = [info(node("n1", "a"), (1, 1)), info(node("n2", "a")), info(node("n3", "b"))]
    rows = scheduler(web(), other, profile=only(PLUGIN)).evaluate(nodes).rows

    assert scores(rows, PLUGIN) == [0, 100, 40]  # 30 - 50, 30 and 0 points


@pytest.mark.parametrize(("weight", "expected"), [(1, [50, 100, 0]), (4, [80, 100, 0]), (0, [0, 100, 0])])
def test_required_affinity_of_existing_pods_pulls_with_the_hard_weight(weight: int, expected: list[int]) -> None:
    pods = (
        web(),
        db(pod_affinity=near(term(HOSTNAME))),
        db(pod_affinity=rather(1, term(HOSTNAME))),
    )
    profile = replace(only(PLUGIN), hard_pod_affinity_weight=weight)
    nodes = [info(node("n1"), (1, 1)), info(node("n2"), (1, 1), (2, 1)), info(node("n3"))]

    assert scores(scheduler(*pods, profile=profile).evaluate(nodes).rows, PLUGIN) == expected


def test_required_anti_affinity_scores_nothing() -> None:
    decider = scheduler(web(pod_anti_affinity=near(term(HOSTNAME, DB))), db(), profile=only(PLUGIN))

    assert scores(decider.evaluate([*both(), info(node("n3"))]).rows, PLUGIN) == [None, None, None]


def test_nodes_that_are_not_feasible_count_in_their_domains() -> None:
    decider = scheduler(web(pod_affinity=rather(10, term(ZONE, DB))), db(), profile=only(PLUGIN))
    nodes = [info(node("n1", "a"), (1, 1), cordoned=True), info(node("n2", "a")), info(node("n3", "b"))]

    assert scores(decider.evaluate(nodes).rows, PLUGIN) == [None, 100, 0]


def test_shares_are_cut_off_in_floating_point() -> None:
    decider = scheduler(web(pod_affinity=rather(1, term(HOSTNAME, DB))), db(), profile=only(PLUGIN))
    nodes = [info(node("n1", pods=500), (1, 100)), info(node("n2"), (1, 29)), info(node("n3"))]

    assert scores(decider.evaluate(nodes).rows, PLUGIN) == [100, 28, 0]  # 100 x 0.29 is 28.999999999999996


def test_equal_nodes_score_0() -> None:
    decider = scheduler(web(pod_affinity=rather(10, term(HOSTNAME, DB))), db(), profile=only(PLUGIN))

    assert scores(decider.evaluate([info(node("n1"), (1, 1), count=2)]).rows, PLUGIN) == [0]


def test_preferred_terms_of_existing_pods_are_ignored_on_request_for_a_pod_without_its_own() -> None:
    profile = SchedulerProfile(disabled_score=only(PLUGIN).disabled_score, ignore_preferred_of_existing=True)
    other = db(pod_affinity=rather(30, term(HOSTNAME)))
    without = scheduler(web(), other, profile=profile).evaluate(both((1, 1))).rows
    having = scheduler(web(pod_affinity=rather(1, term(ZONE))), other, profile=profile).evaluate(both((1, 1))).rows

    assert scores(without, PLUGIN) == [None, None]
    assert scores(having, PLUGIN) == [100, 0]


def test_points_that_cancel_out_score_0() -> None:
    pod = web(pod_affinity=rather(5, term(HOSTNAME, DB)), pod_anti_affinity=rather(5, term(HOSTNAME, DB)))

    assert scores(scheduler(pod, db()).evaluate(both((1, 1))).rows, PLUGIN) == [0, 0]


@pytest.mark.parametrize(("version", "score"), [((1, 27), 0), ((1, 28), None)])
def test_score_is_skipped_since_1_28_if_no_pod_there_attracts_or_repels(
    version: tuple[int, int], score: int | None
) -> None:
    decider = scheduler(web(pod_affinity=rather(5, term(HOSTNAME, DB))), db(), version=version)
    evaluation = decider.evaluate(both())

    assert scores(evaluation.rows, PLUGIN) == [score, score]
    assert decider.choose(both()) == evaluation.chosen == (0, 1)


def test_a_disabled_plugin_neither_rejects_nor_scores() -> None:
    profile = SchedulerProfile(disabled=frozenset({PLUGIN}))
    decider = scheduler(web(pod_anti_affinity=near(term(HOSTNAME))), profile=profile)

    assert refusals(decider.evaluate(both((0, 1))).rows) == ["", ""]
