"""RemoveDuplicates: the upper average, target nodes that ignore resources, nodeFit."""

import pytest

from kubeproof.cluster.labels import Taint, Toleration
from kubeproof.controllers.descheduler import NodeLoss
from tests.unit.controllers.descheduler.clusters import (
    DUPLICATES,
    GIB,
    VERSIONS,
    entry,
    losses,
    node,
    pods,
    policy,
    run,
    told,
    web,
)

OTHER_LOAD = web(1, cpu=52_000, memory=52 * GIB)
NODE_FIT = {"nodeFit": True}


def c5(on_empty_node=3):
    """Case C5: two nodes with room for one pod of ours each, and one empty node that takes the others."""
    return (
        entry(node("busy"), pods(1), pods(1, 1), count=2),
        entry(node("empty"), pods(on_empty_node)),
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_ten_pods_on_five_nodes_leave_two_per_node(version):
    nodes = (entry(node("a"), pods(3)), entry(node("b"), pods(2), count=3), entry(node("c"), pods(1)))

    assert run([web()], policy(DUPLICATES), *nodes, version=version) == ((NodeLoss(0, ((0, 1),)),),)


@pytest.mark.parametrize("version", VERSIONS)
def test_c5_evicts_although_the_other_nodes_are_full(version):
    assert losses(run([web(), OTHER_LOAD], policy(DUPLICATES), *c5(), version=version)) == [{1: 1}]


@pytest.mark.parametrize("version", VERSIONS)
def test_c5_with_node_fit_evicts_nothing(version):
    fitting = policy(DUPLICATES, evictor=NODE_FIT)

    assert run([web(), OTHER_LOAD], fitting, *c5(), version=version) == ((),)


def test_c5_tells_the_average_and_the_full_targets():
    assert told([web(), OTHER_LOAD], policy(DUPLICATES), *c5()) == (
        "RemoveDuplicates: Deployment/shop/web0 has 5 pods for 3 target nodes, upper average ceil(5 / 3) = 2",
        "RemoveDuplicates: node empty has 3, evicts 1",
        "RemoveDuplicates: node busy counts as a target although it is full: "
        "targets are chosen by taints and labels, without resources (upstream issue 1237)",
    )


def test_c5_safe_variant_spreads_and_stays():
    nodes = (entry(node("busy"), pods(2), count=2), entry(node("empty"), pods(1)))

    assert run([web()], policy(DUPLICATES), *nodes) == ((),)


def test_the_smallest_loop_has_two_pods_on_one_of_two_nodes():
    nodes = (entry(node("full"), pods(1, 1)), entry(node("empty"), pods(2)))
    workloads = [web(), web(1, cpu=60_000, memory=60 * GIB)]

    assert losses(run(workloads, policy(DUPLICATES), *nodes)) == [{1: 1}]


def test_node_fit_takes_pods_that_fit_nowhere_else_out_of_the_count():
    nodes = (
        entry(node("roomy", cpu=100_000, memory=100 * GIB), pods(4)),
        entry(node("slim", cpu=16_000, memory=16 * GIB), pods(2)),
    )

    # without nodeFit 6 pods on 2 targets: 3 each; with it the 4 of `roomy` do not fit `slim` and do not count
    assert losses(run([web()], policy(DUPLICATES), *nodes)) == [{0: 1}]
    assert losses(run([web()], policy(DUPLICATES, evictor=NODE_FIT), *nodes)) == [{1: 1}]


def test_one_free_slot_lets_all_duplicates_pass_node_fit():
    nodes = (entry(node("a"), pods(5)), entry(node("b", cpu=8000, memory=8 * GIB)))

    assert losses(run([web()], policy(DUPLICATES, evictor=NODE_FIT), *nodes)) == [{0: 2}]


def test_tainted_nodes_are_no_targets_unless_tolerated():
    nodes = (
        entry(node("a"), pods(3)),
        entry(node("b"), pods(1)),
        entry(node("c"), count=2, taints=(Taint("dedicated"),)),
    )
    tolerant = web(tolerations=(Toleration("dedicated", "Exists"),))

    assert losses(run([web()], policy(DUPLICATES), *nodes)) == [{0: 1}]
    assert losses(run([tolerant], policy(DUPLICATES), *nodes)) == [{0: 2}]


def test_prefer_no_schedule_and_cordon_do_not_keep_a_node_from_being_a_target():
    nodes = (
        entry(node("a"), pods(2)),
        entry(node("b"), taints=(Taint("slow", effect="PreferNoSchedule"),), unschedulable=True),
    )

    assert losses(run([web()], policy(DUPLICATES), *nodes)) == [{0: 1}]


def test_a_single_target_node_ends_it():
    pinned = web(node_selector=(("pool", "web"),))
    nodes = (entry(node("a", pool="web"), pods(4)), entry(node("b", pool="db"), count=3))

    assert run([pinned], policy(DUPLICATES), *nodes) == ((),)


def test_owners_are_kept_apart():
    nodes = (entry(node("a"), pods(1, 0), pods(1, 1)), entry(node("b")))

    assert run([web(0), web(1)], policy(DUPLICATES), *nodes) == ((),)


def test_any_pod_may_be_the_one_that_is_kept():
    nodes = (entry(node("a"), pods(1, age=10), pods(1, age=20)), entry(node("b")))

    assert run([web()], policy(DUPLICATES), *nodes) == ((NodeLoss(0, ((0, 1),)),), (NodeLoss(0, ((1, 1),)),))


def test_bare_failed_and_terminating_pods_are_no_duplicates():
    nodes = (entry(node("a"), pods(1), pods(3, terminating=True), pods(3, failed=True), pods(4, 1)), entry(node("b")))

    assert run([web(), web(1, kind="Pod")], policy(DUPLICATES), *nodes) == ((),)


def test_owner_kinds_can_be_excluded():
    nodes = (entry(node("a"), pods(4)), entry(node("b")))

    def excluding(kind):
        return policy(DUPLICATES, **{DUPLICATES: {"excludeOwnerKinds": [kind]}})

    assert run([web()], excluding("ReplicaSet"), *nodes) == ((),)
    assert losses(run([web()], excluding("Deployment"), *nodes)) == [{0: 2}]
