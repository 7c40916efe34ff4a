"""Our preemption on recorded cases."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from kubeproof.cluster.labels import LabelSelector
from kubeproof.cluster.steering.priorities import may_preempt
from kubeproof.controllers.scheduler.framework import NodeInfo, PodCount, Scheduler
from kubeproof.controllers.scheduler.preemption import SORTED_AGAIN_SINCE, DryRun, Pod, Victims, choosable
from kubeproof.manifests.kinds.workloads import read_pod
from kubeproof.manifests.pods.selectors import selector_of
from tests.conformance.corpus import Case, Decision, version_of
from tests.conformance.decide.scheduler import Board
from tests.conformance.objects import fields

Json = Any
NEVER = "not eligible due to preemptionPolicy=Never."


def decide(case: Case, upstream: str) -> Decision:
    """The nodes that fit; else why the pod may not preempt, or the victims on every node and the nodes to choose."""
    board = Board(case, upstream)
    scheduler, infos = board.scheduler(case["pod"]), board.infos()
    refusals = scheduler.refusals(infos)
    chosen = scheduler.choose(infos)
    if chosen:
        return {"f": list(chosen)}
    if not may_preempt(read_pod(fields(case["pod"])).workload.template):
        return {"i": NEVER}
    runs = [
        None if refusals is None or refusals[index].unresolvable else _dry_run(case, board, index, scheduler, upstream)
        for index in range(len(infos))
    ]
    found = [frozenset() if run is None else run.outcomes() for run in runs]
    return _described(case, found, version_of(upstream))


def _dry_run(case: Case, board: Board, index: int, scheduler: Scheduler, upstream: str) -> DryRun:
    infos = board.infos()
    priority = case["pod"]["spec"]["priority"]
    lower = [pod for pod in _on_node(case, index) if pod["spec"]["priority"] < priority]
    pods = tuple(_pod(case, pod, board) for pod in lower)

    def fits(kept: tuple[int, ...]) -> bool:
        gone = [pod for pod, stays in zip(pods, kept, strict=True) if not stays]
        infos[index] = _without(board.infos()[index], gone)
        return scheduler.admits(infos, index)

    allowed = tuple(budget["status"]["disruptionsAllowed"] for budget in case.get("budgets", ()))
    return DryRun(pods, (1,) * len(pods), allowed, fits, version_of(upstream))


def _on_node(case: Case, index: int) -> list[Json]:
    """The pods of a node, the most important first."""
    name = case["nodes"][index]["metadata"]["name"]
    here = [pod for pod in case["pods"] if pod["spec"]["nodeName"] == name]
    return sorted(here, key=lambda pod: (-pod["spec"]["priority"], _started(pod)))


def _pod(case: Case, pod: Json, board: Board) -> Pod:
    budgets = tuple(n for n, budget in enumerate(case.get("budgets", ())) if _selects(budget, pod))
    terminating = "deletionTimestamp" in pod["metadata"]
    return Pod(board.index_of(pod), terminating, pod["spec"]["priority"], budgets, _started(pod))


def _selects(budget: Json, pod: Json) -> bool:
    selector: LabelSelector = selector_of(fields(budget["spec"]["selector"]))
    same = budget["metadata"]["namespace"] == pod["metadata"]["namespace"]
    labels = pod["metadata"].get("labels") or {}
    return same and bool(labels) and not selector.is_empty and selector.matches(labels)


def _started(pod: Json) -> int:
    return int(datetime.fromisoformat(pod["status"]["startTime"]).timestamp())


def _without(info: NodeInfo, gone: list[Pod]) -> NodeInfo:
    counts = {count.workload: [count.alive, count.terminating] for count in info.pods}
    for pod in gone:
        counts[pod.workload][pod.terminating] -= 1
    return info._replace(pods=tuple(PodCount(workload, *both) for workload, both in counts.items() if any(both)))


def _described(case: Case, found: list[frozenset[Victims]], version: tuple[int, int]) -> Decision:
    candidates, best = [], []
    for index, (outcomes, chosen) in enumerate(zip(found, choosable(found), strict=True)):
        for victims in outcomes:
            priority = case["pod"]["spec"]["priority"]
            lower = [pod for pod in _on_node(case, index) if pod["spec"]["priority"] < priority]
            lost = [
                (version < SORTED_AGAIN_SINCE and not broken, place, case["pods"].index(pod))
                for place, (pod, gone, broken) in enumerate(zip(lower, victims.lost, victims.broken, strict=True))
                if gone
            ]
            candidates.append([index, [number for *_, number in sorted(lost)], victims.violations])
        best += [index] if chosen else []
    return {key: value for key, value in (("k", candidates), ("b", best)) if value}
