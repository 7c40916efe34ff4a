"""cpuChange, cpuPattern, cpuLoad, unreachable, kernelPanic and the like: what a Scenario says of real usage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Self

from kubeproof.cluster.loops.footprint import CIRCUMSTANCE, MOMENT, Footprint, Scope, Writes
from kubeproof.cluster.loops.mentions import CPU, Mentions
from kubeproof.cluster.usage import Level, UsageRule
from kubeproof.events.event import WEB, Event, Moves, NodeChoice, Usage
from kubeproof.events.manual import NODES, TARGET, Field, Manual, flag
from kubeproof.values import dataclass, replace

if TYPE_CHECKING:
    from kubeproof.cluster.loops.control import Loop
    from kubeproof.events.common import Around, EventSource

NO_WORKLOAD = -1  # of a rule of which only the subject is known
_LEVELS = (TARGET, Field("levels", note="required"), Field("initial"), Field("container"))
_PHASES = (TARGET, Field("phases", note="required"), Field("container"))


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageChange(Event):
    """The real usage of a workload's pods moves between levels; with one level it is constant."""

    resource: str  # cpu, memory
    target: str
    container: str = ""  # "": the pod as a whole
    levels: tuple[Usage, ...]
    initial: int = 0  # index of the level at the start
    max: int | None = None  # type: ignore[assignment]  # None: any number of changes
    moves: Moves | None = None

    manuals = (
        Manual(
            key="cpuChange",
            text="The CPU that pods use moves between levels, at any moment; autoscalers and kernel panics see it.",
            fields=_LEVELS,
            example=f'cpuChange: {{{WEB}, levels: ["20%", "90%"]}}',
        ),
        Manual(
            key="memoryChange",
            text="The memory that pods use moves between levels, at any moment.",
            fields=_LEVELS,
            example=f'memoryChange: {{{WEB}, levels: ["20%", "90%"]}}',
        ),
    )

    footprint = replace(MOMENT, writes=Writes.USAGE, takes_pods_of=Scope.NOWHERE, has_even_usage=True)

    def levels_of(self, resource: str) -> tuple[int | None, ...] | None:
        if resource != self.resource:
            return ()
        return None if self.container else tuple(level.percent for level in self.levels)

    def describe(self) -> str:
        return f"{self.resource} of {_users(self)} at {_levels(self.levels, self.initial)}{_changes(self)}"

    def first_memory(self, most: int) -> tuple[int, ...]:
        return (self.initial, most)

    @property
    def level_count(self) -> int:
        return len(self.levels)

    def with_moves(self, moves: Moves) -> Self:
        return replace(self, moves=moves)

    @property
    def decides_use_of(self) -> tuple[str, ...]:
        return (self.resource,)

    def use_rule(self, memory: int) -> UsageRule:
        levels = tuple(map(_read_level, self.levels))
        return UsageRule(self.resource, NO_WORKLOAD, levels, memory, container=self.container)

    def sources(self, at: EventSource, around: Around) -> Iterator[Loop]:
        from kubeproof.events.usage import LevelEvent

        yield LevelEvent(at, len(self.levels), self.moves)


