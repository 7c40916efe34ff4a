"""Random pods, metrics and autoscalers for single decisions, biased to the edges of tolerance and of trust in metrics.

Usage is chosen first, targets after it: such that their ratio lies on, just inside or just outside the tolerance.
Equal pods are one entry with a count. Usage and measured values are thousandths of a core or byte.
"""

from __future__ import annotations

from random import Random
from typing import Any

Json = dict[str, Any]

MEBI = 2**20
CPU_REQUESTS = {"100m": 100, "200m": 200, "250m": 250, "1": 1000, "333m": 333, "0.5": 500, "7m": 7, "0": 0}
MEMORY_REQUESTS = {"64Mi": 64 * MEBI, "100Mi": 100 * MEBI, "1Gi": 1024 * MEBI, "100M": 10**8, "1000": 1000}
UNREQUESTED = {"cpu": 100, "mem": 1000 * 64 * MEBI}  # what a pod may use of what it does not ask for
PERCENTS = (10, 20, 30, 50, 55, 60, 63, 70, 77, 80, 90, 99, 100, 105, 110, 120, 130, 157, 175, 200, 250)
SLIP = 0.0
EDGES = (0.9, 0.9, 1.1, 1.1, 1.0, 1.0, 0.89, 0.91, 0.95, 1.01, 1.05, 1.09, 1.11)
RATIOS = (*EDGES, 0.05, 0.43, 0.5, 1.25, 1.57, 2.0, 3.0, SLIP)
TOLERANCES = ("0", "0.01", "0.05", "50m", "0.1", "0.2", "0.25", "0.43", "0.57", "0.333", "1", "1.5")
AGES = (0, 5, 29, 30, 31, 60, 299, 300, 301, 3600)
WINDOWS = (15, 15, 15, 10, 30, 60)
COUNTS = (1, 1, 1, 1, 2, 2, 3, 4, 7, 10)
# How a group of pods looks; the usual one comes often.
LOOKS = ("ready",) * 4 + ("young", "young", "unready", "unready", "pending", "pending", "missing", "missing", "missing")
RARE_LOOKS = ("failed", "succeeded", "deleted", "no condition", "no start", "unknown")
KINDS = ("cpu %", "cpu %", "cpu %", "memory %", "cpu", "memory", "container %", "container", "pods")
AUTOSCALERS = 3


def decision(random: Random) -> Json:
    """Pods with their samples, and a few autoscalers that look at them, each for itself."""
    specs = [_spec(random) for _ in range(random.choice((1, 1, 1, 1, 2)))]
    looks = random.choice((["ready"], ["ready"], [])) + [_look(random) for _ in range(random.randint(0, 4))]
    pods = [_pods(random, look, len(specs)) for look in looks or ["ready"]]
    level = random.choice(PERCENTS) if random.random() < 0.85 else random.randint(0, 300)
    names = {"cpu", "memory", "cpu/app", "memory/app", "qps"}
    broken = {name for name in sorted(names) if random.random() < 0.06}
    samples = {name: _samples(random, name, specs, pods, level) for name in sorted(names - broken)}
    asked = [_asked(random, specs, pods, samples, level) for _ in range(AUTOSCALERS)]
    read = {_sampled(metric) for each in asked for metric in each["spec"].get("metrics", [{}])}
    return {
        "window": random.choice(WINDOWS),
        "specs": specs,
        "pods": [{key: value for key, value in group.items() if key != "look"} for group in pods],
        "samples": {name: values for name, values in samples.items() if name in read},
        "autoscalers": asked,
    }


# -- pods ---------------------------------------------------------------------------------------


def _spec(random: Random) -> Json:
    containers = [_container(random, name) for name in ("app", "log", "vpn")[: random.choice((1, 1, 1, 2, 3))]]
    if random.random() < 0.1:
        containers = [{**container, "name": f"my{container['name']}"} for container in containers]
    if random.random() < 0.8:
        return {"containers": containers}
    init = _container(random, "init")
    return {"initContainers": [{**init, "restartPolicy": "Always"} if random.random() < 0.6 else init]} | {
        "containers": containers
    }


def _container(random: Random, name: str) -> Json:
    requests = {}
    if random.random() < 0.96:
        requests["cpu"] = random.choice(tuple(CPU_REQUESTS)) if random.random() < 0.6 else "100m"
    if random.random() < 0.9:
        requests["memory"] = random.choice(tuple(MEMORY_REQUESTS))
    return {"name": name, "resources": {"requests": requests}} if requests else {"name": name}


def request_of(spec: Json, sampled: str) -> int:
    """What usage is measured by, in thousandths; omitted requests count as 0."""
    resource, _, container = sampled.partition("/")
    named = [each for each in spec["containers"] if container in ("", each["name"])]
    requests = [each.get("resources", {}).get("requests", {}).get(resource) for each in named]
    if resource == "cpu":
        return sum(CPU_REQUESTS[request] for request in requests if request)
    return 1000 * sum(MEMORY_REQUESTS[request] for request in requests if request)


def _look(random: Random) -> str:
    return random.choice(LOOKS) if random.random() < 0.85 else random.choice(RARE_LOOKS)


