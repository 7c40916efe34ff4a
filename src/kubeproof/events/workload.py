"""`spec.workload` of a Scenario: the requests that services get, and what happens when. For simulation alone.

Rates are requests per second, times are seconds since the start of the run.
"""

from __future__ import annotations

from dataclasses import field

from kubeproof.cluster.objects import Source
from kubeproof.events.declarations import Event
from kubeproof.values import dataclass

# -- arrivals ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Constant:
    """Requests at a fixed rate."""

    rate: float


@dataclass(frozen=True, slots=True)
class Ramp:
    """A rate that goes from one value to another on a straight line, and stays there."""

    first: float
    last: float
    over_s: float
    start_s: float = 0.0  # `first` until then


@dataclass(frozen=True, slots=True)
class Sinusoid:
    """mean + amplitude · sin(2π (t + shift) / period), never below zero."""

    mean: float
    amplitude: float
    period_s: float
    shift_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Bursts:
    """A base rate, and a higher one for a while again and again: from `first_s` on every `every_s` for `lasts_s`."""

    base: float
    burst: float
    every_s: float
    lasts_s: float
    first_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Modulated:
    """Markov-modulated: phase i has rate `rates[i]` and lasts an exponential time of mean `means_s[i]`.

    The next phase is drawn by row i of `moves`, or, without it, uniformly among the others. It begins in phase 0.
    """

    rates: tuple[float, ...]
    means_s: tuple[float, ...]
    moves: tuple[tuple[float, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class Clients:
    """A wave of clients that come one after the other, each with some requests at a steady pace."""

    start_s: float = 0.0
    clients: int = 1
    spacing_s: float = 0.0  # between two clients
    requests: int = 1  # of each client
    pause_s: float = 1.0  # between two requests of a client


@dataclass(frozen=True, slots=True)
class TraceFile:
    """Rates from a CSV file, not parsed yet; `place` is where the Scenario names it."""

    file: str
    text: str = field(repr=False)
    place: Source = field(default=Source(), compare=False)


@dataclass(frozen=True, slots=True)
class JMeterFile:
    """Thread groups from a JMeter test plan, not parsed yet."""

    file: str
    text: str = field(repr=False)
    place: Source = field(default=Source(), compare=False)


Arrivals = Constant | Ramp | Sinusoid | Bursts | Modulated | Clients | TraceFile | JMeterFile


@dataclass(frozen=True, slots=True)
class Stream:
    """One source of requests. With `is_random` they are a Poisson process of that rate, otherwise evenly spaced.

    `Modulated` is always random; `Clients` and thread groups say themselves when requests come.
    """

    arrivals: Arrivals
    is_random: bool = False


# -- services ---------------------------------------------------------------------------------------

ROUND_ROBIN, RANDOM, LEAST_CONNECTIONS = "roundRobin", "random", "leastConnections"
BALANCERS = (ROUND_ROBIN, RANDOM, LEAST_CONNECTIONS)


@dataclass(frozen=True, slots=True)
class CallStage:
    """Calls that a request makes at the same time, after its own work and the stages before; all must end."""

    calls: tuple[str, ...]  # names of ServiceLoad; one that stands twice is called twice


@dataclass(frozen=True, slots=True)
class ServiceLoad:
    """What the requests to one target are like, and where they come from. Each does its own work, then its stages."""

    name: str  # of the target, as series and calls name it
    target: str  # ref of the workload whose pods serve: "Deployment/shop/web"
    streams: tuple[Stream, ...] = ()  # none: it is only called by others
    cpu_ms: float = 0.0  # CPU of one request: milliseconds of one core
    memory_bytes: int = 0  # held while a request is served
    idle_cpu_milli: int = 0  # what a running pod uses without any request
    deadline_s: float | None = None  # an answer that takes longer is late: no success
    balancing: str = ROUND_ROBIN
    stages: tuple[CallStage, ...] = ()
    measured: str = ""  # where `cpu_ms` and `idle_cpu_milli` are fitted: how well
    source: Source = field(default=Source(), compare=False)


@dataclass(frozen=True, slots=True)
class MetricsPipeline:
    """What autoscalers see of usage: the mean over a window, taken at scrapes, known some time later.

    By default as metrics-server has it: what was used between the last two scrapes, 15 s apart.
    """

    scrape_s: int = 15
    window_s: int = 15
    delay_s: int = 0


@dataclass(frozen=True, slots=True)
class SimpleRule:
    """The published autoscaler, `--autoscaler simple`: it looks at the mean of use over request at every cycle.

    From `up` on it launches floor(mean / up) pods at once; below `down` for `quiet_s` it takes away one in each cycle.
    """

    up: float = 0.8
    down: float = 0.2
    cycle_s: int = 15
    quiet_s: int = 300


# -- timetable --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that happens at one moment: an event of the model, and after `for_s` its end."""

    at_s: int
    event: Event
    for_s: int | None = None
    source: Source = field(default=Source(), compare=False)


@dataclass(frozen=True, slots=True)
class TrafficShift:
    """A service gets `factor` times the requests that its streams say, for `for_s` (None: for good)."""

    at_s: int
    service: str
    factor: float
    for_s: int | None = None
    source: Source = field(default=Source(), compare=False)


@dataclass(frozen=True, slots=True)
class WorkloadSpec:
    """`spec.workload`."""

    services: tuple[ServiceLoad, ...] = ()
    faults: tuple[Fault, ...] = ()
    shifts: tuple[TrafficShift, ...] = ()
    metrics: MetricsPipeline = MetricsPipeline()
    simple: SimpleRule = SimpleRule()
    source: Source = field(default=Source(), compare=False)
