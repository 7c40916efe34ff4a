"""`kubeproof replay`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kubeproof.cli.options.outputs import Output, emit, output_option, write_file
from kubeproof.cli.running.endings import first_of, tell_ending
from kubeproof.cli.running.reports import text_style
from kubeproof.cli.running.terminal import WHEN
from kubeproof.errors import EnvironmentProblem
from kubeproof.verdicts import Verdict

if TYPE_CHECKING:
    from kubeproof.verify.result import ReplayReport

_EXIT_CODES = {Verdict.VIOLATED: 1, Verdict.UNKNOWN: 3}  # anything else: the counterexample is not one


@click.command("replay", short_help="Re-execute a counterexample step by step.")
@click.argument("trace", metavar="TRACE.json")
@click.option(
    "--intent",
    metavar="NAME",
    help="Replay this intent's counterexample (name or ID) instead of the first; of a matrix 'WORKLOAD FAULT'.",
)
@click.option(
    "--controller", "controllers", metavar="PATH.py:CLASS", multiple=True,
    help="Your own controller that took part; must be named again, a trace file never decides which code runs.",
)  # fmt: skip
@click.option("--as-audit", metavar="FILE", help="Also write the run as an audit log, for monitor run.")
@click.option("-v", "--verbose", is_flag=True, help="Show the numbers behind every decision.")
@click.option(
    "--color", type=click.Choice(WHEN), default="auto", envvar="KUBEPROOF_COLOR", show_default=True,
    help="When to colour text.",
)  # fmt: skip
@output_option("text", "json", "html", "mermaid", "itf")
def replay_command(
    *,
    trace: str,
    intent: str | None,
    controllers: tuple[str, ...],
    as_audit: str | None,
    verbose: bool,
    color: str,
    outputs: tuple[Output, ...],
) -> int:
    """Re-execute a counterexample step by step on individual objects, and judge it again.

    TRACE.json is a JSON report of "kubeproof verify"; it holds its input, so the manifests are not needed.

    \b
    Examples:
      kubeproof verify manifests/ -o json=trace.json
      kubeproof replay trace.json
      kubeproof replay trace.json -v
      kubeproof replay trace.json --intent settles -o mermaid=settles.mmd
      kubeproof replay trace.json -o html=run.html
      kubeproof replay trace.json --as-audit audit.log

    \b
    Exit codes: 1 the violation is confirmed, 4 not a usable trace,
    70 the replay disagrees.
    """
    from kubeproof.verify.counterexamples.replay import replay_file

    report = replay_file(trace, intent, controllers)
    code = _EXIT_CODES.get(report.verdict, 70)
    if as_audit is not None:
        code = _write_audit(as_audit, trace, intent, controllers, code)

    def render(output: Output) -> str:
        if output.format == "html":
            return _page(trace, intent, controllers)
        return _render(report, output, color, verbose)

    return emit(outputs, render, code)


def _write_audit(file: str, trace: str, intent: str | None, controllers: tuple[str, ...], code: int) -> int:
    """Writes the run as the audit log of a cluster that did just that; the exit code, another if that fails."""
    from kubeproof.verify.counterexamples.audit_log import audit_log
    from kubeproof.verify.counterexamples.rerun import rerun
    from kubeproof.verify.findings.saved import read_saved
    from kubeproof.verify.options import VerifyOptions

    saved = read_saved(trace)
    one = saved.choose(intent)
    again = rerun(saved.result.inputs, one, VerifyOptions(controllers=controllers))
    try:
        write_file(file, "".join(audit_log(again, one)))
    except EnvironmentProblem as problem:
        return first_of((code, tell_ending(problem)))
    return code


def _page(trace: str, intent: str | None, controllers: tuple[str, ...]) -> str:
    """The HTML report of the one counterexample."""
    from dataclasses import replace

    from kubeproof.cli.running.reports import render_result
    from kubeproof.verify.findings.saved import read_saved
    from kubeproof.verify.options import VerifyOptions

    saved = read_saved(trace)
    one = replace(saved.result, results=(saved.choose(intent),))
    options = VerifyOptions(controllers=controllers)
    return str(render_result(one, Output("html"), "never", hint=replay_hint(trace, controllers), options=options))


def replay_hint(trace: str, controllers: tuple[str, ...]) -> str:
    """What to type to replay a saved counterexample."""
    import shlex

    words = [word for controller in controllers for word in ("--controller", controller)]
    return shlex.join(["kubeproof", "replay", trace, *words])


def _render(report: ReplayReport, output: Output, color: str, verbose: bool) -> str:
    if output.format == "json":
        from kubeproof.report.formats.json import render_replay as as_json

        return as_json(report)
    if output.format == "mermaid":
        from kubeproof.report.formats.mermaid import render_replay as as_mermaid

        return as_mermaid(report)
    if output.format == "itf":
        from kubeproof.report.formats.itf import render_replay as as_itf

        return as_itf(report)
    from kubeproof.report.verification.text import render_replay

    return render_replay(report, text_style(output, color, verbose=verbose))
