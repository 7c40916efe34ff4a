"""What a run is made of: nodes, services, who calls them, and when they grow."""

from __future__ import annotations

from kubeproof.events.quantities import Prices
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class NodeSpec:
    """A node: CPU units per interval, and memory."""

    name: str
    cpu: int
    memory: int


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The published autoscaler: it looks at the mean of use over request, and reacts one cycle later."""

    up: float  # launch floor(ratio / up) pods from here on
    down: float  # below, the counter of quiet cycles goes up
    quiet_cycles: int  # before one pod per cycle is shut down
    least: int = 1
    most: int = 10


@dataclass(frozen=True, slots=True)
class ServiceSpec:
    """A service: its pods, what a request holds, and its autoscaler."""

    name: str
    request: int  # CPU units per interval that the scheduler sets aside for a pod
    limit: int  # CPU units per interval that a pod may use
    scaler: Thresholds
    pods: int = 1
    memory: int = 1  # held for the duration of a request
    newest_is_next: bool = True  # in the round robin; otherwise a new pod is the last in turn
    quantum: int = 1  # CPU units that a request gets in a turn; costs are multiples of it


@dataclass(frozen=True, slots=True)
class Wave:
    """Clients that come one after the other, each with a number of requests at a steady pace."""

    service: str
    start: float
    cost: int  # CPU units of a request
    clients: int = 50
    spacing: float = 0.5  # between two clients
    requests: int = 90
    pause: float = 1.0  # between two requests of a client


@dataclass(frozen=True, slots=True)
class BatchCall:
    """What a batch of requests costs one service, all of them together."""

    service: str
    cost: int


@dataclass(frozen=True, slots=True)
class BatchFlow:
    """A batch of requests in every interval; each goes through stages, whose calls are made in parallel."""

    start: int
    times: int
    requests: int  # in a batch
    stages: tuple[tuple[BatchCall, ...], ...]


@dataclass(frozen=True, slots=True)
class Promise:
    """So many percent of the requests to a service end within a time."""

    service: str
    percentile: int
    within_s: float


@dataclass(frozen=True, slots=True)
class Experiment:
    """A run: what there is, what happens, and for how long."""

    name: str
    nodes: tuple[NodeSpec, ...]
    services: tuple[ServiceSpec, ...]
    waves: tuple[Wave, ...]
    intervals: int
    interval_s: float = 2.0
    flow: BatchFlow | None = None
    promises: tuple[Promise, ...] = ()
    prices: Prices | None = None
