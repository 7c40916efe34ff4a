"""Nodes and pod templates of the descheduler's cases: few words each, so that cases meet corners often."""

from __future__ import annotations

from collections.abc import Collection
from random import Random
from typing import Any

from tests.conformance.inputs.placement import HOSTNAME, chance

Part = dict[str, Any]

NAMESPACES = ("p", "p", "q")
LABEL = "d"  # of nodes
ZONE = "z"
GPU = "e.com/g"
NODE_SELECTORS = ("d=a", "d!=a", "d in (a,b)", "!d", "z")
EFFECTS = ("NoSchedule", "NoSchedule", "PreferNoSchedule", "NoExecute")


def node(random: Random, number: int, features: Collection[str]) -> Part:
    """A node; features: zones labels labelled (all are) taints tainted (most are) cordons unready resources fits."""
    name = f"n{number}"
    labels = {HOSTNAME: name} if "zones" in features else {}
    if "zones" in features and not chance(random, 6):
        labels[ZONE] = random.choice("11223")
    if "labels" in features and chance(random, 100 if "labelled" in features else 70):
        labels[LABEL] = random.choice("ab")
    spec: Part = {}
    if "taints" in features and chance(random, 70 if "tainted" in features else 25):
        spec["taints"] = _taints(random)
    if "cordons" in features and chance(random, 15):
        spec["unschedulable"] = True
    status: Part = {"allocatable": _allocatable(random, features)}
    if "unready" in features and number > 1 and chance(random, 8):
        status["conditions"] = [{"type": "Ready", "status": random.choice(("False", "Unknown"))}]
    metadata: Part = {"name": name} | ({"labels": labels} if labels else {})
    return {"metadata": metadata} | ({"spec": spec} if spec else {}) | {"status": status}


def _taints(random: Random) -> list[Part]:
    found = {}
    for _ in range(random.choice((1, 1, 2))):
        taint = {"key": random.choice("kl"), "effect": random.choice(EFFECTS)}
        if chance(random, 60):
            taint["value"] = random.choice("vw")
        found[taint["key"], taint["effect"]] = taint
    return list(found.values())


def _allocatable(random: Random, features: Collection[str]) -> Part:
    if "resources" in features:
        found = {"cpu": random.choice(("2", "3", "3500m")), "memory": random.choice(("2000", "3000", "4Ki"))}
        found["pods"] = random.choice(("6", "10", "10", "12", "15"))
        return found | ({GPU: random.choice("0234")} if chance(random, 25) else {})
    pods = random.choice(("2", "4", "9", "9")) if "fits" in features else "9"
    return {"cpu": random.choice(("1", "2")) if "fits" in features else "2", "memory": "999", "pods": pods}


def template(random: Random, features: Collection[str]) -> Part:
    """A pod template; features: resources, fits, taints, selector, affinity, apart, spread."""
    labels = {"app": random.choice("aaab")} | ({"v": random.choice("12")} if chance(random, 30) else {})
    spec: Part = {"containers": [_container(random, "c", features)]}
    if "resources" in features and chance(random, 12):
        spec["initContainers"] = [_container(random, "i", features)]
        if chance(random, 50):
            spec["initContainers"][0]["restartPolicy"] = "Always"
    if "resources" in features and chance(random, 8):
        spec["overhead"] = random.choice(({"cpu": "50m"}, {"cpu": "100m"}, {"memory": "1"}, {"memory": "100"}))
    if "taints" in features and chance(random, 50):
        spec["tolerations"] = [_toleration(random) for _ in range(random.choice((1, 1, 2)))]
    if "selector" in features and chance(random, 20):
        spec["nodeSelector"] = {LABEL: random.choice("ab")}
    affinity = _affinity(random, features)
    if affinity:
        spec["affinity"] = affinity
    if "spread" in features and chance(random, 95):
        spec["topologySpreadConstraints"] = _spread(random)
    return {"metadata": {"labels": labels}, "spec": spec}


