"""Autoscalers count every pod that their target's selector matches, whoever owns it: what that does to verdicts."""

from __future__ import annotations

import pytest

from kubeproof.controllers.hpa.ahead import Memory
from kubeproof.controllers.hpa.controller import HpaController
from kubeproof.controllers.hpa.history import History
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.verdicts import Verdict
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.slicing import Inseparable, cut
from kubeproof.verify.result import VerifyResult
from kubeproof.verify.run import plan_of
from tests.unit.verify.inputs import loaded, node, only, scenario, verified, web

WEB = "Deployment/shop/web"
BUSY = f'{{cpuPattern: {{target: {WEB}, phases: [{{usage: "100%"}}]}}}}'
GROWS = f"{{minReplicas: {{target: {WEB}, count: 2, when: eventuallyAlways}}}}"
STAYS_AT_REST = f"{{maxReplicas: {{target: {WEB}, count: 1, when: stable}}}}"
STAYS = f"{{maxReplicas: {{target: {WEB}, count: 1}}}}"
RUNS = "{completes: {target: Job/shop/report, after: 10s}}"


def autoscaler(name: str = "web", target: str = "web", *, metric: str = "", least: int = 1, percent: int = 50) -> str:
    """One to three pods at half of the request, or by another metric."""
    cpu = f"type: Resource, resource: {{name: cpu, target: {{type: Utilization, averageUtilization: {percent}}}}}"
    return f"""apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: {name}, namespace: shop}}
spec:
  scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: {target}}}
  minReplicas: {least}
  maxReplicas: 3
  metrics: [{{{metric or cpu}}}]
"""


def template(labels: str, requests: str, more: str = "") -> str:
    """Pods with these labels and requests."""
    pod = f"containers: [{{name: tool, image: registry.example.com/tool, resources: {{requests: {{{requests}}}}}}}]"
    return f"{{metadata: {{labels: {{{labels}}}}}, spec: {{{more}{pod}}}}}"


def job(labels: str = "app: web", requests: str = "cpu: 100m", more: str = "") -> str:
    """A Job of one pod."""
    body = template(labels, requests, "restartPolicy: Never, ")
    return f"""apiVersion: batch/v1
kind: Job
metadata: {{name: report, namespace: shop}}
spec: {{{more}template: {body}}}
"""


def idle(replicas: int, labels: str = "app: web, role: idle", requests: str = "cpu: 100m", kind: str = "") -> str:
    """Pods of another owner that use little."""
    kind = kind or "Deployment"
    count = "" if kind == "DaemonSet" else f"replicas: {replicas}, "
    body = template(labels, requests)
    return f"""apiVersion: apps/v1
kind: {kind}
metadata: {{name: idle, namespace: shop}}
spec: {{{count}selector: {{matchLabels: {{role: idle}}}}, template: {body}}}
"""


def judged(
    *documents: str, events: str = BUSY, intent: str = GROWS, version: str = "1.37", start: str = "empty"
) -> VerifyResult:
    """The verdict about one busy web pod among others."""
    told = scenario(intent, events=events, start=start).replace("spec:", f"spec:\n  kubernetesVersion: '{version}'")
    return verified(node("n0", cpu="16"), web(1, cpu="100m"), *documents, told)


def test_a_busy_target_alone_is_scaled_up() -> None:
    assert only(judged(autoscaler())).verdict == Verdict.HOLDS


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"])
def test_an_idle_pod_of_another_owner_pulls_the_average_down_so_that_the_target_never_grows(kind: str) -> None:
    use = f'{{cpuPattern: {{target: {kind}/shop/idle, phases: [{{usage: "0%"}}]}}}}'
    beside = (autoscaler(), idle(1, kind=kind))

    assert only(judged(*beside, events=f"{BUSY}, {use}")).verdict == Verdict.VIOLATED
    assert only(judged(*beside, events=f"{BUSY}, {use}", intent=STAYS_AT_REST)).verdict == Verdict.HOLDS


def test_many_foreign_pods_let_a_target_grow_that_uses_little() -> None:
    calm = f'{{cpuPattern: {{target: {WEB}, phases: [{{usage: "20%"}}]}}}}'
    others = '{cpuPattern: {target: Deployment/shop/idle, phases: [{usage: "20%"}]}}'

    assert only(judged(autoscaler(), events=calm, intent=STAYS)).verdict == Verdict.HOLDS
    # 20 % of four pods at a target of 50 %: ceil(0.4 x 4) = 2
    assert only(judged(autoscaler(), idle(3), events=f"{calm}, {others}", intent=STAYS)).verdict == Verdict.VIOLATED


