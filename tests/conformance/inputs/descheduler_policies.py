"""Policies of the descheduler's cases: limits, arguments of the evictor and of each plugin."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.conformance.inputs import descheduler_templates as templates
from tests.conformance.inputs import descheduler_thresholds as thresholds
from tests.conformance.inputs.descheduler_templates import NAMESPACES, Part
from tests.conformance.inputs.placement import chance

LIMITS = ("maxNoOfPodsToEvictPerNode", "maxNoOfPodsToEvictPerNamespace", "maxNoOfPodsToEvictTotal")
Arguments = Callable[[Random, Part], Part]  # of a plugin, for a cluster


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


ARGUMENTS: dict[str, Arguments] = {
    "RemoveDuplicates": _duplicates,
    "RemovePodsViolatingNodeTaints": _taints,
    "RemovePodsViolatingNodeAffinity": _affinity,
    "RemovePodsHavingTooManyRestarts": _restarts,
    "PodLifeTime": _life_time,
    "RemovePodsViolatingTopologySpreadConstraint": _spread,
    "LowNodeUtilization": _low,
    "HighNodeUtilization": _high,
}
