"""The door for a user's own controller: what it sees, what its answers become."""

import pytest

from kubeproof.cluster.loops.actions import Delete, NodeChange, NodeRef, SetDesired
from kubeproof.cluster.loops.control import Decision, Reads, Seen
from kubeproof.cluster.loops.node_verbs import CORDON, UNCORDON
from kubeproof.cluster.state import Health, Phase, WorkloadCell
from kubeproof.controllers.own import Adapted, PodCounts, cordon, evict, scale, uncordon
from kubeproof.errors import UsageError
from tests.unit.model.builders import (
    READY,
    STARTING,
    TERMINATING,
    UNREADY,
    WEB,
    cell,
    kind,
    layout,
    node,
    setup,
    workload,
)

ACTIVE = (int(Phase.STARTING), int(Phase.RUNNING), int(Phase.READY), int(Phase.UNREADY))


class Own:
    name = "mine"

    def __init__(self, answer):
        self.act = answer


def _adapted(answer, labels=()):
    whole = setup([node("n1", "a", labels={"pool": "x"}), node("n2")], workload(3), workload(1, name="api"))
    return Adapted(layout(whole), Own(answer), labels)


def _seen(adapted, *cells, spec=None):
    first = spec or WorkloadCell(desired=3, replicas=3, unbound=1)
    workloads = (adapted.show_workload(0, first), adapted.show_workload(1, WorkloadCell(exists=0)))
    return Seen(workloads, tuple(((adapted.show_node(i, c), 1),) for i, c in enumerate(cells)))


CELLS = (
    cell((READY, 1), (STARTING, 2), (kind(Phase.READY, of=1), 1)),
    cell((UNREADY, 1), (TERMINATING, 4), cordoned=1),
)


def test_it_reads_everything_and_bears_the_users_name():
    adapted = _adapted(lambda cluster: ())

    assert adapted.name == "mine"
    assert adapted.reads == Reads((0, 1), (0, 1))


def test_the_cluster_is_shown_by_counts():
    adapted = _adapted(lambda cluster: (), ("pool", "absent"))

    cluster = adapted.cluster(_seen(adapted, *CELLS))

    web, api = cluster.workloads
    assert (web.ref, web.exists, web.desired, web.pending, web.pods) == (WEB, True, 3, 1, PodCounts(1, 3, 4))
    assert web.ready == 1
    assert (api.exists, api.pods) == (False, PodCounts(ready=1))
    first, second = cluster.nodes
    assert (first.labels, first.is_ready, first.is_cordoned, first.size) == ((("pool", "x"),), True, False, 1)
    assert first.pods_of(WEB) == PodCounts(1, 2, 0)
    assert second.pods_of(WEB) == PodCounts(0, 1, 4)
    assert second.pods_of("Deployment/shop/api") == PodCounts()
    assert second.is_cordoned


@pytest.mark.parametrize(
    ("health", "is_ready"), [(Health.UP, 1), (Health.LOST, 1), (Health.UNKNOWN, 0), (Health.BACK, 0)]
)
def test_a_node_is_ready_as_the_api_tells(health, is_ready):
    assert _adapted(lambda cluster: ()).show_node(0, cell(health=health))[0] == is_ready


def test_nodes_of_a_group_count_by_its_size():
    adapted = _adapted(lambda cluster: ())
    facts = adapted.show_node(0, cell((READY, 2)))
    seen = Seen(((1, 3, 0), (1, 1, 0)), (((facts, 5),), ()))

    assert adapted.cluster(seen).workload(WEB).ready == 10


def _decided(answer, *cells):
    adapted = _adapted(answer)
    return adapted.act(_seen(adapted, *(cells or CELLS)))


def test_scaling_writes_spec_replicas_and_never_below_zero():
    assert _decided(lambda cluster: [scale(WEB, 5)]) == (Decision((SetDesired(0, 5),)),)
    assert _decided(lambda cluster: [scale("Deployment/shop/api", -2)]) == (Decision((SetDesired(1, 0),)),)


def test_cordons_name_the_node_by_what_was_seen_of_it():
    decisions = _decided(lambda cluster: [cordon(cluster.nodes[0]), uncordon(cluster.nodes[1])])
    adapted = _adapted(lambda cluster: ())

    assert decisions == (
        Decision((NodeChange(NodeRef(0, adapted.show_node(0, CELLS[0])), CORDON),)),
        Decision((NodeChange(NodeRef(1, adapted.show_node(1, CELLS[1])), UNCORDON),)),
    )


def test_evictions_take_ready_pods_if_there_are_enough():
    one, three = _decided(lambda cluster: [evict(cluster.nodes[0], WEB), evict(cluster.nodes[0], WEB, 3)])
    ref = NodeRef(0, _adapted(None).show_node(0, CELLS[0]))

    assert one == Decision((Delete(ref, 0, (((int(Phase.READY),), 1),)),))
    assert three == Decision((Delete(ref, 0, ((ACTIVE, 3),)),))


def test_a_tuple_is_done_together_and_repeated_decisions_count_once():
    both = (scale(WEB, 1), scale("Deployment/shop/api", 2))

    assert _decided(lambda cluster: [both, both]) == (Decision((SetDesired(0, 1), SetDesired(1, 2))),)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        pytest.param(lambda c: [scale("Deployment/shop/no", 1)], "acts on Deployment/shop/no", id="unknown target"),
        pytest.param(lambda c: [c.workload("Pod/x/y")], "asks for Pod/x/y", id="unknown question"),
        pytest.param(lambda c: ["scale it"], "returned str, which is no action", id="no action"),
    ],
)
def test_mistakes_of_the_user_are_told_as_such(answer, problem):
    with pytest.raises(UsageError, match=problem):
        _decided(answer)
