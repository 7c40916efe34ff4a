"""`controllers.clusterAutoscaler` of a Scenario, and what pods and nodes say to the cluster autoscaler."""

from __future__ import annotations

import pytest

from kubeproof.cluster.nodes.node_groups import ClusterAutoscaler, NodeGroup
from kubeproof.cluster.objects import Node
from kubeproof.errors import ScenarioError
from kubeproof.manifests.loaded import Loaded
from kubeproof.verify.resize import Size, resize
from tests.unit.manifests.inputs import deployment, load_text, node, scenario

GROUP = "{name: web, like: n1, min: 1, max: 3}"


def loaded_with(settings: str, *, spec: str = "") -> Loaded:
    text = f"controllers: {{clusterAutoscaler: {{{settings}}}}}"
    return load_text(node("n1"), node("n2"), deployment("web"), scenario(f"{text}\n{spec}"))


def autoscaler_of(settings: str) -> ClusterAutoscaler:
    found = loaded_with(settings).setup.cluster_autoscaler
    assert found is not None
    return found


def test_without_settings_there_is_no_autoscaler_and_with_groups_alone_it_has_its_defaults() -> None:
    assert load_text(node("n1"), deployment("web")).setup.cluster_autoscaler is None
    found = autoscaler_of(f"groups: [{GROUP}]")

    assert found == ClusterAutoscaler(found.groups)
    assert [(group.name, group.least, group.most, group.template.name) for group in found.groups] == [
        ("web", 1, 3, "n1")
    ]


def test_equal_nodes_belong_to_the_group_and_slots_fill_it_up() -> None:
    nodes = loaded_with(f"groups: [{GROUP}]").setup.nodes

    assert [(one.name, one.group, one.is_slot) for one in nodes] == [
        ("n1", "web", False),
        ("n2", "web", False),
        ("web-new1", "web", True),
    ]


def test_every_flag_is_read() -> None:
    found = autoscaler_of(
        f"""groups: [{GROUP}], expander: "priority, least-waste", priorities: {{10: [spot-.*], 50: [web]}},
        scanInterval: 20s, scaleDownUtilizationThreshold: 0.65, scaleDownUnneededTime: 1m, scaleDownUnreadyTime: 2m,
        scaleDownDelayAfterAdd: 3m, scaleDownDelayAfterFailure: 4m,
        scaleDownEnabled: false, scaleDownUnreadyEnabled: false,
        skipNodesWithLocalStorage: false, skipNodesWithSystemPods: false, ignoreDaemonSetsUtilization: true,
        balanceSimilarNodeGroups: true, maxNodesTotal: 7, provisioning: {{min: 10s, max: 20s}}"""
    )

    assert found == ClusterAutoscaler(
        found.groups,
        expanders=("priority", "least-waste"),
        priorities=((50, ("web",)), (10, ("spot-.*",))),
        scan_interval_s=20,
        utilization_permille=650,
        unneeded_s=60,
        unready_s=120,
        delay_after_add_s=180,
        delay_after_failure_s=240,
        provisioning_s=(10, 20),
        scales_down=False,
        removes_unready=False,
        skips_local_storage=False,
        skips_system_pods=False,
        ignores_daemon_sets=True,
        balances=True,
        most_nodes=7,
    )


