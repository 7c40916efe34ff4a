"""The cluster by name, and what remains of it without names."""

import pytest

from kubeproof.cluster.loops.control import Role, has_nothing_to_do
from kubeproof.cluster.objects import ZONE
from kubeproof.cluster.state import NEVER, Health, Phase, WorkloadCell
from kubeproof.controllers.scheduler.controller import SchedulerController
from kubeproof.engine.reference import reach
from kubeproof.engine.search import explore, make_kernel
from kubeproof.events.declarations import Cordon, Create, NodeFailure, Scale
from kubeproof.intents.declarations import Amount, Intent
from kubeproof.model.by_name.abstraction import anonymous, canonical
from kubeproof.model.by_name.representatives import RepresentativeModel
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.plan import make_plan
from tests.unit.model.builders import WEB, node, setup, spread, workload

NODES = [node("n1"), node("n2")]


def _model(whole=None, events=(), intents=(), **more):
    return IndividualModel(make_plan(whole or setup(NODES, workload(2)), events, intents, **more))


def _walk(model, *verbs):
    """Follows the first step with each verb, from the start."""
    (state,) = model.initial()
    for verb in verbs:
        state = next(step for step in model.steps(state) if step.concrete[0][0] == verb).target
    return state


DEPLOYED = ("set-replicas", "create", "bind", "bind", "tick", "start", "start")


def test_a_run_starts_with_objects_and_no_pods():
    (state,) = _model().initial()

    assert state.specs == (WorkloadCell(1, 2, NEVER),)
    assert state.unbound == ((),)
    assert [one.pods for one in state.nodes] == [(), ()]


def test_a_placement_and_bare_pods_have_names_from_the_start():
    whole = setup(NODES, workload(3), workload(kind="Pod", name="p"), workload(kind="Pod", name="q", bound_to="n2"))
    (state,) = _model(whole, placement=((WEB, (("n1", 2),)),)).initial()

    assert [[pod.name for pod in one.pods] for one in state.nodes] == [["web-1", "web-2"], ["q"]]
    assert state.unbound == ((), ("p",), ())
    assert state.specs[0] == WorkloadCell(1, 3, 3)


def test_deploying_creates_binds_and_starts_by_name():
    model = _model(setup(NODES, workload(2, spread=(spread(),))))
    state = _walk(model, *DEPLOYED)

    assert [[(pod.name, pod.phase) for pod in one.pods] for one in state.nodes] == [
        [("web-1", Phase.READY)],
        [("web-2", Phase.READY)],
    ]
    assert model.is_stable(state)
    assert model.steps(state) == []


def test_every_pod_and_every_equal_node_is_a_step_of_its_own():
    model = _model(setup(NODES, workload(2, spread=(spread(),))))
    state = _walk(model, "set-replicas", "create")

    assert [step.concrete[0] for step in model.steps(state)] == [
        ("bind", "web-1", "n1"),
        ("bind", "web-2", "n1"),
        ("bind", "web-1", "n2"),
        ("bind", "web-2", "n2"),
    ]
    assert [s.concrete[0] for s in RepresentativeModel(model.plan).steps(state)] == [
        ("bind", "web-1", "n1"),
        ("bind", "web-1", "n2"),
    ]


def test_equal_nodes_of_a_large_place_are_one_step_of_the_representatives():
    model = _model(setup([node(f"n{i}") for i in range(1, 10)], workload(2, spread=(spread(),))))
    state = _walk(model, "set-replicas", "create")

    assert len(model.steps(state)) == 2 * 9
    assert [s.concrete[0] for s in RepresentativeModel(model.plan).steps(state)] == [("bind", "web-1", "n1")]


def test_time_passes_only_when_nobody_has_urgent_work():
    model = _model(setup(NODES, workload(1)))

    assert [step.role for step in model.steps(_walk(model, "set-replicas", "create"))] == [Role.URGENT] * 2
    waiting = model.steps(_walk(model, "set-replicas", "create", "bind"))
    assert [(step.actor, step.role, step.concrete) for step in waiting] == [("time", Role.TIME, (("tick", 1),))]


