"""What the run of the controllers and the serving of requests say to each other.

The controllers decide which pods there are; requests decide what these use. Time goes forward in spans during which
the set of pods does not change: `advance` serves one span. Spans are as long as the control plane allows (a change of
the endpoints, a scrape of metrics, a reading of the series, whichever is next), so often some seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from kubeproof.events.workload import WorkloadSpec
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class Slot:
    """A pod that runs."""

    pod: str  # unique while it exists: "shop/web-3"; a later pod of that name has another `birth`
    birth: int  # number of the pod in the run: tells apart pods that had the same name one after the other
    node: str
    cpu_request_milli: int
    cpu_limit_milli: int | None
    memory_limit_bytes: int | None
    is_ready: bool = True  # False: it runs and ends what it has (idle CPU counts), but gets no new requests


@dataclass(frozen=True, slots=True)
class Room:
    """What one node has for its pods; a node that is known to be down is left out, with all its pods.

    One that has fallen silent unnoticed is there with no CPU: its pods get requests and do not answer.
    """

    cpu_milli: int
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Who serves what from now on. Services without any ready pod are there with what runs, perhaps nothing."""

    services: Mapping[str, tuple[Slot, ...]]  # by name of ServiceLoad, pods sorted by birth
    rooms: Mapping[str, Room]  # by name of the node


class Times(Protocol):
    """Response times of many requests, to be added up; percentiles may be as coarse as 2 %."""

    @property
    def count(self) -> int: ...

    @property
    def total_s(self) -> float:
        """The sum of all times."""
        ...

    def percentile(self, percent: float) -> float | None:
        """The least time within which so many percent were answered; None without any."""
        ...

    @property
    def mean_s(self) -> float:
        """The mean, where there is a request."""
        ...

    def bars(self) -> tuple[tuple[float, int], ...]:
        """How many requests took up to so many seconds, and longer than the bar before."""
        ...

    def merge(self, other: Times) -> Times: ...


@dataclass(frozen=True, slots=True)
class ServiceSpan:
    """What became of the requests to one service in a span."""

    arrived: int  # that came in this span
    ok: int  # answered in this span, in time
    late: int  # answered in this span, after the deadline
    failed: int  # given up in this span: no pod was there, its pod vanished, a call of it failed
    waiting: int  # neither answered nor given up at the end of the span
    times: Times | None = None  # of those answered (ok and late); None without any


@dataclass(frozen=True, slots=True)
class PodSpan:
    """What a pod used in a span."""

    cpu_core_s: float  # seconds of one core
    memory_bytes: int  # most at one time


@dataclass(frozen=True, slots=True)
class Served:
    """One span."""

    from_s: float
    until_s: float
    services: Mapping[str, ServiceSpan]
    pods: Mapping[tuple[str, int], PodSpan]  # by (pod, birth), for each slot of the endpoints


class DataPlane(Protocol):
    """Serves requests. It keeps its own clock, which begins at 0, and its backlog.

    A pod that is in the endpoints no more has vanished: what it had is sent to another pod of the service if `reroutes`
    (a client that tries again; response times go on counting), otherwise it has failed. A slot that turned unready
    keeps what it has. A service without a ready pod lets requests fail at once.
    """

    def advance(self, until_s: float, endpoints: Endpoints) -> Served:
        """Serves from the clock to `until_s` with these endpoints."""
        ...


class MakeDataPlane(Protocol):
    """Who makes a data plane: `simulate.serving.plane.make_data_plane` is one.

    Trace and JMeter files are parsed here and may be refused with ManifestError (file:line of their own). Shifts of
    traffic are the data plane's; faults of the cluster are not.
    """

    def __call__(self, workload: WorkloadSpec, *, seed: int, duration_s: float, reroutes: bool = True) -> DataPlane: ...
