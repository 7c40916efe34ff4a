"""Nodes that nobody told of: as many, and as large, as the pods ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubeproof.cluster.objects import ZONE
from kubeproof.errors import UsageError
from kubeproof.manifests.assumed.node_pools import Pool, describe, parse_pool
from kubeproof.manifests.load import ASSUMED_FILE, load, load_texts
from kubeproof.manifests.loaded import Loaded
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.run import verify

GIB = 2**30
NODE = """
apiVersion: v1
kind: Node
metadata: {name: mine}
status: {allocatable: {cpu: 4, memory: 8Gi}}
"""


def deployment(name: str = "web", replicas: int = 3, pod: str = "", requests: str = "{cpu: 500m, memory: 1Gi}") -> str:
    return f"""
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      containers: [{{name: c, image: x, resources: {{requests: {requests}}}}}]
{pod}
"""


def loaded(tmp_path: Path, text: str, **options: object) -> Loaded:
    (tmp_path / "input.yaml").write_text(text)
    return load([str(tmp_path)], **options)  # type: ignore[arg-type]


def test_three_nodes_in_three_zones_are_assumed_for_a_small_workload(tmp_path: Path) -> None:
    found = loaded(tmp_path, deployment())

    assert [dict(node.labels)[ZONE] for node in found.setup.nodes] == ["zone-a", "zone-b", "zone-c"]
    assert describe(found.assumed) == "3 nodes of 4 CPU and 16 GiB in 3 zones"


def test_the_report_says_that_nodes_are_assumed(tmp_path: Path) -> None:
    result = verify(loaded(tmp_path, deployment()))

    assert result.verdict == "HOLDS"
    assert dict(result.scope)["assumed nodes"].startswith("3 nodes of 4 CPU and 16 GiB in 3 zones")


def test_node_objects_of_the_input_are_all_there_is(tmp_path: Path) -> None:
    found = loaded(tmp_path, NODE + deployment())

    assert [node.name for node in found.setup.nodes] == ["mine"]
    assert found.assumed == ()


def test_a_saved_input_has_the_assumed_nodes_as_objects(tmp_path: Path) -> None:
    found = loaded(tmp_path, deployment())

    again = load_texts(found.texts)

    assert ASSUMED_FILE in dict(found.texts)
    assert again.setup.nodes == found.setup.nodes


def test_every_node_takes_all_pods_of_a_rollout_and_one_more(tmp_path: Path) -> None:
    found = loaded(tmp_path, deployment(replicas=4, requests="{cpu: 1700m, memory: 1Gi}"))

    assert describe(found.assumed) == "3 nodes of 32 CPU and 128 GiB in 3 zones"  # 4 + 1 more, 4 that end, 1 largest


def test_nodes_take_more_pods_only_where_the_usual_number_is_too_small(tmp_path: Path) -> None:
    tiny = "{cpu: 1m, memory: 1Mi}"

    assert loaded(tmp_path, deployment(replicas=48, requests=tiny)).assumed[0].pods == 110
    assert describe(loaded(tmp_path, deployment(replicas=49, requests=tiny)).assumed) == (
        "3 nodes of 4 CPU and 16 GiB, 250 pods in 3 zones"
    )


def test_all_pods_fit_although_a_zone_is_lost(tmp_path: Path) -> None:
    found = loaded(tmp_path, deployment(replicas=60, requests="{cpu: 3, memory: 4Gi}"))

    assert describe(found.assumed) == "6 nodes of 64 CPU and 256 GiB in 3 zones"  # 75 pods, 21 on a node


def test_a_node_takes_daemon_pods_beside_all_others(tmp_path: Path) -> None:
    daemons = deployment("agent", requests="{cpu: 4}").replace("kind: Deployment", "kind: DaemonSet")
    found = loaded(tmp_path, deployment(replicas=1, requests="{cpu: 1}") + daemons.replace("  replicas: 3\n", ""))

    assert found.assumed[0].cpu_milli == 16_000  # two of a rollout, and up to four pods


def test_a_pod_beyond_all_usual_nodes_gets_one_of_its_size(tmp_path: Path) -> None:
    found = loaded(tmp_path, deployment(replicas=1, requests="{cpu: 500}"))

    assert found.assumed[0].cpu_milli == 500_000


def with_priority(text: str) -> str:
    kind = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000\n---\n"
    return kind + text.replace("    spec:\n", "    spec:\n      priorityClassName: high\n", 1)


def test_where_pods_may_be_preempted_one_node_has_room_for_all_beside_a_huge_one(tmp_path: Path) -> None:
    huge, small = deployment("huge", replicas=1, requests="{cpu: 500}"), deployment(replicas=1, requests="{cpu: 1}")
    apart = loaded(tmp_path, huge + small).assumed[0].cpu_milli
    together = loaded(tmp_path, with_priority(huge) + small).assumed[0].cpu_milli

    assert (apart, together) == (500_000, 4_016_000)  # twice everything, rounded up


def test_where_pods_may_be_preempted_one_node_takes_many(tmp_path: Path) -> None:
    many = deployment(replicas=150, requests="{cpu: 10m}")

    assert loaded(tmp_path, many).assumed[0].pods == 110
    assert loaded(tmp_path, with_priority(deployment("first", replicas=1)) + many).assumed[0].pods == 500


@pytest.mark.parametrize(("replicas", "nodes"), [(1, 3), (2, 3), (3, 6), (4, 6), (5, 9), (6, 9)])
def test_pods_that_keep_apart_have_a_node_each_even_without_a_zone(tmp_path: Path, replicas: int, nodes: int) -> None:
    apart = """
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - topologyKey: kubernetes.io/hostname
            labelSelector: {matchLabels: {app: web}}
