"""One run of a cluster: its controllers, the requests to its services, faults and chance, until time is over."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import exp
from random import Random

from kubeproof.cluster.objects import Setup
from kubeproof.cluster.usage import CPU
from kubeproof.errors import UsageError
from kubeproof.events.workload import WorkloadSpec
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.by_name.state import State
from kubeproof.model.expansion.used import usage_rules
from kubeproof.simulate.control.chance.hazards import Hazards, Threat
from kubeproof.simulate.control.chance.moments import Moments, run_until_stable
from kubeproof.simulate.control.measuring.census import Census
from kubeproof.simulate.control.measuring.metering import Metering
from kubeproof.simulate.control.measuring.readings import Readings
from kubeproof.simulate.control.planning import SIMPLE, Planned
from kubeproof.simulate.control.schedules import Schedules
from kubeproof.simulate.control.simple import SimpleScaler
from kubeproof.simulate.control.timetable import Timetable, find_steered
from kubeproof.simulate.control.verdicts import Verdicts
from kubeproof.simulate.control.walk import Taken, Walk
from kubeproof.simulate.control.words import describe, describe_shifts
from kubeproof.simulate.options import SimulateOptions, reading_s
from kubeproof.simulate.outcome import Costs, Moment, ServiceTotals, Timeline
from kubeproof.simulate.serving.contract import DataPlane
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict

DEPLOYING_S = 24 * 3600  # within which `start: deployed` must come to rest
MOST_MOMENTS = 10_000


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What one run gives."""

    timeline: Timeline
    services: tuple[ServiceTotals, ...]
    costs: Costs
    verdicts: tuple[tuple[Verdict, int | None, str], ...]  # per intent: verdict, first violated at, detail
    moments: tuple[Moment, ...]
    moments_left_out: int
    steps: int
    notes: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()  # per intent: what the run counts for where it violates it, else 0
    failures_expected: float = 0.0  # at the true rates, by what the run was like


