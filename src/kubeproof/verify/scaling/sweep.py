"""Verifies every size of an input from small to large, until one is violated or all are done."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from itertools import takewhile

from kubeproof.cluster.scale import Scale
from kubeproof.errors import NothingToCheckError
from kubeproof.manifests.loaded import Loaded
from kubeproof.stop import Stop
from kubeproof.values import replace
from kubeproof.verdicts import Verdict
from kubeproof.verify.executors.gradual import Gradual
from kubeproof.verify.executors.inprocess import InProcess
from kubeproof.verify.executors.run import Record, run_tasks
from kubeproof.verify.executors.task import TaskProgress, TaskResult
from kubeproof.verify.findings.known import Found, Known
from kubeproof.verify.holds_for import HoldsFor
from kubeproof.verify.no_placement import NoPlacement
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.planning import plan_of
from kubeproof.verify.resize import Size, resize
from kubeproof.verify.result import VerifyResult
from kubeproof.verify.run import verify_intents
from kubeproof.verify.scaling.above import LOOKED_AT, answer_proved
from kubeproof.verify.scaling.conclusion import conclude
from kubeproof.verify.scaling.plan import SweepOptions, SweepPlan
from kubeproof.verify.scaling.result import SizeAnswer, Skipped, SweepProgress
from kubeproof.verify.scaling.setups import why_trivial

Report = Callable[[SweepProgress], None]
Outcomes = Generator[TaskResult[SizeAnswer], None, None]


def run_sweep(
    plan: SweepPlan,
    chosen: SweepOptions = SweepOptions(),
    *,
    journal: Record | None = None,
    progress: Report | None = None,
    stop: Stop | None = None,
    found: Found | None = None,
) -> VerifyResult:
    """One verdict per intent over all sizes; the first violated size is the smallest one.

    Unless `every` is set the sweep ends there. A size that could not be decided is never counted as one that holds.
    Asked to stop, or interrupted, it answers with the sizes that are done by then. `found` is told of the first
    violation of an intent where the sweep goes on after it.
    """
    stop = stop or Stop()
    plan_of(plan.loaded, plan.options)  # what is wrong with every size is said once, before any work
    known = Known(found if chosen.every else None)
    told = None if progress is None else _Told(plan.sizes, progress)

    def look_at(sizes: Sequence[Size], before: int, total: int) -> list[SizeAnswer]:
        outcomes = run_tasks(
            partial(verify_size, plan.loaded, plan.scale, plan.options),
            sizes,
            executor=chosen.executor,
            journal=journal,
            on_progress=None if told is None else told.begin(before, total),
            stop=None if chosen.every else is_violated,
        )
        return _collect(outcomes, known, stop)

    first = _find_first(plan, chosen)
    looked_at = look_at(first, 0, len(plan.sizes)) if first else []
    violated = _find_violated(looked_at)
    proofs = {} if stop.is_asked else _prove(plan, violated)
    is_over = bool(violated and first)  # then nobody asks what is proved of other sizes
    proved = {} if is_over else answer_proved(plan, proofs)
    for size in first:
        proved.pop(size.key, None)
    sizes = [size for size in plan.sizes[len(first) :] if size.key not in proved]
    if not violated and not stop.is_asked:
        looked_at += look_at(sizes, len(first), len(first) + len(sizes))
    answers = looked_at if is_over else _merge(plan.sizes, proved, looked_at)
    if answers and all(answer.verdict == Skipped.TRIVIAL for answer in answers) and not stop.is_asked:
        raise NothingToCheckError(f"E301 every size of spec.scale is trivial: {answers[0].note}. Widen its ranges.")
    is_interrupted = stop.is_asked and len(looked_at) < len(first) + len(sizes)
    return conclude(plan, answers, proofs, is_interrupted=is_interrupted)


def _find_first(plan: SweepPlan, chosen: SweepOptions) -> Sequence[Size]:
    """The sizes that are looked at before anything is proved of all: many sweeps end there, and need no proof.

    None where that would start workers twice.
    """
    begins_here = isinstance(chosen.executor, InProcess | Gradual)
    return plan.sizes[:LOOKED_AT] if begins_here and not chosen.every else ()


def _prove(plan: SweepPlan, violated: frozenset[str]) -> Mapping[str, HoldsFor]:
    """For which sizes the intents hold that no size violates."""
    if violated.issuperset(intent.name for intent in plan.loaded.scenario.intents):
        return {}
    from kubeproof.verify.proofs.any_size.derive import prove_any_size  # sweeps that end at once do without

    return prove_any_size(plan.loaded, plan.options)


def _find_violated(answers: Sequence[SizeAnswer]) -> frozenset[str]:
    """The names of the intents that some size violates."""
    return frozenset(one.intent for answer in answers for one in answer.results if one.verdict == Verdict.VIOLATED)


def _merge(
    sizes: Sequence[Size], proved: Mapping[str, SizeAnswer], looked_at: Sequence[SizeAnswer]
) -> list[SizeAnswer]:
    """The answers in the order of their sizes, up to the first one that has none."""
    rest = iter(looked_at)
    answers = (proved.get(size.key) or next(rest, None) for size in sizes)
    return [answer for answer in takewhile(lambda one: one is not None, answers) if answer is not None]


def _collect(outcomes: Outcomes, known: Known, stop: Stop) -> list[SizeAnswer]:
    """The answers of the sizes in their order, up to the one during which somebody asked to stop."""
    answers: list[SizeAnswer] = []
    try:
        for outcome in outcomes:
            answers.append(_answer(outcome))
            known.note(answers[-1].results)
            known.tell()
            if stop.is_asked:
                break
        stop.obey()
    except KeyboardInterrupt:
        stop.ask()
        stop.obey()
    outcomes.close()  # ends the workers
    return answers


def verify_size(loaded: Loaded, scale: Scale, options: VerifyOptions, size: Size) -> SizeAnswer:
    """What one worker does: the answer for one size, with traces where it is violated."""
    sized = resize(loaded, scale, size)
    reason = why_trivial(sized)
    if reason:
        return SizeAnswer(Skipped.TRIVIAL, note=reason)
    try:
        result = verify_intents(sized, options)
    except NoPlacement:
        return SizeAnswer(Verdict.VACUOUS, note="no stable placement to start from")
    if result.statistics.is_interrupted:  # heard only in this process; the whole sweep ends
        raise KeyboardInterrupt
    numbers = (*size.nodes, *size.pods)
    return SizeAnswer(
        verdict=result.verdict,
        results=tuple(replace(one, size=numbers) for one in result.results),
        statistics=result.statistics,
    )


def is_violated(outcome: TaskResult[SizeAnswer]) -> bool:
    """True if a size was violated; such an outcome ends a sweep."""
    return outcome.value is not None and outcome.value.verdict == Verdict.VIOLATED


def _answer(outcome: TaskResult[SizeAnswer]) -> SizeAnswer:
    return outcome.value if outcome.value is not None else SizeAnswer(Verdict.ERROR, note=outcome.error)


class _Told:
    """The progress of tasks as that of a sweep."""

    def __init__(self, sizes: Sequence[Size], report: Report) -> None:
        self._sizes = {size.key: (number, size) for number, size in enumerate(sizes)}
        self._report = report
        self._begun_s = time.monotonic()
        self._states = 0
        self._best: tuple[int, Size] | None = None
        self._before = self._total = 0

    def begin(self, before: int, total: int) -> _Told:
        """The progress of the tasks after so many that are done."""
        self._before, self._total = before, total
        return self

    def __call__(self, told: TaskProgress) -> None:
        if told.last is not None and told.last.value is not None:
            self._note(told.last)
        current = self._sizes[told.running[0]][1] if told.running else None
        elapsed_s = time.monotonic() - self._begun_s
        best = self._best[1] if self._best else None
        self._report(
            SweepProgress(self._before + told.done, self._before + told.total, current, self._states, elapsed_s, best)
        )

    def _note(self, outcome: TaskResult[SizeAnswer]) -> None:
        assert outcome.value is not None
        self._states += outcome.value.statistics.states
        here = self._sizes[outcome.key]
        if outcome.value.verdict == Verdict.VIOLATED and (self._best is None or here[0] < self._best[0]):
            self._best = here
