"""One node by name changes as the grouped mechanics say, by code of its own."""

import pytest

from kubeproof.cluster.loops.actions import ANY, NodeChange, NodeRef
from kubeproof.cluster.loops.node_verbs import (
    CORDON,
    DRAIN,
    DRAIN_UNCORDON,
    DRAINED,
    FAIL,
    MAINTAIN,
    NOTICE,
    PANIC,
    RECOVER,
    RETURN,
    TAINT,
    UNCORDON,
    UNTAINT,
    WELCOME,
)
from kubeproof.cluster.objects import Readiness
from kubeproof.cluster.state import NEVER, Cause, Health, Phase, PodKind, Work
from kubeproof.model.by_name.node import NodeState, Pod, arrival, change_node
from kubeproof.model.by_name.state import node_cell
from kubeproof.model.mechanics import Mechanics
from tests.unit.model.builders import node, setup, taint, workload

HOSTS = [node("n1"), node("n2", taints=(taint(),))]
WORKLOADS = (workload(), workload(name="probed", readiness=Readiness(5, 10, 2)), workload(name="hasty", tolerations=()))
WHOLE = setup(HOSTS, *WORKLOADS)
PODS = tuple(
    Pod(f"{phase.name}-{number}-{evict_s}-{age_s}", PodKind(number, int(phase), NEVER, NEVER, evict_s, age_s))
    for number in range(3)
    for age_s in (NEVER, 60)
    for phase in Phase
    for evict_s in ((NEVER,) if phase == Phase.TERMINATING else (NEVER, 7))
)
VERBS = {
    CORDON: Health,
    UNCORDON: Health,
    FAIL: (Health.UP, Health.BACK),
    PANIC: (Health.UP, Health.BACK),
    RECOVER: (Health.LOST, Health.UNKNOWN),
    NOTICE: (Health.LOST,),
    TAINT: (Health.UNKNOWN,),
    UNTAINT: (Health.UNKNOWN, Health.BACK),
    WELCOME: (Health.BACK,),
}
WORKS = {
    DRAIN: (Work.NONE,),
    DRAIN_UNCORDON: (Work.NONE,),
    MAINTAIN: (Work.NONE,),
    DRAINED: (Work.DRAIN, Work.DRAIN_UNCORDON, Work.MAINTAIN),
    RETURN: (Work.DOWN,),
}


@pytest.mark.parametrize("host", HOSTS, ids=["plain", "tainted"])
@pytest.mark.parametrize(("verb", "health"), [(verb, health) for verb, found in VERBS.items() for health in found])
def test_every_change_agrees_with_the_grouped_mechanics(verb, health, host):
    _assert_the_same_change(host, verb, health, Work.DRAIN, PODS)


@pytest.mark.parametrize(("verb", "work"), [(verb, work) for verb, found in WORKS.items() for work in found])
def test_every_step_of_an_operator_agrees_with_the_grouped_mechanics(verb, work):
    _assert_the_same_change(HOSTS[0], verb, Health.UP, work, () if verb in (DRAINED, RETURN) else PODS)


@pytest.mark.parametrize("health", [Health.LOST, Health.UNKNOWN])
def test_what_is_left_on_a_node_that_panicked_starts_from_nothing(health):
    after = _assert_the_same_change(HOSTS[0], RECOVER, health, Work.NONE, PODS, cause=Cause.PANIC)

    assert {pod.phase for pod in after.pods} == {Phase.STARTING, Phase.TERMINATING}
    assert {
        (pod.kind.least_s, pod.kind.most_s, pod.kind.age_s) for pod in after.pods if pod.phase == Phase.STARTING
    } == {(1, 5, NEVER)}


def _assert_the_same_change(host, verb, health, work, pods, cause=Cause.NONE):
    no_execute = int(verb in (UNTAINT, WELCOME))
    before = NodeState(int(health), NEVER, NEVER, int(verb == UNCORDON), no_execute, int(work), int(cause), pods)

    after = change_node(WHOLE, host, before, verb)

    action = NodeChange(NodeRef(0, ANY), verb)
    assert (node_cell(after),) == Mechanics(WHOLE).on_node(host, node_cell(before), action)
    assert [pod.name for pod in after.pods] == [pod.name for pod in before.pods]
    return after


@pytest.mark.parametrize(
    ("host", "health", "number", "clocks"),
    [
        (HOSTS[0], Health.UP, 0, (1, 5, NEVER)),
        (HOSTS[0], Health.LOST, 0, (NEVER, NEVER, NEVER)),
        (HOSTS[1], Health.UP, 0, (1, 5, 1)),
    ],
)
def test_a_bound_pod_starts_with_its_clocks(host, health, number, clocks):
    empty = NodeState(int(health), NEVER, NEVER, 0, 0, 0, 0, ())

    assert arrival(WHOLE, host, empty, number, "web-1") == Pod("web-1", PodKind(number, int(Phase.STARTING), *clocks))