def test_start_up_may_happen_within_its_range_and_must_at_its_end():
    model = _model(setup(NODES, workload(1)))
    early = model.steps(_walk(model, "set-replicas", "create", "bind", "tick"))
    late = model.steps(_walk(model, "set-replicas", "create", "bind", "tick", "tick"))

    assert [(step.concrete[0], step.role) for step in early] == [
        (("start", "n1", ("web-1",), ()), Role.OPTIONAL),
        (("tick", 4), Role.TIME),
    ]
    assert [(step.concrete[0], step.role) for step in late] == [(("start", "n1", ("web-1",), ()), Role.URGENT)]
    assert late[0].actor == "kubelet"
    assert late[0].controller == "kubelet"


def test_names_of_vanished_pods_are_used_again():
    events = (Scale(name="s", target=WEB, max=2, replicas=(1, 2)),)
    model = _model(setup(NODES, workload(2)), events)
    shrunk = _walk(model, "set-replicas", "create", "set-desired", "set-replicas", "delete")

    assert shrunk.unbound == (("web-2",),)
    grown = next(s for s in model.steps(shrunk) if s.concrete[0] == ("set-desired", WEB, 2)).target
    for verb in ("set-replicas", "create"):
        grown = next(step for step in model.steps(grown) if step.concrete[0][0] == verb).target
    assert grown.unbound == (("web-1", "web-2"),)


def test_events_that_wait_for_stability_come_last():
    model = _model(setup(NODES, workload(1)), (Cordon(name="c", after="stable"),))

    assert all(s.role != Role.EVENT for s in model.steps(_walk(model, "set-replicas")))
    stable = _walk(model, "set-replicas", "create", "bind", "tick", "start")
    assert [step.concrete[0] for step in model.steps(stable)] == [("cordon", "n1"), ("cordon", "n2")]


def test_without_events_only_controllers_act():
    plan = make_plan(setup(NODES, workload(1)), (Cordon(name="c"),))

    assert len(IndividualModel(plan).steps(IndividualModel(plan).initial()[0])) == 3
    quiet = IndividualModel(plan.deploying())
    assert len(quiet.steps(quiet.initial()[0])) == 1


def test_a_failed_node_goes_through_silence_notice_taint_eviction_and_back():
    model = _model(setup(NODES, workload(1)), (NodeFailure(name="f", max=1),))
    state = _walk(model, "set-replicas", "create", "bind", "tick", "start", "fail", "tick", "notice", "taint", "tick")

    assert (state.nodes[0].health, state.nodes[0].no_execute) == (Health.UNKNOWN, 1)
    assert [pod.kind[1:5] for pod in state.nodes[0].pods] == [(Phase.UNREADY, NEVER, NEVER, 0)]
    evicted = next(step for step in model.steps(state) if step.concrete[0][0] == "evict")
    assert evicted.concrete == (("evict", "n1", ("web-1",)),)
    assert [pod.kind[1:5] for pod in evicted.target.nodes[0].pods] == [(Phase.TERMINATING, NEVER, NEVER, NEVER)]
    back = next(step for step in model.steps(evicted.target) if step.concrete[0][0] == "recover").target
    assert back.nodes[0].health == Health.BACK
    assert [pod.kind[1:5] for pod in back.nodes[0].pods] == [(Phase.TERMINATING, 0, 30, NEVER)]


def test_a_created_object_begins_as_in_the_input():
    whole = setup(NODES, workload(2), workload(kind="ReplicaSet", name="rs"), workload(kind="Pod", name="p"))
    events = tuple(Create(name=one.name, target=one.ref) for one in whole.workloads)
    model = _model(whole, events)
    (state,) = model.initial()

    assert state.specs == (WorkloadCell(0, 0, NEVER),) * 3
    for _ in events:
        state = next(step for step in model.steps(state) if step.concrete[0][0] == "create-object").target
    assert state.specs == (WorkloadCell(1, 2, NEVER), WorkloadCell(1, 1, 1), WorkloadCell(1, 1, NEVER))
    assert state.unbound == ((), (), ("p",))


