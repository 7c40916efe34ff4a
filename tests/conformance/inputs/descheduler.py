"""Clusters with a descheduler policy, one generator for each plugin, biased to thresholds, ties and limits.

A case is `{"nodes", "workloads", "pods", "profiles", "policy"}`: nodes as the API has them; workloads with their pod
template; pods in groups of equals, `[workload, node or -1, count, state, restarts, age]` (state is made of t:
terminating, f: failed; the last three may be absent); a profile as a list of `[plugin, arguments]`; the other fields
of the policy. The descheduler refuses fields that it does not know: `older` and `newer` hold what only 0.27 or only
0.36 accepts, by plugin, and fields of the policy itself under `policy`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from random import Random
from typing import Any

from tests.conformance.corpus import Case
from tests.conformance.inputs import descheduler_templates as templates
from tests.conformance.inputs.descheduler_policies import ARGUMENTS, Arguments, evictor, policy
from tests.conformance.inputs.descheduler_templates import NAMESPACES, Part
from tests.conformance.inputs.placement import chance

EVICTOR = "DefaultEvictor"
OLD_S = 1_000_000  # age of pods for which a group says nothing
KINDS = ("ReplicaSet",) * 10 + ("StatefulSet", "DaemonSet", "Pod")
AGES_S: tuple[int | None, ...] = (None, 0, 9, 10, 11, 60)

SCOPES = ("namespaces", "labelSelector", "evictableNamespaces", "numberOfNodes")
OLDER = frozenset({"includeSoftConstraints"})
NEWER = frozenset(
    {"maxNoOfPodsToEvictTotal", "minReplicas", "minPodAge", "podProtections", "evictDaemonSetPods", "includedTaints"}
    | {"constraints", "topologyBalanceNodeFit", "evictionLimits", "evictionModes"}
)


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


def generator(plugin: str, shape: Shape, arguments: Arguments, *, limited: int = 15) -> Callable[[Random], Case]:
    """The generator of a plugin's cases; `limited` of a hundred policies have each of the limits."""

    def generate(random: Random) -> Case:
        return _case(random, shape, [{plugin: arguments}], limited)

    return generate


def whole_cycle(random: Random) -> Case:
    """Several plugins in one or two profiles: their order, and what earlier evictions mean to later ones."""
    names = random.sample(sorted(ARGUMENTS), random.choice((2, 2, 3)))
    first = random.choice((1, len(names), len(names)))
    profiles = [{name: ARGUMENTS[name] for name in own} for own in (names[:first], names[first:]) if own]
    return _case(random, _EVERYTHING, profiles, 12)


def _case(random: Random, shape: Shape, profiles: list[dict[str, Arguments]], limited: int) -> Case:
    case = cluster(random, shape)
    older: Part = {}
    newer: Part = {}
    case["profiles"] = []
    for plugins in profiles:
        case["profiles"].append(_profile(random, case, plugins, older, newer))
    case |= {"policy": _split("policy", policy(random, limited), older, newer), "older": older, "newer": newer}
    return {key: value for key, value in case.items() if value}


def _profile(random: Random, case: Part, plugins: dict[str, Arguments], older: Part, newer: Part) -> list[list[Any]]:
    """A profile's plugins; too many restrictions at once, and hardly a pod would ever be evicted.

    What only one version accepts is the same for all profiles, so only the first says more than nodeFit.
    """
    is_open = chance(random, 60)
    own, protecting = {name: arguments(random, case) for name, arguments in plugins.items()}, evictor(random)
    if is_open:
        own = {name: _without(arguments, SCOPES) for name, arguments in own.items()}
    if is_open or case["profiles"]:
        protecting = {name: value for name, value in protecting.items() if name == "nodeFit"}
    shared = _split(EVICTOR, protecting, older, newer)
    listed = [[name, _split(name, arguments, older, newer)] for name, arguments in own.items()]
    return [[EVICTOR, shared], *listed] if shared or EVICTOR in newer else listed


def _without(arguments: Part, names: Collection[str]) -> Part:
    return {name: value for name, value in arguments.items() if name not in names}


def _split(plugin: str, arguments: Part, older: Part, newer: Part) -> Part:
    """The arguments that all versions know; the others are put where they belong."""
    special = arguments.pop("newer", {}) | {name: value for name, value in arguments.items() if name in NEWER}
    old = {name: value for name, value in arguments.items() if name in OLDER}
    newer |= {plugin: special} if special else {}
    older |= {plugin: old} if old else {}
    return _without(arguments, NEWER | OLDER)


_SIZES = Shape("states fits resources taints cordons unready skewed", workloads=2, most=4, empty=20, light=55)
_EVERYTHING = Shape(
    "states fits labels selector affinity zones spread taints restarts ages unready", nodes=3, workloads=2, empty=25
)

SHAPES: dict[str, tuple[Shape, int]] = {  # and how many of a hundred policies have each of the limits
    "RemoveDuplicates": (Shape("states fits taints labels selector unready", most=4), 15),
    "RemovePodsViolatingNodeTaints": (Shape("states fits taints tainted cordons unready"), 15),
    "RemovePodsViolatingNodeAffinity": (
        Shape("states fits labels labelled selector affinity apart taints cordons unready"),
        15,
    ),
    "RemovePodsHavingTooManyRestarts": (Shape("states fits restarts mixed unready", workloads=2), 25),
    "PodLifeTime": (Shape("states fits ages mixed unready", workloads=2), 25),
    "RemovePodsViolatingTopologySpreadConstraint": (
        Shape(
            "states fits zones spread labels selector taints cordons unready skewed",
            nodes=5,
            workloads=2,
            most=5,
            empty=20,
        ),
        8,
    ),
    "LowNodeUtilization": (_SIZES, 10),
    "HighNodeUtilization": (_SIZES, 10),
}
GENERATORS: dict[str, Callable[[Random], Case]] = {
    **{name: generator(name, shape, ARGUMENTS[name], limited=limited) for name, (shape, limited) in SHAPES.items()},
    "cycle": whole_cycle,
}
