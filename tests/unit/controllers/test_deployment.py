"""The Deployment controller: creates its ReplicaSet and keeps its size."""

from kubeproof.cluster.loops.actions import SetReplicas
from kubeproof.cluster.loops.control import Decision, Reads, Role, Seen, Stage
from kubeproof.cluster.state import NEVER, NodeCell, WorkloadCell
from kubeproof.controllers.workloads.deployment import DeploymentController
from tests.unit.model.builders import layout, node, setup, workload


def _controller():
    return DeploymentController(layout(setup([node("n1")], workload(name="api"), workload(3))), 1)


def _decisions(cell):
    controller = _controller()
    return controller.act(Seen((controller.show_workload(1, cell),)))


def test_it_is_named_after_its_deployment_and_reads_nothing_else():
    controller = _controller()

    assert controller.name.startswith("deployment ")
    assert controller.name.endswith("web")
    assert controller.reads == Reads(workloads=(1,))
    assert controller.stage == Stage.ALWAYS
    assert controller.show_node(0, NodeCell()) is None


def test_a_missing_replicaset_is_created_with_the_desired_size():
    assert _decisions(WorkloadCell(desired=3, replicas=NEVER)) == (Decision((SetReplicas(1, 3),), Role.URGENT),)


def test_a_replicaset_of_another_size_follows_in_both_directions():
    assert _decisions(WorkloadCell(desired=5, replicas=3)) == (Decision((SetReplicas(1, 5),)),)
    assert _decisions(WorkloadCell(desired=0, replicas=3)) == (Decision((SetReplicas(1, 0),)),)


def test_nothing_is_done_when_sizes_agree_whatever_the_pods():
    assert _decisions(WorkloadCell(desired=3, replicas=3, unbound=2)) == ()


def test_an_absent_deployment_does_nothing():
    assert _decisions(WorkloadCell(exists=0)) == ()
