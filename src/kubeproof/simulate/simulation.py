"""Simulates a loaded input: runs with seeds of their own, judged and added up."""

from __future__ import annotations

from collections import Counter
from time import monotonic

from kubeproof.errors import UsageError
from kubeproof.events.declarations import Event
from kubeproof.intents.catalogue import entry
from kubeproof.manifests.assumed.node_pools import describe
from kubeproof.manifests.loaded import Loaded
from kubeproof.simulate.bands import mean_costs, together, totals
from kubeproof.simulate.control.clocked import RunRecord
from kubeproof.simulate.control.planning import SIMPLE, Planned
from kubeproof.simulate.options import SimulateOptions
from kubeproof.simulate.outcome import IntentOutcome, SimulationResult
from kubeproof.simulate.spreading import Report, Runs, Spread, records_of
from kubeproof.simulate.statistics.confidence import confidence_of, next_runs
from kubeproof.simulate.statistics.levels import judge_levels
from kubeproof.stop import Stop, until
from kubeproof.verdicts import Verdict


def simulate_cluster(
    loaded: Loaded,
    options: SimulateOptions = SimulateOptions(),
    progress: Report = None,
    spread: Spread | None = None,
    stop: Stop | None = None,
) -> SimulationResult:
    """The result of all runs; run i has seed + i. It is the same wherever `spread` makes them.

    Asked to stop, or interrupted, it is that of the runs that are done by then; KeyboardInterrupt if none is.
    """
    begin = monotonic()
    runs = Runs(loaded, options)
    plan = runs.plan
    if options.autoscaler == SIMPLE and not (loaded.scenario.workload and loaded.scenario.workload.services):
        raise UsageError("--autoscaler simple looks at the use that requests make", "Give spec.workload services.")
    records, is_enough = _collect(runs, options, progress, spread, stop or Stop())
    if not records:
        raise KeyboardInterrupt
    intents = judge_runs(loaded, plan, records, options)
    return SimulationResult(
        scenario=loaded.scenario.name,
        duration_s=options.duration_s,
        seed=options.seed,
        runs=len(records),
        autoscaler=options.autoscaler,
        timeline=together([record.timeline for record in records]),
        services=totals([record.services for record in records]),
        intents=intents,
        costs=mean_costs([record.costs for record in records]),
        moments=records[0].moments,
        moments_left_out=records[0].moments_left_out,
        verdict=_overall(intents),
        files=loaded.files,
        not_modelled=tuple(f"{omission.what}: {omission.why} ({omission.source})" for omission in loaded.omissions),
        confidence=confidence_of(records, options.confidence),
        is_cut=not is_enough and len(records) < options.runs,
        notes=(
            *_tell_end(records, options, is_enough=is_enough),
            *_list_missed(records),
            *_notes(loaded),
            *_too_late(loaded, options),
        ),
        elapsed_s=monotonic() - begin,
    )


def judge_runs(
    loaded: Loaded, plan: Planned, records: list[RunRecord], options: SimulateOptions
) -> tuple[IntentOutcome, ...]:
    """How intents and service levels fared over some runs."""
    scenario = loaded.scenario
    levels = judge_levels(scenario.levels, scenario.workload, records, options.duration_s, options.confidence)
    return (*(_outcome(plan, at, records, options.seed) for at in range(len(plan.plan.monitors))), *levels)


def _collect(
    runs: Runs, options: SimulateOptions, progress: Report, spread: Spread | None, stop: Stop
) -> tuple[list[RunRecord], bool]:
    """The records, and whether they are as many as are needed for the precision that was asked for."""
    if options.precision is None:
        return list(until(stop, records_of(runs, options.runs, progress, spread))), False
    records: list[RunRecord] = []
    while len(records) < options.runs:
        count = next_runs(len(records), options.runs)
        records += until(stop, records_of(runs, count, progress, spread, first=len(records)))
        found = confidence_of(records, options.confidence)
        if found is not None and len(records) == count and found.worst() <= options.precision:
            return records, True
        if len(records) < count:
            break
    return records, False


