"""What rests on something that is not modelled is no plain HOLDS."""

from __future__ import annotations

import pytest

from kubeproof.verdicts import Verdict
from tests.unit.verify.inputs import node, only, scenario, verified, web

WEB, DB = "Deployment/shop/web", "Deployment/shop/db"
READY = f"{{minReady: {{target: {WEB}, count: 1, when: eventuallyAlways}}}}"
BOTH = READY + f", {{minReady: {{target: {DB}, count: 1, when: eventuallyAlways}}}}"
QUOTA = """apiVersion: v1
kind: ResourceQuota
metadata: {name: q, namespace: shop}
spec: {hard: {BOUND}}
"""
POD = """apiVersion: v1
kind: Pod
metadata: {name: NAME, namespace: shop}
spec: {containers: [{name: main, image: x, resources: {requests: {cpu: 1m}}}]}
"""


def verdicts(*texts: str, intents: str = READY) -> list[str]:
    return [one.verdict for one in verified(node("n1", cpu="4"), *texts, scenario(intents)).results]


def test_readiness_gates_leave_open_whether_the_own_pods_become_ready() -> None:
    gated = web(1, more="readinessGates: [{conditionType: lb}]")
    result = verified(node("n1"), gated, web(1, name="db"), scenario(BOTH))

    assert [one.verdict for one in result.results] == [Verdict.UNKNOWN, Verdict.HOLDS]
    assert result.verdict == Verdict.UNKNOWN
    assert result.results[0].detail.startswith(
        "not decided, it holds if what is not modelled plays no part: "
        "field spec.template.spec.readinessGates of Deployment/shop/web ("
    )


def test_an_object_without_a_namespace_is_in_the_default_one() -> None:
    gated = (
        web(1, more="readinessGates: [{conditionType: lb}]")
        .replace(", namespace: shop", "")
        .replace("namespace: shop", "")
    )

    assert "shop" not in gated
    assert verdicts(gated, intents=READY.replace("shop", "default")) == [Verdict.UNKNOWN]


def test_a_disk_that_only_one_pod_of_a_node_may_use_leaves_open_where_pods_go() -> None:
    disk = "volumes: [{name: data, gcePersistentDisk: {pdName: disk}}]"

    assert verdicts(web(2, more=disk)) == [Verdict.UNKNOWN]


def with_disk(pod: str, disk: str) -> str:
    return POD.replace("NAME", pod).replace("spec: {", f"spec: {{volumes: [{{name: data, {disk}}}], ")


RUNS = "{minReady: {target: Pod/shop/one, count: 1, when: eventuallyAlways}}"
GCE, EBS = "gcePersistentDisk: {pdName: disk}", "awsElasticBlockStore: {volumeID: disk, readOnly: true}"
READ = "gcePersistentDisk: {pdName: disk, readOnly: true}"


@pytest.mark.parametrize("disk", [GCE, EBS, "iscsi: {iqn: disk}", "rbd: {image: disk}", "gcePersistentDisk: {}"])
def test_a_disk_that_only_one_pod_ever_has_decides_nothing(disk: str) -> None:
    assert verdicts(with_disk("one", disk), intents=RUNS) == [Verdict.HOLDS]


@pytest.mark.parametrize(
    ("disk", "other", "verdict"),
    [
        (GCE, GCE, Verdict.UNKNOWN),
        (GCE, READ, Verdict.UNKNOWN),  # VolumeRestrictions lets pods share a disk if both only read it
        (READ, READ, Verdict.HOLDS),
        (EBS, EBS, Verdict.UNKNOWN),  # never shared, whoever reads
        (GCE, GCE.replace("disk}", "other}"), Verdict.HOLDS),
        (GCE, "gcePersistentDisk: {}", Verdict.UNKNOWN),  # may be any disk
        (GCE, "iscsi: {iqn: disk}", Verdict.HOLDS),
    ],
)
def test_a_disk_of_two_pods_decides_where_they_may_be_at_odds_about_it(disk: str, other: str, verdict: str) -> None:
    assert verdicts(with_disk("one", disk), with_disk("two", other), intents=RUNS) == [verdict]


LONG = "p" * 203  # a message cuts such a name, what depends on it must not


