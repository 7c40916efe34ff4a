"""What a request takes, from a measured curve: load of one pod against its CPU, or against its response time.

rate,cpu          requests per second to one pod, and cores that it uses: a straight line, whose slope is the demand
10,0.21
20,0.41

rate,latency_s    requests per second to one pod of at most one core, and the mean response time: under processor
10,0.025          sharing 1 / latency is 1 / demand - rate, for requests that come independently of each other
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from math import isfinite
from statistics import fmean

from kubeproof.cluster.objects import Workload
from kubeproof.cluster.usage import CPU
from kubeproof.errors import ManifestError
from kubeproof.manifests.scenarios.events.fields import Surroundings
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.printable import printable
from kubeproof.named_tuples import NamedTuple

CPU_CURVE, LATENCY_CURVE = ("rate", "cpu"), ("rate", "latency_s")
MOST_ROWS, MOST_VALUE = 100_000, 1e9
_REMEDY = "Write a first line rate,cpu or rate,latency_s, and below it numbers above zero, for at least two rates"

Point = tuple[float, float]


class Demand(NamedTuple):
    """What a curve says."""

    cpu_ms: float  # of one request
    idle_milli: int  # of a pod without requests
    note: str  # how well it fits


def read_demand(fields: Fields, around: Surroundings, target: Workload) -> Demand | None:
    """What `measured` of a service says; None if it is absent."""
    measured = fields.child("measured")
    if measured is None:
        return None
    for key in ("cpuPerRequest", "idle"):
        if fields.has(key):
            fields.fail(key, "stands beside measured, which tells it", remedy="Remove one of the two")
    file, text = around.read_beside(measured, "file")
    measured.finish_strictly("file")
    head, points = _read(file, text)
    if head == CPU_CURVE:
        return fit_cpu(points, file)
    limits = [dict(container.limits).get(CPU) for container in target.template.containers]
    cores_milli = sum(limit for limit in limits if limit is not None) if None not in limits else 0
    if not 0 < cores_milli <= 1000:
        remedy = "Limit its pods to at most one core, or measure rate,cpu"
        fields.fail("measured", "is a curve of response times, which tell nothing of several cores", remedy=remedy)
    return fit_latency(points, cores_milli / 1000, file)


def _read(file: str, text: str) -> tuple[tuple[str, ...], list[Point]]:
    rows = csv.reader(text.splitlines(), strict=True)
    try:
        head = tuple(cell.strip() for cell in next(rows, []))
        if head not in (CPU_CURVE, LATENCY_CURVE):
            raise ManifestError("has no such columns", file=file, line=1, remedy=_REMEDY)
        points = [_point(row, file, rows.line_num) for row in rows if row]
    except csv.Error as problem:
        told = f"no CSV: {printable(str(problem))}"
        raise ManifestError(told, file=file, line=rows.line_num, remedy=_REMEDY) from None
    if len(points) > MOST_ROWS or len({rate for rate, _ in points}) < 2:
        raise ManifestError(f"has {len(points)} points", file=file, line=1, remedy=_REMEDY)
    return head, points


def _point(row: Sequence[str], file: str, line: int) -> Point:
    try:
        rate, value = (float(cell) for cell in row)
    except ValueError:
        rate = value = -1.0
    if not all(isfinite(one) and 0 < one <= MOST_VALUE for one in (rate, value)):
        raise ManifestError(f"{printable(','.join(row)[:40])!r} is no point", file=file, line=line, remedy=_REMEDY)
    return rate, value


def fit_cpu(points: Sequence[Point], file: str) -> Demand:
    """Least squares; a line that begins below zero goes through zero."""
    rates, used = [rate for rate, _ in points], [value for _, value in points]
    middle, mean = fmean(rates), fmean(used)
    slope = sum((rate - middle) * (value - mean) for rate, value in points) / sum(
        (rate - middle) ** 2 for rate in rates
    )
    idle = mean - slope * middle
    if idle < 0:
        slope, idle = sum(rate * value for rate, value in points) / sum(rate * rate for rate in rates), 0.0
    if slope <= 0:
        raise ManifestError("uses no more CPU for more requests", file=file, line=1, remedy=_REMEDY)
    worst = max(abs(idle + slope * rate - value) / value for rate, value in points)
    return Demand(1000 * slope, round(1000 * idle), _tell(1000 * slope, round(1000 * idle), len(points), file, worst))


def fit_latency(points: Sequence[Point], cores: float, file: str) -> Demand:
    """Of each point the demand that would give its response time; their harmonic mean."""
    demand = cores / fmean(1 / latency + rate for rate, latency in points)
    own = demand / cores
    worst = max(
        (abs(own / (1 - rate * own) - latency) / latency if rate * own < 1 else 1.0) for rate, latency in points
    )
    return Demand(1000 * demand, 0, _tell(1000 * demand, 0, len(points), file, worst))


def _tell(cpu_ms: float, idle_milli: int, count: int, file: str, worst: float) -> str:
    return (
        f"a request takes {cpu_ms:.4g} ms of a core and an idle pod {idle_milli}m, from {count} points of "
        f"{printable(file)}; they lie at most {100 * worst:.1f} % off the curve"
    )
