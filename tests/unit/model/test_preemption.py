"""Priorities in whole runs: queue order, nominations, terminating victims, policies, cascades."""

from __future__ import annotations

from dataclasses import replace

from kubeproof.cluster.kinds import REPLICA_SET
from kubeproof.cluster.labels import LabelSelector, Requirement
from kubeproof.cluster.loops.control import Seen
from kubeproof.cluster.objects import Container, Node, PodTemplate, SchedulerProfile, Settings, Setup, Workload
from kubeproof.cluster.state import NodeCell, Phase, PodKind, WorkloadCell
from kubeproof.cluster.steering.policies import PREEMPT_NEVER, PodDisruptionBudget
from kubeproof.controllers.scheduler.preempting import PreemptingScheduler
from kubeproof.events.declarations import Create, Event, Scale
from kubeproof.model.by_name.representatives import RepresentativeModel
from kubeproof.model.by_name.state import State, Transition
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.model.plan import Placement, make_plan


def node(name: str, cpu: int = 2000) -> Node:
    return Node(name, (("kubernetes.io/hostname", name),), cpu_milli=cpu, memory_bytes=2**33)


def pods(name: str, priority: int, replicas: int = 1, cpu: int = 2000, **fields: object) -> Workload:
    labels = (("app", name),)
    template = PodTemplate(labels, (Container("main", cpu, 2**20),), priority=priority, grace_s=30)
    selector = LabelSelector((Requirement("app", "In", (name,)),))
    return Workload(REPLICA_SET, "shop", name, replace(template, **fields), replicas, selector)  # type: ignore[arg-type]


def model_of(
    nodes: tuple[Node, ...],
    *workloads: Workload,
    events: tuple[Event, ...] = (),
    placement: Placement = (),
    settings: Settings = Settings(startup_s=(1, 1)),
    budgets: tuple[PodDisruptionBudget, ...] = (),
    profile: SchedulerProfile = SchedulerProfile(),
) -> IndividualModel:
    setup = Setup(nodes, workloads, (profile,), settings, budgets=budgets)
    return RepresentativeModel(make_plan(setup, events, placement=placement))


def run(model: IndividualModel, *wanted: str) -> tuple[State, list[str]]:
    """Takes the wanted steps, given by how their words begin; returns the state and all steps taken."""
    (state,) = model.initial()
    told = []
    for words in wanted:
        step = next(step for step in model.steps(state) if _words(step).startswith(words))
        told.append(_words(step))
        state = step.target
    return state, told


def _words(step: Transition) -> str:
    return " ".join([step.controller, *(str(part) for part in step.concrete[0])])


def offered(model: IndividualModel, state: State, actor: str) -> list[tuple[object, ...]]:
    """What an actor may do, without the memories."""
    return [step.concrete[0][:3] for step in model.steps(state) if step.controller == actor]


FULL: Placement = (("ReplicaSet/shop/low", (("n1", 1),)),)
LOW, HIGH = pods("low", 0), pods("high", 100)


def test_a_pod_of_higher_priority_goes_first_once_both_wait() -> None:
    model = model_of((node("n1"),), LOW, HIGH)
    state, _ = run(model, "replicaset low", "replicaset high")

    assert offered(model, state, "scheduler low") == []
    assert offered(model, state, "scheduler high") == [("bind", "high-1", "n1")]


def test_a_pod_that_can_do_nothing_lets_others_pass() -> None:
    model = model_of((node("n1"),), LOW, pods("high", 100, cpu=9000))
    state, _ = run(model, "replicaset low", "replicaset high")

    assert offered(model, state, "scheduler low") == [("bind", "low-1", "n1")]


