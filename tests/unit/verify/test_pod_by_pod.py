"""What is proved by following one pod: coming to rest, being ready and leaving nodes are asked for one by one."""

from __future__ import annotations

from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.crowd.proving import Input, prove_pod_by_pod
from kubeproof.verify.proofs.slicing import cut_by_relations
from kubeproof.verify.searching import Watch
from tests.differential.test_crowd import planned
from tests.unit.verify.inputs import loaded, node, scenario, web

TWO_NODES = (node("n1"), node("n2"))
LASTING = "{noPendingForever: {target: Deployment/shop/web}}"
ASKED = ("{settles: {}}", "{drainCompletes: {}}", LASTING)
BUDGET = """apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
"""


def prove(*documents: str) -> set[str]:
    """The keys of the intents that follow from what becomes of one pod."""
    whole = loaded(*documents)
    (part,) = cut_by_relations(whole)
    found = prove_pod_by_pod(Input(whole), part, planned, VerifyOptions(), Watch(), {})
    assert found.intents == found.unbroken
    return {whole.scenario.intents[number].key for number in found.intents}


def deployed(events: str, *more: str) -> tuple[str, ...]:
    """One pod on two nodes."""
    return *TWO_NODES, web(1), *more, scenario(*ASKED, events=events, start="deployed")


def test_pods_come_to_rest_and_leave_drained_nodes_also_where_they_may_wait_for_ever() -> None:
    assert prove(*deployed("{nodeFailure: {}}, {drain: {}}")) == {"settles", "drainCompletes"}


def test_pods_that_always_find_a_node_are_ready_in_the_end_as_well() -> None:
    assert prove(*deployed("{drain: {}}")) == {"settles", "drainCompletes", "noPendingForever"}


def test_which_pods_leave_a_drained_node_is_left_open_where_a_budget_decides() -> None:
    assert prove(*deployed("{drain: {}}", BUDGET)) == set()


def test_nothing_is_said_of_pods_that_come_and_go_for_ever() -> None:
    tolerant = web(1, more="tolerations: [{operator: Exists}]")
    pinned = web(1, more="nodeName: n1")
    asked = scenario(*ASKED, events="{drain: {}}", start="deployed")

    assert prove(*TWO_NODES, tolerant, asked) == set()
    assert prove(*TWO_NODES, pinned, asked) == set()
