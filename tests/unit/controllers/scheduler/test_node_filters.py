from __future__ import annotations

import pytest

from kubeproof.cluster.labels import NodeTerm, PreferredTerm, Requirement, Taint, Toleration
from kubeproof.cluster.objects import ZONE, SchedulerProfile
from tests.unit.controllers.scheduler.builders import (
    info,
    node,
    only,
    prefer_not,
    refusals,
    scheduler,
    scores,
    template,
)


def in_zone(*zones: str) -> NodeTerm:
    return NodeTerm(expressions=(Requirement(ZONE, "In", zones),))


def named(*names: str) -> Requirement:
    return Requirement("metadata.name", "In", names)


TWO_ZONES = [info(node("n1", "a")), info(node("n2", "b"))]


def test_node_name_admits_the_named_node_only() -> None:
    rows = scheduler(template(node_name="n2"), version=(1, 36)).evaluate(TWO_ZONES).rows

    assert refusals(rows) == ["NodeName", ""]
    assert rows[0].reason == "node(s) didn't match the requested node name"
    assert rows[0].unresolvable


def test_cordoned_node_is_refused() -> None:
    rows = scheduler(template()).evaluate([info(node("n1"), cordoned=True), info(node("n2"))]).rows

    assert refusals(rows) == ["NodeUnschedulable", ""]
    assert rows[0].reason == "node(s) were unschedulable"
    assert rows[0].unresolvable


def test_cordoned_node_is_admitted_if_the_pod_tolerates_its_taint() -> None:
    tolerant = template(tolerations=(Toleration("node.kubernetes.io/unschedulable", "Exists"),))

    assert scheduler(tolerant).choose([info(node("n1"), cordoned=True)]) == (0,)


@pytest.mark.parametrize(("version", "first"), [((1, 36), "NodeUnschedulable"), ((1, 37), "NodeName")])
def test_first_failing_plugin_decides_in_the_order_of_the_version(version: tuple[int, int], first: str) -> None:
    rows = scheduler(template(node_name="n2"), version=version).evaluate([info(node("n1"), cordoned=True)]).rows

    assert refusals(rows) == [first]


@pytest.mark.parametrize("effect", ["NoSchedule", "NoExecute"])
def test_untolerated_taint_refuses(effect: str) -> None:
    tainted = node("n1", taints=(Taint("gpu", "yes", effect),))
    rows = scheduler(template()).evaluate([info(tainted)]).rows

    assert refusals(rows) == ["TaintToleration"]
    assert rows[0].reason == "node(s) had untolerated taint(s)"
    assert rows[0].unresolvable


def test_reason_names_the_taint_up_to_1_34() -> None:
    tainted = node("n1", taints=(Taint("gpu", "yes"), Taint("disk", "slow")))
    rows = scheduler(template(), version=(1, 34)).evaluate([info(tainted)]).rows

    assert rows[0].reason == "node(s) had untolerated taint {gpu: yes}"


def test_toleration_of_another_value_does_not_help() -> None:
    tainted = info(node("n1", taints=(Taint("gpu", "yes"),)))

    assert scheduler(template(tolerations=(Toleration("gpu", "Equal", "no"),))).choose([tainted]) == ()
    assert scheduler(template(tolerations=(Toleration("gpu", "Equal", "yes"),))).choose([tainted]) == (0,)


def test_example_3_taint_counts_0_1_2_score_100_50_0_and_weigh_3() -> None:
    nodes = [
        info(node("n1")),
        info(node("n2", taints=(prefer_not("x"),))),
        info(node("n3", taints=(prefer_not("x"), prefer_not("y")))),
    ]
    evaluation = scheduler(template(), profile=only("TaintToleration")).evaluate(nodes)

    assert scores(evaluation.rows, "TaintToleration") == [100, 50, 0]
    assert [row.total for row in evaluation.rows] == [300, 150, 0]
    assert evaluation.chosen == (0,)


def test_toleration_of_effect_no_schedule_leaves_prefer_no_schedule_taints_untolerated() -> None:
    tolerant = template(tolerations=(Toleration("x", "Exists", effect="NoSchedule"),))
    nodes = [info(node("n1", taints=(prefer_not("x"),))), info(node("n2"))]

    assert scores(scheduler(tolerant).evaluate(nodes).rows, "TaintToleration") == [0, 100]


def test_without_prefer_no_schedule_taints_every_node_scores_100() -> None:
    assert scores(scheduler(template()).evaluate(TWO_ZONES).rows, "TaintToleration") == [100, 100]


