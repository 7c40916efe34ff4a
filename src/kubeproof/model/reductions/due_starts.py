"""Starts that are due are taken at once, while their autoscaler can do nothing whatever it sees.

Pods whose time is up start before any more time passes, node after node, and in any order: every set of nodes that
came first is a state of its own. Only an autoscaler looks at the start of such pods. If its windows and bounds leave it
no choice now, whatever the metrics say, and its target has exactly the pods it wants, nobody can do anything in
between that depends on who came first. So the starts are followed alone, all pods of a kind in one step: a persistent
set. `docs/explanation/reductions.md` has the conditions and the proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubeproof.cluster.loops.actors import KUBELET
from kubeproof.cluster.loops.control import Stage
from kubeproof.cluster.loops.footprint import RESIZING, Writes, footprint_of
from kubeproof.cluster.state import ACTIVE, Nodes, WorkloadCell
from kubeproof.controllers.late import HpaController
from kubeproof.engine.system import Effect
from kubeproof.engine.system import Turn as EngineStage
from kubeproof.intents.facts.counts import count_pods
from kubeproof.model.plan import Plan
from kubeproof.model.reductions.starts_in_unison import StartAll, Starts, start_effect
from kubeproof.model.reductions.young_pods import countable
from kubeproof.named_tuples import NamedTuple

HARMLESS = Writes.CORDONS | Writes.USAGE  # neither pods nor sizes


class Due(NamedTuple):
    """What a place tells: the kinds that must start now, and how many pods there are."""

    kinds: tuple[StartAll, ...]
    pods: int


def find_immediate(plan: Plan) -> frozenset[int]:
    """The workloads whose starts may be taken at once: only autoscalers look at them, and nobody resizes them then."""
    waiting = all(footprint_of(event).writes in HARMLESS or event.stage == Stage.CALM for event in plan.events)
    return countable(plan) if waiting and not _is_rewritten(plan) else frozenset()


def _is_rewritten(plan: Plan) -> bool:
    """True if a loop writes objects whatever the autoscalers' windows say: a reconciler that is awake."""
    events = {id(event) for event in plan.events}
    loops = (footprint for actor, footprint in plan.awake if id(actor) not in events)
    return any(one.writes & RESIZING and not one.takes_young for one in loops)


class ImmediateStarts:
    """All kubelets as one actor, for the pods of one workload that must start now."""

    name = KUBELET
    stage = int(EngineStage.FIRST)

    def __init__(
        self, workload: int, starts: Starts, scalers: Mapping[int, HpaController], slots: tuple[int, ...]
    ) -> None:
        """`scalers` are the workload's autoscalers by the slots of their memories; `slots` its own, then all places."""
        self._workload, self._starts = workload, starts
        self._scalers = tuple(scalers.values())
        self._shown = len(slots)
        self.reads = (*slots, *scalers)

    def view(self, position: int, cell: Any) -> Any:
        """The size of a workload at rest; the starts due in a place; an autoscaler's memory."""
        if position >= self._shown:
            return cell
        return ("due starts", self._due(cell)) if position else _size_at_rest(cell)

    def _due(self, nodes: Nodes) -> Due:
        kinds = tuple(kind for kind in self._starts.due(nodes) if kind.most_s == 0)
        return Due(kinds, count_pods(nodes, (self._workload,), ACTIVE))

    def act(self, views: tuple[Any, ...]) -> tuple[Effect, ...]:
        """The start of all pods of one kind, if there is one and nothing else is possible before it."""
        size, *rest = views
        places: list[Due] = [view for _, view in rest[: self._shown - 1]]
        memories = rest[self._shown - 1 :]
        kinds = sorted({kind for due in places for kind in due.kinds})
        if not kinds or size != sum(due.pods for due in places) or not self._is_idle(size, memories):
            return ()
        slots = tuple(slot for slot, due in zip(self.reads[1:], places, strict=False) if kinds[0] in due.kinds)
        return (start_effect(kinds[0], slots),)

    def _is_idle(self, size: int, memories: list[tuple[int, ...]]) -> bool:
        return all(scaler.is_fixed(size, memory) for scaler, memory in zip(self._scalers, memories, strict=True))


def _size_at_rest(cell: WorkloadCell) -> int | None:
    """The size of a workload whose pods all have nodes, None if one is still on its way."""
    rests = cell.exists and cell.desired == cell.replicas and not cell.unbound
    return cell.desired if rests else None
