"""Deschedule plugins: taints, node affinity, restarts, life time."""

import pytest

from kubeproof.cluster.labels import NodeTerm, PreferredTerm, Requirement, Taint, Toleration
from kubeproof.controllers.descheduler import NodeLoss
from tests.unit.controllers.descheduler.clusters import (
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

TAINTS = "RemovePodsViolatingNodeTaints"
AFFINITY = "RemovePodsViolatingNodeAffinity"
RESTARTS = "RemovePodsHavingTooManyRestarts"
LIFE = "PodLifeTime"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
ELSEWHERE = entry(node("z", pool="db"))


def term(value):
    return NodeTerm((Requirement("pool", "In", (value,)),))


def evicted(plugin, arguments, *groups, workload=None, version=NEWEST, taints=(), **more):
    """Pods lost by a node of the pool `web`."""
    nodes = (entry(node("a", pool="web"), *groups, taints=taints, **more), ELSEWHERE)
    (result,) = losses(run([workload or web()], policy(plugin, **{plugin: arguments}), *nodes, version=version))
    return result.get(0, 0)


@pytest.mark.parametrize("version", [OLD, NEWEST])
@pytest.mark.parametrize(
    ("taint", "arguments", "lost"),
    [
        (Taint("k", "v"), {}, 2),
        (Taint("k", "v", "NoExecute"), {}, 0),
        (Taint("k", "v", "PreferNoSchedule"), {}, 0),
        (Taint("k", "v", "PreferNoSchedule"), {"includePreferNoSchedule": True}, 2),
        (Taint("k", "v"), {"excludedTaints": ["k"]}, 0),
        (Taint("k", "v"), {"excludedTaints": ["k=v"]}, 0),
        (Taint("k", "v"), {"excludedTaints": ["k=w", "v"]}, 2),
    ],
)
def test_untolerated_no_schedule_taints_drive_pods_away(taint, arguments, lost, version):
    assert evicted(TAINTS, arguments, pods(2), taints=(taint,), version=version) == lost


def test_an_empty_list_of_included_taints_includes_none():
    assert evicted(TAINTS, {"includedTaints": []}, pods(1), taints=(Taint("k"),), version=(0, 29)) == 1
    assert evicted(TAINTS, {"includedTaints": []}, pods(1), taints=(Taint("k"),)) == 0


def test_included_taints_are_read_since_0_30():
    only_other = {"includedTaints": ["other"]}

    assert evicted(TAINTS, only_other, pods(1), taints=(Taint("k"),), version=(0, 29)) == 1
    assert evicted(TAINTS, only_other, pods(1), taints=(Taint("k"),), version=(0, 30)) == 0
    assert evicted(TAINTS, {"includedTaints": ["k"]}, pods(1), taints=(Taint("k"),)) == 1


def test_tolerated_taints_do_not():
    tolerant = web(tolerations=(Toleration("k", "Exists"),))

    assert evicted(TAINTS, {}, pods(2), workload=tolerant, taints=(Taint("k"),)) == 0


def test_failed_pods_are_driven_away_by_taints_up_to_0_33():
    assert evicted(TAINTS, {}, pods(1, failed=True), taints=(Taint("k"),), version=(0, 33)) == 1
    assert evicted(TAINTS, {}, pods(1, failed=True), taints=(Taint("k"),), version=(0, 34)) == 0


def test_namespaces_and_labels_narrow_a_plugin():
    taints = (Taint("k"),)

    assert evicted(TAINTS, {"namespaces": {"include": ["shop"]}}, pods(1), taints=taints) == 1
    assert evicted(TAINTS, {"namespaces": {"include": ["other"]}}, pods(1), taints=taints) == 0
    assert evicted(TAINTS, {"namespaces": {"exclude": ["shop"]}}, pods(1), taints=taints) == 0
    assert evicted(TAINTS, {"labelSelector": {"matchLabels": {"app": "no"}}}, pods(1), taints=taints) == 0


def test_the_reason_names_the_taint():
    nodes = (entry(node("a"), pods(2), taints=(Taint("k", "v"),)), ELSEWHERE)

    assert told([web()], policy(TAINTS), *nodes) == (
        f"{TAINTS}: evicts 2 of Deployment/shop/web0 on a: taint k=v:NoSchedule is not tolerated",
    )


@pytest.mark.parametrize("version", [OLD, NEWEST])
def test_required_affinity_that_the_node_no_longer_satisfies_evicts(version):
    moved = web(required_terms=(term("db"),))

    assert evicted(AFFINITY, {"nodeAffinityType": [REQUIRED]}, pods(2), workload=moved, version=version) == 2
    assert evicted(AFFINITY, {"nodeAffinityType": []}, pods(2), workload=moved, version=version) == 0


@pytest.mark.parametrize("version", [OLD, NEWEST])
def test_required_affinity_that_no_node_satisfies_keeps_the_pods(version):
    nowhere = web(required_terms=(term("gone"),))

    assert evicted(AFFINITY, {"nodeAffinityType": [REQUIRED]}, pods(2), workload=nowhere, version=version) == 0


def test_cordon_counts_as_a_violation_up_to_0_27():
    anywhere = web(required_terms=(term("web"), term("db")))
    required = {"nodeAffinityType": [REQUIRED]}

    assert evicted(AFFINITY, required, pods(1), workload=anywhere, unschedulable=True, version=OLD) == 1
    assert evicted(AFFINITY, required, pods(1), workload=anywhere, unschedulable=True, version=(0, 28)) == 0


def test_preferred_affinity_is_looked_at_since_0_28():
    better = web(preferred_terms=(PreferredTerm(5, term("db")), PreferredTerm(4, term("web"))))
    preferred = {"nodeAffinityType": [PREFERRED]}

    assert evicted(AFFINITY, preferred, pods(2), workload=better, version=OLD) == 0
    assert evicted(AFFINITY, preferred, pods(2), workload=better, version=(0, 28)) == 2


def test_preferred_affinity_evicts_although_the_better_node_is_full():
    better = web(preferred_terms=(PreferredTerm(5, term("db")),))
    nodes = (entry(node("a", pool="web"), pods(1)), entry(node("b", pool="db", pods=0)))
    chosen = policy(AFFINITY, **{AFFINITY: {"nodeAffinityType": [PREFERRED]}})

    assert losses(run([better], chosen, *nodes)) == [{0: 1}]
    assert told([better], chosen, *nodes) == (
        f"{AFFINITY}: evicts 1 of Deployment/shop/web0 on a: "
        "preferred weight is 0 here and 5 on b, although the pod does not fit there",
    )


def test_the_best_node_keeps_its_pods():
    best = web(preferred_terms=(PreferredTerm(5, term("web")), PreferredTerm(5, term("db"))))

    assert evicted(AFFINITY, {"nodeAffinityType": [PREFERRED]}, pods(2), workload=best) == 0


def test_restarts_at_the_threshold_evict():
    threshold = {"podRestartThreshold": 5}

    assert evicted(RESTARTS, threshold, pods(1, restarts=4), pods(2, restarts=5), pods(1, restarts=9)) == 3


def test_most_restarts_go_first_since_0_34():
    nodes = (entry(node("a"), pods(1, restarts=5), pods(1, restarts=9)), ELSEWHERE)
    one = policy(RESTARTS, limits={"max_per_node": 1}, **{RESTARTS: {"podRestartThreshold": 5}})

    few, many = (NodeLoss(0, ((0, 1),)),), (NodeLoss(0, ((1, 1),)),)
    assert run([web()], one, *nodes, version=(0, 33)) == (few, many)
    assert run([web()], one, *nodes, version=(0, 34)) == (many,)


def test_pods_over_their_life_time_go():
    limit = {"maxPodLifeTimeSeconds": 100}

    assert evicted(LIFE, limit, pods(1, age=100), pods(2, age=101), pods(1, age=None)) == 2


def test_states_narrow_the_life_time():
    def of(*states):
        return evicted(LIFE, {"maxPodLifeTimeSeconds": 1, "states": list(states)}, pods(1), pods(2, failed=True))

    assert (of(), of("Running"), of("Failed")) == (3, 1, 2)


def test_without_an_age_the_states_decide():
    assert evicted(LIFE, {"states": ["Failed"]}, pods(1), pods(2, failed=True)) == 2
    assert evicted(LIFE, {}, pods(1)) == 0


def test_the_oldest_goes_first_over_all_nodes():
    nodes = (entry(node("a"), pods(1, age=200)), entry(node("b"), pods(1, age=300)), entry(node("c"), pods(1, age=300)))
    one = policy(LIFE, limits={"max_total": 1}, **{LIFE: {"maxPodLifeTimeSeconds": 100}})

    assert losses(run([web()], one, *nodes)) == [{1: 1}, {2: 1}]


def test_pods_without_affinity_and_unknown_types_are_left_alone():
    both = {"nodeAffinityType": [REQUIRED, PREFERRED, "unheard-of"]}

    assert evicted(AFFINITY, both, pods(2)) == 0
    assert told([web()], policy(AFFINITY, **{AFFINITY: both}), entry(node("a"), pods(1)), ELSEWHERE) == ()
