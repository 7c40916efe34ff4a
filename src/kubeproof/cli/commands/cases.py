"""`kubeproof cases`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from kubeproof.cli.options.outputs import Output, emit, output_option, write_stdout
from kubeproof.cli.options.ranges import NumberRange
from kubeproof.cli.options.sweep import (
    choose_executor,
    choose_sweep,
    executor_option,
    name_executor,
    scale_option,
    sweep_flags,
    workers_option,
)
from kubeproof.cli.running.endings import INTERRUPTED, first_of, say
from kubeproof.cli.running.interruption import current
from kubeproof.cli.running.progress import progress_line
from kubeproof.cli.running.reports import RESULT_FORMATS, render_result, text_style
from kubeproof.cli.running.terminal import WHEN
from kubeproof.errors import InternalError
from kubeproof.stop import until
from kubeproof.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubeproof.cases.library import Case, Variant
    from kubeproof.cases.minimal import Minimal
    from kubeproof.cases.run import CaseRun
    from kubeproof.stop import Stop
    from kubeproof.verify.options import VerifyOptions
    from kubeproof.verify.scaling.esc import Esc
    from kubeproof.verify.scaling.plan import SweepOptions

_HEADINGS = ("case", "variant", "expected", "verdict", "nodes", "pods", "states", "time")
_SWEPT_HEADINGS = ("case", "variant", "expected", "verdict", "nodes", "pods", "sizes", "verified", "states", "time")


@click.group("cases")
def cases_group() -> None:
    """Realistic failures, each with a repair, to run and to start from.

    \b
    Examples:
      kubeproof cases list
      kubeproof cases show c8
      kubeproof cases run c8 --safe
      kubeproof cases run --all
    """


@cases_group.command("list")
@output_option("text", "json")
def list_command(*, outputs: tuple[Output, ...]) -> int:
    """List the cases: title, source, controllers, property and expected verdicts.

    \b
    Examples:
      kubeproof cases list
      kubeproof cases list -o json
    """
    from kubeproof.cases.library import list_cases

    cases = list_cases()
    return emit(outputs, lambda output: _list_json(cases) if output.format == "json" else _list_text(cases))


@cases_group.command("show")
@click.argument("name", metavar="CASE")
@click.option("--safe", is_flag=True, help="The repaired variant.")
@click.option("--variant", metavar="NAME", help="A variant by name, such as safe-readiness.")
def show_command(*, name: str, safe: bool, variant: str | None) -> int:
    """Print the manifests and the Scenario of a case as YAML.

    \b
    Examples:
      kubeproof cases show c8
      kubeproof cases show c8 --safe > mine.yaml
      kubeproof cases show c8 | kubeproof verify -
    """
    from kubeproof.cases.library import text_of

    write_stdout(text_of(name, _variant_name(safe, variant)))
    return 0


@cases_group.command("run")
@click.argument("names", nargs=-1, metavar="[CASE...]")
@click.option("--all", "run_all", is_flag=True, help="All cases, violating and safe.")
@click.option("--extra", is_flag=True, help="With --all: further variants, too.")
@click.option("--safe", is_flag=True, help="The repaired variant.")
@click.option("--variant", metavar="NAME", help="A variant by name, such as safe-readiness.")
@click.option("--minimal", is_flag=True, help="Find the smallest cluster in which the case fails.")
@click.option("--timeout", "timeout_s", type=NumberRange(0, min_open=True), metavar="S", help="Per variant.")
@click.option("--max-states", type=click.IntRange(1), metavar="N", help="Per variant.")
@scale_option
@workers_option
@executor_option
@click.option("-v", "--verbose", is_flag=True, help="For a single case: show the numbers behind every decision.")
@click.option("--color", type=click.Choice(WHEN), default="auto", show_default=True, help="When to colour text.")
@output_option(*RESULT_FORMATS)
def run_command(
    *,
    names: tuple[str, ...],
    run_all: bool,
    extra: bool,
    safe: bool,
    variant: str | None,
    minimal: bool,
    timeout_s: float | None,
    max_states: int | None,
    scale: str | tuple[int, int] | None,
    workers: int | None,
    executor: str | None,
    verbose: bool,
    color: str,
    outputs: tuple[Output, ...],
) -> int:
    """Verify cases and compare with the expected verdicts; a single one is shown with its counterexample.

    \b
    Examples:
      kubeproof cases run c8
      kubeproof cases run c1 --variant safe-readiness
      kubeproof cases run --all -o json
      kubeproof cases run c8 --minimal
      kubeproof cases run c8 -o mermaid
      kubeproof cases run c8 -o html=c8.html
      kubeproof cases run --all --scale esc

    \b
    Exit codes: 0 all as expected, 1 otherwise.
    """
    chosen = _choose(names, run_all, extra, _variant_name(safe, variant))
    _refuse_formats(outputs, len(chosen) == 1 and not minimal)
    elsewhere = name_executor(click.get_current_context())
    if elsewhere and scale in (None, "none"):
        raise click.UsageError(f"--executor {elsewhere} is about a sweep; add --scale esc")
    from kubeproof.verify.options import VerifyOptions

    options = VerifyOptions(timeout_s=timeout_s, max_states=max_states)
    if minimal:
        with current().gently() as stop:
            tried = _minimise(chosen, options, stop)
        return _report_minimal(chosen, tried, outputs)
    sweep = None if scale in (None, "none") else choose_sweep(scale, False, False, workers, executor)
    runs = _run(chosen, options, sweep, workers)
    flags = sweep_flags(scale, False, False)

    def render(output: Output) -> str:
        if output.format == "json":
            return _runs_json(runs)
        if output.format != "text":
            return _render_only(runs, output, color, _replay_hint(*chosen[0], flags), options)
        return _report(chosen, runs, output, color, verbose, flags) + _table(runs)

    codes = [INTERRUPTED if run.is_interrupted else int(not run.as_expected) for run in runs]
    return emit(outputs, render, first_of(codes))


def _run(
    chosen: list[tuple[Case, Variant]], options: VerifyOptions, sweep: SweepOptions | None, workers: int | None
) -> Sequence[CaseRun]:
    """The cases, at all sizes or at their own; a single one keeps its result."""
    from kubeproof.cases.run import run_case, run_cases

    with current().gently() as stop:
        if sweep is not None:
            return _sweep_each(chosen, options, sweep, stop)
        if len(chosen) == 1:
            return [run_case(chosen[0], options, keep_result=True, stop=stop)]
        return run_cases(chosen, options, workers=workers or os.cpu_count() or 1, stop=stop)


def _render_only(runs: Sequence[CaseRun], output: Output, color: str, hint: str, options: VerifyOptions) -> str:
    """The report of a single case."""
    if runs[0].result is None:
        raise InternalError(f"E700 there is nothing to report: {runs[0].problem}.")
    return render_result(runs[0].result, output, color, hint=hint, options=options)


def _refuse_formats(outputs: tuple[Output, ...], is_single: bool) -> None:
    """Formats that hold one verification need one case."""
    for output in outputs:
        if output.format not in ("text", "json") and not is_single:
            raise click.UsageError(f"{output.format} is the report of a single case; name one, without --minimal")


def _sweep_each(
    chosen: Sequence[tuple[Case, Variant]], options: VerifyOptions, sweep: SweepOptions, stop: Stop
) -> list[CaseRun]:
    """Every size of each variant, one variant after the other; the workers share the sizes."""
    from kubeproof.cases.esc import read_shipped_esc
    from kubeproof.cases.run import find_undone, sweep_case

    esc = read_shipped_esc()
    runs: list[CaseRun] = []
    for one in until(stop, chosen):
        line = progress_line("auto", quiet=False)
        try:
            progress = None if line is None else line.sweep
            is_single = len(chosen) == 1
            runs.append(sweep_case(one, options, sweep, esc, keep_result=is_single, progress=progress, stop=stop))
        finally:
            if line is not None:
                line.close()
    return runs + find_undone(chosen[len(runs) :])


_MINIMAL_HEADINGS = ("case", "variant", "nodes", "pods", "kinds", "sizes tried", "time")


def _minimise(
    chosen: Sequence[tuple[Case, Variant]], options: VerifyOptions, stop: Stop
) -> list[tuple[str, Minimal, float]]:
    """The smallest violating size of each case, and how long that took."""
    import time

    from kubeproof.cases.minimal import find_minimal

    found = []
    for case, variant in until(stop, chosen):
        begun = time.monotonic()
        minimal = find_minimal(case, variant.name, options, stop=stop)
        if not stop.is_asked:
            found.append((variant.name, minimal, time.monotonic() - begun))
    return found


def _report_minimal(
    chosen: Sequence[tuple[Case, Variant]], found: Sequence[tuple[str, Minimal, float]], outputs: tuple[Output, ...]
) -> int:
    """Exit code 1 unless all have a violating size that are to have one."""

    def render(output: Output) -> str:
        if output.format == "json":
            return _minimal_json(found)
        rows = [_minimal_row(*one) for one in found]
        return align([_MINIMAL_HEADINGS, *rows])

    expected = [variant.expected == Verdict.VIOLATED for _, variant in chosen[: len(found)]]
    code = 0 if expected == [one.size is not None for _, one, _ in found] else 1
    return emit(outputs, render, first_of((code, _tell_cut(len(found), len(chosen)))))


def _tell_cut(done: int, wanted: int | None) -> int:
    """Says if not all was done; the exit code for that."""
    if done == wanted:
        return 0
    say(f"interrupted after {done:,} case(s)")
    return INTERRUPTED


def _minimal_row(variant: str, found: Minimal, elapsed_s: float) -> tuple[str, ...]:
    size = found.size
    if size is None:
        return (found.case, variant, "-", "-", "no violation within the sizes", str(found.tried), f"{elapsed_s:.2f} s")
    kinds = ", ".join(f"{count} x {name}" for name, count in size.nodes if count)
    return (
        found.case,
        variant,
        str(size.node_total),
        str(size.pod_total),
        kinds,
        str(found.tried),
        f"{elapsed_s:.2f} s",
    )


def _minimal_json(found: Sequence[tuple[str, Minimal, float]]) -> str:
    import json

    rows = [
        {
            "case": one.case,
            "variant": variant,
            "nodes": None if one.size is None else one.size.node_total,
            "pods": None if one.size is None else one.size.pod_total,
            "kinds": {} if one.size is None else dict(one.size.nodes),
            "tried": one.tried,
            "elapsed_s": elapsed_s,
        }
        for variant, one, elapsed_s in found
    ]
    return json.dumps({"version": 1, "minimal": rows}, indent=2) + "\n"


def _variant_name(safe: bool, variant: str | None) -> str:
    if safe and variant is not None:
        raise click.UsageError("--safe and --variant exclude each other")
    return variant or ("safe" if safe else "violating")


def _choose(names: tuple[str, ...], run_all: bool, extra: bool, variant: str) -> list[tuple[Case, Variant]]:
    """The variants to run, in the order of the cases."""
    if run_all == bool(names):
        raise click.UsageError("name cases, or use --all")
    from kubeproof.cases.library import find_case, find_variant, list_cases

    if run_all:
        return [(case, one) for case in list_cases() for one in case.variants if extra or not one.is_extra]
    cases = [find_case(name) for name in names]
    return [(case, find_variant(case, variant)) for case in cases]


def _report(
    chosen: Sequence[tuple[Case, Variant]],
    runs: Sequence[CaseRun],
    output: Output,
    color: str,
    verbose: bool,
    flags: Sequence[str],
) -> str:
    """The story and the whole report of a single case; nothing for several."""
    if len(runs) != 1 or runs[0].result is None:
        return ""
    from kubeproof.report.verification.text import render

    (case, variant), result = chosen[0], runs[0].result
    style = text_style(output, color, verbose=verbose, replay_command=_replay_hint(case, variant, flags))
    return f"{case.name.upper()} {case.title}\n{variant.about}\n{case.explain}\n\n{render(result, style)}\n"


def _replay_hint(case: Case, variant: Variant, flags: Sequence[str]) -> str:
    """What to type to replay the counterexample of a case."""
    verify = " ".join(["kubeproof verify case.yaml", *flags, "-o json=trace.json"])
    return (
        f"kubeproof cases show {case.name} --variant {variant.name} > case.yaml; {verify}; kubeproof replay trace.json"
    )


def _list_text(cases: Iterable[Case]) -> str:
    blocks = []
    for case in cases:
        lines = [
            f"{case.name}  {case.title}",
            f"    source       {case.source}",
            f"    controllers  {', '.join(case.controllers)}",
            f"    property     {case.property}",
            f"    scale        {case.nodes} nodes, {case.pods} pods",
            *(f"    {one.name}: {one.expected}. {one.about}" for one in case.variants),
        ]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def _list_json(cases: Iterable[Case]) -> str:
    import json
    from dataclasses import asdict

    return json.dumps({"version": 1, "cases": [asdict(case) for case in cases]}, indent=2) + "\n"


def _table(runs: Sequence[CaseRun]) -> str:
    problems = [f"{run.case} {run.variant}: {run.problem}" for run in runs if run.problem]
    expected = sum(run.as_expected for run in runs)
    closing = "\n".join([*problems, f"{expected} of {len(runs)} as expected"])
    headings = _SWEPT_HEADINGS if any(run.sizes > 1 for run in runs) else _HEADINGS
    return align([headings, *(_row(run, headings) for run in runs)]) + closing + "\n"


def align(rows: Sequence[tuple[str, ...]]) -> str:
    """The rows as lines with columns of equal width."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join(lines) + "\n"


