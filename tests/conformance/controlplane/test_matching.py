"""How runs and counterexamples are compared."""

from __future__ import annotations

import pytest

from tests.conformance.controlplane.matching import groups_of_counterexample, groups_of_run
from tests.conformance.controlplane.planning import counterexample, plan_of
from tests.conformance.controlplane.runs import DATA, Recorded, Run, until_broken
from tests.conformance.controlplane.symmetry import renamings
from tests.conformance.controlplane.vocabulary import Word

ROOT = DATA.parents[3]
WEB = "Deployment/shop/web"


def run_of(stop: dict[str, object], *actions: Recorded) -> Run:
    return Run("c1-0", {"case": "C1", "target": WEB, "stop": stop}, actions)


def act(time_s: float, who: str, verb: str, pod: str, node: str = "") -> Recorded:
    return Recorded(time_s, who, verb, f"Pod/shop/web-{pod}", node)


@pytest.mark.parametrize(
    ("case", "count"), [("c1", 6), ("c2", 6), ("c3", 2), ("c5", 2), ("c6", 6), ("c7", 2), ("c8", 2)]
)
def test_nodes_may_be_renamed_where_no_manifest_tells_them_apart(case: str, count: int):
    found = renamings(case)

    assert len(found) == count
    assert all(one == other for one, other in found[0])


def test_a_node_that_a_template_names_keeps_its_name():
    assert {dict(renaming)["node-1"] for renaming in renamings("c7")} == {"node-1"}


def test_a_run_ends_with_the_burst_that_breaks_the_intent():
    before = act(0.0, "replicaset", "create", "1")
    burst = [act(9.0, "replicaset", "create", "2"), act(9.2, "replicaset", "create", "3")]
    bound_meanwhile = act(9.1, "scheduler", "bind", "2", "node-1")
    run = run_of({"kind": "pods-above", "count": 1}, before, burst[0], bound_meanwhile, burst[1])

    assert until_broken(run) == (before, *burst)


def test_a_loop_ends_with_the_action_that_completes_its_rounds():
    created = [act(0.0, "replicaset", "create", name) for name in "123"]
    evicted = [act(1.0, "descheduler", "evict", name, "node-1") for name in "12"]
    run = run_of({"kind": "evictions", "count": 1}, *created, *evicted)

    assert until_broken(run) == (*created, evicted[0])


def test_what_a_loop_writes_in_parallel_is_one_group():
    deleted = [act(1.0, "replicaset", "delete", "1", "node-2"), act(1.1, "replicaset", "delete", "2", "node-1")]
    later = act(9.0, "replicaset", "delete", "3", "node-3")

    groups = groups_of_run(run_of({"kind": "creations", "count": 9}, *deleted, later))

    assert groups == [
        [Word("replicaset", "delete", "node-2"), Word("replicaset", "delete", "node-1")],
        [Word("replicaset", "delete", "node-3")],
    ]


def test_kubelets_and_operators_are_not_compared():
    run = run_of(
        {"kind": "creations", "count": 9},
        act(0.0, "kubelet", "start", "1", "node-1"),
        act(1.0, "drain", "evict", "1", "node-1"),
        Recorded(2.0, "user", "apply", WEB, amount=1),
    )

    assert groups_of_run(run) == []


def test_a_counterexample_that_loops_is_unrolled():
    groups = groups_of_counterexample(counterexample("c5"), 40)
    evictions = [group for group in groups if group == [Word("descheduler", "evict", "node-3")]]

    assert groups[0] == [Word("deployment", "scale", "", 5)]
    assert len(evictions) == 1 + 16  # 12 actions before the loop, 3 in each round, until there are 40 + 19 steps


def test_events_of_a_plan_are_those_of_the_counterexample():
    events = plan_of("c6", ROOT)["events"]

    assert events == [
        {"kind": "maintenance", "node": "node-1", "pods": 1},
        {"kind": "maintenance", "node": "node-2", "pods": 2},
    ]


def test_the_load_of_a_plan_is_that_of_the_scenario():
    assert plan_of("c1", ROOT)["usage"] == [{"percent": 100, "for_s": 60.0}, {"percent": 37, "for_s": 0.0}]
    assert plan_of("c3", ROOT)["events"] == [{"kind": "cpu", "percent": 75}]
