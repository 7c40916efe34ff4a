"""Affinity between pods, default spread constraints and scheduler profiles, from manifest to verdict."""

from __future__ import annotations

import pytest

from kubeproof.verify.proofs.slicing import Inseparable, cut
from tests.unit.verify.inputs import loaded, only, scenario, verified, web

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
SCHEDULABLE = scenario("{schedulable: {target: Deployment/shop/web}}")
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def node(name: str, zone: str = "a", cpu: str = "8") -> str:
    return f"""apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{{HOSTNAME}: {name}, {ZONE}: {zone}}}}}
status: {{allocatable: {{cpu: "{cpu}", memory: 8Gi, pods: "110"}}}}
"""


def affinity(kind: str, app: str, key: str = HOSTNAME, more: str = "") -> str:
    """A required term; `more` says in which namespaces."""
    term = f"{{topologyKey: {key}, labelSelector: {{matchLabels: {{app: {app}}}}}{more}}}"
    return f"affinity: {{{kind}: {{{REQUIRED}: [{term}]}}}}"


def profiles(*each: str) -> str:
    listed = ", ".join(each)
    return f"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{listed}]\n"


def apart(target: str, app: str, key: str = HOSTNAME) -> str:
    return f"{{notColocated: {{target: {target}, topologyKey: {key}, selector: {{matchLabels: {{app: {app}}}}}}}}}"


@pytest.mark.parametrize(("replicas", "verdict"), [(2, "HOLDS"), (3, "VIOLATED")])
def test_pods_that_avoid_their_own_kind_need_a_node_each(replicas: int, verdict: str) -> None:
    pods = web(replicas, more=affinity("podAntiAffinity", "web"))

    assert only(verified(node("n1"), node("n2"), pods, SCHEDULABLE)).verdict == verdict


def test_the_first_pod_of_a_kind_that_wants_its_own_kind_near_may_go_anywhere() -> None:
    pods = web(2, more=affinity("podAffinity", "web", ZONE))
    stranger = web(2, more=affinity("podAffinity", "db", ZONE))
    zones = node("n1", "a"), node("n2", "b")
    together = scenario(
        f"{{spread: {{target: Deployment/shop/web, topologyKey: {ZONE}, domains: 2, when: eventually}}}}"
    )

    assert only(verified(*zones, pods, SCHEDULABLE)).verdict == "HOLDS"
    assert only(verified(*zones, pods, together)).verdict == "VIOLATED"
    assert only(verified(*zones, stranger, SCHEDULABLE)).verdict == "VIOLATED"


def test_pods_that_reject_others_keep_them_off_also_when_these_come_later() -> None:
    hermit = web(1, name="db", more=affinity("podAntiAffinity", "web"))
    later = scenario(SCHEDULABLE_WEB, events="{create: {target: Deployment/shop/web, after: stable}}")

    assert only(verified(node("n1"), hermit, web(1), later)).verdict == "VIOLATED"
    assert only(verified(node("n1"), node("n2"), hermit, web(1), later)).verdict == "HOLDS"


SCHEDULABLE_WEB = "{schedulable: {target: Deployment/shop/web}}"
TEAM = "apiVersion: v1\nkind: Namespace\nmetadata: {name: other, labels: {team: red}}\n"


@pytest.mark.parametrize(
    ("more", "verdict"),
    [
        ("", "HOLDS"),
        (", namespaces: [other]", "VIOLATED"),
        (", namespaceSelector: {}", "VIOLATED"),
        (", namespaceSelector: {matchLabels: {team: red}}", "VIOLATED"),
        (", namespaceSelector: {matchLabels: {team: blue}}", "HOLDS"),
    ],
)
def test_terms_mean_pods_of_their_own_namespace_unless_they_name_others(more: str, verdict: str) -> None:
    hermit = web(1, more=affinity("podAntiAffinity", "db", more=more))
    neighbour = web(1, name="db", namespace="other")

    assert only(verified(node("n1"), hermit, neighbour, TEAM, SCHEDULABLE)).verdict == verdict


def test_workloads_that_terms_connect_across_namespaces_are_not_verified_apart() -> None:
    pools = [node("n1").replace(ZONE, "pool"), node("n2", "b").replace(ZONE, "pool")]
    hermit = web(
        1, more=affinity("podAntiAffinity", "db", more=", namespaceSelector: {}") + "\n      nodeSelector: {pool: a}"
    )
    neighbour = web(1, name="db", namespace="other", more="nodeSelector: {pool: b}")
    alone = web(1, more="nodeSelector: {pool: a}")

    assert isinstance(cut(loaded(*pools, hermit, neighbour, scenario("{settles: {}}"))), Inseparable)
    assert len(cut(loaded(*pools, alone, neighbour, scenario("{settles: {}}")))) == 2


