"""How many replicas one metric asks for.

Mirrors `GetResourceReplicas` and `calcPlainMetricReplicas` of `replica_calculator.go`, and `metrics/utilization.go`.
Sums and percents are integers; the ratio, its comparison with the tolerance and the ceiling are float64 as upstream,
so Python's floats, which are the same, decide the same at every edge. A proposal beyond int32 is negative, as on amd64;
other overflows are not mirrored.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil

from kubeproof.cluster.api import versions
from kubeproof.controllers.hpa.behavior import Tolerance
from kubeproof.controllers.hpa.samples import MISSING, READY, UNREADY, Sample
from kubeproof.controllers.hpa.settings import Version
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

ABOVE_TARGET_ONLY_SINCE = versions.ABOVE_TARGET_ONLY.since

MOST_INT32 = 2**31 - 1
OVERFLOWN = -(2**31)  # what amd64 makes of a float64 beyond int32; arm64 would saturate

CEILING = "ceiling"  # ratio times pods, rounded up
WITHIN_TOLERANCE = "within tolerance"
TURNED = "turned"  # what was assumed for some pods turned the direction: no change
OPPOSITE = "opposite"  # the number of pods counted turned the direction: no change


class Failure(NamedTuple):
    """Why a metric gives no proposal."""

    reason: str


class Assumed(NamedTuple):
    """The second look, with values assumed for pods whose metric is missing or not trusted."""

    missing: int  # pods
    unready: int
    measured: int
    ratio: float


class Computed(NamedTuple):
    """A proposal and the numbers behind it; `measure` is percent of request, or the average in thousandths."""

    replicas: int
    measured: int
    ratio: float
    assumed: Assumed | None
    pods: int  # how many the last ratio was multiplied with
    rule: str


class _Counted(NamedTuple):
    pods: int
    usage: int
    request: int


@dataclass(frozen=True, slots=True)
class Target:
    """What a metric is compared with: percent of the request, or an average in thousandths."""

    value: int
    is_percent: bool

    def measure(self, counted: list[_Counted]) -> int:
        """Usage over these pods in the unit of the target, rounded down as upstream does."""
        usage = sum(each.pods * each.usage for each in counted)
        if self.is_percent:
            return usage * 100 // sum(each.pods * each.request for each in counted)
        return usage // _pods(counted)

    def assume_when_low(self, request: int) -> int:
        """What a pod without metric is taken to use on a scale-down: its request, or the target if that is more."""
        return request * max(100, self.value) // 100 if self.is_percent else self.value


def compute(current: int, samples: tuple[Sample, ...], target: Target, tolerance: Tolerance) -> Computed | Failure:
    """The proposal with its numbers; `current` is the target's spec.replicas, not the number of pods."""
    problem = _problem(samples, target)
    if problem is not None:
        return problem
    ready = [_count_sample(sample) for sample in samples if sample.state == READY]
    measured = target.measure(ready)
    ratio = float(measured) / float(target.value)
    missing = [sample for sample in samples if sample.state == MISSING]
    unready = [sample for sample in samples if sample.state == UNREADY and ratio > 1.0]
    if not _pods(missing) and not _pods(unready):
        return _first_look(current, measured, ratio, _pods(ready), tolerance)
    filled = _fill_missing(missing, ratio, target, tolerance.version) + [_count_sample(sample) for sample in unready]
    counted = ready + filled
    second = target.measure(counted)
    assumed = Assumed(_pods(missing), _pods(unready), second, float(second) / float(target.value))
    replicas, rule = _second_look(current, ratio, assumed.ratio, _pods(counted), tolerance)
    return Computed(replicas, measured, ratio, assumed, _pods(counted), rule)


def _problem(samples: tuple[Sample, ...], target: Target) -> Failure | None:
    """Why there can be no ratio. Requests are asked of every pod, terminating and failed ones included."""
    if not _pods(samples):
        return Failure("no pods")
    ready = [sample for sample in samples if sample.state == READY]
    if not _pods(ready):
        return Failure("no metrics of any pod that counts")
    if not target.is_percent:
        return None
    if any(sample.request is None for sample in samples if sample.pods):
        return Failure("a container has no request")
    if not sum(sample.pods * (sample.request or 0) for sample in ready):
        return Failure("requests add up to zero")
    return None


def _first_look(current: int, measured: int, ratio: float, pods: int, tolerance: Tolerance) -> Computed:
    if tolerance.covers(ratio):
        return Computed(current, measured, ratio, None, pods, WITHIN_TOLERANCE)
    return Computed(_round_up(ratio * float(pods)), measured, ratio, None, pods, CEILING)


def _fill_missing(missing: list[Sample], ratio: float, target: Target, version: Version) -> list[_Counted]:
    """The missing pods with a usage that damps the change; left out if the others are exactly on target."""
    if ratio < 1.0:
        return [_Counted(s.pods, target.assume_when_low(s.request or 0), s.request or 0) for s in missing]
    if ratio > 1.0 or (not target.is_percent and version < ABOVE_TARGET_ONLY_SINCE):
        return [_Counted(s.pods, 0, s.request or 0) for s in missing]
    return []


def _second_look(current: int, first: float, second: float, pods: int, tolerance: Tolerance) -> tuple[int, str]:
    """The proposal with assumed values and its rule: they may damp a change, never turn it around."""
    if tolerance.covers(second):
        return current, WITHIN_TOLERANCE
    if (first < 1.0 < second) or (second < 1.0 < first):
        return current, TURNED
    replicas = _round_up(second * float(pods))
    if (second < 1.0 and replicas > current) or (second > 1.0 and replicas < current):
        return current, OPPOSITE
    return replicas, CEILING


def _round_up(replicas: float) -> int:
    """The int32 that upstream makes of the number, without a check that it fits."""
    whole = ceil(replicas)
    return whole if whole <= MOST_INT32 else OVERFLOWN


def _count_sample(sample: Sample) -> _Counted:
    return _Counted(sample.pods, sample.usage or 0, sample.request or 0)


def _pods(samples: Iterable[Sample | _Counted]) -> int:
    return sum(sample.pods for sample in samples)
