"""A whole cycle: order of plugins, limits, evictions seen by later plugins, what is not modelled."""

from importlib import import_module

import pytest

from kubeproof.cluster.labels import Taint
from kubeproof.cluster.steering.policies import DeschedulerPolicy, DeschedulerProfile
from kubeproof.controllers.descheduler import NodeLoss, evictions_of, not_modelled
from kubeproof.controllers.descheduler.cycle import PACKAGE, PLUGINS
from kubeproof.errors import LimitReached
from tests.unit.controllers.descheduler.clusters import (
    DUPLICATES,
    NEWEST,
    OLD,
    SPREAD,
    VERSIONS,
    entry,
    losses,
    node,
    pods,
    policy,
    profile,
    run,
    spread,
    told,
    web,
)

TAINTS = "RemovePodsViolatingNodeTaints"
TAINTED = (Taint("down"),)


@pytest.mark.parametrize("version", VERSIONS)
def test_fewer_than_two_ready_nodes_end_the_cycle(version):
    nodes = (entry(node("a"), pods(3), taints=TAINTED), entry(node("b"), is_ready=False))

    assert run([web()], policy(TAINTS), *nodes, version=version) == ((),)
    assert told([web()], policy(TAINTS), *nodes, version=version) == (
        "descheduler: fewer than two ready nodes, nothing is done",
    )


def test_the_policys_node_selector_narrows_the_nodes():
    nodes = (entry(node("a", pool="x"), pods(1), taints=TAINTED, count=2), entry(node("b"), pods(1), taints=TAINTED))

    assert losses(run([web()], policy(TAINTS, selector="pool=x"), *nodes)) == [{0: 2}]
    assert losses(run([web()], policy(TAINTS, selector="pool!=x"), *nodes)) == [{}]


def test_evicted_pods_are_terminating_for_later_plugins():
    nodes = (entry(node("a"), pods(4), taints=TAINTED), entry(node("b"), pods(1)), entry(node("c")))

    assert losses(run([web()], policy(TAINTS, DUPLICATES), *nodes)) == [{0: 4}]


def test_profiles_run_one_after_the_other_up_to_0_27_and_by_extension_point_since():
    balance, deschedule = profile(DUPLICATES, name="first"), profile(TAINTS, name="second")
    both = DeschedulerPolicy((balance, deschedule), max_total=None, max_per_namespace=1)
    nodes = (entry(node("a"), pods(2)), entry(node("b"), pods(1), taints=TAINTED), entry(node("c"), pods(0)))

    assert losses(run([web()], both, *nodes, version=OLD)) == [{1: 1}]
    assert losses(run([web()], both, *nodes, version=NEWEST)) == [{1: 1}]
    # 3 pods on 2 targets stay 2 and 1; with a third pod on the full node the profiles compete
    crowded = (entry(node("a"), pods(3)), *nodes[1:])
    assert losses(run([web()], both, *crowded, version=OLD)) == [{0: 1}]
    assert losses(run([web()], both, *crowded, version=NEWEST)) == [{1: 1}]


def test_limits_per_node():
    nodes = (entry(node("a"), pods(3), taints=TAINTED, count=2), entry(node("b")))

    outcomes = run([web()], policy(TAINTS, limits={"max_per_node": 2}), *nodes)

    assert outcomes == ((NodeLoss(0, ((0, 2),)), NodeLoss(0, ((0, 2),))),)


def test_limits_per_namespace_leave_open_which_node_comes_first():
    nodes = (entry(node("a"), pods(2), taints=TAINTED), entry(node("b"), pods(2), taints=TAINTED), entry(node("c")))

    outcomes = run([web()], policy(TAINTS, limits={"max_per_namespace": 3}), *nodes)

    assert losses(outcomes) == [{0: 1, 1: 2}, {0: 2, 1: 1}]


def test_a_total_limit_exists_since_0_31_and_takes_node_by_node():
    nodes = (entry(node("a"), pods(2), taints=TAINTED), entry(node("b"), pods(2), taints=TAINTED), entry(node("c")))
    two = policy(TAINTS, limits={"max_total": 2})

    assert losses(run([web()], two, *nodes, version=(0, 30))) == [{0: 2, 1: 2}]
    assert losses(run([web()], two, *nodes, version=(0, 31))) == [{0: 2}, {1: 2}]


def test_the_spread_plugin_evicts_marked_pods_in_any_order():
    zones = (
        entry(node("a", zone="x"), pods(4)),
        entry(node("b", zone="y"), pods(4)),
        entry(node("c", zone="z")),
        entry(node("d", zone="w")),
    )
    chosen = [web(spread=(spread("zone"),))]

    assert losses(run(chosen, policy(SPREAD), *zones)) == [{0: 2, 1: 2}]
    limited = policy(SPREAD, limits={"max_total": 2})
    assert losses(run(chosen, limited, *zones)) == [{0: 1, 1: 1}, {0: 2}, {1: 2}]


