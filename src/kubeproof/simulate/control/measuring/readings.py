"""Series over time of one run: counts at each reading, and what was used and served since the one before."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.objects import Node, family
from kubeproof.cluster.usage import CPU, request_milli
from kubeproof.events.quantities import Power, QuantifySettings
from kubeproof.events.workload import WorkloadSpec
from kubeproof.model.plan import Plan
from kubeproof.simulate import outcome
from kubeproof.simulate.control.measuring.census import Census, Count, limit_of, runs
from kubeproof.simulate.control.walk import Walk
from kubeproof.simulate.outcome import Costs, Series, ServiceTotals, Timeline
from kubeproof.simulate.serving.contract import Served, ServiceSpan, Times

HOUR_S = 3600
JOULES_PER_KWH = 3_600_000
Subject = tuple[str, str, str]  # scope, subject, quantity
CLUSTER = "cluster"


class Readings:
    """Collects the series of a run."""

    def __init__(self, plan: Plan, workload: WorkloadSpec, census: Census, settings: QuantifySettings) -> None:
        self._plan, self._setup = plan, plan.setup
        self._census = census
        self._settings = settings
        self._workload = workload
        self._names = dict(self._list_named())
        self._times: list[float] = []
        self._values: dict[Subject, list[float | None]] = {}
        self._totals: dict[str, ServiceSpan] = {}
        self._since: dict[str, ServiceSpan] = {}
        self._used: dict[str, float] = {}  # core seconds since the last reading, by service
        self._node_used: dict[str, float] = {}  # and by node
        self._energy_j = 0.0
        self._joules = 0.0
        self._pod_s = self._node_s = 0.0
        self._read_s = 0.0
        self._powers = tuple(_power(settings, node) for node in plan.setup.nodes)

    def _list_named(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Each workload with its revisions, by the name of its service or else its reference."""
        names = {service.target: service.name for service in self._workload.services}
        for number, workload in enumerate(self._setup.workloads):
            if workload.owner is None:
                yield names.get(workload.ref, workload.ref), family(self._setup, number)

    # -- spans ------------------------------------------------------------------------------------

    def span(self, walk: Walk, served: Served | None, seconds: int) -> None:
        """A time during which nothing changed but requests."""
        self._census.look(walk.state)
        node_use = self._measure_nodes(walk, served, seconds)
        for node, state in enumerate(walk.state.nodes):
            counts = self._census.on_node(node)
            self._pod_s += seconds * sum(count.pods for count in counts.values())
            if runs(state):
                self._node_s += seconds
                self._draw(node, node_use.get(self._setup.nodes[node].name, 0.0), seconds)
        for name, used in node_use.items():
            self._node_used[name] = self._node_used.get(name, 0.0) + used
        if served is not None:
            self._serve(served)

    def _measure_nodes(self, walk: Walk, served: Served | None, seconds: int) -> dict[str, float]:
        """Core seconds per node."""
        used: dict[str, float] = {}
        for node, declared in enumerate(self._setup.nodes):
            told = self._census.sum_told_use(node, walk.state.memories)
            if told:
                used[declared.name] = told * seconds / 1000
        for service, slots in self._census.endpoints().services.items() if served is not None else ():
            for slot in slots:
                span = served.pods.get((slot.pod, slot.birth)) if served is not None else None
                if span is not None:
                    used[slot.node] = used.get(slot.node, 0.0) + span.cpu_core_s
                    self._used[service] = self._used.get(service, 0.0) + span.cpu_core_s
        return used

    def _draw(self, node: int, used_core_s: float, seconds: int) -> None:
        power, declared = self._powers[node], self._setup.nodes[node]
        if power is None or not seconds:
            return
        load = min(1.0, 1000 * used_core_s / seconds / declared.cpu_milli) if declared.cpu_milli else 0.0
        joules = seconds * (power.idle_w + (power.max_w - power.idle_w) * load)
        self._energy_j += joules
        self._joules += joules

    def _serve(self, served: Served) -> None:
        for name, span in served.services.items():
            self._since[name] = add(self._since.get(name), span)
            self._totals[name] = add(self._totals.get(name), span)

    @property
    def last_s(self) -> float:
        """When series were last read; before the first time something below zero."""
        return self._times[-1] if self._times else -1.0

    # -- readings ---------------------------------------------------------------------------------

    def read(self, walk: Walk, now_s: int) -> None:
        """One value of every series."""
        seconds = now_s - self._read_s
        self._times.append(float(now_s))
        self._census.look(walk.state)
        services = {service.name for service in self._workload.services}
        for name, members in self._names.items():
            self._read_workload(walk, name, members, seconds, is_served=name in services)
        self._read_nodes(walk, seconds)
        self._put(CLUSTER, CLUSTER, outcome.NODES, sum(map(runs, walk.state.nodes)))
        if any(self._powers):
            self._put(CLUSTER, CLUSTER, outcome.WATTS, self._joules / seconds if seconds else None)
        self._since, self._used, self._node_used, self._joules = {}, {}, {}, 0.0
        self._read_s = now_s

    def _read_workload(
        self, walk: Walk, name: str, members: tuple[int, ...], seconds: float, *, is_served: bool
    ) -> None:
        state, scope = walk.state, outcome.SERVICE
        count = self._census.of_workload(members)
        waiting = sum(len(state.unbound[member]) for member in members)
        waiting += sum(1 for node in state.nodes for owner, _ in node.pinned if owner in members)
        self._put(scope, name, outcome.DESIRED, state.specs[members[0]].desired)
        self._put(scope, name, outcome.PODS, count.pods + waiting)
        self._put(scope, name, outcome.READY, count.ready)
        self._put(scope, name, outcome.PENDING, waiting)
        requested, limited = self._sum_requests(members)
        if is_served:
            used = self._used.get(name, 0.0) / seconds if seconds else None
        else:
            used = self._census.sum_told_use_of(members, state.memories) / 1000
        self._put(scope, name, outcome.CPU_USED, used)
        self._put(scope, name, outcome.CPU_REQUESTED, requested)
        self._put(scope, name, outcome.CPU_LIMIT, limited)
        if is_served:
            self._read_requests(name, seconds)

    def _sum_requests(self, members: tuple[int, ...]) -> tuple[float, float | None]:
        """Cores that bound pods request, and their limits together; None if one has no limit."""
        requested, limited = 0.0, 0.0
        unlimited = False
        for member in members:
            pods = self._census.of_workload((member,)).pods
            template = self._setup.workloads[member].template
            requested += pods * request_milli(template, CPU) / 1000
            limit = limit_of(template, CPU)
            unlimited |= limit is None
            limited += pods * (limit or 0) / 1000
        return requested, None if unlimited else limited

    def _read_requests(self, name: str, seconds: float) -> None:
        scope, span = outcome.SERVICE, self._since.get(name)
        known = span or ServiceSpan(0, 0, 0, 0, self._totals[name].waiting if name in self._totals else 0)
        rates = (
            (outcome.ARRIVED, known.arrived),
            (outcome.OK, known.ok),
            (outcome.LATE, known.late),
            (outcome.FAILED, known.failed),
        )
        for quantity, number in rates:
            self._put(scope, name, quantity, number / seconds if seconds else None)
        self._put(scope, name, outcome.WAITING, known.waiting)
        for quantity, percent in ((outcome.P50, 50), (outcome.P95, 95), (outcome.P99, 99)):
            self._put(scope, name, quantity, known.times.percentile(percent) if known.times is not None else None)

    def _read_nodes(self, walk: Walk, seconds: float) -> None:
        for at, declared in enumerate(self._setup.nodes):
            counts = self._census.on_node(at)
            is_up = runs(walk.state.nodes[at])
            pods = sum(count.pods for count in counts.values())
            asked = sum(self._sum_requested(member, count) for member, count in counts.items())
            used = self._node_used.get(declared.name, 0.0) / seconds if seconds else None
            self._put(outcome.NODE, declared.name, outcome.PODS, pods)
            self._put(outcome.NODE, declared.name, outcome.CPU_USED, used)
            self._put(outcome.NODE, declared.name, outcome.CPU_REQUESTED, asked)
            self._put(outcome.NODE, declared.name, outcome.CPU_ALLOCATABLE, declared.cpu_milli / 1000 if is_up else 0.0)

    def _sum_requested(self, member: int, count: Count) -> float:
        return count.pods * request_milli(self._setup.workloads[member].template, CPU) / 1000

    def _put(self, scope: str, subject: str, quantity: str, value: float | None) -> None:
        self._values.setdefault((scope, subject, quantity), []).append(value)

    # -- results ----------------------------------------------------------------------------------

    def timeline(self) -> Timeline:
        """All series."""
        return Timeline(tuple(self._times), tuple(Series(*key, tuple(each)) for key, each in self._values.items()))

    def services(self) -> tuple[ServiceTotals, ...]:
        """What became of all requests."""
        found = []
        for service in self._workload.services:
            span = self._totals.get(service.name) or ServiceSpan(0, 0, 0, 0, 0)
            counts = span.arrived, span.ok, span.late, span.failed, span.waiting
            found.append(ServiceTotals(service.name, *counts, span.times))
        return tuple(found)

    def costs(self) -> Costs:
        """What the run took."""
        prices = self._settings.prices
        energy = self._energy_j / JOULES_PER_KWH if any(self._powers) else None
        pod_hours, node_hours = self._pod_s / HOUR_S, self._node_s / HOUR_S
        if prices is None:
            return Costs(pod_hours, node_hours, energy)
        cost = prices.pod_hour * pod_hours + prices.node_hour * node_hours + prices.kilowatt_hour * (energy or 0.0)
        return Costs(pod_hours, node_hours, energy, cost)


def add(before: ServiceSpan | None, span: ServiceSpan) -> ServiceSpan:
    """Two spans together."""
    if before is None:
        return span
    return ServiceSpan(
        before.arrived + span.arrived,
        before.ok + span.ok,
        before.late + span.late,
        before.failed + span.failed,
        span.waiting,
        merge(before.times, span.times),
    )


def merge(one: Times | None, other: Times | None) -> Times | None:
    """The times of both."""
    if one is None or other is None:
        return other if one is None else one
    return one.merge(other)


def _power(settings: QuantifySettings, node: Node) -> Power | None:
    return next((power for power in settings.power if power.nodes.admits(node)), None)
