"""`kubeproof mine`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kubeproof.cli.commands.monitor import FORMAT
from kubeproof.cli.options.outputs import Output, emit, output_option
from kubeproof.cli.options.ranges import NumberRange

if TYPE_CHECKING:
    from kubeproof.monitor.event import Event


@click.command("mine", short_help="Learn rules from the events of fault-free runs.")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@FORMAT
@click.option("--name", default="mined", show_default=True, help="Name of the set of rules.")
@click.option("--folds", type=click.IntRange(2, 100), default=5, show_default=True, help="Of the cross-validation.")
@click.option(
    "--false-alarms", type=NumberRange(0, 1), default=0.025, show_default=True,
    help="Share of clean runs that may be found too slow, with 95 % confidence.",
)  # fmt: skip
@click.option(
    "--support", type=NumberRange(0, 1), default=0.05, show_default=True,
    help="Share of runs in which an event must occur to be learned about.",
)  # fmt: skip
@output_option("text", "yaml", "json", "epl")
def mine_command(
    *, paths: tuple[str, ...], form: str, name: str, folds: int, false_alarms: float, support: float,
    outputs: tuple[Output, ...],
) -> int:  # fmt: skip
    """Learn rules from the events of fault-free runs.

    PATH is a file of events, or a directory of them. With runs.csv in the directory, rules are learned from runs
    without an injected fault that did not fail; runs with one tell how much evidence makes a failure.

    \b
    Examples:
      kubeproof mine runs/ -o yaml=rules.yaml -o text
      kubeproof mine monday.jsonl tuesday.jsonl
      kubeproof mine runs/ -o epl=rules.epl

    \b
    Exit codes: 0 learned, 2 wrong usage, 4 input refused, 5 no fault-free run.
    """
    from dataclasses import replace

    from kubeproof.monitor.mining.evaluate import learn_policy
    from kubeproof.monitor.mining.mine import MineOptions, mine
    from kubeproof.monitor.mining.runs import label_events, read_known_runs, split_injected
    from kubeproof.monitor.mining.traces import traces_of
    from kubeproof.monitor.rules.epl import to_epl
    from kubeproof.monitor.rules.writer import to_yaml
    from kubeproof.report.monitor import notes, render_mined, render_mined_json

    known = read_known_runs(paths)
    injected: dict[str, list[Event]] = {}
    events = split_injected(label_events(paths, form), known, injected)
    options = MineOptions(folds=folds, false_alarms=false_alarms, support=support)
    mined = mine(traces_of(events), options, name)
    learned = learn_policy(mined.rules, [known[run] for run in sorted(injected)], injected)
    mined = replace(mined, rules=replace(mined.rules, incidents=learned.policy), judged=learned.runs, f1=learned.f1)
    noted = replace(mined.rules, notes=notes(mined))
    render = {
        "text": lambda: render_mined(mined),
        "yaml": lambda: to_yaml(noted),
        "json": lambda: render_mined_json(mined),
        "epl": lambda: to_epl(mined.rules),
    }
    return emit(outputs, lambda output: render[output.format]())
