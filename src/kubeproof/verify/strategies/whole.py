"""One search of the whole cluster for all open intents, in the first of `kubeproof.verify.models` that answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from kubeproof.engine.search import Search
from kubeproof.engine.stopped import ALL_VIOLATED, INTERNAL
from kubeproof.errors import InternalError
from kubeproof.model.plan import Plan
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.answered import Declined, PassedOver, Reason
from kubeproof.verify.counterexamples.shown import choose_findings, show_finding
from kubeproof.verify.findings.failures import any_open, choose_best
from kubeproof.verify.models import Explored, explore_plan
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.coarser import within
from kubeproof.verify.result import IntentResult, Statistics
from kubeproof.verify.searching import Beginning, statistics_of
from kubeproof.verify.strategies import swarm
from kubeproof.verify.strategies.contract import (
    MAX_INTENTS,
    Answers,
    Attempt,
    Cost,
    Results,
    Strategy,
    split_in_batches,
)
from kubeproof.verify.strategies.inquiry import Inquiry
from kubeproof.verify.strategies.parts import parts_of
from kubeproof.verify.strategies.reference import decline_other_engine
from kubeproof.verify.words.summary import combine, describe_stop


@dataclass(frozen=True, slots=True)
class WholeSearched:
    """What a search of the whole says, intent by intent."""

    results: dict[int, Results]
    statistics: Statistics
    models: dict[int, str]
    passed: dict[int, tuple[PassedOver, ...]]

    def add_to(self, inquiry: Inquiry) -> dict[int, Results]:
        """The results; of an intent that stays open, what says more about it."""
        return {number: _add_to(inquiry, number, found) for number, found in self.results.items()}

    def explain_open(self) -> dict[int, Declined]:
        """Why intents are open."""
        why = Declined(Reason.LIMIT, describe_stop(self.statistics)) if self.statistics.stopped_by else None
        open_ones = {number: found[0] for number, found in self.results.items() if any_open(found)}
        return {
            number: Declined(Reason.FAILED, one.detail) if one.verdict == Verdict.ERROR or why is None else why
            for number, one in open_ones.items()
        }


def _add_to(inquiry: Inquiry, number: int, found: Results) -> Results:
    if not any_open(found) or number not in inquiry.results:
        return found
    return (choose_best(found[0], inquiry.result(number)), *found[1:])


def search_whole(inquiry: Inquiry, numbers: Sequence[int], options: VerifyOptions) -> WholeSearched:
    """Searches the whole for these intents."""
    return inquiry.whole.search(options, partial(_search_plan, inquiry, numbers))


def _search_plan(
    inquiry: Inquiry, numbers: Sequence[int], plan: Plan, beginning: Beginning, options: VerifyOptions
) -> WholeSearched:
    """One search for all intents, or one for each batch of as many as the engine follows at once."""
    if beginning.search is not None and beginning.search.stopped_by:
        spent = statistics_of(beginning.search, plan)
        return WholeSearched({number: (inquiry.unknown(number, spent),) for number in numbers}, spent, {}, {})
    found = WholeSearched({}, Statistics(), {}, {})
    parts: list[Statistics] = []
    for batch in split_in_batches(numbers, MAX_INTENTS):
        inquiry.watch.go_on()
        monitors = tuple(plan.monitors[number] for number in batch)
        explored = _search_batch(inquiry, batch, replace(plan, monitors=monitors), beginning, options, found.results)
        parts.append(explored.statistics)
        found.models.update(dict.fromkeys(batch, explored.model))
        found.passed.update(dict.fromkeys(batch, explored.passed))
    return replace(found, statistics=combine(parts))


def _search_batch(
    inquiry: Inquiry,
    batch: Sequence[int],
    plan: Plan,
    beginning: Beginning,
    options: VerifyOptions,
    results: dict[int, Results],
) -> Explored:
    loaded, watch = inquiry.loaded, inquiry.watch_of_search

    def tell(number: int, search: Search) -> None:
        spent = statistics_of(search, plan)
        found = show_finding(loaded, plan, search, beginning, number, search.findings[0], spent)
        if found.verdict == Verdict.VIOLATED:  # otherwise a reduction turns out not to be allowed, and is given up
            watch.known.note([found])
            watch.known.tell()

    explored = explore_plan(plan, beginning, options, replace(watch, found=tell))
    for number, decided in enumerate(explored.decided):
        own: list[IntentResult] = []
        for finding in choose_findings(decided, number, options):
            own.append(show_finding(loaded, plan, decided.search, beginning, number, finding, explored.statistics))
            watch.known.note(own)
            if watch.stop.is_asked:
                break
        results[batch[number]] = tuple(own)
    return explored


# -- the strategy -------------------------------------------------------------------------------------


def decline(inquiry: Inquiry, number: int) -> Declined | None:
    """Whatever is open is searched, unless less than that was too much, or went wrong before."""
    if number in inquiry.final:
        return Declined(Reason.WHOLE_IS_LARGER)
    failed = inquiry.statistics is not None and inquiry.statistics.stopped_by == INTERNAL
    if failed and inquiry.is_looked_at:
        return Declined(Reason.FAILED, "what went wrong before would do so again")
    return decline_other_engine(inquiry)


def attempt(inquiry: Inquiry, numbers: Sequence[int]) -> Attempt:
    """What the whole says, up to the limits that the user sets."""
    swarm.release(inquiry, numbers, wanted=numbers)
    found = search_whole(inquiry, numbers, options_at_last(inquiry))
    if inquiry.swarm is not None and inquiry.swarm.is_enough:
        found = replace(found, statistics=replace(found.statistics, stopped_by=ALL_VIOLATED))
    results = found.add_to(inquiry)
    _compare(inquiry, results)
    statistics = _total(inquiry, found, results) if inquiry.is_looked_at else inquiry.add(found.statistics)
    return Attempt(results, statistics, found.explain_open(), models=found.models, passed=found.passed)


def _compare(inquiry: Inquiry, results: Mapping[int, Results]) -> None:
    """Asserts that nothing is proved that walks have broken."""
    broken = inquiry.swarm.found if inquiry.swarm is not None else {}
    for number, (first, *_) in results.items():
        if number in broken and first.verdict == Verdict.HOLDS:
            raise InternalError(
                f"E700 a walk breaks what is proved: {first.intent}. Please report this with the input."
            )


def options_at_last(inquiry: Inquiry) -> VerifyOptions:
    """The options for what is left open: the user's, but the scenario that nobody wrote comes to an end by itself."""
    if not inquiry.is_looked_at:
        return inquiry.limited
    left = within(inquiry.options, inquiry.elapsed_s, is_relaxed=False)
    is_asked = left.is_limited or not inquiry.loaded.scenario.is_default
    if is_asked:
        return left
    effort = left.effort
    return replace(left, max_states=effort.max_at_last if parts_of(inquiry) else effort.max_unasked)


def _total(inquiry: Inquiry, found: WholeSearched, results: dict[int, Results]) -> Statistics:
    """What all searches did: what this one ends with counts, as it decides alone what was left open."""
    last = found.statistics
    total = combine([last, *([] if inquiry.statistics is None else [inquiry.statistics])])
    is_cut = any(any_open(one) for one in results.values()) or last.stopped_by == ALL_VIOLATED
    return replace(total, stopped_by=last.stopped_by if is_cut else None)


STRATEGY = Strategy("search", Answers.BOTH, Cost.FULL_SEARCH, decline, attempt)
