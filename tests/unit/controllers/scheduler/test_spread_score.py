from __future__ import annotations

from kubeproof.cluster.kinds import POD
from kubeproof.cluster.labels import Taint
from kubeproof.cluster.objects import HOSTNAME, ZONE, SchedulerProfile
from kubeproof.controllers.scheduler.framework import NodeInfo, Scheduler
from kubeproof.controllers.scheduler.protocol import round_half_away
from tests.unit.controllers.scheduler.builders import (
    info,
    node,
    only,
    scheduler,
    scores,
    soft,
    template,
    workload,
)

SPREAD = "PodTopologySpread"


def spread_scores(decider: Scheduler, nodes: list[NodeInfo]) -> list[int | None]:
    return scores(decider.evaluate(nodes).rows, SPREAD)


def test_example_5_zone_counts_3_1_0_score_0_60_100() -> None:
    pod = template(spread=(soft(ZONE),))
    nodes = [info(node("n1", "a"), (0, 3)), info(node("n2", "b"), (0, 1)), info(node("n3", "c"))]
    evaluation = scheduler(pod, profile=only(SPREAD)).evaluate(nodes)

    assert scores(evaluation.rows, SPREAD) == [0, 60, 100]
    assert [row.total for row in evaluation.rows] == [0, 120, 200]
    assert evaluation.chosen == (2,)


def test_without_matching_pods_every_node_scores_100() -> None:
    pod = template(spread=(soft(ZONE),))

    assert spread_scores(scheduler(pod), [info(node("n1", "a")), info(node("n2", "b"))]) == [100, 100]


def test_larger_max_skew_waters_differences_down() -> None:
    pod = template(spread=(soft(HOSTNAME, skew=5),))
    nodes = [info(node("n1"), (0, 1)), info(node("n2"))]

    # ln 4 = 1.386: raw 5.386 and 4, rounded 5 and 4; 100 * (9 - 5) // 5 and 100 * (9 - 4) // 5
    assert spread_scores(scheduler(pod), nodes) == [80, 100]


def test_hostname_weight_grows_with_the_number_of_feasible_nodes_in_groups() -> None:
    pod = template(spread=(soft(HOSTNAME),))
    nodes = [info(node("n1"), (0, 3), count=5), info(node("n6"), (0, 1), count=13)]

    # ln 20 = 2.996: raw 8.987 and 2.996, rounded 9 and 3; 100 * (12 - 9) // 9 and 100 * (12 - 3) // 9
    assert spread_scores(scheduler(pod), nodes) == [33, 100]


def test_other_unique_keys_have_one_domain_per_node_and_respect_inclusion() -> None:
    pod = template(spread=(soft("rack", honor_taints=True),))
    unique = frozenset({HOSTNAME, "rack"})
    nodes = [
        info(node("n1", labels={"rack": "r1"}), (0, 3), count=5),
        info(node("n6", labels={"rack": "r6"}), (0, 1), count=13),
        info(node("n9", labels={"rack": "r9"}, taints=(Taint("x"),)), (0, 9)),
    ]

    assert spread_scores(scheduler(pod, unique_keys=unique), nodes) == [33, 100, None]


def test_two_constraints_add_up_before_rounding() -> None:
    pod = template(spread=(soft(ZONE), soft(HOSTNAME, skew=2)))
    nodes = [info(node("n1", "a"), (0, 2)), info(node("n2", "a")), info(node("n3", "b"), (0, 1))]

    # Zones: ln 4 = 1.386 a pod; hostnames: ln 5 = 1.609 a pod plus 1.
    # n1: 2.773 + 3.219 + 1 = 6.99 -> 7; n2: 2.773 + 1 = 3.77 -> 4; n3: 1.386 + 1.609 + 1 = 3.996 -> 4.
    assert spread_scores(scheduler(pod), nodes) == [57, 100, 100]


def test_pods_on_infeasible_nodes_of_a_known_zone_count() -> None:
    pod = template(spread=(soft(ZONE),))
    nodes = [
        info(node("n1", "a"), (0, 3), cordoned=True),
        info(node("n2", "a")),
        info(node("n3", "b"), (0, 1)),
    ]

    # ln 4 * 3 = 4.16 -> 4 and 1.386 -> 1
    assert spread_scores(scheduler(pod), nodes) == [None, 25, 100]


def test_zones_without_a_feasible_node_do_not_raise_the_weight() -> None:
    pod = template(spread=(soft(ZONE),))
    nodes = [
        info(node("n0", "z"), cordoned=True),
        info(node("n1", "a"), (0, 4)),
        info(node("n2", "b"), (0, 1)),
    ]

    # ln 4: 5.545 -> 6 and 1.386 -> 1; with three zones it would be ln 5: 6.44 -> 6 and 1.61 -> 2
    assert spread_scores(scheduler(pod), nodes) == [None, 16, 100]


def test_pods_on_nodes_outside_the_inclusion_policies_do_not_count_for_zones() -> None:
    tainted = info(node("n1", "a", taints=(Taint("x"),)), (0, 3))
    nodes = [tainted, info(node("n2", "a")), info(node("n3", "b"), (0, 1))]

    assert spread_scores(scheduler(template(spread=(soft(ZONE),))), nodes) == [None, 25, 100]
    honoring = template(spread=(soft(ZONE, honor_taints=True),))
    assert spread_scores(scheduler(honoring), nodes) == [None, 100, 0]


