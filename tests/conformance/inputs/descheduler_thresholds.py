"""Thresholds of the node utilization plugins, chosen at the usage of some node or near it.

The usage is estimated from the containers alone; init containers and overhead then move a node just past a threshold.
"""

from __future__ import annotations

from random import Random
from typing import Any

from tests.conformance.inputs.descheduler_templates import GPU, Part
from tests.conformance.inputs.placement import chance

BASIC = (["cpu"], ["memory"], ["pods"])
ROUND = (0, 10, 20, 33.3, 50, 75, 100)
SUFFIXES = {"m": 0.001, "Ki": 1024.0}


def low_ones(random: Random, case: Part) -> Part:
    """Percentages of some resources, at or below which a node is underutilized."""
    names = random.choice((*BASIC * 3, ["cpu", "memory"], ["cpu", "pods"], ["memory", GPU], [GPU]))
    return {name: _near(random, _percentages(case, name)[:-1]) for name in names}


def low_and_high(random: Random, case: Part) -> Part:
    """Lower and upper percentages of the same resources, absolute or as deviations from the average."""
    lower = low_ones(random, case)
    if chance(random, 25):
        few = (0, 0, 1, 5, 10, 20, 33.3)
        lower = {name: random.choice(few) for name in lower}
        upper = {name: random.choice(few) for name in lower}
        return {"useDeviationThresholds": True, "thresholds": lower, "targetThresholds": upper}
    upper = {name: max(least, _near(random, _percentages(case, name))) for name, least in lower.items()}
    return {"thresholds": lower, "targetThresholds": upper}


def _near(random: Random, usages: list[float]) -> float:
    """The usage of a node, exactly or rounded, or a round number."""
    if chance(random, 25):
        return random.choice(ROUND)
    usage = random.choice(usages) + random.choice((0, 0, 0, 1, -1))
    return min(100, max(0, random.choice((round(usage, 1), round(usage), usage))))


def _percentages(case: Part, name: str) -> list[float]:
    """Usage of the nodes in percent, ascending."""
    used = [0.0] * len(case["nodes"])
    for workload, node, count, *state in case["pods"]:
        if node >= 0 and "f" not in state[:1]:
            used[node] += count * _requested(case["workloads"][workload]["template"], name)
    offered = [_number(node["status"]["allocatable"].get(name, "0")) for node in case["nodes"]]
    return sorted(100 * amount / most if most else 0.0 for amount, most in zip(used, offered, strict=True))


def _requested(template: Part, name: str) -> float:
    if name == "pods":
        return 1.0
    containers: list[dict[str, Any]] = template["spec"]["containers"]
    return sum(_number(one.get("resources", {}).get("requests", {}).get(name, "0")) for one in containers)


def _number(text: str) -> float:
    for suffix, factor in SUFFIXES.items():
        if text.endswith(suffix):
            return int(text.removesuffix(suffix)) * factor
    return float(text)
