"""What a violation needs: fields of manifests and events without which the run, or the verdict, would not be.

Found by trying, one thing at a time: a field is written as an edit of the catalogue of repairs would write it, an event
is left out. If the same steps still break the intent, it plays no part. If they do not, the verifier has the word:
where the intent is proved then, the field or the event decides; else it is only part of this run. So each that decides
is needed, and none of them is named by a pattern.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from kubeproof.cluster.objects import Source
from kubeproof.errors import KubeproofError
from kubeproof.manifests.editing.operations import Operation
from kubeproof.manifests.editing.splicing import line_of
from kubeproof.manifests.editing.written import Written
from kubeproof.manifests.load import load_texts
from kubeproof.manifests.loaded import Loaded
from kubeproof.stop import Stop
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.counterexamples.rerun import rerun_on
from kubeproof.verify.explained import Cause, Causes
from kubeproof.verify.fix.choice import Limits, list_edits
from kubeproof.verify.fix.edits import Edit
from kubeproof.verify.fix.hints import distance, read_hints
from kubeproof.verify.fix.inputs import Input, change, is_untouchable, open_input
from kubeproof.verify.fix.judging import UNREPLAYABLE, Effort, ScenarioJudge, key_of
from kubeproof.verify.fix.outcomes import Level
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.planning import plan_input
from kubeproof.verify.reasons.no_return import find_no_return
from kubeproof.verify.result import IntentResult, VerifyResult

BUDGET_S = 10.0  # for all violations of an input
STATES = 20_000  # of one question to the verifier
SHARE = 0.25  # of the time that is left, for one question
NEAR = 20  # how far edits may be from what the counterexample names, at most
MOST_EDITS = 60
MOST_CHANGES = 3
MOST_SHOWN = 40  # characters of a value
Clock = Callable[[], float]


def with_causes(
    loaded: Loaded,
    result: VerifyResult,
    options: VerifyOptions,
    *,
    budget_s: float = BUDGET_S,
    stop: Stop | None = None,
    clock: Clock = time.monotonic,
) -> VerifyResult:
    """The result with the causes of its violations; those of a matrix or of other sizes are left as they are."""
    told = [
        one.verdict == Verdict.VIOLATED and one.trace is not None and not one.faults and not one.size
        for one in result.results
    ]
    if not any(told):
        return result
    search = _Search(open_input(loaded), options, stop or Stop(), clock)
    found = []
    left = sum(told)
    ends_s = clock() + budget_s
    for one, is_told in zip(result.results, told, strict=True):
        if is_told:
            share_s = max(0.0, ends_s - clock()) / left
            left -= 1
            found.append(_with_change(replace(one, causes=search.find(one, clock() + share_s))))
        else:
            found.append(one)
    return replace(result, results=tuple(found))


def _same(loaded: Loaded) -> Loaded:
    return loaded


def _with_change(one: IntentResult) -> IntentResult:
    """The result with what is proved to help it in place of what its run alone tells."""
    assert one.causes is not None
    proved = [cause for cause in one.causes.needed if cause.decides and cause.field][:MOST_CHANGES]
    if not proved or one.explanation is None:
        return one
    told = "; or ".join(f"{cause.instead} ({cause.object}, {cause.place})" for cause in proved)
    change = f"Each of these alone is proved to mend this intent, whatever it does to others: {told}."
    return replace(one, remedy=change, explanation=replace(one.explanation, change=change))


@dataclass(frozen=True, slots=True)
class _Tried:
    """A change of one thing."""

    object: str
    field: str
    value: str
    place: Source
    instead: str
    load: Callable[[], Loaded]

    def as_cause(self, *, decides: bool) -> Cause:
        return Cause(self.object, self.field, self.value, self.place, self.instead, decides)


class _Search:
    """The causes of violations of one input."""

    def __init__(self, given: Input, options: VerifyOptions, stop: Stop, clock: Clock) -> None:
        self._given, self._options, self._clock, self._stop = given, options, clock, stop
        self._judge = ScenarioJudge(options, (), stop)
        self._texts = dict(given.texts)
        every = list_edits(given.objects, Limits())
        self._edits = [edit for edit in every if not any(is_untouchable(one) for one, _ in edit.changes)]

    def find(self, one: IntentResult, ends_s: float) -> Causes:
        """What one violation needs, as far as there is time."""
        needed: dict[tuple[str, str], Cause] = {}
        count, is_complete = 0, True
        begun_s = self._clock()
        causes = add_no_return(self._given.loaded, one, self._options, Causes(), SHARE * (ends_s - begun_s))
        for tried in (*self._events(one), *self._fields(one)):
            key = (tried.object, tried.field)
            if key in needed and needed[key].decides:
                continue
            if self._clock() > ends_s or self._stop.is_asked:
                is_complete = False
                break
            count += 1
            cause = self._try(one, tried, ends_s)
            if cause is not None and (key not in needed or cause.decides):
                needed[key] = cause
        ordered = sorted(_list_narrow(tuple(needed.values())), key=_rank)
        return replace(causes, needed=tuple(ordered), tried=count, is_complete=is_complete)

    def _try(self, one: IntentResult, tried: _Tried, ends_s: float) -> Cause | None:
        """None if the same run breaks the intent all the same, or the change cannot be made."""
        try:
            loaded = tried.load()
        except KubeproofError:
            return None
        if self._judge.still_breaks(loaded, one):
            return None
        intents = [intent for intent in loaded.scenario.intents if intent.name == one.intent]
        left_s = max(0.2, SHARE * (ends_s - self._clock()))
        try:
            outcomes = self._judge.ask(loaded, [key_of(intent) for intent in intents], Effort(STATES, left_s))
        except UNREPLAYABLE:
            return None
        enough = Level.GOOD if tried.field else Level.WEAK  # without the event there may be nothing to say
        holds = bool(outcomes) and all(outcome.level <= enough for outcome in outcomes.values())
        if not holds and not tried.value and tried.field:
            return None  # nothing is written there that this run could need
        return tried.as_cause(decides=holds)

    # -- what may be tried ----------------------------------------------------------------------

    def _events(self, one: IntentResult) -> Iterator[_Tried]:
        """Each event of the run, left out."""
        assert one.trace is not None
        acting = {step.actor.object for step in one.trace.steps[one.trace.deployed_steps :]}
        loaded, scenario = self._given.loaded, self._given.loaded.scenario
        for event in scenario.events:
            if event.name in acting:
                rest = tuple(other for other in scenario.events if other is not event)
                less = replace(loaded, scenario=replace(scenario, events=rest))
                yield _Tried(f"event {event.name}", "", "", event.source, "it never happens", partial(_same, less))

    def _fields(self, one: IntentResult) -> Iterator[_Tried]:
        """Edits of single fields that are near to what the counterexample names, the nearest first."""
        hints = read_hints([one])
        near = [(distance(edit, hints), edit.cost, number) for number, edit in enumerate(self._edits)]
        for far, _, number in sorted(near)[:MOST_EDITS]:
            edit = self._edits[number]
            if far <= NEAR and not edit.added and _count_operations(edit) == 1:
                yield self._tried(edit)

    def _tried(self, edit: Edit) -> _Tried:
        ((one, operations),) = [pair for pair in edit.changes if pair[1]]
        operation = operations[0]
        line = line_of(self._texts[one.file], one.document, (*one.base, *operation.path))
        place = Source(one.file, line)
        return _Tried(one.ref, operation.field, _value(one, operation), place, edit.does, lambda: self._load((edit,)))

    def _load(self, edits: Sequence[Edit]) -> Loaded:
        return load_texts(change(self._given, edits).texts, keeps_texts=False)


def add_no_return(
    loaded: Loaded, one: IntentResult, options: VerifyOptions, causes: Causes, timeout_s: float
) -> Causes:
    """The causes with the step from which it is lost."""
    try:
        again = rerun_on(loaded, plan_input(loaded, options), one)
        found = find_no_return(again, timeout_s)
    except UNREPLAYABLE:
        return causes
    if found is None or one.trace is None:
        return causes
    return replace(causes, lost_after=one.trace.deployed_steps + found.after, is_exact=found.is_exact)


def _list_narrow(causes: Sequence[Cause]) -> Iterator[Cause]:
    """The causes without those of which a part decides by itself."""
    deciding = [(one.object, one.field) for one in causes if one.decides]
    for one in causes:
        inside = (f"{one.field}.", f"{one.field}[")
        if not one.field or not any(ref == one.object and field.startswith(inside) for ref, field in deciding):
            yield one


def _rank(cause: Cause) -> tuple[bool, bool]:
    """What decides before what does not, and what is written before what is not."""
    return not cause.decides, bool(cause.field) and not cause.value


def _count_operations(edit: Edit) -> int:
    return sum(len(operations) for _, operations in edit.changes)


def _value(one: Written, operation: Operation) -> str:
    """What is written there now."""
    found = one.at(*operation.path)
    told = "" if found is None else str(found)
    return told if len(told) <= MOST_SHOWN else f"{told[:MOST_SHOWN]}…"
