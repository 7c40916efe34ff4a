"""Clusters with a descheduler policy, one generator for each plugin, biased to thresholds, ties and limits.

A case is `{"nodes", "workloads", "pods", "profiles", "policy"}`: nodes as the API has them; workloads with their pod
template; pods in groups of equals, `[workload, node or -1, count, state, restarts, age]` (state is made of t:
terminating, f: failed; the last three may be absent); a profile as a list of `[plugin, arguments]`; the other fields of
the policy.
The descheduler refuses fields that it does not know: `older` and `newer` hold what only 0.27 or only 0.36 accepts, by plugin,
and fields of the policy itself under `policy`.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from tests.conformance.corpus import Case
from tests.conformance.inputs import descheduler_templates as templates
from tests.conformance.inputs import descheduler_thresholds as thresholds
from tests.conformance.inputs.descheduler_templates import NAMESPACES, Part
from tests.conformance.inputs.placement import chance

EVICTOR = "DefaultEvictor"
OLD_S = 1_000_000  # age of pods for which a group says nothing
KINDS = ("ReplicaSet",) * 10 + ("StatefulSet", "DaemonSet", "Pod")
AGES_S: tuple[int | None, ...] = (None, 0, 9, 10, 11, 60)
LIMITS = ("maxNoOfPodsToEvictPerNode", "maxNoOfPodsToEvictPerNamespace", "maxNoOfPodsToEvictTotal")

SCOPES = ("namespaces", "labelSelector", "evictableNamespaces", "numberOfNodes")
OLDER = frozenset({"includeSoftConstraints"})
NEWER = frozenset(
    {"maxNoOfPodsToEvictTotal", "minReplicas", "minPodAge", "podProtections", "evictDaemonSetPods", "includedTaints"}
    | {"constraints", "topologyBalanceNodeFit", "evictionLimits", "evictionModes"}
)

Arguments = Callable[[Random, Part], Part]  # of a plugin, for a cluster


class Shape:
    """How large and how varied the clusters of a corpus are."""

    def __init__(
        self, features: str, *, nodes: int = 4, workloads: int = 3, most: int = 3, empty: int = 45, light: int = 30
    ) -> None:
        self.features = frozenset(features.split())
        self.nodes = nodes
        self.workloads = workloads
        self.most = most  # pods of a workload on a node
        self.empty = empty  # how many of a hundred nodes have no pod of a workload
        self.light = light  # with `skewed`: how many of a hundred nodes that should have few pods have one


def cluster(random: Random, shape: Shape) -> dict[str, Any]:
    """Nodes, workloads and pods."""
    nodes = [templates.node(random, number, shape.features) for number in range(_size(random, shape))]
    workloads = [_workload(random, name, shape) for name in "xyz"[: random.randint(1, shape.workloads)]]
    pods = [
        group for index, owner in enumerate(workloads) for group in _groups(random, index, owner, len(nodes), shape)
    ]
    pods = pods or [_group(random, 0, 0, 1, shape)]
    return {"nodes": nodes, "workloads": workloads, "pods": pods}


def _size(random: Random, shape: Shape) -> int:
    """Number of nodes, rather more than fewer."""
    return max(random.randint(2, shape.nodes), random.randint(2, shape.nodes))


def _workload(random: Random, name: str, shape: Shape) -> Part:
    return {
        "kind": random.choice(KINDS) if name != "x" else "ReplicaSet",
        "name": name,
        "namespace": random.choice(NAMESPACES),
        "template": templates.template(random, shape.features),
    }


def _groups(random: Random, index: int, owner: Part, nodes: int, shape: Shape) -> list[list[Any]]:
    if owner["kind"] == "Pod":
        return [_group(random, index, random.randrange(nodes), 1, shape)]
    found = []
    for node in range(nodes):
        is_light = "skewed" in shape.features and node % 2 == 0
        while chance(random, shape.light if is_light else 100 - shape.empty):
            found.append(_group(random, index, node, random.randint(1, 1 if is_light else shape.most), shape))
            if "mixed" not in shape.features or chance(random, 60):
                break
    if chance(random, 5):
        found.append([index, -1, random.randint(1, 2)])
    return found


def _group(random: Random, index: int, node: int, count: int, shape: Shape) -> list[Any]:
    state = random.choice(("t", "f", "tf")) if "states" in shape.features and chance(random, 15) else ""
    restarts = random.choice((0, 1, 2, 3, 4)) if "restarts" in shape.features else 0
    age = random.choice(AGES_S) if "ages" in shape.features else OLD_S
    group: list[Any] = [index, node, count, state, restarts, age]
    for default in (OLD_S, 0, ""):
        if group[-1] != default:
            break
        group.pop()
    return group


# Policies


def policy(random: Random, percent: int) -> Part:
    """Limits, and rarely a node selector."""
    found: Part = {}
    for name in LIMITS:
        if chance(random, percent):
            found[name] = random.choice((0, 1, 1, 1, 2, 2, 2, 3, 4, 5))
    if chance(random, 5):
        found["nodeSelector"] = random.choice(templates.NODE_SELECTORS)
    return found


def evictor(random: Random) -> Part:
    """Arguments of DefaultEvictor, each mostly absent."""
    found: Part = {}
    if chance(random, 30):
        found["nodeFit"] = True
        if chance(random, 15):
            found["nodeSelector"] = random.choice(templates.NODE_SELECTORS)
    if chance(random, 8):
        found["labelSelector"] = templates.selector(random)
    if chance(random, 6):
        found["priorityThreshold"] = {"value": random.choice((-5, 0, 1, 1000))}
    if chance(random, 12):
        found["minReplicas"] = random.randint(1, 4)
    if chance(random, 6):
        found["minPodAge"] = random.choice(("10s", "0s", "1m"))
    return found | _protections(random)


def _protections(random: Random) -> Part:
    if chance(random, 6):
        names = ("FailedBarePods", "DaemonSetPods", "SystemCriticalPods", "PodsWithLocalStorage")
        return {"podProtections": {"defaultDisabled": random.sample(names, random.randint(1, 2))}}
    flags = ("evictFailedBarePods", "evictDaemonSetPods", "evictSystemCriticalPods", "evictLocalStoragePods")
    return {flag: True for flag in flags if chance(random, 10)}


def _scope(random: Random) -> Part:
    """Namespaces of a plugin, mostly all."""
    if chance(random, 85):
        return {}
    return {"namespaces": {random.choice(("include", "exclude")): [random.choice(NAMESPACES)]}}


def _labels(random: Random) -> Part:
    return {"labelSelector": templates.selector(random)} if chance(random, 12) else {}


def generator(plugin: str, shape: Shape, arguments: Arguments, *, limited: int = 15) -> Callable[[Random], Case]:
    """The generator of a plugin's cases; `limited` of a hundred policies have each of the limits."""

    def generate(random: Random) -> Case:
        case = cluster(random, shape)
        older: Part = {}
        newer: Part = {}
        own, protecting = arguments(random, case), evictor(random)
        if chance(random, 60):  # too many restrictions at once, and hardly a pod is ever evicted
            own = {name: value for name, value in own.items() if name not in SCOPES}
            protecting = {name: value for name, value in protecting.items() if name == "nodeFit"}
        own, protecting = _split(plugin, own, older, newer), _split(EVICTOR, protecting, older, newer)
        case["profiles"] = [[*([[EVICTOR, protecting]] if protecting or EVICTOR in newer else []), [plugin, own]]]
        case |= {"policy": _split("policy", policy(random, limited), older, newer), "older": older, "newer": newer}
        return {key: value for key, value in case.items() if value}

    return generate