def test_monitors_follow_the_run_and_start_anew_when_restarted():
    intent = Intent(key="minReady", name="m", target=WEB, count=Amount(1))
    model = _model(setup(NODES, workload(1)), (NodeFailure(name="f"),), (intent,))
    ready = _walk(model, "set-replicas", "create", "bind", "tick", "start")
    gone = _walk(model, "set-replicas", "create", "bind", "tick", "start", "fail", "tick", "notice")

    assert (ready.observed, model.flags(ready)) == (((1, 0, 1),), 0b10)
    assert (gone.observed, model.flags(gone)) == (((1, 1, 1),), 0b11)
    assert gone.memories == ((0,),)
    restarted = model.restart(gone)
    assert (restarted.observed, restarted.memories) == (((0, 0, 0),), ((1,),))


# -- without names ----------------------------------------------------------------------------------


def test_states_that_differ_in_names_are_one_without_them():
    model = _model(setup(NODES, workload(2, spread=(spread(),))))
    state = _walk(model, "set-replicas", "create")

    assert len({step.target for step in model.steps(state)}) == 4
    assert len({anonymous(model, step.target) for step in model.steps(state)}) == 1


def test_states_that_differ_by_equal_zones_are_one_too():
    nodes = [node(f"{zone}{i}", zone) for zone in "ab" for i in (1, 2)]
    model = _model(setup(nodes, workload(1, spread=(spread(ZONE),))))
    state = _walk(model, "set-replicas", "create")

    assert len(model.steps(state)) == 4
    assert len({anonymous(model, step.target) for step in model.steps(state)}) == 1


def test_sorting_domains_leaves_everything_else():
    nodes = [node(f"{zone}{i}", zone) for zone in "ab" for i in (1, 2)]
    plan = make_plan(setup(nodes, workload(1, spread=(spread(ZONE),))))

    assert canonical(plan, ("observer", "web", *"badc")) == ("observer", "web", *"abcd")
    assert canonical(plan, ("observer", "web", *"dcba")) == ("observer", "web", *"abcd")
    assert canonical(plan, ("observer", "web", *"bdca")) == ("observer", "web", *"acbd")


@pytest.mark.parametrize(
    ("whole", "events"),
    [
        pytest.param(setup(NODES, workload(3, spread=(spread(),))), (), id="deploying"),
        pytest.param(setup(NODES, workload(2)), (NodeFailure(name="f"),), id="failing"),
        pytest.param(setup(NODES, workload(2)), (Scale(name="s", target=WEB, replicas=(1,)),), id="scaling"),
        pytest.param(setup([node("n1", cpu=1000)], workload(2, cpu=1000, node_name="n1")), (), id="rejecting"),
    ],
)
def test_the_named_graph_without_names_is_the_grouped_graph(whole, events):
    plan = make_plan(whole, events)
    model = IndividualModel(plan)
    kernel = make_kernel(GroupedSystem(plan), engine="python")
    explore(GroupedSystem(plan), (), kernel=kernel)

    graph = reach(model, max_states=20_000)

    named = {anonymous(model, state) for state in graph.steps}
    assert named == {canonical(plan, kernel.cells_of(state)) for state in range(len(kernel))}
    assert len(named) == len(kernel)


def test_whoever_says_that_it_is_idle_offers_nothing_whatever_nodes_look_like():
    """Along a run, of the scheduler as of the one that preempts: nominations on nodes are work, too."""
    for whole in (setup(NODES, workload(2)), setup(NODES, workload(2), workload(1, name="first", priority=5))):
        model = _model(whole, events=(NodeFailure(name="dies"),))
        plan, seen = model.plan, set()
        (state,) = model.initial()
        while state not in seen:
            seen.add(state)
            for actor in plan.actors:
                shown = model.show_to(actor, state)
                assert not (has_nothing_to_do(actor, shown.workloads) and actor.act(shown))
            steps = model.steps(state)
            state = steps[-1].target if steps else state
        assert len(seen) > len(DEPLOYED)


def test_a_scheduler_without_a_pod_to_bind_is_shown_no_node(monkeypatch):
    model = _model()
    (state,) = model.initial()
    schedulers = [one for one in model.plan.controllers if isinstance(one, SchedulerController)]
    monkeypatch.setattr(SchedulerController, "show_node", lambda *_: pytest.fail("it is shown a node"))

    assert [step for one in schedulers for step in model.steps_of(one, state)] == []
