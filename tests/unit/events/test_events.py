"""Events: when each is enabled, what it does, how often, after what, and to whom."""

import pytest

from kubeproof.cluster.labels import LabelSelector, Requirement
from kubeproof.cluster.loops.actions import CreateObject, NodeChange, NodeRef, Remember, SetDesired
from kubeproof.cluster.loops.control import Decision, Reads, Role, Seen, Stage
from kubeproof.cluster.loops.node_verbs import CORDON, FAIL, RECOVER, UNCORDON
from kubeproof.cluster.state import Cause, Health, NodeCell, WorkloadCell
from kubeproof.events.common import ANY_NUMBER, ANY_NUMBER_BUT_NONE_YET, EventSource, one_less
from kubeproof.events.declarations import Apply, Cordon, Event, NodeChoice, NodeFailure, Scale
from kubeproof.events.nodes.cordon import CordonEvent
from kubeproof.events.nodes.failure import NodeFailureEvent, NodeRecoveryEvent
from kubeproof.events.operator import ScaleEvent, WriteEvent
from tests.unit.model.builders import WEB, cell, layout, node, setup, workload

NODES = [node("n1", "a"), node("n2", "a"), node("n3", "b", labels={"pool": "web"})]
PLACES = ((0, 1), (2,))
POOL = NodeChoice(LabelSelector((Requirement("pool", "In", ("web",)),)))


def _source(event, *, waits_for=(), full=()):
    return EventSource(layout(setup(NODES), *PLACES), event, 0, waits_for, full)


def _fail(picks, left):
    changes = tuple(NodeChange(NodeRef(place, 1), FAIL) for place in picks)
    return Decision((*changes, Remember(0, (left,))), Role.EVENT)


# -- which nodes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        pytest.param(NodeChoice(), ["n1", "n2", "n3"], id="all"),
        pytest.param(POOL, ["n3"], id="selector"),
        pytest.param(NodeChoice(names=("n1", "n3")), ["n1", "n3"], id="names"),
        pytest.param(NodeChoice(names=()), [], id="no names"),
        pytest.param(NodeChoice(POOL.selector, ("n1", "n3")), ["n3"], id="both"),
    ],
)
def test_a_node_choice_admits_by_selector_and_by_name(choice, names):
    assert [one.name for one in NODES if choice.admits(one)] == names


# -- what all share ---------------------------------------------------------------------------------


def test_an_event_is_asked_always_or_only_in_stable_states():
    assert _source(Event(name="e")).stage == Stage.ALWAYS
    assert _source(Event(name="e", after="other")).stage == Stage.ALWAYS
    assert _source(Event(name="e", after="stable")).stage == Stage.CALM


def test_an_event_waits_until_the_awaited_ones_memory_has_changed():
    waiting = _source(Event(name="e", after="first"), waits_for=(1,), full=((2,),))

    assert waiting.reads(places=(1,)) == Reads(places=(1,), memories=(0, 1))
    assert not waiting.may_happen(((1,), (2,)))
    assert waiting.may_happen(((1,), (1,)))
    assert _source(Event(name="e")).may_happen(((1,),))


# -- nodeFailure ------------------------------------------------------------------------------------


def _failures(event, alive, memory=(1,), **source):
    failing = NodeFailureEvent(_source(event, **source), event)
    places = tuple(((1, count),) if count else () for count in alive)
    return failing.act(Seen((), places, (memory,)))


def test_any_one_node_may_fail_while_the_budget_lasts():
    event = NodeFailure(name="f")

    assert _failures(event, (2, 1)) == (_fail((0,), 0), _fail((1,), 0))
    assert _failures(event, (2, 1), (0,)) == ()


def test_each_failure_uses_one_of_the_budget():
    assert _failures(NodeFailure(name="f", max=3), (2, 1), (3,)) == (_fail((0,), 2), _fail((1,), 2))


def test_together_all_fail_at_once_or_none():
    event = NodeFailure(name="f", max=2, together=True)

    assert _failures(event, (2, 1), (2,)) == (_fail((0, 0), 0), _fail((0, 1), 0))
    assert _failures(event, (0, 1), (2,)) == ()


def test_together_or_fewer_any_number_fails_at_once_and_no_more_later():
    event = NodeFailure(name="f", max=2, together=True, or_fewer=True)

    assert _failures(event, (2, 1), (2,)) == tuple(_fail(picks, 0) for picks in ((0, 0), (0, 1), (0,), (1,)))
    assert _failures(event, (0, 1), (2,)) == (_fail((1,), 0),)


