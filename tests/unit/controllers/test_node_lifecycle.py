"""The node lifecycle controller: noticing, zone states, NoExecute taints."""

import pytest

from kubeproof.cluster.loops.actions import NodeChange, NodeRef
from kubeproof.cluster.loops.control import Decision, Reads, Role, Seen
from kubeproof.cluster.loops.node_verbs import NOTICE, TAINT, TAINT_SLOWLY, TAINT_VERY_SLOWLY, UNTAINT, WELCOME
from kubeproof.cluster.objects import REGION, ZONE, Settings
from kubeproof.cluster.state import Health, WorkloadCell
from kubeproof.controllers.node_lifecycle import (
    EXCLUDED,
    FULL,
    NORMAL,
    PARTIAL,
    NodeMonitor,
    NoExecuteTainter,
    may_taint,
    zone_state,
)
from kubeproof.events.declarations import KernelPanic, NodeFailure, ZoneFailure
from kubeproof.model.loops.assembly import takes_several_down
from tests.unit.model.builders import cell, layout, node, setup


@pytest.mark.parametrize(
    ("ready", "not_ready", "state"),
    [
        pytest.param(0, 0, NORMAL, id="no nodes"),
        pytest.param(3, 0, NORMAL, id="0 of 3"),
        pytest.param(0, 1, FULL, id="1 of 1"),
        pytest.param(0, 3, FULL, id="3 of 3"),
        pytest.param(1, 2, NORMAL, id="2 of 3 is 67 % but not more than two"),
        pytest.param(1, 3, PARTIAL, id="3 of 4"),
        pytest.param(2, 3, PARTIAL, id="3 of 5 is 60 %"),
        pytest.param(3, 3, NORMAL, id="3 of 6 is 50 %"),
        pytest.param(9, 11, PARTIAL, id="11 of 20 is exactly 55 %"),
        pytest.param(10, 12, NORMAL, id="12 of 22 is 54.5 %"),
        pytest.param(45, 55, PARTIAL, id="55 of 100"),
        pytest.param(46, 54, NORMAL, id="54 of 100"),
    ],
)
def test_zone_states_at_their_boundaries(ready, not_ready, state):
    assert zone_state(ready, not_ready) == state


@pytest.mark.parametrize(
    ("state", "size", "all_full", "allowed"),
    [
        (NORMAL, 3, False, True),
        (PARTIAL, 50, False, False),
        (PARTIAL, 51, False, True),
        (FULL, 3, False, True),
        (FULL, 3, True, False),
        (NORMAL, 3, True, False),
    ],
)
def test_who_may_be_tainted(state, size, all_full, allowed):
    assert may_taint(state, size, all_full=all_full) is allowed


@pytest.mark.parametrize(("version", "grace"), [((1, 26), 40), ((1, 31), 40), ((1, 32), 50), ((1, 37), 50)])
def test_the_grace_period_grew_with_1_32(version, grace):
    assert Settings(kubernetes_version=version).grace_s == grace
    assert Settings(kubernetes_version=version, monitor_grace_s=17).grace_s == 17


# -- monitor ----------------------------------------------------------------------------------------


def _noticed(*cells):
    monitor = NodeMonitor(layout(setup([node(f"n{i}") for i in range(len(cells))]), tuple(range(len(cells)))), 0)
    views = [monitor.show_node(0, c) for c in cells]
    return monitor.act(Seen((), (tuple((view, 1) for view in views if view is not None),)))


def test_silence_is_not_noticed_before_the_grace_period():
    assert _noticed(cell(health=Health.LOST, least_s=1, most_s=6), cell()) == ()


def test_silence_may_be_noticed_after_the_grace_period_and_must_one_period_later():
    may, must = (Health.LOST, 0), (Health.LOST, 1)

    assert _noticed(cell(health=Health.LOST, least_s=0, most_s=5)) == (
        Decision((NodeChange(NodeRef(0, may), NOTICE),), Role.OPTIONAL),
    )
    assert _noticed(cell(health=Health.LOST, least_s=0, most_s=0)) == (
        Decision((NodeChange(NodeRef(0, must), NOTICE),), Role.URGENT),
    )


def test_a_returned_node_is_welcomed_at_once():
    assert _noticed(cell(health=Health.BACK)) == (
        Decision((NodeChange(NodeRef(0, (Health.BACK, 1)), WELCOME),), Role.URGENT),
    )


def test_a_known_dead_node_needs_no_step():
    assert _noticed(cell(health=Health.UNKNOWN)) == ()


