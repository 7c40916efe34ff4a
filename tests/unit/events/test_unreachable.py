"""Pods without traffic: when the fault may come and end, and what an autoscaler and an overloaded node see of it."""

from dataclasses import replace

import pytest

from kubeproof.cluster.loops.actions import NodeChange, Remember
from kubeproof.cluster.loops.control import Decision, Role, Seen, Stage
from kubeproof.cluster.state import Phase, WorkloadCell
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler, Metric
from kubeproof.cluster.usage import Level, Pod, UsageRule, memories_read, pod_usage
from kubeproof.controllers.hpa.ahead import first_memory
from kubeproof.controllers.hpa.controller import HpaController
from kubeproof.events.common import EventSource
from kubeproof.events.declarations import CpuLoad, KernelPanic, Unreachable, Usage, UsageChange
from kubeproof.events.usage import KernelPanicEvent, UnreachableEvent
from kubeproof.model.expansion.used import usage_rules
from kubeproof.model.loops.event_sources import event_sources
from tests.unit.model.builders import WEB, cell, kind, layout, node, setup, template, workload

LAYOUT = layout(setup([node("n1", cpu=1000)], workload(3)))
FAULT = Unreachable(name="fault", target=WEB, idle=Usage(percent=5))
READY_FOR_LONG = kind(Phase.READY)._replace(age_s=300)


def _acts(event, memory, *others, ends=False, **source):
    return UnreachableEvent(EventSource(LAYOUT, event, 0, **source), event, ends).act(Seen((), (), (memory, *others)))


def _remembers(*value):
    return (Decision((Remember(0, value),), Role.EVENT),)


def test_the_fault_comes_while_its_budget_lasts_and_ends_at_any_time():
    assert _acts(FAULT, (0, 2)) == _remembers(1, 1)
    assert _acts(FAULT, (1, 1)) == ()
    assert _acts(FAULT, (0, 0)) == ()
    assert _acts(FAULT, (1, 1), ends=True) == _remembers(0, 1)
    assert _acts(FAULT, (0, 1), ends=True) == ()


@pytest.mark.parametrize(("recovers", "stages"), [(True, [Stage.CALM, Stage.ALWAYS]), (False, [Stage.CALM])])
def test_a_fault_may_wait_for_stability_its_end_does_not_and_may_never_come(recovers, stages):
    fault = replace(FAULT, after="stable", recovers=recovers)

    assert [event.stage for event in event_sources(LAYOUT, (fault,)).sources] == stages


def test_the_fault_waits_for_another_event_but_its_end_does_not():
    assert _acts(FAULT, (0, 1), (1,), waits_for=(1,), full=((1,),)) == ()
    assert _acts(FAULT, (0, 1), (0,), waits_for=(1,), full=((1,),)) == _remembers(1, 0)
    assert _acts(FAULT, (1, 0), (1,), ends=True, waits_for=(1,), full=((1,),)) == _remembers(0, 0)


def test_it_tells_what_happens():
    event = UnreachableEvent(EventSource(LAYOUT, FAULT, 0), FAULT)

    assert event.tells((Remember(0, (1, 0)),)) == f"the pods of {WEB} get no traffic any more; each uses 5% CPU"
    assert event.tells((Remember(0, (0, 0)),)) == f"the pods of {WEB} get traffic again"


def test_it_cuts_what_other_events_say_about_cpu_and_leaves_memory():
    levels = (Usage(percent=80),)
    events = (
        UsageChange(name="cpu", resource="cpu", target=WEB, levels=levels),
        UsageChange(name="memory", resource="memory", target=WEB, levels=levels),
        FAULT,
    )

    assert usage_rules(LAYOUT.setup, events) == (
        UsageRule("cpu", 0, (Level(80),), 0, cut=2, idle=Level(5)),
        UsageRule("memory", 0, (Level(80),), 1),
    )


def test_without_another_event_pods_with_traffic_use_half_of_their_request():
    (rule,) = usage_rules(LAYOUT.setup, (FAULT,))

    assert memories_read((rule,)) == (0,)
    pod = Pod(template(cpu=1000).containers, 300)
    assert pod_usage((rule,), pod, "cpu", {0: (0, 1)}) == 500
    assert pod_usage((rule,), pod, "cpu", {0: (1, 0)}) == 50


@pytest.mark.parametrize(("is_off", "replicas"), [(0, None), (1, 1)])
def test_an_autoscaler_takes_missing_traffic_for_missing_load(is_off, replicas):
    metric = Metric("Resource", "cpu", "Utilization", 50)
    autoscaler = HorizontalPodAutoscaler("shop", "web", WEB, 1, 5, (metric,))
    events = (CpuLoad(name="load", target=WEB, levels=(150,)), FAULT)
    rules = usage_rules(LAYOUT.setup, events)
    loop = HpaController(LAYOUT, autoscaler, 0, 2, rules)
    memory = first_memory(15)
    view = loop.show_node(0, cell((READY_FOR_LONG, 3)))
    spec = loop.show_workload(0, WorkloadCell(desired=3, replicas=3))
    seen = Seen((spec,), (((view, 1),),), (memory, (0, -1), (is_off, 1)))

    assert loop.reads.memories == (2, 0, 1)
    assert loop._judge(seen).proposal == (replicas or 3)


@pytest.mark.parametrize(("is_off", "panics"), [(0, True), (1, False)])
def test_a_node_does_not_panic_of_pods_without_traffic(is_off, panics):
    events = (CpuLoad(name="load", target=WEB, levels=(999,)), FAULT)
    event = KernelPanicEvent(
        EventSource(LAYOUT, KernelPanic(name="panic"), 2), KernelPanic(name="panic"), usage_rules(LAYOUT.setup, events)
    )
    view = event.show_node(0, cell((READY_FOR_LONG, 2)))

    decisions = event.act(Seen((), (((view, 1),),), ((-1,), (0, -1), (is_off, 1))))

    assert [type(decision.actions[0]) for decision in decisions] == [NodeChange] * panics
