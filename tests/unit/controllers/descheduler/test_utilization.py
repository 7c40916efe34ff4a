"""LowNodeUtilization and HighNodeUtilization by requests."""

from dataclasses import replace

import pytest

from kubeproof.cluster.labels import Taint, Toleration
from kubeproof.cluster.objects import Container
from kubeproof.controllers.descheduler import NodeLoss
from tests.unit.controllers.descheduler.clusters import (
    GIB,
    NEWEST,
    OLD,
    entry,
    losses,
    node,
    pods,
    policy,
    run,
    told,
    web,
)

LOW, HIGH = "LowNodeUtilization", "HighNodeUtilization"
BOTH = [OLD, (0, 32), (0, 33), NEWEST]
TEN = {"cpu": 10_000, "memory": 100 * GIB}
SMALL = web(cpu=1000, memory=GIB)  # a tenth of the node's cpu


def low(under=20, over=50, limits=None, evictor=None, **more):
    arguments = {"thresholds": {"cpu": under}, "targetThresholds": {"cpu": over}, **more}
    return policy(LOW, limits=limits, evictor=evictor, **{LOW: arguments})


def high(threshold=20, **more):
    return policy(HIGH, **{HIGH: {"thresholds": {"cpu": threshold}, **more}})


def on(name, number, workload=0, **more):
    return entry(node(name, **TEN), *([pods(number, workload)] if number else []), **more)


@pytest.mark.parametrize("version", BOTH)
def test_the_full_node_is_relieved_down_to_the_target(version):
    assert losses(run([SMALL], low(), on("a", 8), on("b", 1), version=version)) == [{0: 3}]


@pytest.mark.parametrize("version", BOTH)
def test_the_budget_is_what_underutilized_nodes_lack_of_the_target(version):
    # the free node may take 3 of its 5; the last pod may overdraw nothing as it is exactly spent
    assert losses(run([SMALL], low(), on("a", 10), on("b", 2), version=version)) == [{0: 3}]


@pytest.mark.parametrize("version", BOTH)
def test_nothing_happens_without_both_kinds_of_nodes(version):
    def lost(*nodes, **arguments):
        return losses(run([SMALL], low(**arguments), *nodes, version=version))

    assert lost(on("a", 8), on("b", 3)) == [{}]  # nobody is underutilized
    assert lost(on("a", 5), on("b", 1)) == [{}]  # nobody is overutilized
    assert lost(on("a", 1), on("b", 1)) == [{}]  # all are underutilized
    assert lost(on("a", 8), on("b", 1), numberOfNodes=1) == [{}]
    assert lost(on("a", 8), on("b", 1, unschedulable=True)) == [{}]


@pytest.mark.parametrize("version", BOTH)
def test_of_two_full_nodes_the_fuller_gives_first(version):
    nodes = (on("a", 8), on("b", 7), on("c", 2))

    assert losses(run([SMALL], low(), *nodes, version=version)) == [{0: 3}]


def test_equally_full_nodes_give_in_any_order():
    nodes = (on("a", 8), on("b", 8), on("c", 2))

    assert losses(run([SMALL], low(), *nodes)) == [{0: 3}, {1: 3}]


def test_equal_nodes_of_one_entry_are_one_outcome():
    nodes = (on("a", 8, count=2), on("c", 1))

    assert run([SMALL], low(), *nodes) == ((NodeLoss(0, ((0, 1),)), NodeLoss(0, ((0, 3),))),)


def test_best_effort_pods_go_first_and_do_not_relieve_cpu():
    best_effort = web(1, cpu=None, memory=None)
    nodes = (entry(node("a", **TEN), pods(6, 0), pods(2, 1)), on("b", 0))

    assert run([SMALL, best_effort], low(), *nodes) == ((NodeLoss(0, ((0, 1), (1, 2))),),)


def test_a_pod_must_tolerate_all_taints_of_some_destination_whatever_their_effect():
    target = on("b", 1, taints=(Taint("k", effect="PreferNoSchedule"),))
    tolerant = web(cpu=1000, memory=GIB, tolerations=(Toleration("k", "Exists"),))

    assert losses(run([SMALL], low(), on("a", 8), target)) == [{}]
    assert losses(run([tolerant], low(), on("a", 8), target)) == [{0: 3}]


def test_one_toleration_for_two_taints_is_too_few_even_if_it_covers_both():
    target = on("b", 1, taints=(Taint("k"), Taint("l")))
    tolerant = web(cpu=1000, memory=GIB, tolerations=(Toleration(operator="Exists"),))

    assert losses(run([tolerant], low(), on("a", 8), target)) == [{}]


