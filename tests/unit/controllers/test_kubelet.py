"""The kubelet: which pods may or must move on, and admission of pods that chose their node."""

import pytest

from kubeproof.cluster.labels import NodeTerm, Requirement, Toleration
from kubeproof.cluster.loops.actions import Advance, NodeRef
from kubeproof.cluster.loops.control import Decision, Reads, Role, Seen
from kubeproof.cluster.state import Health, Phase, WorkloadCell
from kubeproof.controllers.admission.kubelet_admission import count_rejected
from kubeproof.controllers.kubelet import Kubelet
from tests.unit.model.builders import READY, STARTING, cell, kind, layout, node, setup, taint, workload

DUE = kind(Phase.STARTING, 0, 4)


def _kubelet(*workloads, host=None):
    return Kubelet(layout(setup([host or node("n1")], *workloads)), 0)


def _decisions(kubelet, *cells):
    views = [(kubelet.show_node(0, c), 1) for c in cells]
    return kubelet.act(Seen((), (tuple((view, n) for view, n in views if view is not None),)))


def _shown(pod_kind):
    return pod_kind._replace(evict_s=0)


def test_it_reads_its_place_only():
    kubelet = _kubelet()

    assert kubelet.reads == Reads(places=(0,))
    assert kubelet.show_workload(0, WorkloadCell()) is None


@pytest.mark.parametrize(
    "pods",
    [
        pytest.param((STARTING, 1), id="not started long enough"),
        pytest.param((READY, 3), id="ready"),
        pytest.param((kind(Phase.UNREADY, 0, 0), 1), id="not ready by the node controller"),
    ],
)
def test_pods_that_are_not_due_have_no_step(pods):
    assert _kubelet().show_node(0, cell(pods)) is None


@pytest.mark.parametrize("health", [Health.LOST, Health.UNKNOWN])
def test_a_dead_kubelet_does_nothing(health):
    assert _kubelet().show_node(0, cell((DUE, 1), health=health)) is None


@pytest.mark.parametrize("health", [Health.UP, Health.BACK])
def test_a_pod_may_move_once_its_least_time_is_over(health):
    kubelet = _kubelet()
    view = ((_shown(DUE), 0, 2, None),)

    assert _decisions(kubelet, cell((DUE, 2), health=health)) == (
        Decision((Advance(NodeRef(0, view), 0, Phase.STARTING, 0, 4, 0),), Role.OPTIONAL),
    )


@pytest.mark.parametrize("phase", [Phase.STARTING, Phase.RUNNING, Phase.TERMINATING])
def test_a_pod_must_move_when_its_most_time_is_over(phase):
    (decision,) = _decisions(_kubelet(), cell((kind(phase, 0, 0), 1)))

    assert decision.role == Role.URGENT
    assert decision.actions[0].phase == phase


def test_each_kind_moves_on_its_own_and_eviction_clocks_make_no_kinds():
    late = kind(Phase.STARTING, 0, 0)
    content = cell((DUE, 1), (DUE._replace(evict_s=200), 2), (late, 1), (kind(Phase.TERMINATING, 0, 30), 1))

    decisions = _decisions(_kubelet(), content)

    assert [(d.actions[0].phase, d.actions[0].most_s, d.role) for d in decisions] == [
        (Phase.STARTING, 0, Role.URGENT),
        (Phase.STARTING, 4, Role.OPTIONAL),
        (Phase.TERMINATING, 30, Role.OPTIONAL),
    ]
    assert decisions[0].actions[0].node.view == (
        (_shown(late), 0, 1, None),
        (_shown(DUE), 0, 3, None),
        (_shown(kind(Phase.TERMINATING, 0, 30)), 0, 1, None),
    )


def test_nodes_that_look_alike_share_one_step():
    assert len(_decisions(_kubelet(), cell((DUE, 1)), cell((DUE, 1)))) == 1


# -- admission --------------------------------------------------------------------------------------


def _rejected(host, content, pod_kind, *workloads):
    return count_rejected(setup([host], *workloads), host, content, _shown(pod_kind))


def test_pods_that_the_scheduler_placed_are_admitted_whatever_the_node():
    host = node("n1", cpu=100, taints=(taint(),))

    assert _rejected(host, cell((DUE, 3)), DUE, workload(cpu=1000)) == (0, 3)


