"""DefaultEvictor: what may be evicted, by version."""

from dataclasses import replace

import pytest

from kubeproof.cluster.labels import Taint
from tests.unit.controllers.descheduler.clusters import (
    NEWEST,
    OLD,
    entry,
    losses,
    node,
    pods,
    policy,
    run,
    web,
)

TAINTS = "RemovePodsViolatingNodeTaints"
TAINTED = (Taint("down"),)


def lost(evictor, *groups, workloads=None, version=NEWEST, unbound=()):
    """Pods that a tainted node loses."""
    nodes = (entry(node("a"), *groups, taints=TAINTED), entry(node("b", pods=1)))
    chosen = policy(TAINTS, evictor=evictor)
    (result,) = losses(run(workloads or [web()], chosen, *nodes, version=version, unbound=unbound))
    return result.get(0, 0)


def test_pods_of_a_replica_set_may_go():
    assert lost({}, pods(3)) == 3


def test_terminating_pods_are_left_alone():
    assert lost({}, pods(3, terminating=True)) == 0


def test_readiness_does_not_matter():
    assert lost({}, pods(2, ready=False)) == 2


@pytest.mark.parametrize("version", [OLD, NEWEST])
def test_bare_pods_stay_unless_failed_and_allowed(version):
    bare = [web(kind="Pod")]
    restarts = policy("PodLifeTime", evictor={"evictFailedBarePods": True}, PodLifeTime={"maxPodLifeTimeSeconds": 1})
    nodes = (entry(node("a"), pods(1), pods(1, failed=True)), entry(node("b")))

    assert lost({}, pods(1), workloads=bare, version=version) == 0
    assert losses(run(bare, restarts, *nodes, version=version)) == [{0: 1}]


def test_daemon_set_pods_may_go_since_0_30_if_allowed():
    daemon = [web(kind="DaemonSet")]
    allowed = {"evictDaemonSetPods": True}

    assert lost({}, pods(1), workloads=daemon) == 0
    assert lost(allowed, pods(1), workloads=daemon, version=(0, 29)) == 0
    assert lost(allowed, pods(1), workloads=daemon, version=(0, 30)) == 1


def test_the_label_selector_must_match():
    assert lost({"labelSelector": {"matchLabels": {"app": "web0"}}}, pods(2)) == 2
    assert lost({"labelSelector": {"matchLabels": {"app": "db"}}}, pods(2)) == 0
    expression = {"key": "app", "operator": "NotIn", "values": ["web0"]}
    assert lost({"labelSelector": {"matchExpressions": [expression]}}, pods(2)) == 0


def test_priority_0_is_evicted_only_below_the_threshold():
    assert lost({"priorityThreshold": {"value": 1}}, pods(1)) == 1
    assert lost({"priorityThreshold": {"value": 0}}, pods(1)) == 0
    assert lost({"priorityThreshold": {"value": 0}, "evictSystemCriticalPods": True}, pods(1)) == 1


def ranked(priority):
    """A workload whose pods have a priority."""
    plain = web()
    return [replace(plain, template=replace(plain.template, priority=priority))]


def test_pods_at_the_threshold_or_above_stay():
    assert lost({"priorityThreshold": {"value": 100}}, pods(1), workloads=ranked(99)) == 1
    assert lost({"priorityThreshold": {"value": 100}}, pods(1), workloads=ranked(100)) == 0


def test_critical_pods_stay_without_any_threshold():
    assert lost({}, pods(1), workloads=ranked(1_999_999_999)) == 1
    assert lost({}, pods(1), workloads=ranked(2_000_000_000)) == 0
    assert lost({"evictSystemCriticalPods": True}, pods(1), workloads=ranked(2_000_000_000)) == 1


def test_the_threshold_may_be_that_of_a_system_class():
    assert lost({"priorityThreshold": {"name": "system-cluster-critical"}}, pods(1), workloads=ranked(10)) == 1


def test_newer_protections_replace_the_older_flags_since_0_34():
    both = {
        "priorityThreshold": {"value": 0},
        "evictSystemCriticalPods": True,
        "podProtections": {"defaultDisabled": ["PodsWithLocalStorage"]},
    }

    assert lost(both, pods(1), version=(0, 33)) == 1
    assert lost(both, pods(1), version=(0, 34)) == 0


@pytest.mark.parametrize("version", [OLD, NEWEST])
def test_pods_on_local_storage_stay_unless_allowed(version):
    local = [web(has_local_volumes=True)]

    assert lost({}, pods(1), workloads=local, version=version) == 0
    assert lost({"evictLocalStoragePods": True}, pods(1), workloads=local, version=version) == 1


