"""On what verdicts depend, by hand: what is left out, why, and where nothing may be."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubeproof.report.verification.depends import depends_document
from kubeproof.verdicts import Verdict
from kubeproof.verify.dependence import DependsOn
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.run import verify
from tests.unit.verify.inputs import loaded, node, only, scenario, verified, web

WEB = "Deployment/shop/web"
SCHEDULABLE = f"{{schedulable: {{target: {WEB}}}}}"
UNRELATED = "no node, selector, rule or event relates it to what the intent is about"


def _object(version: str, kind: str, name: str, spec: str, *, namespace: str = "shop") -> str:
    return f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}, namespace: {namespace}}}\n{spec}\n"


def budget(name: str, app: str, namespace: str = "shop") -> str:
    return _object(
        *("policy/v1", "PodDisruptionBudget", name),
        f"spec: {{minAvailable: 1, selector: {{matchLabels: {{app: {app}}}}}}}",
        namespace=namespace,
    )


def service(name: str, app: str) -> str:
    return _object("v1", "Service", name, f"spec: {{selector: {{app: {app}}}, ports: [{{port: 80}}]}}")


def claim(name: str) -> str:
    wanted = "accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, volumeName: disk"
    return _object("v1", "PersistentVolumeClaim", name, f"spec: {{storageClassName: fast, {wanted}}}")


DISK = """apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec:
  storageClassName: fast
  accessModes: [ReadWriteOnce]
  capacity: {storage: 1Gi}
  claimRef: {namespace: shop, name: data}
  hostPath: {path: /data}
"""
LIMITS = "spec: {limits: [{type: Container, defaultRequest: {cpu: 100m}}]}"
QUOTA = 'spec: {hard: {pods: "9"}}'
IDLE = """class Idle:
    name = "idle"

    def act(self, cluster):
        return ()