def _pods(random: Random, look: str, specs: int) -> Json:
    """Pods that look alike: count, spec, and what else decides whether their metrics are trusted."""
    age = random.choice(AGES)
    pods: Json = {"count": random.choice(COUNTS), "spec": random.randrange(specs), "phase": "Running", "look": look}
    if look == "ready":
        return pods | {"age": 3600, "ready": "True", "changed": 3500}
    if look == "pending":
        return pods | {"phase": "Pending"}
    changed = max(0, age - random.choice((0, 1, 14, 15, 16, 29, 30, 31, 45)))
    pods |= {"age": age, "ready": random.choice(("True", "False")), "changed": changed}
    changes: dict[str, Json] = {
        "unready": {"ready": "False"},
        "failed": {"phase": "Failed"},
        "succeeded": {"phase": "Succeeded"},
        "deleted": {"deleted": True, "phase": random.choice(("Running", "Pending"))},
        "no condition": {"ready": ""},
        "no start": {"age": None},
        "unknown": {"ready": "Unknown"},
    }
    return pods | changes.get(look, {})


# -- metrics ------------------------------------------------------------------------------------


def _samples(random: Random, name: str, specs: list[Json], pods: list[Json], level: int) -> list[list[int] | None]:
    """For each group of pods its usage and the sample's age, or nothing."""
    is_even = random.random() < 0.6  # all pods alike: averages hit the edges exactly
    found: list[list[int] | None] = []
    for group in pods:
        is_missing = group["look"] in ("missing", "succeeded") or random.random() < 0.02
        base = 100_000 if name == "qps" else request_of(specs[group["spec"]], name) or UNREQUESTED[name[:3]]
        percent = level if is_even else random.choice((level, level + 1, level // 2, random.randint(0, 300)))
        found.append(None if is_missing else [base * percent // 100, random.choice((0, 0, 0, 1, 15, 30))])
    return found


def _asked(random: Random, specs: list[Json], pods: list[Json], samples: Json, level: int) -> Json:
    """An autoscaler and the replicas of its target, mostly about as many as there are pods."""
    count = sum(group["count"] for group in pods if group["look"] not in ("failed", "deleted"))
    replicas = max(0, count + random.choice((0, 0, 0, 0, -1, 1, -3, 2, 5))) if random.random() < 0.97 else 0
    spec: Json = {"maxReplicas": 10}
    behavior = _tolerances(random, level)
    edges = [float(text) for rules in behavior.values() for text in rules.values() if text[-1] != "m"]
    ratios = RATIOS + tuple(1 + sign * edge for edge in edges for sign in (1, -1)) * 4
    if random.random() < 0.98:
        kinds = [random.choice(KINDS) for _ in range(random.choice((1, 1, 1, 1, 2, 2, 3)))]
        spec["metrics"] = [_metric(random, kind, specs, samples, level, random.choice(ratios)) for kind in kinds]
    return {"replicas": replicas, "spec": spec | ({"behavior": behavior} if behavior else {})}


def _tolerances(random: Random, level: int) -> dict[str, dict[str, str]]:
    """Tolerances of some directions; often the very distance of usage from a target of 100 %."""
    if random.random() < 0.7:
        return {}
    directions = random.choice((["scaleUp"], ["scaleDown"], ["scaleUp", "scaleDown"]))
    exact = f"{abs(level - 100) / 100:.2f}"
    choices = random.choice((TOLERANCES, (exact,)))
    return {direction: {"tolerance": random.choice(choices)} for direction in directions}


def _metric(random: Random, kind: str, specs: list[Json], samples: Json, level: int, ratio: float) -> Json:
    """A metric whose measured value is about `ratio` times its target."""
    source, _, percent = kind.partition(" ")
    resource = random.choice(("cpu", "cpu", "memory")) if source == "container" else source
    name = "qps" if source == "pods" else f"{resource}/app" if source == "container" else resource
    if percent:
        target: Json = {"type": "Utilization", "averageUtilization": max(1, round(level / max(ratio, 0.01)))}
    else:
        target = {"type": "AverageValue", "averageValue": _quantity(_average(specs, samples, name), ratio)}
    if source == "pods":
        return {"type": "Pods", "pods": {"metric": {"name": name}, "target": target}}
    if source == "container":
        container = "app" if random.random() < 0.95 else "gone"
        body = {"name": resource, "container": container, "target": target}
        return {"type": "ContainerResource", "containerResource": body}
    return {"type": "Resource", "resource": {"name": resource, "target": target}}


def _average(specs: list[Json], samples: Json, name: str) -> int:
    """The usage of one pod that has a sample; 0 is nothing to aim at."""
    usages = [sample[0] for sample in samples.get(name, []) if sample is not None and sample[0]]
    return usages[0] if usages else request_of(specs[0], name) or UNREQUESTED.get(name[:3], 100_000)


def _quantity(usage: int, ratio: float) -> str:
    """A target of which the usage is the given multiple; SLIP asks for 100m where 100M is meant."""
    if ratio == SLIP:
        return "100m"
    milli = max(1, round(usage / max(ratio, 0.01)))
    return str(milli // 1000) if milli % 1000 == 0 else f"{milli}m"


def _sampled(metric: Json) -> str:
    """The name of the samples that a metric reads."""
    if "pods" in metric:
        return "qps"
    if "containerResource" in metric:
        source = metric["containerResource"]
        return f"{source['name']}/{source['container']}"
    name: str = metric.get("resource", {}).get("name", "cpu")
    return name
