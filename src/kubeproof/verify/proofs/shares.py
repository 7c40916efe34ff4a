"""Workloads that meet on nodes only, each verified as if it had all nodes to itself.

For inputs that are too large as a whole. A run of one part in which an intent fails becomes a run of the whole if the
others can run along (`kubeproof.verify.counterexamples.weave`); that run is replayed, so such a violation is one of the
whole. What holds for a part alone is no proof: others take its room and sway the scheduler's choice.
`kubeproof.verify.proofs.crowd` has proofs for parts that do not depend on either. `docs/explanation/reductions.md`
has the arguments.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kubeproof.manifests.loaded import Loaded
from kubeproof.model.plan import Plan
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.findings.failures import any_open, failure_of, is_open, told_best
from kubeproof.verify.options import ABSTRACTION, SLICING, VerifyOptions
from kubeproof.verify.proofs.coarser import within
from kubeproof.verify.proofs.slices import Part, Sliced, searched_part, show_violation
from kubeproof.verify.proofs.slicing import Slice, cut_by_relations
from kubeproof.verify.result import IntentResult, Statistics
from kubeproof.verify.searching import Decided, Watch
from kubeproof.verify.words.summary import claim, combined, intent_result

if TYPE_CHECKING:
    from kubeproof.verify.proofs.crowd.proving import Memo, Proofs

ONE_BY_ONE = "workloads searched one by one where the whole was too large"
Planned = Callable[[Loaded], Plan]


@dataclass(frozen=True, slots=True)
class Crowd:
    """An input whose workloads share their nodes, and how it is searched."""

    loaded: Loaded
    plan: Plan
    options: VerifyOptions
    watch: Watch
    planned: Planned  # makes the plan of a part


@dataclass(frozen=True, slots=True)
class Shared:
    """What parts say of the intents that the whole left open."""

    results: tuple[IntentResult, ...]
    statistics: Statistics
    elapsed_s: float


def shares(loaded: Loaded, options: VerifyOptions, watch: Watch, most_intents: int) -> tuple[Slice, ...]:
    """The parts to look at if the whole is too large; none if it has none, or every order is asked for."""
    exhaustive = options.find_all or options.controllers or watch.snapshots is not None
    small = options.max_states is not None and options.max_states <= options.effort.max_at_first
    if exhaustive or small or not options.uses(SLICING):
        return ()
    found = cut_by_relations(loaded)
    return found if len(found) > 1 and all(len(one.intents) <= most_intents for one in found) else ()


def at_first(options: VerifyOptions) -> VerifyOptions:
    """The options for the first look at the whole."""
    return replace(within(options, 0.0, is_relaxed=True), max_states=options.effort.max_at_first)


def at_last(crowd: Crowd, found: Shared) -> VerifyOptions:
    """The options for what is left open: the user's, but the scenario that nobody wrote comes to an end by itself."""
    left = within(crowd.options, found.elapsed_s, is_relaxed=False)
    is_asked = left.is_limited or not crowd.loaded.scenario.is_default
    return left if is_asked else replace(left, max_states=left.effort.max_at_last)


def decided_by_shares(crowd: Crowd, parts: Sequence[Slice], known: Sequence[IntentResult], spent: Statistics) -> Shared:
    """The results of the whole, those it left open decided by its parts where they can."""
    begun = time.monotonic() - spent.elapsed_s
    proved, costs = _proved_everywhere(crowd, parts, begun)
    results = tuple(
        _proof(crowd, parts, number, costs) if number in proved and is_open(result) else result
        for number, result in enumerate(known)
    )
    left = [part for part in parts if any(is_open(results[number]) for number in part.intents)]
    crowd.watch.known.note(results)
    searched: list[Part] = []
    shown: dict[int, IntentResult] = {}
    for part in _searched_alone(crowd, left, begun):
        searched.append(part)
        _show(crowd, part, results, shown)
    sliced = Sliced(tuple(searched), time.monotonic() - begun)
    results = tuple(_decided(crowd, sliced, number, result, shown) for number, result in enumerate(results))
    parts_spent = [*costs, *(part.statistics for part in searched if part.search is not None)]
    statistics = _spent(parts_spent, spent, is_decided=not any_open(results))
    return Shared(results, statistics, time.monotonic() - begun)


def _searched_alone(crowd: Crowd, parts: Sequence[Slice], begun: float) -> Iterator[Part]:
    for part in parts:
        crowd.watch.go_on()
        yield searched_part(part, crowd.planned(part.loaded), _limited(crowd.options, begun), crowd.watch)