def _tell_end(records: list[RunRecord], options: SimulateOptions, *, is_enough: bool) -> list[str]:
    """Why there are so many runs, where it is not what was asked for."""
    done, wanted = len(records), options.runs
    if done < wanted and not is_enough:
        return [f"interrupted after {done:,} of {wanted:,} runs"]
    if options.precision is None or is_enough:
        return []
    found = confidence_of(records, options.confidence)
    reached = "unknown" if found is None else f"{100 * found.worst():.2g} %"
    return [f"{done:,} runs are not enough for a precision of {100 * options.precision:g} %: it is {reached}"]


def _outcome(plan: Planned, at: int, records: list[RunRecord], seed: int) -> IntentOutcome:
    """An intent over all runs: violated if one of them violates it."""
    intent = plan.plan.monitors[at].intent
    verdicts = [record.verdicts[at] for record in records]
    violated = [number for number, (verdict, *_) in enumerate(verdicts) if verdict == Verdict.VIOLATED]
    first = violated[0] if violated else None
    is_vacuous = all(verdict == Verdict.VACUOUS for verdict, *_ in verdicts)
    return IntentOutcome(
        id=entry(intent.key).id,
        intent=intent.name,
        target=intent.target or "",
        verdict=Verdict.VIOLATED if violated else Verdict.VACUOUS if is_vacuous else Verdict.SAMPLED_OK,
        detail=verdicts[first][2] if first is not None else next((told for *_, told in verdicts if told), ""),
        source=intent.source,
        at_s=None if first is None else verdicts[first][1],
        run=first,
        seed=None if first is None else seed + first,
        violated_runs=len(violated),
        key=intent.key,
    )


def _overall(intents: tuple[IntentOutcome, ...]) -> Verdict:
    verdicts = {intent.verdict for intent in intents}
    if Verdict.VIOLATED in verdicts:
        return Verdict.VIOLATED
    if Verdict.UNKNOWN in verdicts:
        return Verdict.UNKNOWN
    return Verdict.VACUOUS if verdicts == {Verdict.VACUOUS} else Verdict.SAMPLED_OK


def _list_missed(records: list[RunRecord]) -> list[str]:
    """What could not happen, and in how many of the runs."""
    counts = Counter(note for record in records for note in record.notes)
    return [
        note if count == len(records) else f"{note} in {count} of {len(records)} runs" for note, count in counts.items()
    ]


def _too_late(loaded: Loaded, options: SimulateOptions) -> list[str]:
    """Faults that the run does not live to see."""
    faults = loaded.scenario.workload.faults if loaded.scenario.workload else ()
    late = [fault for fault in faults if fault.at_s > options.duration_s]
    shifts = loaded.scenario.workload.shifts if loaded.scenario.workload else ()
    names = [fault.event.name for fault in late]
    names += [f"the trafficShift of {shift.service}" for shift in shifts if shift.at_s > options.duration_s]
    return [f"{name} does not happen: the run ends before" for name in names]


def _notes(loaded: Loaded) -> list[str]:
    """What a reader might expect to be or to happen, and is not or does not."""
    notes = [f"the input has no Node objects; assumed: {describe(loaded.assumed)}"] if loaded.assumed else []
    services = loaded.scenario.workload.services if loaded.scenario.workload else ()
    notes += [f"{service.name}: {service.measured}" for service in services if service.measured]
    for event in loaded.scenario.events:
        if event.chance is None and event.moves is None and event.is_chosen and event.level_count != 1:
            notes.append(f"event {event.name} has no probability and does not happen: {_instead(event)}")
    return notes


def _instead(event: Event) -> str:
    if event.level_count:
        return "the first level holds; give it transitions, or requests in spec.workload"
    return "give it one, or put it into spec.workload.faults"
