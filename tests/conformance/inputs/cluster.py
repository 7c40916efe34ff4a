"""Random nodes and pods as the API has them, valid and biased to corner cases.

What a pod or a node may have is a set of feature names, so that a case can dwell on a few rules at once:
`nodes(random, 1, 4, features)`, `pod(random, "p1", features)`. Names are short and values come from small
vocabularies: cases meet each other often, and their recordings compress well.
"""

from __future__ import annotations

from collections.abc import Collection
from random import Random
from typing import Any

from tests.conformance.inputs import placement
from tests.conformance.inputs.placement import HOSTNAME, ZONE, chance, labels

Object = dict[str, Any]  # a Kubernetes object or a part of one

# Features of nodes: taints cordons labels gaps (labels that nodes lack). Of pods: the others. Of both: resources,
# extended (resources), full (nodes with little room).
FEATURES = frozenset(
    {"resources", "extended", "full", "init", "sidecars", "overhead", "limits", "terminating", "namespaces"}
    | {"taints", "cordons", "labels", "gaps", "selector", "affinity", "pinned", "spread", "policies", "near", "apart"}
)
NODE_CPU = ("2", "4", "1500m", "3900m")
NODE_MEMORY = ("2Gi", "4Gi", "3000Mi", "1G")
POD_CPU = ("0", "50m", "100m", "250m", "333m", "0.5", "1", "0.0005")
POD_MEMORY = ("0", "128Mi", "200Mi", "256Mi", "500M", "1Gi", "1")
EXTENDED = ("example.com/gpu", "example.com/fpga")
EPHEMERAL = "ephemeral-storage"
DELETED = "2020-01-01T00:00:00Z"


def nodes(random: Random, least: int = 1, most: int = 5, features: Collection[str] = FEATURES) -> list[Object]:
    """Some nodes, named n1, n2 …"""
    return [node(random, f"n{number}", features) for number in range(1, random.randint(least, most) + 1)]


def node(random: Random, name: str, features: Collection[str] = FEATURES) -> Object:
    """A node; features: resources, extended, full, taints, cordons, labels, gaps."""
    spec: Object = {}
    if "taints" in features and chance(random, 45):
        spec["taints"] = placement.taints(random)
    if "cordons" in features and chance(random, 20):
        spec["unschedulable"] = True
    found: Object = {"metadata": {"name": name, "labels": _node_labels(random, name, features)}}
    if spec:
        found["spec"] = spec
    found["status"] = {"allocatable": allocatable(random, features)}
    return found


def _node_labels(random: Random, name: str, features: Collection[str]) -> dict[str, str]:
    gaps = 10 if "gaps" in features else 0
    found = {}
    if not chance(random, gaps):
        found[HOSTNAME] = "n1" if chance(random, gaps // 5) else name  # a label may repeat another's
    if not chance(random, gaps):
        found[ZONE] = random.choice(placement.ZONES)
    if "labels" in features:
        found |= labels(random, placement.NODE_LABELS, most=2)
    return found


def allocatable(random: Random, features: Collection[str] = FEATURES) -> dict[str, str]:
    """What a node offers; without `resources` plenty of everything."""
    if "resources" not in features:
        return {"cpu": "8", "memory": "16Gi", "pods": "110"}
    amounts = {"cpu": random.choice(NODE_CPU), "memory": random.choice(NODE_MEMORY), "pods": "110"}
    if "full" in features:
        amounts["pods"] = random.choice(("0", "1", "2", "3", "110", "110"))
        if chance(random, 10):
            amounts["cpu"] = "0"
    if "extended" in features:
        amounts |= {name: str(random.randint(0, 3)) for name in EXTENDED if chance(random, 60)}
        if chance(random, 40):
            amounts[EPHEMERAL] = random.choice(("0", "1Gi", "10G"))
    return amounts


def pod(
    random: Random,
    name: str,
    features: Collection[str] = FEATURES,
    *,
    node: str | None = None,
    namespace: str | None = None,
) -> Object:
    """A pod, bound if a node is given, which may then be terminating; features: all that are not of nodes only."""
    where = namespace or (random.choice(placement.NAMESPACES) if "namespaces" in features else "s")
    metadata: Object = {"name": name, "namespace": where, "labels": placement.pod_labels(random)}
    if node is not None and "terminating" in features and chance(random, 15):
        metadata |= {"deletionTimestamp": DELETED, "deletionGracePeriodSeconds": 30}
    spec: Object = {"containers": containers(random, features)}
    inits = init_containers(random, features)
    if inits:
        spec["initContainers"] = inits
    if "overhead" in features and chance(random, 50):
        spec["overhead"] = amounts(random, features)
    spec |= placement.placement(random, features)
    if node is not None:
        spec["nodeName"] = node
    return {"metadata": metadata, "spec": spec}


def containers(random: Random, features: Collection[str] = FEATURES) -> list[Object]:
    """One to three containers, mostly one."""
    number = random.choice((1, 1, 1, 2, 3)) if "resources" in features else 1
    return [_container(random, f"c{index}", features) for index in range(number)]


def init_containers(random: Random, features: Collection[str] = FEATURES) -> list[Object]:
    """Init containers, some of them sidecars."""
    if "init" not in features or chance(random, 40):
        return []
    found = [_container(random, f"i{index}", features) for index in range(random.randint(1, 3))]
    for container in found:
        if "sidecars" in features and chance(random, 50):
            container["restartPolicy"] = "Always"
    return found


def _container(random: Random, name: str, features: Collection[str]) -> Object:
    requests = amounts(random, features)
    if not requests:
        return {"name": name}
    extended = {key: requests[key] for key in EXTENDED if key in requests}
    if "limits" in features and chance(random, 40):  # requests follow the limits
        return {"name": name, "resources": {"limits": requests}}
    resources: Object = {"requests": requests}
    if extended:  # the API wants both
        resources["limits"] = extended
    return {"name": name, "resources": resources}


def amounts(random: Random, features: Collection[str] = FEATURES) -> dict[str, str]:
    """Requests of a container; any of them may be absent or zero."""
    found: dict[str, str] = {}
    if "resources" not in features:
        return found
    if chance(random, 75):
        found["cpu"] = random.choice(POD_CPU)
    if chance(random, 75):
        found["memory"] = random.choice(POD_MEMORY)
    if "extended" in features:
        found |= {name: str(random.randint(0, 2)) for name in EXTENDED if chance(random, 30)}
        if chance(random, 20):
            found[EPHEMERAL] = random.choice(("0", "500M", "1Gi"))
    return found
