"""What the simulation of a cluster gives: series over time, what became of requests, verdicts, and what it cost."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from kubeproof.cluster.objects import Source
from kubeproof.simulate.serving.contract import Times
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict

if TYPE_CHECKING:
    from kubeproof.simulate.statistics.confidence import Confidence
    from kubeproof.simulate.statistics.intervals import Interval

# Quantities of a service (subject: its name, or the workload's ref where it gets no requests)
PODS, READY, PENDING, DESIRED = "pods", "ready", "pending", "desired"
CPU_USED, CPU_REQUESTED, CPU_LIMIT = "cpuUsed", "cpuRequested", "cpuLimit"  # cores
MEMORY_USED = "memoryUsed"  # bytes
ARRIVED, OK, LATE, FAILED, WAITING = "arrived", "ok", "late", "failed", "waiting"  # the first four per second
P50, P95, P99 = "p50", "p95", "p99"  # seconds; None where nothing was answered
# Quantities of a node (subject: its name): PODS, CPU_USED, CPU_REQUESTED, and
CPU_ALLOCATABLE = "cpuAllocatable"
# Quantities of the cluster (subject: "cluster")
NODES, WATTS = "nodes", "watts"

SHIFT = "trafficShift"  # who acts in the moments of a shift of requests
SERVICE, NODE, CLUSTER = "service", "node", "cluster"


@dataclass(frozen=True, slots=True)
class Series:
    """One quantity of one subject, at each of the timeline's times: counts at that moment, rates and means since the
    time before."""

    scope: str  # service, node, cluster
    subject: str
    quantity: str
    values: tuple[float | None, ...]
    low: tuple[float | None, ...] = ()  # of several runs: the 5th percentile at each time; `values` is then the mean
    high: tuple[float | None, ...] = ()  # and the 95th


@dataclass(frozen=True, slots=True)
class Timeline:
    """All series of a run, or of several."""

    times_s: tuple[float, ...]
    series: tuple[Series, ...]

    def of(self, subject: str, quantity: str) -> Series:
        """One series; KeyError if there is none."""
        for series in self.series:
            if (series.subject, series.quantity) == (subject, quantity):
                return series
        raise KeyError((subject, quantity))

    def subjects(self, scope: str) -> tuple[str, ...]:
        """The subjects of a scope, as they come."""
        return tuple(dict.fromkeys(one.subject for one in self.series if one.scope == scope))


@dataclass(frozen=True, slots=True)
class Moment:
    """A step of a controller, or an event, in words."""

    time_s: float
    actor: str
    text: str


@dataclass(frozen=True, slots=True)
class ServiceTotals:
    """What became of the requests to a service, over all runs."""

    name: str
    arrived: int
    ok: int
    late: int
    failed: int
    waiting: int  # when the runs ended
    times: Times | None = None

    @property
    def success_rate(self) -> float | None:
        """Of all requests that came, the part answered in time: what is open at the end is not. None without any."""
        return self.ok / self.arrived if self.arrived else None


@dataclass(frozen=True, slots=True)
class IntentOutcome:
    """How an intent fared along the runs."""

    id: str
    intent: str  # its name
    target: str
    verdict: Verdict
    detail: str  # "fewer than 2 ready", in words
    source: Source = Source()
    at_s: float | None = None  # when it was first violated, in the first run that did so
    run: int | None = None  # number of that run, from 0
    seed: int | None = None  # with which that run alone can be made again
    violated_runs: int = 0
    key: str = ""  # what kind of intent it is: maxReplicas
    measured: Interval | None = None  # of a service level
    limit: float | None = None  # that it is held against

    @property
    def title(self) -> str:
        """`S003 maxReplicas (name) Deployment/shop/web`; names made from key and target stand alone."""
        if self._is_made or not self.key:
            return f"{self.id} {self.intent}"
        return f"{self.id} {self.key} ({self.intent}){' ' if self.target else ''}{self.target}"

    @property
    def heading(self) -> str:
        """`maxReplicas (name)`: the title without ID and target."""
        if self.intent == self._plain_name:
            return self.key
        return self.intent if self._is_made or not self.key else f"{self.key} ({self.intent})"

    @property
    def _plain_name(self) -> str:
        return f"{self.key} {self.target}".rstrip()

    @property
    def _is_made(self) -> bool:
        """True if nobody gave the name: it has a number where an intent stands twice."""
        return self.intent == self._plain_name or self.intent.startswith(f"{self._plain_name} #")


@dataclass(frozen=True, slots=True)
class Costs:
    """Means over the runs; None where the Scenario gives no power or prices."""

    pod_hours: float
    node_hours: float
    energy_kwh: float | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class SimulationResult:
    """Runs of one variant of one input."""

    scenario: str
    duration_s: int
    seed: int
    runs: int
    autoscaler: str  # hpa, simple
    timeline: Timeline  # one run's, or with several runs the means with bands
    services: tuple[ServiceTotals, ...]
    intents: tuple[IntentOutcome, ...]
    costs: Costs
    moments: tuple[Moment, ...] = ()  # of the first run
    moments_left_out: int = 0
    verdict: Verdict = Verdict.SAMPLED_OK
    files: tuple[str, ...] = ()
    not_modelled: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # what was assumed
    elapsed_s: float = field(default=0.0, compare=False)
    confidence: Confidence | None = None  # of several runs
    is_cut: bool = False  # it was interrupted before all runs were made


@dataclass(frozen=True, slots=True)
class Variant:
    """One combination of varied parameters: (("hpa.targetCPU", "60"), …)."""

    settings: tuple[tuple[str, str], ...]
    result: SimulationResult


@dataclass(frozen=True, slots=True)
class Comparison:
    """Variants side by side."""

    variants: tuple[Variant, ...]