def test_the_monitor_reads_its_place_only():
    monitor = NodeMonitor(layout(setup([node("n1"), node("n2")])), 1)

    assert monitor.reads == Reads(places=(1,))
    assert monitor.show_workload(0, WorkloadCell()) is None


# -- NoExecute taints -------------------------------------------------------------------------------

UP = cell()
LOST = cell(health=Health.LOST, least_s=0, most_s=5)
OUT = cell(health=Health.UNKNOWN)
TAINTED = cell(health=Health.UNKNOWN, no_execute=1)


def _tainter(zones, *, unique=(), places=(), is_limited=False):
    nodes = [node(f"n{i}", zone) for i, zone in enumerate(zones)]
    return NoExecuteTainter(layout(setup(nodes), *places, unique=unique), is_limited)


def _verbs(zones, cells, **more):
    tainter = _tainter(zones, **more)
    shown = tuple(((tainter.show_node(place, c), 1),) for place, c in enumerate(cells))
    decisions = tainter.act(Seen((), shown))
    return [(d.actions[0].node.place, d.actions[0].verb) for d in decisions]


def test_a_single_dead_node_of_three_is_tainted():
    assert _verbs(["", "", ""], [OUT, UP, UP]) == [(0, TAINT)]


def test_a_tainted_node_is_left_alone_while_somebody_lives():
    assert _verbs(["", ""], [TAINTED, UP]) == []


def test_a_lost_node_counts_as_ready_until_it_is_noticed():
    assert _verbs(["", ""], [OUT, LOST]) == [(0, TAINT)]


def test_nobody_is_tainted_when_the_only_zone_is_down_and_taints_are_removed():
    assert _verbs(["", ""], [OUT, OUT]) == []
    assert _verbs(["", ""], [TAINTED, OUT]) == [(0, UNTAINT)]


def test_a_zone_that_is_fully_down_is_tainted_while_another_lives():
    assert _verbs(["a", "a", "b"], [OUT, OUT, UP]) == [(0, TAINT), (1, TAINT)]


def test_all_zones_down_removes_the_taints_of_all():
    assert _verbs(["a", "b"], [TAINTED, TAINTED]) == [(0, UNTAINT), (1, UNTAINT)]


def test_partial_disruption_of_a_small_zone_taints_nobody_but_keeps_taints():
    assert _verbs([""] * 5, [OUT, OUT, OUT, UP, UP]) == []
    assert _verbs([""] * 5, [TAINTED, TAINTED, OUT, UP, UP]) == []
    assert _verbs([""] * 5, [OUT, OUT, UP, UP, UP]) == [(0, TAINT), (1, TAINT)]


def test_partial_disruption_of_another_zone_does_not_matter():
    zones = ["a"] * 4 + ["b", "b"]

    assert _verbs(zones, [OUT, OUT, OUT, UP, OUT, UP]) == [(4, TAINT)]


@pytest.mark.parametrize(("size", "verbs"), [(50, 0), (51, 1)])
def test_a_zone_of_50_nodes_is_small_and_one_of_51_is_large(size, verbs):
    tainter = _tainter([""] * size, places=(tuple(range(size)),))
    out = size * 6 // 10
    shown = (((tainter.show_node(0, OUT), out), (tainter.show_node(0, UP), size - out)),)

    assert len(tainter.act(Seen((), shown))) == verbs


# -- their rate -------------------------------------------------------------------------------------

JUST_TAINTED = cell(health=Health.UNKNOWN, no_execute=1, least_s=7, most_s=7)


def test_of_several_nodes_of_a_zone_one_is_tainted_and_the_next_after_10_seconds():
    zones = ["a", "a", "a", "b", "b"]
    both = [(0, TAINT_SLOWLY), (1, TAINT_SLOWLY), (3, TAINT_SLOWLY)]

    assert _verbs(zones, [OUT, OUT, UP, OUT, UP], is_limited=True) == both
    assert _verbs(zones, [JUST_TAINTED, OUT, UP, OUT, UP], is_limited=True) == [(3, TAINT_SLOWLY)]
    assert _verbs(zones, [TAINTED, OUT, UP, UP, UP], is_limited=True) == [(1, TAINT_SLOWLY)]


def test_a_node_alone_in_its_zone_makes_nobody_wait():
    assert _verbs(["a", "b", "b"], [OUT, UP, UP], is_limited=True) == [(0, TAINT)]


