from __future__ import annotations

import pytest

from kubeproof.cluster.kinds import JOB, POD, REPLICA_SET
from kubeproof.cluster.labels import LabelSelector, Taint, Toleration
from kubeproof.cluster.objects import HOSTNAME, ZONE, SchedulerProfile
from kubeproof.cluster.services import Service
from tests.unit.controllers.scheduler.builders import (
    hard,
    info,
    node,
    refusals,
    scheduler,
    template,
    workload,
)

SPREAD = "PodTopologySpread"
THREE_ZONES = [info(node("n1", "a"), (0, 3)), info(node("n2", "b"), (0, 1)), info(node("n3", "c"), (0, 1))]


def test_example_4_crowded_zone_is_refused() -> None:
    rows = scheduler(template(spread=(hard(ZONE),))).evaluate(THREE_ZONES).rows

    assert refusals(rows) == [SPREAD, "", ""]
    assert rows[0].reason == "node(s) didn't match pod topology spread constraints"
    assert not rows[0].unresolvable


def test_example_4_with_too_few_domains_the_minimum_is_0() -> None:
    pod = template(spread=(hard(ZONE, min_domains=4),))

    assert refusals(scheduler(pod).evaluate(THREE_ZONES).rows) == [SPREAD, SPREAD, SPREAD]


def test_min_domains_is_off_in_1_26() -> None:
    pod = template(spread=(hard(ZONE, min_domains=4),))

    assert refusals(scheduler(pod, version=(1, 26)).evaluate(THREE_ZONES).rows) == [SPREAD, "", ""]


def test_example_15_two_constraints_jointly_unsatisfiable() -> None:
    pod = template(spread=(hard(ZONE), hard(HOSTNAME)))
    nodes = [info(node("n1", "A"), (0, 2)), info(node("n2", "A"), (0, 1)), info(node("n3", "B"), (0, 2))]

    assert refusals(scheduler(pod).evaluate(nodes).rows) == [SPREAD, SPREAD, SPREAD]
    for alone, feasible in ((ZONE, (2,)), (HOSTNAME, (1,))):
        assert scheduler(template(spread=(hard(alone),))).choose(nodes) == feasible


def test_groups_of_a_shared_domain_add_up() -> None:
    pod = template(spread=(hard(ZONE),))
    nodes = [info(node("n1", "a"), (0, 1), count=3), info(node("n4", "b"), (0, 2))]

    assert refusals(scheduler(pod).evaluate(nodes).rows) == [SPREAD, ""]  # 3 + 1 - 2 and 2 + 1 - 2


def test_every_node_of_a_group_is_its_own_domain_of_a_unique_key() -> None:
    pod = template(spread=(hard(HOSTNAME, min_domains=4),))
    nodes = [info(node("n1"), (0, 1), count=3), info(node("n4"), (0, 2))]

    assert refusals(scheduler(pod).evaluate(nodes).rows) == ["", SPREAD]
    assert scheduler(template(spread=(hard(HOSTNAME, min_domains=5),))).choose(nodes) == ()


def test_node_without_the_key_is_unusable_and_uncounted() -> None:
    pod = template(spread=(hard(ZONE),))
    rows = scheduler(pod).evaluate([info(node("n1")), info(node("n2", "a"), (0, 5))]).rows

    assert refusals(rows) == [SPREAD, ""]
    assert rows[0].reason == "node(s) didn't match pod topology spread constraints (missing required label)"
    assert rows[0].unresolvable


def test_node_that_lacks_one_key_is_counted_for_no_constraint() -> None:
    pod = template(spread=(hard(HOSTNAME), hard(ZONE)))
    nodes = [info(node("n1")), info(node("n2", "a"), (0, 3)), info(node("n3", "a"), (0, 4))]

    # n1 is empty but has no zone, so the emptiest counted node has 3 pods.
    assert refusals(scheduler(pod).evaluate(nodes).rows) == [SPREAD, "", SPREAD]


def test_pods_of_a_node_that_lacks_a_key_do_not_skew_it() -> None:
    nodes = [info(node("n1"), (0, 3)), info(node("n2", "a"))]
    rows = scheduler(template(spread=(hard(HOSTNAME), hard(ZONE)))).evaluate(nodes).rows

    assert rows[0].reason.endswith("(missing required label)")  # not skew, although hostname comes first


def test_first_violated_constraint_gives_the_reason() -> None:
    others = [info(node("n2", "a"), (0, 1)), info(node("n3", "b"))]
    nodes = [info(node("n1", labels={"rack": "r"})), *others]
    rows = scheduler(template(spread=(hard(ZONE), hard("rack")))).evaluate(nodes).rows

    assert [row.unresolvable for row in rows] == [True, True, True]
    assert refusals(rows) == [SPREAD, SPREAD, SPREAD]


