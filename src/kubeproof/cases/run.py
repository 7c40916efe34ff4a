"""Runs shipped cases and compares the verdicts with the expected ones."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

from kubeproof.cases.library import Case, Variant, load_case
from kubeproof.manifests.load import load
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.result import ERROR, VerifyResult
from kubeproof.verify.run import verify


@dataclass(frozen=True, slots=True)
class CaseRun:
    """How one variant of a case came out."""

    case: str
    variant: str
    expected: str
    verdict: str
    nodes: int = 0
    pods: int = 0
    states: int = 0
    transitions: int = 0
    elapsed_s: float = 0.0
    problem: str = ""  # why there is no verdict
    result: VerifyResult | None = None  # the whole answer, where it was asked for

    @property
    def as_expected(self) -> bool:
        return self.verdict == self.expected


def run_case(
    chosen: tuple[Case, Variant], options: VerifyOptions = VerifyOptions(), *, keep_result: bool = False
) -> CaseRun:
    """Verifies one variant; whatever goes wrong is the verdict ERROR, so that the others still run."""
    case, variant = chosen
    try:
        result = verify(load(load_case(case.name, variant.name)), options)
    except Exception as problem:
        said = str(problem) or type(problem).__name__
        return CaseRun(case.name, variant.name, variant.expected, ERROR, problem=said)
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
        result=result if keep_result else None,
    )


def run_cases(
    chosen: Sequence[tuple[Case, Variant]], options: VerifyOptions = VerifyOptions(), *, workers: int = 1
) -> list[CaseRun]:
    """Verifies several variants, in so many processes, and answers in the order given."""
    if workers <= 1 or len(chosen) <= 1:
        return [run_case(one, options) for one in chosen]
    with ProcessPoolExecutor(min(workers, len(chosen))) as pool:
        return list(pool.map(partial(run_case, options=options), chosen))
