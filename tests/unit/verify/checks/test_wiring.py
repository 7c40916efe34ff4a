"""Fields, versions, selectors, names and ports."""

from __future__ import annotations

import pytest

from kubeproof.errors import RecipeError
from kubeproof.manifests.load import load
from kubeproof.verify.checks.run import run_checks
from kubeproof.verify.checks.surroundings import did_you_mean
from tests.unit.verify.checks.inputs import autoscaler, deployment, found, service, told

POLICY = """apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web, namespace: shop}
spec: {podSelector: {matchLabels: {app: SELECTED}}}
"""
INGRESS = """apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: front, namespace: shop}
spec:
  rules:
  - http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: web, port: {number: PORT}}}}
      - {path: /b, pathType: Prefix, backend: {service: {name: OTHER, port: {name: http}}}}
"""
STATEFUL = deployment(kind="StatefulSet", spec="serviceName: web")


# -- fields and versions ------------------------------------------------------------------------------


def test_a_misspelt_field_is_an_error_with_a_suggestion():
    (one,) = found(deployment(spec="replica: 3"))

    assert (one.id, one.severity, one.target) == ("K001", "error", "Deployment/shop/web")
    assert one.message == "spec.replica is not a field of the Kubernetes API"
    assert one.remedy == "Did you mean replicas?"
    assert str(one.source) == "in.yaml:7"


def test_a_misspelt_field_is_found_at_any_depth_and_in_kinds_that_are_not_modelled():
    env = deployment(container="env: [{name: A, valueFrom: {secretKeyref: {name: s, key: k}}}]")
    policy = POLICY.replace("podSelector", "podSelctor")
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\nstringdata: {a: b}\n"

    assert [(one.message.split()[0], one.remedy) for one in found(env, policy, secret)] == [
        ("spec.template.spec.containers[0].env[0].valueFrom.secretKeyref", "Did you mean secretKeyRef?"),
        ("spec.podSelctor", "Did you mean podSelector?"),
        ("stringdata", "Did you mean stringData?"),
    ]


def test_a_field_that_stands_at_the_wrong_level_is_told_with_its_place():
    (above,) = found(deployment(pod="replicas: 3"))
    (below,) = found(deployment(pod="readinessProbe: {tcpSocket: {port: 80}}"))

    assert above.remedy == "It belongs to spec; correct its indentation"
    assert below.remedy == "It belongs to spec.template.spec.containers; correct its indentation"


def test_labels_annotations_and_values_are_no_fields():
    config = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, annotations: {any.thing/x: y}}\ndata: {some: thing}\n"
    )
    quota = "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {pods: 100, example.com/gpu: 1}}\n"

    assert found(deployment(labels="app: web, replica: a"), config, quota) == []


def test_an_object_of_a_removed_version_is_an_error_in_the_versions_that_removed_it():
    role = "apiVersion: rbac.authorization.k8s.io/v1beta1\nkind: ClusterRole\nmetadata: {name: all}\n"
    flow = "apiVersion: flowcontrol.apiserver.k8s.io/v1beta3\nkind: FlowSchema\nmetadata: {name: all}\n"
    policy = "apiVersion: policy/v1beta1\nkind: PodSecurityPolicy\nmetadata: {name: all}\n"
    old = "apiVersion: kubeproof.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\n"
    old += 'spec: {kubernetesVersion: "1.31", intents: [{settles: {}}]}\n'

    assert [(one.target, one.remedy) for one in found(deployment(), role, flow, policy)] == [
        ("ClusterRole/all", "Write apiVersion: rbac.authorization.k8s.io/v1"),
        ("FlowSchema/all", "Write apiVersion: flowcontrol.apiserver.k8s.io/v1"),
        ("PodSecurityPolicy/all", "Remove it: there is no later version"),
    ]
    assert [one.target for one in found(deployment(), role, flow, old)] == ["ClusterRole/all"]


# -- selectors ----------------------------------------------------------------------------------------


