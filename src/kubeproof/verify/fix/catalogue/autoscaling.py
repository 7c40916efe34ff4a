"""HorizontalPodAutoscalers: bounds, targets, behaviour."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.manifests.editing.operations import drop, put
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
    least, most = one.at("spec", "minReplicas") or 1, one.at("spec", "maxReplicas") or 1
    workload = around.find_scaled(one)
    cpu, memory = (sum_requests(workload, "cpu"), sum_requests(workload, "memory")) if workload else (0, 0)
    usual = replicas_of(workload) if workload else least
    for number in sorted({least + 1, least + 2, least + 3, usual, most}):
        if least < number <= most:
            more = number - least
            yield edit(
                BOUNDS, one, f"minReplicas {least} -> {number}", put("spec", "minReplicas", value=number),
                cost=TUNE + REPLICA * more, pods=more, cpu_m=more * cpu, memory=more * memory, answers=ANSWERS,
            )  # fmt: skip
    for number in sorted({most - 1, most // 2, least, most - 2}):
        if least <= number < most and number > 0:
            yield edit(
                MAXIMUM, one, f"maxReplicas {most} -> {number}", put("spec", "maxReplicas", value=number),
                cost=TUNE + 5 * TRADE + most - number, answers=ANSWERS,
                gives_up=f"load that needs more than {number} pods is not served",
            )  # fmt: skip
    for number in (most + 1, most + 2, 2 * most):
        yield edit(
            MAXIMUM, one, f"maxReplicas {most} -> {number}", put("spec", "maxReplicas", value=number),
            cost=TUNE + REPLICA * (number - most), pods=number - most, cpu_m=(number - most) * cpu,
            memory=(number - most) * memory, answers=ANSWERS,
        )  # fmt: skip


def _targets(one: Written) -> Iterator[Edit]:
    metrics = one.at("spec", "metrics")
    for number, metric in enumerate(metrics if isinstance(metrics, list) else []):
        source = str(metric.get("type", ""))
        field = source[:1].lower() + source[1:]
        path = ("spec", "metrics", number, field, "target")
        percent = one.at(*path, "averageUtilization")
        if isinstance(percent, int):
            for other in (percent // 2, percent * 3 // 4, percent * 5 // 4, percent * 3 // 2, percent * 2, percent * 3):
                lost = "pods run hotter before it adds some" if other > percent else ""
                yield edit(
                    TARGET, one, f"target {percent} % -> {other} %", put(*path, "averageUtilization", value=other),
                    cost=TUNE + TRADE + abs(other - percent) // 25, gives_up=lost, answers=ANSWERS,
                )  # fmt: skip
        if len(metrics) > 1:
            name = one.at("spec", "metrics", number, field, "name") or source
            yield edit(
                TARGET, one, f"without its metric {name}", drop("spec", "metrics", number), cost=TUNE + 2 * TRADE,
                gives_up=f"{name} no longer counts", answers=ANSWERS,
            )  # fmt: skip


def _behavior(one: Written) -> Iterator[Edit]:
    for direction in DIRECTIONS:
        path = ("spec", "behavior", direction)
        now = one.at(*path, "stabilizationWindowSeconds")
        for seconds in (60, 120, 300, 600):
            if seconds > (now if now is not None else 0 if direction == "scaleUp" else 300):
                yield edit(
                    BEHAVIOR, one, f"{direction}.stabilizationWindowSeconds {seconds}",
                    put(*path, "stabilizationWindowSeconds", value=seconds), cost=TUNE + seconds // 60,
                    gives_up=f"it scales {_way(direction)} up to {seconds} s later", answers=ANSWERS,
                )  # fmt: skip
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
