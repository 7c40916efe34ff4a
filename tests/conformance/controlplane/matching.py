"""The matching rate of a real run and a counterexample, by the formula of the Kivi paper's Table 5.

Matched actions of both sides over all actions of both sides. An action is matched if the same control loop does the
same there, in the order of that loop; in which order different loops get their turn is not compared. Pods have no
names here, nodes are renamed by a symmetry of the case.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.verify.result import IntentResult, TraceStep
from tests.conformance.controlplane.planning import counterexample, moved, steps_of
from tests.conformance.controlplane.runs import BURST_S, Recorded, Run, until_broken
from tests.conformance.controlplane.symmetry import Renaming, renamings
from tests.conformance.controlplane.vocabulary import DECIDERS, Word, said_by_model, said_by_run

IN_PARALLEL = ("replicaset", "taint-eviction")  # upstream writes what one decision asks for in parallel, in any order
Group = list[Word]  # what one decision of one loop writes


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
    found = counterexample(run.case)
    theirs, last = groups_of_run(run), said_by_run(until_broken(run)[-1]).word
    matches = [_compared(_renamed(theirs, renaming), last, found) for renaming in renamings(run.case)]
    return max(matches, key=lambda one: one.percent)


def groups_of_run(run: Run) -> list[Group]:
    """What control loops did in the run, from where the counterexample begins until the intent was broken."""
    groups: list[Group] = []
    latest: dict[str, tuple[Recorded, Group]] = {}
    for action in _comparable(run):
        word = said_by_run(action).word
        if word.who not in DECIDERS or word.verb == "cannot-place":
            continue
        before = latest.get(word.who)
        if before is not None and word.who in IN_PARALLEL and _is_one_burst(before[0], action):
            group = before[1]
        else:
            group = []
            groups.append(group)
        group.append(word)
        latest[word.who] = (action, group)
    return groups


def _is_one_burst(one: Recorded, other: Recorded) -> bool:
    return one.verb == other.verb and other.time_s - one.time_s < BURST_S


def _comparable(run: Run) -> Iterable[Recorded]:
    """The run from where the counterexample begins: with a given placement, from the deployed state on."""
    actions = until_broken(run)
    marks = [index for index, action in enumerate(actions) if action.verb == "deployed"]
    is_placed = marks and not _deploys(run.case)
    return actions[marks[0] :] if is_placed else actions


def _deploys(case: str) -> bool:
    """False if the counterexample begins with pods in place: its Deployment then creates no ReplicaSet."""
    first = steps_of(counterexample(case))[0]
    return first.actor.kind == ActorKind.DEPLOYMENT


def _renamed(groups: Sequence[Group], renaming: Renaming) -> list[Group]:
    names = dict(renaming)
    return [[word._replace(where=names.get(word.where, word.where)) for word in group] for group in groups]


def groups_of_counterexample(found: IntentResult, least: int) -> list[Group]:
    """Its actions step by step; a loop is repeated until there are at least so many in all."""
    homes: dict[str, str] = {}
    steps, loop_start = steps_of(found), found.trace.loop_start if found.trace is not None else None
    groups = [_words(step, homes) for step in steps]
    while loop_start is not None and sum(map(len, groups)) < least + len(steps):
        groups += [_words(step, homes) for step in steps[loop_start:]]
    return [group for group in groups if group]


def _words(step: TraceStep, homes: dict[str, str]) -> Group:
    said = said_by_model(step.actor, step.code, homes)
    moved(step, homes)
    return [one.word for one in said if one.word.who in DECIDERS]


def _compared(theirs: Sequence[Group], last: Word, found: IntentResult) -> Match:
    real = _flat(theirs)
    ours = _flat(groups_of_counterexample(found, len(real)))
    if found.trace is not None and found.trace.loop_start is not None:
        ours = _cut(ours, last, sum(_is_alike(word, last) for word in real))
    matched = sum(_common(_by(who, real), _by(who, ours)) for who in DECIDERS)
    return Match(matched, len(real), len(ours))


def _flat(groups: Sequence[Group]) -> list[Word]:
    """The words one after the other; within one decision in the order of nodes."""
    return [word for group in groups for word in sorted(group, key=lambda word: word.where)]


def _by(who: str, words: Sequence[Word]) -> list[Word]:
    return [word for word in words if word.who == who]


def _cut(ours: list[Word], last: Word, times: int) -> list[Word]:
    """An unrolled loop, cut where the last kind of action has come so many times, as often as in the run."""
    ends = [index for index, word in enumerate(ours, start=1) if _is_alike(word, last)]
    return ours[: ends[times - 1]]


def _is_alike(one: Word, other: Word) -> bool:
    return (one.who, one.verb) == (other.who, other.verb)


def _common(one: Sequence[Word], other: Sequence[Word]) -> int:
    """The length of the longest common subsequence."""
    row = [0] * (len(other) + 1)
    for left in one:
        before, row = row, [0]
        for index, right in enumerate(other):
            row.append(before[index] + 1 if left == right else max(row[-1], before[index + 1]))
    return row[-1]