def _container(random: Random, name: str, features: Collection[str]) -> Part:
    requests: Part = {}
    if "resources" in features:
        if chance(random, 70):
            requests["cpu"] = random.choice(("0", "100m", "150m", "200m", "250m", "500m"))
        if chance(random, 60):
            requests["memory"] = random.choice(("0", "100", "150", "300", "333"))
        if chance(random, 15):
            requests[GPU] = random.choice("012")
    elif "fits" in features and chance(random, 60):
        requests["cpu"] = random.choice(("100m", "300m", "500m"))
    return {"name": name} | ({"resources": _resources(requests)} if requests else {})


def _resources(requests: Part) -> Part:
    limits = {GPU: requests[GPU]} if GPU in requests else {}  # the API wants both
    return {"requests": requests} | ({"limits": limits} if limits else {})


def _toleration(random: Random) -> Part:
    found: Part = {"operator": "Exists"} if chance(random, 50) else {}
    if not found or chance(random, 85):
        found["key"] = random.choice("kl")
    if not found.get("operator") and chance(random, 70):
        found["value"] = random.choice("vw")
    return found | ({"effect": random.choice(EFFECTS)} if chance(random, 40) else {})


def _affinity(random: Random, features: Collection[str]) -> Part:
    found: Part = {}
    if "affinity" in features or ("selector" in features and chance(random, 15)):
        node: Part = {}
        if chance(random, 60):
            terms = [_node_term(random) for _ in range(random.choice((1, 1, 2)))]
            node["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
        if chance(random, 50):
            terms = [{"weight": random.choice((1, 2, 3)), "preference": _node_term(random)} for _ in range(2)]
            node["preferredDuringSchedulingIgnoredDuringExecution"] = terms[: random.randint(1, 2)]
        found |= {"nodeAffinity": node} if node else {}
    if ("apart" in features and chance(random, 20)) or ("fits" in features and chance(random, 6)):
        found["podAntiAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": [_apart(random)]}
    return found


def _node_term(random: Random) -> Part:
    if chance(random, 15):
        return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [f"n{random.randrange(3)}"]}]}
    operator = random.choice(("In", "In", "NotIn", "Exists", "DoesNotExist"))
    one: Part = {"key": LABEL, "operator": operator}
    return {"matchExpressions": [one | ({"values": [random.choice("ab")]} if operator in ("In", "NotIn") else {})]}


def _apart(random: Random) -> Part:
    """A required anti-affinity term over pods, which NodeFit of the newest versions looks at."""
    key = random.choice((LABEL, ZONE, HOSTNAME))
    found: Part = {"topologyKey": key, "labelSelector": selector(random)}
    return found | ({"namespaces": [random.choice(NAMESPACES)]} if chance(random, 20) else {})


def _spread(random: Random) -> list[Part]:
    found = {}
    for _ in range(random.choice((1, 1, 1, 2))):
        constraint: Part = {
            "maxSkew": random.choice((1, 1, 1, 2, 3)),
            "topologyKey": random.choice((ZONE, ZONE, HOSTNAME, LABEL)),
            "whenUnsatisfiable": "DoNotSchedule" if chance(random, 75) else "ScheduleAnyway",
        }
        if not chance(random, 3):
            constraint["labelSelector"] = selector(random)
            if chance(random, 10) and "'v'" not in str(constraint["labelSelector"]):  # the API refuses a key of both
                constraint["matchLabelKeys"] = ["v"]
        for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            if chance(random, 15):
                constraint[field] = random.choice(("Honor", "Ignore"))
        found[constraint["topologyKey"], constraint["whenUnsatisfiable"]] = constraint
    return list(found.values())


def selector(random: Random) -> Part:
    """A label selector over the pods' labels, mostly one that many match."""
    draw = random.randrange(100)
    if draw < 6:
        return {}
    if draw < 80:
        return {"matchLabels": {"app": "a" if draw < 70 else "b"}}
    if draw < 90:
        return {"matchLabels": {"app": "a", "v": "1"}}
    return {"matchExpressions": [{"key": "v", "operator": random.choice(("Exists", "DoesNotExist"))}]}