def _split(plugin: str, arguments: Part, older: Part, newer: Part) -> Part:
    """The arguments that all versions know; the others are put where they belong."""
    special = arguments.pop("newer", {}) | {name: value for name, value in arguments.items() if name in NEWER}
    old = {name: value for name, value in arguments.items() if name in OLDER}
    newer |= {plugin: special} if special else {}
    older |= {plugin: old} if old else {}
    return {name: value for name, value in arguments.items() if name not in NEWER | OLDER}


# Arguments of the plugins


def _duplicates(random: Random, _: Part) -> Part:
    kinds = {"excludeOwnerKinds": [random.choice(("ReplicaSet", "StatefulSet"))]} if chance(random, 10) else {}
    return _scope(random) | kinds


def _taints(random: Random, _: Part) -> Part:
    found = _scope(random) | _labels(random)
    if chance(random, 40):
        found["includePreferNoSchedule"] = True
    if chance(random, 60):  # not both
        name = random.choice(("excludedTaints", "includedTaints"))
        found[name] = random.sample(("k", "l", "k=v", "l=w"), random.randint(0, 2))
    return found


def _affinity(random: Random, _: Part) -> Part:
    required, preferred = (f"{name}DuringSchedulingIgnoredDuringExecution" for name in ("required", "preferred"))
    types = random.choice(
        ([required],) * 4 + ([preferred], [required, preferred], [preferred, required], ["x", required])
    )
    return {"nodeAffinityType": types} | _scope(random) | _labels(random)


