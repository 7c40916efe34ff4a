"""Verifies a loaded input: one search for all intents, a replayed counterexample for each violation."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from kubeproof.engine.kernel import FLAG_BITS
from kubeproof.engine.limits import Deadline
from kubeproof.engine.search import Finding, Search
from kubeproof.engine.snapshot import Snapshots
from kubeproof.engine.stopped import ALL_VIOLATED, INTERNAL, INTERRUPTED
from kubeproof.errors import NothingToCheckError
from kubeproof.events.declarations import Apply
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.by_name.representatives import RepresentativeModel
from kubeproof.model.by_name.state import State
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.model.plan import OwnLoop, Plan, make_plan
from kubeproof.stop import Stop
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.checks.run import run_checks
from kubeproof.verify.counterexamples.lift import NamedPath, follow, lift
from kubeproof.verify.counterexamples.traces import make_trace
from kubeproof.verify.findings.failures import Failure, any_open, failure_of, is_open, told_best
from kubeproof.verify.findings.known import Found, Known
from kubeproof.verify.findings.left_out import left_out, omitted, told_omissions, with_caveats
from kubeproof.verify.options import ABSTRACTION, SYMMETRY, VerifyOptions
from kubeproof.verify.proofs.bounds import held_by_bounds
from kubeproof.verify.proofs.events_at_rest import calmed, is_calm, may_be_calmed, told
from kubeproof.verify.proofs.near_nodes import search_joined
from kubeproof.verify.proofs.slices import Part, Sliced, searched_in_parts, show_violation
from kubeproof.verify.proofs.slicing import Slice
from kubeproof.verify.result import IntentResult, Statistics, VerifyResult
from kubeproof.verify.searching import (
    Beginning,
    Decided,
    Report,
    Watch,
    begin,
    engine_name,
    explored,
    repeated_whole,
    statistics_of,
)
from kubeproof.verify.words.summary import (
    abstractions,
    claim,
    combined,
    intent_result,
    overall,
    reduced_scope,
    scope,
)

T = TypeVar("T")
FIRST_LOOK = 0.7  # of the usual timeout; the rest is for runs whose events come at rest
MOST_INTENTS = FLAG_BITS // 2  # two flags each


@dataclass(frozen=True, slots=True)
class _Answers:
    """The results of a verification, and what the searches behind them were."""

    results: list[IntentResult]
    statistics: Statistics
    slices: tuple[Slice, ...] = ()
    also: tuple[tuple[str, str], ...] = ()  # more about what was explored


def verify(
    loaded: Loaded,
    options: VerifyOptions = VerifyOptions(),
    progress: Report = None,
    snapshots: Snapshots | None = None,
    *,
    stop: Stop | None = None,
    found: Found | None = None,
) -> VerifyResult:
    """One verdict per intent of the scenario, and what checks find; with snapshots, searches are saved and continued.

    Asked to stop, or interrupted, it answers with what is decided by then. `found` is told of violations meanwhile.
    """
    result = verify_intents(loaded, options, progress, snapshots, stop=stop, found=found)
    return replace(result, checks=run_checks(loaded))


def verify_intents(
    loaded: Loaded,
    options: VerifyOptions = VerifyOptions(),
    progress: Report = None,
    snapshots: Snapshots | None = None,
    *,
    stop: Stop | None = None,
    found: Found | None = None,
) -> VerifyResult:
    """The same without checks."""
    plan = plan_of(loaded, options)
    watch = Watch(progress, snapshots, stop or Stop(), Known(found), deadline=_deadline(loaded, options))
    try:
        answers = _answers(loaded, plan, options, watch)
        watch.stop.obey()
    except KeyboardInterrupt:
        watch.stop.ask()
        watch.stop.obey()
        answers = _interrupted(loaded, plan, watch)
    except Exception as problem:
        failure = failure_of(problem)
        if not watch.known.results:
            raise
        answers = _failed(loaded, plan, watch, failure)
    results, statistics = answers.results, answers.statistics
    if watch.stop.is_asked and any(one.verdict == Verdict.UNKNOWN for one in results):
        results, statistics = [_told_open(one) for one in results], replace(statistics, stopped_by=INTERRUPTED)
    results = with_caveats(loaded, plan, results)
    left_aside = told_omissions(loaded)
    left_aside += left_out(plan)
    return VerifyResult(
        scenario=loaded.scenario.name,
        verdict=overall(results),
        scope=(
            *scope(loaded, plan, statistics),
            *answers.also,
            *reduced_scope(plan, answers.slices),
            *(("abstraction", note) for note in abstractions(loaded, plan)),
        ),
        results=tuple(results),
        not_modelled=tuple(left_aside),
        statistics=statistics,
        inputs=loaded.texts,
        omitted=omitted(loaded, plan),
    )


def _deadline(loaded: Loaded, options: VerifyOptions) -> Deadline | None:
    """When the searches end; with the usual timeout there is time left for a second look with events at rest."""
    if options.timeout_s is None:
        return None
    is_looked_at_again = options.has_usual_timeout and not is_calm(loaded)
    share = FIRST_LOOK if is_looked_at_again else 1.0
    return Deadline(time.monotonic() + share * options.timeout_s, options.timeout_s)


def _told_open(one: IntentResult) -> IntentResult:
    """What an interrupt left open, also if a search before it had come to a limit."""
    is_told = one.verdict != Verdict.UNKNOWN or "interrupted" in one.detail
    return one if is_told else replace(one, detail=f"{one.detail}; then interrupted")


def _answers(loaded: Loaded, plan: Plan, options: VerifyOptions, watch: Watch) -> _Answers:
    slices: tuple[Slice, ...] = ()
    if options.engine == "reference":
        from kubeproof.verify.counterexamples.reference_run import reference_results

        results, statistics = reference_results(loaded, plan, options, watch.stop)
    else:
        results, statistics, slices = _searched_best(loaded, plan, options, watch)
    watch.known.note(results)
    if not may_be_calmed(loaded, options, results, statistics):
        return _Answers(results, statistics, slices)
    watch.go_on()
    left = _second_look(options)
    try:
        judged, calm = calmed(loaded, left, results, partial(verify, progress=watch.progress, stop=watch.stop))
    except Exception as problem:
        return _Answers(results, statistics, slices, (("and then", failure_of(problem).reason),))
    return _Answers(judged, statistics, slices, (("and then", told(calm)),))


def _second_look(options: VerifyOptions) -> VerifyOptions:
    """The options for runs whose events come at rest: what the first look has left of the usual timeout."""
    if options.timeout_s is None or not options.has_usual_timeout:
        return options
    return replace(options, timeout_s=(1 - FIRST_LOOK) * options.timeout_s, has_usual_timeout=False)


def _interrupted(loaded: Loaded, plan: Plan, watch: Watch) -> _Answers:
    """What is known: the intents that are decided, with all others open."""
    spent = combined(watch.known.spent) if watch.known.spent else Statistics()
    statistics = replace(spent, stopped_by=INTERRUPTED)
    results: list[IntentResult] = []
    for number, monitor in enumerate(plan.monitors):
        unknown = intent_result(loaded, plan, number, Verdict.UNKNOWN, statistics)
        results += watch.known.results.get(monitor.intent.name, (unknown,))
    return _Answers(results, statistics)


def _failed(loaded: Loaded, plan: Plan, watch: Watch, failure: Failure) -> _Answers:
    """What is known when something went wrong: the intents that are decided, with all others without an answer."""
    known = _interrupted(loaded, plan, watch)
    results = [failure.told_of(one) if one.verdict == Verdict.UNKNOWN else one for one in known.results]
    return replace(known, results=results, statistics=replace(known.statistics, stopped_by=INTERNAL))


def plan_of(loaded: Loaded, options: VerifyOptions) -> Plan:
    """The plan that a loaded input stands for."""
    scenario = loaded.scenario
    if not loaded.setup.workloads and not any(isinstance(event, Apply) for event in scenario.events):
        left_aside = "".join(f"; {o.what} is {o.why} ({o.source})" for o in loaded.omissions[:3])
        remedy = "Name files with a Deployment, StatefulSet, Job or other workload."
        raise NothingToCheckError(f"E301 the input holds no workload{left_aside}. {remedy}")
    if not scenario.intents:
        raise NothingToCheckError("E301 the Scenario has no intents. List at least one under spec.intents.")
    return planned(loaded, options)


def planned(loaded: Loaded, options: VerifyOptions) -> Plan:
    """The plan of an input that has something to check."""
    scenario = loaded.scenario
    return make_plan(
        loaded.setup,
        scenario.events,
        scenario.intents,
        placement=scenario.start.placement,
        running=scenario.start.pods,
        own=_own_loops(options.controllers),
        merge=options.uses(SYMMETRY),
    )


def _own_loops(references: Sequence[str]) -> tuple[OwnLoop, ...]:
    """The user's own controllers."""
    if not references:
        return ()
    from kubeproof.verify.own_controllers import load_own

    return tuple(load_own(reference) for reference in references)