def test_a_bare_pod_that_runs_already_counts() -> None:
    pod = """apiVersion: v1
kind: Pod
metadata: {name: debug, namespace: shop, labels: {app: web}}
spec:
  nodeName: n0
  containers: [{name: main, image: registry.example.com/main, resources: {requests: {cpu: 100m}}}]
"""
    use = '{cpuPattern: {target: Pod/shop/debug, phases: [{usage: "0%"}]}}'

    assert only(judged(autoscaler(), pod, events=f"{BUSY}, {use}")).verdict == Verdict.VIOLATED


def test_pods_of_another_namespace_or_without_the_labels_do_not_count() -> None:
    elsewhere = idle(2).replace("namespace: shop", "namespace: other")

    assert only(judged(autoscaler(), elsewhere)).verdict == Verdict.HOLDS
    assert only(judged(autoscaler(), idle(2, labels="role: idle"))).verdict == Verdict.HOLDS


def test_a_foreign_pod_without_a_cpu_request_makes_the_metric_fail() -> None:
    found = judged(autoscaler(), idle(1, requests="memory: 1Mi"))

    assert only(found).verdict == Verdict.VIOLATED


def test_pods_that_wait_for_a_node_count_as_idle() -> None:
    waits = idle(1, requests='cpu: "64"')

    assert only(judged(autoscaler(), waits)).verdict == Verdict.VIOLATED


def test_a_running_job_under_the_selector_counts_and_its_finished_pods_go_on_counting() -> None:
    kept = judged(autoscaler(), job(), events=f"{BUSY}, {RUNS}")
    gone = judged(autoscaler(), job(more="ttlSecondsAfterFinished: 0, "), events=f"{BUSY}, {RUNS}")

    assert only(kept).verdict == Verdict.VIOLATED  # a succeeded pod has no metric: it counts as idle on the way up
    assert only(gone).verdict == Verdict.HOLDS


def test_finished_pods_that_a_drain_might_delete_are_told() -> None:
    drained = judged(autoscaler(), job(), events=f"{BUSY}, {RUNS}, {{drain: {{}}}}").not_modelled
    calm = judged(autoscaler(), job(), events=f"{BUSY}, {RUNS}").not_modelled

    assert any("finished pods of Job/shop/report" in line for line in drained)
    assert not any("finished pods" in line for line in calm)


def test_jobs_of_a_cron_job_whose_finished_pods_count_are_never_forgotten() -> None:
    body = template("app: web", "cpu: 100m", "restartPolicy: Never, ")
    cron = f"""apiVersion: batch/v1
kind: CronJob
metadata: {{name: report, namespace: shop}}
spec: {{schedule: "*/5 * * * *", concurrencyPolicy: Forbid, jobTemplate: {{spec: {{template: {body}}}}}}}
"""
    runs = RUNS.replace("Job/", "CronJob/")

    assert only(judged(autoscaler(), cron, events=f"{BUSY}, {runs}")).verdict != Verdict.HOLDS
    assert (
        only(judged(autoscaler(), cron, events=runs, intent=STAYS)).verdict != Verdict.HOLDS
    )  # how many are left matters


def test_the_scope_names_whose_pods_an_autoscaler_counts() -> None:
    scope = dict(judged(autoscaler(), idle(1)).scope)

    assert "its selector also matches pods of Deployment/shop/idle" in scope["autoscalers"]


def test_the_scope_says_what_foreign_pods_are_taken_to_use_where_no_event_tells() -> None:
    documents = node("n1"), web(1), idle(1, kind="DaemonSet"), autoscaler()
    told = '{cpuChange: {target: DaemonSet/shop/idle, levels: ["10%"]}}'
    note = "use: no event speaks of cpu of DaemonSet/shop/idle, so that it stays at 50 % of the request"

    assert ("abstraction", note) in verified(*documents, scenario(STAYS, events=BUSY)).scope
    assert ("abstraction", note) not in verified(*documents, scenario(STAYS, events=f"{BUSY}, {told}")).scope


def test_a_failed_pod_of_a_job_still_has_to_have_a_request() -> None:
    crash = "{podCrash: {target: Job/shop/report}}"
    broken = judged(
        autoscaler(), job(requests="memory: 1Mi", more="backoffLimit: 0, "), events=f"{BUSY}, {RUNS}, {crash}"
    )

    assert only(broken).verdict == Verdict.VIOLATED


def test_without_a_job_label_in_the_selector_its_pods_do_not_count() -> None:
    assert only(judged(autoscaler(), job(labels="tool: report"), events=f"{BUSY}, {RUNS}")).verdict == Verdict.HOLDS


CONTAINER = "type: ContainerResource, containerResource: {name: cpu, container: main, target: {type: %s}}"


