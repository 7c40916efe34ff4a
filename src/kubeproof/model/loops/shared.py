"""Loops that setups have in common: what they decided for one size of a cluster holds for the next.

A scheduler or descheduler is handed its nodes, its configuration and what it is shown, but not the numbers that tell
one size from another: replicas, bounds of autoscalers, budgets that it does not ask. So it cannot depend on them, and
its answers hold for every setup that differs in nothing else. An autoscaler pools the pods that it counts and asks for
no node: what it works out holds wherever its spec, these pods' templates and the rules of their usage are the same.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from kubeproof.cluster.loops.control import PeriodicLoop
from kubeproof.cluster.nodes.daemons import daemon_sets
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import Setup
from kubeproof.cluster.steering.priorities import has_priorities
from kubeproof.controllers.late import (
    DeschedulerController,
    PinnedScheduler,
    PreemptingPinnedScheduler,
    PreemptingScheduler,
)
from kubeproof.controllers.scheduler.controller import SchedulerController
from kubeproof.values import replace

if TYPE_CHECKING:
    from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler
    from kubeproof.cluster.usage import UsageRule
    from kubeproof.controllers.hpa.ahead import Recall
    from kubeproof.controllers.hpa.settings import AutoscalerSettings

MOST_AUTOSCALERS = 256  # tables; a sweep comes back to each of its bounds with other numbers of nodes
MOST_LAYOUTS = 32  # a sweep comes back to each of up to 13 combinations of two node kinds


class SharedLoops:
    """The schedulers and the descheduler of one layout, with what they remember."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._schedulers: dict[tuple[int, tuple[int, ...]], SchedulerController] = {}
        self._queue: dict[tuple[int, tuple[int, ...]], PreemptingScheduler] = {}
        self._pinned: dict[int, PinnedScheduler] = {}
        self._deschedulers: dict[int, PeriodicLoop] = {}

    def scheduler(self, workload: int, claims: tuple[int, ...] = ()) -> SchedulerController:
        """The scheduler of a workload's pods; the memories of claims are these."""
        if has_priorities(self._layout.setup):
            return self._preempting(workload, claims)
        key = (workload, claims)
        if key not in self._schedulers:
            self._schedulers[key] = SchedulerController(self._layout.to(SchedulerController), workload, claims)
        return self._schedulers[key]

    def _preempting(self, workload: int, claims: tuple[int, ...]) -> PreemptingScheduler:
        """The scheduler where pods of some workloads go before others."""
        from kubeproof.controllers.scheduler.preempting import goes_first

        key = (workload, claims)
        if key not in self._queue:
            setup = self._layout.setup
            daemons = daemon_sets(setup)  # their pods wait with their nodes
            others = [other for other in range(len(setup.workloads)) if other not in daemons]
            first = [other for other in others if goes_first(setup, other, workload)]
            rivals = tuple(self._preempting(other, claims) for other in first)
            self._queue[key] = PreemptingScheduler(
                self._layout.to(PreemptingScheduler), workload, claims, rivals=rivals
            )
        return self._queue[key]

    def make_pinned_scheduler(self, workload: int) -> PinnedScheduler:
        """The scheduler of pods that may only run on one node."""
        if workload not in self._pinned:
            make = PreemptingPinnedScheduler if has_priorities(self._layout.setup) else PinnedScheduler
            self._pinned[workload] = make(self._layout.to(make), workload)
        return self._pinned[workload]

    def descheduler(self, memory: int) -> PeriodicLoop:
        """The descheduler whose clock is this memory."""
        policy = self._layout.setup.descheduler
        assert policy is not None
        if memory not in self._deschedulers:
            self._deschedulers[memory] = DeschedulerController(self._layout.to(DeschedulerController), policy, memory)
        return self._deschedulers[memory]


def share_loops(layout: Layout) -> SharedLoops:
    """The loops for a layout, the same for all that differ only in numbers these loops do not see."""
    return _loops(replace(layout, setup=_without_numbers(layout.setup)))


def _without_numbers(setup: Setup) -> Setup:
    workloads = tuple(replace(workload, replicas=0) for workload in setup.workloads)
    asked = setup.descheduler is not None or has_priorities(setup)
    budgets = setup.budgets if asked else ()
    return replace(setup, workloads=workloads, autoscalers=(), budgets=budgets, quotas=())


_loops = lru_cache(maxsize=MOST_LAYOUTS)(SharedLoops)


def recall_of(
    setup: Setup,
    counted: tuple[int, ...],
    autoscaler: HorizontalPodAutoscaler,
    rules: tuple[UsageRule, ...],
    settings: AutoscalerSettings,
) -> Recall:
    """What this autoscaler has worked out in any setup in which it would work out the same.

    Metrics do not know the bounds, and what bounds and history make of a proposal does not know the pods.
    """
    from kubeproof.controllers.hpa.ahead import Recall

    pods = tuple((number, setup.workloads[number].template) for number in counted)
    boundless = replace(autoscaler, min_replicas=0, max_replicas=0)
    proposals = _recall("proposals", boundless, settings, (pods, rules))
    return Recall(proposals, *(_recall(kind, autoscaler, settings) for kind in ("outcomes", "acting", "memories")))


@lru_cache(maxsize=MOST_AUTOSCALERS)
def _recall(
    kind: str, autoscaler: HorizontalPodAutoscaler, settings: AutoscalerSettings, seen: object = None
) -> dict[object, Any]:
    """One table for all who would fill it alike."""
    return {}


def forget() -> None:
    """Lets every later setup begin without what earlier ones have worked out."""
    _loops.cache_clear()
    _recall.cache_clear()