def test_a_template_may_be_written_out_and_a_provisioning_time_exact() -> None:
    found = autoscaler_of(
        """groups: [{name: spot, max: 2, template: {labels: {pool: spot}, taints: [{key: spot, effect: NoSchedule}],
        allocatable: {cpu: "2", memory: 1Gi, example.com/gpu: "1"}}}], provisioning: 30s"""
    )

    assert found.provisioning_s == (30, 30)
    (group,) = found.groups
    assert isinstance(group, NodeGroup)
    assert group.template == Node(
        "spot",
        (("pool", "spot"),),
        group.template.taints,
        cpu_milli=2000,
        memory_bytes=2**30,
        others=(("example.com/gpu", 1),),
    )
    assert group.least == 0


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ("groups: []", "groups is required"),
        ("groups: [{name: Web, like: n1, max: 2}]", "name is 'Web'"),
        ("groups: [{name: web, like: n3, max: 2}]", "like is 'n3', which is not a node of the input"),
        ("groups: [{name: web, max: 2}]", "needs either like or template"),
        ("groups: [{name: web, like: n1, min: 4, max: 3}]", "max is required, and at least min"),
        ("groups: [{name: web, like: n1}]", "max is required, and at least min"),
        ("groups: [{name: web, like: n1, max: 1}]", "web has 2 nodes, more than its max. Write max: 2 or more"),
        (f"groups: [{GROUP}, {GROUP}]", "groups has web twice"),
        (f"groups: [{GROUP}, {{name: api, like: n2, max: 3}}]", "api and web have equal nodes"),
        (f"groups: [{GROUP}], expander: cheapest", "expander is 'cheapest'"),
        (f"groups: [{GROUP}], priorities: {{high: [a]}}", "priorities has the key 'high'"),
        (f"groups: [{GROUP}], priorities: {{1: ['(a+)+']}}", "has the pattern '(a+)+'"),
        (f"groups: [{GROUP}], priorities: {{1: ['*']}}", "has the pattern '*'"),
        (f"groups: [{GROUP}], scanInterval: 0s", "scanInterval is zero"),
        (f"groups: [{GROUP}], scaleDownUtilizationThreshold: 1.5", "Write a number up to 1"),
        (f"groups: [{GROUP}], provisioning: 20m", "provisioning needs min and max up to 15m"),
        (f"groups: [{GROUP}], provisioning: {{min: 2m, max: 1m}}", "provisioning needs min and max"),
        (f"groups: [{GROUP}], scaleDownUneededTime: 1m", "Did you mean scaleDownUnneededTime?"),
    ],
)
def test_wrong_settings_are_refused_with_a_remedy(settings: str, problem: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        loaded_with(settings)

    assert problem in str(refused.value)


def test_a_cluster_of_another_size_has_slots_for_its_groups() -> None:
    loaded = loaded_with(f"groups: [{GROUP}]", spec="scale: {nodes: [{like: n1, count: {max: 3}}], limit: none}")
    assert loaded.scenario.scale is not None
    names = [
        [node.name for node in resize(loaded, loaded.scenario.scale, Size((("n1", count),), ())).setup.nodes]
        for count in (1, 3)
    ]

    assert names == [["n1", "web-new1", "web-new2"], ["n1", "n1-copy2", "n1-copy3"]]


@pytest.mark.parametrize(
    ("volumes", "annotations", "blocks"),
    [
        ("[{name: a, emptyDir: {}}]", "{}", True),
        ("[{name: a, emptyDir: {medium: Memory}}]", "{}", False),
        ("[{name: a, hostPath: {path: /var}}]", "{}", True),
        ("[{name: a, configMap: {name: c}}]", "{}", False),
        ("[{name: a, emptyDir: {}}]", "{cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes: 'a,b'}", False),
        (
            "[{name: a, emptyDir: {}}, {name: c, hostPath: {path: /}}]",
            "{cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes: 'a,b'}",
            True,
        ),
    ],
)
def test_local_storage_is_what_no_annotation_declares_safe_to_lose(
    volumes: str, annotations: str, blocks: bool
) -> None:
    text = deployment("web", pod=f"volumes: {volumes},").replace("labels: {app: web}}}", "labels: {app: web}}}")
    text = text.replace("template: {metadata: {", f"template: {{metadata: {{annotations: {annotations}, ")
    loaded = load_text(node("n1"), text)

    assert loaded.setup.workloads[0].template.has_local_storage is blocks
    assert loaded.omissions == ()


@pytest.mark.parametrize(("value", "safe"), [('"true"', True), ('"false"', False), ('"maybe"', None)])
def test_pods_say_whether_they_are_safe_to_evict_and_nodes_whether_they_stay(value: str, safe: bool | None) -> None:
    key = "cluster-autoscaler.kubernetes.io/safe-to-evict"
    text = deployment("web").replace(
        "template: {metadata: {", f"template: {{metadata: {{annotations: {{{key}: {value}}}, "
    )
    kept = node("n1").replace(
        "name: n1,", f"name: n1, annotations: {{cluster-autoscaler.kubernetes.io/scale-down-disabled: {value}}},"
    )
    loaded = load_text(kept, text)

    assert loaded.setup.workloads[0].template.safe_to_evict is safe
    assert loaded.setup.nodes[0].keeps is (safe is True)


@pytest.mark.parametrize(
    ("volumes", "is_local"),
    [("[]", False), ("[{name: a, emptyDir: {medium: Memory}}]", True), ("[{name: a, hostPath: {path: /a}}]", True)],
)
def test_a_descheduler_asks_for_any_local_volume_and_for_annotations(volumes: str, is_local: bool) -> None:
    keys = ("descheduler.alpha.kubernetes.io/evict", "descheduler.alpha.kubernetes.io/prefer-no-eviction")
    noted = f'annotations: {{{keys[0]}: "", {keys[1]}: "false"}}'
    text = deployment("web", pod=f"volumes: {volumes},")
    plain, annotated = (
        load_text(node("n1"), one).setup.workloads[0].template
        for one in (text, text.replace("template: {metadata: {", f"template: {{metadata: {{{noted}, "))
    )

    assert (plain.has_local_volumes, plain.always_evictable, plain.prefers_to_stay) == (is_local, False, False)
    assert (annotated.always_evictable, annotated.prefers_to_stay) == (True, True)
