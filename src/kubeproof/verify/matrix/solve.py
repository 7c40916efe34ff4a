"""One cell of the matrix: a workload under a fault, graded.

The workload is searched with what relates to it, as if they had the nodes to themselves; a run in which it fails is
made one of the whole cluster and replayed (`kubeproof.verify.counterexamples.weave`). That it does not fail needs a
proof that holds whatever the others do (`kubeproof.verify.proofs.crowd`), unless nobody else is there.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING

from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.engine.limits import Deadline
from kubeproof.events.declarations import Rollout
from kubeproof.manifests.loaded import Loaded
from kubeproof.manifests.scenarios.matrix_columns import BY_KEY, Fault, is_floor, under_faults
from kubeproof.model.plan import Plan
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.counterexamples.lift import NamedPath
from kubeproof.verify.findings.failures import Failure, failure_of
from kubeproof.verify.findings.left_out import own_doubts, with_caveats
from kubeproof.verify.matrix.longest import longest_below
from kubeproof.verify.matrix.one_disk import NOT_SHOWN, is_disk_elsewhere, with_disk_given_up
from kubeproof.verify.matrix.questions import CellQuestion
from kubeproof.verify.matrix.result import Cell, Grade
from kubeproof.verify.no_placement import NoPlacement
from kubeproof.verify.options import ABSTRACTION, SLICING, VerifyOptions
from kubeproof.verify.planning import plan_input
from kubeproof.verify.proofs.coarser import within
from kubeproof.verify.proofs.slices import Part, Preludes, search_part, show_violation
from kubeproof.verify.proofs.slicing import Slice, cut_by_relations
from kubeproof.verify.result import IntentResult, Statistics, Trace
from kubeproof.verify.searching import NoTimeLeft, Watch, engine_name
from kubeproof.verify.words.summary import intent_result

_ASKED_AGAIN = (
    "kubectl drain evicts the pods that it finds on the node at first, here also those that come back, as they "
    "tolerate a cordon"
)
FEW_WORKLOADS = 4  # that are searched together at once, if need be; more only when all cells have had a turn
if TYPE_CHECKING:
    from kubeproof.verify.matrix.one_run import OneRun
    from kubeproof.verify.proofs.crowd.proving import Memo, Proofs


@dataclass(frozen=True, slots=True)
class Graded:
    """A cell with the result that stands for it."""

    cell: Cell
    result: IntentResult
    statistics: Statistics
    is_doubted: bool = False  # decided, but for something that is not modelled


@dataclass(frozen=True, slots=True)
class Solver:
    """Grades cells of one input."""

    loaded: Loaded
    options: VerifyOptions
    columns: tuple[Fault, ...] = ()  # other ones than everybody knows; those cannot be sent to another process
    memo: Memo = field(default_factory=dict, compare=False)  # of the process that works
    preludes: Preludes = field(default_factory=dict, compare=False)

    def grade_run(self, question: CellQuestion, run: OneRun) -> Graded:
        """The cell of a workload that is stuck in a run of everybody."""
        shown, watch = run.stuck[question.target], Watch()
        one = _Cell(question, run.loaded, run.plan, self.options, watch, self.memo, self.preludes)
        return one.grade_stuck(shown, Statistics(states=shown.states))

    def __call__(self, question: CellQuestion) -> Graded:
        """The cell of a question."""
        columns = {fault.key: fault for fault in self.columns} or BY_KEY
        faulty = under_faults(self.loaded, question.faults, question.target, columns)
        limited = replace(self.options, max_states=question.max_states, timeout_s=question.timeout_s, spent_s=0.0)
        watch = Watch(deadline=_deadline(question), clock=time.process_time)
        one = _Cell(question, faulty, plan_input(faulty, limited), limited, watch, self.memo, self.preludes)
        try:
            return one.grade()
        except NoPlacement:
            return one.leave_undecided("it has no first placement to start from: see its first deployment")
        except NoTimeLeft:
            return one.leave_undecided("the time was over before its search began; --timeout allows more")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is found out about the intents of a cell."""

    part: Slice
    searched: Part
    found: dict[int, str]  # verdicts by number
    rest_on: frozenset[str] | None = None  # the workloads for which it is proved; None: all
    obstacle: str = ""  # why there is no proof whatever the others do
    any_size: frozenset[str] = frozenset()  # workloads of which it is proved for all sizes that autoscalers may write

    def is_proved(self, number: int) -> bool:
        """True if the intent holds, or nothing ever happens that it speaks of."""
        return self.found[number] in (Verdict.HOLDS, Verdict.VACUOUS)

    @property
    def proved(self) -> frozenset[int]:
        """The intents that hold."""
        return frozenset(filter(self.is_proved, self.found))

    def knowing(self, proved: frozenset[int]) -> Evidence:
        """The evidence with what is proved whatever others do, of fewer workloads: that leaves less open here."""
        is_open = {number for number, verdict in self.found.items() if verdict == Verdict.UNKNOWN}
        return replace(self, found=self.found | dict.fromkeys(is_open & proved, Verdict.HOLDS))


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell under work: the whole input with the scenario of its faults."""

    question: CellQuestion
    loaded: Loaded
    plan: Plan
    options: VerifyOptions
    watch: Watch
    memo: Memo  # proofs that equal workloads share
    preludes: Preludes  # that runs of one workload share

    # -- searching --

    def grade(self) -> Graded:
        """The grade, with the run or the proof behind it."""
        begun_s = self.watch.clock()
        graded = None
        proved: frozenset[int] = frozenset()  # of a part, so of each that it belongs to
        for part in self._parts():
            seen = self._beside_others(part).knowing(proved)
            proved |= seen.proved
            graded = self._judge(seen)
            if graded.cell.grade != Grade.UNKNOWN or graded.is_doubted:
                return graded
        if graded is None:
            whole = self._exact(is_beside=False)
            return whole if self.question.is_thorough else replace(whole, is_doubted=False)  # a larger proof may do
        if len(self.loaded.setup.workloads) > FEW_WORKLOADS and not self.question.is_thorough:
            return graded
        again = self._exact(self.watch.clock() - begun_s, proved=proved)
        if again.cell.grade == Grade.UNKNOWN and not (again.is_doubted and self.question.is_thorough):
            return replace(graded, statistics=again.statistics)  # whether a limit ended it; a larger proof may do
        return again

    def _parts(self) -> Iterator[Slice]:
        """What relates to the workload, then with all whose pods its scores count; nothing if that is everybody."""
        if not self.options.uses(SLICING) or self.options.controllers:
            return
        known: set[tuple[str, ...]] = set()
        for is_swayed in (False, True):
            if known and self.watch.is_over:
                return
            parts = cut_by_relations(self.loaded, is_swayed=is_swayed)
            part = next((one for one in parts if self.question.target in one.workloads), None)
            if part is not None and len(parts) > 1 and part.workloads not in known:
                known.add(part.workloads)
                yield part

    def _beside_others(self, part: Slice) -> Evidence:
        """What is found of a part alone as a run of the whole, and what holds of it whatever the others do."""
        self.watch.look()
        searched = search_part(part, plan_input(part.loaded, self.options), self.options, self.watch)
        found = {number: _verdict(searched, number) for number in part.intents}
        alone = [number for number, verdict in found.items() if verdict != Verdict.VIOLATED]
        proofs = self._prove(part, alone)
        found |= {number: Verdict.HOLDS if number in proofs.unbroken else Verdict.UNKNOWN for number in alone}
        rest_on = proofs.rest_on.union(part.workloads)
        return Evidence(part, searched, found, rest_on, proofs.obstacle, proofs.any_size)

    def _exact(self, spent_s: float = 0.0, *, is_beside: bool = True, proved: frozenset[int] = frozenset()) -> Graded:
        """What a search of all workloads together decides; unless parts were proved before, with what it is a proof of.

        Whatever is proved of a part beside others holds if there are none, and takes fewer states.
        """
        refs = tuple(workload.ref for workload in self.loaded.setup.workloads)
        whole = Slice(self.loaded, refs, tuple(range(len(self.loaded.scenario.intents))))
        searched = search_part(whole, self.plan, within(self.options, spent_s, is_relaxed=False), self.watch)
        found = {number: _verdict(searched, number) for number in whole.intents}
        evidence = Evidence(whole, searched, found).knowing(proved)
        return self._judge(evidence if is_beside else self._with_proofs(evidence))

    def _with_proofs(self, seen: Evidence) -> Evidence:
        """The evidence of a search of everybody, with proofs that need fewer states and leave more open."""
        unbroken = [number for number, verdict in seen.found.items() if verdict != Verdict.VIOLATED]
        is_plain = not (self.loaded.omissions or self.plan.setup.autoscalers or self._is_late)
        if (is_plain and all(map(seen.is_proved, unbroken))) or len(cut_by_relations(self.loaded)) != 1:
            return seen
        proofs = self._prove(seen.part, unbroken)
        if not proofs.unbroken.issuperset(unbroken):
            return replace(seen, found=seen.found | {n: Verdict.HOLDS for n in unbroken if n in proofs.unbroken})
        proved = seen.found | dict.fromkeys(unbroken, Verdict.HOLDS)
        return replace(seen, found=proved, rest_on=frozenset(seen.part.workloads), any_size=proofs.any_size)

    def _prove(self, part: Slice, numbers: Sequence[int]) -> Proofs:
        """What holds of the intents whatever the others do; a fault that never comes is survived."""
        from kubeproof.verify.proofs.crowd.proving import Input, Proofs, prove_part

        if not numbers or not self.options.uses(ABSTRACTION):
            return Proofs()
        try:
            plan_part = partial(plan_input, options=self.options)
            return prove_part(Input(self.loaded), part, plan_part, self.options, self.watch, self.memo)
        except Exception as problem:
            return Proofs(obstacle=failure_of(problem).reason)  # ours to mend: what stays open because of it says so

    # -- judging --

    def _judge(self, seen: Evidence) -> Graded:
        found = seen.found
        floors = {number: self._count(number) for number in found if self._is_floor(number)}
        lasting = [number for number in found if number not in floors]
        failures: list[Failure] = []
        doubted = None
        for number in (
            n for n in (*lasting[1:], *lasting[:1]) if found[n] == Verdict.VIOLATED
        ):  # what says most comes first
            shown = self._show(seen.searched, number)
            if isinstance(shown, Failure):
                failures.append(shown)
                continue
            stuck = self.grade_stuck(shown, seen.searched.statistics)
            if not stuck.is_doubted:
                return stuck
            doubted = doubted or stuck
        if doubted is not None:
            return doubted
        comes_back = all(map(seen.is_proved, lasting))
        below = sorted((count, number) for number, count in floors.items() if found[number] == Verdict.VIOLATED)
        for count, number in below:
            shown = self._show(seen.searched, number)
            if isinstance(shown, IntentResult):
                is_lowest = all(seen.is_proved(n) for n, other in floors.items() if other < count)
                is_lowest = is_lowest and count - 1 in (0, *floors.values())
                return self._dips(seen, shown, count - 1, number, comes_back=comes_back, is_lowest=is_lowest)
            failures.append(shown)
        if comes_back and all(map(seen.is_proved, floors)):
            return self._steady(seen, max(floors, key=lambda n: floors[n], default=lasting[0]))
        return self._open(seen, failures)

    @property
    def _is_late(self) -> bool:
        """True if a rollout waits until its ready pods are available, which is not modelled."""
        own = next(one for one in self.loaded.setup.workloads if one.ref == self.question.target)
        return own.min_ready_s > 0 and any(isinstance(event, Rollout) for event in self.loaded.scenario.events)

    def _show(self, searched: Part, number: int) -> IntentResult | Failure:
        """A violation as a run of the whole, or why there is none."""
        decided = searched.decision(number)
        assert decided is not None
        result = intent_result(self.loaded, self.plan, number, Verdict.VIOLATED, searched.statistics)
        is_whole = searched.plan is self.plan
        return show_violation(
            self.plan, searched, decided, number, result,
            is_exact=is_whole, preludes=self.preludes, look=self.watch.look, why_not=self._why_no_run,
        )  # fmt: skip

    @property
    def _waits_for_disk(self) -> bool:
        """True if new pods are taken to wait for a disk."""
        return any(event.never_ready for event in self.loaded.scenario.events)

    def _why_no_run(self, path: NamedPath) -> str:
        """Why no cluster has such a run, "" if one has."""
        if not self._waits_for_disk or is_disk_elsewhere(self.plan.setup, self.question.target, path):
            return ""
        return NOT_SHOWN

    def grade_stuck(self, shown: IntentResult, spent: Statistics) -> Graded:
        """The cell of a run that never comes back, unless what is not modelled may prevent it."""
        result = replace(shown, severity="error")
        doubts = own_doubts(self.loaded, self.question.target)
        if _goes_on_with(ActorKind.DRAIN, shown.trace):
            doubts.append(_ASKED_AGAIN)
        if doubts:
            told = f"a run never comes back, unless what is not modelled prevents it: {'; '.join(doubts)}"
            return replace(self._grade(Grade.UNKNOWN, told, result, None, statistics=spent), is_doubted=True)
        if self._waits_for_disk:
            told = f"{shown.detail}, as its new pod waits for a disk that the old one keeps on another node"
            result = with_disk_given_up(self.plan.setup, result, self.question.target)
            shown = replace(shown, detail=told)
        return self._grade(Grade.STUCK, f"a run never comes back: {shown.detail}", result, None, statistics=spent)

    def _dips(
        self, seen: Evidence, shown: IntentResult, lowest: int, number: int, *, comes_back: bool, is_lowest: bool
    ) -> Graded:
        """A dip; unless every level below is decided, it may go deeper than the run that is shown."""
        result, searched = replace(shown, severity="info"), seen.searched
        if not comes_back:
            told = f"{_ready(lowest)} in some run; not decided whether it always comes back"
            return self._grade(Grade.UNKNOWN, told, result, searched, lowest)
        back = self._hold(seen, 0, Statistics())
        if back.verdict != Verdict.HOLDS:
            told = f"{_ready(lowest)} in some run; {back.detail}"
            return replace(self._grade(Grade.UNKNOWN, told, result, searched, lowest), is_doubted=True)
        if lowest and self._is_late:
            told = f"{_ready(lowest)} in some run, unless minReadySeconds holds the rollout up before"
            return replace(self._grade(Grade.UNKNOWN, told, result, searched, lowest), is_doubted=True)
        longest_s = self._longest(searched, number) or None  # no clock runs while it waits for an event
        lasting = "" if longest_s is None else f" for up to {longest_s} s"
        fewer = "" if is_lowest else " or fewer"
        told = f"{_ready(lowest)}{fewer}{lasting} in some run, all ready in the end in every run"
        return self._grade(Grade.DIPS, told, result, searched, lowest if is_lowest else None, longest_s)

    def _steady(self, seen: Evidence, number: int) -> Graded:
        searched = seen.searched
        result = self._hold(seen, number, searched.statistics)
        if result.verdict != Verdict.HOLDS:
            return replace(self._grade(Grade.UNKNOWN, result.detail, result, searched), is_doubted=True)
        return self._grade(Grade.STEADY, result.detail, result, searched)

    def _hold(self, seen: Evidence, number: int, spent: Statistics) -> IntentResult:
        """What holds, unless it rests on something that is not modelled."""
        result = intent_result(self.loaded, self.plan, number, Verdict.HOLDS, spent)
        (result,) = with_caveats(self.loaded, self.plan, [result], seen.rest_on, seen.any_size)
        return result

    def _longest(self, searched: Part, number: int) -> int | None:
        decided = searched.decision(min(searched.slice.intents))
        below = searched.slice.intents.index(number)
        return None if decided is None else longest_below(decided.search, decided.system.checks[below].flag)

    def _open(self, seen: Evidence, failures: Sequence[Failure]) -> Graded:
        searched = seen.searched
        if searched.failure is not None:
            return self.leave_undecided(searched.failure.reason, searched.failure.verdict, searched.statistics)
        if failures:
            undecided = self.leave_undecided(failures[0].reason, failures[0].verdict, searched.statistics)
            return replace(undecided, is_doubted=failures[0].reason == NOT_SHOWN)
        spent = searched.statistics
        if spent.stopped_by:
            told = f"no violation in {spent.states:,} states, up to {spent.depth:,} steps; --timeout allows more"
        else:
            why = seen.obstacle or "others may take its room or sway where its pods go"
            told = f"it holds if {', '.join(seen.part.workloads)} has all nodes to itself; {why}"
        return self.leave_undecided(told, Verdict.UNKNOWN, spent)

    def leave_undecided(
        self, why: str, verdict: Verdict = Verdict.UNKNOWN, statistics: Statistics = Statistics()
    ) -> Graded:
        """The cell that nothing decides."""
        result = replace(
            intent_result(self.loaded, self.plan, 0, Verdict.UNKNOWN, statistics), verdict=verdict, detail=why
        )
        return self._grade(Grade.UNKNOWN, why, result, None, statistics=statistics)

    def _grade(
        self,
        grade: Grade,
        told: str,
        result: IntentResult,
        searched: Part | None,
        lowest: int | None = None,
        longest_s: int | None = None,
        *,
        statistics: Statistics | None = None,
    ) -> Graded:
        target, faults = self.question.cell
        if grade == Grade.UNKNOWN and result.verdict not in (Verdict.UNKNOWN, Verdict.ERROR):
            result = replace(result, verdict=Verdict.UNKNOWN, detail=told)
        spent = statistics or (searched.statistics if searched is not None else Statistics())
        spent = replace(spent, engine=spent.engine or engine_name(self.options))
        cell = Cell(target, faults, grade, told, lowest, longest_s)
        return Graded(cell, replace(result, target=target, faults=faults), spent)

    def _is_floor(self, number: int) -> bool:
        return is_floor(self.loaded.scenario.intents[number])

    def _count(self, number: int) -> int:
        count = self.loaded.scenario.intents[number].count
        return 0 if count is None else count.number


def _goes_on_with(kind: ActorKind, trace: Trace | None) -> bool:
    """True if a run goes on for ever and an actor of the kind with it."""
    if trace is None or trace.loop_start is None:
        return False
    return any(step.actor.kind == kind for step in trace.steps[trace.loop_start :])


def _deadline(question: CellQuestion) -> Deadline | None:
    """When the run ends, by the clock of this process."""
    if math.isinf(question.ends_at_s):
        return None
    left_s = question.ends_at_s - time.time()
    return Deadline(time.monotonic() + left_s, max(0.0, left_s))


def _verdict(searched: Part, number: int) -> str:
    decided = searched.decision(number)
    return Verdict.UNKNOWN if decided is None else decided.finding.verdict


def _ready(count: int) -> str:
    return "no pod ready" if count == 0 else f"only {count} ready"
