"""Taint eviction: how long a pod may stay, and who is deleted when."""

import pytest

from kubeproof.cluster.labels import Taint, Toleration
from kubeproof.cluster.loops.actions import EvictDue, NodeRef
from kubeproof.cluster.loops.control import Decision, Reads, Seen
from kubeproof.cluster.state import NEVER, Phase, WorkloadCell
from kubeproof.controllers.evictions.taint_eviction import TaintEviction, clock_after, seconds_tolerated
from tests.unit.model.builders import cell, kind, layout, node, setup, taint, workload


def _for(key, seconds=None, effect="NoExecute"):
    return Toleration(key, "Exists", "", effect, seconds)


A, B = taint("a"), taint("b")


@pytest.mark.parametrize(
    ("tolerations", "taints", "seconds"),
    [
        pytest.param([], [], NEVER, id="no taints"),
        pytest.param([], [taint(effect="NoSchedule"), taint(effect="PreferNoSchedule")], NEVER, id="other effects"),
        pytest.param([], [A], 0, id="not tolerated"),
        pytest.param([_for("b", 60)], [A], 0, id="another tolerated"),
        pytest.param([_for("a")], [A], NEVER, id="tolerated for ever"),
        pytest.param([_for("a", 300)], [A], 300, id="tolerated for a while"),
        pytest.param([_for("a", 0)], [A], 0, id="zero seconds"),
        pytest.param([_for("a", -5)], [A], 0, id="negative seconds"),
        pytest.param([_for("a", 300), _for("b", 60)], [A, B], 60, id="least of those in use"),
        pytest.param([_for("a", 300), _for("b", 60)], [A], 300, id="one not in use"),
        pytest.param([_for("a"), _for("b", 60)], [A, B], 60, id="one for ever"),
        pytest.param([_for("a", 300)], [A, B], 0, id="one of two"),
        pytest.param([_for("a", 300), _for("a", 60)], [A], 300, id="the first that matches"),
        pytest.param([_for("a"), _for("a", 60)], [A], NEVER, id="the first, for ever"),
        pytest.param([_for("a", 60), Toleration("", "Exists")], [A, B], 60, id="the first of each taint"),
        pytest.param([Toleration("", "Exists")], [A, B], NEVER, id="everything"),
        pytest.param([_for("a", 9, "NoSchedule")], [A], 0, id="wrong effect"),
        pytest.param([Toleration("a", "Equal", "x", "", 7)], [Taint("a", "x", "NoExecute")], 7, id="equal value"),
        pytest.param([Toleration("a", "Equal", "x", "", 7)], [Taint("a", "y", "NoExecute")], 0, id="other value"),
    ],
)
def test_seconds_tolerated(tolerations, taints, seconds):
    assert seconds_tolerated(tolerations, taints) == seconds


@pytest.mark.parametrize(
    ("seconds", "left"),
    [(9_223_372_036, 9_223_372_036), (9_223_372_037, NEVER), (18_446_744_074, 0), (18_446_744_100, 26)],
)
def test_toleration_seconds_overflow_as_nanoseconds_like_upstream(seconds, left):
    assert seconds_tolerated([_for("a", seconds)], [A]) == left


def test_a_running_clock_goes_on_whatever_further_taints_are_tolerated_for():
    assert clock_after(NEVER, [_for("a", 300), _for("b", 60)], [A]) == 300
    assert clock_after(200, [_for("a", 300), _for("b", 60)], [A, B]) == 200
    assert clock_after(20, [_for("a", 300), _for("b", 60)], [A]) == 20
    assert clock_after(200, [_for("a", 300), _for("b", 0)], [A, B]) == 200


def test_a_taint_that_is_not_tolerated_ends_a_running_clock_at_once():
    assert clock_after(200, [_for("a", 300)], [A, B]) == 0


def test_toleration_for_ever_stops_a_running_clock():
    assert clock_after(200, [_for("a"), _for("b", 60)], [A]) == NEVER
    assert clock_after(200, [_for("b", 60)], []) == NEVER


def _eviction():
    return TaintEviction(layout(setup([node("n1")], workload(), workload(name="api"))), 0)


def test_pods_whose_clock_ran_out_are_due_by_workload():
    eviction = _eviction()
    due, other = kind(Phase.READY, evict_s=0), kind(Phase.STARTING, 0, 5, 0, of=1)

    view = eviction.show_node(0, cell((due, 2), (other, 1)))

    assert view == (0, 1)
    assert eviction.act(Seen((), (((view, 1),),))) == (
        Decision((EvictDue(NodeRef(0, (0, 1)), 0),)),
        Decision((EvictDue(NodeRef(0, (0, 1)), 1),)),
    )


@pytest.mark.parametrize(
    "pods",
    [
        pytest.param((kind(Phase.READY, evict_s=1), 1), id="not yet"),
        pytest.param((kind(Phase.READY), 1), id="never"),
        pytest.param((kind(Phase.TERMINATING, 0, 30, 0), 1), id="already deleted"),
    ],
)
def test_others_are_left_alone(pods):
    assert _eviction().show_node(0, cell(pods)) is None


def test_equal_nodes_share_a_step_and_nothing_else_is_read():
    eviction = _eviction()

    assert len(eviction.act(Seen((), ((((0,), 1), ((0,), 1)),)))) == 1
    assert eviction.reads == Reads(places=(0,))
    assert eviction.show_workload(0, WorkloadCell()) is None
