"""A finding of a search as the result of an intent: named, replayed, told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from kubeproof.engine.search import Finding, Search
from kubeproof.errors import KubeproofError
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.plan import Plan
from kubeproof.verdicts import Verdict
from kubeproof.verify.findings.failures import failure_of
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.result import IntentResult, Statistics
from kubeproof.verify.searching import Beginning, Decided
from kubeproof.verify.words.summary import intent_result

if TYPE_CHECKING:
    from kubeproof.model.by_name.state import State
    from kubeproof.model.by_name.system import IndividualModel
    from kubeproof.verify.counterexamples.lift import NamedPath


def show_finding(
    loaded: Loaded,
    plan: Plan,
    search: Search,
    beginning: Beginning,
    number: int,
    finding: Finding,
    statistics: Statistics,
) -> IntentResult:
    """The result of the intent with this number; a violation comes with its run, or is an error."""
    result = intent_result(loaded, plan, number, finding.verdict, statistics)
    if result.verdict == Verdict.VACUOUS:
        return _tell_vacuous(result, plan, number)
    if result.verdict != Verdict.VIOLATED:
        return result
    from kubeproof.model.by_name.representatives import RepresentativeModel
    from kubeproof.verify.counterexamples.lift import lift
    from kubeproof.verify.counterexamples.traces import make_trace

    model = RepresentativeModel(plan)
    try:
        prelude, start = _prelude(model, search, beginning, finding)
        path = lift(model, start, search, finding)
        return replace(result, **make_trace(model, number, prelude, path))
    except Exception as problem:  # a violation that cannot be replayed is not shown as one
        failure = failure_of(problem)
        return replace(failure, reason=f"a violation was found but not replayed: {failure.reason}").apply_to(result)


def _tell_vacuous(result: IntentResult, plan: Plan, number: int) -> IntentResult:
    """The result with what keeps runs from the states that the intent speaks about."""
    from kubeproof.verify.reasons.vacuous import why_vacuous

    try:
        why = why_vacuous(plan, number)
    except KubeproofError:  # a run that cannot be followed says nothing
        return result
    return replace(result, detail=f"{result.detail}; {why}") if why else result


def choose_findings(decided: Decided, number: int, options: VerifyOptions) -> Iterable[Finding]:
    """The finding, or with `find_all` every violation of the check that differs in who does what at its end."""
    if not options.find_all or decided.finding.verdict != Verdict.VIOLATED:
        return (decided.finding,)
    from kubeproof.verify.counterexamples.distinct import distinct

    return distinct(decided.system, decided.search, decided.system.checks[number])


def _prelude(
    model: IndividualModel, search: Search, beginning: Beginning, finding: Finding
) -> tuple[NamedPath | None, State]:
    """The named state a violation starts in, and the steps that deployed it."""
    from kubeproof.model.by_name.representatives import RepresentativeModel
    from kubeproof.verify.counterexamples.lift import follow

    (first,) = model.initial()
    if beginning.search is None:
        return None, first
    root = search.start_of(finding)
    deploying = RepresentativeModel(model.plan.deploying())
    (empty,) = deploying.initial()
    steps = [step for _, step in beginning.search.path(beginning.stable[root])]
    path = follow(deploying, empty, beginning.search, steps)
    return path, model.restart(path.last._replace(observed=()))