def _row(run: CaseRun, headings: tuple[str, ...]) -> tuple[str, ...]:
    cells = {
        "case": run.case,
        "variant": run.variant,
        "expected": run.expected,
        "verdict": run.verdict if run.as_expected else f"{run.verdict} (!)",
        "nodes": str(run.nodes),
        "pods": str(run.pods),
        "sizes": f"{run.sizes:,}",
        "verified": f"{run.verified:,}",
        "states": f"{run.states:,}",
        "time": f"{run.elapsed_s:.2f} s",
    }
    return tuple(cells[heading] for heading in headings)


def _runs_json(runs: Sequence[CaseRun]) -> str:
    import json

    rows = [
        {
            "case": run.case,
            "variant": run.variant,
            "expected": run.expected,
            "verdict": run.verdict,
            "as_expected": run.as_expected,
            "scale": {"nodes": run.nodes, "pods": run.pods},
            "states": run.states,
            "transitions": run.transitions,
            "elapsed_s": run.elapsed_s,
            "problem": run.problem,
            **({"sizes": run.sizes, "verified": run.verified} if run.sizes > 1 else {}),
        }
        for run in runs
    ]
    return (
        json.dumps({"version": 1, "as_expected": all(run.as_expected for run in runs), "runs": rows}, indent=2) + "\n"
    )