def test_two_pods_are_two_although_their_names_begin_alike() -> None:
    pods = [with_disk(f"{LONG}-{end}", GCE) for end in ("one", "two")]

    assert verdicts(*pods, intents=RUNS.replace("Pod/shop/one", f"Pod/shop/{LONG}-one")) == [Verdict.UNKNOWN]


def test_a_long_name_is_heeded_whole() -> None:
    gated = web(1, more="readinessGates: [{conditionType: lb}]").replace("{name: web", f"{{name: {LONG}")

    assert verdicts(gated, intents=READY.replace("shop/web", f"shop/{LONG}")) == [Verdict.UNKNOWN]


def test_pods_of_one_workload_may_read_a_disk_together() -> None:
    assert verdicts(web(2, more=f"volumes: [{{name: data, {READ}}}]")) == [Verdict.HOLDS]
    assert verdicts(web(2, more=f"volumes: [{{name: data, {EBS}}}]")) == [Verdict.UNKNOWN]
    assert verdicts(web(1, more=f"volumes: [{{name: data, {GCE}}}]")) == [Verdict.UNKNOWN]


def test_what_takes_room_or_places_pods_leaves_everything_open() -> None:
    claiming = web(1, name="db", more="resourceClaims: [{name: gpu}]")

    assert verdicts(web(1), claiming, intents=BOTH) == [Verdict.UNKNOWN, Verdict.UNKNOWN]
    assert verdicts(web(1), claiming, intents="{settles: {}}") == [Verdict.UNKNOWN]


@pytest.mark.parametrize("harmless", ["hostAliases: [{ip: 1.2.3.4}]", "dnsPolicy: None"])
def test_what_decides_about_no_pod_leaves_a_plain_proof(harmless: str) -> None:
    assert verdicts(web(1, more=harmless)) == [Verdict.HOLDS]


RULES = "restartPolicyRules: [{action: RestartAllContainers, exitCodes: {operator: In, values: [88]}}]"
SIDECAR = "initContainers: [{name: side, image: x, MORE}], "


@pytest.mark.parametrize(
    ("more", "event", "verdict"),
    [
        (f"restartPolicy: Always, {RULES}", "", Verdict.HOLDS),
        (f"restartPolicy: Always, {RULES}", "{podCrash: {target: Pod/shop/one}}", Verdict.UNKNOWN),
        (RULES, "", Verdict.UNKNOWN),  # it exits whatever happens, and may begin again
    ],
)
def test_rules_for_exit_codes_leave_open_what_follows_an_exit(more: str, event: str, verdict: str) -> None:
    asks = scenario(RESTARTED.replace("TARGET", "Pod/shop/one"), events=event)
    pod = POD.replace("NAME", "one").replace("spec: {", "spec: {" + SIDECAR.replace("MORE", more))

    assert verified(node("n1"), web(1), pod, asks).results[0].verdict == verdict


def test_a_class_that_all_pods_share_decides_nothing_whatever_its_value() -> None:
    high = web(1, more="priorityClassName: high")
    crowded = web(3, more="priorityClassName: high", name="db")
    other = web(3, name="db")

    assert verdicts(high, crowded) == [Verdict.HOLDS]
    assert verdicts(high, other) == [Verdict.UNKNOWN]


RESTARTED = "{minReady: {target: TARGET, count: 1, when: eventuallyAlways}}"


@pytest.mark.parametrize(
    ("policy", "event", "verdict"),
    [
        ("Never", "{podCrash: {target: TARGET}}", Verdict.UNKNOWN),
        ("Never", "", Verdict.HOLDS),
        ("OnFailure", "{podCrash: {target: TARGET}}", Verdict.HOLDS),
        ("Never", "{podCrash: {target: Deployment/shop/web}}", Verdict.HOLDS),
    ],
)
def test_a_container_that_nobody_restarts_leaves_open_what_follows_a_crash(
    policy: str, event: str, verdict: str
) -> None:
    asks = scenario(RESTARTED.replace("TARGET", "Pod/shop/one"), events=event.replace("TARGET", "Pod/shop/one"))
    pod = POD.replace("NAME", "one").replace("spec: {", f"spec: {{restartPolicy: {policy}, ")

    assert verified(node("n1"), web(1), pod, asks).results[0].verdict == verdict