"""
    assert loaded(tmp_path, deployment(replicas=replicas, pod=apart)).assumed[0].count == nodes


def test_an_autoscaled_workload_has_room_for_its_maximum(tmp_path: Path) -> None:
    autoscaler = """
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 1
  maxReplicas: 40
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
"""
    pool = loaded(tmp_path, deployment(requests="{cpu: 2, memory: 1Gi}") + autoscaler).assumed[0]

    assert (pool.count - 1) * pool.cpu_milli >= 40 * 2000


def test_labels_and_taints_that_pods_name_make_a_pool_of_their_own(tmp_path: Path) -> None:
    special = """
      nodeSelector: {pool: gpu}
      tolerations: [{key: dedicated, value: gpu, effect: NoSchedule}]
"""
    found = loaded(
        tmp_path, deployment() + deployment("train", 1, special, "{nvidia.com/gpu: 2}, limits: {nvidia.com/gpu: 2}")
    )

    usual, gpu = found.assumed
    assert usual.labels == usual.taints == ()
    assert gpu.labels == (("pool", "gpu"),)
    assert [(taint.key, taint.value, taint.effect) for taint in gpu.taints] == [("dedicated", "gpu", "NoSchedule")]
    assert dict(gpu.others)["nvidia.com/gpu"] >= 2
    assert verify(found, VerifyOptions(max_states=20_000)).verdict != "VIOLATED"


@pytest.mark.parametrize(
    "affinity",
    [
        "{key: disk, operator: In, values: [ssd, nvme]}",
        "{key: disk, operator: Exists}",
        "{key: size, operator: Gt, values: ['3']}",
    ],
)
def test_required_affinity_is_satisfied(tmp_path: Path, affinity: str) -> None:
    wanted = f"""
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms: [{{matchExpressions: [{affinity}]}}]
"""
    assert verify(loaded(tmp_path, deployment(replicas=1, pod=wanted))).verdict == "HOLDS"


def test_zones_and_nodes_that_pods_name_exist(tmp_path: Path) -> None:
    here = "\n      nodeSelector: {topology.kubernetes.io/zone: eu-1}\n"
    there = "\n      nodeName: worker-7\n"
    found = loaded(tmp_path, deployment(pod=here) + deployment("db", 1, there))

    assert "worker-7" in [node.name for node in found.setup.nodes]
    assert "eu-1" in [dict(node.labels)[ZONE] for node in found.setup.nodes]


def test_given_pools_replace_the_assumption(tmp_path: Path) -> None:
    found = loaded(tmp_path, deployment(), pools=(parse_pool("2x8cpu,32Gi,zones=1,pool=web"),))

    assert found.assumed == ()
    assert [(n.cpu_milli, dict(n.labels)["pool"], dict(n.labels)[ZONE]) for n in found.setup.nodes] == [
        (8000, "web", "zone-a")
    ] * 2


def test_a_pool_is_told_in_a_few_words() -> None:
    pool = parse_pool("6x3920m,16Gi,zones=2,pods=58,taint=spot=yes:NoSchedule,team=a")

    assert (pool.count, pool.cpu_milli, pool.memory_bytes, pool.pods) == (6, 3920, 16 * GIB, 58)
    assert (pool.zones, pool.labels) == (("zone-a", "zone-b"), (("team", "a"),))
    assert describe((pool,)) == "6 nodes of 3.92 CPU and 16 GiB, 58 pods, team=a, taint spot=yes:NoSchedule in 2 zones"


@pytest.mark.parametrize(
    "text",
    ["", "6", "6x4cpu", "x4cpu,16Gi", "0x4cpu,16Gi", "6x4cpu,lots", "6x4cpu,16Gi,zones=0", "6x4cpu,16Gi,zones=99",
     "6x4cpu,16Gi,zones=7",
     "6x4cpu,16Gi,pool", "6x4cpu,16Gi,bad key=1", "6x4cpu,16Gi,taint=x", "9999999x4cpu,16Gi", "6x0,16Gi"],
)  # fmt: skip
def test_what_is_no_pool_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(UsageError, match=r"COUNTxCPU,MEMORY"):
        parse_pool(text)


def test_hostile_numbers_of_replicas_end_quickly(tmp_path: Path) -> None:
    (pool,) = loaded(tmp_path, deployment(replicas=2_000_000_000)).assumed

    assert isinstance(pool, Pool)
    assert pool.count <= 300


# -- what the input may name, tolerate and keep apart -----------------------------------------------

APART = """      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: kubernetes.io/hostname
              labelSelector: {matchExpressions: [{key: app, operator: Exists}]}"""


def test_a_numbered_node_never_takes_a_name_that_the_input_speaks_of(tmp_path: Path) -> None:
    found = loaded(tmp_path, deployment(pod="      nodeName: node-2"))

    assert [node.name for node in found.setup.nodes] == ["node-2", "node-1", "node-3"]


def test_a_name_that_two_pools_ask_for_is_in_the_one_with_more_labels(tmp_path: Path) -> None:
    plain = deployment("a", pod="      nodeSelector: {kubernetes.io/hostname: h1}")
    labelled = deployment("b", pod="      nodeSelector: {kubernetes.io/hostname: h1, pool: ssd}")
    nodes = loaded(tmp_path, plain + labelled).setup.nodes

    assert [dict(node.labels).get("pool") for node in nodes if node.name == "h1"] == ["ssd"]


def test_a_label_that_can_be_no_name_makes_no_node(tmp_path: Path) -> None:
    found = loaded(tmp_path, deployment(pod="      nodeSelector: {kubernetes.io/hostname: Upper_1}"))

    assert [node.name for node in found.setup.nodes] == ["node-1", "node-2", "node-3"]


@pytest.mark.parametrize(
    ("tolerations", "taints"),
    [
        ("{key: own, value: gpu, effect: NoExecute, tolerationSeconds: 300}", []),
        ("{key: own, operator: Exists}, {key: own, value: gpu, effect: NoSchedule}", [("own", "gpu", "NoSchedule")]),
        ("{key: own, operator: Exists, effect: NoExecute}", [("own", "", "NoExecute")]),
    ],
)
def test_assumed_taints_are_tolerated_for_ever_and_once(
    tmp_path: Path, tolerations: str, taints: list[tuple[str, str, str]]
) -> None:
    found = loaded(tmp_path, deployment(pod=f"      nodeSelector: {{pool: gpu}}\n      tolerations: [{tolerations}]"))

    assert [(t.key, t.value, t.effect) for t in found.setup.nodes[0].taints] == taints


def test_pods_of_several_workloads_that_keep_apart_get_a_node_each(tmp_path: Path) -> None:
    found = loaded(tmp_path, deployment("a", 4, APART) + deployment("b", 4, APART))

    assert len(found.setup.nodes) == 12


def test_pods_that_keep_away_from_another_pool_have_a_node_whatever_it_takes(tmp_path: Path) -> None:
    apart = APART.replace("{matchExpressions: [{key: app, operator: Exists}]}", "{matchLabels: {app: a}}")
    found = loaded(tmp_path, deployment("a", 5) + deployment("b", 1, f"      nodeSelector: {{disk: ssd}}\n{apart}"))

    assert [pool.count for pool in found.assumed] == [3, 9]


def test_pods_that_never_share_a_zone_have_one_each(tmp_path: Path) -> None:
    apart = APART.replace("kubernetes.io/hostname", "topology.kubernetes.io/zone")

    assert len(loaded(tmp_path, deployment("a", 3, apart)).assumed[0].zones) == 3
    assert len(loaded(tmp_path, deployment("a", 5, apart)).assumed[0].zones) == 5


@pytest.mark.parametrize(("replicas", "nodes"), [(3, 6), (20, 3)])
def test_few_pods_that_are_spread_over_nodes_have_nodes_to_spare(tmp_path: Path, replicas: int, nodes: int) -> None:
    spread = "topologyKey: kubernetes.io/hostname, maxSkew: 1, whenUnsatisfiable: DoNotSchedule"
    pod = f"      topologySpreadConstraints: [{{{spread}, labelSelector: {{matchLabels: {{app: web}}}}}}]"

    assert loaded(tmp_path, deployment(replicas=replicas, pod=pod)).assumed[0].count == nodes


@pytest.mark.parametrize(("replicas", "nodes", "gpus"), [(1, 3, 4), (3, 3, 8), (24, 6, 8)])
def test_nodes_have_a_usual_number_of_accelerators(tmp_path: Path, replicas: int, nodes: int, gpus: int) -> None:
    asked = deployment(replicas=replicas, requests="{nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 1}")
    (pool,) = loaded(tmp_path, asked).assumed

    assert (pool.count, pool.others) == (nodes, (("nvidia.com/gpu", gpus),))


def test_disks_have_usual_sizes(tmp_path: Path) -> None:
    small, large = (deployment(replicas=10, requests=f"{{ephemeral-storage: {size}}}") for size in ("4Gi", "20Gi"))

    assert describe(loaded(tmp_path, small).assumed) == (
        "3 nodes of 4 CPU and 16 GiB, 100 GiB ephemeral-storage in 3 zones"
    )
    assert loaded(tmp_path, large).assumed[0].others == (("ephemeral-storage", 800 * GIB),)


def test_labels_under_their_former_names_need_no_pool_of_their_own(tmp_path: Path) -> None:
    former = "      nodeSelector: {beta.kubernetes.io/os: linux}"
    (pool,) = loaded(tmp_path, deployment(pod=former) + deployment("b")).assumed

    assert (pool.labels, pool.former) == ((), (("beta.kubernetes.io/os", "linux"),))


def test_domains_that_only_the_input_knows_are_zones(tmp_path: Path) -> None:
    affinity = "requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: rack, labelSelector: {}}]"
    nodes = loaded(tmp_path, deployment(pod=f"      affinity: {{podAffinity: {{{affinity}}}}}")).setup.nodes

    assert [dict(node.labels)["rack"] for node in nodes] == ["zone-a", "zone-b", "zone-c"]


def test_a_workload_that_is_resized_has_room_for_what_is_allowed(tmp_path: Path) -> None:
    autoscaler = """