def _searched_best(
    loaded: Loaded, plan: Plan, options: VerifyOptions, watch: Watch
) -> tuple[list[IntentResult], Statistics, tuple[Slice, ...]]:
    """In independent parts where the input has some, otherwise as a whole."""
    limited = _limited(loaded, options)
    shown: dict[int, IntentResult] = {}

    def searched(part: Part) -> None:
        shown.update(_shown_early(loaded, plan, part, shown))
        watch.known.note(tuple(shown.values()))

    sliced = searched_in_parts(loaded, limited, lambda part: planned(part, options), MOST_INTENTS, watch, searched)
    if sliced is None:
        watch.go_on()
        return (*_searched_whole(loaded, plan, options, watch), ())
    spent = [part.statistics for part in sliced.parts if part.search is not None]
    statistics = combined(spent or [Statistics(engine=engine_name(options))])
    results = _results_of_parts(loaded, plan, sliced, statistics, options, watch, shown)
    failed = [number for number, one in enumerate(results) if isinstance(one, Failure)]
    if not failed:
        return [one for one in results if isinstance(one, IntentResult)], statistics, sliced.slices
    # What a part leaves without an answer, such as a violation that is not shown as a run of the whole.
    rest = replace(loaded.scenario, intents=tuple(loaded.scenario.intents[number] for number in failed))
    whole = replace(loaded, scenario=rest)
    found, more = _attempted(whole, planned(whole, options), options, watch, _searched_whole)
    for number, one in zip(failed, found, strict=True):
        failure = results[number]
        assert isinstance(failure, Failure)
        results[number] = told_best(failure.told_of(one), one) if is_open(one) else one
    slices = sliced.slices if len(failed) < len(results) else ()
    return [one for one in results if isinstance(one, IntentResult)], combined([*spent, more]), slices


