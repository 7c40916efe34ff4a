"""Kubernetes objects: defaults, validation, what is left out."""

from __future__ import annotations

import pytest

from kubeproof.cluster.labels import LabelSelector, NodeTerm, PreferredTerm, Requirement, Taint, Toleration
from kubeproof.cluster.objects import Container, Readiness, SpreadConstraint, Strategy
from kubeproof.cluster.steering.policies import Metric, ScalingPolicy, ScalingRules
from kubeproof.errors import ManifestError
from tests.unit.manifests.inputs import deployment, load_text, node, scenario

NOT_READY = Toleration("node.kubernetes.io/not-ready", "Exists", "", "NoExecute", 300)
UNREACHABLE = Toleration("node.kubernetes.io/unreachable", "Exists", "", "NoExecute", 300)


def test_a_bare_deployment_gets_the_defaults_of_the_api_server() -> None:
    workload = load_text(deployment()).setup.workloads[0]

    assert workload.ref == "Deployment/shop/web"
    assert (workload.replicas, workload.min_ready_s, workload.paused) == (1, 0, False)
    assert workload.strategy == Strategy(True, 25, True, 25, True)
    assert workload.template.grace_s == 30
    assert workload.template.scheduler_name == "default-scheduler"
    assert workload.template.tolerations == (NOT_READY, UNREACHABLE)
    assert workload.template.containers == (Container("main", image="example/app:latest"),)


def test_an_object_without_namespace_is_in_default() -> None:
    loaded = load_text(deployment().replace(", namespace: shop", ""))

    assert loaded.setup.workloads[0].ref == "Deployment/default/web"


def test_an_explicit_null_counts_as_absent() -> None:
    assert load_text(deployment(spec="replicas: null,")).setup.workloads[0].replicas == 1


def test_an_omitted_request_takes_the_value_of_its_limit() -> None:
    resources = 'resources: {limits: {cpu: 500m, memory: 1Gi}, requests: {cpu: "0.25"}},'
    container = load_text(deployment(container=resources)).setup.workloads[0].template.containers[0]

    assert (container.cpu_milli, container.memory_bytes) == (250, 2**30)


def test_unquoted_quantities_are_read_from_their_text() -> None:
    resources = "resources: {requests: {cpu: 0.1, memory: 1000}},"
    container = load_text(deployment(container=resources)).setup.workloads[0].template.containers[0]

    assert (container.cpu_milli, container.memory_bytes) == (100, 1000)


@pytest.mark.parametrize(
    ("toleration", "added"),
    [
        ("{operator: Exists}", ()),
        ("{key: node.kubernetes.io/not-ready, operator: Exists}", (UNREACHABLE,)),
        ("{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute}", (NOT_READY,)),
        ("{operator: Exists, effect: NoSchedule}", (NOT_READY, UNREACHABLE)),
    ],
)
def test_admission_adds_only_the_tolerations_that_are_missing(toleration: str, added: tuple[Toleration, ...]) -> None:
    loaded = load_text(deployment(pod=f"tolerations: [{toleration}],"))

    assert loaded.setup.workloads[0].template.tolerations[1:] == added


def test_a_spread_constraint_gets_its_defaults() -> None:
    constraint = "{maxSkew: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}"
    loaded = load_text(deployment(pod=f"topologySpreadConstraints: [{constraint}],"))

    assert loaded.setup.workloads[0].template.spread == (
        SpreadConstraint("zone", 2, True, LabelSelector(), 1, True, False, ()),
    )


def test_node_affinity_is_read_in_full() -> None:
    pod = (
        "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
        "[{matchExpressions: [{key: gen, operator: Gt, values: ['5']}], "
        "matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}, "
        "preferredDuringSchedulingIgnoredDuringExecution: [{weight: 7, preference: "
        "{matchExpressions: [{key: ssd, operator: Exists}]}}]}},"
    )
    template = load_text(deployment(pod=pod)).setup.workloads[0].template

    assert template.required_terms == (
        NodeTerm((Requirement("gen", "Gt", ("5",)),), (Requirement("metadata.name", "In", ("n1",)),)),
    )
    assert template.preferred_terms == (PreferredTerm(7, NodeTerm((Requirement("ssd", "Exists"),))),)


