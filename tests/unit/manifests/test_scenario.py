"""Scenarios: exact values, resolved targets, refusals with a suggestion."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubeproof.cluster.labels import LabelSelector, Requirement
from kubeproof.errors import ScenarioError
from kubeproof.events.declarations import (
    Apply,
    Cordon,
    Create,
    Drain,
    NodeChoice,
    NodeFailure,
    Scale,
    Usage,
    UsageChange,
)
from kubeproof.intents.declarations import Amount, Intent
from kubeproof.manifests.load import load
from kubeproof.manifests.loaded import Loaded, Start
from kubeproof.manifests.scenarios.commented_scenario import as_yaml
from tests.unit.manifests.inputs import deployment, load_text, node, scenario


def loaded_with(spec: str) -> Loaded:
    return load_text(node("n1"), node("n2"), deployment("web", spec="replicas: 4,"), deployment("api"), scenario(spec))


def test_settings_are_exact() -> None:
    loaded = loaded_with(
        """
        kubernetesVersion: 1.30
        controllers: {nodeLifecycle: {monitorGracePeriod: 1m30s}, kubelet: {startup: {min: 2s, max: 3s}}}
        """
    )

    settings = loaded.setup.settings
    assert (settings.kubernetes_version, settings.monitor_grace_s, settings.startup_s) == (
        (1, 30),
        90,
        (2, 3),
    )


def test_one_startup_time_is_both_bounds() -> None:
    assert loaded_with("controllers: {kubelet: {startup: 3s}}").setup.settings.startup_s == (3, 3)


def test_settings_of_descheduler_and_autoscaler_are_exact() -> None:
    loaded = loaded_with(
        """
        deschedulerVersion: "0.27"
        controllers:
          descheduler: {interval: 10m}
          hpa: {syncPeriod: 30s, tolerance: 0.05, downscaleStabilization: 0s}
        """
    )

    settings = loaded.setup.settings
    assert (settings.descheduler_version, settings.descheduler_interval_s) == ((0, 27), 600)
    assert (settings.hpa_period_s, settings.hpa_tolerance_permille, settings.downscale_stabilization_s) == (30, 50, 0)
    assert loaded.omissions == ()


@pytest.mark.parametrize(
    ("gitops", "interval_s"),
    [("{interval: 90s, selfHeal: true}", 90), ("{interval: 5m}", 300), ("{}", 180), ("{selfHeal: false}", None)],
)
def test_a_gitops_reconciler_acts_at_its_interval_if_it_heals_drift(gitops: str, interval_s: int | None) -> None:
    loaded = loaded_with(f"controllers: {{gitops: {gitops}}}")

    assert loaded.setup.settings.gitops_interval_s == interval_s
    assert loaded.omissions == ()


def test_without_gitops_nothing_is_reconciled() -> None:
    assert loaded_with("controllers: {}").setup.settings.gitops_interval_s is None


@pytest.mark.parametrize("gitops", ["{interval: 0s}", "{interval: 3}", "{selfHeal: often}", "{prune: true}"])
def test_wrong_gitops_settings_are_refused(gitops: str) -> None:
    with pytest.raises(ScenarioError):
        loaded_with(f"controllers: {{gitops: {gitops}}}")


def test_absent_settings_are_upstreams_defaults() -> None:
    settings = loaded_with("controllers: {descheduler: {}, hpa: {}}").setup.settings

    assert (settings.descheduler_version, settings.descheduler_interval_s) == ((0, 36), 300)
    assert (settings.hpa_period_s, settings.hpa_tolerance_permille, settings.downscale_stabilization_s) == (
        15,
        100,
        300,
    )


def test_events_are_read_with_their_defaults() -> None:
    loaded = loaded_with(
        """
        events:
        - nodeFailure: {max: 2, together: true, nodes: {matchLabels: {pool: a}}}
        - cordon: {nodes: {names: [n1]}, after: stable, name: maintenance}
        - scale: {target: Deployment/shop/web, replicas: [2, 5], after: maintenance}
        - create: {target: "*/shop/api"}
        """
    )

    assert loaded.scenario.events == (
        NodeFailure(
            name="nodeFailure-1",
            max=2,
            together=True,
            nodes=NodeChoice(LabelSelector((Requirement("pool", "In", ("a",)),))),
        ),
        Cordon(name="maintenance", after="stable", nodes=NodeChoice(names=("n1",))),
        Scale(name="scale-3", max=2, after="maintenance", target="Deployment/shop/web", replicas=(2, 5)),
        Create(name="create-4", target="Deployment/shop/api"),
    )


def test_an_intent_without_target_speaks_of_every_workload() -> None:
    intents = loaded_with('intents: [{minReady: {count: "50%", when: stable}}, {settles: {}}]').scenario.intents

    assert intents == (
        Intent(
            key="minReady",
            name="minReady Deployment/shop/web",
            target="Deployment/shop/web",
            when="stable",
            count=Amount(50, percent=True),
        ),
        Intent(
            key="minReady",
            name="minReady Deployment/shop/api",
            target="Deployment/shop/api",
            when="stable",
            count=Amount(50, percent=True),
        ),
        Intent(key="settles", name="settles"),
    )


def test_max_skew_reads_its_fields() -> None:
    intents = loaded_with("intents: [{maxSkew: {target: '*/shop/web', topologyKey: zone, skew: 2}}]").scenario.intents

    assert (intents[0].topology_key, intents[0].skew, intents[0].target) == ("zone", 2, "Deployment/shop/web")


def test_a_placement_is_exact() -> None:
    loaded = loaded_with("start: {placement: {Deployment/shop/web: {n2: 1, n1: 3}}}")

    assert loaded.scenario.start == Start("placement", (("Deployment/shop/web", (("n1", 3), ("n2", 1))),))


def test_absent_events_mean_none_and_absent_intents_the_default_ones() -> None:
    found = loaded_with("start: deployed").scenario

    assert (found.events, found.start, found.is_default) == ((), Start("deployed"), False)
    assert [intent.name for intent in found.intents] == [
        "settles",
        "noPendingForever Deployment/shop/web",
        "noPendingForever Deployment/shop/api",
        "minReady Deployment/shop/web",
        "minReady Deployment/shop/api",
    ]


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("kubernetesVersion: '1.25'", "is '1.25', which is not modelled"),
        ("deschedulerVersion: '9.9'", "is '9.9', which is not modelled"),
        ("evnets: []", "unknown field spec.evnets. Did you mean events?"),
        ("start: full", "spec.start is 'full'"),
        ("scale: {nodes: []}", "spec.scale lets nothing grow. List nodes, workloads or both"),
        ("controllers: {kublet: {}}", "Did you mean kubelet?"),
        ("controllers: {nodeLifecycle: {monitorGracePeriod: 40}}", "has no unit"),
        ("controllers: {nodeLifecycle: {monitorGracePeriod: 1.5s}}", "is '1.5s'"),
        ("controllers: {kubelet: {startup: {min: 5s, max: 1s}}}", "min not above max"),
        ("controllers: {descheduler: {interval: 0s}}", "interval is zero"),
        ("controllers: {hpa: {tolerance: 0.0001}}", "at most three decimals"),
        ("controllers: {hpa: {tolerance: a}}", "tolerance is 'a'"),
        ("controllers: {cronJob: {maxJobs: 51}}", "maxJobs is 51"),
        ("controllers: {cronJob: {jobs: 5}}", "unknown field spec.controllers.cronJob.jobs"),
        ("controllers: {hpa: {sync: 1s}}", "unknown field spec.controllers.hpa.sync"),
        ("events: [{nodeRemovl: {}}]", "unknown event nodeRemovl. Did you mean nodeRemoval?"),
        ("events: [{nodeFailur: {}}]", "unknown event nodeFailur. Did you mean nodeFailure?"),
        ("events: [{nodeFailure: {recover: true}}]", "Did you mean recovers?"),
        ("events: [{nodeFailure: {}, cordon: {}}]", "has 2 keys"),
        ("events: [{nodeFailure: {max: 0}}]", "max is 0"),
        ("events: [{nodeFailure: {name: a}}, {cordon: {name: a}}]", "is 'a' again"),
        ("events: [{nodeFailure: {name: a, after: b}}]", "is 'b', not an event"),
        ("events: [{nodeFailure: {name: a, after: a}}]", "waits for itself"),
        ("events: [{nodeFailure: {name: a, after: [stable, b]}}]", "is 'b', not an event"),
        ("events: [{nodeFailure: {after: []}}]", "after is an empty list"),
        ("events: [{kernelPanic: {must: true}}]", "must has no meaning here"),
        ("events: [{nodeFailure: {must: soon}}]", "must is a string"),
        ("events: [{nodeFailure: {after: [stable, stable]}}]", "after names 'stable' twice"),
        (
            "events: [{nodeFailure: {name: a, after: [c, b]}}, {cordon: {name: b, after: a}}, {cordon: {name: c}}]",
            "waits for itself",
        ),
        ("events: [{nodeFailure: {orFewer: true}}]", "orFewer is set, but nodes fail one by one"),
        ("events: [{nodeFailure: {name: a, after: b}}, {cordon: {name: b, after: a}}]", "waits for itself"),
        ("events: [{cordon: {nodes: {names: [n3]}}}]", "holds 'n3', which is not a node"),
        ("events: [{cordon: {nodes: {matchLabel: {a: b}}}}]", "Did you mean matchLabels?"),
        (
            "events: [{scale: {target: Deployment/shop/wbe, replicas: [1]}}]",
            "Did you mean Deployment/shop/web?",
        ),
        ("events: [{scale: {target: Deployment/shop/web}}]", "replicas is required"),
        ("events: [{create: {target: Node/n7}}]", "is 'n7', not a Node of the input"),
        (
            "events: [{create: {target: PodDisruptionBudget/shop/b}}]",
            "not a PodDisruptionBudget of the input",
        ),
        ("events: [{apply: {}}]", "needs either file or manifest"),
        ("intents: [{ltl: {}}]", "ltl.formula is required"),
        ("intents: [{minReady: {target: Deployment/shop/web}}]", "count is required"),
        ("intents: [{minReady: {count: 1.5}}]", "count is a number"),
        ("intents: [{minReady: {count: 1, when: never}}]", "when is 'never'"),
        ("intents: [{minReady: {count: 1, target: web}}]", "Write Kind/name"),
        ("intents: [{settles: {severity: fatal}}]", "severity is 'fatal'"),
        ("intents: [{settles: {name: a}}, {settles: {name: a}}]", "is 'a' again"),
        ("start: {placement: {Deployment/shop/web: {n7: 1}}}", "is not a node of the input"),
    ],
)
def test_a_wrong_scenario_is_refused_with_its_place(spec: str, problem: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        loaded_with(spec)

    assert problem in str(refused.value)
    assert refused.value.exit_code == 2
    assert refused.value.line > 20


def test_two_scenarios_are_refused() -> None:
    with pytest.raises(ScenarioError, match="a second Scenario"):
        load_text(scenario("start: empty"), scenario("start: empty"))


def test_an_applied_file_stands_beside_the_scenario_and_is_not_part_of_the_start(tmp_path: Path) -> None:
    (tmp_path / "nodes.yaml").write_text(node())
    (tmp_path / "new.yaml").write_text(deployment("new"))
    (tmp_path / "scenario.yaml").write_text(scenario("events: [{apply: {file: new.yaml}}]"))
    loaded = load([str(tmp_path)])

    event = loaded.scenario.events[0]
    assert isinstance(event, Apply)
    assert (event.workload.ref, event.replicas_given) == ("Deployment/shop/new", False)
    assert loaded.setup.workloads == ()
    assert "noPendingForever Deployment/shop/new" in [i.name for i in loaded.scenario.intents]


def test_applying_other_pods_to_a_deployment_of_the_input_is_an_update() -> None:
    changed = deployment("web", pod="schedulerName: other,").replace("\n", "\n      ")
    event = loaded_with(f"events:\n- apply:\n    manifest:\n      {changed}").scenario.events[0]

    assert isinstance(event, Apply)
    assert (event.workload.template.scheduler_name, event.replicas_given) == ("other", False)


def test_applying_other_pods_to_a_replicaset_or_another_selector_is_refused() -> None:
    bare = deployment("rs").replace("kind: Deployment", "kind: ReplicaSet")
    other_pods = bare.replace("spec: { containers", "spec: {schedulerName: other, containers").replace("\n", "\n      ")
    apply = "events:\n- apply:\n    manifest:\n      "

    assert "schedulerName" in other_pods
    with pytest.raises(ScenarioError, match="changes the pods of ReplicaSet/shop/rs"):
        load_text(node("n1"), bare, scenario(apply + other_pods))
    selector = deployment("web").replace("app: web", "app: api").replace("\n", "\n      ")
    with pytest.raises(ScenarioError, match="changes the selector of Deployment/shop/web"):
        loaded_with(apply + selector)


def test_applying_other_replicas_is_an_update() -> None:
    changed = deployment("web", spec="replicas: 9,").replace("\n", "\n      ")
    event = loaded_with(f"events:\n- apply:\n    manifest:\n      {changed}").scenario.events[0]

    assert isinstance(event, Apply)
    assert (event.workload.replicas, event.replicas_given) == (9, True)


def test_without_a_scenario_the_default_one_applies() -> None:
    loaded = load_text(node(), deployment("web", spec="replicas: 4,"))

    assert loaded.scenario.is_default
    assert loaded.scenario.events == (NodeFailure(name="nodeFailure-1"), Drain(name="drain-2"))
    assert [intent.key for intent in loaded.scenario.intents] == [
        "settles", "drainCompletes", "noPendingForever", "minReady"
    ]  # fmt: skip
    assert loaded.scenario.intents[-1].count == Amount(3)
    assert loaded.scenario.intents[-1].when == "eventuallyAlways"
    assert loaded.omissions == ()


AUTOSCALER = """apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 5
  metrics:
  - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}
  - {type: Resource, resource: {name: memory, target: {type: Utilization, averageUtilization: 80}}}
  - {type: Resource, resource: {name: cpu, target: {type: AverageValue, averageValue: 100m}}}