_Search = Callable[[Loaded, Plan, VerifyOptions, Watch], tuple[list[IntentResult], Statistics]]


def _attempted(
    loaded: Loaded, plan: Plan, options: VerifyOptions, watch: Watch, search: _Search
) -> tuple[list[IntentResult], Statistics]:
    """What a search answers; if it fails there are others that may answer."""
    try:
        return search(loaded, plan, options, watch)
    except Exception as problem:
        failure = failure_of(problem)
        statistics = Statistics(engine=engine_name(options), stopped_by=INTERNAL)
        unknown = [
            intent_result(loaded, plan, number, Verdict.UNKNOWN, statistics) for number in range(len(plan.monitors))
        ]
        return [failure.told_of(one) for one in unknown], statistics


def _searched_whole(
    loaded: Loaded, plan: Plan, options: VerifyOptions, watch: Watch
) -> tuple[list[IntentResult], Statistics]:
    """All at once; where that is too large, part by part before it is tried again."""
    if len(loaded.setup.workloads) < 2:
        return _searched(loaded, plan, _limited(loaded, options), watch)
    from kubeproof.verify.proofs.shares import Crowd, at_first, at_last, decided_by_shares, shares

    parts = shares(loaded, options, watch, MOST_INTENTS)
    if not parts:
        return _searched(loaded, plan, _limited(loaded, options), watch)
    results, statistics = _attempted(loaded, plan, at_first(options), watch, _searched)
    if not any_open(results):
        return results, statistics
    watch.go_on()
    crowd = Crowd(loaded, plan, options, watch, lambda part: planned(part, options))
    found = decided_by_shares(crowd, parts, results, statistics)
    if not any_open(found.results) or statistics.stopped_by == INTERNAL:  # what went wrong would do so again
        return list(found.results), found.statistics
    watch.go_on()
    results, last = _attempted(loaded, plan, at_last(crowd, found), watch, _searched)
    results = [told_best(*pair) for pair in zip(results, found.results, strict=True)]
    is_cut = any_open(results) or last.stopped_by == ALL_VIOLATED  # what the last search decides, it decides alone
    total = combined([last, found.statistics])
    return results, replace(total, stopped_by=last.stopped_by if is_cut else None)


