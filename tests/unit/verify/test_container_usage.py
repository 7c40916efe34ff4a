"""Usage per container decides about autoscalers that look at one container, about nodes, and about verdicts."""

from __future__ import annotations

import pytest

from kubeproof.cluster.loops.actions import SetDesired
from kubeproof.cluster.usage import Pod, rules_about, uses
from kubeproof.errors import ScenarioError
from kubeproof.manifests.load import load_texts
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.model.expansion.used import usage_rules
from kubeproof.verdicts import Verdict
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.result import VerifyResult
from kubeproof.verify.run import plan_of, verify

INPUT = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "20"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec:
  replicas: 1
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec:
      containers:
      - {name: shop, image: i, resources: {requests: {cpu: 300m, memory: 64Mi}}}
      - {name: proxy, image: i, resources: {requests: {cpu: 100m, memory: 64Mi}}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: api}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: api}
  minReplicas: 1
  maxReplicas: 3
  metrics: [METRIC]
---
apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {name: containers}
spec:
  events: [EVENTS]
  intents:
  - maxReplicas: {target: Deployment/api, count: 1}
"""
OF_POD = "{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}"
VERTICAL = """
apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: {name: api}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: api}
  resourcePolicy: {containerPolicies: [{containerName: "*", controlledResources: [cpu]}]}
