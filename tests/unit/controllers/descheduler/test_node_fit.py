"""NodeFit: what the descheduler asks of a node before it sends a pod there."""

import pytest

from kubeproof.cluster.labels import LabelSelector, NodeTerm, PreferredTerm, Requirement
from kubeproof.cluster.objects import HOSTNAME, Container, PodAffinity, PodTerm
from tests.unit.controllers.descheduler.clusters import GIB, NEWEST, OLD, entry, losses, node, pods, policy, run, web

LIFE, AFFINITY = "PodLifeTime", "RemovePodsViolatingNodeAffinity"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
AGED = policy(LIFE, evictor={"nodeFit": True}, **{LIFE: {"maxPodLifeTimeSeconds": 10}})


def apart(app="web1", key=HOSTNAME, **more):
    selector = LabelSelector((Requirement("app", "In", (app,)),))
    return {"pod_anti_affinity": PodAffinity(required=(PodTerm(key, selector, **more),))}


def lost(workload, other_node, *groups, version=NEWEST, others=None, **more):
    """Pods that leave node a if they may, with these pods on the only other node."""
    home = entry(node("a"), pods(1))
    workloads = [workload, others or web(1)]
    (result,) = losses(run(workloads, AGED, home, entry(other_node, *groups, **more), version=version))
    return result.get(0, 0)


YOUNG = pods(1, 1, age=1)


@pytest.mark.parametrize(("version", "expected"), [((0, 29), 1), ((0, 30), 0), (NEWEST, 0)])
def test_node_fit_heeds_the_pods_own_required_anti_affinity_since_0_30(version, expected):
    assert lost(web(**apart()), node("b"), YOUNG, version=version) == expected


def test_anti_affinity_in_node_fit_counts_terminating_pods_but_not_failed_ones():
    assert lost(web(**apart()), node("b"), pods(1, 1, terminating=True)) == 0
    assert lost(web(**apart()), node("b"), pods(1, 1, age=1, failed=True)) == 1


def test_anti_affinity_in_node_fit_needs_the_topology_key_on_the_node_and_ignores_the_rest_of_the_domain():
    assert lost(web(**apart(key="zone")), node("b"), YOUNG) == 1
    assert lost(web(**apart(key="zone")), node("b", zone="1"), YOUNG) == 0
    third = entry(node("c", zone="1"), YOUNG)
    nodes = (entry(node("a"), pods(1)), entry(node("b", zone="1")), third)
    assert losses(run([web(**apart(key="zone")), web(1)], AGED, *nodes)) == [{0: 1}]


def test_anti_affinity_in_node_fit_knows_listed_namespaces_but_no_namespace_selector():
    elsewhere = web(1, namespace="other")

    assert lost(web(**apart()), node("b"), YOUNG, others=elsewhere) == 1
    assert lost(web(**apart(namespaces=("other",))), node("b"), YOUNG, others=elsewhere) == 0
    assert lost(web(**apart(namespace_selector=LabelSelector())), node("b"), YOUNG, others=elsewhere) == 1


def test_on_its_own_node_a_pod_is_not_kept_out_by_itself():
    # the node on which the pod is counts as one that fits it: nothing else takes it
    better = PreferredTerm(1, NodeTerm((Requirement("pool", "In", ("db",)),)))
    workload = web(**apart(app="web0"), preferred_terms=(better,))
    chosen = policy(AFFINITY, **{AFFINITY: {"nodeAffinityType": [PREFERRED]}})
    full = entry(node("b", pool="db", pods=0))

    assert losses(run([workload], chosen, entry(node("a"), pods(1)), full)) == [{0: 1}]
    assert losses(run([workload], chosen, entry(node("a"), pods(2)), full)) == [{}]


@pytest.mark.parametrize(("version", "expected"), [(OLD, 1), ((0, 34), 1), ((0, 35), 0), (NEWEST, 0)])
def test_a_sidecar_adds_to_the_requests_since_0_35_only(version, expected):
    sidecar = Container("proxy", cpu_milli=3000, restartable_init=True)
    workload = web(cpu=3000, memory=GIB, init_containers=(sidecar,))

    assert lost(workload, node("b", cpu=5000), version=version) == expected