def _spent(parts: Sequence[Statistics], spent: Statistics, *, is_decided: bool) -> Statistics:
    """What all searches took; where all is decided, it does not matter that one was stopped."""
    total = combined([spent, *parts])
    stopped_by = None if is_decided else total.stopped_by
    return replace(total, stopped_by=stopped_by, reductions=(*total.reductions, ONE_BY_ONE))


def _limited(options: VerifyOptions, begun: float) -> VerifyOptions:
    """The options for one part: a bounded size, and the time that is left."""
    return replace(within(options, time.monotonic() - begun, is_relaxed=False), max_states=options.effort.max_alone)


def _proved_everywhere(
    crowd: Crowd, parts: Sequence[Slice], begun: float
) -> tuple[frozenset[int], tuple[Statistics, ...]]:
    """The intents that every part they speak of proves, and what that took."""
    if not crowd.options.uses(ABSTRACTION):
        return frozenset(), ()
    found: list[Proofs] = []
    memo: Memo = {}
    for part in parts:
        crowd.watch.go_on()
        found.append(_proofs_of(crowd, part, begun, memo))
    pairs = list(zip(parts, found, strict=True))
    numbers = range(len(crowd.loaded.scenario.intents))
    proved = frozenset(n for n in numbers if all(n in one.intents for part, one in pairs if n in part.intents))
    return proved, tuple(one.statistics for one in found if one.statistics is not None)


def _proofs_of(crowd: Crowd, part: Slice, begun: float, memo: Memo) -> Proofs:
    """What is proved of one part; nothing if that fails, and then the part is searched as it is."""
    from kubeproof.verify.proofs.crowd.proving import Proofs, prove_part  # only large inputs need it

    try:
        return prove_part(crowd.loaded, part, crowd.planned, _limited(crowd.options, begun), crowd.watch, memo)
    except Exception as problem:
        failure_of(problem)
        return Proofs()


def _proof(crowd: Crowd, parts: Sequence[Slice], number: int, costs: Sequence[Statistics]) -> IntentResult:
    """The result of an intent that every part it speaks of proves."""
    result = intent_result(crowd.loaded, crowd.plan, number, Verdict.HOLDS, combined(costs))
    said = claim(crowd.plan.monitors[number].intent)
    return replace(result, detail=f"proved for {_each(parts, number)}, whatever the others do: {said}")


def _show(crowd: Crowd, part: Part, known: Sequence[IntentResult], shown: dict[int, IntentResult]) -> None:
    """Shows the violations of a part, each as one of the whole; those that cannot be shown wait for another part's."""
    for number in part.slice.intents if part.failure is None else ():
        decided, is_shown = part.decision(number), number in shown and not is_open(shown[number])
        if decided is not None and is_open(known[number]) and not is_shown and decided.finding.is_violated:
            shown[number] = _violated(crowd, part, decided, number)
            crowd.watch.known.note([shown[number]])


def _decided(
    crowd: Crowd, sliced: Sliced, number: int, known: IntentResult, shown: Mapping[int, IntentResult]
) -> IntentResult:
    """What the parts say of an intent, if it is still open."""
    if not is_open(known):
        return known
    if number in shown:
        return told_best(shown[number], known) if known.verdict == Verdict.ERROR else shown[number]
    part, decided = sliced.decision(number)
    if decided is None:
        assert part.failure is not None
        return told_best(part.failure.told_of(known), known)
    if decided.finding.verdict == Verdict.HOLDS:
        each = _each(sliced.slices, number)
        return replace(known, detail=f"{known.detail}; it holds if {each} has all nodes to itself")
    return known


_UNSHOWN = "no run of all workloads together was found in which it does"


def _each(parts: Sequence[Slice], number: int) -> str:
    told = [part.workloads for part in parts if number in part.intents]
    return "each workload" if len(told) > 1 else ", ".join(told[0])


def _violated(crowd: Crowd, part: Part, decided: Decided, number: int) -> IntentResult:
    """A part's violation as one of the whole; open if the others do not run along."""
    result = intent_result(crowd.loaded, crowd.plan, number, Verdict.VIOLATED, part.statistics)
    found = show_violation(crowd.plan, part, decided, number, result, is_exact=False)
    if isinstance(found, IntentResult):
        return found
    said = claim(crowd.plan.monitors[number].intent)
    told = f"it fails if others keep out of the way, but {_UNSHOWN} ({found.reason}): {said}"
    return replace(found, reason=told).told_of(result)
