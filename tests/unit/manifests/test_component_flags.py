"""Flags of components that the input runs: what they say counts unless the Scenario says otherwise."""

from __future__ import annotations

import pytest

from kubeproof.cluster.nodes.node_groups import ClusterAutoscaler
from kubeproof.manifests.components.known import COMPONENTS, Component
from kubeproof.manifests.loaded import Loaded
from tests.unit.manifests.inputs import deployment, load_text, node, scenario

MEMBER = node("n1").replace("labels: {", "labels: {cloud/nodegroup: web, ")
POLICY = """\
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- {name: p, plugins: {balance: {enabled: [RemoveDuplicates]}}}
"""
CRON = """\
apiVersion: batch/v1
kind: CronJob
metadata: {name: tidy, namespace: kube-system}
spec:
  schedule: "*/10 * * * *"
  jobTemplate:
    spec:
      template:
        spec: {restartPolicy: Never, containers: [{name: d, image: "example/descheduler:v0.36.0"}]}
"""


def component(name: str, *flags: str) -> str:
    """A Deployment that runs the component with these flags."""
    words = ", ".join(f'"{flag}"' for flag in flags)
    return deployment("tool", container=f"command: [./{name}], args: [{words}],")


def loaded(*documents: str) -> Loaded:
    """The input with one node of the group `web` and one Deployment beside."""
    return load_text(MEMBER, deployment("web"), *documents)


def autoscaler(*documents: str) -> ClusterAutoscaler:
    """The cluster autoscaler of the input."""
    found = loaded(*documents).setup.cluster_autoscaler
    assert found is not None
    return found


def omitted(whole: Loaded) -> list[str]:
    """What was left out, without places."""
    return [f"{omission.what}: {omission.why}" for omission in whole.omissions]


def test_groups_and_times_of_a_cluster_autoscaler_are_read_without_a_scenario() -> None:
    flags = (
        "--nodes=1:5:web",
        "--scale-down-unneeded-time=5m0s",
        "--expander",
        "random",
        "--balance-similar-node-groups",
    )

    found = autoscaler(component("cluster-autoscaler", *flags))

    assert [(group.name, group.least, group.most, group.template.name) for group in found.groups] == [
        ("web", 1, 5, "n1")
    ]
    assert (found.unneeded_s, found.expanders, found.balances) == (300, ("random",), True)


def test_the_scenario_overrides_flags_one_by_one() -> None:
    tool = component("cluster-autoscaler", "--nodes=1:5:web", "--scale-down-unneeded-time=5m", "--scan-interval=20s")
    own = scenario("controllers: {clusterAutoscaler: {scanInterval: 30s}}\nintents: [{settles: {}}]")

    found = autoscaler(tool, own)

    assert (found.scan_interval_s, found.unneeded_s, found.groups[0].most) == (30, 300, 5)


def test_a_group_is_known_by_the_last_part_of_its_name_and_a_label_of_a_node() -> None:
    assert autoscaler(component("cluster-autoscaler", "--nodes=0:2:https://cloud/groups/web")).groups[0].name == "web"


@pytest.mark.parametrize(
    ("flag", "why"),
    [
        ("--nodes=1:3:other", "no Node of the input has a label with its name as the value"),
        ("--nodes=3:1:web", "its value is not understood"),
        ("--nodes=web", "its value is not understood"),
        ("--nodes=0:0:web", "its value is not understood"),
    ],
)
def test_a_group_that_cannot_be_taken_over_is_listed_and_the_autoscaler_left_out(flag: str, why: str) -> None:
    whole = loaded(component("cluster-autoscaler", flag, "--expander=random"))

    assert whole.setup.cluster_autoscaler is None
    assert any(flag in told and why in told for told in omitted(whole))
    assert any("no node group is known" in told for told in omitted(whole))


def test_a_group_with_more_nodes_than_its_maximum_or_the_nodes_of_another_is_listed() -> None:
    twins = (MEMBER, MEMBER.replace("n1", "n2"), deployment("web"))

    crowded = load_text(*twins, component("cluster-autoscaler", "--nodes=0:1:web"))
    doubled = load_text(
        *(one.replace("labels: {", "labels: {zone: a, ") for one in twins[:2]),
        *(deployment("web"), component("cluster-autoscaler", "--nodes=0:9:web", "--nodes=0:9:a")),
    )

    assert any("more such nodes than its maximum" in told for told in omitted(crowded))
    assert any("its nodes equal those of another group" in told for told in omitted(doubled))


