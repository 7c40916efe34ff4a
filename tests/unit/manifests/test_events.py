"""Events that act on nodes, usage and workloads: defaults, targets, refusals."""

from __future__ import annotations

import re

import pytest

from kubeproof.errors import ScenarioError
from kubeproof.events.declarations import (
    BudgetChange,
    Cordon,
    CpuLoad,
    Delete,
    Drain,
    Event,
    KernelPanic,
    Maintenance,
    NeverReady,
    NodeChoice,
    NodeRemoval,
    PodCrash,
    Rollout,
    Unreachable,
    Usage,
    UsageChange,
    UsagePattern,
    ZoneFailure,
)
from tests.unit.manifests.inputs import deployment, load_text, node, scenario

WEB, API = "Deployment/shop/web", "Deployment/shop/api"
POD = (
    "apiVersion: v1\nkind: Pod\nmetadata: {name: tool, namespace: shop}\n"
    "spec: {containers: [{name: tool, image: example/tool}]}\n"
)


def events_of(text: str) -> tuple[Event, ...]:
    """The events of a scenario on two Deployments, of which only web requests anything, and one bare Pod."""
    requests = "resources: {requests: {cpu: 500m, memory: 1Gi}},"
    objects = (node("n1"), node("n2"), deployment("web", container=requests), deployment("api"), POD)
    return load_text(*objects, scenario(f"events: [{text}]")).scenario.events


def test_a_drain_takes_one_node_at_a_time_unless_told() -> None:
    assert events_of("{drain: {}}, {drain: {nodes: {names: [n2]}, concurrent: 2, uncordon: true, max: 3}}") == (
        Drain(name="drain-1"),
        Drain(name="drain-2", max=3, nodes=NodeChoice(names=("n2",)), concurrent=2, uncordon=True),
    )


def test_an_event_may_wait_for_several_conditions() -> None:
    _, drain = events_of("{nodeFailure: {name: loss, max: unlimited}}, {drain: {after: [stable, loss]}}")

    assert drain == Drain(name="drain-2", after="loss", and_after=("stable",))


def test_an_event_may_have_to_happen() -> None:
    assert events_of("{cordon: {must: true}}") == (Cordon(name="cordon-1", must=True),)


def test_an_upgrade_takes_each_chosen_node_once() -> None:
    some = "{nodes: {names: [n2]}, eachOnce: true}"
    assert events_of(
        f"{{maintenance: {{eachOnce: true}}}}, {{drain: {some}}}, {{drain: {{eachOnce: true, max: 1}}}}"
    ) == (
        Maintenance(name="maintenance-1", max=2, each_once=True),
        Drain(name="drain-2", max=1, nodes=NodeChoice(names=("n2",)), each_once=True),
        Drain(name="drain-3", max=1, each_once=True),
    )


def test_a_node_is_drained_before_it_is_removed_unless_told() -> None:
    assert events_of("{nodeRemoval: {}}, {nodeRemoval: {nodes: {names: [n2]}, drainFirst: false, max: 2}}") == (
        NodeRemoval(name="nodeRemoval-1"),
        NodeRemoval(name="nodeRemoval-2", max=2, nodes=NodeChoice(names=("n2",)), drain_first=False),
    )


def test_the_deletion_of_a_node_is_its_removal_with_all_that_runs_there() -> None:
    assert events_of("{delete: {target: Node/n2}}") == (
        NodeRemoval(name="delete-1", nodes=NodeChoice(names=("n2",)), drain_first=False),
    )


def test_a_node_that_pods_name_cannot_be_removed() -> None:
    pinned = POD.replace("spec: {", "spec: {nodeName: n1, ")
    problem = "nodes lets n1 go, which pods of Pod/shop/tool name"

    with pytest.raises(ScenarioError, match=problem):
        load_text(node("n1"), pinned, scenario("events: [{nodeRemoval: {}}]"))


BUDGET = """\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
"""


def _with_budget(text: str) -> tuple[Event, ...]:
    return load_text(node("n1"), deployment("web"), BUDGET, scenario(f"events: [{text}]")).scenario.events


def test_a_budget_comes_or_goes() -> None:
    assert _with_budget("{create: {target: PodDisruptionBudget/shop/web, after: stable}}") == (
        BudgetChange(name="create-1", budget="shop/web", verb="created", after="stable"),
    )
    assert _with_budget("{delete: {target: PodDisruptionBudget/shop/web, name: gone}}") == (
        BudgetChange(name="gone", budget="shop/web", verb="deleted"),
    )