def test_a_victim_gets_its_grace_period_and_the_room_is_kept() -> None:
    model = model_of((node("n1"),), LOW, HIGH, placement=FULL)
    state, told = run(model, "replicaset high", "scheduler high preempt n1", "replicaset low")

    assert told[1] == "scheduler high preempt n1 ('low-1',) ReplicaSet/shop/high ('shop',)"
    (victim,) = state.nodes[0].pods
    assert (victim.kind.most_s, victim.kind.preempted, state.nodes[0].nominated) == (30, 1, (1,))
    assert offered(model, state, "scheduler high") == []
    assert offered(model, state, "scheduler low") == []


def test_the_preemptor_takes_its_node_when_the_victim_is_gone() -> None:
    model = model_of((node("n1"),), LOW, HIGH, placement=FULL)
    state, told = run(
        model, "replicaset high", "scheduler high", "replicaset low", "kubelet finish", "scheduler high bind"
    )

    assert told[-1] == "scheduler high bind high-1 n1 nominated"
    assert state.nodes[0].nominated == ()
    assert [pod.name for pod in state.nodes[0].pods] == ["high-1"]


def test_the_nominated_room_is_closed_to_pods_of_equal_priority() -> None:
    model = model_of((node("n1"),), LOW, HIGH, pods("rival", 100), placement=FULL)
    state, _ = run(model, "replicaset high", "scheduler high", "kubelet finish", "replicaset rival")

    assert offered(model, state, "scheduler rival") == []


def test_a_pod_of_still_higher_priority_takes_the_nominated_room_and_ends_the_nomination() -> None:
    model = model_of((node("n1"),), LOW, HIGH, pods("top", 900), placement=FULL)
    state, _ = run(model, "replicaset high", "scheduler high", "replicaset top", "scheduler top preempt")

    assert state.nodes[0].nominated == (2,)
    assert [(pod.name, pod.kind.preempted) for pod in state.nodes[0].pods] == [("low-1", 1)]


def test_never_means_never() -> None:
    model = model_of((node("n1"),), LOW, pods("high", 100, preemption_policy=PREEMPT_NEVER), placement=FULL)
    state, _ = run(model, "replicaset high")

    assert offered(model, state, "scheduler high") == []


def test_without_the_plugin_nobody_is_preempted() -> None:
    off = SchedulerProfile(disabled=frozenset({"DefaultPreemption"}))
    model = model_of((node("n1"),), LOW, HIGH, placement=FULL, profile=off)
    state, _ = run(model, "replicaset high")

    assert offered(model, state, "scheduler high") == []


def test_equal_priorities_are_never_preempted() -> None:
    model = model_of((node("n1"),), pods("low", 100), HIGH, pods("other", 5), placement=FULL)
    state, _ = run(model, "replicaset other", "replicaset high")

    assert offered(model, state, "scheduler high") == []


def test_a_budget_sends_the_preemptor_to_another_node() -> None:
    placement = (("ReplicaSet/shop/low", (("n1", 1), ("n2", 0))), ("ReplicaSet/shop/mid", (("n1", 0), ("n2", 1))))
    keep = PodDisruptionBudget("shop", "keep", LOW.selector, max_unavailable=(0, False))
    both = (node("n1"), node("n2"))
    free = model_of(both, LOW, HIGH, pods("mid", 50), placement=placement)
    kept = model_of(both, LOW, HIGH, pods("mid", 50), placement=placement, budgets=(keep,))

    assert offered(free, run(free, "replicaset high")[0], "scheduler high") == [("preempt", "n1", ("low-1",))]
    assert offered(kept, run(kept, "replicaset high")[0], "scheduler high") == [("preempt", "n2", ("mid-1",))]


def test_budgets_are_a_preference_not_a_law() -> None:
    keep = PodDisruptionBudget("shop", "keep", LOW.selector, max_unavailable=(0, False))
    model = model_of((node("n1"),), LOW, HIGH, placement=FULL, budgets=(keep,))

    assert offered(model, run(model, "replicaset high")[0], "scheduler high") == [("preempt", "n1", ("low-1",))]


