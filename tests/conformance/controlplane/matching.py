"""The matching rate of a real run and a counterexample, by the formula of the Kivi paper's Table 5.

Matched actions of both sides over all actions of both sides. An action is matched if the same control loop does the same
there, in the order of that loop; in which order different loops get their turn is not compared. Pods have no names
here, nodes are renamed by a symmetry of the case.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kubeproof.verify.result import IntentResult, TraceStep
from tests.conformance.controlplane.planning import counterexample, moved
from tests.conformance.controlplane.runs import Run, until_broken
from tests.conformance.controlplane.symmetry import Renaming, renamings
from tests.conformance.controlplane.vocabulary import DECIDERS, Said, Word, said_by_model, said_by_run


@dataclass(frozen=True, slots=True)
class Match:
    """How a run and a counterexample compare."""

    matched: int
    of_run: int
    of_counterexample: int

    @property
    def percent(self) -> float:
        return 100 * 2 * self.matched / (self.of_run + self.of_counterexample)


def match(run: Run) -> Match:
    """The best match over all renamings of the nodes."""
    trace = counterexample(run.case)
    theirs = words_of_run(run)
    matches = [_compared([renamed(word, renaming) for word in theirs], trace) for renaming in renamings(run.case)]
    return max(matches, key=lambda one: one.percent)


def words_of_run(run: Run) -> list[Word]:
    """What control loops did in the run until the intent was broken."""
    return [said.word for said in _comparable(run) if said.word.who in DECIDERS and said.word.verb != "cannot-place"]


def _comparable(run: Run) -> Iterator[Said]:
    """The run from where the counterexample begins: with a given placement, from the deployed state on."""
    begins_placed = not counterexample_deploys(run.case)
    actions = until_broken(run)
    marks = [index for index, action in enumerate(actions) if action.verb == "deployed"]
    first = marks[0] + 1 if marks and begins_placed else 0
    return (said_by_run(action) for action in actions[first:])


def counterexample_deploys(case: str) -> bool:
    """False if the counterexample begins with pods in place: its Deployment then creates no ReplicaSet."""
    steps = steps_of(counterexample(case))
    return any(concrete[0] == "set-replicas" for concrete in steps[0].code)  # type: ignore[index]


def steps_of(found: IntentResult) -> tuple[TraceStep, ...]:
    """The steps of a counterexample."""
    return found.trace.steps if found.trace is not None else ()


def renamed(word: Word, renaming: Renaming) -> Word:
    """The word with its node renamed."""
    return word._replace(where=dict(renaming).get(word.where, word.where))


def _compared(theirs: Sequence[Word], found: IntentResult) -> Match:
    ours = words_of_counterexample(found, len(theirs))
    ours = _cut_to(ours, theirs, found)
    matched = sum(
        _common([w for w in theirs if w.who == who], [w for w in ours if w.who == who]) for who in DECIDERS
    )
    return Match(matched, len(theirs), len(ours))


def words_of_counterexample(found: IntentResult, least: int) -> list[Word]:
    """Its actions; a loop is repeated until there are at least so many in all."""
    homes: dict[str, str] = {}
    words: list[Word] = []
    steps, loop_start = steps_of(found), found.trace.loop_start if found.trace is not None else None
    for step in steps:
        words += _words(step, homes)
    while loop_start is not None and len(words) < least + len(steps):
        for step in steps[loop_start:]:
            words += _words(step, homes)
    return words


def _words(step: TraceStep, homes: dict[str, str]) -> list[Word]:
    said = said_by_model(step.actor, step.code, homes)  # type: ignore[arg-type]
    moved(step, homes)
    return [one.word for one in said if one.word.who in DECIDERS]


def _cut_to(ours: list[Word], theirs: Sequence[Word], found: IntentResult) -> list[Word]:
    """An unrolled loop, cut where its last kind of action has come as often as in the run."""
    if found.trace is None or found.trace.loop_start is None or not theirs:
        return ours
    last = theirs[-1]
    wanted = sum(_is_alike(word, last) for word in theirs)
    count = 0
    for index, word in enumerate(ours):
        count += _is_alike(word, last)
        if count == wanted:
            return ours[: index + 1]
    return ours


def _is_alike(one: Word, other: Word) -> bool:
    return (one.who, one.verb) == (other.who, other.verb)


def _common(one: Sequence[Word], other: Sequence[Word]) -> int:
    """The length of the longest common subsequence."""
    row = [0] * (len(other) + 1)
    for left in one:
        before = row
        row = [0]
        for index, right in enumerate(other):
            row.append(before[index] + 1 if left == right else max(row[-1], before[index + 1]))
    return row[-1]