def test_an_endless_budget_tells_once_that_it_was_used():
    assert [one_less(left) for left in (2, 1, 0, ANY_NUMBER, ANY_NUMBER_BUT_NONE_YET)] == [1, 0, 0, -1, -1]


def test_an_event_after_several_conditions_waits_for_all_of_them():
    event = Event(name="e", after="first", and_after=("second", "stable"))
    waiting = _source(event, waits_for=(1, 2), full=((2,), (-2,)))

    assert event.awaited == ("first", "second")
    assert waiting.stage == Stage.CALM
    assert [waiting.may_happen(((1,), *others)) for others in (((2,), (-2,)), ((1,), (-2,)), ((1,), (-1,)))] == [
        False,
        False,
        True,
    ]


def test_a_place_without_living_nodes_cannot_fail():
    assert _failures(NodeFailure(name="f"), (0, 1)) == (_fail((1,), 0),)


def test_only_chosen_places_are_looked_at():
    event = NodeFailure(name="f", nodes=POOL)
    failing = NodeFailureEvent(_source(event), event)

    assert failing.reads == Reads(places=(1,), memories=(0,))
    assert failing.act(Seen((), (((1, 1),),), ((1,),))) == (_fail((1,), 0),)


@pytest.mark.parametrize(
    ("health", "can_fail"), [(Health.UP, 1), (Health.BACK, 1), (Health.LOST, None), (Health.UNKNOWN, None)]
)
def test_living_nodes_can_fail_and_dead_ones_recover(health, can_fail):
    event = NodeFailure(name="f")
    source = _source(event)

    assert NodeFailureEvent(source, event).show_node(0, cell(health=health)) == can_fail
    down = cell(health=health, cause=Cause.FAILURE)
    assert NodeRecoveryEvent(source, event).show_node(0, down) == (None if can_fail else 1)


@pytest.mark.parametrize("cause", [Cause.PANIC, Cause.FOR_GOOD])
def test_only_nodes_that_may_come_back_recover(cause):
    event = NodeFailure(name="f")

    assert NodeRecoveryEvent(_source(event), event).show_node(0, cell(health=Health.UNKNOWN, cause=cause)) is None


def test_a_dead_node_may_recover_at_any_moment():
    event = NodeFailure(name="f", after="stable")
    recovery = NodeRecoveryEvent(_source(event), event)

    assert recovery.name == "event f"
    assert recovery.stage == Stage.ALWAYS
    assert recovery.act(Seen((), (((1, 2),), ()))) == (Decision((NodeChange(NodeRef(0, 1), RECOVER),), Role.EVENT),)
    assert recovery.show_workload(0, WorkloadCell()) is None


def test_a_failure_after_another_event_waits_for_it():
    event = NodeFailure(name="f", after="first")
    failing = NodeFailureEvent(_source(event, waits_for=(1,), full=((1,),)), event)
    places = (((1, 2),), ((1, 1),))

    assert failing.act(Seen((), places, ((1,), (1,)))) == ()
    assert len(failing.act(Seen((), places, ((1,), (0,))))) == 2


# -- cordon -----------------------------------------------------------------------------------------


def _cordons(event, cordoned, memory):
    cordoning = CordonEvent(_source(event), event)
    places = tuple(tuple((view, 1) for view in views) for views in cordoned)
    return [(d.actions, d.role) for d in cordoning.act(Seen((), places, (memory,)))]


def test_any_open_node_may_be_cordoned():
    assert _cordons(Cordon(name="c"), ((0, 0), (0,)), (1, 0)) == [
        ((NodeChange(NodeRef(0, 0), CORDON), Remember(0, (0, 0))), Role.EVENT),
        ((NodeChange(NodeRef(1, 0), CORDON), Remember(0, (0, 0))), Role.EVENT),
    ]


def test_a_cordon_is_lifted_only_if_it_is_reversible_and_as_often_as_it_was_set():
    event = Cordon(name="c", reversible=True)

    assert _cordons(event, ((0,), ()), (1, 0)) == [
        ((NodeChange(NodeRef(0, 0), CORDON), Remember(0, (0, 1))), Role.EVENT)
    ]
    assert _cordons(event, ((1, 0), ()), (0, 1)) == [
        ((NodeChange(NodeRef(0, 1), UNCORDON), Remember(0, (0, 0))), Role.EVENT)
    ]
    assert _cordons(event, ((1,), ()), (0, 0)) == []
    assert _cordons(Cordon(name="c"), ((1,), ()), (1, 0)) == []