def test_preemption_goes_on_through_the_priorities() -> None:
    placement = (("ReplicaSet/shop/mid", (("n1", 1), ("n2", 0))), ("ReplicaSet/shop/low", (("n1", 0), ("n2", 1))))
    mid, low = pods("mid", 50), pods("low", 0, cpu=1000)
    model = model_of((node("n1", 3000), node("n2")), mid, low, pods("high", 100, cpu=3000), placement=placement)
    _, told = run(model, "replicaset high", "scheduler high", "replicaset mid", "scheduler mid", "replicaset low")

    assert told[1] == "scheduler high preempt n1 ('mid-1',) ReplicaSet/shop/high ('shop',)"
    assert told[3] == "scheduler mid preempt n2 ('low-1',) ReplicaSet/shop/mid ('shop',)"


def test_nominations_of_pods_that_are_gone_are_given_up() -> None:
    events = (Scale(name="scale", target="ReplicaSet/shop/high", replicas=(0,)),)
    model = model_of((node("n1"),), LOW, HIGH, placement=FULL, events=events)
    state, _ = run(model, "replicaset high", "scheduler high", "event scale", "replicaset high")

    assert offered(model, state, "scheduler high") == [("unnominate", "n1", "ReplicaSet/shop/high")]


def test_a_nomination_ends_when_preemption_cannot_help_any_more() -> None:
    events = (Create(name="wall", target="ReplicaSet/shop/wall", after=None),)
    wall = pods("wall", 900, node_name="n1")
    model = model_of((node("n1"),), LOW, HIGH, wall, placement=FULL, events=events)
    state, _ = run(model, "replicaset high", "scheduler high", "event wall", "replicaset wall", "kubelet finish")

    assert offered(model, state, "scheduler high") == [("unnominate", "n1", "ReplicaSet/shop/high")]


def test_a_terminating_pod_is_a_victim_like_others_and_not_deleted_again() -> None:
    events = (Scale(name="scale", target="ReplicaSet/shop/low", replicas=(0,)),)
    start = (("ReplicaSet/shop/low", (("n1", 1),)), ("ReplicaSet/shop/mid", (("n1", 1),)))
    work = (LOW, pods("mid", 10), pods("high", 100, cpu=4000))
    model = model_of((node("n1", 4000),), *work, placement=start, events=events)
    state, _ = run(model, "event scale", "replicaset low", "replicaset high")

    assert offered(model, state, "scheduler high") == [("preempt", "n1", ("mid-1",))]


def attempts(version: tuple[int, int], preempted: int) -> list[tuple[str, ...]]:
    """What a pod nominated to n1 may do while a pod terminates there and another could be preempted on n2."""
    settings = Settings(kubernetes_version=version)
    setup = Setup((node("n1"), node("n2")), (LOW, HIGH), (SchedulerProfile(),), settings)
    layout = make_plan(setup, merge=False).layout
    scheduler = PreemptingScheduler(layout, 1)
    first = scheduler.show_node(0, NodeCell(pods=((PodKind(0, Phase.TERMINATING, preempted=preempted), 1),)))
    second = scheduler.show_node(1, NodeCell(pods=((PodKind(0, Phase.READY), 1),)))
    places = (((first._replace(claims=((1, 1),)), 1),), ((second, 1),))
    decisions = scheduler.act(Seen(workloads=(scheduler.show_workload(1, WorkloadCell(unbound=1)),), places=places))
    return [tuple(type(action).__name__ for action in decision.actions) for decision in decisions]


def test_a_nominated_pod_waits_for_its_victims_and_before_1_27_for_any_pod_that_terminates() -> None:
    assert attempts((1, 37), preempted=1) == []
    assert attempts((1, 37), preempted=0) == [("Unnominate", "Preempt")]
    assert attempts((1, 27), preempted=0) == [("Unnominate", "Preempt")]
    assert attempts((1, 26), preempted=0) == []
