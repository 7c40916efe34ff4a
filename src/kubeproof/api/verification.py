"""Verification from Python: in scripts, tests and notebooks, with the words of the command line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from html import escape as escape_html

from kubeproof.api.inputs import Nodes, Paths, take_input
from kubeproof.api.shapes import reshape
from kubeproof.cases.esc import read_shipped_esc
from kubeproof.cluster.scale import Limit
from kubeproof.manifests.loaded import Loaded
from kubeproof.manifests.settings.exemptions import read_exemptions
from kubeproof.report.escape import escape
from kubeproof.report.matrix.table import matrix_table
from kubeproof.report.sentences import explain_suppressed, summary, title, write_audit_line
from kubeproof.report.style import Style
from kubeproof.report.verification.text import render
from kubeproof.report.verification.trace import trace_lines
from kubeproof.stop import Stop
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.checks.catalogue import check_id
from kubeproof.verify.executors.inprocess import InProcess
from kubeproof.verify.findings.baseline import read_baseline
from kubeproof.verify.findings.suppress import suppress
from kubeproof.verify.matrix import asks_for_matrix
from kubeproof.verify.matrix.options import BUDGET_S, MatrixOptions
from kubeproof.verify.matrix.run import run_matrix
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.result import IntentResult, VerifyResult
from kubeproof.verify.run import verify as run_once
from kubeproof.verify.scaling.plan import SweepOptions, is_swept, plan_sweep
from kubeproof.verify.scaling.sweep import run_sweep
from kubeproof.verify.searching import Report

GOOD = (Verdict.HOLDS, Verdict.HOLDS_BOUNDED, Verdict.SAMPLED_OK, Verdict.SUPPRESSED)
SHORT = 12  # steps of a trace in a message
_CELL = "padding:.2em .6em;text-align:left;vertical-align:top"


@dataclass(frozen=True, slots=True)
class Verification(VerifyResult):
    """A finished verification: a `VerifyResult` that can be shown and asserted."""

    @property
    def holds(self) -> bool:
        """True if every intent that says anything was proved, or its violation accepted."""
        return bool(self.results) and self.verdict in GOOD

    @property
    def violations(self) -> tuple[IntentResult, ...]:
        """The results that are VIOLATED."""
        return tuple(one for one in self.results if one.verdict == Verdict.VIOLATED)

    def assert_holds(self) -> Verification:
        """This result; an AssertionError with the end of each counterexample unless it holds."""
        if not self.holds:
            raise AssertionError("\n".join([summary(self), *_reasons(self)]))
        return self

    def __str__(self) -> str:
        return render(self, Style())

    def _repr_html_(self) -> str:
        """What a notebook shows: a table of verdicts, counterexamples folded."""
        if self.matrix is not None:
            told = "\n".join(map(_safe, render(self, Style()).splitlines()))
            folded = f"<details><summary>findings</summary><pre>{told}</pre></details>"
            return f"<div><p><b>{_safe(summary(self))}</b></p>{matrix_table(self.matrix)}{folded}</div>"
        rows = "".join(_row(one) for one in self.results)
        notes = "".join(f"<li>{_safe(write_audit_line(note))}</li>" for note in self.suppressions)
        trail = f"<p>Suppressions</p><ul>{notes}</ul>" if notes else ""
        return f"<div><p><b>{_safe(summary(self))}</b></p><table>{rows}</table>{trail}</div>"


def verify(
    paths: Paths,
    options: VerifyOptions = VerifyOptions(),
    *,
    scale: str | tuple[int, int] | None = None,
    settings: str | os.PathLike[str] | None = None,
    baseline: str | os.PathLike[str] | None = None,
    values: Sequence[str] = (),
    nodes: Nodes = (),
    today: date | None = None,
    progress: Report = None,
    stop: Stop | None = None,
) -> Verification:
    """Proves each intent of the input or finds a counterexample.

    `paths` are files and directories, also charts and kustomizations, or what `load` returned. `scale` is `"esc"`,
    `"none"` or (nodes of each kind, pods per node), as --scale; `nodes` are as --nodes. Annotations are followed;
    exemptions are those of the file `settings`, judged on the day `today`; `baseline` is a file of --write-baseline.
    Whoever asks `stop` from another thread, or by a signal, gets what is decided by then. Raises `KubeproofError` for
    input that cannot be verified.
    """
    loaded = take_input(paths, values=values, nodes=nodes)
    result = suppress(
        _verify(loaded, options, scale, progress, stop),
        ignores=loaded.ignores,
        exemptions=() if settings is None else read_exemptions(os.fspath(settings), check_id),
        baseline=() if baseline is None else read_baseline(os.fspath(baseline)),
        today=today or date.today(),
    )
    return reshape(result, Verification)


def assert_holds(
    paths: Paths,
    options: VerifyOptions = VerifyOptions(),
    *,
    scale: str | tuple[int, int] | None = None,
    settings: str | os.PathLike[str] | None = None,
    baseline: str | os.PathLike[str] | None = None,
    values: Sequence[str] = (),
    nodes: Nodes = (),
) -> Verification:
    """Verifies and returns the result; an AssertionError with the end of each counterexample unless all holds.

    For tests: what was not decided, or says nothing, does not hold either.
    """
    found = verify(paths, options, scale=scale, settings=settings, baseline=baseline, values=values, nodes=nodes)
    return found.assert_holds()


def _verify(
    loaded: Loaded,
    options: VerifyOptions,
    scale: str | tuple[int, int] | None,
    progress: Report,
    stop: Stop | None,
) -> VerifyResult:
    """At the size of the manifests, or at every size that the Scenario's scale stands for."""
    chosen = SweepOptions(limit=Limit(*scale) if isinstance(scale, tuple) else scale)
    if not is_swept(loaded, chosen) and asks_for_matrix(loaded, options):
        given = options if options.timeout_s is not None else replace(options, timeout_s=BUDGET_S)
        return run_matrix(loaded, given, MatrixOptions(executor=InProcess()), stop=stop)
    if not is_swept(loaded, chosen):
        return run_once(loaded, options, progress, stop=stop)
    return run_sweep(plan_sweep(loaded, options, chosen, read_shipped_esc()), chosen, stop=stop)