---
apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: {name: web}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  resourcePolicy: {containerPolicies: [{containerName: c, maxAllowed: {cpu: 3}}]}
"""

    assert loaded(tmp_path, deployment(replicas=1) + autoscaler).assumed[0].cpu_milli == 16_000


def test_a_node_for_an_enormous_pod_is_no_smaller_than_usual_ones(tmp_path: Path) -> None:
    found = loaded(tmp_path, deployment(requests="{cpu: 5000}"))

    assert describe(found.assumed) == "6 nodes of 5000 CPU and 768 GiB in 3 zones"


def test_a_bound_that_no_label_satisfies_makes_no_label(tmp_path: Path) -> None:
    terms = "[{matchExpressions: [{key: cores, operator: Lt, values: ['0']}]}]"
    required = f"requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: {terms}}}"
    found = loaded(tmp_path, deployment(pod=f"      affinity: {{nodeAffinity: {{{required}}}}}"))

    assert "cores" not in dict(found.setup.nodes[0].labels)


def test_a_pool_has_one_taint_of_a_key_and_effect() -> None:
    with pytest.raises(UsageError, match="taint a with effect NoSchedule stands there twice"):
        parse_pool("2x4cpu,16Gi,taint=a=b:NoSchedule,taint=a=c:NoSchedule")