@pytest.mark.parametrize("version", BOTH)
def test_deviation_thresholds_are_around_the_average(version):
    # average 40 %: below 30 % and above 50 %
    nodes = (on("a", 8), on("b", 3), on("c", 1))

    assert losses(run([SMALL], low(10, 10, useDeviationThresholds=True), *nodes, version=version)) == [{0: 3}]


def test_another_resource_over_its_capacity_counts_up_to_0_32_only():
    crowded = entry(node("b", cpu=10_000, memory=GIB // 2), pods(1))
    nodes = (on("a", 8), crowded)

    assert losses(run([SMALL], low(), *nodes, version=(0, 32))) == [{}]
    assert losses(run([SMALL], low(), *nodes, version=(0, 33))) == [{}]  # underutilized, but no memory to give
    lines = told([SMALL], low(), *nodes, version=(0, 33))
    assert lines[1].startswith("LowNodeUtilization: node b is underutilized: cpu 10 %, memory 200 %")
    assert (
        told([SMALL], low(), *nodes, version=(0, 32))[-1]
        == "LowNodeUtilization: nothing to do: no node is underutilized"
    )


def test_the_plugins_own_limit_per_node_since_0_33():
    one = low(evictionLimits={"node": 1})

    assert losses(run([SMALL], one, on("a", 8), on("b", 1), version=(0, 32))) == [{0: 3}]
    assert losses(run([SMALL], one, on("a", 8), on("b", 1), version=(0, 33))) == [{0: 1}]


def test_limits_of_the_policy_stop_it():
    nodes = (on("a", 8), on("b", 1))

    assert losses(run([SMALL], low(limits={"max_per_node": 2}), *nodes)) == [{0: 2}]
    assert losses(run([SMALL], low(limits={"max_total": 1}), *nodes)) == [{0: 1}]
    assert losses(run([SMALL], low(limits={"max_per_namespace": 1}), *nodes)) == [{0: 1}]


def test_a_namespace_at_its_limit_lets_others_go_on():
    other = web(1, cpu=1000, memory=GIB, namespace="other")
    nodes = (entry(node("a", **TEN), pods(4, 0), pods(4, 1)), on("b", 1))

    outcomes = run([SMALL, other], low(limits={"max_per_namespace": 2}), *nodes)

    assert [outcome[0].losses for outcome in outcomes] == [((0, 1), (1, 2)), ((0, 2), (1, 1))]


def test_excluded_namespaces_count_but_stay():
    chosen = low(evictableNamespaces={"exclude": ["shop"]})

    assert losses(run([SMALL], chosen, on("a", 8), on("b", 1))) == [{}]


def test_low_utilization_with_node_fit():
    nodes = (on("a", 8), entry(node("b", pods=1, **TEN), pods(1)))

    assert losses(run([SMALL], low(evictor={"nodeFit": True}), *nodes)) == [{}]


def test_usage_counts_terminating_but_not_failed_pods():
    busy = entry(node("a", **TEN), pods(4), pods(2, terminating=True), pods(9, failed=True))

    assert losses(run([SMALL], low(), busy, on("b", 1))) == [{0: 1}]


@pytest.mark.parametrize("version", BOTH)
def test_high_utilization_empties_the_emptiest_nodes(version):
    assert losses(run([SMALL], high(), on("a", 2), on("b", 1), on("c", 5), version=version)) == [{0: 2, 1: 1}]


@pytest.mark.parametrize("version", BOTH)
def test_high_utilization_stops_when_the_destinations_are_full(version):
    assert losses(run([SMALL], high(), on("a", 2), on("b", 1), on("c", 8), version=version)) == [{0: 1, 1: 1}]


def test_high_utilization_has_nothing_to_do():
    assert losses(run([SMALL], high(), on("a", 5), on("b", 5))) == [{}]
    assert losses(run([SMALL], high(), on("a", 1), on("b", 1))) == [{}]
    assert losses(run([SMALL], high(), on("a", 1), on("b", 5, unschedulable=True))) == [{}]
    assert losses(run([SMALL], high(numberOfNodes=1), on("a", 1), on("b", 5))) == [{}]


def test_high_utilization_takes_cordoned_nodes_as_sources():
    assert losses(run([SMALL], high(), on("a", 1, unschedulable=True), on("b", 5))) == [{0: 1}]


def test_only_pods_that_request_a_thresholded_resource_go_in_that_mode():
    best_effort = web(1, cpu=None, memory=None)
    nodes = (entry(node("a", **TEN), pods(1, 0), pods(1, 1)), on("b", 5))
    restricted = high(evictionModes=["OnlyThresholdingResources"])

    assert losses(run([SMALL, best_effort], high(), *nodes)) == [{0: 2}]
    assert losses(run([SMALL, best_effort], restricted, *nodes)) == [{0: 1}]
    assert losses(run([SMALL, best_effort], restricted, *nodes, version=(0, 32))) == [{0: 2}]


def test_the_classes_of_nodes_are_told():
    nodes = (on("a", 1), on("b", 5), on("c", 5, unschedulable=True))

    assert told([SMALL], high(), *nodes) == (
        "HighNodeUtilization: node a is underutilized: cpu 10 %, memory 1 %, pods 0.9091 %",
        "HighNodeUtilization: node b is a destination: cpu 50 %, memory 5 %, pods 4.545 %",
        "HighNodeUtilization: node c is cordoned: cpu 50 %, memory 5 %, pods 4.545 %",
    )
    assert (
        told([SMALL], high(), on("b", 5), on("c", 5))[-1]
        == "HighNodeUtilization: nothing to do: no node is underutilized"
    )
    assert (
        told([SMALL], low(), *nodes)[1]
        == "LowNodeUtilization: node b is in between: cpu 50 %, memory 5 %, pods 4.545 %"
    )


def with_gpus(name, number, gpus):
    return entry(replace(node(name, **TEN), others=(("gpu", gpus),)), *([pods(number)] if number else []))


def deviating(resource, lower, upper):
    arguments = {"thresholds": {resource: lower}, "targetThresholds": {resource: upper}, "useDeviationThresholds": True}
    return policy(LOW, **{LOW: arguments})


GREEDY = replace(SMALL, template=replace(SMALL.template, containers=(Container("main", 1, 1, (("gpu", 1),)),)))


def test_up_to_0_32_a_node_that_lacks_the_resource_leaves_no_average_to_deviate_from():
    nodes = (with_gpus("a", 4, 4), with_gpus("b", 0, 4))

    assert losses(run([GREEDY], deviating("gpu", 10, 10), *nodes, version=(0, 32))) == [{0: 2}]
    assert losses(run([GREEDY], deviating("gpu", 10, 10), *nodes, on("c", 0), version=(0, 32))) == [{}]


def test_since_0_33_the_average_leaves_out_nodes_that_lack_the_resource():
    # 100, 50 and 0 percent: the average is 50, with the node that has no such resource it would be 37.5
    nodes = (with_gpus("a", 4, 4), with_gpus("b", 2, 4), with_gpus("c", 0, 4), on("d", 0))

    assert losses(run([GREEDY], deviating("gpu", 10, 5), *nodes, version=(0, 33))) == [{0: 2}]


def test_up_to_0_32_usage_of_what_a_node_lacks_makes_the_average_infinite():
    # every node within its capacity is then underutilized, and the one beyond it gives
    lacking = entry(node("c", **TEN), pods(1))
    nodes = (with_gpus("a", 4, 4), with_gpus("b", 0, 4), lacking)

    assert losses(run([GREEDY], deviating("gpu", 10, 10), *nodes, version=(0, 32))) == [{2: 1}]


@pytest.mark.parametrize(("version", "lost"), [((0, 34), 8), ((0, 35), 4), (NEWEST, 4)])
def test_an_evicted_pod_frees_overhead_of_a_resource_it_does_not_request_since_0_35_only(version, lost):
    idle = replace(SMALL.template, containers=(Container("main", memory_bytes=GIB),), overhead=(("cpu", 1000),))
    workload = replace(SMALL, template=idle)

    assert losses(run([workload], low(over=40), on("a", 8), on("b", 0), version=version)) == [{0: lost}]


def test_overhead_makes_no_pod_burstable():
    bare = replace(SMALL, template=replace(SMALL.template, containers=(Container("main"),), overhead=(("cpu", 1000),)))
    nodes = (entry(node("a", **TEN), pods(4), pods(4, 1)), on("b", 1))

    assert run([SMALL, bare], low(over=70), *nodes) == ((NodeLoss(0, ((1, 1),)),),)


def test_overhead_is_no_request_of_a_thresholded_resource():
    idle = replace(SMALL.template, containers=(Container("main", memory_bytes=GIB),), overhead=(("cpu", 1000),))
    only = high(30, evictionModes=["OnlyThresholdingResources"])

    assert losses(run([replace(SMALL, template=idle)], only, on("a", 2), on("b", 5))) == [{}]
