"""The ReplicaSet controller: creates what is missing, deletes the surplus by rank."""

from kubeproof.cluster.loops.actions import ANY, Arrive, CreatePods, Delete, DeleteUnbound, NodeRef
from kubeproof.cluster.loops.control import Decision, Reads, Seen
from kubeproof.cluster.state import NEVER, Phase, WorkloadCell
from kubeproof.controllers.workloads.replicaset import ReplicaSetController
from tests.unit.model.builders import READY, STARTING, TERMINATING, UNREADY, cell, kind, layout, node, setup, workload

PENDING_RANK, READY_RANK = (0, 0), (2, 1)
ALL_READY = (int(Phase.READY),)


def _controller(nodes=3, places=(), **more):
    whole = setup([node(f"n{i}") for i in range(1, nodes + 1)], workload(**more))
    return ReplicaSetController(layout(whole, *places), 0)


def _decisions(controller, spec, *places):
    views = tuple(tuple((controller.show_node(p, c), n) for c, n in nodes) for p, nodes in enumerate(places))
    shown = tuple(tuple((view, n) for view, n in groups if view is not None) for groups in views)
    return controller.act(Seen((controller.show_workload(0, spec),), shown))


def test_it_reads_its_workload_and_every_place():
    controller = _controller(places=((0, 1), (2,)))

    assert controller.name.startswith("replicaset ")
    assert controller.reads == Reads(workloads=(0,), places=(0, 1))


def test_the_whole_difference_is_created_in_one_step():
    spec = WorkloadCell(desired=5, replicas=5, unbound=1)

    assert _decisions(_controller(1), spec, [(cell((READY, 1)), 1)]) == (Decision((CreatePods(0, 3),)),)


def test_terminating_pods_do_not_count():
    spec = WorkloadCell(desired=2, replicas=2)

    assert _decisions(_controller(1), spec, [(cell((READY, 1), (TERMINATING, 4)), 1)]) == (
        Decision((CreatePods(0, 1),)),
    )


def test_not_ready_and_starting_pods_count():
    spec = WorkloadCell(desired=3, replicas=3)

    assert _decisions(_controller(1), spec, [(cell((READY, 1), (STARTING, 1), (UNREADY, 1)), 1)]) == ()


def test_pods_of_other_workloads_do_not_count():
    spec = WorkloadCell(desired=1, replicas=1)

    assert _decisions(_controller(1), spec, [(cell((kind(Phase.READY, of=1), 9)), 1)]) == (
        Decision((CreatePods(0, 1),)),
    )


def test_nothing_happens_before_the_replicaset_exists():
    assert _decisions(_controller(1), WorkloadCell(desired=2, replicas=NEVER)) == ()


def test_a_deleted_workload_loses_its_pods():
    decisions = _decisions(_controller(1), WorkloadCell(exists=0, replicas=0, unbound=2), ())

    assert decisions == (Decision((DeleteUnbound(0, 2),)),)


def test_pods_with_a_node_name_appear_on_that_node():
    controller = _controller(node_name="n2")

    assert _decisions(controller, WorkloadCell(desired=2, replicas=2), [], [], []) == (
        Decision((Arrive(NodeRef(1, ANY), 0, 2),)),
    )


def test_pods_that_name_an_unknown_node_wait():
    controller = _controller(node_name="elsewhere")

    assert _decisions(controller, WorkloadCell(desired=2, replicas=2), [], [], []) == (Decision((CreatePods(0, 2),)),)


def test_pods_without_a_node_go_first():
    spec = WorkloadCell(desired=2, replicas=2, unbound=2)
    nodes = [(cell((READY, 2)), 1)]

    assert _decisions(_controller(1), spec, nodes) == (Decision((DeleteUnbound(0, 2),)),)


def test_pending_pods_go_before_running_and_unready_before_ready():
    controller = _controller(1)
    nodes = [(cell((READY, 1), (STARTING, 1), (UNREADY, 1)), 1)]
    view = controller.show_node(0, nodes[0][0])
    ref = NodeRef(0, view)
    starting, running = ((int(Phase.STARTING),), 1), ((int(Phase.RUNNING), int(Phase.UNREADY)), 1)

    assert view == (((PENDING_RANK, 1), ((2, 0), 1), (READY_RANK, 1)), 0, ())
    assert _decisions(controller, WorkloadCell(desired=2, replicas=2), nodes) == (
        Decision((Delete(ref, 0, (starting,)),)),
    )
    assert _decisions(controller, WorkloadCell(desired=1, replicas=1), nodes) == (
        Decision((Delete(ref, 0, (starting, running)),)),
    )
    assert _decisions(controller, WorkloadCell(desired=0, replicas=0), nodes) == (
        Decision((Delete(ref, 0, (starting, running, (ALL_READY, 1))),)),
    )


def test_scaling_3_3_1_down_by_two_takes_from_the_fuller_nodes_in_every_way():
    controller = _controller(places=((0, 1, 2),))
    nodes = [(cell((READY, 3)), 2), (cell((READY, 1)), 1)]
    full = NodeRef(0, (((READY_RANK, 3),), 0, ()))

    assert _decisions(controller, WorkloadCell(desired=5, replicas=5), nodes) == (
        Decision((Delete(full, 0, ((ALL_READY, 2),)),)),
        Decision((Delete(full, 0, ((ALL_READY, 1),)), Delete(full, 0, ((ALL_READY, 1),)))),
    )


def test_the_rank_counts_all_active_pods_of_the_node_not_only_ready_ones():
    """n1 has one ready of two pods, n2 one ready pod alone: n1's ready pod has rank 2 and goes first."""
    controller = _controller(2)
    first, second = cell((READY, 1), (STARTING, 1)), cell((READY, 1))

    decisions = _decisions(controller, WorkloadCell(desired=1, replicas=1), [(first, 1)], [(second, 1)])

    assert [[action.node.place for action in decision.actions] for decision in decisions] == [[0]]
    assert decisions[0].actions[0].losses == (((int(Phase.STARTING),), 1), (ALL_READY, 1))


def test_equal_nodes_shown_one_by_one_give_the_same_choices():
    controller = _controller(places=((0, 1),))
    spec = WorkloadCell(desired=1, replicas=1)

    together = _decisions(controller, spec, [(cell((READY, 1)), 2)])

    assert together == _decisions(controller, spec, [(cell((READY, 1)), 1), (cell((READY, 1)), 1)])
    assert len(together) == 1
