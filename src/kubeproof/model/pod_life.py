"""How long pods stay in their phases, and what they become."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kubeproof.cluster.nodes.images import find_brought_images, missing_images
from kubeproof.cluster.nodes.places import taints_of
from kubeproof.cluster.objects import Node, Setup
from kubeproof.cluster.state import NEVER, Health, NodeCell, Phase, PodKind
from kubeproof.controllers.evictions.taint_eviction import seconds_tolerated
from kubeproof.controllers.kubelet import MOST_RESTARTS
from kubeproof.model.by_name.ticks import Ages

DEAD = (Health.LOST, Health.UNKNOWN)
RunTimes = tuple[tuple[int, int] | None, ...]  # per workload, least and most seconds that a pod of a Job runs
AT_WORK = (Phase.READY, Phase.UNREADY)  # phases in which a pod of a Job does what it is for
HANDLING_S = 1  # least time in which taint eviction handles a pod that arrives on a tainted node


class PodLife:
    """The phases and clocks of the pods of one setup."""

    def __init__(
        self,
        setup: Setup,
        ages: Ages = (),
        *,
        most_failed: tuple[int, ...] = (),
        never_ready: frozenset[int] = frozenset(),
        most_asked: int = 0,  # the largest number that a property compares terminating pods with
        runs_s: RunTimes = (),
        routes: Mapping[int, tuple[int, int]] = MappingProxyType({}),
        kept: frozenset[int] = frozenset(),
        lives: Ages = (),  # per workload, the seconds since a pod got its node that a loop asks for, ascending
        spare_ages: tuple[int, ...] = (),  # for how long a node has to be unneeded until something follows, ascending
    ) -> None:
        self.setup = setup
        self.ages = ages or ((),) * len(setup.workloads)
        self.most_failed = most_failed or (0,) * len(setup.workloads)  # failed pods counted up to here
        self.never_ready = never_ready  # workloads whose pods run but never become ready
        self.runs_s = runs_s or (None,) * len(setup.workloads)
        self.routes = routes  # where traffic is followed: `route_s` of deleted pods that were ready, and of others
        self.kept = kept  # Jobs whose finished pods count until the Job goes: an autoscaler lists them
        self.spare_ages = spare_ages
        self.lives = lives or ((),) * len(setup.workloads)
        self._brought = find_brought_images(setup)
        self._missing = {node.name: missing_images(setup, node) for node in setup.nodes} if any(self._brought) else {}
        largest = max((node.pods for node in setup.nodes), default=0)
        self.most_stuck = 1 + max(
            largest, *self.most_failed, most_asked
        )  # terminating pods on a dead node are counted up to here

    def clocks(self, workload: int, phase: int) -> tuple[int, int]:
        """Least and most seconds a pod stays in a phase while its kubelet lives; NEVER twice for lasting phases."""
        template = self.setup.workloads[workload].template
        restarts = phase == Phase.RUNNING and template.readiness is None and workload not in self.never_ready
        if phase == Phase.STARTING or restarts:
            return self.setup.settings.startup_s
        if phase == Phase.RUNNING and template.readiness is not None and workload not in self.never_ready:
            probe = template.readiness
            settled = probe.period_s * (probe.success_threshold - 1)
            least = probe.initial_delay_s + settled
            return least, least + probe.period_s
        if phase == Phase.TERMINATING:
            return min(template.pre_stop_s, template.grace_s), template.grace_s
        run_s = self.runs_s[workload]
        return run_s if phase in AT_WORK and run_s is not None else (NEVER, NEVER)

    def newborn(self, workload: int) -> PodKind:
        """A pod that was just bound to a node that lives and evicts nobody."""
        return self._kind(NodeCell(), workload, Phase.STARTING, life_s=self._life_at_birth(workload))

    def next_kind(self, kind: PodKind) -> PodKind:
        """What becomes of a pod that moves on, on a node that lives."""
        return self._next(NodeCell(), kind)

    def starts(self, cell: NodeCell) -> tuple[tuple[int | None, float], ...]:
        """How long a pod that is bound takes to start, with probabilities; None for the usual range."""
        choices = self.setup.settings.startup_choices
        return choices if choices and cell.health not in DEAD else ((None, 1.0),)

    def most_restarts(self, workload: int) -> int:
        """Up to where restarts of a pod are counted: a Job's limit may be higher than where the back-off ends."""
        declared = self.setup.workloads[workload]
        return max(MOST_RESTARTS, declared.job.backoff_limit) if declared.rules.counts_completions else MOST_RESTARTS

    def fails_when_deleted(self, workload: int, *, vanishes: bool) -> bool:
        """True if a pod that somebody else deletes counts as failed at once, and not when it has ended."""
        declared = self.setup.workloads[workload]
        return declared.rules.counts_completions and (vanishes or not declared.job.only_failed)

    def _kind(
        self,
        cell: NodeCell,
        workload: int,
        phase: int,
        evict_s: int = NEVER,
        age_s: int = NEVER,
        restarts: int = 0,
        preempted: int = 0,
        route_s: int = NEVER,
        life_s: int = NEVER,
    ) -> PodKind:
        clocks = (NEVER, NEVER) if cell.health in DEAD else self.clocks(workload, phase)
        return PodKind(workload, phase, *clocks, evict_s, age_s, restarts, preempted, route_s, life_s)

    def _life_at_birth(self, workload: int) -> int:
        return 0 if self.lives[workload] else NEVER

    def _long_life(self, workload: int) -> int:
        """The life of a pod that was there before the run: longer than anybody asks for."""
        return self.lives[workload][-1] if self.lives[workload] else NEVER

    def _next(self, cell: NodeCell, kind: PodKind) -> PodKind:
        probed = self.setup.workloads[kind.workload].template.readiness is not None or kind.workload in self.never_ready
        phase = Phase.RUNNING if kind.phase == Phase.STARTING and probed else Phase.READY
        age_s = 0 if kind.phase == Phase.STARTING and self.ages[kind.workload] else kind.age_s
        return self._kind(cell, kind.workload, phase, kind.evict_s, age_s, kind.restarts, life_s=kind.life_s)

    def _midway(self, kind: PodKind) -> PodKind:
        """The pod as one of which nobody knows how long it has been at work."""
        is_at_work = kind.phase in AT_WORK and kind.least_s != NEVER
        return kind._replace(least_s=0) if is_at_work else kind

    def _ends_for_good(self, workload: int) -> bool:
        """True if a container that exits is not restarted."""
        declared = self.setup.workloads[workload]
        return declared.rules.counts_completions and not declared.job.restarts

    def _route_s(self, kind: PodKind) -> int:
        """How long a pod that is deleted now goes on getting traffic."""
        if kind.phase == Phase.STARTING:
            return NEVER
        if_ready, otherwise = self.routes.get(kind.workload, (NEVER, NEVER))
        return if_ready if kind.phase == Phase.READY else otherwise

    def _first_evict_s(self, node: Node, cell: NodeCell, workload: int) -> int:
        tolerations = self.setup.workloads[workload].template.tolerations
        seconds = seconds_tolerated(tolerations, taints_of(node, cell))
        return max(seconds, HANDLING_S) if seconds != NEVER else NEVER

    def _images_after(self, node: Node, cell: NodeCell, workload: int) -> int:
        """The images that the node has got, a pod of the workload having started there."""
        return cell.images | self._brought[workload] & self._missing.get(node.name, 0)