def test_owners_come_in_any_order_under_a_total_limit():
    nodes = (entry(node("a"), pods(4, 0), pods(4, 1)), entry(node("b")))

    outcomes = run([web(0), web(1)], policy(DUPLICATES, limits={"max_total": 3}), *nodes)

    assert [outcome[0].losses for outcome in outcomes] == [((0, 1), (1, 2)), ((0, 2), (1, 1))]


def test_a_limit_on_one_namespace_does_not_hold_others_back():
    nodes = (entry(node("a"), pods(3, 0), pods(3, 1), taints=TAINTED), entry(node("b")))

    outcomes = run([web(0), web(1, namespace="other")], policy(TAINTS, limits={"max_per_namespace": 2}), *nodes)

    assert outcomes == ((NodeLoss(0, ((0, 2), (1, 2))),),)


def test_a_limit_that_is_not_reached_changes_nothing():
    nodes = (entry(node("a"), pods(3), taints=TAINTED), entry(node("b")))
    generous = policy(TAINTS, limits={"max_per_node": 3, "max_per_namespace": 3, "max_total": 3})

    assert run([web()], generous, *nodes) == run([web()], policy(TAINTS), *nodes)


def test_evictions_can_be_read_one_by_one():
    outcome = (NodeLoss(0, ((0, 2), (1, 1))), NodeLoss(3, ((0, 1),)))

    assert evictions_of(outcome) == ((0, 0, 2), (1, 0, 1), (0, 3, 1))


def test_too_many_outcomes_are_refused():
    ages = tuple(pods(2, age=age) for age in range(12))
    nodes = (entry(node("a", pods=300), *ages), entry(node("b", pods=300), *ages), entry(node("c")))

    with pytest.raises(LimitReached):
        run([web()], policy(DUPLICATES), *nodes)


def test_a_thousand_equal_nodes_are_one_entry():
    nodes = (entry(node("a"), pods(3), count=500), entry(node("b"), pods(1), count=500))

    outcomes = run([web(spread=(spread("kubernetes.io/hostname"),))], policy(SPREAD, DUPLICATES), *nodes)

    assert [len(outcome) for outcome in outcomes] == [500]


def test_unknown_plugins_and_arguments_are_listed():
    own = DeschedulerProfile(
        "p",
        enabled=(
            ("deschedule", (TAINTS, "RemoveFailedPods", "")),
            ("balance", (SPREAD, TAINTS)),
            ("filter", ("DefaultEvictor",)),
            ("sort", ("PrioritySort",)),
        ),
        arguments=(
            (
                "DefaultEvictor",
                (
                    ("ignorePvcPods", True),
                    ("nodeFit", True),
                    ("podProtections", (("extraEnabled", ("PodsWithPVC", "PodsWithResourceClaims")),)),
                    ("priorityThreshold", (("name", "high"),)),
                ),
            ),
            ("PodLifeTime", (("maxPodLifeTimeSeconds", 5), ("states", ("Pending", "CrashLoopBackOff")))),
            ("RemoveFailedPods", (("reasons", ("OutOfcpu",)),)),
            (TAINTS, (("excludedTaints", ("a",)), ("surprise", 1))),
        ),
    )

    assert not_modelled(DeschedulerPolicy((own,))) == (
        "argument DefaultEvictor.podProtections.PodsWithResourceClaims",
        "argument DefaultEvictor.priorityThreshold.name of a class that the input does not have",
        "argument PodLifeTime.states other than Running, Pending and Failed",
        "argument RemovePodsViolatingNodeTaints.surprise",
        "plugin (empty) at deschedule",
        "plugin PrioritySort at sort",
        "plugin RemoveFailedPods at deschedule",
        "plugin RemovePodsViolatingNodeTaints at balance",
    )


def test_a_plugin_that_is_not_modelled_does_nothing():
    nodes = (entry(node("a"), pods(3, failed=True)), entry(node("b")))

    assert run([web()], policy("RemoveFailedPods"), *nodes) == ((),)
    assert not_modelled(policy(TAINTS, SPREAD, DUPLICATES)) == ()


@pytest.mark.parametrize("name", PLUGINS)
def test_every_plugin_is_found_in_its_module_by_its_own_name(name):
    module = import_module(f"{PACKAGE}.{PLUGINS[name].module}")

    assert name == module.NAME
    assert (PLUGINS[name].build, PLUGINS[name].arguments) == (module.build, module.ARGUMENTS)