"""
METRICS = "metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]"


def autoscaler(target: str) -> str:
    ref = f"scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: {target}}}"
    return _object("autoscaling/v2", "HorizontalPodAutoscaler", target, f"spec: {{{ref}, maxReplicas: 3, {METRICS}}}")


def found(*documents: str, **options: object) -> DependsOn:
    """What the one verdict depends on."""
    depends_on = only(verified(*documents, **options)).depends_on
    assert depends_on is not None
    return depends_on


def left_out(told: DependsOn) -> dict[str, str]:
    """What is left out, with the reasons."""
    return {f"{one.object} {one.field}".rstrip(): one.why for one in told.not_on}


def test_a_lone_deployment_depends_on_itself_and_the_nodes() -> None:
    told = found(node("n1"), web(1), scenario(SCHEDULABLE, events=f"{{scale: {{target: {WEB}, replicas: [2]}}}}"))

    assert depends_document(told) == {
        "objects": [WEB],
        "nodes": {"count": 1, "labels": ["kubernetes.io/hostname"], "resources": ["cpu", "memory", "pods"]},
        "events": ["scale-1"],
        "not_on": [
            {"objects": [WEB], "field": "spec.strategy", "why": "no event changes a pod template"},
            {"objects": [WEB], "field": "image", "why": "no node lists images, and no event changes a pod template"},
        ],
    }


@pytest.mark.parametrize(
    ("document", "name", "why"),
    [
        (service("mail", "mail"), "Service/shop/mail", "it is for no pods that decide"),
        (budget("web", "web"), "PodDisruptionBudget/shop/web", "nobody evicts pods"),
        (autoscaler("lost"), "HorizontalPodAutoscaler/shop/lost", "its target is not among what decides"),
        (
            _object("v1", "ResourceQuota", "tight", QUOTA, namespace="lab"),
            "ResourceQuota/lab/tight",
            "it is for no pods that decide",
        ),
        (
            _object("v1", "LimitRange", "small", LIMITS, namespace="lab"),
            "LimitRange/lab/small",
            "it is for no pods that decide",
        ),
        (DISK + "---\n" + claim("data"), "PersistentVolumeClaim/shop/data", "no pod that decides mounts a claim"),
    ],
)
def test_what_selects_no_pod_that_decides_is_left_out(document: str, name: str, why: str) -> None:
    told = found(node("n1"), web(1), document, scenario(SCHEDULABLE))

    assert left_out(told)[name] == why
    assert name not in told.objects


@pytest.mark.parametrize(
    ("document", "name"),
    [
        (service("front", "web"), "Service/shop/front"),
        (autoscaler("web"), "HorizontalPodAutoscaler/shop/web"),
        (_object("v1", "ResourceQuota", "wide", QUOTA), "ResourceQuota/shop/wide"),
        (_object("v1", "LimitRange", "small", LIMITS), "LimitRange/shop/small"),
        ("apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n", "Namespace/shop"),
    ],
)
def test_what_selects_or_shapes_pods_that_decide_counts(document: str, name: str) -> None:
    told = found(node("n1"), web(1), document, scenario(SCHEDULABLE))

    assert name in told.objects
    assert name not in left_out(told)


def test_budgets_count_where_somebody_evicts() -> None:
    drained = scenario(SCHEDULABLE, events="{drain: {after: stable}}")
    told = found(node("n1"), node("n2"), web(1), budget("web", "web"), budget("mail", "mail"), drained)

    assert "PodDisruptionBudget/shop/web" in told.objects
    assert left_out(told)["PodDisruptionBudget/shop/mail"] == "it is for no pods that decide"


def test_claims_count_where_a_pod_mounts_one() -> None:
    mounting = "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]"
    told = found(node("n1"), web(1, more=mounting), DISK, claim("data"), scenario(SCHEDULABLE))

    assert {"PersistentVolumeClaim/shop/data", "PersistentVolume/disk"} <= {*told.objects}


def test_strategies_and_images_count_where_pods_are_updated() -> None:
    told = found(node("n1"), web(1), scenario(SCHEDULABLE, events=f"{{rollout: {{target: {WEB}, after: stable}}}}"))

    assert told.not_on == ()


def test_images_count_where_nodes_list_some() -> None:
    listing = node("n1").replace('pods: "110"}', 'pods: "110"}, images: [{names: ["main:1"], sizeBytes: 100}]')

    assert f"{WEB} image" not in left_out(found(listing, web(1), scenario(SCHEDULABLE)))


def test_labels_that_nobody_reads_are_left_out() -> None:
    racked = node("n1").replace("labels: {", "labels: {rack: r1, ")
    told = found(racked, web(1), scenario(SCHEDULABLE))

    assert left_out(told)["Node/* label rack"] == "nothing in the input reads it"
    assert told.labels == ("kubernetes.io/hostname",)


def test_every_label_may_count_beside_a_cluster_autoscaler() -> None:
    racked = node("n1").replace("labels: {", "labels: {rack: r1, ")
    groups = "controllers: {clusterAutoscaler: {groups: [{name: web, like: n1, min: 1, max: 2}]}}"
    growing = scenario(SCHEDULABLE).replace("  start:", f"  {groups}\n  start:")

    assert found(racked, web(1), growing).labels == ("kubernetes.io/hostname", "rack")


def _teams(*more: str) -> tuple[str, ...]:
    nodes = (node(name).replace("labels: {", f"labels: {{team: {team}, ") for name, team in (("n1", "a"), ("n2", "b")))
    selects = {"web": "nodeSelector: {team: a}", "db": "nodeSelector: {team: b}"}
    return (*nodes, *(web(1, name=name, more=selects[name]) for name in selects), *more)


def test_workloads_and_events_of_other_slices_are_left_out() -> None:
    events = "{scale: {target: Deployment/shop/db, replicas: [2], after: stable}}"
    told = found(*_teams(service("db", "db"), budget("db", "db"), scenario(SCHEDULABLE, events=events)))

    assert told.objects == (WEB,)
    assert told.events == ()
    assert left_out(told) == {
        "Deployment/shop/db": UNRELATED,
        "event scale-1": UNRELATED,
        "PodDisruptionBudget/shop/db": "nobody evicts pods",
        "Service/shop/db": "it is for no pods that decide",
        f"{WEB} spec.strategy": "no event changes a pod template",
        f"{WEB} image": "no node lists images, and no event changes a pod template",
    }


def test_every_workload_counts_for_an_intent_about_all_slices() -> None:
    assert found(*_teams(scenario("{settles: {}}"))).objects == (WEB, "Deployment/shop/db")


def test_every_workload_counts_where_parts_are_not_looked_at_alone() -> None:
    told = found(*_teams(scenario(SCHEDULABLE)), reductions=False)

    assert told.objects == (WEB, "Deployment/shop/db")


def test_workloads_count_where_flags_of_components_are_read() -> None:
    manager = web(1, namespace="kube-system", name="kube-controller-manager", more="nodeSelector: {team: b}")
    (told,) = (one for one in verify(loaded(*_teams(manager, scenario(SCHEDULABLE)))).results)

    assert told.depends_on is not None
    assert "Deployment/kube-system/kube-controller-manager" in told.depends_on.objects


def test_pods_that_run_at_the_start_count() -> None:
    pod = """apiVersion: v1
kind: Pod
metadata:
  name: web-1
  namespace: shop
  labels: {app: web}
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, controller: true, uid: "1"}]
spec: {nodeName: n1, containers: [{name: main, resources: {requests: {cpu: "1"}}}]}
status: {phase: Running, conditions: [{type: Ready, status: "True"}]}
"""
    running = scenario(SCHEDULABLE, start="running")

    assert f"running pods of {WEB}" in found(node("n1"), web(1), pod, running).objects


def test_what_is_not_decided_depends_on_nothing_that_could_be_told() -> None:
    result = only(verified(node("n1"), web(3), scenario(SCHEDULABLE), max_states=1))

    assert result.verdict == Verdict.UNKNOWN
    assert result.depends_on is None


def test_own_controllers_may_read_everything(tmp_path: Path) -> None:
    file = tmp_path / "idle.py"
    file.write_text(IDLE)
    options = VerifyOptions(engine="python", controllers=(f"{file}:Idle",))
    racked = node("n1").replace("labels: {", "labels: {rack: r1, ")
    (one,) = verify(loaded(racked, web(1), service("mail", "mail"), scenario(SCHEDULABLE)), options).results

    assert one.depends_on is not None
    assert one.depends_on.not_on == ()
    assert one.depends_on.objects == (WEB, "Service/shop/mail")
    assert one.depends_on.labels == ("kubernetes.io/hostname", "rack")
