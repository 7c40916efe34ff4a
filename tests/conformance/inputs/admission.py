"""Random namespaces with LimitRanges, quotas and pods, and a pod that is to be created there."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.conformance.inputs.placement import chance

Object = dict[str, Any]

CPU = ("0", "50m", "100m", "250m", "500m", "1", "2")
MEMORY = ("0", "64Mi", "100M", "128Mi", "256Mi", "1Gi")
STORAGE = ("0", "100M", "1Gi")
GPU = "example.com/gpu"
NATIVE = (("cpu", CPU), ("memory", MEMORY), ("ephemeral-storage", STORAGE))
SCOPES = ("BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity")


def namespace(random: Random) -> Object:
    """A namespace, the pods that are in it, and the pod to be created."""
    case: Object = {"pod": pod(random, "p", 0)}
    if chance(random, 60):
        case["limitRanges"] = [_limit_range(random, f"l{n}") for n in range(random.choice((1, 1, 2)))]
    if chance(random, 75):
        case["quotas"] = [_quota(random, f"q{n}") for n in range(random.choice((1, 1, 2)))]
        case["pods"] = [pod(random, f"e{n}", 25) for n in range(random.choice((0, 1, 2, 3)))]
    return case


def pod(random: Random, name: str, leaving: int) -> Object:
    """A pod; `leaving` is the chance in percent that it is being deleted or has ended."""
    metadata: Object = {"name": name, "namespace": "s", "uid": name}
    spec: Object = {"containers": [_container(random, f"c{n}") for n in range(random.choice((1, 1, 2)))]}
    if chance(random, 25):
        spec["initContainers"] = [_init(random, f"i{n}") for n in range(random.choice((1, 2)))]
    if chance(random, 15):
        spec["overhead"] = {name: random.choice(values[1:]) for name, values in NATIVE[:2] if chance(random, 70)}
    if chance(random, 15):
        spec["activeDeadlineSeconds"] = 60
    if chance(random, 15):
        spec["affinity"] = _affinity(random)
    found: Object = {"metadata": metadata, "spec": spec}
    if chance(random, leaving):
        _leave(random, found)
    return found


def _leave(random: Random, pod: Object) -> None:
    """Lets the pod be deleted, perhaps stuck; the clock says ten past twelve."""
    at = random.choice(("00:09:40", "00:09:31", "00:09:29", "00:05:00", "00:10:20"))
    pod["metadata"] |= {"deletionTimestamp": f"2020-01-01T{at}Z", "deletionGracePeriodSeconds": 30}


def _container(random: Random, name: str) -> Object:
    container: Object = {"name": name}
    requests: dict[str, str] = {}
    limits: dict[str, str] = {}
    for resource, values in NATIVE:
        here = random.random()
        place = random.randrange(len(values))
        if here < 0.45:
            requests[resource] = values[place]
        if 0.2 < here < 0.7:
            limits[resource] = values[random.randrange(place, len(values))]
    if chance(random, 8):
        requests[GPU] = limits[GPU] = "1"
    resources = {key: amounts for key, amounts in (("requests", requests), ("limits", limits)) if amounts}
    return container | ({"resources": resources} if resources else {})


def _init(random: Random, name: str) -> Object:
    sidecar = {"restartPolicy": "Always"} if chance(random, 40) else {}
    return _container(random, name) | sidecar


def _affinity(random: Random) -> Object:
    term: Object = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}}
    term |= random.choice(({}, {"namespaces": ["t"]}, {"namespaceSelector": {}}))
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def _limit_range(random: Random, name: str) -> Object:
    items = [
        _item(random, kind) for kind in random.choice((["Container"], ["Container"], ["Pod"], ["Container", "Pod"]))
    ]
    return {"metadata": {"name": name, "namespace": "s"}, "spec": {"limits": items}}


def _item(random: Random, kind: str) -> Object:
    """Bounds in the order that the API server demands: minimum, default request, default limit, maximum."""
    item: Object = {"type": kind}
    for resource, values in NATIVE[:2]:
        places = sorted(random.randrange(len(values)) for _ in range(4))
        for key, place in zip(("min", "defaultRequest", "default", "max"), places, strict=True):
            is_bound = key in ("min", "max")
            if (is_bound or kind == "Container") and chance(random, 20 if is_bound else 40):
                item.setdefault(key, {})[resource] = values[place]
        is_open = not all(resource in item.get(key, ()) for key in ("min", "max"))  # else the ratio has a bound itself
        if is_open and chance(random, 10):
            item.setdefault("maxLimitRequestRatio", {})[resource] = random.choice(("1", "2", "2500m", "4"))
    return item


def _quota(random: Random, name: str) -> Object:
    hard: dict[str, str] = {}
    for resource, values in NATIVE:
        for prefix in ("", "requests.", "limits."):
            if chance(random, 14):
                hard[prefix + resource] = random.choice((*values, "3", "5Gi" if resource != "cpu" else "5"))
    if chance(random, 40):
        hard["pods"] = str(random.randint(0, 6))
    if chance(random, 20):
        hard["count/pods"] = str(random.randint(0, 6))
    if chance(random, 8):
        hard[f"requests.{GPU}"] = str(random.randint(0, 3))
    spec: Object = {"hard": hard or {"pods": "3"}}
    if chance(random, 30):
        spec["scopes"] = _scopes(random)
    return {"metadata": {"name": name, "namespace": "s"}, "spec": spec}


def _scopes(random: Random) -> list[str]:
    """One or two scopes that do not exclude each other."""
    found = random.sample(SCOPES, random.choice((1, 1, 2)))
    rivals = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})
    return found[:1] if any(pair <= set(found) for pair in rivals) else found