class ClockedRun:
    """Where one run stands."""

    def __init__(
        self,
        loaded: Loaded,
        planned: Planned,
        options: SimulateOptions,
        seed: int,
        plane: DataPlane | None,
        witness: Callable[[Taken, State], None] | None = None,
    ) -> None:
        self._options, self._loaded = options, loaded
        self._planned = planned
        self._plane, self._witness = plane, witness
        self._workload = loaded.scenario.workload or WorkloadSpec()
        rng = Random(seed)
        self.walk = Walk(planned.plan, rng, _start(loaded, planned, rng))
        setup = planned.plan.setup
        services = {service.name: service.target for service in self._workload.services}
        self._census = Census(planned.plan, services, usage_rules(setup, planned.plan.declared))
        self._metering = Metering(self._workload.metrics)
        self._sync_s = setup.settings.hpa_period_s
        self._moments = Moments(rng, dict.fromkeys((f"hpa {a.name}" for a in setup.autoscalers), self._sync_s))
        self._timetable = Timetable(self.walk, planned.faults)
        self._schedules = Schedules(self.walk)
        meters = (meter.source for meter in planned.meters)
        own = frozenset(id(source) for source in (*meters, *find_steered(planned.faults)))
        self._hazards = Hazards(self.walk, loaded.scenario.quantify.tick_s, own, options.boost)
        self._readings = Readings(planned.plan, self._workload, self._census, loaded.scenario.quantify)
        self._verdicts = Verdicts(self.walk, lambda: exp(self._hazards.log_weight))
        self._scalers = tuple(_scalers(loaded.setup, self._workload)) if options.autoscaler == SIMPLE else ()
        self._told: list[Moment] = []
        self._left_out = 0
        self._reading_s = reading_s(options.duration_s)
        self._is_measured = bool(planned.meters or self._scalers)

    def run(self, progress: Callable[[int], None] | None = None) -> RunRecord:
        """Goes on until time is over."""
        while True:
            self._instant()
            if self.walk.now_s >= self._options.duration_s:
                break
            if progress is not None:
                progress(self.walk.now_s)
            self._pass()
        self._verdicts.at_end()
        monitors = range(len(self._planned.plan.monitors))
        return RunRecord(
            self._readings.timeline(),
            self._readings.services(),
            self._readings.costs(),
            tuple(
                (self._verdicts.verdict(m), self._verdicts.violated_s[m], self._verdicts.details[m]) for m in monitors
            ),
            self._list_moments(),
            self._left_out,
            self.walk.steps,
            tuple(f"at {at_s} s {name} could not happen" for at_s, name in self._timetable.missed),
            tuple(self._verdicts.weights),
            self._hazards.expected,
        )

    def _list_moments(self) -> tuple[Moment, ...]:
        """The steps worth telling, with the changes of traffic, which are no steps of the cluster."""
        shifts = describe_shifts(self._workload.shifts, self._options.duration_s)
        return tuple(sorted((*shifts, *self._told), key=lambda moment: moment.time_s))

    # -- an instant -------------------------------------------------------------------------------

    def _instant(self) -> None:
        """Everything that happens at this moment."""
        now_s = self.walk.now_s
        self._follow(self.walk.settle())
        self._follow(self._timetable.take_due())
        self._follow(self.walk.settle())
        if self._scalers and now_s % self._workload.simple.cycle_s == 0:
            self._scale_simply(now_s)
        self._follow(self._moments.take_due(self.walk))
        self._verdicts.at_instant()
        if self._start_jobs():
            self._verdicts.at_instant()
        is_time = now_s % self._reading_s == 0 or now_s >= self._options.duration_s
        if is_time and self._readings.last_s != now_s:
            self._readings.read(self.walk, now_s)

    def _start_jobs(self) -> bool:
        """Starts of CronJobs come after everything else: until then the cluster may be at rest."""
        before = self.walk.steps
        self._follow(self._schedules.take_due())
        if self.walk.steps > before:
            self._follow(self._moments.take_due(self.walk))
        return self.walk.steps > before

    def _follow(self, steps: Iterable[Taken]) -> None:
        for taken in steps:
            self._note(taken)

    def _note(self, taken: Taken | None) -> None:
        if taken is None:
            return
        self._census.note(taken)
        self._verdicts.note(taken)
        words = describe(taken)
        if words and len(self._told) < MOST_MOMENTS:
            self._told.append(Moment(taken.time_s, taken.actor, words))
        elif words:
            self._left_out += 1
        if self._witness is not None:
            self._witness(taken, self.walk.state)

    # -- metrics ----------------------------------------------------------------------------------

    def _show_metrics(self, at_s: int) -> None:
        """Shows autoscalers what they will see at a round that is to come.

        Nothing else happens until then, and the model hears of it now: a round that changes nothing is no step of its
        own, so that what it sees must be there before time passes.
        """
        endpoints = self._census.endpoints()
        for meter in self._planned.meters:
            young, expected = self._census.young, meter.expected
            mean = self._metering.mean(meter.service, meter.resource, endpoints, at_s, young=young, expected=expected)
            if mean is not None:
                self._note(self.walk.remember(meter.source, meter.memory, (meter.level(mean), -1)))
        self._follow(self.walk.settle())

    def _scale_simply(self, now_s: int) -> None:
        """A cycle of the published rule."""
        self._census.look(self.walk.state)
        endpoints = self._census.endpoints()
        for scaler in self._scalers:
            mean = self._metering.mean(scaler.service, CPU, endpoints, now_s)
            decision = scaler.cycle(self.walk.state, mean)
            if decision is not None:
                self._note(self.walk.decide(scaler.name, decision))
        self._follow(self.walk.settle())

    # -- time -------------------------------------------------------------------------------------

    def _pass(self) -> None:
        """Lets time pass to the next moment at which something happens."""
        now_s, until_s = self.walk.now_s, self._next_s()
        drawn: tuple[float, Threat] | None = self._hazards.draw(until_s - now_s)
        if drawn is not None:
            until_s = now_s + int(drawn[0])
        self._elapse(until_s)
        if drawn is not None:
            self._follow(self.walk.settle())
            self._follow(self._hazards.take(drawn[1]))

    def _elapse(self, until_s: int) -> None:
        """Lets time pass; the cluster is looked at on the way without being stopped."""
        begin_s = self.walk.now_s
        if begin_s == until_s:
            return
        self._census.look(self.walk.state)
        for mark_s in self._marks(begin_s, until_s):
            self._serve(begin_s, mark_s)
            if self._is_measured and mark_s % self._workload.metrics.scrape_s == 0:
                self._metering.scrape(mark_s, self._census.endpoints())
            if mark_s % self._reading_s == 0 and mark_s < until_s:
                self._readings.read(self.walk, mark_s)
            begin_s = mark_s
        if self._planned.meters and until_s % self._sync_s == 0:
            self._show_metrics(until_s)
        while self.walk.now_s < until_s:
            left_s, due_s = until_s - self.walk.now_s, self.walk.due_s()
            self._note(self.walk.pass_time(left_s if due_s is None else min(left_s, due_s)))
            self._follow(self.walk.settle())

    def _marks(self, begin_s: int, until_s: int) -> list[int]:
        """When somebody looks, and the end."""
        steps = [self._reading_s, *([self._workload.metrics.scrape_s] if self._is_measured else [])]
        found = {mark for step in steps for mark in range(_multiple_after(begin_s, step), until_s, step)}
        return sorted({*found, until_s})

    def _serve(self, begin_s: int, until_s: int) -> None:
        served = None
        if self._plane is not None:
            served = self._plane.advance(float(until_s), self._census.endpoints())
            if self._is_measured:
                self._metering.add(served)
        self._readings.span(self.walk, served, until_s - begin_s)

    def _next_s(self) -> int:
        """The next moment at which something happens that is known now."""
        now_s = self.walk.now_s
        moments = [self._options.duration_s]
        if self._is_measured:
            moments.append(_multiple_after(now_s, self._sync_s))
        if self._scalers:
            moments.append(_multiple_after(now_s, self._workload.simple.cycle_s))
        for moment in (self._moments.next_s(self.walk), self._timetable.next_s(), self._schedules.next_s()):
            if moment is not None:
                moments.append(moment)
        return max(now_s, min(moments))


def _start(loaded: Loaded, planned: Planned, rng: Random) -> State | None:
    """The state in which a run begins: None for the first one of the plan."""
    if loaded.scenario.start.mode != "deployed":
        return None
    walk = Walk(planned.plan.deploying(), rng)
    for _ in run_until_stable(walk, DEPLOYING_S):
        pass
    if not walk.is_stable():
        raise UsageError("E303 the cluster does not come to rest while it is deployed", "Write start: empty.")
    return Walk(planned.plan, rng).model.restart(walk.state)


def _scalers(setup: Setup, workload: WorkloadSpec) -> Iterable[SimpleScaler]:
    for autoscaler in setup.autoscalers:
        service = next((s.name for s in workload.services if s.target == autoscaler.target), None)
        if service is not None:
            yield SimpleScaler(setup, autoscaler, service, workload.simple)


def _multiple_after(now_s: int, step_s: int) -> int:
    return (now_s // step_s + 1) * step_s
