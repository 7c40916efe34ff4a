"""Small clusters on which two engines once disagreed, or agreed on something upstream does not do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kubeproof.cluster.kinds import DEPLOYMENT, POD, REPLICA_SET
from kubeproof.cluster.labels import NO_EXECUTE, NO_SCHEDULE, Taint, Toleration
from kubeproof.cluster.loops.actions import ANY, Advance, NodeRef
from kubeproof.cluster.objects import ZONE, Container, Node, PodTemplate, Settings, Setup, Workload
from kubeproof.cluster.state import NEVER, Phase, PodKind
from kubeproof.cluster.steering.policies import DeschedulerPolicy, DeschedulerProfile
from kubeproof.engine.reference import reach
from kubeproof.events.declarations import Apply, Create, PodCrash, Scale
from kubeproof.intents.declarations import Amount, Intent
from kubeproof.model.by_name.state import node_cell
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.verdicts import Verdict
from tests.differential.comparison import compare
from tests.property.controllers import Evictor
from tests.property.strategies import MIB, Case, node_labels, selector_for, workload

AT_ONCE = Settings(startup_s=(0, 0))


def _node(name: str, zone: str = "a", **fields: Any) -> Node:
    labels = node_labels(name, zone, None, True)
    return Node(name, labels, **{"cpu_milli": 1000, "memory_bytes": 1024 * MIB, **fields})


def _template(app: str, **fields: Any) -> PodTemplate:
    return PodTemplate((("app", app),), (Container("main", 100, None),), **{"grace_s": 0, **fields})


def _min_ready(target: Workload, when: str = "eventually") -> Intent:
    return Intent(key="minReady", name="ready", target=target.ref, when=when, count=Amount(1))


def test_kubelets_share_one_claim_to_fairness_in_both_searches() -> None:
    looping = workload(DEPLOYMENT, "web", _template("web", node_selector=((ZONE, "b"),)), 1)
    waiting = workload(DEPLOYMENT, "db", _template("db", node_selector=((ZONE, "a"),)), 1)
    setup = Setup((_node("n1", "a"), _node("n2", "b")), (looping, waiting), settings=AT_ONCE)

    compared = compare(Case(setup, (), (_min_ready(waiting),), own=(Evictor(looping.ref),)))

    assert (compared.verdicts, compared.loops) == ((Verdict.VIOLATED,), 1)


def test_of_pods_with_different_eviction_clocks_any_may_be_rejected() -> None:
    template = _template("web", node_name="n1", tolerations=(Toleration("spot", "Exists", "", NO_EXECUTE, 9),))
    pods = workload(REPLICA_SET, "web", template, 2)
    spot = _node("n1", taints=(Taint("spot", "", NO_EXECUTE),), cpu_milli=100)
    plan = Case(Setup((spot,), (pods,), settings=AT_ONCE)).plan()
    early, late = PodKind(0, Phase.STARTING, 0, 0, 3), PodKind(0, Phase.STARTING, 0, 0, 9)
    cell = plan.nodes[0]._replace(pods=((early, 1), (late, 1)))

    grouped = plan.mechanics.on_node(spot, cell, Advance(NodeRef(0, ANY), 0, Phase.STARTING, 0, 0, 1))

    ready = PodKind(0, Phase.READY, NEVER, NEVER)
    assert {kept.pods for kept in grouped} == {((ready._replace(evict_s=clock), 1),) for clock in (3, 9)}
    named = IndividualModel(replace(plan, nodes=(cell,), workloads=(plan.workloads[0]._replace(replicas=2),)))
    starts = [step for step in named.steps(named.initial()[0]) if step.controller == "kubelet"]
    assert {node_cell(step.target.nodes[0]) for step in starts} == set(grouped)


def _bare(name: str, **fields: Any) -> Workload:
    return Workload(POD, "shop", name, _template(name, **fields), 1, selector_for(name))


def test_a_bare_pod_that_names_its_node_does_not_meet_the_scheduler() -> None:
    closed = _node("n1", unschedulable=True, taints=(Taint("dedicated", "", NO_SCHEDULE),))
    pod = _bare("web", node_name="n1")
    never = Intent(key="schedulable", name="s", target=pod.ref)

    compared = compare(Case(Setup((closed,), (pod,), settings=AT_ONCE), (), (_min_ready(pod), never)))

    assert compared.verdicts == (Verdict.HOLDS, Verdict.HOLDS)


def test_a_bare_pod_that_names_its_node_is_still_admitted_or_not_by_the_kubelet() -> None:
    pod = _bare("web", node_name="n1")

    compared = compare(Case(Setup((_node("n1", cpu_milli=50),), (pod,)), (), (_min_ready(pod),)))

    assert compared.verdicts == (Verdict.VIOLATED,)


def test_a_running_pod_that_an_event_creates_is_absent_before() -> None:
    pod = replace(_bare("web", node_name="n1"), bound_to="n1")
    case = Case(Setup((_node("n1"),), (pod,), settings=AT_ONCE), (Create(name="c", target=pod.ref),))

    assert case.plan().nodes[0].pods == ()
    assert compare(replace(case, intents=(_min_ready(pod, "stable"),))).states == 3


def test_pods_that_run_on_a_tainted_node_before_the_run_are_evicted() -> None:
    tolerant = _template("web", tolerations=(Toleration("spot", "Exists", "", NO_EXECUTE, 9),))
    pods = workload(DEPLOYMENT, "web", tolerant, 1)
    spot = _node("n1", taints=(Taint("spot", "", NO_EXECUTE),))
    placement = ((pods.ref, (("n1", 1),)),)

    plan = Case(Setup((spot,), (pods,)), placement=placement).plan()

    assert plan.nodes[0].pods == ((PodKind(0, Phase.READY, NEVER, NEVER, 9), 1),)


def test_an_apply_that_creates_the_object_brings_its_own_replicas() -> None:
    declared = workload(REPLICA_SET, "web", _template("web"), 1)
    events = (
        Create(name="c", target=declared.ref, after="a"),
        Apply(name="a", workload=replace(declared, replicas=3)),
    )
    at_most_two = Intent(key="maxReplicas", name="m", target=declared.ref, count=Amount(2))

    compared = compare(Case(Setup((_node("n1"),), (declared,), settings=AT_ONCE), events, (at_most_two,)))

    assert compared.verdicts == (Verdict.VIOLATED,)


def test_scaling_happens_at_most_max_times() -> None:
    pods = workload(REPLICA_SET, "web", _template("web"), 1)
    event = Scale(name="s", max=1, target=pods.ref, replicas=(0, 2), after="stable")
    named = IndividualModel(Case(Setup((_node("n1"),), (pods,), settings=AT_ONCE), (event,)).plan())

    sizes = {state.specs[0].desired for state in reach(named, max_states=100).steps if not any(state.memories[0])}

    assert sizes == set()


def test_an_eviction_hits_pods_that_restarted_as_often_as_the_descheduler_says() -> None:
    pods = workload(REPLICA_SET, "web", _template("web"), 2)
    arguments = (("RemovePodsHavingTooManyRestarts", (("podRestartThreshold", 1),)),)
    profile = DeschedulerProfile("p", (("deschedule", ("RemovePodsHavingTooManyRestarts",)),), (), arguments)
    setup = Setup((_node("n1"), _node("n2")), (pods,), settings=AT_ONCE, descheduler=DeschedulerPolicy((profile,)))
    case = Case(setup, (PodCrash(name="c", target=pods.ref),), placement=((pods.ref, (("n1", 2),)),))
    named = IndividualModel(case.plan())

    compare(case)

    evictions = [
        [pod.kind.restarts for node in state.nodes for pod in node.pods if pod.name in step.concrete[0][2]]
        for state, steps in reach(named, max_states=1000).steps.items()
        for step in steps
        if step.actor == "descheduler"
    ]
    assert evictions
    assert all(restarts == [1] for restarts in evictions)
