"""Random owners of pods of which one or two have autoscalers, with selectors that match pods of others, too.

Pods look as a run of the model may show them, so that the loop itself can be asked. Targets are chosen after use: such
that the ratio over all selected pods lies on, just inside or just outside the tolerance.
"""

from __future__ import annotations

from random import Random
from typing import Any

from tests.conformance.inputs.hpa import CPU_REQUESTS, MEMORY_REQUESTS, RATIOS, SLIP

Json = dict[str, Any]

CPU_ASKED = ("100m", "100m", "250m", "1", "7m", "0")
MEMORY_ASKED = ("64Mi", "100M", "1000")
PERCENTS = (0, 10, 20, 45, 50, 50, 55, 60, 80, 100, 100, 110, 150, 200)
AGES = (0, 14, 15, 16, 29, 31, 299, 300, 301, 3600)
SELECTORS: tuple[Json, ...] = (
    {"matchLabels": {"app": "web"}},
    {"matchLabels": {"app": "web"}},
    {"matchLabels": {"app": "web"}},
    {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "api"]}]},
    {"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "job-name", "operator": "DoesNotExist"}]},
    {"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]},
)
LABELS: tuple[dict[str, str], ...] = (
    {"app": "web"},
    {"app": "web"},
    {"app": "web", "tier": "batch"},
    {"app": "web", "tier": "front"},
    {"app": "api"},
    {"app": "other"},
)
KINDS = ("Deployment", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "Job", "Job", "Pod")
SCALED = ("Deployment", "ReplicaSet", "StatefulSet")
LOOKS = ("ready",) * 6 + ("running", "unready", "young", "young", "waiting", "starting", "deleted", "failed")
METRICS = ("cpu %", "cpu %", "cpu %", "cpu", "memory %", "memory", "cpu/app %", "cpu/app")


def foreign(random: Random) -> Json:
    """A target with its autoscaler, and up to three owners beside it."""
    metrics = [random.choice(METRICS) for _ in range(random.choice((1, 1, 1, 2)))]
    is_single = any("/" in metric for metric in metrics)
    target = _owner(random, random.choice(SCALED), {"app": "web"}, is_single=is_single)
    target["selector"] = random.choice(SELECTORS)
    owners = [target]
    for _ in range(random.choice((1, 1, 2, 3))):
        has_ordinals = any(owner["kind"] == "StatefulSet" for owner in owners)
        kind = random.choice([one for one in KINDS if one != "StatefulSet" or not has_ordinals])
        owner = _owner(random, kind, random.choice(LABELS), is_single=is_single)
        owners.append(owner | ({"elsewhere": True} if random.random() < 0.08 else {}))
    level = _level(owners)
    scalers = [_autoscaler(random, 0, target, metrics, level)]
    scaled = [at for at, owner in enumerate(owners) if owner["kind"] in SCALED and not owner.get("elsewhere")]
    if random.random() < 0.25:
        at = random.choice(scaled)
        scalers.append(_autoscaler(random, at, owners[at], [random.choice(METRICS[:4])], level))
    return {"owners": owners, "autoscalers": scalers}


def _owner(random: Random, kind: str, labels: dict[str, str], *, is_single: bool) -> Json:
    looks = [random.choice(LOOKS) for _ in range(random.choice((1, 1, 2, 3)))]
    if kind == "Job" and random.random() < 0.6:
        looks.append(random.choice(("succeeded", "succeeded", "failed")))
    pods = [_pods(random, look) for look in looks]
    if kind == "Pod":
        pods = [pods[0] | {"count": 1}]
    spec = _spec(random, is_single=is_single)
    requests = [container["resources"]["requests"] for container in spec["containers"]]
    percent = random.choice(PERCENTS)
    use = {
        "cpu": (sum(CPU_REQUESTS[r.get("cpu", "0")] for r in requests) or 100) * percent // 100,
        "memory": 1000 * (sum(MEMORY_REQUESTS.get(r.get("memory", ""), 0) for r in requests) or 2**20) * percent // 100,
    }
    named = {"job-name": "job", "batch.kubernetes.io/job-name": "job"} if kind == "Job" else {}
    owner = {"kind": kind, "labels": labels | named, "spec": spec, "use": use, "pods": pods}
    return owner | ({"selector": {"matchLabels": labels}} if kind in (*SCALED, "DaemonSet") else {})


def _spec(random: Random, *, is_single: bool) -> Json:
    names = ["app" if random.random() < 0.85 else "tool"]
    if not is_single and random.random() < 0.2:
        names.append("log")
    return {"containers": [_container(random, name) for name in names]}


def _container(random: Random, name: str) -> Json:
    requests = {}
    if random.random() < 0.93:
        requests["cpu"] = random.choice(CPU_ASKED)
    if random.random() < 0.9:
        requests["memory"] = random.choice(MEMORY_ASKED)
    return {"name": name, "resources": {"requests": requests}}


def _pods(random: Random, look: str) -> Json:
    """Pods that look alike, as phases and ages of the model say it: ready as long as they are, or not any more."""
    age = 3600 if look in ("ready", "succeeded") else random.choice(AGES)
    pods: Json = {"count": random.choice((1, 1, 1, 2, 3)), "look": look, "phase": "Running"}
    if look == "waiting":
        return pods | {"phase": "Pending"}
    if look == "starting":
        return pods | {"phase": "Pending", "age": age}
    pods |= {"age": age, "ready": "False", "changed": age}
    changes: dict[str, Json] = {
        "ready": {"ready": "True"},
        "young": {"ready": "True"},
        "unready": {"changed": 0},
        "deleted": {"deleted": True},
        "failed": {"phase": "Failed"},
        "succeeded": {"phase": "Succeeded"},
    }
    return pods | changes.get(look, {})


def _level(owners: list[Json]) -> int:
    """About the utilization of all pods together, in percent."""
    ready = [(owner, group["count"]) for owner in owners for group in owner["pods"] if group["look"] == "ready"]
    used = sum(owner["use"]["cpu"] * count for owner, count in ready)
    asked = sum(
        count * sum(CPU_REQUESTS[c["resources"]["requests"].get("cpu", "0")] for c in owner["spec"]["containers"])
        for owner, count in ready
    )
    return 100 * used // asked if asked else 50


def _autoscaler(random: Random, at: int, target: Json, metrics: list[str], level: int) -> Json:
    replicas = max(1, sum(g["count"] for g in target["pods"] if g["look"] not in ("failed", "deleted")))
    wanted = [_metric(random, metric, target, level) for metric in metrics]
    spec = {"minReplicas": 1, "maxReplicas": 20, "metrics": wanted}
    return {"target": at, "replicas": max(1, replicas + random.choice((0, 0, 0, -1, 1, 3))), "spec": spec}


def _metric(random: Random, metric: str, target: Json, level: int) -> Json:
    source, _, percent = metric.partition(" ")
    resource, _, container = source.partition("/")
    ratio = random.choice([each for each in RATIOS if each != SLIP])
    if percent:
        aim: Json = {"type": "Utilization", "averageUtilization": max(1, round(level / ratio))}
    else:
        milli = max(1, round((target["use"][resource] or 100) / ratio))
        aim = {"type": "AverageValue", "averageValue": str(milli // 1000) if milli % 1000 == 0 else f"{milli}m"}
    if container:
        body = {"name": resource, "container": container, "target": aim}
        return {"type": "ContainerResource", "containerResource": body}
    return {"type": "Resource", "resource": {"name": resource, "target": aim}}
