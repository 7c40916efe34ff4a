"""Small inputs with loops that have their own time: Jobs, reconcilers, volumes, proxies, all autoscalers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from kubeproof.cluster.jobs import JOB_NAME, label_job_pods
from kubeproof.cluster.kinds import CRON_JOB, JOB
from kubeproof.cluster.labels import LabelSelector
from kubeproof.cluster.nodes.node_groups import ClusterAutoscaler, NodeGroup
from kubeproof.cluster.objects import FORBID, REPLACE, CronRules, JobRules, Settings, Workload
from kubeproof.cluster.services import Service
from kubeproof.cluster.steering.quotas import ResourceQuota
from kubeproof.cluster.steering.vertical import CPU, RECREATE, ContainerPolicy, VerticalPodAutoscaler
from kubeproof.cluster.volumes import Claim, StorageClass, Volume
from kubeproof.events.declarations import (
    STABLE,
    Apply,
    Completes,
    Delete,
    Drain,
    Event,
    NodeFailure,
    Scale,
    Usage,
    UsageChange,
)
from kubeproof.intents.declarations import Amount
from kubeproof.manifests.loaded import Loaded
from tests.differential.guards.clusters import (
    Witness,
    budget,
    cluster,
    deployment,
    node,
    nodes,
    of,
    selecting,
    workload,
)

PACED = Settings(startup_s=(1, 5), monitor_period_s=0)
KEPT = replace(PACED, gitops_interval_s=180)
WEB, OTHER = deployment("web", 2, 100), deployment("other", 1, 100)
QUIET = (of("settles"),)
SIZED = (of("minReplicas", WEB, count=Amount(1), when="stable"),)


def _job(name: str = "batch", **rules: Any) -> Workload:
    one = workload(name, 1, 100, kind=JOB, selector=selecting(**{JOB_NAME: name}), job=JobRules(**rules))
    return replace(one, template=label_job_pods(one.template, name), replicas_given=False)


def _cron(policy: str = REPLACE) -> Workload:
    one = workload("nightly", 1, 100, kind=CRON_JOB, selector=LabelSelector(), job=JobRules(completions=1))
    return replace(one, cron=CronRules((300,), policy), replicas_given=False)


def _runs(one: Workload) -> tuple[Event, ...]:
    return (Completes(name=f"runs {one.name}", target=one.ref, least_s=10, most_s=10),)


def _with_claim(one: Workload) -> tuple[Workload, dict[str, Any]]:
    """A workload with a claim that gets its volume at once."""
    modes = ("ReadWriteOnce",)
    more: dict[str, Any] = {
        "storage_classes": (StorageClass("fast", "ebs.csi.aws.com", waits=False),),
        "claims": (Claim("shop", "data", 1, "fast", modes),),
        "volumes": (Volume("disk-1", 1, "fast", modes), Volume("disk-2", 1, "fast", modes)),
    }
    return replace(one, template=replace(one.template, claims=("data",))), more


def _growing() -> dict[str, Any]:
    template = node("group-web", group="web")
    return {"cluster_autoscaler": ClusterAutoscaler((NodeGroup("web", 1, 2, template),))}


def _grown() -> tuple[Any, ...]:
    spare = replace(node("n2", group="web"), is_slot=True)
    return (node("n1", group="web"), spare)


def _vertical(target: Workload) -> VerticalPodAutoscaler:
    return VerticalPodAutoscaler("shop", target.name, target.ref, RECREATE, (ContainerPolicy(controlled=(CPU,)),), 1)


def beside_inputs() -> dict[str, Witness]:
    """Every such loop beside a Deployment, and beside a reconciler that nobody wakes, or somebody does."""
    two = nodes(2)
    batch, nightly, kept_for_a_while = _job(), _cron(), _job(ttl_s=60)
    patient = _cron(FORBID)
    disk, stored = _with_claim(OTHER)
    service = {"services": (Service("shop", "web", (("app", "web"),)),)}
    lagging = replace(PACED, endpoints_lag_s=3)
    routed = of("noTrafficToTerminating", WEB)
    used = UsageChange(name="usage", resource="cpu", target=OTHER.ref, levels=(Usage(percent=10), Usage(percent=90)))
    tight = (ResourceQuota("shop", "tight", (("pods", 2),)),)
    scale, drain = Scale(name="scale", target=WEB.ref, replicas=(1,)), Drain(name="drain", after=STABLE)
    delete = Delete(name="delete", target=WEB.ref)
    tiered = replace(WEB, template=replace(WEB.template, labels=(*WEB.template.labels, ("tier", "x"))))
    alone: dict[str, tuple[Any, dict[str, Any]]] = {
        "job": ((WEB, batch), {"events": _runs(batch)}),
        "job with a time to live": ((WEB, kept_for_a_while), {"events": _runs(kept_for_a_while)}),
        "job and quota": ((WEB, batch), {"events": _runs(batch), "quotas": tight}),
        "cron": ((WEB, nightly), {"events": _runs(nightly)}),
        "patient cron": ((WEB, patient), {"events": _runs(patient)}),
        "volume": ((WEB, disk), stored),
        "vertical": ((WEB, OTHER), {"verticals": (_vertical(OTHER),), "events": (used,)}),
        "vertical, scaled": (
            (WEB, OTHER),
            {"verticals": (_vertical(OTHER),), "events": (used, replace(scale, target=OTHER.ref, replicas=(0,)))},
        ),
        "guarded vertical": (
            (WEB, replace(OTHER, template=replace(OTHER.template, labels=(("app", "other"), ("tier", "x"))))),
            {"verticals": (_vertical(OTHER),), "events": (used,), "budgets": (budget(least=1, tier="x"),)},
        ),
        "nobody": (WEB, {}),
    }
    found: dict[str, Witness] = {}
    for name, (workloads, more) in alone.items():
        for how, settings in (("beside", PACED), ("kept beside", KEPT)):
            found[f"{how} {name}"] = partial(cluster, two, workloads, *QUIET, *SIZED, settings=settings, **more)
    events: dict[str, tuple[Event, ...]] = {
        "scaled": (scale,),
        "drained": (drain,),
        "deleted": (delete,),
        "applied": (Apply(name="apply", workload=tiered),),
    }
    for name, happens in events.items():
        found[f"kept, {name}"] = partial(cluster, two, WEB, *QUIET, *SIZED, settings=KEPT, events=happens)
        found[f"volume, {name}"] = partial(
            cluster, two, (WEB, disk), *QUIET, *SIZED, settings=PACED, events=happens, **stored
        )
        found[f"routed, {name}"] = partial(
            cluster, two, (WEB, OTHER), routed, *SIZED, settings=lagging, events=happens, **service
        )
    found["kept, guarded, drained"] = partial(
        cluster, two, WEB, *SIZED, settings=KEPT, events=(drain,), budgets=(budget(least=1, app="web"),)
    )
    lab = replace(OTHER, namespace="lab")
    in_shop = replace(KEPT, gitops_namespaces=("shop",))
    found["kept in one namespace"] = partial(cluster, two, (WEB, lab), *QUIET, settings=in_shop, events=(scale,))
    for name, settings in (("nodes come", PACED), ("kept, nodes come", KEPT)):
        found[name] = partial(cluster, _grown(), (WEB, OTHER), *QUIET, settings=settings, **_growing())
    full = deployment("web", 2)
    more = {"events": (replace(scale, target=full.ref, after=STABLE),)} | _growing()
    fails = (NodeFailure(name="fail"),)
    left = (node("n1", group="web"), node("n2", group="web"))
    hasty = replace(_growing()["cluster_autoscaler"], unneeded_s=10, delay_after_add_s=0)
    found["a node fails while it is drained"] = partial(
        cluster, left, deployment("web", 2, 100, grace_s=30), *QUIET, events=fails, cluster_autoscaler=hasty
    )
    found["nodes come and go"] = partial(cluster, _grown(), full, *QUIET, start="deployed", **more)
    return found


__all__ = ["Loaded", "beside_inputs"]
