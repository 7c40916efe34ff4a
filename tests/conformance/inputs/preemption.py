"""Random pods that fit nowhere, among pods of other priorities under disruption budgets."""

from __future__ import annotations

from random import Random

from tests.conformance.inputs import cluster, placement
from tests.conformance.inputs.cluster import Object
from tests.conformance.inputs.placement import chance

PRIORITIES = (-5, 0, 0, 10, 10, 100)
THEMES: tuple[frozenset[str], ...] = (
    frozenset(),
    frozenset({"taints", "cordons"}),
    frozenset({"apart"}),
    frozenset({"spread"}),
    frozenset({"terminating"}),
)


def preemption(random: Random) -> Object:
    """A pod with a priority, nodes that others fill, and disruption budgets for some of them."""
    features = random.choice(THEMES)
    nodes = cluster.nodes(random, 1, 4, features - {"resources"})
    for node in nodes:
        node["status"]["allocatable"] = {"cpu": random.choice("123"), "memory": "4Gi", "pods": random.choice("1246")}
    pods = [pod for node in nodes for pod in _fill(random, node, features)]
    case = {"nodes": nodes, "pods": pods, "pod": _preemptor(random, features)}
    if chance(random, 60):
        case["budgets"] = [_budget(random, f"b{number}") for number in range(random.randint(1, 2))]
    return case


def _preemptor(random: Random, features: frozenset[str]) -> Object:
    """The pod: needs half a node or more, mostly with a priority above the others."""
    pod = cluster.pod(random, "p", features)
    pod["spec"]["containers"] = [_container(random.choice(("0.5", "1", "2", "2500m")))]
    pod["spec"]["priority"] = random.choice((0, 10, 100, 100, 1000, 1000))
    if chance(random, 4):
        pod["spec"]["preemptionPolicy"] = "Never"
    return pod


def _fill(random: Random, node: Object, features: frozenset[str]) -> list[Object]:
    """Pods that use the node up, in cores or in number."""
    name, offered = node["metadata"]["name"], node["status"]["allocatable"]
    free = int(offered["cpu"]) * 1000
    found: list[Object] = []
    # Pods of one node start one after another: among equally important ones upstream's order has no meaning.
    started = random.sample(range(6), 6)
    while free > 0 and len(found) < int(offered["pods"]):
        pod = cluster.pod(random, f"{name}-{len(found)}", features, node=name)
        cpu = random.choice((250, 500, 1000))
        pod["spec"]["containers"] = [_container(f"{min(cpu, free)}m")]
        pod["spec"]["priority"] = random.choice(PRIORITIES)
        pod["status"] = {"phase": "Running", "startTime": f"2020-01-01T00:00:0{started[len(found)]}Z"}
        found.append(pod)
        free -= cpu
    return found


def _container(cpu: str) -> Object:
    return {"name": "c", "resources": {"requests": {"cpu": cpu}}}


def _budget(random: Random, name: str) -> Object:
    """A budget as the disruption controller has left it."""
    selector = {"matchLabels": placement.labels(random, placement.POD_LABELS, most=2)}
    status = {"disruptionsAllowed": random.choice((0, 0, 1, 2))}
    return {"metadata": {"name": name, "namespace": "s"}, "spec": {"selector": selector}, "status": status}