def test_probe_overhead_and_deletion_cost_are_read() -> None:
    text = deployment(
        pod="overhead: {cpu: 10m, memory: 1Ki},",
        container="readinessProbe: {tcpSocket: {port: 80}, initialDelaySeconds: 4},",
    ).replace(
        "labels: {app: web}},",
        'labels: {app: web}, annotations: {controller.kubernetes.io/pod-deletion-cost: "-7"}},',
    )
    template = load_text(text).setup.workloads[0].template

    assert template.readiness == Readiness(4, 10, 1)
    assert template.overhead == (("cpu", 10), ("memory", 1024))
    assert template.deletion_cost == -7


def test_a_sidecar_is_an_init_container_that_restarts_always() -> None:
    loaded = load_text(deployment(pod="initContainers: [{name: log, image: x, restartPolicy: Always}],"))

    assert loaded.setup.workloads[0].template.init_containers == (
        Container("log", restartable_init=True, image="x:latest"),
    )


def test_a_node_falls_back_to_capacity_and_110_pods() -> None:
    text = """\
apiVersion: v1
kind: Node
metadata: {name: n1}
spec: {unschedulable: true, taints: [{key: gpu, value: "yes", effect: NoSchedule}]}
status: {capacity: {cpu: 2, memory: 1Gi, example.com/gpu: 4}, allocatable: {cpu: 1900m}}
"""
    found = load_text(text).setup.nodes[0]

    assert (found.cpu_milli, found.memory_bytes, found.pods) == (1900, 2**30, 110)
    assert found.others == (("example.com/gpu", 4),)
    assert found.taints == (Taint("gpu", "yes", "NoSchedule"),)
    assert found.unschedulable
    assert found.labels == ()


def test_a_node_that_starts_not_ready_is_noted() -> None:
    text = node().replace("status: {", "status: {conditions: [{type: Ready, status: Unknown}], ")

    assert load_text(text).omissions[0].what == "initial condition Ready=Unknown of Node/n1"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (deployment(spec="replicas: -1,"), "spec.replicas is -1"),
        (deployment(spec="replicas: 2147483648,"), "spec.replicas is 2147483648"),
        (deployment(spec='replicas: "3",'), "spec.replicas is a string"),
        (deployment(spec="replicas: 0x,"), "spec.replicas is a string"),
        (
            deployment(spec="strategy: {type: Recreate, rollingUpdate: {maxSurge: 1}},"),
            "must be absent with Recreate",
        ),
        (deployment(spec="strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 0}},"), "are both 0"),
        (
            deployment().replace("matchLabels: {app: web}", "matchLabels: {app: other}"),
            "does not match the labels",
        ),
        (deployment().replace("matchLabels: {app: web}", ""), "spec.selector is empty"),
        (deployment("Web"), "metadata.name is 'Web'"),
        (deployment(pod="restartPolicy: Never,"), "restartPolicy is Never"),
        (deployment(pod="nodeSelector: {disk: true},"), "is a boolean, not a string"),
        (deployment(pod="nodeSelector: {disk: 1},"), "is an integer, not a string"),
        (deployment(pod="nodeSelector: {disk: no},"), "is a boolean, not a string"),
        (deployment(pod="tolerations: [{value: x}],"), "must be Exists when key is empty"),
        (deployment(pod="tolerations: [{key: a, operator: Exists, value: x}],"), "must be empty"),
        (deployment(pod="tolerations: [{key: a, tolerationSeconds: 5}],"), "needs effect NoExecute"),
        (deployment(pod="tolerations: [{key: a, effect: NoExec}],"), "Did you mean NoExecute?"),
        (deployment(container="resources: {requests: {cpu: -1}},"), "below zero"),
        (deployment(container="resources: {requests: {cpu: 1e999999999}},"), "exponent"),
        (deployment(container="resources: {requests: {gpu: 1}},"), "not a resource a container can ask for"),
        (
            deployment(container="resources: {requests: {cpu: 2}, limits: {cpu: 1}},"),
            "more cpu than the limit",
        ),
        (deployment(container="resources: {requests: {a.com/gpu: 1}},"), "differ for a.com/gpu"),
        (deployment(container="readinessProbe: {periodSeconds: 1},"), "has no handler"),
        (node().replace("status:", "x-status:"), "neither allocatable nor capacity"),
        (node(extra="spec: {taints: [{key: a, effect: Never}]}\n"), "spec.taints[0].effect is 'Never'"),
        ("apiVersion: v1\n", "kind is required"),
        ("kind: Pod\n", "apiVersion is required"),
        ("- 1\n", "not a Kubernetes object"),
        (deployment().replace("apps/v1", "extensions/v1beta1"), "Write apiVersion: apps/v1"),
    ],
)
def test_what_the_api_server_refuses_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ManifestError) as refused:
        load_text(text)

    assert problem in str(refused.value)
    assert refused.value.exit_code == 4
    assert refused.value.file == "<stdin>"
    assert refused.value.line >= 1


