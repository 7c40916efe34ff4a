"""Reports of a verification as `-o` asks for them, and the exit code that goes with them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from kubeproof.cli.options.outputs import Output, emit
from kubeproof.cli.options.settings import working_directory
from kubeproof.cli.running.terminal import columns, shows_unicode, wants_colour
from kubeproof.report.formats.choice import FORMATS, render
from kubeproof.verdicts import Verdict

if TYPE_CHECKING:
    from kubeproof.errors import KubeproofError
    from kubeproof.report.frame import Frame
    from kubeproof.report.style import Style
    from kubeproof.verify.options import VerifyOptions
    from kubeproof.verify.result import VerifyResult

REFUSED = "R003"  # of a part of the input: it has an exit code of its own
RESULT_FORMATS = ("text", "json", "html", *FORMATS, "svg")


def render_result(
    result: VerifyResult,
    output: Output,
    color: str,
    *,
    verbose: bool = False,
    quiet: bool = False,
    hint: str = "",
    fix: str = "",
    options: VerifyOptions | None = None,
) -> str:
    """The report of a verification in the format of an output.

    `hint` is how to replay it, `fix` how to look for a repair; `options` are those it was verified with, by which
    pictures re-execute it.
    """
    if output.format == "json":
        from kubeproof.report.formats.json import render as render_json

        return render_json(result)
    if output.format == "html":
        return render_page(result, hint, options)
    if output.format == "svg":
        return _picture(result)
    if output.format in FORMATS:
        return render(output.format, result, _frame(hint))
    from kubeproof.report.verification.text import render as render_text

    style = text_style(output, color, verbose=verbose, quiet=quiet, replay_command=hint, fix_command=fix)
    return render_text(result, style)


def report_problem(problem: KubeproofError, outputs: tuple[Output, ...]) -> None:
    """Tells input that could not be verified in the formats that can: annotations."""
    wanted = tuple(output for output in outputs if output.format == "github")
    if wanted:
        from kubeproof.report.formats.github import render_problem

        emit(wanted, lambda _: render_problem(problem, _frame("")))


def render_page(result: VerifyResult, hint: str, options: VerifyOptions | None) -> str:
    """The HTML report, for which every counterexample is re-executed."""
    from kubeproof.report.html.page import render as render_html
    from kubeproof.report.matrix.page import choose_drawn
    from kubeproof.verify.options import VerifyOptions
    from kubeproof.verify.words.pictures import films_of

    films = films_of(result, options or VerifyOptions(), only=choose_drawn(result))
    return render_html(result, films, _frame(hint))


def _frame(hint: str) -> Frame:
    """Paths are shown from the working directory, which in CI is the root of the repository."""
    from kubeproof.report.frame import Frame

    return Frame(base=working_directory(), replay_command=hint)


def _picture(result: VerifyResult) -> str:
    from kubeproof.report.html.heatmap import svg

    if result.sweep is None:
        raise click.UsageError("svg is the heat map of a sweep, and one size was verified")
    return svg(result.sweep)


def text_style(
    output: Output,
    color: str,
    *,
    verbose: bool = False,
    quiet: bool = False,
    replay_command: str = "",
    fix_command: str = "",
) -> Style:
    """The style of a text report: plain UTF-8 in files, what the terminal can show on stdout."""
    from kubeproof.report.style import Style

    to_file = output.file is not None
    return Style(
        colour=color == "always" if to_file else wants_colour(color, sys.stdout),
        unicode=to_file or shows_unicode(sys.stdout),
        verbose=verbose,
        quiet=quiet,
        replay_command=replay_command,
        fix_command=fix_command,
        width=None if to_file else columns(sys.stdout),
    )


def is_refused(result: VerifyResult) -> bool:
    """True if a check found an error that nobody accepted: the API server refuses it, or it can never work."""
    return any(one.severity == "error" and one.suppression is None and one.id != REFUSED for one in result.checks)


def has_refused_part(result: VerifyResult) -> bool:
    """True if a part of the input was refused, nobody accepted that, and the rest was verified."""
    return any(one.severity == "error" and one.suppression is None and one.id == REFUSED for one in result.checks)


def exit_code(result: VerifyResult) -> int:
    """The exit code of the contract; a violation outranks whatever ended the search early.

    In a matrix a workload that dips and comes back is no violation, unless a better grade is asked for.
    """
    verdicts = {one.verdict for one in result.results if one.is_decisive} or {Verdict.HOLDS for _ in result.results}
    if Verdict.VIOLATED in verdicts or is_refused(result):
        return 1
    if Verdict.ERROR in verdicts:
        return 70
    if result.statistics.is_interrupted:
        return 130
    if Verdict.UNKNOWN in verdicts:
        return 3
    if verdicts & {Verdict.HOLDS, Verdict.HOLDS_BOUNDED, Verdict.SAMPLED_OK, Verdict.SUPPRESSED}:
        return 0
    return 3 if verdicts else 5