def test_hostname_counts_ignore_the_inclusion_policies() -> None:
    # Without the taint filter a tainted node is feasible; its own pods count although it is excluded.
    profile = SchedulerProfile(disabled=frozenset({"TaintToleration"}))
    pod = template(spread=(soft(HOSTNAME, honor_taints=True),))
    nodes = [info(node("n1", taints=(Taint("x"),)), (0, 2)), info(node("n2"))]

    assert spread_scores(scheduler(pod, profile=profile), nodes) == [0, 100]


def test_node_that_lacks_a_key_of_the_pods_constraints_scores_0_and_is_not_counted() -> None:
    pod = template(spread=(soft(HOSTNAME), soft(ZONE)))
    nodes = [info(node("n1")), info(node("n2", "a"), (0, 1)), info(node("n3", "b"), (0, 1))]

    # Two nodes count: ln 4 + ln 4 = 2.77 -> 3 on both.
    assert spread_scores(scheduler(pod), nodes) == [0, 100, 100]


def test_if_every_node_lacks_a_key_all_score_0() -> None:
    pod = template(spread=(soft("rack"),))

    assert spread_scores(scheduler(pod), [info(node("n1")), info(node("n2"))]) == [0, 0]


def test_ignored_nodes_score_0_while_empty_domains_score_100() -> None:
    pod = template(spread=(soft(ZONE),))

    assert spread_scores(scheduler(pod), [info(node("n1")), info(node("n2", "a"))]) == [0, 100]


def test_system_defaults_spread_over_hostnames_and_zones_softly() -> None:
    nodes = [info(node("n1", "a"), (0, 2)), info(node("n2", "a")), info(node("n3", "b"))]

    # Hostname ln 5 = 1.609 plus 2, zone ln 4 = 1.386 plus 4.
    # n1: 3.219 + 2.773 + 6 = 11.99 -> 12; n2: 2.773 + 6 = 8.77 -> 9; n3: 6.
    assert spread_scores(scheduler(template()), nodes) == [50, 75, 100]


def test_system_defaults_favour_nodes_without_a_zone() -> None:
    nodes = [info(node("n1", "a")), info(node("n2"))]

    # n1: 2 + 4 = 6; n2 has no zone term: 2. 100 * (8 - 6) // 6 and 100 * (8 - 2) // 6
    assert spread_scores(scheduler(template()), nodes) == [33, 100]


def test_under_system_defaults_a_missing_zone_is_one_more_domain() -> None:
    nodes = [info(node("n1", "a"), (0, 30)), info(node("n2", "b")), info(node("n3"))]

    # Both weights are ln 5: n1: 48.28 + 48.28 + 6 = 102.57 -> 103; n2: 6; n3: 2.
    assert spread_scores(scheduler(template()), nodes) == [1, 96, 100]


def test_pods_on_nodes_without_a_zone_count_for_an_empty_zone_value_under_system_defaults() -> None:
    nodes = [info(node("n1", ""), (0, 1)), info(node("n2"), (0, 4)), info(node("n3", "b"))]

    # Weights ln 5 and ln 4: n1: 1.609 + 2 + 5 * 1.386 + 4 = 14.54 -> 15; n2: 6.44 + 2 = 8.44 -> 8; n3: 6.
    assert spread_scores(scheduler(template()), nodes) == [40, 86, 100]


def test_a_unique_key_under_system_defaults_counts_missing_keys_as_one_domain() -> None:
    unique = frozenset({HOSTNAME, ZONE})
    nodes = [info(node("n1", "a"), (0, 3), count=5), info(node("n6"), count=2)]

    # Hostname ln 9 = 2.197, zone ln 8 = 2.079 (5 zones and the missing one):
    # n1: 6.592 + 2 + 6.238 + 4 = 18.83 -> 19; n6: 2.
    assert spread_scores(scheduler(template(), unique_keys=unique), nodes) == [10, 100]


def test_default_constraints_count_the_same_revision_only() -> None:
    nodes = [info(node("n1", "a"), (1, 3)), info(node("n2", "b"))]

    assert spread_scores(scheduler(template(), workload(template(), name="other")), nodes) == [100, 100]


def test_listed_defaults_ignore_nodes_that_lack_a_key() -> None:
    profile = SchedulerProfile(default_spread=(soft(ZONE, selector=None),))
    nodes = [info(node("n1")), info(node("n2", "a"), (0, 1)), info(node("n3", "b"))]

    assert spread_scores(scheduler(template(), profile=profile), nodes) == [0, 0, 100]


def test_empty_list_of_defaults_switches_them_off() -> None:
    profile = SchedulerProfile(default_spread=())
    nodes = [info(node("n1", "a"), (0, 3)), info(node("n2", "b"))]

    assert spread_scores(scheduler(template(), profile=profile), nodes) == [None, None]


def test_bare_pods_are_not_spread() -> None:
    nodes = [info(node("n1", "a"), (0, 3)), info(node("n2", "b"))]

    assert spread_scores(scheduler(workload(template(), POD)), nodes) == [None, None]


def test_rounding_is_half_away_from_zero() -> None:
    assert [round_half_away(x) for x in (0.49999999999999994, 0.5, 1.5, 2.5, 2.4)] == [0, 1, 2, 3, 2]