"""
OF_CONTAINER = (
    "{type: ContainerResource, containerResource: "
    "{name: RESOURCE, container: CONTAINER, target: {type: Utilization, averageUtilization: 60}}}"
)


def _of(container: str, resource: str = "cpu") -> str:
    return OF_CONTAINER.replace("CONTAINER", container).replace("RESOURCE", resource)


def _change(container: str, level: str, kind: str = "cpuChange") -> str:
    return f'{{{kind}: {{target: Deployment/api, container: {container}, levels: ["{level}"]}}}}'


def _text(metric: str, *events: str) -> str:
    return INPUT.replace("METRIC", metric).replace("EVENTS", ", ".join(events))


def _checked(metric: str, *events: str, **options: str) -> VerifyResult:
    return verify(load_texts((("in.yaml", _text(metric, *events)),)), VerifyOptions(**options))  # type: ignore[arg-type]


BOTH_WAYS = pytest.mark.parametrize("engine", ["auto", "python", "reference"])


@BOTH_WAYS
def test_a_busy_container_scales_the_autoscaler_that_looks_at_it_and_no_other(engine: str) -> None:
    busy = _change("proxy", "100%")

    assert _checked(_of("proxy"), busy, engine=engine).verdict == Verdict.VIOLATED
    assert _checked(_of("shop"), busy, engine=engine).verdict == Verdict.HOLDS


@BOTH_WAYS
def test_a_pod_uses_what_its_containers_use_together(engine: str) -> None:
    # 150m + 100m of 400m are 62.5 %: within the tolerance of 60 %; 300m + 50m are 87.5 %.
    assert _checked(OF_POD, _change("proxy", "100%"), engine=engine).verdict == Verdict.HOLDS
    assert _checked(OF_POD, _change("shop", "100%"), engine=engine).verdict == Verdict.VIOLATED


def test_events_about_two_containers_hold_side_by_side() -> None:
    busy, idle = _change("shop", "100%"), _change("proxy", "0%")

    assert _checked(_of("shop"), busy, idle).verdict == Verdict.VIOLATED
    assert _checked(_of("proxy"), busy, idle).verdict == Verdict.HOLDS


def test_patterns_and_memory_are_said_of_one_container_too() -> None:
    pattern = "{cpuPattern: {target: Deployment/api, container: CONTAINER, phases: [{usage: 300%}]}}"
    memory = _change("proxy", "100%", "memoryChange")

    assert _checked(_of("proxy"), pattern.replace("CONTAINER", "proxy")).verdict == Verdict.VIOLATED
    assert _checked(_of("shop"), pattern.replace("CONTAINER", "proxy")).verdict == Verdict.HOLDS
    assert _checked(_of("proxy", "memory"), memory).verdict == Verdict.VIOLATED
    assert _checked(_of("shop", "memory"), memory).verdict == Verdict.HOLDS


def test_what_is_said_of_the_pod_holds_for_each_container_in_percent_and_by_requests_in_amounts() -> None:
    whole = '{cpuChange: {target: Deployment/api, levels: ["LEVEL"]}}'

    for container in ("shop", "proxy"):
        assert _checked(_of(container), whole.replace("LEVEL", "60%")).verdict == Verdict.HOLDS
        assert _checked(_of(container), whole.replace("LEVEL", "240m")).verdict == Verdict.HOLDS  # 180m and 60m
        assert _checked(_of(container), whole.replace("LEVEL", "80%")).verdict == Verdict.VIOLATED


def test_a_node_feels_the_use_of_all_containers() -> None:
    panic = "{kernelPanic: {aboveCPU: 301m}}"
    text = _text(_of("shop"), "{EVENT}", panic).replace("maxReplicas: {", "minReady: {")

    calm = text.replace("{EVENT}", _change("proxy", "150%"))  # 150m + 150m
    loud = text.replace("{EVENT}", _change("proxy", "152%"))

    assert verify(load_texts((("in.yaml", calm),))).verdict == Verdict.HOLDS
    assert verify(load_texts((("in.yaml", loud),))).verdict == Verdict.VIOLATED


def test_a_replayed_step_tells_whose_use_changed() -> None:
    event = '{cpuChange: {target: Deployment/api, container: proxy, levels: ["20%", "100%"]}}'
    (result,) = _checked(_of("proxy"), event).results

    told = "the cpu use of container proxy of Deployment/default/api's pods becomes 100% of its request"
    assert result.trace is not None
    assert told in [step.action for step in result.trace.steps]


@pytest.mark.parametrize("kind", ["cpuChange", "memoryChange"])
def test_a_container_that_the_target_does_not_have_is_refused_with_its_place(kind: str) -> None:
    with pytest.raises(ScenarioError, match=r"in.yaml:33: .*container is 'prox', .*Did you mean proxy\?"):
        _checked(OF_POD, _change("prox", "100%", kind))


def test_one_container_has_one_event() -> None:
    with pytest.raises(ScenarioError, match="the cpu usage of Deployment/default/api is given twice"):
        _checked(OF_POD, _change("proxy", "100%"), _change("proxy", "50%"))
    with pytest.raises(ScenarioError, match="given twice"):
        _checked(OF_POD, _change("proxy", "100%"), '{cpuChange: {target: Deployment/api, levels: ["50%"]}}')


def test_every_container_gets_the_recommendation_for_its_own_use() -> None:
    documents = INPUT.split("---")
    text = "---".join((*documents[:2], VERTICAL, documents[3]))
    text = text.replace("EVENTS", f"{_change('shop', '20%')}, {_change('proxy', '200%')}")
    plan = plan_of(load_texts((("in.yaml", text),)), VerifyOptions())
    (size,) = [workload for workload in plan.setup.workloads if workload.resized]

    assert [one.cpu_milli for one in size.template.containers] == [69, 230]  # 60m and 200m with a margin of 15 %


def test_a_container_of_a_resized_pod_uses_what_it_used_before() -> None:
    documents = _text(_of("proxy"), '{cpuChange: {target: Deployment/api, levels: ["50%", "200%"]}}').split("---")
    vertical = VERTICAL.replace("{containerName", '{containerName: proxy, mode: "Off"}, {containerName')  # shop alone
    plan = plan_of(load_texts((("in.yaml", "---".join((*documents, vertical))),)), VerifyOptions())
    sizes = [number for number, workload in enumerate(plan.setup.workloads) if workload.resized]

    assert [plan.setup.workloads[size].template.containers[0].cpu_milli for size in sizes] == [172, 690]
    for size in sizes:
        pod = Pod(plan.setup.workloads[size].template.containers)
        rules = rules_about(usage_rules(plan.setup, plan.declared), "cpu", size)
        assert [uses(rules, pod, "cpu", {0: (level,)}) for level in (0, 1)] == [(150, 50), (600, 200)]


def test_by_name_the_autoscaler_asks_for_the_same_size() -> None:
    loaded = load_texts((("in.yaml", _text(_of("proxy"), _change("proxy", "150%"))),))
    model = IndividualModel(plan_of(loaded, VerifyOptions()))
    todo, seen, sizes = list(model.initial()), set(), set()
    while todo:
        state = todo.pop()
        for step in () if state in seen else model.steps(state):
            sizes |= {action.replicas for action in step.decision.actions if isinstance(action, SetDesired)}
            todo.append(step.target)
        seen.add(state)

    assert sizes == {3}  # 150 % of what it wants to be 60 %: 2.5 times as many
