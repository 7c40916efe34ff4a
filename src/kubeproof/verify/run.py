"""Verifies a loaded input: one strategy after the other for the open intents, a replayed run for each violation."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from kubeproof.engine.limits import Deadline
from kubeproof.engine.stopped import INTERRUPTED
from kubeproof.manifests.loaded import Loaded
from kubeproof.stop import Stop
from kubeproof.verdicts import Verdict
from kubeproof.verify.checks.run import run_checks
from kubeproof.verify.findings.depended import with_dependence
from kubeproof.verify.findings.known import Found, Known
from kubeproof.verify.findings.left_out import find_left_out, group_omitted, list_omissions, with_caveats
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.planning import plan_of
from kubeproof.verify.proofs.events_at_rest import is_calm
from kubeproof.verify.reasons.citing import cite_lines
from kubeproof.verify.result import IntentResult, Statistics, VerifyResult
from kubeproof.verify.searching import SHOWING_SHARE, Report, Watch
from kubeproof.verify.strategies.events_at_rest import FIRST_LOOK
from kubeproof.verify.strategies.inquiry import Inquiry
from kubeproof.verify.strategies.walk import walk
from kubeproof.verify.words.summary import abstractions, combine, describe_reduced_scope, overall, scope

if TYPE_CHECKING:
    from kubeproof.engine.snapshot import Snapshots

__all__ = ["plan_of", "verify", "verify_intents"]


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
    inquiry, result = _verify(loaded, options, progress, snapshots, stop=stop, found=found)
    told = with_dependence(loaded, inquiry.plan, result.results, inquiry.slices, is_own=bool(options.controllers))
    if loaded.scenario.scale is not None:
        from kubeproof.verify.findings.any_size import with_sizes  # plain runs do without

        told = with_sizes(loaded, options, told)
    return replace(result, results=tuple(told), checks=run_checks(loaded))


def verify_intents(
    loaded: Loaded,
    options: VerifyOptions = VerifyOptions(),
    progress: Report = None,
    snapshots: Snapshots | None = None,
    *,
    stop: Stop | None = None,
    found: Found | None = None,
) -> VerifyResult:
    """The same without checks, and without what verdicts depend on."""
    return _verify(loaded, options, progress, snapshots, stop=stop, found=found)[1]


def _verify(
    loaded: Loaded,
    options: VerifyOptions,
    progress: Report,
    snapshots: Snapshots | None,
    *,
    stop: Stop | None,
    found: Found | None,
) -> tuple[Inquiry, VerifyResult]:
    plan = plan_of(loaded, options)
    watch = Watch(progress, snapshots, stop or Stop(), Known(found), deadline=_deadline(loaded, options))
    inquiry = Inquiry(loaded, plan, options, watch, partial(verify_intents, progress=progress, stop=watch.stop))
    try:
        walk(inquiry)
        watch.stop.obey()
    except KeyboardInterrupt:
        watch.stop.ask()
        watch.stop.obey()
        _interrupt(inquiry)
    results = [cite_lines(loaded.texts, one) for one in inquiry.answer()]
    statistics = inquiry.statistics or Statistics()
    if watch.stop.is_asked and any(one.verdict == Verdict.UNKNOWN for one in results):
        results, statistics = [_mark_open(one) for one in results], replace(statistics, stopped_by=INTERRUPTED)
    return inquiry, _report(inquiry, with_caveats(loaded, plan, results), statistics)


def _report(inquiry: Inquiry, results: list[IntentResult], statistics: Statistics) -> VerifyResult:
    """The results with what they are about."""
    loaded, plan = inquiry.loaded, inquiry.plan
    left_aside = list_omissions(loaded)
    left_aside += find_left_out(plan)
    return VerifyResult(
        scenario=loaded.scenario.name,
        verdict=overall(results),
        scope=(
            *scope(loaded, plan, statistics),
            *inquiry.also,
            *describe_reduced_scope(plan, inquiry.slices),
            *(("abstraction", note) for note in abstractions(loaded, plan)),
        ),
        results=tuple(results),
        not_modelled=tuple(left_aside),
        statistics=statistics,
        inputs=loaded.texts,
        omitted=group_omitted(loaded, plan),
    )


def _deadline(loaded: Loaded, options: VerifyOptions) -> Deadline | None:
    """When the searches end; with the usual timeout there is time left for a second look with events at rest."""
    if options.timeout_s is None:
        return None
    is_looked_at_again = options.has_usual_timeout and not is_calm(loaded)
    share = FIRST_LOOK if is_looked_at_again else 1.0 - SHOWING_SHARE
    return Deadline(time.monotonic() + share * options.timeout_s - options.spent_s, options.timeout_s)


def _mark_open(one: IntentResult) -> IntentResult:
    """What an interrupt left open, also if a search before it had come to a limit."""
    is_told = one.verdict != Verdict.UNKNOWN or one.stopped_by == INTERRUPTED
    return one if is_told else replace(one, detail=f"{one.detail}; then interrupted")


def _interrupt(inquiry: Inquiry) -> None:
    """What is known: the intents that are decided, with all others open."""
    spent = inquiry.watch.known.spent
    inquiry.statistics = replace(combine(spent) if spent else Statistics(), stopped_by=INTERRUPTED)
    inquiry.interrupt(inquiry.statistics)
