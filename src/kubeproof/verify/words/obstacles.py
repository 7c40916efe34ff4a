"""What holds the pods of a workload back in the last state of a counterexample, as values and not in words."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.labels import NO_EXECUTE, Taint
from kubeproof.cluster.nodes.places import UNREACHABLE
from kubeproof.cluster.state import NEVER, Health, Phase
from kubeproof.controllers.evictions.taint_eviction import seconds_tolerated
from kubeproof.controllers.scheduler.framework import Row
from kubeproof.intents.monitor import Monitor
from kubeproof.model.by_name.state import State
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.verify.words.explain import (
    evaluation,
    find_concerned,
    is_unused,
    judge_pinned,
    missing_reasons,
    refusing_drains,
)

BUDGET = "budget"  # an eviction that a drain needs is refused
NOT_CREATED = "admission"  # pods are not let in, as by a quota
DEAD_NODE = "dead node"  # a pod waits for a kubelet that is gone to end it
STAYS = "toleration"  # a pod stays on a dead node, as it tolerates that for ever
NO_CLAIM = "no claim"  # a claim that pods mount does not exist
NO_NODE = "no node"  # no node is up
SEVERAL = "several budgets"  # reason of BUDGET
NOT_READY = "readiness"  # pods run, but not all are ready

Obstacle = tuple[str, str]


def obstacles(model: IndividualModel, state: State, monitor: Monitor) -> tuple[Obstacle, ...]:
    """Who holds pods back, each with its reason: plugins of the scheduler by name, and the words above.

    Of nodes only those count that are up: that one which failed takes no pods is no news.
    """
    found: list[Obstacle] = []
    if monitor.intent.key == "drainCompletes" and (refusing := refusing_drains(model, state, monitor)):
        found.append((BUDGET, SEVERAL if any(one.has_several_budgets for one in refusing) else ""))
    for index in find_concerned(model, monitor):
        if not (model.setup.workloads[index].owner and is_unused(model, state, index)):
            found += _of_workload(model, state, index)
    return tuple(sorted(set(found)))


def _of_workload(model: IndividualModel, state: State, workload: int) -> Iterator[Obstacle]:
    yield from _refusing(model, state, workload)
    if state.unbound[workload] and all(node.health != Health.UP for node in state.nodes):
        yield NO_NODE, ""
    if any(True for _ in missing_reasons(model, state, workload)):
        yield NOT_CREATED, ""
    for node in state.nodes:
        phases = {pod.phase for pod in node.pods if pod.workload == workload}
        if Phase.TERMINATING in phases and node.health != Health.UP:
            yield DEAD_NODE, ""
        if phases - {Phase.TERMINATING} and node.health != Health.UP and _stays(model, workload):
            yield STAYS, ""
        if phases - {Phase.TERMINATING, Phase.READY}:
            yield NOT_READY, ""


def _stays(model: IndividualModel, workload: int) -> bool:
    """True if its pods are never evicted from a node that is down."""
    tolerations = model.setup.workloads[workload].template.tolerations
    return seconds_tolerated(tolerations, (Taint(UNREACHABLE, "", NO_EXECUTE),)) == NEVER


def _refusing(model: IndividualModel, state: State, workload: int) -> Iterator[Obstacle]:
    """The plugins that keep pods from nodes that are up."""
    for index, node in enumerate(state.nodes):
        if any(owner == workload for owner, _ in node.pinned) and node.health == Health.UP:
            row = judge_pinned(model, state, workload, index)
            yield from _by(row)
    judged = evaluation(model, state, workload) if state.unbound[workload] else None
    if judged is None:
        return
    names, rows = judged[0], judged[1].rows
    if not all(row.rejected_by for row in rows):
        return  # it only has not been its turn
    up = {name for name, node in zip(model.names, state.nodes, strict=True) if node.health == Health.UP}
    yield from (by for name, row in zip(names, rows, strict=True) if name in up for by in _by(row))


def _by(row: Row) -> Iterator[Obstacle]:
    """The plugin that refuses a node, if one does, and what it misses."""
    if row.rejected_by:
        yield row.rejected_by, row.reason
    if row.lacks_claim:
        yield NO_CLAIM, ""
