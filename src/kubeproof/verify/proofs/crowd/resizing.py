"""What autoscalers may do to the sizes of the workloads to be proved.

An autoscaler writes sizes between its bounds, at any moment as far as a proof knows. That is all there is to say about
what never happens. For what must happen it has to come to rest: it does if every pod always uses the same, because then
it either never asks for less or never asks for more. `docs/explanation/reductions.md` has the argument.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import ceil

from kubeproof.cluster.loops.footprint import Writes, footprint_of
from kubeproof.cluster.objects import Workload
from kubeproof.cluster.steering.counted import foreign_to, is_foreign_to
from kubeproof.cluster.steering.policies import SAMPLED_METRICS, HorizontalPodAutoscaler, Metric
from kubeproof.cluster.usage import DEFAULT_PERCENT
from kubeproof.controllers.hpa.behavior import Tolerance, behavior_of, tolerance_of
from kubeproof.controllers.hpa.samples import pod_request
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.loops.adjusting import autoscaler_settings, working_autoscalers
from kubeproof.model.reductions.loosened import Bounds
from kubeproof.named_tuples import NamedTuple
from kubeproof.verify.proofs.crowd.room import Room, working, writes_any
from kubeproof.verify.proofs.slicing import Slice

COMING = Writes.OBJECTS | Writes.REMOVALS  # a workload comes or goes, or its whole object is written


class Resizing(NamedTuple):
    """The sizes that autoscalers may write, by workload, and whether they come to rest."""

    bounds: dict[str, Bounds]
    settles: bool


def find_resizing(loaded: Loaded, part: Slice, room: Room) -> Resizing | None:
    """What autoscalers may do to the workloads of a part; None if that is not known."""
    bounds: dict[str, Bounds] = {}
    settles = True
    for target in part.loaded.setup.workloads:
        scalers = [one for one in room.scalers if one.target == target.ref]
        if not scalers:
            continue
        if not target.rules.has_replica_set or (len(scalers) > 1 and not _may_agree(scalers)):
            return None
        cases = [_Case(loaded, one, target) for one in scalers]
        is_patient = len(cases) == 1 and cases[0].is_patient(part, room)
        least = min(one.min_replicas for one in scalers)
        bounds[target.ref] = Bounds(least, max(case.largest for case in cases), is_patient)
        settles &= all(case.settles(room) for case in cases)
    return Resizing(bounds, settles)


def keeps_size(loaded: Loaded, autoscaler: HorizontalPodAutoscaler) -> bool:
    """True if a target that is at rest keeps its size: its one autoscaler has but one size to write."""
    of_target = [one for one in working(loaded) if one.target == autoscaler.target]
    target = next((one for one in loaded.setup.workloads if one.ref == autoscaler.target), None)
    return target is not None and of_target == [autoscaler] and _Case(loaded, autoscaler, target).has_one_size


def _may_agree(scalers: Sequence[HorizontalPodAutoscaler]) -> bool:
    """True for autoscalers that follow metrics of elsewhere alone, and of which some size is within all bounds."""
    is_apart = max(one.min_replicas for one in scalers) > min(one.max_replicas for one in scalers)
    return all(map(_follows_elsewhere, scalers)) and not is_apart


def _follows_elsewhere(autoscaler: HorizontalPodAutoscaler) -> bool:
    """True if no metric is worked out from what pods use: nobody knows what they ask for, but in the end it rests."""
    return bool(autoscaler.metrics) and all(metric.type not in SAMPLED_METRICS for metric in autoscaler.metrics)


class _Case:
    """One autoscaler with its target."""

    def __init__(self, loaded: Loaded, autoscaler: HorizontalPodAutoscaler, target: Workload) -> None:
        self._loaded, self._autoscaler, self._target = loaded, autoscaler, target
        self._events = [event for event in loaded.scenario.events if event.subject == target.ref]

    def settles(self, room: Room) -> bool:
        """True if it writes finitely often."""
        if self.has_one_size:
            return True
        if _follows_elsewhere(self._autoscaler):
            return not self._happens(COMING)
        return self.is_uniform and self.ends_irregular_times(room)

    @property
    def has_one_size(self) -> bool:
        """True if it never writes another size than its minimum, and nobody else writes any."""
        return self.largest == self._autoscaler.min_replicas and not self._happens(Writes.SIZES)

    @cached_property
    def is_uniform(self) -> bool:
        """True if all pods that it counts use the same at any time, whatever their number and age."""
        setup = self._loaded.setup
        others = [one for one in working_autoscalers(setup) if one is not self._autoscaler]
        number = setup.workloads.index(self._target)
        is_alone = not foreign_to(setup, self._autoscaler) and not any(
            other.target == self._target.ref or is_foreign_to(setup, other, number) for other in others
        )
        usage = [event for event in self._events if writes_any(event, Writes.USAGE)]
        is_level = all(footprint_of(event).has_even_usage for event in usage)
        return is_alone and is_level and not self._happens(COMING)

    @cached_property
    def largest(self) -> int:
        """The largest size that it may write: the maximum, unless usage never asks for more than there is."""
        if not self.is_uniform or self._may_rise():
            return self._autoscaler.max_replicas
        scaled = [n for event in self._events for n in event.sizes]
        wanted = max(self._target.replicas, self._autoscaler.min_replicas, *scaled)
        while self._happens(Writes.TEMPLATES) and wanted < self._autoscaler.max_replicas:
            asked = self._find_most_asked(wanted + self._target.strategy.surge_of(wanted))
            if asked <= wanted:
                break
            wanted = asked
        return min(wanted, self._autoscaler.max_replicas)

    def _find_most_asked(self, pods: int) -> int:
        """The most that is asked for while there are so many pods, as usage is never above the target."""
        ratios = [ratio for ratio in self._all_ratios if ratio is not None and not self._tolerance.covers(ratio)]
        return max((ceil(ratio * pods) for ratio in ratios), default=0)

    def is_patient(self, part: Slice, room: Room) -> bool:
        """True if whatever it writes is done before it writes again: no event leaves work within one instant."""
        scenario = part.loaded.scenario
        on_usage = all(footprint_of(event).writes == Writes.USAGE for event in scenario.events)
        is_calm = scenario.start.mode == "deployed" and on_usage
        return is_calm and self._loaded.setup.settings.hpa_period_s > 0 and not room.find_passing_shortage(self._target)

    def _happens(self, what: Writes) -> bool:
        return any(writes_any(event, what) for event in self._events)

    def _are_as_told(self) -> bool:
        """True if something beside their use is said of the pods from the start: perhaps that they are never ready."""
        told = (footprint_of(event) for event in self._events)
        return any(not one.is_moment and not one.writes & Writes.USAGE for one in told)

    def _may_rise(self) -> bool:
        """True if some level of usage asks for more pods than there are."""
        ratios = self._all_ratios
        return any(ratio is None or (ratio > 1 and not self._tolerance.covers(ratio)) for ratio in ratios)

    @property
    def _tolerance(self) -> Tolerance:
        return tolerance_of(behavior_of(self._autoscaler), autoscaler_settings(self._loaded.setup))

    @property
    def _all_ratios(self) -> list[float | None]:
        return [ratio for metric in self._autoscaler.metrics for ratio in self._ratios(metric)]

    def _ratios(self, metric: Metric) -> Iterator[float | None]:
        """What each level of usage makes of the target, as the autoscaler measures it; None where that is not known."""
        changes = [event.levels_of(metric.name) for event in self._events]
        is_share = metric.type == "Resource" and metric.target_type == "Utilization"
        if not is_share or None in changes:
            yield None
            return
        version = self._loaded.setup.settings.kubernetes_version
        request = pod_request(self._target.template, metric.name, version=version)
        levels = [percent for told in changes for percent in told or ()] or [DEFAULT_PERCENT]
        for percent in levels:
            if not request or percent is None:
                yield None
            else:
                yield float(request * percent // 100 * 100 // request) / float(metric.value)

    def ends_irregular_times(self, room: Room) -> bool:
        """True if the times in which there are more or fewer pods than wanted come to an end.

        Only a rollout makes them last. Before a size falls it has not risen for a whole window; that must be enough for
        a rollout, which needs at most the time of a start for each pod that has to go or to come.
        """
        if not self._happens(Writes.TEMPLATES):
            return True
        if self._are_as_told() or room.find_passing_shortage(self._target):
            return False
        settings, template, most = self._loaded.setup.settings, self._target.template, self.largest
        probe = template.readiness
        ready_s = 0 if probe is None else probe.initial_delay_s + probe.period_s * probe.success_threshold
        behavior = behavior_of(self._autoscaler)
        flag_s = settings.downscale_stabilization_s
        window_s = flag_s if behavior is None else behavior.down_window_s(flag_s)
        steps = 2 * most + self._target.strategy.surge_of(most)
        return self._target.strategy.rolling and steps * (settings.startup_s[1] + ready_s) <= window_s