def test_a_service_that_misses_its_pods_by_a_label_is_told_with_the_pods_that_may_be_meant():
    assert told("K003", deployment(), service(selector="app: webb")) == [
        (
            "warning",
            "Service/shop/web",
            "selects app=webb, which no pod of namespace shop has; Deployment/shop/web has app=web",
        )
    ]
    assert told("K003", deployment(), service(selector="name: web")) == [
        (
            "warning",
            "Service/shop/web",
            "selects name=web, which no pod of namespace shop has; Deployment/shop/web has app=web",
        )
    ]
    assert told("K003", deployment(), service()) == []


def test_pods_of_a_template_that_nobody_rendered_are_not_missed():
    pods = {"k8s__web": deployment(), "k8s__service": service(selector="app: webb")}
    template = deployment("gate").replace("name: gate", 'name: "gate-{{cell}}"', 1)

    assert len(told("K003", **pods)) == 1
    assert told("K003", **pods, k8s__template=template) == []
    assert len(told("K003", **pods, other__template=template)) == 1


def test_a_label_that_may_be_added_while_pods_run_is_told_as_info():
    (one,) = told("K003", deployment(), service(selector="app: web, role: leader"))

    assert one == (
        "info",
        "Service/shop/web",
        "selects app=web,role=leader, which no pod of namespace shop has; Deployment/shop/web has no label role, "
        "unless it is added while they run",
    )
    (other,) = told("K003", deployment(labels="app: web, role: main"), service(selector="app: web, role: leader"))
    assert other[0] == "warning"


def test_what_a_kustomization_would_add_is_not_missed_where_nobody_renders_it(tmp_path):
    def refuse(recipe: str, bounds: object) -> bytes:
        raise RecipeError("no kustomize", file=recipe, remedy="Install it")

    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "kustomization.yaml").write_text("resources: [web.yaml]\n")
    web = deployment().replace("replicas", "replicass", 1) + "---\n" + service(selector="app: webb")
    (tmp_path / "app" / "web.yaml").write_text(web)

    checks = run_checks(load(tmp_path, render=refuse, is_tolerant=True))

    assert [one.id for one in checks] == ["R003", "K001"]


def test_a_service_of_one_variant_is_not_held_against_the_pods_of_another():
    ports = "ports: [{name: http, containerPort: 80}]"
    asks = service(ports="{port: 80, targetPort: grpc}")
    plain, other = deployment(container=ports), deployment(container=ports.replace("http", "grpc"))

    assert len(told("K009", plain, asks)) == 1
    assert told("K009", a__1=other + "---\n" + asks, a__2=plain) == []


def test_pods_of_another_namespace_are_told():
    (one,) = told("K003", deployment("db"), deployment(namespace="other"), service())

    assert one[2] == "selects app=web, which no pod of namespace shop has; pods of Deployment/other/web have it"


def test_a_selector_without_any_likeness_is_a_note_if_all_others_have_pods_and_otherwise_nothing():
    others = [deployment("a"), deployment("b"), service("a", "app: a"), service("b", "app: b")]

    assert told("K003", *others, service("queue", "role: broker")) == [
        ("info", "Service/shop/queue", "selects role=broker, which no pod of namespace shop has")
    ]
    assert told("K003", deployment("a"), service("queue", "role: broker")) == []


def test_nothing_is_missed_where_pods_may_come_from_elsewhere():
    operated = "apiVersion: example.com/v1\nkind: Database\nmetadata: {name: db, namespace: shop}\n"
    monitor = "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: r, namespace: shop}\n"
    broken = service(selector="app: webb")

    assert told("K003", deployment(), broken, operated) == []
    assert len(told("K003", deployment(), broken, monitor)) == 1
    assert told("K003", deployment(namespace="other"), broken) == []


def test_labels_that_tell_the_pods_of_a_stateful_set_apart_match():
    first = service("first", "app: web, statefulset.kubernetes.io/pod-name: web-0")

    assert told("K003", STATEFUL, first) == []
    assert len(told("K003", deployment(), first)) == 1


