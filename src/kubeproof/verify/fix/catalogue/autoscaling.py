"""HorizontalPodAutoscalers: bounds, targets, behaviour."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.manifests.editing.operations import Path, Plain, drop, put
from kubeproof.manifests.editing.written import Written
from kubeproof.verify.fix.around import Around, replicas_of, sum_requests
from kubeproof.verify.fix.edits import REPLICA, TRADE, TUNE, Edit, edit

BOUNDS, MAXIMUM, TARGET, BEHAVIOR = "autoscalerMinimum", "autoscalerMaximum", "autoscalerTarget", "autoscalerBehavior"
ANSWERS = (ActorKind.HPA,)
DIRECTIONS = ("scaleUp", "scaleDown")


def propose_autoscaling(one: Written, around: Around) -> Iterator[Edit]:
    """Every setting of an autoscaler in turn."""
    if one.kind != "HorizontalPodAutoscaler":
        return
    yield from _bounds(one, around)
    yield from _targets(one)
    if one.api_version.rpartition("/")[2] != "v1":
        yield from _behavior(one)


def _bounds(one: Written, around: Around) -> Iterator[Edit]:
    least, most = bounds_of(one)
    workload = around.find_scaled(one)
    usual = replicas_of(workload) if workload else least
    for number in sorted({least + 1, least + 2, least + 3, usual, most}):
        if least < number <= most:
            yield set_minimum(one, around, number)
    for number in sorted({most - 1, most // 2, least, most - 2}):
        if least <= number < most and number > 0:
            yield set_maximum(one, around, number)
    for number in (most + 1, most + 2, 2 * most):
        yield set_maximum(one, around, number)


def bounds_of(one: Written) -> tuple[int, int]:
    """minReplicas and maxReplicas after defaulting."""
    return one.at("spec", "minReplicas") or 1, one.at("spec", "maxReplicas") or 1


def set_minimum(one: Written, around: Around, number: int) -> Edit:
    """Another minReplicas."""
    least, _ = bounds_of(one)
    return _set_bound(one, around, BOUNDS, "minReplicas", (least, number), cost=TUNE + REPLICA * max(0, number - least))


def set_maximum(one: Written, around: Around, number: int) -> Edit:
    """Another maxReplicas."""
    _, most = bounds_of(one)
    if number < most:
        return edit(
            MAXIMUM, one, f"maxReplicas {most} -> {number}", put("spec", "maxReplicas", value=number),
            cost=TUNE + 5 * TRADE + most - number, answers=ANSWERS,
            gives_up=f"load that needs more than {number} pods is not served",
        )  # fmt: skip
    return _set_bound(one, around, MAXIMUM, "maxReplicas", (most, number), cost=TUNE + REPLICA * (number - most))


def _set_bound(one: Written, around: Around, kind: str, field: str, change: tuple[int, int], cost: int) -> Edit:
    workload, more = around.find_scaled(one), change[1] - change[0]
    cpu, memory = (sum_requests(workload, "cpu"), sum_requests(workload, "memory")) if workload else (0, 0)
    return edit(
        kind, one, f"{field} {change[0]} -> {change[1]}", put("spec", field, value=change[1]),
        cost=cost, pods=more, cpu_m=more * cpu, memory=more * memory, answers=ANSWERS,
    )  # fmt: skip


def _targets(one: Written) -> Iterator[Edit]:
    metrics = one.at("spec", "metrics")
    for number, metric in enumerate(metrics if isinstance(metrics, list) else []):
        percent, source = target_of(one, number), str(metric.get("type", ""))
        if percent is not None:
            for other in (percent // 2, percent * 3 // 4, percent * 5 // 4, percent * 3 // 2, percent * 2, percent * 3):
                yield set_target(one, number, other)
        field = _field_of(metric)
        if len(metrics) > 1:
            name = one.at("spec", "metrics", number, field, "name") or source
            yield edit(
                TARGET, one, f"without its metric {name}", drop("spec", "metrics", number), cost=TUNE + 2 * TRADE,
                gives_up=f"{name} no longer counts", answers=ANSWERS,
            )  # fmt: skip


def _field_of(metric: Plain) -> str:
    source = str(metric.get("type", ""))
    return source[:1].lower() + source[1:]


def target_of(one: Written, number: int) -> int | None:
    """averageUtilization of a metric; None if it has none."""
    percent = one.at(*_target_path(one, number), "averageUtilization")
    return percent if isinstance(percent, int) else None


def _target_path(one: Written, number: int) -> Path:
    return "spec", "metrics", number, _field_of(one.at("spec", "metrics", number) or {}), "target"


def set_target(one: Written, number: int, other: int) -> Edit:
    """Another averageUtilization of a metric."""
    percent = target_of(one, number) or 0
    return edit(
        TARGET, one, f"target {percent} % -> {other} %",
        put(*_target_path(one, number), "averageUtilization", value=other),
        cost=TUNE + TRADE + abs(other - percent) // 25, answers=ANSWERS,
        gives_up="pods run hotter before it adds some" if other > percent else "",
    )  # fmt: skip


def window_of(one: Written, direction: str) -> int:
    """stabilizationWindowSeconds after defaulting."""
    stated = one.at("spec", "behavior", direction, "stabilizationWindowSeconds")
    return stated if isinstance(stated, int) else 0 if direction == "scaleUp" else 300


def set_window(one: Written, direction: str, seconds: int) -> Edit:
    """Another stabilizationWindowSeconds."""
    lost = f"it scales {_way(direction)} up to {seconds} s later" if seconds > window_of(one, direction) else ""
    return edit(
        BEHAVIOR, one, f"{direction}.stabilizationWindowSeconds {seconds}",
        put("spec", "behavior", direction, "stabilizationWindowSeconds", value=seconds), cost=TUNE + seconds // 60,
        gives_up=lost, answers=ANSWERS,
    )  # fmt: skip


def _behavior(one: Written) -> Iterator[Edit]:
    for direction in DIRECTIONS:
        path = ("spec", "behavior", direction)
        for seconds in (60, 120, 300, 600):
            if seconds > window_of(one, direction):
                yield set_window(one, direction, seconds)
        if one.at(*path, "selectPolicy") != "Disabled":
            yield edit(
                BEHAVIOR, one, f"{direction}.selectPolicy Disabled", put(*path, "selectPolicy", value="Disabled"),
                cost=TUNE + 3 * TRADE, gives_up=f"it never scales {_way(direction)}", answers=ANSWERS,
            )  # fmt: skip
        policy = {"type": "Pods", "value": 1, "periodSeconds": 60}
        if not one.at(*path, "policies"):
            yield edit(
                BEHAVIOR, one, f"{direction} by one pod a minute", put(*path, "policies", 0, value=policy),
                cost=TUNE + TRADE, gives_up=f"it scales {_way(direction)} slowly", answers=ANSWERS,
            )  # fmt: skip


def _way(direction: str) -> str:
    return direction.removeprefix("scale").lower()