def _restarts(random: Random, _: Part) -> Part:
    found = {"podRestartThreshold": random.randint(1, 4)} | _scope(random) | _labels(random)
    return found | ({"includingInitContainers": True} if chance(random, 20) else {})


def _life_time(random: Random, _: Part) -> Part:
    found = {"maxPodLifeTimeSeconds": random.choice((0, 9, 10, 60))} | _scope(random) | _labels(random)
    if chance(random, 15):
        found["states"] = ["Running"]
    elif chance(random, 15):
        found["newer"] = {"states": random.choice((["Failed"], ["Running", "Failed"]))}
    return found


def _spread(random: Random, _: Part) -> Part:
    found = _scope(random) | _labels(random)
    if chance(random, 40):
        found |= {"includeSoftConstraints": True}
    if chance(random, 50):
        both = ["DoNotSchedule", "ScheduleAnyway"]
        found["constraints"] = random.choice((["ScheduleAnyway"], both, both, []))
    if chance(random, 30):
        found["topologyBalanceNodeFit"] = chance(random, 30)
    return found


def _low(random: Random, case: Part) -> Part:
    limits = {"evictionLimits": {"node": random.randint(0, 2)}} if chance(random, 12) else {}
    return _utilization(random) | thresholds.low_and_high(random, case) | limits


def _high(random: Random, case: Part) -> Part:
    modes = {"evictionModes": ["OnlyThresholdingResources"]} if chance(random, 25) else {}
    return _utilization(random) | {"thresholds": thresholds.low_ones(random, case)} | modes


def _utilization(random: Random) -> Part:
    found: Part = {}
    if chance(random, 15):
        found["numberOfNodes"] = random.randint(0, 2)
    if chance(random, 15):
        found["evictableNamespaces"] = {"exclude": [random.choice(NAMESPACES)]}
    return found


_COMMON = "states fits"
_SIZES = Shape(f"{_COMMON} resources taints cordons unready skewed", workloads=2, most=4, empty=20, light=55)

GENERATORS: dict[str, Callable[[Random], Case]] = {
    "RemoveDuplicates": generator(
        "RemoveDuplicates", Shape(f"{_COMMON} taints labels selector unready", most=4), _duplicates
    ),
    "RemovePodsViolatingNodeTaints": generator(
        "RemovePodsViolatingNodeTaints", Shape(f"{_COMMON} taints tainted cordons unready"), _taints
    ),
    "RemovePodsViolatingNodeAffinity": generator(
        "RemovePodsViolatingNodeAffinity",
        Shape(f"{_COMMON} labels labelled selector affinity apart taints cordons unready"),
        _affinity,
    ),
    "RemovePodsHavingTooManyRestarts": generator(
        "RemovePodsHavingTooManyRestarts",
        Shape(f"{_COMMON} restarts mixed unready", workloads=2),
        _restarts,
        limited=25,
    ),
    "PodLifeTime": generator(
        "PodLifeTime", Shape(f"{_COMMON} ages mixed unready", workloads=2), _life_time, limited=25
    ),
    "RemovePodsViolatingTopologySpreadConstraint": generator(
        "RemovePodsViolatingTopologySpreadConstraint",
        Shape(
            f"{_COMMON} zones spread labels selector taints cordons unready skewed",
            nodes=5,
            workloads=2,
            most=5,
            empty=20,
        ),
        _spread,
        limited=8,
    ),
    "LowNodeUtilization": generator("LowNodeUtilization", _SIZES, _low, limited=10),
    "HighNodeUtilization": generator("HighNodeUtilization", _SIZES, _high, limited=10),
}