def test_a_large_zone_that_is_partly_down_taints_one_node_per_100_seconds():
    tainter = _tainter([""] * 60, places=(tuple(range(60)),), is_limited=True)

    def verbs(out):
        shown = (((tainter.show_node(0, OUT), out), (tainter.show_node(0, UP), 60 - out)),)
        return [decision.actions[0].verb for decision in tainter.act(Seen((), shown))]

    assert verbs(32) == [TAINT_SLOWLY]  # 53 %
    assert verbs(33) == [TAINT_VERY_SLOWLY]  # 55 %


def test_a_wait_does_not_keep_taints_from_being_removed():
    assert _verbs(["", ""], [JUST_TAINTED, OUT], is_limited=True) == [(0, UNTAINT)]


@pytest.mark.parametrize(
    ("events", "several"),
    [
        ((NodeFailure(name="a"),), False),
        ((NodeFailure(name="a", max=2),), True),
        ((NodeFailure(name="a", max=None),), True),
        ((NodeFailure(name="a"), NodeFailure(name="b")), True),
        ((KernelPanic(name="a", max=1),), False),
        ((KernelPanic(name="a"),), True),
        ((ZoneFailure(name="a"),), True),
    ],
)
def test_the_rate_matters_where_several_nodes_may_be_down(events, several):
    assert takes_several_down(events) is several


def test_the_region_is_part_of_the_zone():
    nodes = [node(f"n{i}", "z", labels={REGION: region}) for i, region in enumerate("rrrrs")]
    tainter = NoExecuteTainter(layout(setup(nodes)))
    shown = tuple(((tainter.show_node(i, c), 1),) for i, c in enumerate([OUT, OUT, OUT, OUT, UP]))

    assert [d.actions[0].verb for d in tainter.act(Seen((), shown))] == [TAINT] * 4


def test_nodes_with_a_zone_each_are_full_zones_one_by_one():
    """Three dead of four would be partial disruption in one zone; in zones of their own each is fully down."""
    tainter = _tainter(["a", "b", "c", "d"], unique=(ZONE,), places=((0, 1, 2, 3),))
    dead, alive = tainter.show_node(0, OUT), tainter.show_node(0, UP)

    (decision,) = tainter.act(Seen((), (((dead, 3), (alive, 1)),)))
    assert decision == Decision((NodeChange(NodeRef(0, dead), TAINT),), Role.URGENT)
    assert tainter.act(Seen((), (((dead, 4),),))) == ()
    (removed,) = tainter.act(Seen((), (((tainter.show_node(0, TAINTED), 4),),)))
    assert removed.actions[0].verb == UNTAINT


def test_the_tainter_reads_every_place_and_no_workload():
    tainter = _tainter(["", ""])

    assert tainter.reads == Reads(places=(0, 1))
    assert tainter.show_workload(0, WorkloadCell()) is None


def test_excluded_nodes_do_not_count_for_their_zone_but_follow_it():
    nodes = [node("n1"), node("n2"), node("n3", labels={EXCLUDED: ""})]
    tainter = NoExecuteTainter(layout(setup(nodes)))

    def verbs(*cells):
        shown = tuple(((tainter.show_node(place, c), 1),) for place, c in enumerate(cells))
        return [(d.actions[0].node.place, d.actions[0].verb) for d in tainter.act(Seen((), shown))]

    assert verbs(OUT, OUT, UP) == []  # all that count are down
    assert verbs(OUT, UP, OUT) == [(0, TAINT), (2, TAINT)]


def test_a_zone_of_which_no_node_counts_is_in_its_normal_state():
    nodes = [node("n1", labels={EXCLUDED: ""}), node("n2", labels={EXCLUDED: ""})]
    tainter = NoExecuteTainter(layout(setup(nodes)))
    shown = tuple(((tainter.show_node(place, OUT), 1),) for place in (0, 1))

    assert [d.actions[0].verb for d in tainter.act(Seen((), shown))] == [TAINT, TAINT]


@pytest.mark.parametrize(("out", "size", "verbs"), [(28, 50, []), (29, 51, [TAINT])])
def test_only_a_large_zone_that_is_partly_down_goes_on_tainting(out, size, verbs):
    nodes = [node(f"n{number}", "a") for number in range(size)]
    tainter = NoExecuteTainter(layout(setup(nodes), tuple(range(size))))
    views = ((tainter.show_node(0, OUT), out), (tainter.show_node(0, UP), size - out))

    assert [d.actions[0].verb for d in tainter.act(Seen((), (views,)))] == verbs
