"""Nodes that an operator works on one after the other."""

import pytest

from kubeproof.cluster.loops.actions import NodeChange, NodeRef
from kubeproof.cluster.loops.node_verbs import DRAIN_UNCORDON, MAINTAIN
from kubeproof.cluster.state import NodeCell, Work
from kubeproof.engine.reference import reach
from kubeproof.events.common import EventSource
from kubeproof.events.declarations import Drain, Maintenance
from kubeproof.events.nodes.drain import DrainEvent
from kubeproof.intents.declarations import Intent
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.model.mechanics import Mechanics
from kubeproof.model.plan import make_plan
from tests.differential.comparison import search
from tests.unit.model.builders import layout, node, setup, workload

SETUP = setup([node(f"n{number}") for number in range(1, 7)], workload())
UPGRADE = Maintenance(name="upgrade", each_once=True, max=6)


def _event(mark=2):
    return DrainEvent(EventSource(layout(SETUP), UPGRADE, 0, mark=mark), UPGRADE)


@pytest.mark.parametrize(
    ("cell", "view"),
    [
        (NodeCell(), 0),
        (NodeCell(marks=1), 0),  # of another event
        (NodeCell(marks=2), None),
        (NodeCell(marks=3, work=int(Work.DOWN)), 1),  # still counts as one that is under work
    ],
)
def test_a_node_that_had_its_turn_is_not_taken_up_again(cell, view):
    assert _event().show_node(0, cell) == view


def test_the_mark_is_left_with_the_beginning_of_the_work_and_stays():
    mechanics, declared = Mechanics(SETUP), SETUP.nodes[0]
    (begun,) = mechanics.on_node(declared, NodeCell(marks=1), NodeChange(NodeRef(0, 0), MAINTAIN, 2))

    assert begun == NodeCell(marks=3, cordoned=1, work=int(Work.MAINTAIN))
    assert mechanics.on_node(declared, NodeCell(), NodeChange(NodeRef(0, 0), DRAIN_UNCORDON))[0].marks == 0


@pytest.mark.parametrize("once", [False, True])
def test_each_node_has_one_turn_however_often_the_event_may_happen(once):
    drain = Drain(name="drain", uncordon=True, each_once=once, max=3)
    model = IndividualModel(make_plan(setup([node("n1"), node("n2")], workload()), (drain,)))
    left = {state.memories[0] for state in reach(model, max_states=2000).steps}

    assert min(left) == ((1,) if once else (0,))


def test_states_of_an_upgrade_grow_with_the_nodes_and_not_with_their_orders():
    def states(count):
        some = setup([node(f"n{number}") for number in range(count)], workload(replicas=1))
        plan = make_plan(
            some, (Drain(name="up", uncordon=True, each_once=True, max=count),), (Intent(key="settles", name="s"),)
        )
        return len(search(plan).store)

    found = [states(count) for count in (4, 8, 12)]
    assert found[2] - found[1] == found[1] - found[0], found