def test_a_budget_is_applied_whether_it_is_in_the_input_or_not() -> None:
    for name in ("web", "api"):
        spec = "spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}"
        manifest = (
            f"{{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {{name: {name}, namespace: shop}}, {spec}}}"
        )
        (event,) = _with_budget(f"{{apply: {{manifest: {manifest}}}}}")

        assert isinstance(event, BudgetChange)
        assert event.content is not None
        assert (event.budget, event.verb, event.content.min_available) == (f"shop/{name}", "applied", (2, False))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "{create: {target: PodDisruptionBudget/shop/wab}}",
            "not a PodDisruptionBudget of the input. Did you mean shop/web",
        ),
        (
            "{create: {target: PodDisruptionBudget/shop/web}}, {delete: {target: PodDisruptionBudget/shop/web}}",
            "target changes shop/web again. One event per budget",
        ),
        ("{apply: {manifest: {apiVersion: v1, kind: Service, metadata: {name: a}}}}", "exactly one workload or budget"),
    ],
)
def test_changes_of_budgets_that_cannot_be_meant_are_refused(text: str, problem: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(problem)):
        _with_budget(text)


def test_maintenance_may_wait_for_stability() -> None:
    assert events_of("{maintenance: {after: stable, max: 2}}") == (
        Maintenance(name="maintenance-1", max=2, after="stable"),
    )


def test_a_usage_change_without_max_may_happen_any_number_of_times() -> None:
    assert events_of('{cpuChange: {levels: ["20%", 1500m, 2], initial: 1500m}}') == (
        UsageChange(
            name="cpuChange-1",
            resource="cpu",
            target=WEB,
            levels=(Usage(percent=20), Usage(amount_milli=1500), Usage(amount_milli=2000)),
            initial=1,
        ),
    )


def test_percentages_leave_out_workloads_without_a_request_and_quantities_do_not() -> None:
    assert [event.name for event in events_of('{memoryChange: {levels: ["90%"]}}')] == ["memoryChange-1"]
    assert [event.name for event in events_of("{memoryChange: {levels: [100Mi]}}")] == [
        f"memoryChange-1 {WEB}",
        f"memoryChange-1 {API}",
        "memoryChange-1 Pod/shop/tool",
    ]


def test_memory_is_kept_in_thousandths_too() -> None:
    (change,) = events_of("{memoryChange: {target: Deployment/shop/web, container: main, levels: [1Mi], max: 4}}")

    assert isinstance(change, UsageChange)
    assert (change.resource, change.container, change.max) == ("memory", "main", 4)
    assert change.levels == (Usage(amount_milli=1_048_576_000),)


def test_a_pattern_is_a_function_of_age_whose_last_phase_never_ends() -> None:
    assert events_of('{cpuPattern: {phases: [{usage: "100%", for: 1m}, {usage: 37%}]}}') == (
        UsagePattern(
            name="cpuPattern-1",
            resource="cpu",
            target=WEB,
            phases=((Usage(percent=100), 60), (Usage(percent=37), None)),
        ),
    )


def test_a_load_is_a_total_or_a_choice_of_totals() -> None:
    assert events_of("{cpuLoad: {target: Deployment/shop/web, total: 600m}}") == (
        CpuLoad(name="cpuLoad-1", target=WEB, levels=(600,)),
    )
    assert events_of("{cpuLoad: {target: Deployment/shop/web, levels: [1, 3], initial: 3, max: 1}}") == (
        CpuLoad(name="cpuLoad-1", target=WEB, levels=(1000, 3000), initial=1, max=1),
    )


def test_pods_without_traffic_use_nothing_and_get_it_back_unless_told() -> None:
    assert events_of("{unreachable: {target: Deployment/shop/web}}") == (Unreachable(name="unreachable-1", target=WEB),)
    assert events_of('{unreachable: {target: Deployment/shop/web, usage: "5%", recovers: false, max: 2}}') == (
        Unreachable(name="unreachable-1", target=WEB, idle=Usage(percent=5), recovers=False, max=2),
    )


def test_a_node_panics_above_95_percent_unless_told() -> None:
    assert events_of('{kernelPanic: {}}, {kernelPanic: {aboveCPU: "80%", nodes: {names: [n1]}, max: 1}}') == (
        KernelPanic(name="kernelPanic-1", above=Usage(percent=95)),
        KernelPanic(name="kernelPanic-2", above=Usage(percent=80), nodes=NodeChoice(names=("n1",)), max=1),
    )


def test_without_a_target_there_is_one_event_for_each_workload_that_can_be_meant() -> None:
    assert events_of("{rollout: {}}, {rollback: {target: Deployment/shop/api}}") == (
        Rollout(name=f"rollout-1 {WEB}", target=WEB),
        Rollout(name=f"rollout-1 {API}", target=API),
        Rollout(name="rollback-2", target=API, back=True),
    )
    assert [event.name for event in events_of("{podCrash: {}}")] == [
        f"podCrash-1 {WEB}",
        f"podCrash-1 {API}",
        "podCrash-1 Pod/shop/tool",
    ]


