"""What a violation needs: fields of manifests and events without which the run, or the verdict, would not be.

Found by trying, one thing at a time: a field is written as an edit of the catalogue of repairs would write it, an event
is left out. If the same steps still break the intent, it plays no part. If they do not, the verifier has the word:
where the intent is proved then, the field or the event decides; else it is only part of this run. So each that decides
is needed, and none of them is named by a pattern.

Beside what decides alone stands what is enough together (`core`): one thing after the other is written otherwise and
stays so as long as the intent is still violated. What is left when all had their turn is a core: none of it can be
spared, and nothing else that was tried is needed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from kubeproof.cluster.objects import Source
from kubeproof.errors import KubeproofError
from kubeproof.manifests.editing.operations import Operation
from kubeproof.manifests.editing.splicing import line_of
from kubeproof.manifests.editing.written import Written
from kubeproof.manifests.load import load_texts
from kubeproof.manifests.loaded import Loaded
from kubeproof.manifests.scenarios.matrix_columns import under_faults
from kubeproof.stop import Stop
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.counterexamples.rerun import rerun_on
from kubeproof.verify.explained import Cause, Causes
from kubeproof.verify.fix.choice import Limits, list_edits
from kubeproof.verify.fix.edits import Edit, are_apart
from kubeproof.verify.fix.hints import distance, read_hints
from kubeproof.verify.fix.inputs import Input, change, is_untouchable, open_input
from kubeproof.verify.fix.judging import UNREPLAYABLE, Effort, Judge, MatrixJudge, ScenarioJudge, key_of
from kubeproof.verify.fix.outcomes import Key, Level
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.planning import plan_input
from kubeproof.verify.reasons.no_return import find_no_return
from kubeproof.verify.result import IntentResult, VerifyResult

BUDGET_S = 10.0  # for all violations of an input
STATES = 20_000  # of one question to the verifier
SHARE = 0.25  # of the time that is left, for one question
NEAR = 24  # how far edits may be from what the counterexample names, at most
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
    told = list(_choose(result))
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


def _choose(result: VerifyResult) -> Iterator[bool]:
    """Which results are explained: violations at the sizes in the manifests; of cells with one advice the first."""
    known: set[tuple[str, str]] = set()
    for one in result.results:
        is_bad = one.verdict == Verdict.VIOLATED and one.trace is not None and not one.size
        is_new = not one.faults or (one.severity == "error" and (one.target, one.remedy) not in known)
        known.add((one.target, one.remedy))
        yield is_bad and is_new


def _with_change(one: IntentResult) -> IntentResult:
    """The result with what is proved to help it in place of what its run alone tells."""
    assert one.causes is not None
    proved = [cause for cause in one.causes.needed if cause.decides and cause.field][:MOST_CHANGES]
    chosen, how, joint = proved, "Each of these alone", "; or "
    if not proved:
        chosen, how, joint = list(one.causes.together), "Only together these are", "; and "
    if not chosen or one.explanation is None:
        return one
    told = joint.join(f"{cause.instead} ({cause.object}, {cause.place})" for cause in chosen)
    how = f"{how} is" if proved else how
    what = "this intent" if not one.faults else "this cell"
    change = f"{how} proved to mend {what}, whatever it does to others: {told}."
    return replace(one, remedy=change, explanation=replace(one.explanation, change=change))


@dataclass(frozen=True, slots=True)
class _Tried:
    """A change of one thing."""

    object: str
    field: str
    value: str
    place: Source
    instead: str
    edit: Edit | None = None  # None: an event that is left out
    event: str = ""

    def as_cause(self, *, decides: bool) -> Cause:
        return Cause(self.object, self.field, self.value, self.place, self.instead, decides)


class Asked:
    """The question that a violation answers: an intent of the Scenario, or a cell of the matrix."""

    def __init__(self, one: IntentResult, judge: Judge, keys: Callable[[Loaded], list[Key]], enough: Level) -> None:
        self._one, self._judge, self._keys, self.enough = one, judge, keys, enough
        self.is_replayed = False  # the last answer was that the same steps still break it

    @staticmethod
    def about(one: IntentResult, options: VerifyOptions, stop: Stop) -> Asked:
        """The question of a result."""
        if one.faults:
            enough = Level.WEAK if one.severity == "error" else Level.GOOD
            return Asked(one, MatrixJudge(options, one.faults, stop), lambda _: [(one.target, *one.faults)], enough)
        return Asked(one, ScenarioJudge(options, (), stop), partial(_keys_of, one), Level.GOOD)

    def narrow(self, loaded: Loaded) -> Loaded:
        """The input with the fault of a cell."""
        return under_faults(loaded, self._one.faults, self._one.target) if self._one.faults else loaded

    def judge(self, loaded: Loaded, effort: Effort) -> Level:
        """The worst answer; known runs first."""
        self.is_replayed = self._judge.still_breaks(loaded, self._one)
        if self.is_replayed:
            return Level.BAD
        outcomes = self._judge.ask(loaded, self._keys(loaded), effort)
        return max((outcome.level for outcome in outcomes.values()), default=Level.OPEN)


def _keys_of(one: IntentResult, loaded: Loaded) -> list[Key]:
    return [key_of(intent) for intent in loaded.scenario.intents if intent.name == one.intent]


class _Search:
    """The causes of violations of one input."""

    def __init__(self, given: Input, options: VerifyOptions, stop: Stop, clock: Clock) -> None:
        self._given, self._options, self._clock, self._stop = given, options, clock, stop
        self._texts = dict(given.texts)
        every = list_edits(given.objects, Limits())
        self._edits = [edit for edit in every if not any(is_untouchable(one) for one, _ in edit.changes)]

    def find(self, one: IntentResult, ends_s: float) -> Causes:
        """What one violation needs, as far as there is time."""
        needed: dict[tuple[str, str], Cause] = {}
        count, is_complete = 0, True
        begun_s = self._clock()
        asked = Asked.about(one, self._options, self._stop)
        whole = asked.narrow(self._given.loaded)
        causes = add_no_return(whole, one, self._options, Causes(), SHARE * (ends_s - begun_s))
        every = [*self._events(one, whole), *self._fields(one)]
        for tried in every:
            key = (tried.object, tried.field)
            if key in needed and needed[key].decides:
                continue
            if self._clock() > ends_s or self._stop.is_asked:
                is_complete = False
                break
            count += 1
            cause = self._try(asked, tried, ends_s)
            if cause is not None and (key not in needed or cause.decides):
                needed[key] = cause
        ordered = sorted(_list_narrow(tuple(needed.values())), key=_rank)
        core, together = self._find_core(asked, every, needed, ends_s) if is_complete else ((), ())
        return replace(
            causes, needed=tuple(ordered), tried=count, is_complete=is_complete, core=core, together=together
        )

    def _try(self, asked: Asked, tried: _Tried, ends_s: float) -> Cause | None:
        """None if the same run breaks the intent all the same, or the change cannot be made."""
        level = self._level(asked, [tried], ends_s)
        if level is None or (level == Level.BAD and asked.is_replayed):
            return None
        holds = level <= (asked.enough if tried.field else Level.WEAK)  # without the event there may be nothing to say
        if not holds and not tried.value and tried.field:
            return None  # nothing is written there that this run could need
        return tried.as_cause(decides=holds)

    def _level(self, asked: Asked, tried: Sequence[_Tried], ends_s: float) -> Level | None:
        """How good the answer is with some things written otherwise; None if they cannot be."""
        edits = [one.edit for one in tried if one.edit is not None]
        if not are_apart(edits):
            return None
        try:
            loaded = self._load(edits)
            events = {one.event for one in tried if one.event}
            rest = tuple(event for event in loaded.scenario.events if event.name not in events)
            loaded = replace(loaded, scenario=replace(loaded.scenario, events=rest)) if events else loaded
            return asked.judge(loaded, Effort(STATES, max(0.2, SHARE * (ends_s - self._clock()))))
        except (KubeproofError, *UNREPLAYABLE):
            return None

    # -- what is enough together ------------------------------------------------------------------

    def _find_core(
        self, asked: Asked, every: Sequence[_Tried], needed: Mapping[tuple[str, str], Cause], ends_s: float
    ) -> tuple[tuple[Cause, ...], tuple[Cause, ...]]:
        """What cannot be spared when all else is written otherwise at once, and a smallest change of several things
        where none mends it alone; () if the time is over before.
        """
        otherwise: list[_Tried] = []
        core: list[_Tried] = []
        together: tuple[Cause, ...] = ()
        decided = {key for key, cause in needed.items() if cause.decides}
        is_mended = any(field for _, field in decided)
        for tried in _list_farthest(every, needed):
            if self._clock() > ends_s or self._stop.is_asked:
                return (), together
            level = self._level(asked, [*otherwise, tried], ends_s)
            (otherwise if level == Level.BAD else core).append(tried)
            if not is_mended and not together and level is not None and level <= asked.enough and tried.field:
                together = self._shrink(asked, [*otherwise, tried], ends_s)
        told = [one.as_cause(decides=(one.object, one.field) in decided) for one in core]
        return tuple(_list_narrow(told)), together

    def _shrink(self, asked: Asked, chosen: list[_Tried], ends_s: float) -> tuple[Cause, ...]:
        """A part of the changes that mends it as all of them do, and of which none can be left out."""
        for one in list(chosen):
            rest = [other for other in chosen if other is not one]
            if self._clock() > ends_s:
                return ()
            level = self._level(asked, rest, ends_s)
            if level is not None and level <= asked.enough:
                chosen = rest
        return tuple(one.as_cause(decides=False) for one in chosen)

    # -- what may be tried ----------------------------------------------------------------------

    def _events(self, one: IntentResult, whole: Loaded) -> Iterator[_Tried]:
        """Each event of the run, left out; the fault of a cell is the question itself."""
        assert one.trace is not None
        acting = {step.actor.object for step in one.trace.steps[one.trace.deployed_steps :]}
        for event in () if one.faults else whole.scenario.events:
            if event.name in acting:
                yield _Tried(f"event {event.name}", "", "", event.source, "it never happens", event=event.name)

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
        return _Tried(one.ref, operation.field, _value(one, operation), place, edit.does, edit)

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


def _list_farthest(every: Sequence[_Tried], needed: Mapping[tuple[str, str], Cause]) -> list[_Tried]:
    """For each thing the change that decides, or the largest of its kind; what this run needs comes last."""
    chosen: dict[tuple[str, str], _Tried] = {}
    for one in every:
        key = (one.object, one.field)
        before, cause = chosen.get(key), needed.get(key)
        is_told = cause is not None and cause.decides and cause.instead == one.instead
        is_settled = before is not None and cause is not None and cause.decides and cause.instead == before.instead
        if is_told or (not is_settled and (one.value or not one.field) and _is_larger(one, before)):
            chosen[key] = one
    return sorted(chosen.values(), key=lambda one: (one.object, one.field) in needed)


def _is_larger(one: _Tried, before: _Tried | None) -> bool:
    if before is None or before.edit is None or one.edit is None:
        return before is None
    return one.edit.kind == before.edit.kind and one.edit.cost >= before.edit.cost


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