"""
REQUESTING = deployment("web", spec="replicas: 4,", container="resources: {requests: {cpu: 500m}},")


def test_by_default_the_usage_of_autoscaled_workloads_moves_around_what_the_autoscaler_aims_at() -> None:
    loaded = load_text(node(), REQUESTING, AUTOSCALER)

    assert loaded.scenario.events[2:] == (
        UsageChange(
            name="cpuChange-3",
            resource="cpu",
            target="Deployment/shop/web",
            levels=(Usage(percent=30), Usage(percent=90)),
        ),
    )  # memory is not requested, so that no share of it can be used


OF_MAIN = (
    "{type: ContainerResource, containerResource: "
    "{name: cpu, container: main, target: {type: Utilization, averageUtilization: 60}}}"
)


def test_by_default_the_usage_of_a_container_moves_where_an_autoscaler_aims_at_that_alone() -> None:
    head, metrics = AUTOSCALER.split("  metrics:\n")
    alone = load_text(node(), REQUESTING, f"{head}  metrics: [{OF_MAIN}]\n")
    beside = load_text(node(), REQUESTING, f"{head}  metrics:\n  - {OF_MAIN}\n{metrics}")
    absent = load_text(node(), REQUESTING, f"{head}  metrics: [{OF_MAIN.replace('main', 'mesh')}]\n")

    assert [(event.resource, event.container) for event in alone.scenario.events[2:]] == [("cpu", "main")]
    assert [(event.resource, event.container) for event in beside.scenario.events[2:]] == [("cpu", "")]
    assert absent.scenario.events[2:] == ()
    assert 'container: "main"' in as_yaml(alone)


@pytest.mark.parametrize(
    ("budget", "count"),
    [
        ("minAvailable: 4", 4),
        ("minAvailable: 90%", 4),
        ("minAvailable: 9", 4),
        ("minAvailable: 1", 3),
        ("maxUnavailable: 0", 4),
        ("maxUnavailable: 30%", 3),
    ],
)
def test_by_default_as_many_pods_must_be_ready_as_strategy_and_budgets_want(budget: str, count: int) -> None:
    text = f"""apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: web, namespace: shop}}
