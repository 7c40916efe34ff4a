"""Autoscalers, budgets, nodes, quotas, workloads and the descheduler."""

from __future__ import annotations

from tests.unit.verify.checks.inputs import APART, autoscaler, budget, deployment, found, node, service, told

NODES = (node("n1"), node("n2"), node("n3"))
MEMORY = "metrics: [{type: Resource, resource: {name: memory, target: {type: Utilization, averageUtilization: 80}}}]"


# -- autoscalers --------------------------------------------------------------------------------------


def test_two_autoscalers_of_one_target_are_told_once():
    (one,) = [f for f in found(deployment(), autoscaler(), autoscaler(name="more")) if f.id == "K014"]

    assert one.message == "never scales by a metric (AmbiguousSelector): more scales Deployment/shop/web, too"
    assert [ref for ref, _ in one.also] == ["HorizontalPodAutoscaler/shop/more", "Deployment/shop/web"]
    assert told("K014", deployment(), deployment("api"), autoscaler(), autoscaler("api", name="api")) == []


def test_autoscalers_whose_targets_share_pods_are_told():
    api = deployment("api", labels="app: web, part: api")
    (one,) = told("K014", deployment(), api, autoscaler(), autoscaler("api", name="api"))

    assert one[2].endswith("the selectors of its target and of Deployment/shop/api match the same pods")


def test_an_autoscaler_beside_a_scaled_object_of_its_target_is_told():
    scaled = "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: q, namespace: shop}\n"
    scaled += "spec: {scaleTargetRef: {name: TARGET}, triggers: []}\n"

    (one,) = told("K014", deployment(), autoscaler(), scaled.replace("TARGET", "web"))
    assert one[2].endswith("KEDA makes another one for Deployment/shop/web (ScaledObject/shop/q)")
    assert told("K014", deployment(), autoscaler(), scaled.replace("TARGET", "api")) == []


def test_a_utilization_needs_a_request_of_every_container():
    without = deployment(resources="requests: {cpu: 100m}")

    assert [one[2] for one in told("K015", without, autoscaler(metrics=MEMORY))] == [
        "never scales by memory utilization (FailedGetResourceMetric): "
        "container main of Deployment/shop/web has no memory request"
    ]
    assert told("K015", without, autoscaler()) == []
    limited = deployment(resources="limits: {cpu: 100m, memory: 1Gi}")
    assert told("K015", limited, autoscaler(metrics=MEMORY)) == []


def test_pods_of_others_that_are_counted_need_requests_too():
    other = deployment("other", labels="app: web, part: other", resources="")

    (one,) = told("K015", deployment(), other, autoscaler())
    assert one[2].endswith(
        "its target's selector matches pods of Deployment/shop/other, whose container main has no request"
    )


def test_an_autoscaler_that_lets_all_pods_go_at_once_is_told():
    def behavior(words: str) -> str:
        return autoscaler(most=8, metrics=f"behavior: {{scaleDown: {{{words}}}}}")

    assert told("K042", deployment(), behavior("stabilizationWindowSeconds: 0")) == [
        (
            "info",
            "HorizontalPodAutoscaler/shop/web",
            "scaleDown has no stabilization window and no limit: one low measurement takes it from 8 pods to 2",
        )
    ]
    slow = "policies: [{type: Pods, value: 1, periodSeconds: 60}]"
    assert told("K042", deployment(), behavior(f"stabilizationWindowSeconds: 0, {slow}")) == []
    assert told("K042", deployment(), behavior("stabilizationWindowSeconds: 60")) == []
    assert told("K042", deployment(), behavior("stabilizationWindowSeconds: 0, selectPolicy: Disabled")) == []
    assert told("K042", deployment(), autoscaler(most=8)) == []


def test_an_autoscaler_that_may_not_add_pods_is_a_note():
    disabled = autoscaler(metrics="behavior: {scaleUp: {selectPolicy: Disabled}}")

    (one,) = told("K016", deployment(), disabled)
    assert one[2] == "behavior.scaleUp is disabled: it never adds a pod, up to maxReplicas 5 or not"


