"""`--autoscaler simple`: the published rule, on the Deployments that the input's autoscalers are about."""

from __future__ import annotations

from math import floor

from kubeproof.cluster.loops.actions import SetDesired
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Role
from kubeproof.cluster.objects import Setup, family
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler
from kubeproof.cluster.usage import CPU, request_milli
from kubeproof.events.workload import SimpleRule
from kubeproof.model.by_name.state import State


class SimpleScaler:
    """Decides by what it read a cycle ago: several pods more at once, or one less after some quiet time."""

    def __init__(self, setup: Setup, autoscaler: HorizontalPodAutoscaler, service: str, rule: SimpleRule) -> None:
        self.service = service
        self.name = Actor(ActorKind.SIMPLE_AUTOSCALER, autoscaler.name)
        self._rule, self._autoscaler = rule, autoscaler
        self.target = next(n for n, workload in enumerate(setup.workloads) if workload.ref == autoscaler.target)
        self._members = family(setup, self.target)
        self._request = request_milli(setup.workloads[self.target].template, CPU)
        self._ratio: float | None = None
        self._quiet_s = 0

    def cycle(self, state: State, mean_milli: float | None) -> Decision | None:
        """Acts on the last reading, then takes a new one; not while a pod waits for a node."""
        if any(state.unbound[member] for member in self._members) or not self._request:
            self._ratio = None
            return None
        decision = None if self._ratio is None else self._act(state, self._ratio)
        self._ratio = None if mean_milli is None else mean_milli / self._request
        is_quiet = self._ratio is not None and self._ratio < self._rule.down
        self._quiet_s = self._quiet_s + self._rule.cycle_s if is_quiet else 0
        return decision

    def _act(self, state: State, ratio: float) -> Decision | None:
        rule, size = self._rule, state.specs[self.target].desired
        least, most = self._autoscaler.min_replicas, self._autoscaler.max_replicas
        wanted = size
        if ratio >= rule.up:
            wanted = min(most, size + floor(ratio / rule.up))
        elif self._quiet_s >= rule.quiet_s:
            wanted = max(least, size - 1)
        wanted = min(max(wanted, least), most)
        return None if wanted == size else Decision((SetDesired(self.target, wanted),), Role.EVENT)
