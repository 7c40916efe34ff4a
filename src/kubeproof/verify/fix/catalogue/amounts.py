"""What pods request of nodes."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.manifests.editing.operations import Operation, put
from kubeproof.manifests.editing.written import Written
from kubeproof.verify.fix.around import (
    POD_SPECS,
    SIZED,
    Around,
    amount,
    containers_of,
    replicas_of,
    sum_requests,
    write_amount,
)
from kubeproof.verify.fix.edits import SERVICE, TUNE, Edit, edit

MORE, LESS, MISSING = "moreRequests", "fewerRequests", "missingRequests"
RAISED = ((3, 2), (2, 1), (3, 1), (4, 1))
LOWERED = ((9, 10), (3, 4), (2, 3), (1, 2), (1, 3), (1, 4))
SOME = {"cpu": 100, "memory": 128 * 2**20}


def propose_amounts(one: Written, around: Around) -> Iterator[Edit]:
    """Requests that are larger, smaller, or there at all."""
    if one.kind not in POD_SPECS:
        return
    pods = replicas_of(one) if one.kind in SIZED else 1
    scaled = bool(around.autoscalers_of(one))
    for resource in ("cpu", "memory"):
        total = sum_requests(one, resource)
        if scaled and (missing := _missing(one, resource)):
            yield edit(
                MISSING, one, f"a request of {resource} for every container", *missing, cost=TUNE + 2,
                answers=(ActorKind.HPA,),
            )  # fmt: skip
        if not total:
            continue
        for up, down in (*RAISED, *LOWERED):
            yield scale_requests(one, resource, up, down, pods)
    if sum_requests(one, "cpu") and sum_requests(one, "memory"):
        for up, down in LOWERED:
            yield _scale_both(one, up, down, pods)


def scale_requests(one: Written, resource: str, up: int, down: int, pods: int) -> Edit:
    """Requests of all its containers times up by down; limits grow with them."""
    writes, change = _writes(one, resource, up, down)
    is_more = up > down
    factor = f"{up}/{down}" if down > 1 else str(up)
    return edit(
        MORE if is_more else LESS, one, f"{resource} requests x {factor}", *writes,
        cost=TUNE + SERVICE * up // down if is_more else TUNE + SERVICE + SERVICE * (down - up) // down,
        gives_up=_MORE if is_more else _LESS, cpu_m=change * pods if resource == "cpu" else 0,
        memory=change * pods if resource == "memory" else 0,
        answers=(ActorKind.HPA if is_more else "NodeResourcesFit", ActorKind.NODE_CONTROLLER),
    )  # fmt: skip


_MORE = "nodes have room for fewer pods"
_LESS = (
    "nodes promise its pods less: measure what they use before; where a Scenario tells their use in percent of "
    "requests, it tells less use, too"
)


def _scale_both(one: Written, up: int, down: int, pods: int) -> Edit:
    cpu, memory = _writes(one, "cpu", up, down), _writes(one, "memory", up, down)
    return edit(
        LESS, one, f"cpu and memory requests x {up}/{down}", *cpu[0], *memory[0],
        cost=TUNE + SERVICE + SERVICE * (down - up) // down + 2, gives_up=_LESS,
        cpu_m=cpu[1] * pods, memory=memory[1] * pods, answers=("NodeResourcesFit", ActorKind.NODE_CONTROLLER),
    )  # fmt: skip


def _writes(one: Written, resource: str, up: int, down: int) -> tuple[list[Operation], int]:
    """The fields to write, limits with them where requests would exceed them, and what a pod then asks for more."""
    writes, change = [], 0
    for path, container in containers_of(one):
        resources = container.get("resources") or {}
        for field in ("requests", "limits"):
            now = amount(resource, (resources.get(field) or {}).get(resource))
            if not now or (field == "limits" and up < down):
                continue
            then = _round_amount(resource, now * up // down)
            change += then - now if field == "requests" else 0
            writes.append(put(*path, "resources", field, resource, value=write_amount(resource, then)))
    return writes, change


def _round_amount(resource: str, number: int) -> int:
    """Never nothing, memory in whole mebibytes."""
    return max(1, number) if resource == "cpu" else max(2**20, number // 2**20 * 2**20)


def _missing(one: Written, resource: str) -> list[Operation]:
    return [
        put(*path, "resources", "requests", resource, value=write_amount(resource, SOME[resource]))
        for path, container in containers_of(one)
        if not any(
            resource in ((container.get("resources") or {}).get(field) or {}) for field in ("requests", "limits")
        )
    ]
