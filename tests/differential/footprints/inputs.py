"""Small inputs with every loop, event and fact, alone and beside a drain: there a footprint makes a difference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from kubeproof.cluster.kinds import DAEMON_SET, STATEFUL_SET
from kubeproof.cluster.objects import HOSTNAME, ZONE, Settings, Workload
from kubeproof.cluster.services import Service
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler, Metric
from kubeproof.cluster.steering.quotas import ResourceQuota
from kubeproof.cluster.steering.vertical import VerticalPodAutoscaler
from kubeproof.cluster.volumes import Claim, StorageClass
from kubeproof.events.declarations import (
    DELETED,
    STABLE,
    Apply,
    BudgetChange,
    Cordon,
    CpuLoad,
    Create,
    CreateNode,
    Delete,
    Drain,
    Event,
    KernelPanic,
    Maintenance,
    NeverReady,
    NodeFailure,
    NodeRemoval,
    PodCrash,
    Rollout,
    Scale,
    Unreachable,
    Usage,
    UsageChange,
    UsagePattern,
    ZoneFailure,
)
from kubeproof.intents.declarations import Amount, Intent
from kubeproof.manifests.loaded import Loaded
from tests.differential.footprints.beside import beside_inputs
from tests.differential.guards.clusters import budget, cluster, deployment, node, of, on_team, selecting, workload

ONE = Amount(1)
ZONED = tuple(
    replace(node(f"n{n}", 2000), labels=((HOSTNAME, f"n{n}"), ("team", "ab"[n > 2]), (ZONE, f"z{n % 2}")))
    for n in range(1, 5)
)
SLOW = Settings(startup_s=(1, 5), monitor_period_s=0)
WEB = deployment("web", 2, 100)
OTHER = on_team("other", "b", 1, 100)
QUIET = (of("settles"),)
Make = Callable[[], Loaded]


def events_on(web: Workload) -> dict[str, Event]:
    ref = web.ref
    grown = replace(web, template=replace(web.template, labels=(*web.template.labels, ("tier", "x"))), replicas=3)
    found: tuple[Event, ...] = (
        NodeFailure(name="fail"),
        NodeFailure(name="fail-together", together=True, max=2, recovers=False),
        ZoneFailure(name="outage"),
        Cordon(name="cordon"),
        Drain(name="drain"),
        Maintenance(name="maintain"),
        NodeRemoval(name="remove"),
        NodeRemoval(name="remove-at-once", drain_first=False),
        Scale(name="scale", target=ref, replicas=(1,)),
        Create(name="create", target=ref),
        CreateNode(name="join", node="n4"),
        Apply(name="apply", workload=grown),
        UsageChange(name="usage", resource="cpu", target=ref, levels=(Usage(percent=10), Usage(percent=90))),
        UsagePattern(name="pattern", resource="cpu", target=ref, phases=((Usage(percent=40), None),)),
        CpuLoad(name="load", target=ref, levels=(100, 300)),
        Unreachable(name="cut-off", target=ref),
        KernelPanic(name="panic"),
        PodCrash(name="crash", target=ref),
        NeverReady(name="never-ready", target=ref),
        Delete(name="delete", target=ref),
        Rollout(name="rollout", target=ref),
    )
    return {event.name: event for event in found}


def _scaler(web: Workload) -> HorizontalPodAutoscaler:
    return HorizontalPodAutoscaler("shop", "web", web.ref, 1, 3, (Metric("Resource", "cpu", "Utilization", 50),))


def _bases() -> dict[str, Callable[..., Loaded]]:
    """Clusters with each kind of loop; what happens and what is asked is open."""
    set_of = partial(workload, replicas=2, cpu=100)
    guarded = (budget(least=1, app="web"),)
    scalers = (_scaler(WEB),)
    urgent = deployment("urgent", 1, 100, priority=10)
    return {
        "plain": lambda *asked, **more: cluster(ZONED, WEB, *asked, **more),
        "slow": lambda *asked, **more: cluster(ZONED, WEB, *asked, settings=SLOW, **more),
        "scaled": lambda *asked, **more: cluster(ZONED, WEB, *asked, settings=SLOW, autoscalers=scalers, **more),
        "guarded": lambda *asked, **more: cluster(ZONED, WEB, *asked, budgets=guarded, **more),
        "daemon": lambda *asked, **more: cluster(ZONED, (WEB, set_of("agent", kind=DAEMON_SET)), *asked, **more),
        "stateful": lambda *asked, **more: cluster(ZONED, (WEB, set_of("db", kind=STATEFUL_SET)), *asked, **more),
        "urgent": lambda *asked, **more: cluster(ZONED, (WEB, urgent), *asked, budgets=guarded, **more),
        "first": lambda *asked, **more: cluster(ZONED, (WEB, urgent), *asked, **more),
        "teams": lambda *asked, **more: cluster(
            ZONED, (deployment("web", 2, 100, node_selector=(("team", "a"),)), OTHER), *asked, **more
        ),
    }


def _asked() -> dict[str, Intent]:
    counted: dict[str, Any] = {"count": ONE, "when": "stable"}
    found = (
        of("minReady", WEB, **counted),
        of("minReplicas", WEB, **counted),
        of("maxReplicas", WEB, **counted),
        of("schedulable", WEB),
        of("noPendingForever", WEB),
        of("maxNodes", **counted),
        of("maxSkew", WEB, topology_key=HOSTNAME, skew=1, when="stable"),
        of("spread", WEB, topology_key=HOSTNAME, when="stable"),
        of("onlyOn", WEB, node_names=("n1",), when="stable"),
        of("notColocated", WEB, topology_key=HOSTNAME, selector=selecting(app="x"), when="stable"),
        of("maxPodObjects", WEB, count=ONE),
        of("maxPodObjects", WEB, count=ONE, phases=("Pending",), name="maxPodObjects of phases"),
        of("rolloutCompletes", WEB),
        of("maxLoadSkew", WEB, when="stable"),
        of("drainCompletes"),
    )
    return {intent.name: intent for intent in found}


def _made() -> dict[str, Make]:
    found: dict[str, Make] = {}
    bases, drain = _bases(), Drain(name="drain")
    for base, make in bases.items():
        found[base] = partial(make, *QUIET)
        for name, event in events_on(WEB).items():
            found[f"{base}, {name}"] = partial(make, *QUIET, events=(event,))
            found[f"{base}, {name} at rest"] = partial(make, *QUIET, events=(replace(event, after=STABLE),))
            second = Scale(name="scale-other", target=OTHER.ref, replicas=(2,), after=STABLE)
            if base == "teams":
                at_rest = (replace(event, after=STABLE), second)
                found[f"{base}, {name} and another at rest"] = partial(make, *QUIET, events=at_rest)
            if name != "drain":
                found[f"{base}, {name} and drain"] = partial(make, *QUIET, events=(event, drain))
    for name, intent in _asked().items():
        found[f"plain, {name}"] = partial(bases["plain"], intent)
        found[f"slow, {name}"] = partial(bases["slow"], intent)
        found[f"guarded, {name} and drain"] = partial(bases["guarded"], intent, events=(replace(drain, after=STABLE),))
    return found


def _special() -> dict[str, Make]:
    """Inputs for what only some clusters have: quotas, updates of other owners, budgets beside a descheduler."""
    agent, db = (workload(name, 2, 100, kind=kind) for name, kind in (("agent", DAEMON_SET), ("db", STATEFUL_SET)))
    tight = (ResourceQuota("shop", "tight", (("pods", 3),)),)
    tiered = (("app", "web"), ("tier", "x"))
    wide = deployment("web", 2, 100, labels=tiered, selector=selecting(tier="x"))  # its autoscaler counts others, too
    counted = deployment("other", 2, 100, labels=(("app", "other"), ("tier", "x")))
    found: dict[str, Make] = {}
    for one in (agent, db):
        found[f"{one.kind} and quota"] = partial(cluster, ZONED, (WEB, one), *QUIET, quotas=tight)
        rollout = Rollout(name="rollout", target=one.ref)
        found[f"{one.kind} updated"] = partial(cluster, ZONED, one, *QUIET, events=(rollout,), settings=SLOW)
    found["quota"] = partial(cluster, ZONED, (WEB, OTHER), of("noPendingForever", WEB), quotas=tight)
    scale = Scale(name="scale", target=WEB.ref, replicas=(1,))
    found["quota, scale"] = partial(cluster, ZONED, (WEB, OTHER), *QUIET, quotas=tight, events=(scale,))
    single = workload("db", 1, 100, kind=STATEFUL_SET)
    update = Rollout(name="rollout", target=single.ref)
    found["one ordinal updated"] = partial(cluster, ZONED[:1], single, *QUIET, events=(update,))
    less = Scale(name="scale", target=counted.ref, replicas=(1,))
    found["scaled with others"] = partial(
        cluster, ZONED, (wide, counted), *QUIET, autoscalers=(_scaler(wide),), events=(less,), settings=SLOW
    )
    guarded = (budget(least=1, app="web"),)
    first = workload("agent", 1, 100, kind=DAEMON_SET, priority=10)
    found["urgent daemon"] = partial(cluster, ZONED, (WEB, first), *QUIET, budgets=guarded)
    changes = BudgetChange(name="gone", budget="shop/budget", verb=DELETED)
    served = (Service("shop", "web", WEB.template.labels),)
    found["traffic"] = partial(cluster, ZONED, WEB, of("noTrafficToTerminating", WEB), services=served)
    vertical = VerticalPodAutoscaler("shop", "web", WEB.ref)
    levels = (Usage(amount_milli=50), Usage(amount_milli=400))
    used = UsageChange(name="usage", resource="cpu", target=WEB.ref, levels=levels)
    found["vertical"] = partial(cluster, ZONED, WEB, *QUIET, verticals=(vertical,), events=(used,))
    claim = Claim("shop", "data", 1, "fast", ("ReadWriteOnce",))
    by_zone = (StorageClass("fast", "csi.example.com", topologies=(((ZONE, ("z0", "z1")),),)),)
    found["claim"] = partial(
        cluster, ZONED, workload("db", 1, 100, claims=("data",)), *QUIET, claims=(claim,), storage_classes=by_zone
    )
    found["a budget goes"] = partial(cluster, ZONED, (WEB, OTHER), *QUIET, budgets=guarded, events=(changes,))
    return found


INPUTS: dict[str, Make] = _made() | _special() | beside_inputs()