def test_an_autoscaler_that_cannot_move_and_replicas_in_the_manifest_are_notes():
    assert told("K016", deployment(), autoscaler(least=3, most=3)) == [
        ("info", "HorizontalPodAutoscaler/shop/web", "minReplicas and maxReplicas are both 3: it never scales")
    ]
    assert [one[:2] for one in told("K018", deployment(), autoscaler())] == [("info", "Deployment/shop/web")]
    assert told("K018", deployment(replicas=""), autoscaler()) == []


def test_replicas_beside_a_reconciler_that_heals_them_are_a_warning():
    application = """apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd}
spec:
  destination: {namespace: shop}
  syncPolicy: {automated: {selfHeal: true}}
"""
    assert [one[0] for one in told("K018", deployment(), autoscaler(), application)] == ["warning"]


VERTICAL = """apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  updatePolicy: {updateMode: MODE}
"""


def test_a_vertical_autoscaler_on_the_same_resource_is_told():
    assert [one[1] for one in told("K017", deployment(), autoscaler(), VERTICAL.replace("MODE", "Recreate"))] == [
        "HorizontalPodAutoscaler/shop/web"
    ]
    assert told("K017", deployment(), autoscaler(), VERTICAL.replace("MODE", '"Off"')) == []


def test_a_vertical_autoscaler_spares_a_single_pod():
    recreate = VERTICAL.replace("MODE", "Recreate")

    assert told("K037", deployment(replicas="1"), recreate) == [
        (
            "info",
            "VerticalPodAutoscaler/shop/web",
            "never evicts a pod of Deployment/shop/web: it has 1, and the updater wants 2",
        )
    ]
    assert told("K037", deployment(), recreate) == []
    assert told("K037", deployment(replicas="1"), VERTICAL.replace("MODE", "Initial")) == []


# -- budgets ------------------------------------------------------------------------------------------


def test_a_budget_that_never_allows_an_eviction_is_told_with_its_arithmetic():
    three = deployment(replicas="3")

    assert [one[2] for one in told("K019", three, budget("minAvailable: 67%"))] == [
        "never allows an eviction: minAvailable 67%, 3 of 3 pods must stay, rounded up from 67% (Deployment/shop/web); "
        "it lets one go from 4 pods on"
    ]
    assert [one[0] for one in told("K019", three, budget("maxUnavailable: 0"))] == ["warning"]
    assert told("K019", three, budget("minAvailable: 2")) == []
    assert told("K019", deployment(replicas="0"), budget("minAvailable: 1")) == []


def test_a_budget_of_pods_without_a_scale_never_allows_an_eviction():
    daemons = deployment(kind="DaemonSet", replicas="")

    (one,) = told("K019", daemons, budget("maxUnavailable: 1"))
    assert one[2] == (
        "never allows an eviction: maxUnavailable 1 needs a scale, and a DaemonSet has none (DaemonSet/shop/web)"
    )


def test_a_budget_that_only_the_smallest_size_exhausts_is_a_note():
    assert told("K019", deployment(replicas=""), autoscaler(), budget("minAvailable: 2")) == [
        (
            "info",
            "PodDisruptionBudget/shop/web",
            "allows no eviction while its autoscaler is at the minimum: minAvailable 2 of 2 pods",
        )
    ]


def test_two_budgets_of_the_same_pods_are_told_once():
    (one,) = told("K020", deployment(), budget("maxUnavailable: 1"), budget("maxUnavailable: 1", name="again"))

    assert one[1:] == (
        "PodDisruptionBudget/shop/web",
        "selects the pods of Deployment/shop/web, and so does PodDisruptionBudget/shop/again: they are never evicted",
    )


def test_a_rollout_below_the_budget_and_a_share_that_rounds_up_are_notes():
    half = deployment(replicas="4", spec="strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 50%}}")

    assert told("K021", half, budget("minAvailable: 3")) == [
        (
            "info",
            "Deployment/shop/web",
            "a rollout takes 2 of 4 pods away at once, PodDisruptionBudget/shop/web allows 1",
        )
    ]
    assert told("K021", half, budget("minAvailable: 2")) == []
    assert [one[2] for one in told("K022", deployment(replicas="3"), budget("maxUnavailable: 50%"))] == [
        "50% of 3 pods rounds up to 2: 1 may be left"
    ]
    assert told("K022", deployment(replicas="4"), budget("maxUnavailable: 50%")) == []


# -- nodes --------------------------------------------------------------------------------------------


