"""Runs an experiment interval by interval."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kubeproof.simulate.published.arrivals import arrivals_of
from kubeproof.simulate.published.backlog import Finished
from kubeproof.simulate.published.cluster import Parcel, TimedNode, TimedPod
from kubeproof.simulate.published.declarations import Experiment
from kubeproof.simulate.published.flow import FlowRun
from kubeproof.simulate.published.result import Curves, Reading, Responses
from kubeproof.simulate.published.service import TimedService
from kubeproof.simulate.published.thresholds import ThresholdScaler


def simulate(experiment: Experiment) -> Curves:
    """The curves of a run: one reading per service and interval."""
    run = _Run(experiment)
    readings = tuple(reading for interval in range(experiment.intervals) for reading in run.interval(interval))
    return Curves(experiment.name, experiment.interval_s, readings, tuple(run.responses()))


class _Run:
    """Where a run stands."""

    def __init__(self, experiment: Experiment) -> None:
        self._nodes = [TimedNode(spec) for spec in experiment.nodes]
        self._services = {spec.name: TimedService(spec, self._nodes) for spec in experiment.services}
        self._scalers = [ThresholdScaler(service) for service in self._services.values()]
        self._arrivals = arrivals_of(experiment.waves)
        self._instants = sorted(self._arrivals)
        self._next = 0
        self._flow = FlowRun(experiment.flow, self._services) if experiment.flow else None
        self._ended: dict[str, Counter[float]] = {name: Counter() for name in self._services}

    def interval(self, number: int) -> Iterator[Reading]:
        """Begins an interval, tells what was in the one before, and serves what comes."""
        used = {name: sum(pod.used for pod in service.pods) for name, service in self._services.items()}
        for node in self._nodes:
            node.begin_interval()
        for service in self._services.values():
            service.remove_idle()
            service.place_pending()
        if self._flow:
            self._flow.arrive(number)  # a pod that is launched now takes none of this batch
        for scaler in self._scalers:
            scaler.cycle()
        for name, service in self._services.items():
            yield Reading(number, name, len(service.pods), used[name], service.ratio)
        self._work(float(number), self._nodes, self._receive(float(number)))
        while self._next < len(self._instants) and self._instants[self._next] < number + 1:
            instant = self._instants[self._next]
            received = self._receive(instant)
            self._work(instant, received, received)  # the other nodes have done all they could before

    def _receive(self, instant: float) -> Mapping[TimedNode, list[Parcel]]:
        """The requests that come at an instant, by node."""
        parcels: dict[TimedNode, list[Parcel]] = defaultdict(list)
        if self._next < len(self._instants) and self._instants[self._next] == instant:
            self._next += 1
            for (name, cost), count in self._arrivals[instant].items():
                self._services[name].deal(cost, count, parcels)
        return parcels

    def _work(self, instant: float, nodes: Iterable[TimedNode], received: Mapping[TimedNode, Sequence[Parcel]]) -> None:
        while self._work_once(instant, nodes, received):  # a stage that began at this instant is worked on at once
            nodes, received = self._nodes, {}

    def _work_once(
        self, instant: float, nodes: Iterable[TimedNode], received: Mapping[TimedNode, Sequence[Parcel]]
    ) -> bool:
        """True if there is more to do at this instant than there was."""
        has_more = False
        for pod, finished in [pair for node in nodes for pair in self._end_work(instant, node, received.get(node, ()))]:
            for arrived, count in finished:
                has_more |= self._end(pod.spec.name, arrived, count, instant)
        return has_more

    def _end_work(
        self, instant: float, node: TimedNode, parcels: Sequence[Parcel]
    ) -> Iterable[tuple[TimedPod, list[Finished]]]:
        """What a node ends at an instant, but for requests that come and end at once: they are counted here."""
        if node.serves_at_once(parcels):
            for pod, _, count in parcels:
                self._ended[pod.spec.name][0.0] += count
            return ()
        for pod, cost, count in parcels:
            pod.take(cost, instant, count)
        return node.work().items()

    def _end(self, service: str, arrived: float, count: int, instant: float) -> bool:
        """Counts requests that ended; True if others were called because of that."""
        if self._flow is None:
            self._ended[service][instant - arrived] += count
            return False
        took, has_more = self._flow.end_parts(service, arrived, count, instant)
        if took is not None:
            self._ended[service][took] += self._flow.requests
        return has_more

    def responses(self) -> Iterator[Responses]:
        """How long requests took so far."""
        for name, service in self._services.items():
            unfinished = sum(pod.backlog.requests + len(pod.waiting) for pod in service.pods)
            if self._flow:
                unfinished = self._flow.count_unfinished(name)
            yield Responses(name, tuple(sorted(self._ended[name].items())), unfinished)
