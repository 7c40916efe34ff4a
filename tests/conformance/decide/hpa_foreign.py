"""Our autoscaler among pods of several owners: the loop that runs use, on states like those of runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubeproof.cluster.kinds import DAEMON_SET, JOB, STATEFUL_SET
from kubeproof.cluster.loops.control import Seen
from kubeproof.cluster.objects import Node, Settings, Setup, family, workload_number
from kubeproof.cluster.state import (
    NEVER,
    JobPodEnd,
    NodeCell,
    Phase,
    PodKind,
    WorkloadCell,
    add_finished,
    add_pinned,
    add_pods,
)
from kubeproof.controllers.hpa.ahead import Memory
from kubeproof.controllers.hpa.calculator import Failure
from kubeproof.controllers.hpa.controller import HpaController
from kubeproof.controllers.hpa.history import FRESH
from kubeproof.events.declarations import Event, Usage, UsagePattern
from kubeproof.model.expansion.ordinals import with_ordinals
from kubeproof.model.layout import make_layout, mentions
from kubeproof.model.loops.adjusting import adjusting_loops
from tests.conformance.corpus import Case, version_of
from tests.conformance.objects import read

Json = dict[str, Any]

SHOP, ELSEWHERE = "shop", "elsewhere"
API = {"Job": "batch/v1", "Pod": "v1"}
PHASES = {
    "starting": Phase.STARTING,
    "running": Phase.RUNNING,
    "ready": Phase.READY,
    "young": Phase.READY,
    "unready": Phase.UNREADY,
    "deleted": Phase.TERMINATING,
}


def decide_foreign(case: Case, upstream: str) -> list[Json]:
    """What each autoscaler proposes in two rounds of all; nothing where it refuses or fails."""
    setup, events = _setup(case, upstream)
    part = adjusting_loops(make_layout(setup, mentions(setup, events, (), ())), events)
    loops = [loop for loop in part.loops if isinstance(loop, HpaController)]
    cells, node = _cells(case, setup)
    known: set[int] = set()
    answers: list[Json] = [{"1": None, "2": None} for _ in loops]
    for each in ("1", "2"):
        for at, loop in enumerate(loops):
            cells[loop.target] = cells[loop.target]._replace(desired=case["autoscalers"][at]["replicas"])
            answers[at][each] = _proposal(loops, loop, cells, node, known)
            known.add(loop.memory)
    return answers


def _proposal(
    loops: list[HpaController], loop: HpaController, cells: list[WorkloadCell], node: NodeCell, known: set[int]
) -> int | None:
    memories = {each.memory: Memory(15, 15, FRESH, each.memory in known).pack() for each in loops}
    shown = loop.show_node(0, node)
    seen = Seen(
        tuple(loop.show_workload(number, cells[number]) for number in loop.reads.workloads),
        (() if shown is None else ((shown, 1),),),
        tuple(memories[number] for number in loop.reads.memories),
    )
    judged, _ = loop.consider(seen)
    return None if judged is None or isinstance(judged.proposal, Failure) else judged.proposal


# -- the cluster ------------------------------------------------------------------------------------


def _setup(case: Case, upstream: str) -> tuple[Setup, tuple[Event, ...]]:
    objects = [_object(at, owner) for at, owner in enumerate(case["owners"])]
    found = read(*objects, *_autoscalers(case))
    workloads = tuple(declared.workload for declared in found.workloads)
    events: tuple[Event, ...] = tuple(
        UsagePattern(
            name=f"{resource} of {at}",
            resource=resource,
            target=workload.ref,
            phases=((Usage(amount_milli=milli), None),),
        )
        for at, (workload, owner) in enumerate(zip(workloads, case["owners"], strict=True))
        for resource, milli in owner["use"].items()
    )
    settings = Settings(kubernetes_version=version_of(upstream))
    setup = Setup((Node("n1"),), workloads, settings=settings, autoscalers=tuple(found.autoscalers))
    return with_ordinals(setup, events), events


def _object(at: int, owner: Json) -> Json:
    kind = owner["kind"]
    metadata = {"name": f"owner-{at}", "namespace": ELSEWHERE if owner.get("elsewhere") else SHOP}
    labels = {key: value for key, value in owner["labels"].items() if not key.endswith("job-name")}
    if kind == "Pod":
        return {"apiVersion": "v1", "kind": kind, "metadata": metadata | {"labels": labels}, "spec": owner["spec"]}
    never = {"restartPolicy": "Never"} if kind == "Job" else {}
    spec: Json = {"template": {"metadata": {"labels": labels}, "spec": owner["spec"] | never}}
    if "selector" in owner:
        spec["selector"] = owner["selector"]
    if kind == "StatefulSet":
        spec["replicas"] = sum(group["count"] for group in owner["pods"])
    return {"apiVersion": API.get(kind, "apps/v1"), "kind": kind, "metadata": metadata, "spec": spec}


def _autoscalers(case: Case) -> Iterator[Json]:
    for at, asked in enumerate(case["autoscalers"]):
        kind, name = case["owners"][asked["target"]]["kind"], f"owner-{asked['target']}"
        target = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": kind, "name": name}}
        metadata = {"name": f"web-{at}", "namespace": SHOP}
        yield {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": metadata,
            "spec": asked["spec"] | target,
        }


def _cells(case: Case, setup: Setup) -> tuple[list[WorkloadCell], NodeCell]:
    """The workloads' cells, and one node with all pods that have one."""
    cells, node = [WorkloadCell() for _ in setup.workloads], NodeCell()
    for at, owner in enumerate(case["owners"]):
        namespace = ELSEWHERE if owner.get("elsewhere") else SHOP
        number = workload_number(setup, f"{owner['kind']}/{namespace}/owner-{at}")
        members = family(setup, number)
        ordinals = iter(members[1:])
        for group in owner["pods"]:
            for _ in range(group["count"]):
                member = next(ordinals) if owner["kind"] == STATEFUL_SET else number
                cells[member], node = _with_pod(owner["kind"], group, member, cells[member], node)
    return cells, node


def _with_pod(
    kind: str, group: Json, workload: int, cell: WorkloadCell, node: NodeCell
) -> tuple[WorkloadCell, NodeCell]:
    """Cell and node with one more pod."""
    look = group["look"]
    if look in PHASES:
        pod = PodKind(workload, int(PHASES[look]), age_s=group.get("age", NEVER))
        return cell, node._replace(pods=add_pods(node.pods, pod, 1))
    if look == "waiting" and kind == DAEMON_SET:
        return cell, node._replace(pinned=add_pinned(node.pinned, workload, 1))
    if look == "waiting":
        return cell._replace(unbound=cell.unbound + 1), node
    if look == "succeeded" and cell.completed:
        return cell, add_finished(node, workload, JobPodEnd.SUCCEEDED, 1)  # one that its Job has not counted yet
    if look == "succeeded":
        return cell._replace(completed=1), node
    if kind == JOB and not cell.failed:
        return cell._replace(failed=1), node
    return (cell, add_finished(node, workload, JobPodEnd.FAILED, 1)) if kind == JOB else (cell._replace(failed=1), node)