def test_preferred_terms_decide_among_equal_nodes() -> None:
    wish = "preferredDuringSchedulingIgnoredDuringExecution"
    term = f"{{topologyKey: {HOSTNAME}, labelSelector: {{matchLabels: {{app: db}}}}}}"
    shy = web(1, more=f"affinity: {{podAntiAffinity: {{{wish}: [{{weight: 100, podAffinityTerm: {term}}}]}}}}")
    fond = web(1, more=f"affinity: {{podAffinity: {{{wish}: [{{weight: 100, podAffinityTerm: {term}}}]}}}}")
    later = scenario(
        apart("Deployment/shop/web", "db"), events="{create: {target: Deployment/shop/web, after: stable}}"
    )
    nodes = node("n1"), node("n2")

    assert only(verified(*nodes, web(1, name="db"), shy, later)).verdict == "HOLDS"
    assert only(verified(*nodes, web(1, name="db"), fond, later)).verdict == "VIOLATED"


PACKING = """{schedulerName: packer, pluginConfig: [
  {name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}},
  {name: PodTopologySpread, args: {defaultingType: List}}],
  plugins: {score: {disabled: [{name: NodeResourcesBalancedAllocation}]}}}"""


@pytest.mark.parametrize(("scheduler", "verdict"), [("default-scheduler", "HOLDS"), ("packer", "VIOLATED")])
def test_each_pod_is_placed_by_the_profile_that_it_names(scheduler: str, verdict: str) -> None:
    spread = scenario(f"{{spread: {{target: Deployment/shop/web, topologyKey: {HOSTNAME}, domains: 2, when: stable}}}}")
    pods = web(2, more=f"schedulerName: {scheduler}")

    result = verified(node("n1"), node("n2"), pods, profiles("{schedulerName: default-scheduler}", PACKING), spread)

    assert only(result).verdict == verdict


def test_a_pod_that_names_no_profile_waits_for_ever() -> None:
    result = only(verified(node("n1"), web(1, more="schedulerName: nobody"), SCHEDULABLE))

    assert result.verdict == "VIOLATED"
    assert result.trace is not None
    assert "no scheduler profile is named nobody" in result.trace.final


def test_default_constraints_of_a_profile_hold_for_pods_without_their_own() -> None:
    constraint = f"{{maxSkew: 1, topologyKey: {ZONE}, whenUnsatisfiable: DoNotSchedule}}"
    arguments = f"{{defaultingType: List, defaultConstraints: [{constraint}]}}"
    strict = profiles(f"{{pluginConfig: [{{name: PodTopologySpread, args: {arguments}}}]}}")
    zones = node("n1", "a"), node("n2", "b", cpu="1")

    assert only(verified(*zones, web(4), SCHEDULABLE)).verdict == "HOLDS"
    assert only(verified(*zones, web(4), strict, SCHEDULABLE)).verdict == "VIOLATED"


def test_the_systems_default_constraints_spread_pods_over_zones() -> None:
    zones = node("n1", "a"), node("n2", "b")
    even = scenario(f"{{maxSkew: {{target: Deployment/shop/web, topologyKey: {ZONE}, skew: 1, when: stable}}}}")
    fit_off = profiles(
        "{plugins: {multiPoint: {disabled: [{name: NodeResourcesFit}, {name: NodeResourcesBalancedAllocation}]}}}"
    )
    all_off = profiles(
        "{plugins: {multiPoint: {disabled: [{name: PodTopologySpread}, {name: NodeResourcesFit}, "
        "{name: NodeResourcesBalancedAllocation}]}}}"
    )

    assert only(verified(*zones, web(4), fit_off, even)).verdict == "HOLDS"
    assert only(verified(*zones, web(4), all_off, even)).verdict == "VIOLATED"


def test_pods_whose_scheduler_the_input_lacks_are_listed():
    found = verified(node("n1"), web(1, more="schedulerName: volcano"), scenario("{settles: {}}"))

    assert found.not_modelled == (
        "schedulerName volcano of Deployment/shop/web: no such scheduler, its pods get no node (in.yaml:6)",
    )
