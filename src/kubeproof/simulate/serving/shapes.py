"""What a kernel is told: services by number, pods, nodes; and what it gives back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

ROUND_ROBIN, RANDOM, LEAST_CONNECTIONS = range(3)
MOST_OPEN = 20_000_000  # requests that are neither answered nor given up; beyond, memory would end first


class Shape(NamedTuple):
    """The requests of one service."""

    cpu_s: float  # of one core
    memory: int  # bytes, while it is served
    deadline_s: float  # infinite without one
    balancing: int
    stages: tuple[tuple[int, ...], ...] = ()  # services that are called, stage after stage


class NodeSetting(NamedTuple):
    """A node: cores and bytes for requests."""

    cores: float
    memory: int


class PodSetting(NamedTuple):
    """A pod: `number` stays the same while it exists."""

    number: int
    node: int
    limit: float  # cores for requests
    weight: float  # when a node is short of CPU
    memory: float  # bytes; infinite without a limit
    services: tuple[int, ...]


class Tally(NamedTuple):
    """What became of the requests to a service since the last reading."""

    arrived: int
    ok: int
    late: int
    failed: int
    waiting: int  # now
    counts: tuple[tuple[int, int], ...]  # buckets of response times
    total_s: float
    least_s: float
    most_s: float


class Use(NamedTuple):
    """What a pod used since the last reading."""

    core_s: float
    memory: int  # most at one time


@dataclass(frozen=True, slots=True)
class Placement:
    """Who serves from now on."""

    nodes: tuple[NodeSetting, ...]
    pods: tuple[PodSetting, ...]
    ready: tuple[tuple[int, ...], ...]  # by service, the pods that get requests, in turn


class ServingKernel(Protocol):
    """Serves requests exactly. Two of them do so alike: one in plain Python, one compiled."""

    name: str

    def place(self, placement: Placement) -> None:
        """Changes pods and nodes now. Requests of pods that are gone are sent again, or fail."""
        ...

    def advance(self, until: float, times: Sequence[float], services: Sequence[int]) -> None:
        """Serves until then; requests come at these times, in order, to these services."""
        ...

    def tallies(self) -> list[Tally]:
        """By service, since the last call."""
        ...

    def uses(self, pods: Sequence[int]) -> list[Use]:
        """Of these pods, since the last call."""
        ...
