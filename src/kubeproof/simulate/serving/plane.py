"""The data plane: requests of a workload, served by the pods that the control plane says there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any

from kubeproof.errors import ScenarioError
from kubeproof.events import workload as declared
from kubeproof.events.workload import ServiceLoad, WorkloadSpec
from kubeproof.simulate.serving.contract import Endpoints, PodSpan, Served, ServiceSpan, Slot
from kubeproof.simulate.serving.numbers import numpy
from kubeproof.simulate.serving.shapes import (
    LEAST_CONNECTIONS,
    RANDOM,
    ROUND_ROBIN,
    NodeSetting,
    Placement,
    PodSetting,
    ServingKernel,
    Shape,
    Tally,
)
from kubeproof.simulate.serving.streams import source_of
from kubeproof.simulate.serving.times import Histogram

LEAST_WEIGHT = 2.0  # millicores: what Linux gives a pod that asks for nothing
_BALANCING = {
    declared.ROUND_ROBIN: ROUND_ROBIN,
    declared.RANDOM: RANDOM,
    declared.LEAST_CONNECTIONS: LEAST_CONNECTIONS,
}
Key = tuple[str, int]


def make_kernel(shapes: Sequence[Shape], *, seed: int, reroutes: bool, plain: bool = False) -> ServingKernel:
    """The compiled kernel, or its twin where there is no compiler (or `plain` is asked for)."""
    if not plain:
        try:
            from kubeproof.simulate.serving._kernel import CompiledKernel

            return CompiledKernel(shapes, seed=seed, reroutes=reroutes)
        except ImportError:
            pass
    from kubeproof.simulate.serving.kernel import PlainKernel

    return PlainKernel(shapes, seed=seed, reroutes=reroutes)


def make_data_plane(
    workload: WorkloadSpec, *, seed: int, duration_s: float, reroutes: bool = True, plain: bool = False
) -> Plane:
    """A data plane at time 0; see `MakeDataPlane`."""
    return Plane(workload, seed=seed, duration_s=duration_s, reroutes=reroutes, plain=plain)


class Plane:
    """See `DataPlane`."""

    def __init__(
        self, workload: WorkloadSpec, *, seed: int, duration_s: float, reroutes: bool, plain: bool = False
    ) -> None:
        self._loads = workload.services
        _check_calls(self._loads)
        self._kernel = make_kernel(_shapes(self._loads), seed=seed, reroutes=reroutes, plain=plain)
        self._sources = [
            source_of(load, workload.shifts, (seed, number), duration_s) if load.streams else None
            for number, load in enumerate(self._loads)
        ]
        self._now = 0.0
        self._endpoints: Endpoints | None = None
        self._numbers: dict[Key, int] = {}
        self._idle: list[tuple[Key, float]] = []  # cores that each pod uses without any request

    @property
    def kernel(self) -> str:
        """Which kernel serves: compiled or plain."""
        return self._kernel.name

    def advance(self, until_s: float, endpoints: Endpoints) -> Served:
        """Serves from the clock to `until_s` with these endpoints."""
        if endpoints is not self._endpoints:
            self._place(endpoints)
        self._kernel.advance(until_s, *self._arrivals(until_s))
        served = Served(self._now, until_s, self._services(), self._pods(until_s - self._now))
        self._now = until_s
        return served

    def _arrivals(self, until_s: float) -> tuple[Any, Any]:
        """All requests of the span in the order in which they come, and to which service."""
        np = numpy()
        found = [(number, one.take(until_s)) for number, one in enumerate(self._sources) if one is not None]
        if len(found) == 1:
            number, times = found[0]
            return times, np.full(len(times), number, np.intc)
        if not found:
            return np.empty(0), np.empty(0, np.intc)
        times = np.concatenate([times for _, times in found])
        services = np.concatenate([np.full(len(times), number, np.intc) for number, times in found])
        order = np.argsort(times, kind="stable")
        return times[order], services[order]

    # -- endpoints --------------------------------------------------------------------------------

    def _place(self, endpoints: Endpoints) -> None:
        slots: dict[Key, tuple[Slot, list[int]]] = {}
        for number, load in enumerate(self._loads):
            for slot in endpoints.services.get(load.name, ()):
                slots.setdefault((slot.pod, slot.birth), (slot, []))[1].append(number)
        self._renumber(slots.keys())
        nodes = {name: place for place, name in enumerate(endpoints.rooms)}
        idle = {key: self._idle_cores(slot, services, endpoints) for key, (slot, services) in slots.items()}
        self._idle = list(idle.items())
        self._endpoints = endpoints
        self._kernel.place(
            Placement(
                self._nodes(endpoints, slots, idle),
                tuple(
                    self._pod(slot, services, nodes[slot.node], idle[key], endpoints.rooms[slot.node].cpu_milli / 1000)
                    for key, (slot, services) in slots.items()
                ),
                tuple(self._ready(endpoints, load) for load in self._loads),
            )
        )

    def _renumber(self, keys: Iterable[Key]) -> None:
        """Pods keep their numbers; those of pods that are gone are given again, but not at once: nobody takes over."""
        current = dict.fromkeys(keys)
        taken = set(self._numbers.values())
        self._numbers = {key: number for key, number in self._numbers.items() if key in current}
        free = (number for number in range(len(taken) + len(current)) if number not in taken)
        for key in current:
            if key not in self._numbers:
                self._numbers[key] = next(free)

    def _idle_cores(self, slot: Slot, services: Sequence[int], endpoints: Endpoints) -> float:
        if not endpoints.rooms[slot.node].cpu_milli:
            return 0.0  # its node has fallen silent
        wanted = max((self._loads[number].idle_cpu_milli for number in services), default=0)
        return min(wanted, slot.cpu_limit_milli if slot.cpu_limit_milli is not None else wanted) / 1000

    def _nodes(
        self, endpoints: Endpoints, slots: Mapping[Key, tuple[Slot, list[int]]], idle: Mapping[Key, float]
    ) -> tuple[NodeSetting, ...]:
        taken: dict[str, float] = {}
        for key, (slot, _) in slots.items():
            taken[slot.node] = taken.get(slot.node, 0.0) + idle[key]
        return tuple(
            NodeSetting(max(room.cpu_milli / 1000 - taken.get(name, 0.0), 0.0), room.memory_bytes)
            for name, room in endpoints.rooms.items()
        )

    def _pod(self, slot: Slot, services: Sequence[int], node: int, idle: float, cores: float) -> PodSetting:
        limit = cores if slot.cpu_limit_milli is None else slot.cpu_limit_milli / 1000
        return PodSetting(
            self._numbers[slot.pod, slot.birth],
            node,
            max(limit - idle, 0.0),
            max(float(slot.cpu_request_milli), LEAST_WEIGHT),
            inf if slot.memory_limit_bytes is None else float(slot.memory_limit_bytes),
            tuple(services),
        )

    def _ready(self, endpoints: Endpoints, load: ServiceLoad) -> tuple[int, ...]:
        slots = endpoints.services.get(load.name, ())
        return tuple(self._numbers[slot.pod, slot.birth] for slot in slots if slot.is_ready)

    # -- readings ---------------------------------------------------------------------------------

    def _services(self) -> dict[str, ServiceSpan]:
        tallies = self._kernel.tallies()
        return {load.name: _span(tally) for load, tally in zip(self._loads, tallies, strict=True)}

    def _pods(self, seconds: float) -> dict[Key, PodSpan]:
        uses = self._kernel.uses([self._numbers[key] for key, _ in self._idle])
        return {
            key: PodSpan(use.core_s + idle * seconds, use.memory)
            for (key, idle), use in zip(self._idle, uses, strict=True)
        }


def _span(tally: Tally) -> ServiceSpan:
    answered = tally.ok + tally.late
    times = Histogram(tally.counts, answered, tally.total_s, tally.least_s, tally.most_s) if answered else None
    return ServiceSpan(tally.arrived, tally.ok, tally.late, tally.failed, tally.waiting, times)


def _shapes(loads: Sequence[ServiceLoad]) -> list[Shape]:
    numbers = {load.name: number for number, load in enumerate(loads)}
    return [
        Shape(
            load.cpu_ms / 1000,
            load.memory_bytes,
            inf if load.deadline_s is None else load.deadline_s,
            _BALANCING[load.balancing],
            tuple(tuple(numbers[name] for name in stage.calls) for stage in load.stages if stage.calls),
        )
        for load in loads
    ]


def _check_calls(loads: Sequence[ServiceLoad]) -> None:
    """Calls name services that are there, and no service calls itself by way of others."""
    by_name = {load.name: load for load in loads}
    done: set[str] = set()
    for load in loads:
        _follow(load, by_name, done, ())


def _follow(load: ServiceLoad, by_name: Mapping[str, ServiceLoad], done: set[str], path: tuple[str, ...]) -> None:
    if load.name in path:
        _refuse(load, f"{load.name} calls itself: {' calls '.join((*path, load.name))}", "Calls must come to an end")
    if load.name in done:
        return
    for name in sorted({name for stage in load.stages for name in stage.calls}):
        if name not in by_name:
            _refuse(
                load, f"{load.name} calls {name}, which is no service of the workload", "Declare it, or remove the call"
            )
        _follow(by_name[name], by_name, done, (*path, load.name))
    done.add(load.name)


def _refuse(load: ServiceLoad, problem: str, remedy: str) -> None:
    raise ScenarioError(problem, file=load.source.file or "Scenario", line=load.source.line, remedy=remedy)