def test_node_selector_needs_every_pair() -> None:
    pod = template(node_selector=((ZONE, "a"), ("disk", "ssd")))
    nodes = [
        info(node("n1", "a")),
        info(node("n2", "a", {"disk": "ssd"})),
        info(node("n3", "b", {"disk": "ssd"})),
    ]
    rows = scheduler(pod).evaluate(nodes).rows

    assert refusals(rows) == ["NodeAffinity", "", "NodeAffinity"]
    assert rows[0].reason == "node(s) didn't match Pod's node affinity/selector"
    assert rows[0].unresolvable


def test_required_terms_are_alternatives() -> None:
    pod = template(required_terms=(in_zone("a"), in_zone("b")))
    nodes = [*TWO_ZONES, info(node("n3", "c"))]

    assert refusals(scheduler(pod).evaluate(nodes).rows) == ["", "", "NodeAffinity"]


@pytest.mark.parametrize("terms", [(), (NodeTerm(),)])
def test_no_terms_and_empty_terms_match_no_node(terms: tuple[NodeTerm, ...]) -> None:
    rows = scheduler(template(required_terms=terms)).evaluate(TWO_ZONES).rows

    assert refusals(rows) == ["NodeAffinity", "NodeAffinity"]


def test_node_selector_and_required_affinity_must_both_match() -> None:
    pod = template(node_selector=(("disk", "ssd"),), required_terms=(in_zone("a"),))
    nodes = [
        info(node("n1", "a")),
        info(node("n2", "b", {"disk": "ssd"})),
        info(node("n3", "a", {"disk": "ssd"})),
    ]

    assert scheduler(pod).choose(nodes) == (2,)


def test_added_affinity_of_the_profile_is_judged_first() -> None:
    profile = SchedulerProfile(added_affinity=(in_zone("a"),))
    pod = template(node_selector=((ZONE, "c"),))
    rows = scheduler(pod, profile=profile).evaluate(TWO_ZONES).rows

    assert rows[0].reason == "node(s) didn't match Pod's node affinity/selector"
    assert rows[1].reason == "node(s) didn't match scheduler-enforced node affinity"


def test_terms_that_all_pin_names_narrow_the_nodes_before_any_filter() -> None:
    pod = template(required_terms=(NodeTerm(fields=(named("n2"),)),))
    rows = scheduler(pod).evaluate([info(node("n1"), cordoned=True), info(node("n2"))]).rows

    assert refusals(rows) == ["NodeAffinity", ""]
    assert rows[0].reason == "node(s) didn't satisfy plugin(s) [NodeAffinity]"


def test_fields_of_other_operators_do_not_pin() -> None:
    pod = template(required_terms=(NodeTerm(fields=(Requirement("metadata.name", "NotIn", ("n1",)),)),))
    rows = scheduler(pod).evaluate([info(node("n1")), info(node("n2"))]).rows

    assert [row.reason for row in rows] == ["node(s) didn't match Pod's node affinity/selector", ""]


def test_one_term_without_a_name_stops_the_narrowing() -> None:
    pod = template(required_terms=(NodeTerm(fields=(named("n2"),)), in_zone("z")))
    rows = scheduler(pod).evaluate([info(node("n1"), cordoned=True)]).rows

    assert refusals(rows) == ["NodeUnschedulable"]


def test_contradicting_names_refuse_every_node() -> None:
    pod = template(required_terms=(NodeTerm(fields=(named("n1"), named("n2"))),))
    rows = scheduler(pod).evaluate(TWO_ZONES).rows

    assert {row.reason for row in rows} == {"pod affinity terms conflict"}


def test_preferred_weights_add_up_and_the_best_node_scores_100() -> None:
    ssd = NodeTerm(expressions=(Requirement("disk", "In", ("ssd",)),))
    pod = template(preferred_terms=(PreferredTerm(60, in_zone("a")), PreferredTerm(25, ssd)))
    nodes = [
        info(node("n1", "a", {"disk": "ssd"})),
        info(node("n2", "a")),
        info(node("n3", "b", {"disk": "ssd"})),
    ]
    rows = scheduler(pod, profile=only("NodeAffinity")).evaluate(nodes).rows

    assert scores(rows, "NodeAffinity") == [100, 70, 29]  # 85, 60, 25: 6000 // 85 and 2500 // 85
    assert [row.total for row in rows] == [200, 140, 58]


def test_preferred_terms_that_match_nowhere_score_0() -> None:
    pod = template(preferred_terms=(PreferredTerm(1, in_zone("z")), PreferredTerm(5, NodeTerm())))

    assert scores(scheduler(pod).evaluate(TWO_ZONES).rows, "NodeAffinity") == [0, 0]


def test_node_affinity_does_not_score_without_preferred_terms() -> None:
    pod = template(required_terms=(in_zone("a", "b"),))

    assert scores(scheduler(pod).evaluate(TWO_ZONES).rows, "NodeAffinity") == [None, None]
