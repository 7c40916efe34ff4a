"""Machines of groups: they come, they do not come, they go, or the autoscaler gives up on them."""

import pytest

from kubeproof.cluster.kinds import DAEMON_SET
from kubeproof.cluster.labels import NodeTerm, Requirement
from kubeproof.cluster.loops.actions import NodeChange, NodeRef, Remember
from kubeproof.cluster.loops.control import Decision, Role, Seen
from kubeproof.cluster.loops.node_verbs import FORSAKE, JOIN, REMOVE, SPARE
from kubeproof.cluster.nodes.node_groups import NodeGroup, find_requested_names
from kubeproof.cluster.objects import HOSTNAME
from kubeproof.cluster.state import NEVER, Health, NodeCell, Phase, PodKind
from kubeproof.cluster.volumes import Volume
from kubeproof.controllers.cluster_autoscaler.machines import MachineArrival, MachineDeparture
from kubeproof.model.by_name.ticks import next_due, tick
from kubeproof.model.mechanics import Mechanics
from tests.unit.controllers.cluster_autoscaler.scenes import cluster, layout_of, machine, pods, running

N1 = machine("n1")
SETUP = cluster([N1], [pods("web"), pods("agent", kind=DAEMON_SET)], provisioning_s=(60, 180))
LAYOUT = layout_of(SETUP)


def coming(least_s: int, most_s: int) -> NodeCell:
    """A node that was asked for."""
    return NodeCell(health=int(Health.ABSENT), least_s=least_s, most_s=most_s)


def _asked(loop, cell, *memories):
    view = loop.show_node(loop.place, cell)
    return loop.act(Seen((), (((view, 1),),) if view is not None else ((),), memories))


@pytest.mark.parametrize(
    ("least_s", "most_s", "roles"), [(1, 121, []), (0, 120, [Role.OPTIONAL]), (0, 0, [Role.URGENT])]
)
def test_a_machine_may_join_from_its_least_time_on_and_must_at_its_most(least_s, most_s, roles):
    decisions = _asked(MachineArrival(LAYOUT, 1, 0), coming(least_s, most_s))

    assert [decision.role for decision in decisions] == roles
    assert all(decision.actions[0].verb == JOIN for decision in decisions)


def test_a_machine_of_a_lost_zone_does_not_come_and_its_group_is_backed_off_twice_as_long_each_time():
    arrival = MachineArrival(LAYOUT, 1, 0, (5,), lambda place, memories: memories == ((0, 1),))
    change = NodeChange(NodeRef(1, 1), FORSAKE)

    assert _asked(arrival, coming(0, 9), (0, 0, 0, 0, 0), (0, 1)) == ()
    assert _asked(arrival, coming(0, 0), (1, 2, 3, 0, 0), (0, 1)) == (
        Decision((change, Remember(0, (1, 2, 3, 300, 300)))),
    )
    assert _asked(arrival, coming(0, 0), (1, 2, 3, 0, 300), (0, 1))[0].actions[1].value == (1, 2, 3, 600, 600)
    assert _asked(arrival, coming(0, 0), (1, 2, 3, 0, 1800), (0, 1))[0].actions[1].value == (1, 2, 3, 1800, 1800)
    assert _asked(arrival, coming(0, 0), (1, 2, 3, 0, 0), (0, 0))[0].actions == (NodeChange(NodeRef(1, 1), JOIN),)


def test_a_drained_node_is_deleted_when_only_daemon_pods_are_left():
    leaving = running((0, 1), (1, 1))._replace(work=5, most_s=60, least_s=60)
    departure = MachineDeparture(LAYOUT, 0, 0)

    assert _asked(departure, leaving, (1, 2, 3)) == ()
    assert _asked(departure, leaving._replace(pods=leaving.pods[1:]), (1, 2, 3)) == (
        Decision((NodeChange(NodeRef(0, REMOVE), REMOVE),)),
    )
    assert _asked(departure, leaving._replace(work=0), (1, 2, 3)) == ()


