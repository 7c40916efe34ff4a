"""Random autoscalers and the load they meet over time: waves, steps and spikes around what the bounds allow.

The load is what all pods use together, so that more pods use less each, as behind a load balancer.
"""

from __future__ import annotations

from random import Random
from typing import Any

Json = dict[str, Any]

REQUEST_MILLI = {"cpu": 100, "memory": 1000 * 100 * 2**20}
POD: Json = {"containers": [{"name": "app", "resources": {"requests": {"cpu": "100m", "memory": "100Mi"}}}]}
PERIODS_S = (1, 5, 15, 15, 20, 30, 45, 60, 60, 90, 120, 180, 300, 600, 1800)
WINDOWS_S = (0, 0, 10, 15, 30, 45, 60, 90, 120, 180, 300, 600)
PODS = (1, 1, 2, 2, 3, 4, 5, 8)
PERCENTS = (1, 5, 10, 10, 15, 20, 25, 33, 50, 50, 55, 80, 80, 90, 100, 100, 110, 150, 200, 300)
SLIP = "100m"  # of memory: a tenth of a byte, where 100M was meant
SYNCS = (20, 25, 30, 30, 40, 60)
GAPS_S = (1, 3, 14, 15, 15, 16, 29, 30, 31, 45, 60, 150, 299, 300, 301)


def series(random: Random) -> Json:
    """An autoscaler and 20 to 60 of its syncs."""
    if random.random() < 0.1:
        return _staircase(random)
    spec = _spec(random)
    syncs = random.choice(SYNCS)
    top = spec["maxReplicas"]
    case: Json = {
        "spec": spec,
        "pod": POD,
        "replicas": random.choice((1, random.randint(1, top), top, random.randint(0, top + 3))),
        "after": _after(random, syncs),
        "load": {name: _load(random, syncs, unit, top) for name, unit in _units(spec).items()},
    }
    case["others"] = {str(at): _set(random, spec) for at in range(syncs) if random.random() < 0.02}
    case["pending"] = {str(at): random.choice((1, 1, 2, 5)) for at in range(syncs) if random.random() < 0.06}
    case["missing"] = {str(at): random.choice((1, 1, 2, 50)) for at in range(syncs) if random.random() < 0.04}
    return {key: value for key, value in case.items() if value != {}}