def test_a_container_of_a_workload_that_nobody_restarts_leaves_open_what_follows_a_crash() -> None:
    asks = scenario(READY, events=f"{{podCrash: {{target: {WEB}}}}}")
    lasting = web(1).replace("name: main, ", "name: main, restartPolicy: Never, ")

    assert only(verified(node("n1"), lasting, asks)).verdict == Verdict.UNKNOWN
    assert only(verified(node("n1"), web(1), asks)).verdict == Verdict.HOLDS


@pytest.mark.parametrize(
    ("spec", "verdict"),
    [
        ("", Verdict.HOLDS),
        ("strategy: {type: RollingUpdate}, ", Verdict.HOLDS),
        ("strategy: {type: Recreate}, ", Verdict.UNKNOWN),
        ("minReadySeconds: 9, ", Verdict.UNKNOWN),
        ("paused: true, ", Verdict.UNKNOWN),
    ],
)
def test_rules_that_are_applied_otherwise_and_stay_as_they_were_leave_all_open(spec: str, verdict: str) -> None:
    pods = "{metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: new}]}}"
    whole = f"{spec}selector: {{matchLabels: {{app: web}}}}, template: {pods}"
    meta = "metadata: {name: web, namespace: shop}"
    applied = f"{{apply: {{manifest: {{apiVersion: apps/v1, kind: Deployment, {meta}, spec: {{{whole}}}}}}}}}"

    assert only(verified(node("n1"), web(1), scenario(READY, events=applied))).verdict == verdict


@pytest.mark.parametrize(
    ("kind", "name", "verdict"),
    [
        ("Deployment", "one", Verdict.HOLDS),  # the selector of its ReplicaSet has the hash of the template, too
        ("ReplicaSet", "one", Verdict.UNKNOWN),
        ("DaemonSet", "one", Verdict.UNKNOWN),
        ("StatefulSet", "one", Verdict.HOLDS),
        ("StatefulSet", "web-7", Verdict.UNKNOWN),
    ],
)
def test_a_pod_that_a_controller_adopts_is_not_decided(kind: str, name: str, verdict: str) -> None:
    labelled = POD.replace("name: NAME,", f"name: {name}, labels: {{app: web}},")
    owner = web(1).replace("Deployment", kind)
    owner = owner.replace("  replicas: 1\n", "") if kind == "DaemonSet" else owner

    assert verdicts(owner, labelled, intents=RUNS.replace("shop/one", f"shop/{name}")) == [verdict]
    assert verdicts(owner, labelled.replace("app: web", "app: other"), intents=RUNS.replace("one", name)) == [
        Verdict.HOLDS
    ]


def test_a_violation_stays_one() -> None:
    gated = web(9, more="readinessGates: [{conditionType: lb}]")

    assert verdicts(gated, intents=READY.replace("count: 1", "count: 9")) == [Verdict.VIOLATED]


@pytest.mark.parametrize(
    ("bound", "verdict"),
    [
        ("count/replicasets.apps: 1", Verdict.UNKNOWN),
        ("services: 1", Verdict.HOLDS),
        ("persistentvolumeclaims: 0", Verdict.HOLDS),
    ],
)
def test_bounds_of_a_quota_that_are_not_modelled_leave_open_what_they_may_hold_back(bound: str, verdict: str) -> None:
    assert verdicts(web(1), QUOTA.replace("{BOUND}", f"{{{bound}}}")) == [verdict]


@pytest.mark.parametrize(("pods", "verdict"), [(2, Verdict.HOLDS), (1, Verdict.UNKNOWN)])
def test_pods_of_the_input_beyond_their_quota_leave_the_namespace_open(pods: int, verdict: str) -> None:
    quota = QUOTA.replace("{BOUND}", f"{{pods: {pods}}}")
    lone = [POD.replace("NAME", name) for name in ("a", "b")]
    elsewhere = web(1, namespace="other", name="db")
    intents = "{noPendingForever: {target: Pod/shop/a}}, {noPendingForever: {target: Deployment/other/db}}"

    assert verdicts(quota, *lone, elsewhere, intents=intents) == [verdict, Verdict.HOLDS]


