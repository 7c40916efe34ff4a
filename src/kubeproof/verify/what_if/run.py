"""Answers a question: what it touches is searched, what it does not touch is room that is taken."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kubeproof.errors import KubeproofError
from kubeproof.events.declarations import NodeChoice
from kubeproof.manifests.loaded import RUNNING, Loaded
from kubeproof.manifests.scenarios.matrix_columns import rows_of
from kubeproof.stop import Stop
from kubeproof.verdicts import Verdict
from kubeproof.verify.executors.inprocess import InProcess
from kubeproof.verify.executors.session import Executor
from kubeproof.verify.matrix.options import MatrixOptions
from kubeproof.verify.matrix.result import Cell, Grade, Matrix, Row
from kubeproof.verify.matrix.run import MatrixProgress, run_matrix
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.standing import Standing, set_aside
from kubeproof.verify.result import VerifyResult
from kubeproof.verify.what_if.answer import Answer, Effect, OrdinaryRun
from kubeproof.verify.what_if.ordinary import find_run
from kubeproof.verify.what_if.questions import CORDON, FEW_NODES, UPGRADE, Question
from kubeproof.verify.what_if.sentence import tell

if TYPE_CHECKING:
    from kubeproof.verify.what_if.upgrades import UpgradeSolver

WORST_FIRST = (Grade.STUCK, Grade.UNKNOWN, Grade.DIPS, Grade.STEADY)
FEW_TURNS = 4  # of an upgrade that are followed in an ordinary run; of more the first one is
RUN_SHARE = 0.2  # of the time at most: for an ordinary run
Report = Callable[[MatrixProgress], None] | None


def answer_question(
    question: Question,
    options: VerifyOptions,
    *,
    least_grade: Grade = Grade.DIPS,
    executor: Executor | None = None,
    progress: Report = None,
    stop: Stop | None = None,
    clock: Callable[[], float] = time.monotonic,
    has_ordinary: bool = True,
) -> Answer:
    """The answer; with a limit on time the best one that there is by then."""
    begun = clock()
    standing = set_aside(_with_events(question))
    concerned = [w for w in rows_of(question.loaded.setup) if _is_asked(question, standing.loaded, w.ref)]
    if not concerned:
        return _nobody(question, standing, clock() - begun)
    chosen = MatrixOptions(
        least_grade=least_grade, pairs=False, columns=question.columns, has_checks=False,
        executor=executor or InProcess(),
    )  # fmt: skip
    solver = _find_solver(question, standing.loaded, options, least_grade)
    result = run_matrix(standing.loaded, options, chosen, progress=progress, stop=stop, solver=solver)
    is_over = stop is not None and stop.is_asked
    run, problem = (None, "") if is_over or not has_ordinary else _ordinary(question, standing.loaded, options, clock)
    answer = _conclude(question, standing, result, run, problem, clock() - begun)
    return answer if solver is None else _name_alike(answer, solver.alike)


def _name_alike(answer: Answer, alike: Mapping[str, str]) -> Answer:
    """The answer with whose run stands for whose."""
    if not alike:
        return answer
    effects = tuple(replace(one, alike=alike.get(one.target, "")) for one in answer.effects)
    number = "1 workload is" if len(alike) == 1 else f"{len(alike):,} workloads are"
    told = f"{number} graded as another one, from which they differ in names alone, and whose run stands for theirs"
    return replace(answer, effects=effects, notes=(*answer.notes, told))


def _find_solver(question: Question, loaded: Loaded, options: VerifyOptions, least: Grade) -> UpgradeSolver | None:
    """Who grades workloads; None: a search of each with all that may happen."""
    if question.key != UPGRADE or not loaded.scenario.start.pods:
        return None
    from kubeproof.verify.what_if.upgrades import UpgradeSolver

    return UpgradeSolver(loaded, options, question.columns, least) if len(loaded.setup.nodes) > FEW_NODES else None


def _with_events(question: Question) -> Loaded:
    """The input with all that may happen, and nothing asked of it yet."""
    loaded = question.loaded
    return replace(loaded, scenario=replace(loaded.scenario, events=question.events, intents=(), is_default=True))


def _is_asked(question: Question, loaded: Loaded, ref: str) -> bool:
    workload = next((one for one in loaded.setup.workloads if one.ref == ref), None)
    return workload is not None and any(fault.concerns(loaded.setup, workload) for fault in question.columns)


def _nobody(question: Question, standing: Standing, elapsed_s: float) -> Answer:
    """The answer where nobody has anything at stake."""
    from kubeproof.verify.result import Statistics

    answer = Answer(
        question=question.words, key=question.key, sentence="", verdict=Verdict.HOLDS, nodes=question.nodes,
        effects=(), worst=None, ordinary=None, untouched=len(rows_of(question.loaded.setup)), scope=(),
        not_modelled=(), notes=question.notes, statistics=Statistics(), elapsed_s=elapsed_s,
    )  # fmt: skip
    return replace(answer, sentence=tell(question, answer))


def _ordinary(
    question: Question, loaded: Loaded, options: VerifyOptions, clock: Callable[[], float]
) -> tuple[OrdinaryRun | None, str]:
    """An ordinary run within its share of the time; of an upgrade that of the first node of many."""
    nodes = question.nodes
    if question.key == CORDON:
        return None, ""  # nothing moves
    if question.key == UPGRADE and len(nodes) > FEW_TURNS:
        loaded, nodes = _first_turn(loaded, nodes)
    if options.timeout_s is None:
        return find_run(loaded, options, nodes)
    ends = clock() + options.timeout_s * RUN_SHARE

    def look() -> None:
        if clock() > ends:
            raise _OutOfTime("an ordinary run takes longer to follow than there is time")

    return find_run(loaded, options, nodes, look)


def _first_turn(loaded: Loaded, nodes: Sequence[str]) -> tuple[Loaded, tuple[str, ...]]:
    """The input in which one node has its turn."""
    from kubeproof.verify.what_if.upgrades import one_turn

    first = nodes[:1]
    turn = replace(one_turn(NodeChoice(names=tuple(first))), after=None)  # CronJobs never let a cluster come to rest
    scenario = replace(loaded.scenario, events=(turn,))
    return set_aside(replace(loaded, scenario=scenario)).loaded, tuple(first)


class _OutOfTime(KubeproofError):
    """The time for the ordinary run is over."""


def _conclude(
    question: Question,
    standing: Standing,
    result: VerifyResult,
    run: OrdinaryRun | None,
    problem: str,
    elapsed_s: float,
) -> Answer:
    assert result.matrix is not None
    effects = sorted(_effects(result, result.matrix), key=_urgency)
    bad = [one for one in effects if one.result.trace is not None]
    shown = tuple(pair for pair in result.scope if pair[0] not in ("question", "faults", "explored", "start"))
    begins = () if question.loaded.scenario.start.mode == RUNNING else ("a run begins when everything is deployed",)
    answer = Answer(
        question=question.words,
        key=question.key,
        sentence="",
        verdict=result.verdict,
        nodes=question.nodes,
        effects=tuple(effects),
        worst=bad[0] if bad else None,
        ordinary=run,
        untouched=len(standing.left_out),
        scope=shown,
        not_modelled=result.not_modelled,
        notes=(*question.notes, *begins, *_of_run(question), *((problem,) if problem else ())),
        statistics=result.statistics,
        elapsed_s=elapsed_s,
    )
    return replace(answer, sentence=tell(question, answer))


def _of_run(question: Question) -> tuple[str, ...]:
    is_first = question.key == UPGRADE and len(question.nodes) > FEW_TURNS
    return (f"the ordinary run is the turn of {question.nodes[0]} alone",) if is_first else ()


def _urgency(effect: Effect) -> tuple[int, int, int]:
    """A key to sort by: what is stuck first, then what falls lowest and for longest."""
    lowest = effect.floor if effect.lowest is None else effect.lowest
    return WORST_FIRST.index(effect.grade), lowest - effect.floor, -(effect.longest_s or 0)


def _effects(result: VerifyResult, matrix: Matrix) -> Iterator[Effect]:
    rows = {row.target: row for row in matrix.rows}
    for cell in matrix.cells:
        if cell.finding is not None:
            yield _effect(cell, rows[cell.target], result)


def _effect(cell: Cell, row: Row, result: VerifyResult) -> Effect:
    assert cell.finding is not None
    return Effect(
        target=cell.target,
        grade=cell.grade,
        detail=cell.detail,
        replicas=row.replicas,
        floor=row.floor,
        floor_from=row.floor_from,
        lowest=cell.lowest,
        longest_s=cell.longest_s,
        result=result.results[cell.finding],
        source=row.source,
    )
