"""How evenly the ready pods of a workload are loaded, by the Services that select them."""

from dataclasses import replace

import pytest

from kubeproof.cluster.loops.control import Reads, Seen
from kubeproof.cluster.services import Service, extremes, load_ratio, route_after_deletion, splits_by_node
from kubeproof.cluster.state import NEVER, PUBLISHED, SERVING, Health, WorkloadCell
from kubeproof.intents.declarations import Intent
from kubeproof.intents.facts.traffic import LoadSkewAtMost
from kubeproof.intents.monitor import make_monitor
from tests.oracles.templates import as_ltl
from tests.unit.model.builders import READY, STARTING, TERMINATING, WEB, cell, layout, node, setup, workload

BY_NODE = Service("shop", "web", (("app", "web"),), True)
BY_POD = replace(BY_NODE, is_split_by_node=False)


def _layout(*services, others=()):
    whole = replace(setup([node("n1"), node("n2"), node("n3")], workload(4), *others), services=services)
    return layout(whole, (0, 1, 2))


def _holds(skew, services, *nodes):
    fact = LoadSkewAtMost(_layout(*services), 0, skew)
    specs = tuple(fact.show_workload(w, WorkloadCell(desired=4, replicas=4)) for w in fact.reads.workloads)
    return fact.holds(Seen(specs, (fact.show_nodes(0, nodes),)))


@pytest.mark.parametrize(("skew", "holds"), [(1, False), (2, False), (3, True)])
def test_a_pod_alone_on_its_node_gets_the_load_of_three_elsewhere(skew, holds):
    nodes = ((cell((READY, 1)), 1), (cell((READY, 3)), 1))

    assert _holds(skew, (BY_NODE,), *nodes) is holds


def test_what_is_not_whole_counts_as_more():
    assert not _holds(1, (BY_NODE,), (cell((READY, 2)), 1), (cell((READY, 3)), 1))
    assert _holds(2, (BY_NODE,), (cell((READY, 2)), 1), (cell((READY, 3)), 1))


def test_nodes_without_a_ready_pod_get_nothing():
    waiting, ending = cell((STARTING, 1)), cell((TERMINATING, 1))

    assert _holds(1, (BY_NODE,), (cell(), 1), (waiting, 1), (ending, 1), (cell((READY, 3)), 2))


def test_a_node_that_is_down_gets_nothing():
    assert extremes(((cell((READY, 1), health=Health.LOST), 1), (cell((READY, 3)), 1)), (0,)) == (3, 3)


@pytest.mark.parametrize("services", [(), (BY_POD,), (replace(BY_NODE, namespace="other"),)])
def test_without_a_split_by_node_all_pods_share_alike(services):
    assert _holds(1, services, (cell((READY, 1)), 1), (cell((READY, 9)), 1))


def test_one_service_that_splits_by_node_is_enough():
    assert not _holds(1, (BY_POD, BY_NODE), (cell((READY, 1)), 1), (cell((READY, 2)), 1))


def test_all_workloads_behind_a_service_share_its_traffic():
    canary = workload(1, name="canary")
    found = _layout(BY_NODE, others=(canary,))

    assert splits_by_node(found.setup, (0,)) == ((0, 1),)
    assert LoadSkewAtMost(found, 0).reads == Reads((0, 1), (0,))


def test_without_ready_pods_there_is_no_load():
    assert load_ratio(((0, 0), (0, 0))) == 0
    assert load_ratio(((0, 0), (2, 5))) == 3


def test_it_is_an_upper_bound_from_the_first_state_on():
    monitor = make_monitor(Intent(key="maxLoadSkew", name="even", target=WEB), _layout(BY_NODE))
    places = (monitor.fact.show_nodes(0, ((cell((READY, 1)), 1), (cell((READY, 2)), 1))),)
    spec = monitor.fact.show_workload(0, WorkloadCell(desired=4, replicas=4))

    assert monitor.observe((0, 0, 0), Seen((spec,), places)) == (1, 1, 1)


def test_its_formula_says_the_same():
    formula = as_ltl(Intent(key="maxLoadSkew", name="even", target=WEB, skew=2))

    assert dict(formula.where)["ok"] == f"loadSkew('{WEB}') <= 2"


@pytest.mark.parametrize(
    ("service", "lags", "expected"),
    [
        (BY_POD, (2, 5), (2, NEVER)),
        (replace(BY_POD, has_ingress=True), (2, 5), (7, NEVER)),
        (BY_POD, (0, 5), (SERVING, NEVER)),
        (replace(BY_POD, publishes_unready=True), (2, 5), (PUBLISHED, PUBLISHED)),
        (replace(BY_POD, namespace="other"), (2, 5), (NEVER, NEVER)),
    ],
)
def test_a_deleted_pod_gets_traffic_until_all_have_learnt_it(service, lags, expected):
    whole = setup([node("n1")], workload(1), endpoints_lag_s=lags[0], ingress_lag_s=lags[1])

    assert route_after_deletion(replace(whole, services=(service,)), 0) == expected