def test_protections_name_pods_with_claims_and_pods_without_a_budget():
    claiming = [web(claims=("data",))]

    assert lost({}, pods(1), workloads=claiming) == 1
    assert lost({"ignorePvcPods": True}, pods(1), workloads=claiming) == 0
    assert lost({"podProtections": {"extraEnabled": ["PodsWithPVC"]}}, pods(1), workloads=claiming) == 0
    assert (
        lost({"podProtections": {"extraEnabled": ["PodsWithPVC"]}}, pods(1), workloads=claiming, version=(0, 33)) == 1
    )
    assert lost({"ignorePodsWithoutPDB": True}, pods(1), version=(0, 31)) == 1
    assert lost({"ignorePodsWithoutPDB": True}, pods(1), version=(0, 32)) == 0


@pytest.mark.parametrize("version", [OLD, NEWEST])
def test_an_annotation_overrules_every_protection(version):
    for chosen in ({}, {"labelSelector": {"matchLabels": {"app": "db"}}}, {"minReplicas": 9}):
        annotated = [web(kind="DaemonSet", has_local_volumes=True, always_evictable=True)]
        assert lost(chosen, pods(2), workloads=annotated, version=version) == 2
        assert lost(chosen, pods(2, terminating=True), workloads=annotated, version=version) == 0


def test_a_wish_to_stay_counts_where_the_policy_makes_it_a_law():
    staying = [web(prefers_to_stay=True)]

    assert lost({}, pods(1), workloads=staying) == 1
    assert lost({"noEvictionPolicy": "Preferred"}, pods(1), workloads=staying) == 1
    assert lost({"noEvictionPolicy": "Mandatory"}, pods(1), workloads=staying) == 0


def test_min_replicas_counts_all_pods_of_the_owner_since_0_30():
    three = {"minReplicas": 3}

    assert lost(three, pods(2), version=(0, 29)) == 2
    assert lost(three, pods(2), version=(0, 30)) == 0
    assert lost(three, pods(2), pods(1, terminating=True)) == 2
    assert lost(three, pods(2), unbound=((0, 1),)) == 2


def test_min_pod_age_counts_since_0_31():
    minute = {"minPodAge": "1m30s"}

    assert lost(minute, pods(1, age=89), version=(0, 30)) == 1
    assert lost(minute, pods(1, age=89), version=(0, 31)) == 0
    assert lost(minute, pods(1, age=90)) == 1
    assert lost(minute, pods(1, age=None)) == 0


def test_node_fit_asks_for_another_node():
    fit = {"nodeFit": True}
    small = node("b", pods=1)

    def after(other):
        nodes = (entry(node("a"), pods(2), taints=TAINTED), other)
        return losses(run([web()], policy(TAINTS, evictor=fit), *nodes))

    assert after(entry(small)) == [{0: 2}]
    assert after(entry(small, pods(1))) == [{}]
    assert after(entry(small, pods(1, failed=True))) == [{0: 2}]
    assert after(entry(small, pods(1, terminating=True))) == [{}]
    assert after(entry(node("b", cpu=7999))) == [{}]
    assert after(entry(node("b"), unschedulable=True)) == [{}]
    assert after(entry(node("b"), taints=(Taint("x", effect="NoExecute"),))) == [{}]
    assert after(entry(node("b"), taints=(Taint("x", effect="PreferNoSchedule"),))) == [{0: 2}]


def test_node_fit_looks_at_the_nodes_that_the_evictor_selects():
    nodes = (entry(node("a"), pods(1), taints=TAINTED), entry(node("b", pool="x")), entry(node("c")))

    def fit(selector):
        return losses(run([web()], policy(TAINTS, evictor={"nodeFit": True, "nodeSelector": selector}), *nodes))

    assert fit("pool=x") == [{0: 1}]
    assert fit("pool=y") == [{}]


def test_the_own_node_is_no_other_node_but_an_equal_one_is():
    tolerated = (Taint("soft", effect="PreferNoSchedule"),)
    chosen = policy(TAINTS, evictor={"nodeFit": True}, **{TAINTS: {"includePreferNoSchedule": True}})
    full = entry(node("b", pods=0))

    alone = run([web()], chosen, entry(node("a"), pods(1), taints=tolerated), full)
    pair = run([web()], chosen, entry(node("a"), pods(1), taints=tolerated, count=2), full)

    assert losses(alone) == [{}]
    assert losses(pair) == [{0: 2}]
