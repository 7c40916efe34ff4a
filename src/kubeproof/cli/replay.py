"""`kubeproof replay`."""

from __future__ import annotations

import click

from kubeproof.cli.outputs import Output, write_stdout
from kubeproof.cli.terminal import WHEN
from kubeproof.cli.verify import text_style

_EXIT_CODES = {"VIOLATED": 1, "UNKNOWN": 3}  # anything else: the counterexample is not one


@click.command("replay", short_help="Re-execute a counterexample step by step.")
@click.argument("trace", metavar="TRACE.json")
@click.option("--intent", metavar="NAME", help="Replay this intent's counterexample (name or ID) instead of the first.")
@click.option(
    "--controller", "controllers", metavar="PATH.py:CLASS", multiple=True,
    help="Your own controller that took part; must be named again, a trace file never decides which code runs.",
)  # fmt: skip
@click.option("-v", "--verbose", is_flag=True, help="Show the numbers behind every decision.")
@click.option(
    "--color", type=click.Choice(WHEN), default="auto", envvar="KUBEPROOF_COLOR", show_default=True,
    help="When to colour text.",
)  # fmt: skip
def replay_command(*, trace: str, intent: str | None, controllers: tuple[str, ...], verbose: bool, color: str) -> int:
    """Re-execute a counterexample step by step on individual objects, and judge it again.

    TRACE.json is a JSON report of "kubeproof verify"; it holds its input, so the manifests are not needed.

    \b
    Examples:
      kubeproof verify manifests/ -o json=trace.json
      kubeproof replay trace.json
      kubeproof replay trace.json -v

    \b
    Exit codes: 1 the violation is confirmed, 4 not a usable trace,
    70 the replay disagrees.
    """
    from kubeproof.report.text import render_replay
    from kubeproof.verify.replay import replay_file

    report = replay_file(trace, intent, controllers)
    write_stdout(render_replay(report, text_style(Output("text"), color, verbose=verbose)))
    return _EXIT_CODES.get(report.verdict, 70)