@dataclass(frozen=True, slots=True, kw_only=True)
class UsagePattern(Event):
    """The real usage of a workload's pods as a function of their age; not a moment."""

    resource: str  # cpu, memory
    target: str
    container: str = ""  # "": the pod as a whole
    phases: tuple[tuple[Usage, int | None], ...]  # usage and for how many seconds; None (last only): for ever

    manuals = (
        Manual(
            key="cpuPattern",
            text="CPU usage as a function of the pod's age, such as a costly start. Holds from the start, it is no "
            "moment.",
            fields=_PHASES,
            example=f'cpuPattern: {{{WEB}, phases: [{{usage: "100%", for: 60s}}, {{usage: "20%"}}]}}',
        ),
        Manual(
            key="memoryPattern",
            text="Memory usage as a function of the pod's age. Holds from the start, it is no moment.",
            fields=_PHASES,
            example=f'memoryPattern: {{{WEB}, phases: [{{usage: "90%", for: 60s}}, {{usage: "40%"}}]}}',
        ),
    )

    footprint = replace(CIRCUMSTANCE, writes=Writes.USAGE)

    @property
    def decides_use_of(self) -> tuple[str, ...]:
        return (self.resource,)

    def use_rule(self, memory: int) -> UsageRule:
        levels = tuple(_read_level(use) for use, _ in self.phases)
        ends = tuple(accumulate(seconds for _, seconds in self.phases if seconds is not None))
        return UsageRule(self.resource, NO_WORKLOAD, levels, until_s=ends, container=self.container)

    def describe(self) -> str:
        phases = [f"{use} for {seconds} s" if seconds is not None else f"then {use}" for use, seconds in self.phases]
        return f"{self.resource} of {_users(self)} follows the age of its pods: {', '.join(phases)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuLoad(Event):
    """A total CPU load that the ready pods share; it moves between levels."""

    target: str
    levels: tuple[int, ...]  # thousandths of a core, for all pods together
    initial: int = 0
    service: str = ""  # whose requests make the load
    requests: tuple[int, ...] = ()  # per second, level by level
    max: int | None = None  # type: ignore[assignment]  # None: any number of changes
    moves: Moves | None = None

    manuals = (
        Manual(
            key="cpuLoad",
            text="A total load that the ready pods share: losing some raises the load of the rest.",
            fields=(TARGET, Field("total or levels"), Field("initial")),
            example=f"cpuLoad: {{{WEB}, total: 600m}}",
        ),
        Manual(
            key="requests",
            text="Requests per second to a Service, and the CPU that each takes; its ready pods share them.",
            fields=(
                Field("service", note="required"),
                Field("perSecond or levels"),
                Field("initial"),
                Field("cpuPerRequest", note="required"),
            ),
            example="requests: {service: shop/web, perSecond: 100, cpuPerRequest: 5m}",
        ),
    )

    footprint = replace(MOMENT, writes=Writes.USAGE, takes_pods_of=Scope.NOWHERE)

    def describe(self) -> str:
        loads = _levels([f"{level}m" for level in self.levels], self.initial)
        load = f"{loads} of CPU, shared by the ready pods of {self.target}{_changes(self)}"
        if not self.requests:
            return load
        return f"Service {self.service} gets {_levels(self.requests, self.initial)} requests per second: {load}"

    def first_memory(self, most: int) -> tuple[int, ...]:
        return (self.initial, most)

    @property
    def level_count(self) -> int:
        return len(self.levels)

    def with_moves(self, moves: Moves) -> Self:
        return replace(self, moves=moves)

    @property
    def decides_use_of(self) -> tuple[str, ...]:
        return (CPU,)

    def use_rule(self, memory: int) -> UsageRule:
        totals = tuple(Level(None, total) for total in self.levels)
        return UsageRule(CPU, NO_WORKLOAD, totals, memory, is_shared=True)

    def sources(self, at: EventSource, around: Around) -> Iterator[Loop]:
        from kubeproof.events.usage import LevelEvent

        yield LevelEvent(at, len(self.levels), self.moves)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreachable(Event):
    """The workload's pods get no traffic: they run and stay ready, but use no more CPU than an idle pod."""

    target: str
    recovers: bool = True
    idle: Usage = Usage(percent=0)  # what one pod uses meanwhile
    max: int | None = 1  # type: ignore[assignment]  # None: any number of faults

    manuals = (
        Manual(
            key="unreachable",
            text="Pods run and stay ready, but no traffic reaches them: their usage drops.",
            fields=(TARGET, Field("usage", note="0%"), flag("recovers", default=True)),
            example=f"unreachable: {{{WEB}}}",
            is_unlimited=True,
            is_timed=True,
        ),
    )

    footprint = Footprint(
        writes=Writes.USAGE,
        concerns_all="",
        takes_pods_of=Scope.NOWHERE,
        has_even_usage=True,
    )
    end_field = "recovers"

    @property
    def use_without_traffic(self) -> Level:
        return _read_level(self.idle)

    def describe(self) -> str:
        end = "may recover" if self.recovers else "for good"
        return f"pods of {self.target} get no traffic and use {self.idle} CPU each, {self.times}, {end}"

    def first_memory(self, most: int) -> tuple[int, ...]:
        return (0, most)

    def sources(self, at: EventSource, around: Around) -> Iterator[Loop]:
        from kubeproof.events.usage import UnreachableEvent

        yield UnreachableEvent(at, self)
        if self.recovers:
            yield UnreachableEvent(at, self, ends=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelPanic(Event):
    """A node fails whenever its real CPU usage passes a level, and recovers when freed."""

    above: Usage = Usage(percent=95)  # percent of the node's allocatable CPU
    nodes: NodeChoice = NodeChoice()
    max: int | None = None  # type: ignore[assignment]  # None: whenever the level is passed

    manuals = (
        Manual(
            key="kernelPanic",
            text="A node whose pods really use more than the level fails, and comes back when they are gone.",
            fields=(Field("aboveCPU", note='"95%"'), NODES),
            example='kernelPanic: {aboveCPU: "95%"}',
        ),
    )

    footprint = Footprint(
        writes=Writes.FAILURES,
        is_consequence=True,
        concerns_all="a panic of any node counts for all",
        takes_pods_of=Scope.NODE,
    )

    def mention_nodes(self, found: Mentions) -> None:
        Event.mention_nodes(self, found)
        found.resources.add(CPU)

    def describe(self) -> str:
        which = "nodes" if self.nodes == NodeChoice() else f"nodes {self.nodes.which}"
        return f"{which} fail above {self.above} of their CPU, {self.times}, and come back when freed"

    def sources(self, at: EventSource, around: Around) -> Iterator[Loop]:
        from kubeproof.events.usage import KernelPanicEvent

        yield KernelPanicEvent(at, self, around.rules)


def _read_level(use: Usage) -> Level:
    return Level(use.percent, use.amount_milli)


def _levels(levels: Sequence[object], initial: int) -> str:
    """The level at the start, and the others if there are any."""
    others = ", ".join(str(level) for number, level in enumerate(levels) if number != initial)
    return f"{levels[initial]}, or {others}" if others else f"{levels[initial]}"


def _changes(event: UsageChange | CpuLoad) -> str:
    return f", changing {event.times}" if len(event.levels) > 1 else ""


def _users(event: UsageChange | UsagePattern) -> str:
    return f"container {event.container} of {event.target}" if event.container else event.target