def test_of_three_pods_of_1_cpu_a_node_with_2_cpu_rejects_one():
    assert _rejected(node("n1", cpu=2000), cell((DUE, 3)), DUE, workload(cpu=1000, node_name="n1")) == (1, 3)


@pytest.mark.parametrize(
    ("phase", "rejected"),
    [
        (Phase.RUNNING, 1),
        (Phase.READY, 1),
        (Phase.UNREADY, 1),
        (Phase.TERMINATING, 1),
        (Phase.STARTING, 0),
    ],
)
def test_pods_already_admitted_hold_their_room_and_those_that_start_do_not(phase, rejected):
    other = kind(phase, 7, 7, of=1)
    pods = workload(cpu=1500, node_name="n1"), workload(cpu=600, name="other")

    assert _rejected(node("n1", cpu=2000), cell((DUE, 1), (other, 1)), DUE, *pods) == (rejected, 1)


def test_pod_slots_run_out_too():
    host = node("n1", pods=2)

    assert _rejected(host, cell((DUE, 3), (READY, 1)), DUE, workload(node_name="n1")) == (2, 3)


def test_resources_the_node_does_not_know_are_left_out():
    pods = workload(node_name="n1")
    gpu = pods.template.containers[0].__class__("gpu", 0, 0, (("example.com/gpu", 1),))
    asking = pods.__class__("Deployment", "shop", "web", pods.template.__class__(containers=(gpu,), node_name="n1"))

    assert _rejected(node("n1"), cell((DUE, 2)), DUE, asking) == (0, 2)
    assert _rejected(node("n1", others=(("example.com/gpu", 1),)), cell((DUE, 2)), DUE, asking) == (1, 2)


def test_an_untolerated_no_execute_taint_rejects_all_but_no_schedule_none():
    pods = workload(node_name="n1")

    assert _rejected(node("n1", taints=(taint(),)), cell((DUE, 2)), DUE, pods) == (2, 2)
    assert _rejected(node("n1", taints=(taint(effect="NoSchedule"),)), cell((DUE, 2)), DUE, pods) == (0, 2)
    assert _rejected(node("n1", unschedulable=True), cell((DUE, 2), cordoned=1), DUE, pods) == (0, 2)


def test_a_tolerated_no_execute_taint_is_no_obstacle():
    tolerant = workload(node_name="n1", tolerations=(Toleration("broken", "Exists", "", "NoExecute", 5),))

    assert _rejected(node("n1", taints=(taint(),)), cell((DUE, 2)), DUE, tolerant) == (0, 2)


def test_unmet_node_affinity_rejects_all():
    far = workload(node_name="n1", node_selector=(("disk", "ssd"),))
    term = NodeTerm((Requirement("disk", "In", ("ssd",)),))
    required = workload(node_name="n1", required_terms=(term,))

    assert _rejected(node("n1"), cell((DUE, 2)), DUE, far) == (2, 2)
    assert _rejected(node("n1"), cell((DUE, 2)), DUE, required) == (2, 2)
    assert _rejected(node("n1", labels={"disk": "ssd"}), cell((DUE, 2)), DUE, required) == (0, 2)


def test_admission_is_asked_at_the_start_only():
    terminating = kind(Phase.TERMINATING, 0, 30)

    assert _rejected(node("n1", cpu=1), cell((terminating, 2)), terminating, workload(node_name="n1")) == (0, 2)


def test_the_rejected_are_told_to_the_step():
    kubelet = _kubelet(workload(cpu=1000, node_name="n1"), host=node("n1", cpu=2000))

    (decision,) = _decisions(kubelet, cell((DUE, 3)))

    assert decision.actions[0].rejected == 1


@pytest.mark.parametrize(("cpu", "together"), [(400, [None, None]), (399, [1, 1])])
def test_pods_of_two_workloads_that_name_a_node_are_admitted_one_by_one_where_not_all_fit(cpu, together):
    rivals = (workload(2, node_name="n1"), workload(2, name="db", node_name="n1"))
    kubelet = Kubelet(layout(setup([node("n1", cpu=cpu)], *rivals)), 0)

    decisions = _decisions(kubelet, cell((DUE, 2), (DUE._replace(workload=1), 2)))

    assert [(d.actions[0].pods, d.actions[0].rejected) for d in decisions] == [(pods, 0) for pods in together]