@cases_group.command("esc")
@click.argument("directory", required=False, metavar="[DIR]")
@click.option("--timeout", "timeout_s", type=NumberRange(0, min_open=True), metavar="S", help="Per size.")
@click.option("--max-states", type=click.IntRange(1), metavar="N", help="Per size.")
@workers_option
@executor_option
@output_option("text", "json")
def esc_command(
    *,
    directory: str | None,
    timeout_s: float | None,
    max_states: int | None,
    workers: int | None,
    executor: str | None,
    outputs: tuple[Output, ...],
) -> int:
    """Compute the empirically sufficient scale (ESC) from the smallest clusters in which cases fail.

    Without DIR: of the shipped cases. Otherwise every folder and every YAML file in DIR is a case: manifests and a
    Scenario with spec.scale. Its sizes are searched from the smallest on, up to that of the manifests.

    \b
    Examples:
      kubeproof cases esc
      kubeproof cases esc our-incidents/

    \b
    Exit codes: 0 computed, 3 a case was not decided, 5 no case fails.
    """
    from kubeproof.cases.esc import esc_from, find_minima
    from kubeproof.verify.options import VerifyOptions

    options = VerifyOptions(timeout_s=timeout_s, max_states=max_states)
    with current().gently() as stop:
        minima = find_minima(directory, options, choose_executor(executor, workers), stop=stop)
    esc = None if stop.is_asked else esc_from(minima)
    code = 3 if any(one.undecided for one in minima) else 0
    if esc is None:
        code = _tell_cut(len(minima), None)
    return emit(outputs, lambda output: (_esc_json if output.format == "json" else _esc_text)(esc, minima), code)