EXTERNAL = """apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  maxReplicas: 10
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: TARGET}
  metrics: [{type: External, external: {metric: {name: queue}, target: {type: Value, value: "1"}}}]
"""
BOOST = """apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  startupBoost: {cpu: {type: Factor, factor: 3}}
"""
NEIGHBOUR = f"{{noPendingForever: {{target: {DB}}}}}"


@pytest.mark.parametrize("autoscaler", [EXTERNAL.replace("TARGET", "web"), BOOST])
def test_what_decides_how_many_pods_there_are_or_how_large_leaves_neighbours_open(autoscaler: str) -> None:
    assert verdicts(web(1), autoscaler, web(1, name="db"), intents=NEIGHBOUR) == [Verdict.UNKNOWN]


@pytest.mark.parametrize(
    ("spec", "verdict"), [("scaleTargetRef: {name: web}", Verdict.UNKNOWN), ("url: x", Verdict.HOLDS)]
)
def test_a_kind_that_nobody_reads_and_that_sizes_a_workload_leaves_all_open(spec: str, verdict: str) -> None:
    kind = f"apiVersion: example.com/v1\nkind: Sizer\nmetadata: {{name: s, namespace: shop}}\nspec: {{{spec}}}\n"

    assert verdicts(web(1), kind, web(1, name="db"), intents=NEIGHBOUR) == [verdict]


def test_a_bare_pod_that_is_being_deleted_leaves_all_open() -> None:
    ending = POD.replace("NAME", "a").replace("name: a,", "name: a, deletionTimestamp: '2026-01-01T00:00:00Z',")

    assert verdicts(ending, web(1, name="db"), intents=NEIGHBOUR) == [Verdict.UNKNOWN]


def test_an_autoscaler_of_nothing_leaves_nothing_open() -> None:
    assert verdicts(EXTERNAL.replace("TARGET", "gone"), web(1, name="db"), intents=NEIGHBOUR) == [Verdict.HOLDS]


@pytest.mark.parametrize("more", ["schedulingGates: [{name: wait}]", "schedulerName: other"])
def test_pods_that_others_place_leave_open_where_their_neighbours_go(more: str) -> None:
    assert verdicts(web(1, more=more), web(1, name="db"), intents=NEIGHBOUR) == [Verdict.UNKNOWN]


@pytest.mark.parametrize(
    ("selector", "verdict"), [("{}", Verdict.UNKNOWN), ("{matchLabels: {app: db}}", Verdict.HOLDS)]
)
def test_pods_that_may_never_be_ready_leave_open_who_shares_a_budget_with_them(selector: str, verdict: str) -> None:
    budget = f"""apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: b, namespace: shop}}
spec: {{maxUnavailable: 1, selector: {selector}}}
"""
    gated = web(1, more="readinessGates: [{conditionType: lb}]")

    assert verdicts(gated, web(1, name="db"), budget, intents=NEIGHBOUR) == [verdict]


def test_with_a_deployed_start_the_scope_says_that_jobs_begin_with_the_run() -> None:
    job = """apiVersion: batch/v1
kind: Job
metadata: {name: load, namespace: shop}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: x}]}}}
"""
    said = dict(verified(node("n1"), web(1), job, scenario(READY, start="deployed")).scope)["start"]

    assert said == "deployed, but Job/shop/load: none of their pods was there when the others were placed"
    assert dict(verified(node("n1"), web(1), scenario(READY, start="deployed")).scope)["start"] == "deployed"


@pytest.mark.parametrize(
    ("replicas", "event", "verdict"),
    [
        (1, "", Verdict.UNKNOWN),
        (0, "", Verdict.HOLDS),
        (0, f"{{scale: {{target: {DB}, replicas: [1]}}}}", Verdict.UNKNOWN),
        (0, f"{{rollout: {{target: {DB}}}}}", Verdict.HOLDS),
    ],
)
def test_a_scheduler_that_is_unknown_decides_nothing_where_no_pod_ever_asks_it(
    replicas: int, event: str, verdict: Verdict
) -> None:
    strange = web(replicas, name="db", more="schedulerName: volcano")
    result = verified(node("n1"), web(1), strange, scenario(READY, events=event))

    assert only(result).verdict == verdict
