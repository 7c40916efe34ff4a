"""Random taints, tolerations and disruption budgets, biased to corner cases."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.conformance.corpus import Case

KEYS = ("node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready", "a", "a", "b")
VALUES = ("", "", "1", "2")
SECONDS = (-5, 0, 1, 10, 29, 30, 60, 299, 300, 900)
OVERFLOWS = (2**31, 9_223_372_037, 18_446_744_074, 18_446_744_100, 2**63 - 1)  # some overflow as nanoseconds


def taint_history(random: Random) -> Case:
    """Pods that come to a node, and what happens to the node's taints."""
    count = random.choice((1, 1, 2, 3))
    pods = [_pod(random, f"p{index}") for index in range(count)]
    arrivals: list[dict[str, Any]] = [{"arrives": index} for index in range(count)]
    changes = [_change(random, count) for _ in range(random.choice((1, 2, 2, 3, 4, 5)))]
    events = [*arrivals, *changes] if random.random() < 0.6 else _mixed(random, arrivals, changes)
    seconds, at = [], 0
    for _ in events:
        at += random.choice((0, 0, 1, 10, 29, 30, 31, 100, 300))
        seconds.append(at)
    return {"pods": pods, "events": [{"at": at, **event} for at, event in zip(seconds, events, strict=True)]}


def _mixed(random: Random, arrivals: list[dict[str, Any]], changes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """In any order, except that a pod gets tolerations only once it is there."""
    events = [*arrivals, *(change for change in changes if "gets" not in change)]
    random.shuffle(events)
    return [*events, *(change for change in changes if "gets" in change)]


def _change(random: Random, pods: int) -> dict[str, Any]:
    if random.random() < 0.15:
        return {"gets": random.randrange(pods), "tolerations": [_toleration(random)]}
    taints = {
        (taint["key"], taint["effect"]): taint
        for taint in (_taint(random) for _ in range(random.choice((0, 1, 1, 2, 3))))
    }
    return {"taints": list(taints.values())}


def _taint(random: Random) -> dict[str, Any]:
    effect = random.choice(("NoExecute", "NoExecute", "NoExecute", "NoExecute", "NoSchedule", "PreferNoSchedule"))
    taint = {"key": random.choice(KEYS), "effect": effect}
    value = random.choice(VALUES)
    return {**taint, "value": value} if value else taint


def _pod(random: Random, name: str) -> dict[str, Any]:
    tolerations = [_toleration(random) for _ in range(random.choice((0, 1, 1, 2, 2, 3, 4)))]
    spec = {"containers": [{"name": "c", "image": "i"}], "tolerations": tolerations}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def _toleration(random: Random) -> dict[str, Any]:
    """One that the API server admits."""
    toleration: dict[str, Any] = {}
    if random.random() < 0.85:
        toleration["key"] = random.choice(KEYS)
    if "key" not in toleration or random.random() < 0.5:
        toleration["operator"] = "Exists"
    else:
        toleration |= random.choice(({}, {"operator": "Equal"}))
        value = random.choice(VALUES)
        toleration |= {"value": value} if value else {}
    if random.random() < 0.7:
        toleration["effect"] = "NoExecute"
        if random.random() < 0.7:
            toleration["tolerationSeconds"] = random.choice(SECONDS if random.random() < 0.97 else OVERFLOWS)
    elif random.random() < 0.2:
        toleration["effect"] = "NoSchedule"
    return toleration


AMOUNTS = (0, 1, 1, 2, 3, 5, "0%", "1%", "10%", "25%", "30%", "33%", "34%", "50%", "66%", "67%", "99%", "100%")
SELECTORS: tuple[dict[str, Any] | None, ...] = (
    {"matchLabels": {"app": "a"}},
    {"matchLabels": {"app": "a"}},
    {"matchLabels": {"app": "a"}},
    {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]},
    {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["b"]}]},
    {},
    None,
)
SCALED = ("ReplicaSet", "ReplicaSet", "StatefulSet", "ReplicationController", "Database")
UNSCALED = ("DaemonSet", "Job", "Table")


def budget_status(random: Random) -> Case:
    """A budget, its status so far, and pods of several owners."""
    owners: list[dict[str, Any]] = []
    for _ in range(random.choice((0, 1, 1, 2, 3))):
        owners += _owner(random, len(owners))
    pods = [_budgeted(random, owners) for _ in range(random.choice((0, 1, 2, 3, 3, 4, 5, 7, 10)))]
    return {"budget": _budget(random), "owners": owners, "pods": pods}


def _budget(random: Random) -> dict[str, Any]:
    spec: dict[str, Any] = {}
    if random.random() < 0.97:
        spec[random.choice(("minAvailable", "maxUnavailable"))] = random.choice(AMOUNTS)
    selector = random.choice(SELECTORS)
    if selector is not None:
        spec["selector"] = selector
    status = {key: random.randint(0, 5) for key in ("expectedPods", "desiredHealthy", "currentHealthy")}
    status |= {"disruptionsAllowed": random.randint(0, 3), "observedGeneration": random.choice((1, 2))}
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}}
    return {**budget, "spec": spec, "status": status}


def _owner(random: Random, position: int) -> list[dict[str, Any]]:
    """An owner of pods; with a ReplicaSet often its Deployment, and sometimes that one's second ReplicaSet."""
    if random.random() < 0.15:
        return [{"kind": random.choice(UNSCALED), "replicas": 0}]
    owner = _scaled(random, random.choice(SCALED))
    if owner["kind"] != "ReplicaSet" or random.random() < 0.3:
        return [owner]
    owned = [{**_scaled(random, "ReplicaSet"), "owner": position} for _ in range(random.choice((1, 1, 2)))]
    return [_scaled(random, "Deployment"), *owned]


def _scaled(random: Random, kind: str) -> dict[str, Any]:
    owner: dict[str, Any] = {"kind": kind, "replicas": random.choice((0, 1, 2, 3, 4, 5, 7, 10))}
    if random.random() < 0.08:
        owner[random.choice(("gone", "anew"))] = True
    return owner


def _budgeted(random: Random, owners: list[dict[str, Any]]) -> dict[str, Any]:
    pod: dict[str, Any] = {"app": random.choice(("a", "a", "a", "b")), "phase": "Running"}
    possible = [index for index, owner in enumerate(owners) if owner["kind"] != "Deployment"]
    if possible and random.random() < 0.9:
        pod["owner"] = random.choice(possible)
    pod["ready"] = random.random() < 0.75
    if random.random() < 0.2:
        pod["phase"] = random.choice(("Pending", "Succeeded", "Failed", "Unknown"))
    if random.random() < 0.1:
        pod["ending"] = True
    if random.random() < 0.1:
        pod["evicted"] = random.choice((0, 60, 119, 120, 121, 300))
    if random.random() < 0.05:
        pod["space"] = "other"
    return pod