spec: {{{budget}, selector: {{matchLabels: {{app: web}}}}}}
"""
    loaded = load_text(node(), REQUESTING, text)

    assert loaded.scenario.intents[-1].count == Amount(count)


@pytest.mark.parametrize(("least", "count"), [(1, 1), (2, 2), (4, 3), (8, 6)])
def test_by_default_an_autoscaler_may_take_a_workload_down_to_its_minimum(least: int, count: int) -> None:
    autoscaler = AUTOSCALER.replace("maxReplicas: 5", f"minReplicas: {least}\n  maxReplicas: 9")

    assert load_text(node(), REQUESTING, autoscaler).scenario.intents[-1].count == Amount(count)


def test_by_default_autoscalers_without_a_share_to_aim_at_move_nothing() -> None:
    astray = AUTOSCALER.replace("kind: Deployment, name: web", "kind: Deployment, name: other")
    by_value = AUTOSCALER.replace("averageUtilization: 60", "averageUtilization: 1")

    for autoscaler in (astray, by_value):
        assert len(load_text(node(), REQUESTING, autoscaler).scenario.events) == 2


def test_by_default_daemons_run_everywhere_and_empty_workloads_promise_nothing() -> None:
    daemons = deployment("agent").replace("kind: Deployment", "kind: DaemonSet")
    loaded = load_text(node(), daemons, deployment("none", spec="replicas: 0,"))

    assert [intent.name for intent in loaded.scenario.intents[-2:]] == [
        "noPendingForever Deployment/shop/none",
        "runsOnEveryNode DaemonSet/shop/agent",
    ]


def test_by_default_a_descheduler_must_not_evict_for_ever() -> None:
    policy = "apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy\nprofiles: []\n"
    loaded = load_text(node(), REQUESTING, policy)

    assert "noEvictionLoop Deployment/shop/web" in [intent.name for intent in loaded.scenario.intents]


def test_a_printed_scenario_leaves_the_objects_as_they_are() -> None:
    objects = (node(), REQUESTING, AUTOSCALER)
    loaded = load_text(*objects)
    again = load_text(*objects, as_yaml(loaded))

    assert again.scenario.start.mode == "deployed"
    assert again.setup == loaded.setup


def test_input_without_nodes_or_workloads_is_read() -> None:
    loaded = load_text("# nothing\n")

    assert (loaded.setup.nodes, loaded.setup.workloads) == ((), ())


def test_a_target_that_is_missing_tells_of_misspelt_kinds() -> None:
    misspelt = deployment("web").replace("kind: Deployment", "kind: Deploymnt").replace("apps/v1", "example.com/v1")

    with pytest.raises(ScenarioError) as caught:
        load_text(node(), misspelt, scenario("intents: [{minReady: {target: Deployment/shop/web, count: 1}}]"))

    message = str(caught.value)
    assert "'Deployment/shop/web', which is not a workload of the input" in message
    assert "In the input kind Deploymnt shop/web (<stdin>:6) is not modelled; did you mean Deployment?" in message


def test_other_problems_of_a_scenario_say_nothing_of_misspelt_kinds() -> None:
    misspelt = deployment("api").replace("kind: Deployment", "kind: Deploymnt").replace("apps/v1", "example.com/v1")

    with pytest.raises(ScenarioError) as caught:
        load_text(node(), misspelt, scenario("intnts: []"))

    assert "Deploymnt" not in str(caught.value)