def test_pods_that_no_node_takes_are_an_error_with_the_scheduler_reasons():
    large = deployment(resources="requests: {cpu: 3}")

    assert told("K023", large, *NODES) == [
        (
            "error",
            "Deployment/shop/web",
            "no node takes its pods: 3 x Insufficient cpu (cpu: 3000m asked for, 2000m of 2000m free)",
        )
    ]
    assert [one[2] for one in told("K023", deployment(pod="nodeSelector: {disk: ssd}"), node("n1"))] == [
        "no node takes its pods: 1 x didn't match Pod's node affinity/selector"
    ]
    assert told("K023", deployment(), *NODES) == []


def test_without_nodes_of_the_input_only_requests_beyond_machines_are_told():
    assert told("K023", deployment(pod="nodeSelector: {disk: ssd}")) == []
    assert [one[0] for one in told("K023", deployment(resources="requests: {memory: 1000Gi}"))] == ["warning"]


def test_more_pods_than_nodes_for_them_are_told():
    assert told("K024", deployment(replicas="4", pod=APART), *NODES) == [
        ("warning", "Deployment/shop/web", "even alone in the cluster, only 3 of its 4 pods find a node")
    ]
    assert told("K024", deployment(replicas="3", pod=APART), *NODES) == []
    assert told("K024", deployment(replicas="4", pod=APART)) == []


def test_a_zone_without_room_caps_a_hard_spread():
    spread = "topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: "
    spread += "DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]"
    nodes = (node("n1"), node("n2", zone="b"), node("n3", zone="c", cpu="50m"))

    assert [one[2] for one in told("K024", deployment(replicas="6", pod=spread), *nodes)] == [
        "even alone in the cluster, only 2 of its 6 pods find a node"
    ]
    assert told("K024", deployment(replicas="6", pod=spread), *nodes[:2]) == []


def test_an_autoscaler_that_may_ask_for_more_than_fits_is_a_note():
    assert told("K024", deployment(pod=APART), autoscaler(most=5), *NODES) == [
        (
            "info",
            "Deployment/shop/web",
            "an autoscaler may ask for 5 pods, and even alone in the cluster only 3 find a node",
        )
    ]


def test_a_rollout_that_needs_one_node_more_than_there_is_never_ends():
    (one,) = told("K025", deployment(replicas="3", pod=APART), *NODES)
    assert one[2] == (
        "a rollout never ends: it adds a pod before it takes one of 3 away (maxUnavailable rounds down to 0), "
        "and no node takes one more"
    )
    one_less = "strategy: {rollingUpdate: {maxUnavailable: 1}}"
    assert told("K025", deployment(replicas="3", pod=APART, spec=one_less), *NODES) == []
    assert told("K025", deployment(replicas="2", pod=APART), *NODES) == []
    revised = APART.replace("labelSelector:", "matchLabelKeys: [pod-template-hash], labelSelector:")
    assert told("K025", deployment(replicas="3", pod=revised), *NODES) == []


def test_a_template_that_names_its_node_is_told():
    assert [one[:2] for one in told("K026", deployment(pod="nodeName: n1"), *NODES)] == [
        ("warning", "Deployment/shop/web")
    ]


# -- admission ----------------------------------------------------------------------------------------


def test_pods_that_a_limit_range_refuses_are_an_error():
    bound = """apiVersion: v1
kind: LimitRange
metadata: {name: small, namespace: shop}
spec: {limits: [{type: Container, max: {cpu: 50m}}]}
"""
    (one,) = told("K027", deployment(resources="limits: {cpu: 100m}"), bound)
    assert one[0] == "error"
    assert one[2].endswith("maximum cpu usage per Container is exceeded or has no limit (LimitRange small)")


def test_a_quota_that_is_too_small_is_told_and_one_for_autoscalers_alone_is_a_note():
    quota = """apiVersion: v1
kind: ResourceQuota
metadata: {name: few, namespace: shop}
spec: {hard: {requests.cpu: 300m}}
"""
    assert told("K028", deployment(replicas="4"), quota) == [
        (
            "warning",
            "ResourceQuota/shop/few",
            "allows 300m of requests.cpu, and the workloads of namespace shop ask for 400m",
        )
    ]
    assert [one[0] for one in told("K028", deployment(), autoscaler(), quota)] == ["info"]
    assert told("K028", deployment(), quota) == []


