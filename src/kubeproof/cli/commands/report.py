"""`kubeproof report`."""

from __future__ import annotations

import click

from kubeproof.cli.commands.replay import replay_hint
from kubeproof.cli.options.outputs import Output, emit, output_option
from kubeproof.cli.running.reports import RESULT_FORMATS, render_result
from kubeproof.cli.running.terminal import WHEN


@click.command("report", short_help="Write a saved result in other formats.")
@click.argument("saved", metavar="RESULT.json")
@click.option(
    "--controller", "controllers", metavar="PATH.py:CLASS", multiple=True,
    help="Your own controller that took part; must be named again, a result file never decides which code runs.",
)  # fmt: skip
@click.option("-v", "--verbose", is_flag=True, help="Show the numbers behind every decision; fold no steps.")
@click.option("-q", "--quiet", is_flag=True, help="Show verdicts only.")
@click.option(
    "--color", type=click.Choice(WHEN), default="auto", envvar="KUBEPROOF_COLOR", show_default=True,
    help="When to colour text.",
)  # fmt: skip
@output_option(*RESULT_FORMATS)
def report_command(
    *, saved: str, controllers: tuple[str, ...], verbose: bool, quiet: bool, color: str, outputs: tuple[Output, ...]
) -> int:
    """Write a result that was saved as JSON in any other format; nothing is verified again.

    RESULT.json is a JSON report of "kubeproof verify". It holds its input: pictures of a counterexample are made by
    re-executing it.

    \b
    Examples:
      kubeproof verify manifests/ -o json=result.json
      kubeproof report result.json
      kubeproof report result.json -o html=report.html
      kubeproof report result.json -o sarif=result.sarif -o junit=result.xml

    \b
    Exit codes: 0 written, whatever the verdicts; 4 not a usable result.
    """
    if verbose and quiet:
        raise click.UsageError("-v and -q exclude each other")
    from kubeproof.verify.findings.saved import read_saved
    from kubeproof.verify.options import VerifyOptions

    result = read_saved(saved).result
    hint = replay_hint(saved, controllers)
    options = VerifyOptions(controllers=controllers)

    def render(output: Output) -> str:
        return render_result(result, output, color, verbose=verbose, quiet=quiet, hint=hint, options=options)

    return emit(outputs, render)