@pytest.mark.parametrize(
    ("constraint", "problem"),
    [
        ("maxSkew: 0, topologyKey: z, whenUnsatisfiable: DoNotSchedule", "maxSkew is 0"),
        ("topologyKey: z, whenUnsatisfiable: DoNotSchedule", "maxSkew is required"),
        ("maxSkew: 1, topologyKey: z, whenUnsatisfiable: Maybe", "whenUnsatisfiable is 'Maybe'"),
        ("maxSkew: 1, topologyKey: z, whenUnsatisfiable: ScheduleAnyway, minDomains: 2", "minDomains needs"),
        (
            "maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [a]",
            "needs a labelSelector",
        ),
    ],
)
def test_a_wrong_spread_constraint_is_refused(constraint: str, problem: str) -> None:
    with pytest.raises(ManifestError, match=problem):
        load_text(deployment(pod=f"topologySpreadConstraints: [{{{constraint}}}],"))


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("key: a, operator: In", "values is required with In"),
        ("key: a, operator: Exists, values: [x]", "must be absent with Exists"),
        ("key: a, operator: Gt, values: [x]", "must be one integer with Gt"),
        ("key: a, operator: Near, values: [x]", "operator is 'Near'"),
        ("key: '', operator: Exists", "key is required"),
    ],
)
def test_operator_and_values_must_fit(expression: str, problem: str) -> None:
    term = f"{{nodeSelectorTerms: [{{matchExpressions: [{{{expression}}}]}}]}}"
    pod = f"affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {term}}}}},"

    with pytest.raises(ManifestError, match=problem):
        load_text(deployment(pod=pod))


def test_several_wrong_objects_are_reported_together() -> None:
    with pytest.raises(ManifestError) as refused:
        load_text(deployment("A"), deployment("B"), node())

    assert len(str(refused.value).splitlines()) == 2


def test_lists_are_unpacked_also_in_lists() -> None:
    items = ", ".join(f"{{apiVersion: v1, kind: Namespace, metadata: {{name: {n}}}}}" for n in "ab")
    inner = f"{{apiVersion: v1, kind: List, items: [{items}]}}"
    service = "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: s}}"
    text = f"{{apiVersion: v1, kind: List, items: [{inner}, {service}]}}"

    assert [o.what for o in load_text(text).omissions][:1] == ["kind NetworkPolicy s"]


def test_fields_without_a_reader_are_listed_with_their_place() -> None:
    text = deployment(pod="runtimeClassName: vm, tolerationz: [],", container="lifecycle: {stopSignal: SIGINT},")
    listed = {(o.what, o.why, o.source.line) for o in load_text(text).omissions if o.source.line}

    assert listed == {
        ("field spec.template.spec.runtimeClassName of Deployment/shop/web", "not modelled", 6),
        (
            "unknown field spec.template.spec.tolerationz of Deployment/shop/web",
            "not in the Kubernetes API, did you mean tolerations?",
            6,
        ),
        (
            "field spec.template.spec.containers[0].lifecycle.stopSignal of Deployment/shop/web",
            "dropped, gate ContainerStopSignals is off by default",
            6,
        ),
    }


def test_harmless_fields_are_not_listed() -> None:
    text = deployment(pod="serviceAccountName: x,", container="command: [run], env: [{name: A, value: b}],")

    assert [o for o in load_text(text).omissions if o.source.line] == []


def test_a_pod_that_runs_is_bound_and_one_with_an_owner_in_the_input_is_left_out() -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: shop}\n"
    body = "spec: {nodeName: n1, containers: [{name: c, image: x}]}\nstatus: {phase: Running}\n"
    owner = "{name: q, namespace: shop, ownerReferences: [{kind: Deployment, name: web, controller: true}]}"
    owned = pod.replace("{name: p, namespace: shop}", owner)
    loaded = load_text(node(), deployment(), pod + body, owned + body)

    assert [(w.ref, w.bound_to) for w in loaded.setup.workloads] == [
        ("Deployment/shop/web", None),
        ("Pod/shop/p", "n1"),
    ]


def test_a_running_pod_needs_its_node() -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {nodeName: n9, containers: [{name: c}]}\n"

    with pytest.raises(ManifestError, match="runs on 'n9', which is not in the input"):
        load_text(node(), pod + "status: {phase: Running}\n")