def test_policies_and_monitors_that_select_nothing_are_told():
    monitor = """apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: web, namespace: shop}
spec: {selector: {matchLabels: {app: web}}, endpoints: [{port: metrics}]}
"""
    assert told("K005", deployment(), POLICY.replace("SELECTED", "wev")) == [
        (
            "warning",
            "NetworkPolicy/shop/web",
            "selects app=wev, which no pod of namespace shop has; Deployment/shop/web has app=web",
        )
    ]
    assert told("K005", deployment(), POLICY.replace("SELECTED", "web")) == []
    assert told("K006", deployment(), service(), monitor) == [
        (
            "warning",
            "ServiceMonitor/shop/web",
            "selects Services with app=web, which none has; "
            "Service/shop/web selects pods with them, and has no labels itself",
        )
    ]
    named = service(labels="app: web", ports="{name: http, port: 80}")
    assert [one[2] for one in told("K006", deployment(), named, monitor)] == [
        "asks at port metrics, which Service/shop/web does not have (it has http)"
    ]
    assert told("K006", deployment(), service(labels="app: web", ports="{name: metrics, port: 80}"), monitor) == []


def test_of_an_input_with_variants_other_folders_are_other_clusters():
    one, other = deployment(namespace="default"), deployment("db", namespace="default")
    lost = service(selector="app: dbx").replace("namespace: shop", "namespace: default")

    assert len(told("K003", a__web=one, b__db=other + "---\n" + lost)) == 1
    assert told("K003", a__web=one, a__db=other, b__web=one, c__svc=lost) == []


# -- names --------------------------------------------------------------------------------------------


def test_a_scale_target_that_is_missing_is_a_warning_if_it_is_misspelt():
    (one,) = [f for f in found(deployment("carts"), autoscaler("cart")) if f.id == "K007"]
    assert (one.severity, one.remedy) == ("warning", "Did you mean carts?")

    assert [f[0] for f in told("K007", deployment("carts"), autoscaler("billing"))] == ["info"]
    assert told("K007", deployment("carts"), autoscaler("carts")) == []
    assert told("K007", deployment("carts"), autoscaler("billing", kind="Rollout")) == []


@pytest.mark.parametrize(
    ("name", "known", "is_meant"),
    [
        ("cart", "carts", True),
        ("web-setings", "web-settings", True),
        ("frontend", "front-end", True),
        ("service1", "service2", False),
        ("argocd-application-controller", "argocd-applicationset-controller", False),
        ("accounts-db-config", "accounts-schema-config", False),
        ("web", "web", False),
    ],
)
def test_names_are_taken_for_one_another_if_they_differ_by_a_slip(name: str, known: str, is_meant: bool):
    assert did_you_mean(name, [known]) == (f"Did you mean {known}?" if is_meant else "")


def test_an_ingress_leads_to_services_and_ports_that_exist():
    backends = (deployment(), service(ports="{name: http, port: 80}"))
    good = INGRESS.replace("PORT", "80").replace("OTHER", "web")

    assert told("K008", *backends, good) == []
    assert told("K008", *backends, good.replace("number: 80", "number: 8080")) == [
        ("warning", "Ingress/shop/front", "leads to port 8080 of Service/shop/web, which has 80, http")
    ]
    assert told("K008", *backends, INGRESS.replace("PORT", "80").replace("OTHER", "admin")) == [
        ("warning", "Ingress/shop/front", "leads to Service admin, which is not in the input")
    ]
    assert told("K008", deployment(), service("api"), good.replace("name: web", "name: shop-api")) == []


def test_claims_and_configuration_are_missed_only_beside_others():
    claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: shop}\n"
    claim += "spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}\n"
    config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web-settings, namespace: shop}\n"
    mounting = deployment(pod="volumes: [{name: v, persistentVolumeClaim: {claimName: date}}]")
    reading = deployment(container="envFrom: [{configMapRef: {name: web-setings}}]")

    assert told("K011", mounting, claim) == [
        ("warning", "Deployment/shop/web", "mounts claim date, which is not in the input (volume v)")
    ]
    assert told("K011", mounting) == []
    assert told("K012", reading, config) == [
        ("info", "Deployment/shop/web", "needs ConfigMap web-setings, which is not in the input (container main)")
    ]
    assert told("K012", reading.replace("web-setings", "others"), config) == []
    assert told("K012", reading.replace("name: web-setings", "name: web-setings, optional: true"), config) == []