def test_the_autoscaler_gives_up_when_evictions_are_refused_for_two_minutes():
    late = running((0, 1))._replace(work=5, most_s=0, least_s=0)
    ending = late._replace(pods=((PodKind(0, int(Phase.TERMINATING), 0, 30), 1),))
    departure = MachineDeparture(LAYOUT, 0, 0)
    gives_up = NodeChange(NodeRef(0, SPARE), SPARE)

    assert _asked(departure, late, (1, 2, 3)) == (Decision((gives_up, Remember(0, (1, 2, 180)))),)
    assert _asked(departure, late, (1, 2, 400)) == (Decision((gives_up, Remember(0, (1, 2, 400)))),)
    assert _asked(departure, ending, (1, 2, 3)) == ()


def test_the_autoscaler_gives_up_when_the_node_fails_meanwhile():
    lost = running((0, 1))._replace(work=5, health=int(Health.LOST), most_s=50, least_s=50)

    assert _asked(MachineDeparture(LAYOUT, 0, 0), lost, (1, 2, 3))[0].actions[0].verb == SPARE


def test_a_dead_node_is_drained_until_its_pods_are_asked_to_go_and_given_up_because_they_never_do():
    dead = running((0, 1))._replace(work=5, health=int(Health.UNKNOWN), most_s=50, least_s=50)
    stuck = dead._replace(pods=((PodKind(0, int(Phase.TERMINATING)), 1),))
    departure = MachineDeparture(LAYOUT, 0, 0)

    assert _asked(departure, dead, (1, 2, 3)) == ()
    assert _asked(departure, stuck, (1, 2, 3))[0].actions[0].verb == SPARE


# -- what verbs do --------------------------------------------------------------------------------------

MECHANICS = Mechanics(SETUP, spare_ages=(600, 1200))


def _after(cell, verb):
    (changed,) = MECHANICS.on_node(SETUP.nodes[0], cell, NodeChange(NodeRef(0, None), verb))
    return changed


def test_a_slot_is_filled_after_the_declared_time_with_an_empty_ready_node():
    asked = _after(NodeCell(health=int(Health.ABSENT)), "provision")

    assert asked == coming(60, 180)
    assert _after(coming(0, 0), "join") == NodeCell()
    assert _after(coming(0, 0), "forsake") == NodeCell(health=int(Health.ABSENT))


def test_a_node_that_is_deleted_takes_everything_with_it():
    full = running((1, 1))._replace(images=3, pinned=((1, 1),), nominated=((0, 1),), spare_s=700, cause=1)

    assert _after(full, "remove") == NodeCell(health=int(Health.ABSENT))


def test_a_drain_cordons_has_two_minutes_and_forgets_that_the_node_was_unneeded():
    spare = running((0, 1))._replace(spare_s=700)
    leaving = _after(spare, "evacuate")

    assert leaving == spare._replace(cordoned=1, work=5, spare_s=NEVER, least_s=120, most_s=120)
    assert _after(leaving, "spare") == running((0, 1))
    assert _after(leaving._replace(health=int(Health.LOST), least_s=50, most_s=55), "spare").most_s == 55


def test_the_time_for_which_a_node_is_unneeded_runs_up_to_what_matters():
    spare = _after(NodeCell(), "mark-spare")

    assert spare.spare_s == 0
    assert next_due(spare, ((), ()), (600, 1200)) == 600
    assert next_due(tick(spare, 700, ((), ()), (600, 1200)), ((), ()), (600, 1200)) == 500
    assert tick(spare, 5000, ((), ()), (600, 1200)).spare_s == 1200
    assert _after(spare, "mark-needed") == NodeCell()


# -- slots ----------------------------------------------------------------------------------------------


def test_a_group_has_slots_up_to_its_maximum_and_more_where_nodes_are_told_by_name():
    local = Volume("disk", terms=(NodeTerm((Requirement(HOSTNAME, "In", ("n1",)),)),))
    plain = cluster([N1, machine("n2", zone="b")], [pods("web")], NodeGroup("web", 1, 2, N1))
    told = cluster([N1], [pods("web")], NodeGroup("web", 1, 2, N1), more={"volumes": (local,)})

    assert [(node.name, node.group, node.is_slot) for node in plain.nodes] == [
        ("n1", "web", False),
        ("n2", "", False),
        ("web-new1", "web", True),
    ]
    assert [node.name for node in told.nodes] == ["n1", "web-new1", "web-new2"]
    assert find_requested_names(told) == {"n1"}
    assert dict(told.nodes[1].labels)[HOSTNAME] == "web-new1"
