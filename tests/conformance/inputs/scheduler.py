"""Random scheduling decisions: a cluster with pods in it, a pod to be scheduled, a profile."""

from __future__ import annotations

from random import Random

from tests.conformance.inputs import cluster, placement
from tests.conformance.inputs.cluster import Object
from tests.conformance.inputs.placement import chance
from tests.conformance.inputs.profiles import profile

# What a case dwells on; one or two of them are joined.
THEMES = (
    ("resources", "limits", "extended", "full"),
    ("resources", "init", "sidecars", "overhead"),
    ("resources", "full", "terminating"),
    ("taints", "cordons"),
    ("labels", "selector", "affinity", "gaps"),
    ("labels", "affinity", "pinned"),
    ("spread", "gaps", "terminating"),
    ("spread", "policies", "terminating"),
    ("spread", "policies", "labels", "selector", "taints"),
    ("spread", "policies", "taints"),
    ("near", "apart", "gaps", "terminating"),
    ("near", "apart", "namespaces"),
)


def decision(random: Random) -> Object:
    """One pod to be scheduled."""
    features = _features(random)
    case = _cluster(random, features)
    case["pod"] = _incoming(random, features, case)
    _fill(random, case, features, [case["pod"]])
    if chance(random, 30):
        case["profile"] = profile(random, features)
    return case


def sequence(random: Random) -> Object:
    """Three to eight pods to be scheduled one after another, mostly of the same kind."""
    features = _features(random) - {"terminating", "cordons"}
    case = _cluster(random, features)
    kinds = [_incoming(random, features, case) for _ in range(random.choice((1, 1, 2)))]
    case["queue"] = [_copy(random.choice(kinds), f"q{number}") for number in range(random.randint(3, 8))]
    if chance(random, 50):
        _fill(random, case, features, kinds)
    if chance(random, 20):
        case["profile"] = profile(random, features)
    return case


def _features(random: Random) -> frozenset[str]:
    return frozenset(feature for theme in random.sample(THEMES, random.choice((1, 2, 2))) for feature in theme)


def _cluster(random: Random, features: frozenset[str]) -> Object:
    """Nodes and namespaces."""
    case: Object = {"nodes": cluster.nodes(random, 1 if chance(random, 5) else 2, 5, features), "pods": []}
    if "namespaces" in features:
        case["namespaces"] = [
            {"metadata": {"name": name, "labels": placement.labels(random, placement.NAMESPACE_LABELS, most=1)}}
            for name in ("s", "t")
        ]
    return case


def _incoming(random: Random, features: frozenset[str], case: Object) -> Object:
    """The pod to be scheduled; perhaps of a ReplicaSet, whose selector default constraints use."""
    pod = cluster.pod(random, "p", features)
    if pod["metadata"]["labels"] and chance(random, 30):
        _own(random, pod, case)
    if chance(random, 3):
        pod["spec"]["nodeName"] = random.choice(placement.NODE_NAMES)
    return pod


def _own(random: Random, pod: Object, case: Object) -> None:
    """Makes the pod one of a ReplicaSet that selects some of its labels."""
    owners = case.setdefault("replicaSets", [])
    name, metadata = f"r{len(owners)}", pod["metadata"]
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "uid": name, "controller": True}
    metadata["ownerReferences"] = [reference]
    labels = sorted(metadata["labels"].items())
    selector = {"matchLabels": dict(random.sample(labels, random.randint(1, len(labels))))}
    owners.append({"metadata": {"name": name, "namespace": metadata["namespace"]}, "spec": {"selector": selector}})


def _fill(random: Random, case: Object, features: frozenset[str], kinds: list[Object]) -> None:
    """Binds some pods: of a few kinds, the incoming pod's among them, so that several are alike."""
    for _ in range(random.randint(0, 2)):
        kinds = [*kinds, cluster.pod(random, "p", features)]
    names = [node["metadata"]["name"] for node in case["nodes"]]
    placed = {"spread", "near", "apart"} & features
    for number in range(random.choice((2, 3, 4, 5, 7) if placed else (0, 1, 2, 3, 4))):
        bound = _copy(random.choice(kinds), f"e{number}")
        bound["spec"]["nodeName"] = random.choice(names)
        if "terminating" in features and chance(random, 20):
            bound["metadata"] |= {"deletionTimestamp": cluster.DELETED, "deletionGracePeriodSeconds": 30}
        case["pods"].append(bound)


def _copy(pod: Object, name: str) -> Object:
    return {"metadata": {**pod["metadata"], "name": name}, "spec": dict(pod["spec"])}