def test_a_stateful_set_has_the_service_that_it_names():
    assert told("K013", STATEFUL, service()) == []
    missing = "names Service web, which is not in the input: its pods get no names in DNS"
    assert told("K013", STATEFUL, service("other")) == [("info", "StatefulSet/shop/web", missing)]
    assert told("K013", STATEFUL, service("webb")) == [("warning", "StatefulSet/shop/web", missing)]
    assert [one[2] for one in told("K013", STATEFUL, service(selector="app: other"), deployment("other"))] == [
        "names Service/shop/web, which selects other pods: its own get no names in DNS"
    ]
    assert told("K013", STATEFUL) == []


# -- ports --------------------------------------------------------------------------------------------


def test_a_target_port_by_name_must_be_declared():
    declared = deployment(container="ports: [{name: http, containerPort: 8080}]")
    named = service(ports="{port: 80, targetPort: web}")

    assert told("K009", declared, named) == [
        (
            "warning",
            "Service/shop/web",
            "port 80 leads to port web, which no container of Deployment/shop/web declares (declared: http=8080)",
        )
    ]
    assert told("K009", declared, service(ports="{port: 80, targetPort: http}")) == []


def test_a_target_port_by_number_is_told_only_if_one_port_is_declared_and_it_is_another():
    one = deployment(container="ports: [{containerPort: 8080}]")
    two = deployment(container="ports: [{containerPort: 8080}, {containerPort: 9090}]")

    assert [f[0] for f in told("K009", one, service())] == ["warning"]
    assert told("K009", two, service()) == []
    assert told("K009", one, service(ports="{name: a, port: 80}, {name: b, port: 8080}")) == []
    assert told("K009", one, service(ports="{name: metrics, port: 9090}")) == []
    assert told("K009", deployment(), service()) == []


def test_a_probe_at_a_named_port_needs_that_port_in_its_own_container():
    probed = "readinessProbe: {httpGet: {path: /, port: PORT}}\n        ports: [{name: http, containerPort: 8080}]"

    assert told("K010", deployment(container=probed.replace("PORT", "http"))) == []
    assert told("K010", deployment(container=probed.replace("PORT", "9999"))) == []
    assert told("K010", deployment(container=probed.replace("PORT", "health"))) == [
        (
            "error",
            "Deployment/shop/web",
            "readinessProbe of container main asks at port health, "
            "which the container does not declare (declared: http=8080)",
        )
    ]


CREATES = """apiVersion: rbac.authorization.k8s.io/v1
kind: KIND
metadata: {name: hub, namespace: shop}
rules: [{apiGroups: [""], resources: [pods, secrets], verbs: [get, VERB]}]
"""
BINDS = """apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: hub, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: hub}
"""
HINT = "unless it is meant for pods that {} lets somebody create"


@pytest.mark.parametrize(
    ("more", "hint"),
    [
        ((CREATES.replace("KIND", "Role").replace("VERB", "create"),), HINT.format("Role/shop/hub")),
        ((CREATES.replace("KIND", "Role").replace("VERB", "'*'"),), HINT.format("Role/shop/hub")),
        (
            (CREATES.replace("KIND", "ClusterRole").replace("VERB", "create"), BINDS),
            HINT.format("RoleBinding/shop/hub"),
        ),
        ((CREATES.replace("KIND", "ClusterRole").replace("VERB", "create"),), ""),
        ((CREATES.replace("KIND", "Role").replace("VERB", "watch"),), ""),
        ((CREATES.replace("KIND", "Role").replace("VERB", "create").replace("shop", "mail"),), ""),
    ],
)
def test_a_policy_may_be_meant_for_pods_that_a_role_lets_somebody_create(more: tuple[str, ...], hint: str) -> None:
    ((severity, _, message),) = told("K005", deployment(), POLICY.replace("SELECTED", "wev"), *more)

    assert severity == ("info" if hint else "warning")
    assert message.endswith(hint or "has app=web")