def _staircase(random: Random) -> Json:
    """Up and down as fast as policies allow, from round numbers where percentages meet the limits of float64.

    One direction's policies look back longer than the other's, so they read events that were overwritten early.
    """
    periods = random.choice(((15, 240), (240, 15), (30, 600), (60, 45)))
    rules = [_steps(random, period_s) for period_s in periods]
    syncs = random.choice(SYNCS)
    loads = [random.choice((0, 0, 600, 3000)) for _ in range(0, syncs, 3)]
    target = {"type": "AverageValue", "averageValue": "10m"}
    metric = {"type": "Resource", "resource": {"name": "cpu", "target": target}}
    return {
        "spec": {"maxReplicas": 60, "metrics": [metric], "behavior": {"scaleUp": rules[0], "scaleDown": rules[1]}},
        "pod": POD,
        "replicas": random.choice((5, 10, 10, 20, 30, 40, 50)),
        "after": [15] * syncs,
        "load": {"cpu": [loads[at // 3] for at in range(syncs)]},
    }


def _steps(random: Random, period_s: int) -> Json:
    kind, value = random.choice((("Pods", 1), ("Pods", 3), ("Percent", 10), ("Percent", 10), ("Percent", 80)))
    policy = {"type": kind, "value": value, "periodSeconds": period_s}
    return {"policies": [policy], "stabilizationWindowSeconds": 0}


def _set(random: Random, spec: Json) -> int:
    """What somebody else sets replicas to: within the bounds, beyond them, or nothing at all."""
    least, most = spec.get("minReplicas", 1), spec["maxReplicas"]
    inside = random.randint(least, most)
    return int(random.choice((inside, inside, inside, least, most, most + 2, max(1, least - 1), 0)))


def _spec(random: Random) -> Json:
    least = random.choice((None, 1, 1, 2, 3, 5))
    spec: Json = {} if least is None else {"minReplicas": least}
    spec["maxReplicas"] = (least or 1) + random.choice((0, 1, 3, 5, 8, 10, 20, 30, 50))
    kinds = random.choice((["cpu"], ["cpu"], ["cpu"], ["memory"], ["cpu", "memory"]))
    spec["metrics"] = [_metric(random, name) for name in kinds]
    behavior = _behavior(random)
    return spec if behavior is None else spec | {"behavior": behavior}


def _metric(random: Random, name: str) -> Json:
    percent = random.choice((20, 50, 60, 75, 80, 100, 130))
    target: Json = {"type": "Utilization", "averageUtilization": percent}
    if random.random() < 0.3:
        amount = f"{REQUEST_MILLI[name] * percent // 100}m"
        target = {"type": "AverageValue", "averageValue": SLIP if random.random() < 0.15 else amount}
    return {"type": "Resource", "resource": {"name": name, "target": target}}


def _units(spec: Json) -> dict[str, int]:
    """What one pod uses at target, for each metric."""
    units = {}
    for metric in spec["metrics"]:
        name, target = metric["resource"]["name"], metric["resource"]["target"]
        percent = target.get("averageUtilization")
        amount = target.get("averageValue", SLIP)
        at_request = REQUEST_MILLI[name] * (percent or 100) // 100
        units[name] = at_request if amount == SLIP else int(amount[:-1])
    return units


# -- behavior -----------------------------------------------------------------------------------


def _behavior(random: Random) -> Json | None:
    if random.random() < 0.2:
        return None
    return {key: _rules(random) for key in ("scaleUp", "scaleDown") if random.random() < 0.85}


def _rules(random: Random) -> Json:
    rules: Json = {}
    if random.random() < 0.75:
        rules["policies"] = [_policy(random) for _ in range(random.choice((1, 1, 2, 2, 3)))]
    if random.random() < 0.5:
        rules["selectPolicy"] = random.choice(("Max", "Max", "Min", "Min", "Min", "Disabled"))
    if random.random() < 0.7:
        rules["stabilizationWindowSeconds"] = random.choice(WINDOWS_S)
    if random.random() < 0.1:
        rules["tolerance"] = random.choice(("0", "0.02", "0.3"))
    return rules


def _policy(random: Random) -> Json:
    kind = random.choice(("Pods", "Percent"))
    value = random.choice(PODS if kind == "Pods" else PERCENTS)
    return {"type": kind, "value": value, "periodSeconds": random.choice(PERIODS_S)}


# -- time and load ------------------------------------------------------------------------------


def _after(random: Random, syncs: int) -> list[int]:
    """Seconds before each sync: the period, in some series with deviations."""
    deviation = random.choice((0, 0, 0.1, 0.5))
    return [random.choice(GAPS_S) if random.random() < deviation else 15 for _ in range(syncs)]


def _load(random: Random, syncs: int, unit: int, top: int) -> list[int | None]:
    """The load at each sync, as a multiple of what one pod takes at target; now and then the metric fails."""
    failing = random.choice((0, 0, 0, 0.05, 0.2))
    calm = random.choice((0.05, 0.2, 0.5, 0.8))  # how likely it stays as it was
    level = float(random.randint(0, top))
    loads: list[int | None] = []
    for _ in range(syncs):
        if random.random() > calm:
            level = _next_level(random, level, top)
        loads.append(None if random.random() < failing else int(level * unit))
    return loads


def _next_level(random: Random, level: float, top: int) -> float:
    """Somewhere else, a little more or less, at the edge of the tolerance, at rest, or far too much."""
    if level > 1.5 * top:
        return float(random.randint(0, top))
    nearby = (level + 1, max(0.0, level - 1), level + 0.5, level * 1.1, level * 0.9, level * 1.25, level / 2)
    anywhere = (random.randint(0, top), random.randint(0, top), random.randint(0, top + 2), 0, 1, top, top * 3)
    return float(random.choice(nearby if random.random() < 0.5 else anywhere))