def _limited(loaded: Loaded, options: VerifyOptions) -> VerifyOptions:
    """The options; a built-in scenario comes to an end by itself unless the user says how far to go."""
    is_bounded = options.is_limited or not loaded.scenario.is_default
    return options if is_bounded else replace(options, max_states=options.effort.max_unasked)


def _shown_early(loaded: Loaded, plan: Plan, part: Part, known: Mapping[int, IntentResult]) -> dict[int, IntentResult]:
    """The violations of a part that are new, each as one of the whole; those that cannot be shown as such wait."""
    found = {}
    for number in part.slice.intents if part.failure is None else ():
        decided = part.decision(number)
        if decided is not None and decided.finding.is_violated and number not in known:
            result = _result_of_part(loaded, plan, part, decided, number, part.statistics)
            found.update({number: result} if isinstance(result, IntentResult) else {})
    return found


def _results_of_parts(
    loaded: Loaded,
    plan: Plan,
    sliced: Sliced,
    statistics: Statistics,
    options: VerifyOptions,
    watch: Watch,
    shown: Mapping[int, IntentResult],
) -> list[IntentResult | Failure]:
    decisions = [sliced.decision(number) for number in range(len(plan.monitors))]
    again = None
    if any(decided is not None and decided.finding.is_violated for _, decided in decisions):
        again = _shorter(loaded, plan, options, watch, sliced.elapsed_s)
    results: list[IntentResult | Failure] = []
    for number, (part, decided) in enumerate(decisions):
        if decided is None:
            assert part.failure is not None
            results.append(part.failure)
        elif decided.finding.is_violated and again and again[1].findings[number].is_violated:
            beginning, search = again
            results.append(_result(loaded, plan, search, beginning, number, search.findings[number], statistics))
        elif number in shown:
            results.append(replace(shown[number], states=statistics.states, transitions=statistics.transitions))
        else:
            results.append(_result_of_part(loaded, plan, part, decided, number, statistics))
        watch.known.note([one for one in results[-1:] if isinstance(one, IntentResult)])
    return results


def _shorter(
    loaded: Loaded, plan: Plan, options: VerifyOptions, watch: Watch, spent_s: float
) -> tuple[Beginning, Search] | None:
    """A search of the whole for shorter counterexamples; None if it has none, as the parts have some already."""
    try:
        return repeated_whole(loaded, plan, options, watch, spent_s)
    except Exception as problem:
        failure_of(problem)
        return None


def _result_of_part(
    loaded: Loaded, plan: Plan, part: Part, decided: Decided, number: int, statistics: Statistics
) -> IntentResult | Failure:
    result = intent_result(loaded, plan, number, decided.finding.verdict, statistics)
    if result.verdict != Verdict.VIOLATED:
        return result
    found = show_violation(plan, part, decided, number, result, is_exact=True)
    if isinstance(found, IntentResult):
        return found
    return replace(found, reason=f"a violation was found but not shown as a run of all workloads: {found.reason}")


def _searched(
    loaded: Loaded, plan: Plan, options: VerifyOptions, watch: Watch
) -> tuple[list[IntentResult], Statistics]:
    """The search with as few classes of nodes as it turns out to allow."""
    return search_joined(plan, options, lambda near, left: _searched_plan(loaded, near, left, watch), watch.clock)


def _searched_plan(
    loaded: Loaded, plan: Plan, options: VerifyOptions, watch: Watch
) -> tuple[list[IntentResult], Statistics]:
    """One search for all intents, or one for each batch of as many as the engine follows at once."""
    beginning = begin(loaded, plan, options, watch)
    if beginning.search is not None and beginning.search.stopped_by:
        statistics = statistics_of(beginning.search, plan)
        return [
            intent_result(loaded, plan, i, Verdict.UNKNOWN, statistics) for i in range(len(plan.monitors))
        ], statistics
    bounded = held_by_bounds(plan, beginning.cells) if options.uses(ABSTRACTION) else {}
    rest = tuple(monitor for number, monitor in enumerate(plan.monitors) if number not in bounded)
    results = [_bounded_result(loaded, plan, number, reason) for number, reason in bounded.items()]
    watch.known.note(results)
    parts = [_statistics_of_bounds(plan, beginning, options, bounded)] if bounded else []
    for monitors in batched(rest, MOST_INTENTS):
        watch.go_on()
        batch = replace(plan, monitors=monitors)
        found, statistics = _searched_batch(loaded, batch, beginning, options, watch)
        results += found
        parts.append(statistics)
    statistics = combined(parts)
    order = {monitor.intent.name: number for number, monitor in enumerate(plan.monitors)}
    return sorted(results, key=lambda result: order[result.intent]), statistics


