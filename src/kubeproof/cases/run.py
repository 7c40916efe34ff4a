"""Runs shipped cases and compares the verdicts with the expected ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from kubeproof.cases.library import Case, Variant, list_manifests
from kubeproof.manifests.load import load
from kubeproof.stop import Stop, until
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.result import VerifyResult
from kubeproof.verify.run import verify
from kubeproof.verify.scaling.esc import Esc
from kubeproof.verify.scaling.plan import SweepOptions, plan_sweep
from kubeproof.verify.scaling.result import Skipped
from kubeproof.verify.scaling.sweep import Report, run_sweep

INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class CaseRun:
    """How one variant of a case came out."""

    case: str
    variant: str
    expected: str
    verdict: Verdict
    nodes: int = 0
    pods: int = 0
    states: int = 0
    transitions: int = 0
    elapsed_s: float = 0.0
    problem: str = ""  # why there is no verdict
    result: VerifyResult | None = None  # the whole answer, where it was asked for
    sizes: int = 1  # how many a sweep has
    verified: int = 1  # how many of them were verified until it ended

    @property
    def is_interrupted(self) -> bool:
        """True if there is no verdict because somebody asked to stop."""
        return self.problem == INTERRUPTED

    @property
    def as_expected(self) -> bool:
        bounded = self.expected == Verdict.HOLDS and self.verdict == Verdict.HOLDS_BOUNDED and self.sizes > 1
        return bounded or self.verdict == self.expected


def run_case(
    chosen: tuple[Case, Variant],
    options: VerifyOptions = VerifyOptions(),
    *,
    keep_result: bool = False,
    stop: Stop | None = None,
) -> CaseRun:
    """Verifies one variant; whatever goes wrong is the verdict ERROR, so that the others still run."""
    loaded = partial(load, list_manifests(*chosen))
    return _run(chosen, lambda: verify(loaded(), options, stop=stop), keep_result)


def sweep_case(
    chosen: tuple[Case, Variant],
    options: VerifyOptions,
    sweep: SweepOptions,
    esc: Esc,
    *,
    keep_result: bool = False,
    progress: Report | None = None,
    stop: Stop | None = None,
) -> CaseRun:
    """Verifies every size of one variant within the limit of the sweep; `nodes` and `pods` are the last ones tried."""

    def sweep_all() -> VerifyResult:
        plan = plan_sweep(load(list_manifests(*chosen)), options, sweep, esc)
        return run_sweep(plan, sweep, progress=progress, stop=stop)

    return _run(chosen, sweep_all, keep_result)


def _run(chosen: tuple[Case, Variant], checked: Callable[[], VerifyResult], keep_result: bool) -> CaseRun:
    case, variant = chosen
    try:
        result = checked()
    except Exception as problem:
        said = str(problem) or type(problem).__name__
        return CaseRun(case.name, variant.name, variant.expected, Verdict.ERROR, problem=said)
    sizes = result.sweep
    return CaseRun(
        case=case.name,
        variant=variant.name,
        expected=variant.expected,
        verdict=result.verdict,
        nodes=max((one.nodes for one in result.results), default=0),
        pods=max((one.pods for one in result.results), default=0),
        states=result.statistics.states,
        transitions=result.statistics.transitions,
        elapsed_s=result.statistics.elapsed_s,
        sizes=1 if sizes is None else len(sizes.sizes),
        verified=1 if sizes is None else len(sizes.sizes) - sizes.count(Skipped.TRIVIAL, Skipped.NOT_TRIED),
        problem=INTERRUPTED if result.statistics.is_interrupted else "",
        result=result if keep_result else None,
    )


@dataclass(frozen=True, slots=True)
class CaseTask:
    """One variant for a worker."""

    case: Case
    variant: Variant

    @property
    def key(self) -> str:
        """How it is called if something goes wrong."""
        return f"{self.case.name} {self.variant.name}"


def run_task(options: VerifyOptions, task: CaseTask) -> CaseRun:
    """What one worker does."""
    return run_case((task.case, task.variant), options)


def run_cases(
    chosen: Sequence[tuple[Case, Variant]],
    options: VerifyOptions = VerifyOptions(),
    *,
    workers: int = 1,
    stop: Stop | None = None,
) -> list[CaseRun]:
    """Verifies several variants, in so many processes, and answers in the order given.

    Asked to stop, or interrupted, it answers for those that are done; the others have the verdict UNKNOWN.
    """
    stop = stop or Stop()
    known = list(until(stop, _runs(chosen, options, workers, stop)))
    return known + find_undone(chosen[len(known) :])


def find_undone(chosen: Sequence[tuple[Case, Variant]]) -> list[CaseRun]:
    """The variants that an interrupt left open."""
    return [
        CaseRun(case.name, variant.name, variant.expected, Verdict.UNKNOWN, problem=INTERRUPTED)
        for case, variant in chosen
    ]


def _runs(
    chosen: Sequence[tuple[Case, Variant]], options: VerifyOptions, workers: int, stop: Stop
) -> Iterator[CaseRun]:
    if workers <= 1 or len(chosen) <= 1:
        yield from (run_case(one, options, stop=stop) for one in chosen)
        return
    from kubeproof.verify.executors.pool import Pool
    from kubeproof.verify.executors.run import run_tasks

    tasks = [CaseTask(*one) for one in chosen]
    for task, outcome in zip(
        tasks, run_tasks(partial(run_task, options), tasks, executor=Pool(min(workers, len(tasks)))), strict=True
    ):
        variant = task.variant
        lost = CaseRun(task.case.name, variant.name, variant.expected, Verdict.ERROR, problem=outcome.error)
        yield lost if outcome.value is None else outcome.value
