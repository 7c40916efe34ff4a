"""Which sizes a sweep has, in which order, and which are trivial."""

from dataclasses import replace

import pytest

from kubeproof.cases.library import load_case
from kubeproof.cluster.scale import Limit, NodeScale, Scale, WorkloadScale
from kubeproof.errors import ScenarioError
from kubeproof.manifests.load import load
from kubeproof.verify.resize import Size, resize
from kubeproof.verify.scaling.setups import all_sizes, why_trivial
from tests.unit.verify.scaling.inputs import ONLY_FAST, grows

KIVI = Limit(6, 6)


@pytest.mark.parametrize(
    ("case", "variant", "sizes"),
    [
        ("c1", "safe", 126),
        ("c2", "safe", 126),
        ("c3", "violating", 1764),
        ("c3", "safe", 1764),
        ("c5", "violating", 1512),
        ("c5", "safe", 126),
        ("c7", "violating", 1764),
        ("c7", "safe", 126),
        ("c8", "violating", 1764),
        ("c8", "safe", 1764),
    ],
)
def test_the_shipped_cases_have_as_many_sizes_as_in_kivis_paper(case, variant, sizes):
    loaded = load(load_case(case, variant))

    assert len(all_sizes(loaded.scenario.scale, KIVI, loaded.setup)) == sizes


def test_sizes_come_by_nodes_then_by_pods_then_by_kinds():
    loaded = grows(fast=1, slow=1, pods=2)

    sizes = all_sizes(loaded.scenario.scale, None, loaded.setup)

    assert [(dict(size.nodes)["fast"], dict(size.nodes)["slow"], size.pod_total) for size in sizes] == [
        (0, 1, 1),
        (1, 0, 1),
        (0, 1, 2),
        (1, 0, 2),
        (1, 1, 1),
        (1, 1, 2),
    ]


def test_the_key_names_every_number():
    assert Size((("a", 2), ("b", 0)), (("Deployment/shop/web", 6),)).key == "a=2,b=0,Deployment/shop/web=6"


def test_a_limit_bounds_kinds_and_pods_for_each_node():
    loaded = grows(fast=9, slow=9, pods=99)

    sizes = all_sizes(loaded.scenario.scale, Limit(2, 3), loaded.setup)

    assert max(max(count for _, count in size.nodes) for size in sizes) == 2
    assert {size.pod_total - 3 * size.node_total for size in sizes if size.pod_total == 3 * size.node_total} == {0}
    assert all(size.pod_total <= 3 * size.node_total for size in sizes)
    assert len(sizes) == 3 * sum(a + b for a in range(3) for b in range(3))


def test_without_max_a_limit_is_needed():
    scale = Scale((NodeScale("fast"),), (WorkloadScale("Deployment/shop/web"),))

    assert len(all_sizes(scale, Limit(2, 2), grows().setup)) == 2 + 4
    with pytest.raises(ScenarioError, match=r"spec\.scale gives fast no max\. Add max, or a limit"):
        all_sizes(scale, None, grows().setup)


def test_too_many_sizes_are_refused_in_time():
    loaded = grows(fast=100_000, slow=100_000, pods=100_000)

    with pytest.raises(ScenarioError, match=r"more than 100,000 sizes\. Narrow its ranges"):
        all_sizes(loaded.scenario.scale, None, loaded.setup)


@pytest.mark.parametrize(
    ("fast", "slow", "pods", "reason"),
    [
        (1, 0, 3, ""),
        (1, 0, 4, "Deployment/shop/web: 4 pods, and by requests the nodes hold 3"),
        (2, 1, 9, ""),
        (0, 0, 1, "no nodes"),
        (1, 1, 0, "no pods"),
    ],
)
def test_more_pods_than_the_nodes_hold_are_trivial(fast, slow, pods, reason):
    loaded = grows()
    size = Size((("fast", fast), ("slow", slow)), (("Deployment/shop/web", pods),))

    assert why_trivial(resize(loaded, loaded.scenario.scale, size)) == reason


def test_constraints_that_only_the_scheduler_knows_make_no_size_trivial():
    loaded = grows(more=ONLY_FAST)
    size = Size((("fast", 1), ("slow", 1)), (("Deployment/shop/web", 6),))

    assert why_trivial(resize(loaded, loaded.scenario.scale, size)) == ""


def test_pods_that_name_their_node_must_fit_there():
    loaded = grows(more="nodeName: fast")
    on_fast = Size((("fast", 1), ("slow", 3)), (("Deployment/shop/web", 4),))

    assert "4 pods, and by requests the nodes hold 3" in why_trivial(resize(loaded, loaded.scenario.scale, on_fast))


def test_two_workloads_are_trivial_if_they_do_not_fit_together():
    other = (
        "\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: other, namespace: shop}\n"
        "spec:\n  replicas: 2\n  selector: {matchLabels: {app: other}}\n  template:\n"
        "    metadata: {labels: {app: other}}\n"
        "    spec: {containers: [{name: other, image: other, resources: {requests: {cpu: '1'}}}]}\n---"
    )
    loaded = grows(objects=other)
    size = Size((("fast", 1), ("slow", 0)), (("Deployment/shop/web", 2),))

    assert why_trivial(resize(loaded, loaded.scenario.scale, size)) == (
        "all pods request 4000 of cpu, and the nodes have 3000"
    )


def test_a_workload_that_may_never_come_does_not_count():
    loaded = grows()
    scenario = loaded.scenario
    event = grows(intent="settles: {}\n  events: [{create: {target: Deployment/shop/web}}]").scenario.events
    size = Size((("fast", 1), ("slow", 0)), (("Deployment/shop/web", 9),))

    created = replace(loaded, scenario=replace(scenario, events=event))

    assert why_trivial(resize(created, scenario.scale, size)) == ""
