"""How likely rare violations are: failures come more often than they do, and every run counts for less accordingly.

Importance sampling: the rates of failures are multiplied, and a run that violates an intent counts for the likelihood
of what had happened by then under the true rates, divided by that under the multiplied ones. The mean over runs is the
probability, without bias, for any factor; a good factor makes it precise. It is chosen by pilot runs, which do not
count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import exp, inf
from statistics import NormalDist
from time import monotonic

from kubeproof.errors import NothingToCheckError, UsageError
from kubeproof.events.workload import WorkloadSpec
from kubeproof.intents.catalogue import entry
from kubeproof.manifests.loaded import Loaded
from kubeproof.simulate.control.clocked import RunRecord
from kubeproof.simulate.options import SimulateOptions
from kubeproof.simulate.spreading import Report, Runs, RunTask, Spread, records_of
from kubeproof.simulate.statistics.intervals import Interval, mean_interval, share_interval
from kubeproof.stop import Stop, until
from kubeproof.values import dataclass

FAILURES = (1.0, 2.0, 4.0, 8.0)  # in a run, on the mean, that are tried
PILOT_SHARE, LEAST_PILOTS = 20, 40  # of the runs, a part for each; at least
FEW = 5  # violations, by their weights, say little about how precise a factor is
SAFE = 20  # so many make an interval that can be believed
FAR = 10_000_019  # between the seeds of pilots and those of runs that count
MOST_BOOST = 1e12


@dataclass(frozen=True, slots=True)
class RareIntent:
    """How likely an intent is violated within the time of a run."""

    id: str
    intent: str
    key: str
    target: str
    probability: Interval
    hits: int  # runs that violate it
    seed: int | None  # of the first of them

    def plain_runs(self, level: float) -> float | None:
        """How many runs without weights would be as precise; None if nothing was seen."""
        p, reach = self.probability.value, self.probability.half_width
        z = NormalDist().inv_cdf((1 + level) / 2)
        return p * (1 - p) * (z / reach) ** 2 if p and reach else None


@dataclass(frozen=True, slots=True)
class RareResult:
    """All intents."""

    scenario: str
    duration_s: int
    seed: int
    runs: int
    boost: float  # failures came so many times as often
    pilots: int
    level: float
    intents: tuple[RareIntent, ...]
    elapsed_s: float
    notes: tuple[str, ...] = ()
    is_cut: bool = False


def estimate_rare(
    loaded: Loaded,
    options: SimulateOptions,
    boost: float | None = None,
    progress: Report = None,
    spread: Spread | None = None,
    stop: Stop | None = None,
) -> RareResult:
    """The probabilities; the factor is chosen unless it is given."""
    begin, stop = monotonic(), stop or Stop()
    plain = replace(loaded, scenario=replace(loaded.scenario, workload=_without_services(loaded)))
    if not plain.scenario.stated:
        raise NothingToCheckError("E302 there is nothing that could be violated. List intents under spec.intents.")
    first = Runs(plain, options)(RunTask(FAR))
    if not first.failures_expected:
        raise UsageError(
            "--rare: no event of the Scenario has a chance", "Give events mtbf, ratePerHour or probability."
        )
    pilots = 1
    if boost is None:
        boost, pilots = _choose(plain, options, first.failures_expected, spread, stop)
    runs = Runs(plain, replace(options, boost=boost))
    records = list(until(stop, records_of(runs, options.runs, progress, spread)))
    if not records:
        raise KeyboardInterrupt
    intents = tuple(_intent(runs, at, records, options, boost) for at in range(len(runs.plan.plan.monitors)))
    left_out = loaded.scenario.workload is not None and loaded.scenario.workload.services
    return RareResult(
        loaded.scenario.name,
        options.duration_s,
        options.seed,
        len(records),
        boost,
        pilots,
        options.confidence,
        intents,
        monotonic() - begin,
        tuple(_notes(intents, records, left_out=bool(left_out))),
        len(records) < options.runs,
    )


def count_effective(weights: Sequence[float]) -> float:
    """As many violations of equal weight would say as much (Kish)."""
    squares = sum(weight * weight for weight in weights)
    return sum(weights) ** 2 / squares if squares else 0.0


def _notes(intents: Sequence[RareIntent], records: Sequence[RunRecord], *, left_out: bool) -> Iterator[str]:
    for at, one in enumerate(intents):
        if one.hits and count_effective([record.weights[at] for record in records]) < SAFE:
            yield f"{one.intent}: few runs carry most of the weight, more --runs or a smaller --rare-factor are needed"
    if left_out:
        yield "service levels are not estimated; requests are left out unless autoscalers look at what they use"


def _without_services(loaded: Loaded) -> WorkloadSpec | None:
    """Faults stay; requests do not, which take most of the time, unless autoscalers look at what they use."""
    workload = loaded.scenario.workload
    if workload is None or loaded.setup.autoscalers:
        return workload
    return replace(workload, services=(), shifts=())


def _choose(
    loaded: Loaded, options: SimulateOptions, expected: float, spread: Spread | None, stop: Stop
) -> tuple[float, int]:
    """The factor with which pilot runs are most precise, and how many runs that took."""
    count = max(LEAST_PILOTS, options.runs // PILOT_SHARE)
    best, least, made = 1.0, inf, 1
    for failures in FAILURES:
        boost = min(MOST_BOOST, max(1.0, failures / expected))
        runs = Runs(loaded, replace(options, boost=boost, seed=options.seed + FAR + made))
        records = list(until(stop, records_of(runs, count, None, spread)))
        made += len(records)
        error = _error_of(records) if records else inf
        if error < least:
            best, least = boost, error
        elif least == inf:
            best = boost  # nothing was seen yet: more failures may show something
    return best, made


def _error_of(records: Sequence[RunRecord]) -> float:
    """The greatest relative error over intents; infinite if one was hardly violated."""
    errors = []
    for weights in zip(*(record.weights for record in records), strict=True):
        found = mean_interval(weights, 0.95)
        is_few = count_effective(weights) < FEW
        errors.append(inf if is_few or found is None or not found.value else found.half_width / found.value)
    known = [error for error in errors if error < inf]
    return max(known) + 10 * (len(errors) - len(known)) if known else inf


def weigh_empty(record: RunRecord, boost: float) -> float:
    """What a run would count for in which nothing had failed: no run of its kind counts for more."""
    return exp(min(700.0, (boost - 1) * record.failures_expected))


def _intent(runs: Runs, at: int, records: Sequence[RunRecord], options: SimulateOptions, boost: float) -> RareIntent:
    intent = runs.plan.plan.monitors[at].intent
    weights = [record.weights[at] for record in records]
    hits = [number for number, weight in enumerate(weights) if weight > 0]
    return RareIntent(
        entry(intent.key).id,
        intent.name,
        intent.key,
        intent.target or "",
        probability_of(weights, options.confidence, heaviest=max(weigh_empty(record, boost) for record in records)),
        len(hits),
        options.seed + hits[0] if hits else None,
    )


def probability_of(weights: Sequence[float], level: float, heaviest: float = 1.0) -> Interval:
    """The mean of the weights; where none is above zero, what so many runs say at most."""
    found = mean_interval(weights, level)
    if found is None or not any(weights):
        return Interval(0.0, 0.0, min(1.0, heaviest * share_interval(0, len(weights), level).upper))
    return Interval(found.value, max(0.0, found.lower), min(1.0, found.upper))