@pytest.mark.parametrize(
    ("version", "target", "verdict"),
    [
        ("1.27", "AverageValue, averageValue: 20m", Verdict.VIOLATED),  # the metric fails
        ("1.32", "Utilization, averageUtilization: 20", Verdict.VIOLATED),
        ("1.33", "AverageValue, averageValue: 20m", Verdict.HOLDS),  # such a pod is one without a metric
        ("1.34", "Utilization, averageUtilization: 20", Verdict.HOLDS),  # its request is zero
        ("1.35", "Utilization, averageUtilization: 20", Verdict.VIOLATED),  # the container must be there
    ],
)
def test_a_foreign_pod_without_the_container_of_the_metric(version: str, target: str, verdict: str) -> None:
    found = judged(autoscaler(metric=CONTAINER % target), idle(1), version=version)

    assert only(found).verdict == verdict


def test_memory_metrics_count_foreign_pods_too() -> None:
    metric = "type: Resource, resource: {name: memory, target: {type: AverageValue, averageValue: 55Mi}}"
    heavy = "{memoryPattern: {target: Deployment/shop/web, phases: [{usage: 110Mi}]}}"
    none = "{memoryPattern: {target: Deployment/shop/idle, phases: [{usage: 0Mi}]}}"

    assert only(judged(autoscaler(metric=metric), events=heavy)).verdict == Verdict.HOLDS
    assert only(judged(autoscaler(metric=metric), idle(1), events=f"{heavy}, {none}")).verdict == Verdict.VIOLATED


# In place of the scheduler's defaults, which relate workloads by their selectors, too.
SPREAD = """topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: rack, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: none}}}"""


def tolerating(value: str) -> str:
    return f"tolerations: [{{key: only, value: {value}, effect: NoSchedule}}]"


def test_one_slice_keeps_together_what_one_selector_matches() -> None:
    apart = [node(f"n{at}", taints=f"{{key: only, value: {name}, effect: NoSchedule}}") for at, name in enumerate("ab")]
    first = web(1, more=f"{SPREAD}\n      {tolerating('a')}")
    second = idle(1).replace("spec: {containers", f"spec: {{{tolerating('b')}, containers")
    other = second.replace("app: web, ", "")
    wanted = scenario(GROWS, "{minReplicas: {target: Deployment/shop/idle, count: 1}}")

    assert isinstance(cut(loaded(*apart, first, second, autoscaler(), wanted)), Inseparable)
    assert len(cut(loaded(*apart, first, second, wanted))) == 2
    assert len(cut(loaded(*apart, first, other, autoscaler(), wanted))) == 2


# -- several autoscalers ----------------------------------------------------------------------------


def test_two_autoscalers_of_one_target_refuse_once_both_are_known() -> None:
    rivals = autoscaler(), autoscaler("again")

    assert only(judged(*rivals, intent=STAYS)).verdict == Verdict.HOLDS  # both have looked before pods have metrics


def test_the_first_of_two_autoscalers_to_sync_decides_once_alone() -> None:
    rivals = autoscaler(), autoscaler("again")

    assert only(judged(*rivals, intent=STAYS, start="deployed")).verdict == Verdict.VIOLATED
    assert (
        only(judged(*rivals, intent=STAYS.replace("count: 1", "count: 2"), start="deployed")).verdict == Verdict.HOLDS
    )


def test_an_autoscaler_of_a_target_without_replicas_is_no_rival() -> None:
    off = idle(0, labels="app: web").replace("role: idle", "app: web")

    assert only(judged(autoscaler(), off, autoscaler("asleep", "idle"))).verdict == Verdict.HOLDS


def test_a_pod_that_two_selectors_match_makes_both_refuse_as_long_as_it_is_there() -> None:
    shared = idle(1), autoscaler("idle", "idle")
    gone = f"{BUSY}, {{delete: {{target: Deployment/shop/idle}}}}"

    assert only(judged(autoscaler(), *shared)).verdict == Verdict.VIOLATED
    assert only(judged(autoscaler(), *shared, events=gone, intent=STAYS)).verdict == Verdict.VIOLATED
    assert "AmbiguousSelector" in " ".join(_reasons(autoscaler(), *shared))


def _reasons(*documents: str) -> tuple[str, ...]:
    """What the first autoscaler says in a state in which both are known."""
    plan = plan_of(
        loaded(node("n0", cpu="16"), web(1, cpu="100m"), *documents, scenario(GROWS, events=BUSY)), VerifyOptions()
    )
    model = IndividualModel(plan)
    (state,) = model.initial()
    first, second = (loop for loop in plan.controllers if isinstance(loop, HpaController))
    memories = list(state.memories)
    memories[second.memory] = Memory(15, 15, History(), is_known=True).pack()
    unbound = tuple(("pod",) for _ in state.unbound)
    return first.why(model.show_to(first, state._replace(memories=tuple(memories), unbound=unbound)))