def _bounded_result(loaded: Loaded, plan: Plan, number: int, reason: str) -> IntentResult:
    found = intent_result(loaded, plan, number, Verdict.HOLDS, Statistics())
    return replace(found, detail=f"proved from {reason}: {claim(plan.monitors[number].intent)}")


def _statistics_of_bounds(
    plan: Plan, beginning: Beginning, options: VerifyOptions, bounded: dict[int, str]
) -> Statistics:
    """What deciding without a search took: that for the first states, if there was one."""
    words = tuple(f"proved from {reason}" for reason in dict.fromkeys(bounded.values()))
    if beginning.search is None:
        return Statistics(engine=engine_name(options), reductions=words)
    deployed = statistics_of(beginning.search, plan)
    return replace(deployed, states=0, transitions=0, start_states=deployed.states, reductions=words)


def batched(items: Sequence[T], size: int) -> list[tuple[T, ...]]:
    """The items in order, in tuples of at most `size`."""
    return [tuple(items[first : first + size]) for first in range(0, len(items), size)]


def _searched_batch(
    loaded: Loaded, plan: Plan, beginning: Beginning, options: VerifyOptions, watch: Watch
) -> tuple[list[IntentResult], Statistics]:
    def violated(number: int, search: Search) -> None:
        found = _result(loaded, plan, search, beginning, number, search.findings[0], statistics_of(search, plan))
        if found.verdict == Verdict.VIOLATED:  # otherwise a reduction turns out not to be allowed, and is given up
            watch.known.note([found])
            watch.known.tell()

    found = explored(plan, beginning, options, replace(watch, found=violated))
    results: list[IntentResult] = []
    for number, decided in enumerate(found.decided):
        own: list[IntentResult] = []
        for finding in _wanted(decided, number, options):
            own.append(_result(loaded, plan, decided.search, beginning, number, finding, found.statistics))
            watch.known.note(own)
            if watch.stop.is_asked:
                break
        results += own
    return results, found.statistics


def _wanted(decided: Decided, number: int, options: VerifyOptions) -> Iterable[Finding]:
    """The finding, or with `find_all` every violation of the check that differs in who does what at its end."""
    if not options.find_all or not decided.finding.is_violated:
        return (decided.finding,)
    from kubeproof.verify.counterexamples.distinct import distinct

    return distinct(decided.system, decided.search, decided.system.checks[number])


def _result(
    loaded: Loaded,
    plan: Plan,
    search: Search,
    beginning: Beginning,
    number: int,
    finding: Finding,
    statistics: Statistics,
) -> IntentResult:
    result = intent_result(loaded, plan, number, finding.verdict, statistics)
    if result.verdict != Verdict.VIOLATED:
        return result
    model = RepresentativeModel(plan)
    try:
        prelude, start = _prelude(model, search, beginning, finding)
        path = lift(model, start, search, finding)
        return replace(result, **make_trace(model, number, prelude, path))
    except Exception as problem:  # a violation that cannot be replayed is not shown as one
        failure = failure_of(problem)
        return replace(failure, reason=f"a violation was found but not replayed: {failure.reason}").told_of(result)


def _prelude(
    model: IndividualModel, search: Search, beginning: Beginning, finding: Finding
) -> tuple[NamedPath | None, State]:
    """The named state a violation starts in, and the steps that deployed it."""
    (first,) = model.initial()
    if beginning.search is None:
        return None, first
    root = search.start_of(finding)
    deploying = RepresentativeModel(model.plan.deploying())
    (empty,) = deploying.initial()
    steps = [step for _, step in beginning.search.path(beginning.stable[root])]
    path = follow(deploying, empty, beginning.search, steps)
    return path, model.restarted(path.last._replace(observed=()))
