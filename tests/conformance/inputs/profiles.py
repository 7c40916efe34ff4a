"""Random scheduler profiles, as a KubeSchedulerConfiguration has them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from random import Random
from typing import Any

from tests.conformance.inputs.placement import HOSTNAME, ZONE

Part = dict[str, Any]

RESOURCES = (
    [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}],
    [{"name": "cpu", "weight": 3}, {"name": "memory", "weight": 1}, {"name": "example.com/gpu", "weight": 5}],
    [{"name": "memory", "weight": 2}, {"name": "ephemeral-storage", "weight": 1}],
)
BALANCED = (
    ["cpu", "memory", "example.com/gpu"],
    ["cpu", "memory", "ephemeral-storage"],
    ["cpu"],
    ["memory", "example.com/fpga"],
)
SHAPES = (
    [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}],
    [{"utilization": 0, "score": 10}, {"utilization": 50, "score": 3}, {"utilization": 100, "score": 0}],
    [{"utilization": 30, "score": 0}, {"utilization": 70, "score": 9}],
)
SCORERS = (
    "TaintToleration",
    "NodeAffinity",
    "NodeResourcesFit",
    "PodTopologySpread",
    "InterPodAffinity",
    "NodeResourcesBalancedAllocation",
)
OFF = (*SCORERS, "NodeUnschedulable", "NodeName")


def profile(random: Random, features: Collection[str] = ()) -> Part:
    """A profile that differs from the default one in one thing, mostly one that matters to these features."""
    telling = [variant for feature in sorted(features) for variant in _TELLING.get(feature, ())]
    found = random.choice((*_VARIANTS, *telling * 4))(random)
    return {"schedulerName": "default-scheduler", **found}


def _arguments(plugin: str, arguments: Part) -> Part:
    return {"pluginConfig": [{"name": plugin, "args": arguments}]}


def _strategy(random: Random) -> Part:
    strategy: Part = {"type": random.choice(("LeastAllocated", "MostAllocated")), "resources": random.choice(RESOURCES)}
    return _arguments("NodeResourcesFit", {"scoringStrategy": strategy})


def _ratio(random: Random) -> Part:
    shape = {"shape": random.choice(SHAPES)}
    resources = random.choice(RESOURCES)
    strategy = {"type": "RequestedToCapacityRatio", "resources": resources, "requestedToCapacityRatio": shape}
    return _arguments("NodeResourcesFit", {"scoringStrategy": strategy})


def _balanced(random: Random) -> Part:
    names = random.choice(BALANCED)
    resources = [{"name": name, "weight": 1} for name in names]
    return _arguments("NodeResourcesBalancedAllocation", {"resources": resources})


def _added_affinity(random: Random) -> Part:
    term = random.choice(
        (
            {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]},
            {"matchExpressions": [{"key": ZONE, "operator": "NotIn", "values": ["a"]}]},
            {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n1"]}]},
        )
    )
    added: Part = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return _arguments("NodeAffinity", {"addedAffinity": added})


def _default_constraints(random: Random) -> Part:
    keys = random.choice(((ZONE,), (HOSTNAME,), (ZONE, HOSTNAME), ("disk",), ()))
    constraints = [
        {
            "maxSkew": random.randint(1, 2),
            "topologyKey": key,
            "whenUnsatisfiable": random.choice(("DoNotSchedule", "ScheduleAnyway")),
        }
        for key in keys
    ]
    return _arguments("PodTopologySpread", {"defaultConstraints": constraints, "defaultingType": "List"})


def _pod_affinity(random: Random) -> Part:
    arguments: Part = {"hardPodAffinityWeight": random.choice((0, 1, 5, 100))}
    if random.randrange(2):
        arguments["ignorePreferredTermsOfExistingPods"] = True
    return _arguments("InterPodAffinity", arguments)


def _disabled(random: Random) -> Part:
    point = random.choice(("multiPoint", "score"))
    name = random.choice(OFF if point == "multiPoint" else SCORERS)
    return {"plugins": {point: {"disabled": [{"name": name}]}}}


def _admits_excluded(random: Random) -> Part:
    """Nodes that a constraint's policies leave out stay feasible, as the plugin that would refuse them is off."""
    return {"plugins": {"multiPoint": {"disabled": [{"name": random.choice(("TaintToleration", "NodeAffinity"))}]}}}


def _weights(random: Random) -> Part:
    name = random.choice(SCORERS)
    plugin = {"name": name, "weight": random.choice((1, 4, 10))}
    return {"plugins": {"score": {"disabled": [{"name": name}], "enabled": [plugin]}}}


_VARIANTS: tuple[Callable[[Random], Part], ...] = (
    _strategy,
    _ratio,
    _balanced,
    _added_affinity,
    _default_constraints,
    _pod_affinity,
    _disabled,
    _weights,
)
# What a feature makes worth varying.
_TELLING: dict[str, tuple[Callable[[Random], Part], ...]] = {
    "extended": (_strategy, _ratio, _balanced),
    "policies": (_admits_excluded,),
    "near": (_pod_affinity,),
    "affinity": (_added_affinity,),
}