def _esc_text(esc: Esc | None, minima: Sequence[Minimal]) -> str:
    rows = [("case", "nodes", "pods", "pods per node", "sizes tried", "smallest cluster that fails")]
    for one in minima:
        rows.append(_basis_row(one))
    if esc is None:
        return align(rows) + "ESC: not known, interrupted\n"
    return align(rows) + f"ESC: {esc.nodes} nodes, {esc.pods_per_node} pods per node (twice the most of each)\n"


def _basis_row(one: Minimal) -> tuple[str, str, str, str, str, str]:
    from kubeproof.report.escape import escape

    undecided = f"; {one.undecided} smaller sizes undecided" if one.undecided else ""
    if one.size is None:
        return escape(one.case), "-", "-", "-", f"{one.tried:,}", f"none within its ranges{undecided}"
    nodes, pods = one.size.node_total, one.size.pod_total
    kinds = ", ".join(f"{count} x {name}" for name, count in one.size.nodes if count)
    return escape(one.case), str(nodes), str(pods), f"{pods / nodes:.3g}", f"{one.tried:,}", escape(kinds) + undecided


def _esc_json(esc: Esc | None, minima: Sequence[Minimal]) -> str:
    import json

    basis = [
        {
            "case": one.case,
            "nodes": None if one.size is None else one.size.node_total,
            "pods": None if one.size is None else one.size.pod_total,
            "kinds": {} if one.size is None else dict(one.size.nodes),
            "tried": one.tried,
            "undecided": one.undecided,
        }
        for one in minima
    ]
    scale = None if esc is None else {"nodes": esc.nodes, "pods_per_node": esc.pods_per_node}
    document = {"version": 1, "esc": scale, "basis": basis}
    return json.dumps(document, indent=2) + "\n"