def _reasons(result: VerifyResult) -> Iterable[str]:
    """The results that keep it from holding, with the end of their counterexamples."""
    if result.matrix is not None:
        yield from render(result, Style()).splitlines()[:-1]
        return
    for one in result.results:
        if one.verdict not in GOOD:
            yield f"{one.verdict} {escape(title(one))}"
            yield f"  {escape(one.detail)} ({escape(str(one.location))})"
            yield from (f"  {line}" for line in _short(one))


def _short(one: IntentResult) -> Iterable[str]:
    """The last steps of a trace, the whole loop if it has one, and what is wrong at its end."""
    if one.trace is None:
        return
    steps, loop = one.trace.steps, one.trace.loop_start
    first = max(0, len(steps) - SHORT if loop is None else min(loop, len(steps) - SHORT))
    if first:
        yield f"({first} steps before)"
    yield from trace_lines(
        steps[first:], None if loop is None else loop - first, Style(), certainty=one.trace.loop_certainty
    )
    yield from (escape(line) for line in one.trace.final)
    if one.remedy:
        yield f"What to change: {escape(one.remedy)}"


def _row(one: IntentResult) -> str:
    shown = "".join(f'<td style="{_CELL}">{_safe(cell)}</td>' for cell in (one.verdict, title(one)))
    told = _safe(explain_suppressed(one) or one.detail)
    trace = "\n".join(_safe(line) for line in _short(one))
    folded = f"<details><summary>counterexample</summary><pre>{trace}</pre></details>" if trace else ""
    return f'<tr>{shown}<td style="{_CELL}">{told}{folded}</td></tr>'


def _safe(text: str) -> str:
    return escape_html(escape(text))
