"""Random manifests about the network, and what NetworkPolicies mean for one connection, straight from the documents."""

from __future__ import annotations

from random import Random
from typing import Any

PORTS = (80, 81, 82, 443)
NAMESPACES = {"shop": {"team": "shop"}, "ops": {"team": "ops", "env": "prod"}}
Object = dict[str, Any]


def random_manifests(random: Random) -> list[Object]:
    """Two namespaces, up to five workloads, up to four policies."""
    namespaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
        for name, labels in NAMESPACES.items()
    ]
    pods = [random_pod(random, number) for number in range(random.randint(2, 5))]
    return [*namespaces, *pods, *(random_policy(random, number) for number in range(random.randint(0, 4)))]


def random_pod(random: Random, number: int) -> Object:
    labels = {key: random.choice(("a", "b")) for key in ("app", "tier") if random.random() < 0.7}
    ports = [{"name": "web", "containerPort": random.choice(PORTS)}] if random.random() < 0.6 else []
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"pod-{number}", "namespace": random.choice(list(NAMESPACES)), "labels": labels},
        "spec": {"containers": [{"name": "c", "image": "c", "ports": ports}]},
    }


def random_selector(random: Random, keys: tuple[str, ...]) -> Object:
    if random.random() < 0.25:
        return {}
    if random.random() < 0.5:
        return {"matchLabels": {random.choice(keys): random.choice(("a", "b", "shop", "ops"))}}
    operator = random.choice(("In", "NotIn", "Exists", "DoesNotExist"))
    values = {"values": random.sample(("a", "b", "shop", "ops"), 2)} if operator in ("In", "NotIn") else {}
    return {"matchExpressions": [{"key": random.choice(keys), "operator": operator, **values}]}


def random_peer(random: Random) -> Object:
    peer = {}
    if random.random() < 0.5:
        peer["namespaceSelector"] = random_selector(random, ("team", "env"))
    if random.random() < 0.6 or not peer:
        peer["podSelector"] = random_selector(random, ("app", "tier"))
    return peer


def random_port(random: Random) -> Object:
    kind = random.randrange(4)
    protocol = {"protocol": random.choice(("TCP", "UDP"))} if random.random() < 0.4 else {}
    if kind == 0:
        return {**protocol, "port": "web"}
    if kind == 1:
        return {**protocol, "port": 80, "endPort": random.choice((80, 81, 82))}
    return {**protocol, "port": random.choice(PORTS)} if kind == 2 else protocol or {"protocol": "TCP"}


def random_rule(random: Random, key: str) -> Object:
    rule: Object = {}
    if random.random() < 0.8:
        rule[key] = [random_peer(random) for _ in range(random.choice((0, 1, 1, 2)))]
    if random.random() < 0.6:
        rule["ports"] = [random_port(random) for _ in range(random.choice((0, 1, 1, 2)))]
    return rule


def random_policy(random: Random, number: int) -> Object:
    spec: Object = {"podSelector": random_selector(random, ("app", "tier"))}
    if random.random() < 0.6:
        spec["policyTypes"] = random.choice((["Ingress"], ["Egress"], ["Ingress", "Egress"]))
    for direction, key in (("ingress", "from"), ("egress", "to")):
        if random.random() < 0.6:
            spec[direction] = [random_rule(random, key) for _ in range(random.choice((0, 1, 2)))]
    metadata = {"name": f"policy-{number}", "namespace": random.choice(list(NAMESPACES))}
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata, "spec": spec}


# The meaning, one connection at a time


def selected(selector: Object, labels: dict[str, str]) -> bool:
    if any(labels.get(key) != value for key, value in selector.get("matchLabels", {}).items()):
        return False
    for one in selector.get("matchExpressions", ()):
        value = labels.get(one["key"])
        answer = {
            "In": value in one.get("values", ()),
            "NotIn": value not in one.get("values", ()),
            "Exists": value is not None,
            "DoesNotExist": value is None,
        }[one["operator"]]
        if not answer:
            return False
    return True


def may_connect(objects: list[Object], source: Object, target: Object, protocol: str, port: int) -> bool:
    """True if a connection is allowed by the egress of its source and the ingress of its target."""
    return passes(objects, source, target, target, "Egress", protocol, port) and passes(
        objects, target, source, target, "Ingress", protocol, port
    )


def passes(
    objects: list[Object], pod: Object, other: Object, target: Object, direction: str, protocol: str, port: int
) -> bool:
    rules = []
    is_isolated = False
    for policy in (one for one in objects if one["kind"] == "NetworkPolicy"):
        spec = policy["spec"]
        types = spec.get("policyTypes") or ["Ingress", *(["Egress"] if spec.get("egress") else [])]
        in_namespace = policy["metadata"]["namespace"] == pod["metadata"]["namespace"]
        if in_namespace and direction in types and selected(spec["podSelector"], pod["metadata"]["labels"]):
            is_isolated = True
            rules += [(policy, rule) for rule in spec.get(direction.lower(), ())]
    return not is_isolated or any(
        admits_peer(rule.get("from" if direction == "Ingress" else "to"), policy, other)
        and admits_port(rule.get("ports"), target, protocol, port)
        for policy, rule in rules
    )


def admits_peer(peers: list[Object] | None, policy: Object, other: Object) -> bool:
    if not peers:
        return True
    namespace = other["metadata"]["namespace"]
    labels = {**NAMESPACES[namespace], "kubernetes.io/metadata.name": namespace}
    for peer in peers:
        if "namespaceSelector" in peer:
            is_there = selected(peer["namespaceSelector"], labels)
        else:
            is_there = namespace == policy["metadata"]["namespace"]
        if is_there and selected(peer.get("podSelector", {}), other["metadata"]["labels"]):
            return True
    return False


def admits_port(ports: list[Object] | None, target: Object, protocol: str, port: int) -> bool:
    if not ports:
        return True
    declared = [one["containerPort"] for one in target["spec"]["containers"][0]["ports"] if one["name"] == "web"]
    for one in ports:
        if one.get("protocol", "TCP") != protocol:
            continue
        wanted = one.get("port")
        if wanted is None:
            return True
        if wanted == "web":
            if protocol == "TCP" and port in declared:
                return True
        elif wanted <= port <= one.get("endPort", wanted):
            return True
    return False