# -- workloads ----------------------------------------------------------------------------------------


def test_workloads_that_select_pods_of_each_other_are_one_finding():
    others = [deployment(name, labels="app: web") for name in ("a", "b", "c")]

    assert told("K029", *others) == [
        (
            "warning",
            "Deployment/shop/a",
            "it and Deployment/shop/b, Deployment/shop/c select pods of each other",
        )
    ]
    assert told("K029", deployment(), deployment("api")) == []


def test_single_pods_behind_services_are_one_note_for_a_namespace():
    objects = [deployment(name, replicas="1") for name in "abcde"] + [service(name, f"app: {name}") for name in "abcde"]

    assert told("K030", *objects) == [
        ("info", "Deployment/shop/a", "5 workloads behind a Service have a single pod: a, b, c and 2 more")
    ]
    assert told("K030", deployment(replicas="1")) == []
    assert told("K030", deployment(replicas="1", spec="strategy: {type: Recreate}"), service()) == []
    assert told("K030", deployment(replicas="1"), service(), budget("maxUnavailable: 1")) == []


def test_a_workload_with_a_word_of_its_own_stands_alone():
    accepted = deployment("a", replicas="1", annotations="ignore.kubeproof.dev/K030: a batch")
    objects = [accepted, deployment("b", replicas="1"), service("a", "app: a"), service("b", "app: b")]

    assert [one[1] for one in told("K030", *objects)] == ["Deployment/shop/a", "Deployment/shop/b"]


CRON = """apiVersion: batch/v1
kind: CronJob
metadata: {name: report, namespace: shop}
spec:
  schedule: "SCHEDULE"
  startingDeadlineSeconds: SECONDS
  jobTemplate:
    spec:
      template:
        spec: {restartPolicy: Never, containers: [{name: main, image: registry.example.com/main:1}]}
"""


def test_a_schedule_that_never_comes_and_a_deadline_within_a_cycle_are_told():
    never = CRON.replace("SCHEDULE", "0 0 30 2 *").replace("SECONDS", "60")
    hasty = CRON.replace("SCHEDULE", "0 0 * * *").replace("SECONDS", "5")

    assert [one.id for one in found(never)] == ["K031"]
    assert [one.id for one in found(hasty)] == ["K032"]


def test_a_hook_that_takes_all_of_the_grace_period_is_told():
    sleeping = deployment(container="lifecycle: {preStop: {sleep: {seconds: 30}}}")

    assert [one[2] for one in told("K033", sleeping)] == [
        "the preStop hook of container main takes 30 s of terminationGracePeriodSeconds 30: "
        "the container is killed, not stopped"
    ]
    assert told("K033", sleeping.replace("seconds: 30", "seconds: 10")) == []


def test_a_descheduler_plugin_against_the_scheduler_is_told():
    policy = """apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: p
  pluginConfig: [{name: HighNodeUtilization, args: {thresholds: {cpu: 40}}}]
  plugins: {balance: {enabled: [HighNodeUtilization]}}
"""
    scheduler = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
"""
    assert [one[:2] for one in told("K034", deployment(), *NODES, policy)] == [("warning", "DeschedulerPolicy")]
    assert told("K034", deployment(), *NODES, policy, scheduler) == []


def test_pods_that_share_a_volume_of_one_node_are_told():
    claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: shop}\n"
    claim += "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"
    mounting = "volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]"

    assert [one[0] for one in told("K035", deployment(pod=mounting), claim)] == ["warning"]
    assert [one[0] for one in told("K035", deployment(pod=mounting, replicas="1"), claim)] == ["info"]
    recreated = deployment(pod=mounting, replicas="1", spec="strategy: {type: Recreate}")
    assert told("K035", recreated, claim) == []
    assert told("K035", deployment(pod=mounting), claim.replace("Once", "Many")) == []


def test_a_spread_that_does_not_count_its_own_pods_is_told():
    spread = "topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: "
    spread += "ScheduleAnyway, labelSelector: {matchLabels: {app: APP}}}]"

    assert [one[2] for one in told("K036", deployment(pod=spread.replace("APP", "wev")))] == [
        "its topologySpreadConstraint for kubernetes.io/hostname selects app=wev: its own pods do not count"
    ]
    assert told("K036", deployment(pod=spread.replace("APP", "web"))) == []