@pytest.mark.parametrize("full", ["cordoned", "full", "tainted"])
def test_unusable_empty_zone_blocks_the_others(full: str) -> None:
    pod = template(spread=(hard(ZONE),))
    empty = {
        "cordoned": info(node("n1", "a"), cordoned=True),
        "full": info(node("n1", "a", pods=0)),
        "tainted": info(node("n1", "a", taints=(Taint("x"),))),
    }[full]

    assert scheduler(pod).choose([empty, info(node("n2", "b"), (0, 1))]) == ()


def test_tainted_nodes_are_left_out_if_the_constraint_honors_taints() -> None:
    pod = template(spread=(hard(ZONE, honor_taints=True),))
    nodes = [info(node("n1", "a", taints=(Taint("x"),))), info(node("n2", "b"), (0, 1))]

    assert scheduler(pod).choose(nodes) == (1,)


def test_cordon_without_its_taint_is_not_consulted_when_honoring_taints() -> None:
    pod = template(spread=(hard(ZONE, honor_taints=True),))

    assert scheduler(pod).choose([info(node("n1", "a"), cordoned=True), info(node("n2", "b"), (0, 1))]) == ()


def test_tolerated_and_preferring_taints_do_not_exclude_a_node() -> None:
    pod = template(spread=(hard(ZONE, honor_taints=True),), tolerations=(Toleration("x", "Exists"),))
    tainted = node("n1", "a", taints=(Taint("x"), Taint("y", "", "PreferNoSchedule")))

    assert scheduler(pod).choose([info(tainted), info(node("n2", "b"), (0, 1))]) == (0,)


@pytest.mark.parametrize(("honor", "chosen"), [(True, (1,)), (False, ())])
def test_nodes_outside_the_pods_affinity_count_only_if_affinity_is_ignored(
    honor: bool, chosen: tuple[int, ...]
) -> None:
    pod = template(spread=(hard(ZONE, honor_affinity=honor),), node_selector=((ZONE, "b"),))

    assert scheduler(pod).choose([info(node("n1", "a")), info(node("n2", "b"), (0, 1))]) == chosen


@pytest.mark.parametrize(("version", "chosen"), [((1, 26), (0,)), ((1, 27), ())])
def test_without_any_counted_domain_1_26_passes(version: tuple[int, int], chosen: tuple[int, ...]) -> None:
    # The scheduler's taint filter is off, so that an uncounted node reaches the spread filter.
    profile = SchedulerProfile(disabled=frozenset({"TaintToleration"}))
    pod = template(spread=(hard(ZONE, skew=1, honor_taints=True),))
    uncounted = info(node("n1", "a", taints=(Taint("x"),)), (0, 9))

    assert scheduler(pod, version=version, profile=profile).choose([uncounted]) == (0,)
    skewless = template(spread=(hard(ZONE, skew=0, honor_taints=True),))  # not valid, shows the minimum
    assert scheduler(skewless, version=version, profile=profile).choose([uncounted]) == chosen


def test_pods_that_do_not_match_their_own_selector_only_look_at_others() -> None:
    pod = template(labels=(("app", "batch"),), spread=(hard(ZONE),))
    web = workload(template(), name="other")
    nodes = [info(node("n1", "a"), (0, 5), (1, 1)), info(node("n2", "b"), (0, 1))]

    assert refusals(scheduler(pod, web).evaluate(nodes).rows) == ["", ""]  # 1 + 0 - 0 and 0 + 0 - 0


def test_terminating_pods_and_pods_of_other_namespaces_are_not_counted() -> None:
    pod = template(spread=(hard(ZONE),))
    elsewhere = workload(template(), namespace="other")
    nodes = [info(node("n1", "a"), (0, 1, 5), (1, 7)), info(node("n2", "b"), (0, 1))]

    assert refusals(scheduler(pod, elsewhere).evaluate(nodes).rows) == ["", ""]


def test_pods_of_other_workloads_count_if_they_match() -> None:
    pod = template(spread=(hard(ZONE),))
    nodes = [info(node("n1", "a"), (0, 1), (1, 1)), info(node("n2", "b"))]

    assert scheduler(pod, workload(template(), POD, name="other")).choose(nodes) == (1,)


@pytest.mark.parametrize(("version", "chosen"), [((1, 26), (1,)), ((1, 27), (0, 1))])
def test_empty_selector_counts_nothing_since_1_27(version: tuple[int, int], chosen: tuple[int, ...]) -> None:
    pod = template(spread=(hard(ZONE, selector=LabelSelector()),))
    nodes = [info(node("n1", "a"), (0, 1)), info(node("n2", "b"), (1, 0))]
    other = workload(template(labels=()), name="other")
    profile = SchedulerProfile(disabled_score=frozenset({"NodeResourcesFit", "NodeResourcesBalancedAllocation"}))

    assert scheduler(pod, other, version=version, profile=profile).choose(nodes) == chosen