def test_flags_that_are_not_modelled_or_not_understood_are_listed_and_harmless_ones_are_not() -> None:
    flags = (
        "--nodes=1:5:web",
        "--v=4",
        "--cloud-provider=aws",
        "--scan-interval=often",
        "--max-bulk-soft-taint-count=3",
    )

    assert omitted(loaded(component("cluster-autoscaler", *flags))) == [
        "flag --scan-interval=often of Deployment/shop/tool: its value is not understood",
        "flag --max-bulk-soft-taint-count of Deployment/shop/tool: not modelled",
    ]


def test_a_component_is_known_by_its_image_as_well() -> None:
    image = "image: registry.k8s.io/autoscaling/cluster-autoscaler-amd64:v1.33.0"
    text = deployment("tool", container='args: ["--nodes=1:4:web"],').replace("image: example/app", image)

    assert autoscaler(text).groups[0].most == 4


def test_the_interval_of_a_descheduler_comes_from_its_flag_or_its_schedule() -> None:
    by_flag = loaded(POLICY, component("descheduler", "--descheduling-interval=2m"))
    by_schedule = loaded(POLICY, CRON)

    assert by_flag.setup.settings.descheduler_interval_s == 120
    assert by_schedule.setup.settings.descheduler_interval_s == 600


def test_a_descheduler_that_runs_dry_evicts_nobody() -> None:
    assert loaded(POLICY, component("descheduler", "--dry-run")).setup.descheduler is None
    assert loaded(POLICY, component("descheduler", "--dry-run=false")).setup.descheduler is not None


def test_flags_of_the_controller_manager_are_read() -> None:
    flags = (
        *("--horizontal-pod-autoscaler-sync-period=30s", "--horizontal-pod-autoscaler-tolerance=0.2"),
        *("--horizontal-pod-autoscaler-downscale-stabilization=1m0s", "--node-monitor-grace-period=16s"),
        *("--node-eviction-rate=1", "--allocate-node-cidrs=true"),
    )

    whole = loaded(component("kube-controller-manager", *flags))
    settings = whole.setup.settings

    assert (settings.hpa_period_s, settings.hpa_tolerance_permille) == (30, 200)
    assert (settings.downscale_stabilization_s, settings.grace_s) == (60, 16)
    assert omitted(whole) == ["flag --node-eviction-rate of Deployment/shop/tool: not modelled"]


def test_a_program_of_another_name_is_nobodys_flags() -> None:
    whole = loaded(deployment("cluster-autoscaler", container='command: [./exporter, "--nodes=1:5:web"],'))

    assert whole.setup.cluster_autoscaler is None
    assert omitted(whole) == []


def test_a_malformed_scenario_is_still_refused_at_its_own_place() -> None:
    with pytest.raises(Exception, match="controllers is a list"):
        loaded(component("cluster-autoscaler", "--nodes=1:5:web"), scenario("controllers: []"))


@pytest.mark.parametrize("known", COMPONENTS.values(), ids=COMPONENTS)
def test_every_modelled_flag_reads_something_and_refuses_nonsense(known: Component) -> None:
    samples = ("5m", "0.3", "true", "3", "random")

    assert [flag for flag, (_, _, read) in known.flags.items() if not any(map(read, samples))] == []
    assert [flag for flag, (_, _, read) in known.flags.items() if read("nonsense") is not None] == []


def test_a_component_whose_command_line_is_not_in_the_input_is_told_once() -> None:
    bare = deployment("tidy").replace("image: example/app", 'image: "example/descheduler:v0.36.0"')
    whole = loaded(bare, bare.replace("name: tidy", "name: tidier", 1))

    told = [line for line in omitted(whole) if line.startswith("flags of")]
    assert told == [
        "flags of descheduler in Deployment/shop/tidy: they are not in the input; "
        "without a DeschedulerPolicy it evicts nothing here"
    ]
