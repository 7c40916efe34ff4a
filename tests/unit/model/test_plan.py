"""Plans: who takes part, and the cells a run starts from."""

import pytest

from kubeproof.cluster.loops.control import Stage
from kubeproof.cluster.state import NEVER, NodeCell, WorkloadCell
from kubeproof.controllers.own import Adapted
from kubeproof.events.declarations import Apply, Cordon, Create, NodeFailure, Scale
from kubeproof.intents.declarations import Amount, Intent
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.plan import OwnLoop, make_plan
from tests.unit.model.builders import READY, WEB, cell, kind, node, setup, spread, workload

NODES = [node("n1"), node("n2")]


def _names(controllers):
    return [type(controller).__name__ for controller in controllers]


def test_every_workload_and_place_has_its_loops():
    whole = setup(NODES, workload(), workload(kind="ReplicaSet", name="rs"), workload(kind="Pod", name="p"))

    plan = make_plan(whole)

    assert _names(plan.controllers) == [
        "DeploymentController",
        "ReplicaSetController",
        "SchedulerController",
        "ReplicaSetController",
        "SchedulerController",
        "SchedulerController",
        *("Kubelet", "TaintEviction", "NodeMonitor") * 2,
        "NoExecuteTainter",
    ]
    assert plan.actors == plan.controllers


def test_events_become_sources_with_a_memory_each():
    events = (
        NodeFailure(name="f", max=2),
        NodeFailure(name="g", recovers=False, after="f"),
        Cordon(name="c", after="stable"),
        Scale(name="s", target=WEB, replicas=(1, 5, 7)),
        Create(name="n", target=WEB),
    )

    plan = make_plan(setup(NODES, workload(3)), events)

    assert _names(plan.events) == [
        "NodeFailureEvent",
        "NodeRecoveryEvent",
        "NodeFailureEvent",
        "CordonEvent",
        "ScaleEvent",
        "WriteEvent",
    ]
    assert plan.memories[:3] == ((2,), (1,), (1, 0))
    assert plan.memories[3][0] == 0b111
    assert plan.events[3].stage == Stage.CALM
    assert (plan.events[2].source.waits_for, plan.events[2].source.full) == ((0,), ((2,),))


def test_a_workload_that_an_event_creates_is_absent_at_first():
    plan = make_plan(
        setup(NODES, workload(3), workload(name="late")), (Create(name="c", target="Deployment/shop/late"),)
    )

    assert plan.workloads == (WorkloadCell(1, 3, NEVER, 0), WorkloadCell(exists=0))


def test_an_applied_workload_joins_the_setup_if_it_is_new():
    new, old = workload(2, name="new"), workload(9)

    plan = make_plan(setup(NODES, workload(3)), (Apply(name="a", workload=new), Apply(name="b", workload=old)))

    assert [one.ref for one in plan.setup.workloads] == [WEB, "Deployment/shop/new"]
    assert plan.workloads == (WorkloadCell(1, 3, NEVER, 0), WorkloadCell(exists=0))
    assert [(source.workload, source.replicas) for source in plan.events] == [(1, 2), (0, 9)]


def test_a_placement_starts_with_ready_pods_and_an_existing_replicaset():
    plan = make_plan(setup(NODES, workload(3)), placement=((WEB, (("n2", 3),)),))

    assert plan.nodes == (NodeCell(), cell((READY, 3)))
    assert plan.workloads == (WorkloadCell(1, 3, 3, 0),)
    assert [place.nodes for place in plan.layout.places] == [(0,), (1,)]


@pytest.mark.parametrize("home", [{}, {"node_name": "n2"}, {"bound_to": "n2"}], ids=["free", "names", "runs"])
def test_a_placed_bare_pod_exists_once(home):
    plan = make_plan(setup(NODES, workload(kind="Pod", name="p", **home)), placement=(("Pod/shop/p", (("n2", 1),)),))

    assert plan.nodes == (NodeCell(), cell((READY, 1)))
    assert plan.workloads == (WorkloadCell(1, 1, NEVER, 0),)


def test_a_bare_pod_that_is_placed_nowhere_waits_for_a_node():
    plan = make_plan(setup(NODES, workload(kind="Pod", name="p")), placement=(("Pod/shop/p", ()),))

    assert plan.nodes == (NodeCell(), NodeCell())
    assert plan.workloads == (WorkloadCell(1, 1, NEVER, 1),)


def test_running_bare_pods_are_where_they_run():
    whole = setup(NODES, workload(), workload(kind="Pod", name="p", bound_to="n1"))

    plan = make_plan(whole)

    assert plan.nodes == (cell((kind(2, of=1), 1)), NodeCell())
    assert plan.workloads[1] == WorkloadCell(1, 1, NEVER, 0)


def test_a_cordoned_node_starts_cordoned():
    assert make_plan(setup([node("n1", unschedulable=True)])).nodes == (NodeCell(cordoned=1),)


def test_own_controllers_come_last_and_their_labels_matter():
    class Own:
        name = "mine"

    labelled = [node("n1", labels={"pool": "x"}), node("n2", labels={"pool": "y"})]
    loop = OwnLoop(lambda layout: Adapted(layout, Own(), ("pool",)), ("pool",))

    plan = make_plan(setup(labelled), own=(loop,))

    assert plan.controllers[-1].name == "mine"
    assert plan.domains == ()
    assert make_plan(setup(labelled)).domains == (((0,), (1,)),)


def test_equal_zones_are_symmetric_only_with_reductions():
    nodes = [node(f"{zone}{i}", zone) for zone in "ab" for i in (1, 2)]
    whole = setup(nodes, workload(spread=(spread("topology.kubernetes.io/zone"),)))

    assert make_plan(whole).domains == (((0,), (1,)), ((2,), (3,)), ((0, 1), (2, 3)))
    assert make_plan(whole, merge=False).domains == ()


def test_places_are_split_up_to_three_nodes_and_multisets_above():
    small = make_plan(setup([node(f"n{i}") for i in range(3)]))
    large = make_plan(setup([node(f"n{i}") for i in range(4)]))

    assert [place.nodes for place in small.layout.places] == [(i,) for i in range(3)]
    assert small.domains == (tuple((i,) for i in range(3)),)
    assert [place.nodes for place in large.layout.places] == [tuple(range(4))]
    assert large.domains == ()


def test_the_grouped_system_has_one_check_per_intent_and_a_cell_per_thing():
    intents = (Intent(key="minReady", name="m", target=WEB, count=Amount(1)), Intent(key="settles", name="s"))
    plan = make_plan(setup(NODES, workload(3)), (NodeFailure(name="f"),), intents)

    system = GroupedSystem(plan)

    assert [(check.flag, check.relevant) for check in system.checks] == [(0, 1), (2, -1)]
    assert system.first_cells == (None, WorkloadCell(1, 3, NEVER, 0), (1,), *(((NodeCell(), 1),),) * 2)
    assert len(system.actors) == len(plan.actors) + 1
    assert len(GroupedSystem(plan.deploying()).actors) == len(plan.controllers) + 1