def autoscaler(version: str, spec: str) -> str:
    return (
        f"apiVersion: autoscaling/{version}\n"
        "kind: HorizontalPodAutoscaler\n"
        "metadata: {name: web, namespace: shop}\n"
        f"spec: {{scaleTargetRef: {{kind: Deployment, name: web}}, {spec}}}\n"
    )


def test_an_autoscaler_is_read_and_nothing_of_it_left_out() -> None:
    loaded = load_text(autoscaler("v1", "maxReplicas: 5, targetCPUUtilizationPercentage: 60"), scenario("start: empty"))

    found = loaded.setup.autoscalers[0]
    assert (found.target, found.min_replicas, found.max_replicas) == ("Deployment/shop/web", 1, 5)
    assert found.metrics == (Metric("Resource", "cpu", "Utilization", 60),)
    assert loaded.omissions == ()


def test_a_foreign_autoscaler_decides_only_where_its_target_is() -> None:
    scaled = "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a, namespace: shop}\n"
    of_web, of_nobody = (f"{scaled}spec: {{scaleTargetRef: {{name: {name}}}}}\n" for name in ("web", "sample"))
    odd = f"{scaled}spec: {{scaleTargetRef: {{}}}}\n"

    touches = [load_text(node(), deployment(), one).omissions[-1].touches for one in (of_web, of_nobody, odd)]

    assert [bool(one) for one in touches] == [True, False, True]
    asked = load_text(node(), deployment(), of_nobody, scenario("start: empty"))  # whose events may bring it
    assert asked.omissions[-1].touches


def test_behavior_is_defaulted_only_where_it_is_given() -> None:
    found = load_text(autoscaler("v2", "maxReplicas: 5, behavior: {scaleDown: {selectPolicy: Min}}"))

    assert found.setup.autoscalers[0].scale_up == ScalingRules(
        (ScalingPolicy("Pods", 4, 15), ScalingPolicy("Percent", 100, 15)), "Max", 0
    )
    assert found.setup.autoscalers[0].scale_down == ScalingRules((ScalingPolicy("Percent", 100, 15),), "Min", None)
    assert load_text(autoscaler("v2", "maxReplicas: 5")).setup.autoscalers[0].scale_up is None


def test_a_retired_autoscaler_version_is_refused_with_the_remedy() -> None:
    with pytest.raises(ManifestError, match="Write apiVersion: autoscaling/v2"):
        load_text(autoscaler("v2beta2", "maxReplicas: 5"))


def test_scoring_can_be_reduced_to_one_plugin() -> None:
    text = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {score: {disabled: [{name: '*'}], enabled: [{name: NodeResourcesFit, weight: 3}]}}
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 2}]}}
"""
    profile = load_text(text).setup.profiles[0]

    assert profile.weights == (("NodeResourcesFit", 3),)
    assert "NodeResourcesFit" not in profile.disabled_score
    assert {"TaintToleration", "NodeAffinity", "PodTopologySpread"} < profile.disabled_score
    assert profile.disabled == frozenset()
    assert (profile.fit_strategy, profile.fit_resources) == ("MostAllocated", (("cpu", 2),))


def test_a_descheduler_policy_is_read_and_nothing_of_it_left_out() -> None:
    text = """\
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: p
  pluginConfig: [{name: HighNodeUtilization, args: {thresholds: {cpu: 40}}}]
  plugins: {balance: {enabled: [HighNodeUtilization]}}
"""
    loaded = load_text(text, scenario("start: empty"))

    assert loaded.setup.descheduler is not None
    assert loaded.setup.descheduler.profiles[0].enabled == (("balance", ("HighNodeUtilization",)),)
    assert loaded.setup.descheduler.profiles[0].arguments == (
        ("HighNodeUtilization", (("thresholds", (("cpu", 40),)),)),
    )
    assert loaded.omissions == ()


def test_names_from_the_input_are_escaped_in_messages() -> None:
    with pytest.raises(ManifestError) as refused:
        load_text(deployment('"we\\e[31mb"'))

    assert "\x1b" not in str(refused.value)
    assert "\\x1b[31m" in str(refused.value)


def test_a_deadline_of_pods_is_listed() -> None:
    whole = load_text(node("n1"), deployment("web", pod="activeDeadlineSeconds: 30,"))

    assert [(omission.what, omission.why) for omission in whole.omissions] == [
        (
            "field spec.template.spec.activeDeadlineSeconds of Deployment/shop/web",
            "scopes of quotas respect it, but pods do not end by it",
        )
    ]
