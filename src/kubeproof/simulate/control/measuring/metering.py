"""What autoscalers get to know of the use of pods: means over a window, taken at scrapes, known some time later."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence, Set

from kubeproof.cluster.usage import CPU
from kubeproof.events.workload import MetricsPipeline
from kubeproof.named_tuples import NamedTuple
from kubeproof.simulate.serving.contract import Endpoints, Served

Pod = tuple[str, int]


class Expected(NamedTuple):
    """What an autoscaler wants one pod to use, and what the pod requests."""

    wanted_milli: float
    request_milli: float


class _Scrape(NamedTuple):
    at_s: int
    cpu_core_s: Mapping[Pod, float]  # used by each pod since it began
    memory_bytes: Mapping[Pod, int]


class Metering:
    """The last scrapes."""

    def __init__(self, pipeline: MetricsPipeline) -> None:
        self._pipeline = pipeline
        self._used: dict[Pod, float] = {}
        self._memory: dict[Pod, int] = {}
        self._scrapes: deque[_Scrape] = deque()

    def add(self, served: Served) -> None:
        """Takes note of what pods used in a span."""
        self._memory = {}
        used = {}
        for pod, span in served.pods.items():
            used[pod] = self._used.get(pod, 0.0) + span.cpu_core_s
            self._memory[pod] = span.memory_bytes
        self._used = used

    def scrape(self, now_s: int, endpoints: Endpoints | None = None) -> None:
        """Reads all counters, but those of a node that has fallen silent: its pods have no metric, as if unknown.

        Readings that nobody will look at any more are dropped.
        """
        silent = _silent(endpoints) if endpoints is not None else frozenset()
        used = {pod: use for pod, use in self._used.items() if pod not in silent}
        memory = {pod: most for pod, most in self._memory.items() if pod not in silent}
        self._scrapes.append(_Scrape(now_s, used, memory))
        horizon_s = now_s - self._pipeline.delay_s - self._pipeline.window_s - 2 * self._pipeline.scrape_s
        while len(self._scrapes) > 2 and self._scrapes[1].at_s <= horizon_s:
            self._scrapes.popleft()

    def mean(
        self,
        service: str,
        resource: str,
        endpoints: Endpoints,
        now_s: int,
        *,
        young: Set[Pod] = frozenset(),
        expected: Expected | None = None,
    ) -> float | None:
        """The mean over ready pods, in millicores or thousandths of a byte; None if none has a metric.

        Young pods are left out: an autoscaler does not look at theirs. Others without a metric count as `expected`.
        """
        known = [scrape for scrape in self._scrapes if scrape.at_s + self._pipeline.delay_s <= now_s]
        if not known:
            return None
        last = known[-1]
        begun = [scrape for scrape in known if scrape.at_s <= last.at_s - self._pipeline.window_s]
        first = begun[-1] if begun else known[0]
        pods = [(slot.pod, slot.birth) for slot in endpoints.services.get(service, ()) if slot.is_ready]
        values = [_value(pod, resource, first, last) for pod in pods if pod not in young]
        found = [value for value in values if value is not None]
        if not found:
            return None
        missing = len(values) - len(found)
        return fill(found, missing, expected) if missing and expected else sum(found) / len(found)


def fill(values: Sequence[float], missing: int, expected: Expected) -> float:
    """The mean when some pods have no metric: taken to use nothing on the way up, their request on the way down.

    They damp a change and never turn it around, as in `replica_calculator.go`.
    """
    mean, count = sum(values) / len(values), len(values) + missing
    if mean > expected.wanted_milli:
        return max(expected.wanted_milli, sum(values) / count)
    assumed = max(expected.request_milli, expected.wanted_milli)
    return min(expected.wanted_milli, (sum(values) + missing * assumed) / count)


def _silent(endpoints: Endpoints) -> Set[Pod]:
    """The pods of nodes that do not answer."""
    silent = {name for name, room in endpoints.rooms.items() if not room.cpu_milli}
    slots = (slot for each in endpoints.services.values() for slot in each) if silent else ()
    return {(slot.pod, slot.birth) for slot in slots if slot.node in silent}


def _value(pod: Pod, resource: str, first: _Scrape, last: _Scrape) -> float | None:
    """The metric of one pod; one that was not there when the window began has none."""
    if resource != CPU:
        return 1000.0 * last.memory_bytes[pod] if pod in last.memory_bytes else None
    if pod not in last.cpu_core_s or pod not in first.cpu_core_s or last.at_s == first.at_s:
        return None
    return 1000.0 * (last.cpu_core_s[pod] - first.cpu_core_s[pod]) / (last.at_s - first.at_s)