def test_crashes_deletions_and_pods_that_never_get_ready_are_read() -> None:
    text = "{podCrash: {target: '*/shop/api', max: 3}}, {delete: {target: Pod/shop/tool, after: stable, name: gone}}"
    assert events_of(f"{text}, {{neverReady: {{target: Deployment/shop/web, revision: new}}}}") == (
        PodCrash(name="podCrash-1", target=API, max=3),
        Delete(name="gone", target="Pod/shop/tool", after="stable"),
        NeverReady(name="neverReady-3", target=WEB, revision="new"),
    )


def test_zones_are_the_values_of_any_label() -> None:
    assert events_of("{zoneFailure: {topologyKey: kubernetes.io/hostname, recovers: false, max: 2}}") == (
        ZoneFailure(name="zoneFailure-1", max=2, topology_key="kubernetes.io/hostname", recovers=False),
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{nodeRemoval: {drainfirst: true}}", "Did you mean drainFirst?"),
        ("{zoneFailure: {}}", "topologyKey is topology.kubernetes.io/zone, which no node has as a label"),
        ("{zoneFailure: {topologyKey: 'a b'}}", "topologyKey is 'a b'"),
        ("{drain: {concurrent: 0}}", "concurrent is 0"),
        ("{drain: {uncordn: true}}", "Did you mean uncordon?"),
        ("{cpuChange: {}}", "levels is required"),
        ("{cpuChange: {levels: [many]}}", "levels is 'many': not a quantity"),
        ("{cpuChange: {levels: [[]]}}", "levels is not a usage"),
        ("{cpuChange: {levels: [-1]}}", "levels is '-1', below zero"),
        ("{cpuChange: {levels: [1, 1000m]}}", "holds a level twice"),
        ('{cpuChange: {levels: ["20%"], initial: "30%"}}', "initial is 30%, not one of the levels"),
        ('{cpuChange: {levels: ["20%"], container: mian}}', "Did you mean main?"),
        ('{cpuChange: {levels: ["20%"], target: Deployment/shop/api}}', "requests no cpu"),
        ('{cpuChange: {levels: ["20%"], target: Deployment/shop/ap}}', "Did you mean Deployment/shop/api?"),
        (
            "{cpuChange: {levels: [1], target: Pod/shop/tool, container: main}}",
            "container is 'main', no container of Pod/shop/tool. Known: tool",
        ),
        ("{cpuPattern: {}}", "phases is required"),
        ('{cpuPattern: {phases: [{usage: "1%"}, {usage: "2%"}]}}', "phases[0].for is required"),
        ('{cpuPattern: {phases: [{usage: "1%", for: 1s}]}}', "phases[0].for ends the last phase"),
        ('{cpuPattern: {phases: [{usage: "1%", for: 0s}, {usage: "2%"}]}}', "for is 0s"),
        ('{cpuPattern: {phases: [{usage: "1%", four: 1s}]}}', "Did you mean for?"),
        ('{cpuPattern: {phases: [{usage: "1%"}], after: stable}}', "after has no meaning here"),
        ('{cpuPattern: {phases: [{usage: "1%"}]}}, {cpuChange: {levels: ["2%"]}}', "is given twice"),
        ("{cpuLoad: {}}", "needs either total or levels"),
        ('{cpuLoad: {target: Deployment/shop/web, total: "20%"}}', "total is a percentage"),
        ('{kernelPanic: {aboveCPU: "much"}}', "aboveCPU is 'much'"),
        ("{unreachable: {target: Deployment/shop/web, usage: idle}}", "usage is 'idle'"),
        (
            "{unreachable: {target: Deployment/shop/web}}, {unreachable: {target: Deployment/shop/web}}",
            "the lack of traffic of Deployment/shop/web is given twice",
        ),
        ("{neverReady: {revision: old}}", "revision is 'old'"),
        ("{neverReady: {max: 2}}", "max has no meaning here"),
        ("{neverReady: {target: Pod/shop/tool, name: a}}, {drain: {after: a}}", "is 'a', which never happens"),
        ("{rollout: {target: Pod/shop/tool}}", "is not a Deployment"),
        ("{rollout: {name: new}}", "would name 2 events"),
        ("{scale: {target: Pod/shop/tool, replicas: [2]}}", "Pod/shop/tool has no replicas"),
    ],
)
def test_a_wrong_event_is_refused_with_its_place(text: str, problem: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        events_of(text)

    assert problem in str(refused.value)
    assert refused.value.line > 30


def test_an_event_that_can_mean_no_workload_is_refused() -> None:
    with pytest.raises(ScenarioError, match="no workload of the input can be meant"):
        load_text(node("n1"), POD, scenario("events: [{rollout: {}}]"))
