"""Grades every cell of the survival matrix within a budget of time; the best answer is there at any moment.

All cells have a short turn first. Those that stay open have a longer one, as time allows, then come pairs of faults,
the likely ones first. Cells depend on nothing but the input: they are tasks for any executor, and a journal keeps them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from kubeproof.engine.limits import Deadline
from kubeproof.errors import KubeproofError, NothingToCheckError
from kubeproof.manifests.loaded import Loaded, Sort
from kubeproof.manifests.scenarios.matrix_columns import DEPLOY
from kubeproof.stop import Stop
from kubeproof.values import dataclass
from kubeproof.verify.executors.pool import usable_cores
from kubeproof.verify.executors.run import Record, run_tasks
from kubeproof.verify.executors.task import TaskProgress, TaskResult
from kubeproof.verify.findings.known import Found, Known
from kubeproof.verify.matrix.conclusion import conclude, fail_cell
from kubeproof.verify.matrix.options import MatrixEffort, MatrixOptions
from kubeproof.verify.matrix.questions import CellQuestion, Cells, ask, pairs_of_faults, single_faults, small_first
from kubeproof.verify.matrix.result import Grade
from kubeproof.verify.matrix.solve import Graded, Solver
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.result import VerifyResult
from kubeproof.verify.searching import Watch

LEAST_S = 0.5  # of a turn: less is not worth starting
SHARE = 0.9  # of the budget for searching; the rest is for the report
RUN_SHARE = 0.7  # of what is left, for one run of the deployment of everybody
WAITING_SHARE = 0.95  # of the budget: cells that are under way then are not waited for


@dataclass(frozen=True, slots=True)
class MatrixProgress:
    """Where a matrix stands."""

    done: int
    total: int
    phase: str  # "faults", "open cells", "pairs of faults"
    current: str  # what is worked on
    grades: tuple[tuple[str, int], ...]  # how many cells have each grade so far
    elapsed_s: float


Report = Callable[[MatrixProgress], None] | None
Clock = Callable[[], float]


def run_matrix(
    loaded: Loaded,
    options: VerifyOptions = VerifyOptions(),
    chosen: MatrixOptions = MatrixOptions(),
    *,
    effort: MatrixEffort = MatrixEffort(),
    journal: Record | None = None,
    progress: Report = None,
    stop: Stop | None = None,
    found: Found | None = None,
    clock: Clock = time.monotonic,
    solver: Callable[[CellQuestion], Graded] | None = None,
) -> VerifyResult:
    """The matrix of an input, with one result per cell; `solver` grades them instead of a search of each.

    Asked to stop, or interrupted, it answers with the cells that are graded by then.
    """
    faults = tuple(fault for fault in chosen.columns if not chosen.faults or fault.key in chosen.faults)
    every = single_faults(loaded.setup, faults)
    if not every:
        raise NothingToCheckError(_nothing(loaded))
    cells = small_first(loaded, every, chosen.by_key) if solver is None else every
    run = _Run(loaded, options, chosen, effort, journal, progress, stop or Stop(), Known(found), clock)
    run.solver = solver
    pairs: Cells = []
    try:
        first = [cell for cell in cells if cell[1] == (DEPLOY,)]
        if not chosen.own_columns:  # others may begin elsewhere
            run.deploy_once([target for target, _ in first])
        first = [cell for cell in first if cell not in run.graded]
        run.work("faults", ask(first, _fewer(options, effort.first_states), effort.first_s))
        then = [cell for cell in cells if cell[1] != (DEPLOY,) and not run.is_stuck_at_first(cell[0])]
        run.work("faults", ask(then, _fewer(options, effort.first_states), effort.first_s))
        run.work("open cells", run.again([*first, *then]))
        pairs = pairs_of_faults(loaded.setup, faults) if chosen.pairs else []
        pairs = [cell for cell in pairs if not run.is_stuck_at_first(cell[0])]
        run.work("pairs of faults", ask(pairs[: effort.max_pairs], _fewer(options, effort.pair_states), effort.pair_s))
        run.stop.obey()
    except KeyboardInterrupt:
        run.stop.ask()
        run.stop.obey()
    return conclude(loaded, options, chosen, every, pairs, run.graded, clock() - run.begun, run.stop)


_RENDERED_BY = {  # objects that stand for manifests elsewhere, and what gives these
    "Application": "argocd app manifests APP | kubeproof verify -",
    "HelmChart": "helm template CHART | kubeproof verify -",
    "HelmRelease": "helm template CHART --values VALUES | kubeproof verify -",
    "Kustomization": "flux build kustomization NAME --path DIR | kubeproof verify -",
}


def _nothing(loaded: Loaded) -> str:
    left_aside = "".join(f"; {o.what} is {o.why} ({o.source})" for o in loaded.omissions[:3])
    remedy = "Name files with a Deployment, StatefulSet, Job or other workload that has pods."
    kinds = {o.group.name for o in loaded.omissions if o.group is not None and o.group.sort == Sort.KIND}
    if rendering := sorted(kinds & set(_RENDERED_BY)):
        remedy = f"Its pods come from what {' and '.join(rendering)} objects name: {_RENDERED_BY[rendering[0]]}."
    return f"E301 the input holds no workload that a fault could hit{left_aside}. {remedy}"


def _fewer(options: VerifyOptions, states: int) -> int:
    return min(states, options.max_states or states)


class _Run:
    """The cells graded so far, and the time that is left."""

    def __init__(
        self,
        loaded: Loaded,
        options: VerifyOptions,
        chosen: MatrixOptions,
        effort: MatrixEffort,
        journal: Record | None,
        progress: Report,
        stop: Stop,
        known: Known,
        clock: Clock,
    ) -> None:
        self._loaded, self._options, self._chosen, self._effort = loaded, options, chosen, effort
        self._journal, self._progress, self.stop, self._known, self._clock = journal, progress, stop, known, clock
        self.begun = clock()
        self.solver: Callable[[CellQuestion], Graded] | None = None  # None: a search of each cell
        self.graded: dict[tuple[str, tuple[str, ...]], Graded] = {}

    @property
    def left_s(self) -> float:
        """Seconds of the budget that are left for searching."""
        return self._find_left(SHARE)

    def _find_left(self, share: float) -> float:
        if self._options.timeout_s is None:
            return math.inf
        return self._options.timeout_s * share - self._options.spent_s - (self._clock() - self.begun)

    def deploy_once(self, targets: Sequence[str]) -> None:
        """Grades workloads that are stuck in one run of everybody, if many would have to be searched together."""
        from kubeproof.verify.matrix.one_run import deploy_once, list_crowded

        crowded = list_crowded(self._loaded, targets, self._options)
        if not crowded or self.stop.is_asked:
            return
        given_s = RUN_SHARE * self.left_s
        deadline = None if math.isinf(given_s) else Deadline(time.monotonic() + given_s, given_s)
        with suppress(KubeproofError):  # cells are searched then, and tell what is wrong
            once = deploy_once(self._loaded, crowded, self._options, Watch(deadline=deadline, stop=self.stop).look)
            solver = Solver(self._loaded, self._options)
            for question in ask([(target, (DEPLOY,)) for target in once.stuck], 0, 0.0):
                self._keep(question, solver.grade_run(question, once))

    def is_stuck_at_first(self, target: str) -> bool:
        """True if the workload may never be complete, even if nothing happens to it: no fault makes that better."""
        graded = self.graded.get((target, (DEPLOY,)))
        return graded is not None and graded.cell.grade == Grade.STUCK

    def again(self, cells: Cells) -> list[CellQuestion]:
        """The cells that are open, each with its share of the time that is left."""
        open_cells = [cell for cell in cells if self._may_be_decided(cell)]
        if not open_cells:
            return []
        share_s = max(LEAST_S, self.left_s * usable_cores() / len(open_cells))
        most = _fewer(self._options, self._effort.later_states)
        return list(ask(open_cells, most, share_s, is_thorough=True))

    def _may_be_decided(self, cell: tuple[str, tuple[str, ...]]) -> bool:
        """True if a larger search, or one of the whole, may tell more."""
        graded = self.graded.get(cell)
        if graded is None:
            return True
        return graded.cell.grade == Grade.UNKNOWN and not graded.is_doubted

    def work(self, phase: str, questions: Iterable[CellQuestion]) -> None:
        """Answers the questions as long as there is time, in their order, several at once."""
        ends_at_s = time.time() + self.left_s
        asked = tuple(replace(question, ends_at_s=ends_at_s) for question in questions)
        if not asked or self.stop.is_asked or self.left_s < LEAST_S:
            return
        by_key = {question.key: question for question in asked}

        def tell(told: TaskProgress) -> None:
            if told.last is not None:
                self._note(by_key[told.last.key], told.last)
            self._report(phase, told, by_key)

        outcomes = run_tasks(
            self.solver or Solver(self._loaded, self._options, self._chosen.own_columns),
            asked,
            executor=self._chosen.executor,
            journal=self._journal,
            on_progress=tell,
            left_s=partial(self._find_left, WAITING_SHARE),
        )
        try:
            for _ in outcomes:
                if self.stop.is_asked or self.left_s < LEAST_S:
                    break
        finally:
            outcomes.close()

    def _note(self, question: CellQuestion, outcome: TaskResult[Graded]) -> None:
        self._keep(question, outcome.value or self._fail(question, outcome))

    def _keep(self, question: CellQuestion, graded: Graded) -> None:
        self.graded[question.cell] = graded
        if graded.cell.grade == Grade.STUCK and len(question.faults) == 1:
            named = replace(graded.result, intent=f"{graded.result.intent} ({' and '.join(question.faults)})")
            self._known.note([named])
            self._known.tell()

    def _fail(self, question: CellQuestion, outcome: TaskResult[Graded]) -> Graded:
        assert outcome.error is not None
        return fail_cell(self._loaded, question, outcome.error, self._chosen.by_key)

    def _report(self, phase: str, told: TaskProgress, by_key: Mapping[str, CellQuestion]) -> None:
        if self._progress is None:
            return
        counts = {str(grade): 0 for grade in Grade}
        for graded in self.graded.values():
            counts[str(graded.cell.grade)] += 1
        current = by_key[told.running[0]].name if told.running else ""
        elapsed_s = self._clock() - self.begun
        self._progress(MatrixProgress(told.done, told.total, phase, current, tuple(counts.items()), elapsed_s))