def test_empty_selector_still_matches_the_pod_itself() -> None:
    pod = template(spread=(hard(ZONE, skew=0, selector=LabelSelector()),))  # skew 0 is not valid, shows the 1

    assert scheduler(pod).choose([info(node("n1", "a"))]) == ()


def test_missing_selector_matches_nothing() -> None:
    pod = template(spread=(hard(ZONE, skew=0, selector=None),))

    assert scheduler(pod).choose([info(node("n1", "a"), (0, 5)), info(node("n2", "b"))]) == (0, 1)


@pytest.mark.parametrize(("version", "chosen"), [((1, 26), (1,)), ((1, 27), (0, 1))])
def test_match_label_keys_tell_revisions_apart_since_1_27(version: tuple[int, int], chosen: tuple[int, ...]) -> None:
    pod = template(spread=(hard(ZONE, match_label_keys=("pod-template-hash", "absent")),))
    older = workload(template(), name="older")
    nodes = [info(node("n1", "a"), (1, 1)), info(node("n2", "b"))]

    assert scheduler(pod, older, version=version).choose(nodes) == chosen


def test_match_label_keys_use_the_pods_own_value() -> None:
    blue = template(labels=(("app", "web"), ("track", "blue")), spread=(hard(ZONE, match_label_keys=("track",)),))
    green = workload(template(labels=(("app", "web"), ("track", "green"))), name="green")
    nodes = [info(node("n1", "a"), (0, 1), (1, 1)), info(node("n2", "b"), (1, 5))]

    assert scheduler(blue, green).choose(nodes) == (1,)


def test_hard_default_constraints_of_the_profile_filter() -> None:
    profile = SchedulerProfile(default_spread=(hard(ZONE, selector=None),))
    nodes = [info(node("n1", "a"), (0, 1)), info(node("n2", "b")), info(node("n3"))]

    assert refusals(scheduler(template(), profile=profile).evaluate(nodes).rows) == [SPREAD, "", SPREAD]


def test_own_constraints_replace_the_defaults() -> None:
    profile = SchedulerProfile(default_spread=(hard(ZONE, selector=None),))
    pod = template(spread=(hard(HOSTNAME, skew=9),))
    nodes = [info(node("n1", "a"), (0, 1)), info(node("n2", "b"))]

    assert refusals(scheduler(pod, profile=profile).evaluate(nodes).rows) == ["", ""]


def test_replica_set_defaults_count_all_pods_that_its_selector_matches() -> None:
    profile = SchedulerProfile(default_spread=(hard(ZONE, selector=None),))
    bare = workload(template(), REPLICA_SET)
    nodes = [info(node("n1", "a"), (1, 1)), info(node("n2", "b"))]

    assert scheduler(bare, workload(template(), POD, name="other"), profile=profile).choose(nodes) == (1,)


def test_bare_pods_have_no_default_constraints() -> None:
    profile = SchedulerProfile(default_spread=(hard(ZONE, selector=None),))
    nodes = [info(node("n1", "a"), (0, 1)), info(node("n2", "b"))]

    assert refusals(scheduler(workload(template(), POD), profile=profile).evaluate(nodes).rows) == ["", ""]


def test_pods_of_a_service_have_default_constraints_over_all_that_it_selects() -> None:
    profile = SchedulerProfile(default_spread=(hard(ZONE, selector=None),))
    service = Service("shop", "front", (("app", "web"),))
    nodes = [info(node("n1", "a"), (1, 1)), info(node("n2", "b"))]
    for kind in (POD, JOB):
        pods = (workload(template(), kind), workload(template(), name="other"))

        assert refusals(scheduler(*pods, profile=profile).evaluate(nodes).rows) == ["", ""]
        assert refusals(scheduler(*pods, profile=profile, services=(service,)).evaluate(nodes).rows) == [SPREAD, ""]


def test_what_default_constraints_count_matches_the_owner_and_every_service() -> None:
    profile = SchedulerProfile(default_spread=(hard(ZONE, selector=None),))
    blue, green = (template(labels=(("app", "web"), ("track", track))) for track in ("blue", "green"))
    pods = (workload(blue, REPLICA_SET), workload(green, POD, name="green"))
    nodes = [info(node("n1", "a"), (1, 1)), info(node("n2", "b"))]

    assert scheduler(*pods, profile=profile).choose(nodes) == (1,)
    service = Service("shop", "front", (("track", "blue"),))
    assert refusals(scheduler(*pods, profile=profile, services=(service,)).evaluate(nodes).rows) == ["", ""]
    elsewhere = Service("lab", "front", (("track", "blue"),))
    assert scheduler(*pods, profile=profile, services=(elsewhere,)).choose(nodes) == (1,)