def test_a_cordon_hits_chosen_nodes_and_sees_the_cordon_alone():
    event = Cordon(name="c", nodes=POOL, after="stable")
    cordoning = CordonEvent(_source(event), event)

    assert cordoning.name == "event c"
    assert cordoning.stage == Stage.CALM
    assert cordoning.reads == Reads(places=(1,), memories=(0,))
    assert cordoning.show_node(1, NodeCell(cordoned=1)) == 1
    assert (
        CordonEvent(_source(event, waits_for=(1,), full=((1,),)), event).act(Seen((), (((0, 1),),), ((1, 0), (1,))))
        == ()
    )


# -- scale ------------------------------------------------------------------------------------------


def _scaled(memory, exists=1, most=2, **source):
    event = Scale(name="s", max=most, target=WEB, replicas=(5, 0))
    scaling = ScaleEvent(_source(event, **source), event, 0)
    return scaling.act(Seen((scaling.show_workload(0, WorkloadCell(exists=exists)),), (), memory))


def test_scaling_writes_each_value_once():
    decisions = _scaled(((0b11,),))

    assert [decision.actions[0] for decision in decisions] == [SetDesired(0, 5), SetDesired(0, 0)]
    assert [decision.role for decision in decisions] == [Role.EVENT, Role.EVENT]
    assert [decision.actions[0] for decision in _scaled(((0b10,),))] == [SetDesired(0, 0)]
    assert _scaled(((0,),)) == ()


def test_scaling_happens_at_most_max_times():
    assert len(_scaled(((0b11,),), most=1)) == 2
    assert _scaled(((0b01,),), most=1) == ()


def test_an_absent_workload_is_not_scaled():
    assert _scaled(((0b11,),), exists=0) == ()


def test_scaling_after_another_event_waits_for_it():
    assert _scaled(((0b11,), (1, 0)), waits_for=(1,), full=((1, 0),)) == ()
    assert len(_scaled(((0b11,), (0, 0)), waits_for=(1,), full=((1, 0),))) == 2


def test_scaling_reads_its_workload_and_memory():
    event = Scale(name="s", target=WEB, replicas=(1,), after="stable")
    scaling = ScaleEvent(_source(event), event, 0)

    assert (scaling.name, scaling.stage) == ("event s", Stage.CALM)
    assert scaling.reads == Reads(workloads=(0,), memories=(0,))
    assert scaling.show_node(0, NodeCell()) is None


# -- create, apply ----------------------------------------------------------------------------------


def _written(replicas, *, exists, left=1):
    writing = WriteEvent(_source(Event(name="w")), "w", 0, replicas)
    return writing.act(Seen((writing.show_workload(0, WorkloadCell(exists=exists)),), (), ((left,),)))


def test_an_absent_object_is_created_by_create_and_by_apply():
    assert _written(None, exists=0) == (Decision((CreateObject(0), Remember(0, (0,))), Role.EVENT),)
    assert _written(4, exists=0) == (Decision((CreateObject(0), SetDesired(0, 4), Remember(0, (0,))), Role.EVENT),)


def test_apply_sets_the_replicas_of_an_existing_object_and_create_leaves_it():
    assert _written(4, exists=1) == (Decision((SetDesired(0, 4), Remember(0, (0,))), Role.EVENT),)
    assert _written(None, exists=1) == ()


def test_an_apply_that_leaves_everything_as_it_is_happens_all_the_same():
    applied = Apply(name="w", workload=workload(), replicas_given=False)
    writing = WriteEvent(_source(applied), "w", 0, None)

    assert writing.act(Seen(((1, 0),), (), ((1,),))) == (Decision((Remember(0, (0,)),), Role.EVENT),)
    assert writing.act(Seen(((1, 0),), (), ((0,),))) == ()


def test_a_write_ends_with_its_budget():
    assert _written(4, exists=1, left=0) == ()
    assert _written(4, exists=1, left=3)[0].actions[1] == Remember(0, (2,))


def test_a_write_names_its_event_and_reads_its_workload():
    writing = WriteEvent(_source(Event(name="w", after="stable")), "w", 0, None)

    assert (writing.name, writing.stage, writing.reads) == ("event w", Stage.CALM, Reads((0,), (), (0,)))
    assert writing.show_node(0, NodeCell()) is None
