"""`kubeproof tune`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from kubeproof.cli.options.inputs import allows_outside, outside_option, read_stdin
from kubeproof.cli.options.outputs import Output, emit, output_option
from kubeproof.cli.options.ranges import NumberRange
from kubeproof.cli.options.settings import working_directory
from kubeproof.cli.running.changes import write_changes
from kubeproof.cli.running.endings import INTERRUPTED, first_of, say
from kubeproof.cli.running.interruption import current
from kubeproof.cli.running.progress import progress_line
from kubeproof.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubeproof.stop import Stop
    from kubeproof.tune.racing import Tell
    from kubeproof.tune.result import TuneResult
    from kubeproof.tune.run import TuneOptions

    Search = Callable[[Stop, Tell], TuneResult]

_FLAGS = {"verify_s": "verify-timeout"}


def _tell_keys(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Lists what can be set and ends."""
    if value:
        from kubeproof.tune.knobs import list_keys

        click.echo("".join(f"{key:52} {about}\n" for key, about in list_keys()), nl=False)
        ctx.exit()


@click.command("tune", short_help="Find the cheapest settings that keep all promises.")
@click.argument("paths", nargs=-1, metavar="[PATH...]")
@outside_option
@click.option(
    "--set", "asked", multiple=True, metavar="KEY=V,V,...",
    help="What may be set, and to what: hpa.targetCPU=40..90:10, nodes=2,3. Repeatable: all combinations.",
)  # fmt: skip
@click.option(
    "--keys", is_flag=True, is_eager=True, expose_value=False, callback=_tell_keys, help="List what can be set."
)
@click.option("--duration", default="30m", show_default=True, metavar="TIME", help="How much time a run simulates.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N", help="Of the first run.")
@click.option(
    "--runs", type=click.IntRange(2, 10_000), default=10, show_default=True, metavar="N",
    help="Of one setting at most; most get fewer.",
)  # fmt: skip
@click.option(
    "--settings", type=click.IntRange(1, 2_000), default=40, show_default=True, metavar="N",
    help="Look at so many settings at most.",
)  # fmt: skip
@click.option(
    "--budget", type=click.IntRange(2), metavar="N", help="Runs in all, at most.  [default: as many as they need]"
)
@click.option(
    "--confidence", default="95%", show_default=True, metavar="PERCENT", help="How sure promises must be to be kept."
)
@click.option(
    "--verify-timeout", "verify_s", type=NumberRange(0), default=30.0, show_default=True, metavar="S",
    help="Verify the intents of the best setting for so long; 0: not at all.",
)  # fmt: skip
@click.option("--experiment", metavar="NAME|FILE", help="Tune an experiment, published or your own, as of simulate.")
@click.option("--config", type=click.Choice(["calibration", "1", "2"]), help="Of abs-2.")
@click.option("--threads", type=click.Choice(["100", "200"]), help="Of abs-workflow.")
@click.option("--write", is_flag=True, help="Change the files as the best setting says.")
@click.option(
    "--progress", type=click.Choice(("auto", "always", "never")), default="auto", show_default=True,
    help="When to show progress on stderr.",
)  # fmt: skip
@output_option("text", "json", "diff", "html")
def tune_command(*, paths: tuple[str, ...], outputs: tuple[Output, ...], write: bool, **given: Any) -> int:
    """Find the setting of autoscalers, replicas, requests and nodes that keeps all promises at least cost.

    PATH as for simulate: manifests, and a Scenario with the requests that come, with what is promised (intents and
    service levels) and with prices (spec.quantify.cost). Settings are tried in simulated runs that all meet the same
    luck; the best one must keep its promises in fresh runs, and verify must find nothing against it. --experiment tunes
    an experiment of the published model instead, whose runs are all alike.

    \b
    Examples:
      kubeproof tune manifests/
      kubeproof tune manifests/ --set hpa.targetCPU=40..90:10 --set hpa.minReplicas=2..5
      kubeproof tune manifests/ --set nodes=2..6 --set Deployment/shop/web.replicas=2..8 -o html=tune.html
      kubeproof tune manifests/ -o diff | git apply
      kubeproof tune --experiment mine.yaml --set web.up=50%,60%,70% --set web.max=4..8 --set nodes=2..4
      kubeproof tune --keys

    \b
    Exit codes: 0 there is a best setting, 1 every setting that was looked at breaks a promise, 2 wrong usage, 3 none is
    known to keep all, 4 input refused, 5 nothing is promised, 6 a missing extra.
    """
    if (given["experiment"] is None) == (not paths):
        raise click.UsageError("name either PATH... or --experiment")
    from kubeproof.report import tune as report
    from kubeproof.report.frame import Frame

    search = _of_experiment(given) if given["experiment"] is not None else _of_manifests(paths, given)
    line = progress_line(given["progress"], quiet=False)
    begin = time.monotonic()

    def tell(settings: int, runs: int) -> None:
        if line is not None:
            line.show_simulated(time.monotonic() - begin, lambda: f"{settings} settings, {runs:,} runs")

    try:
        with current().gently() as stop:
            found = search(stop, tell)
    finally:
        if line is not None:
            line.close()
    frame = Frame(base=working_directory())
    code = emit(outputs, lambda output: report.RENDERERS[output.format](found, frame), exit_code(found), verdict="")
    if write and found.best is not None:
        files, patch_only = ((), ()) if found.written is None else (found.written.files, found.written.patch_only)
        write_changes(files, patch_only)
    if found.ended_by == "interrupted":
        say("interrupted")
        code = first_of((code, INTERRUPTED))
    return code


def _of_manifests(paths: tuple[str, ...], given: dict[str, Any]) -> Search:
    for name in ("config", "threads"):
        if given[name] is not None:
            raise click.UsageError(f"--{name} is about --experiment")
    from kubeproof.manifests.load import load
    from kubeproof.tune.run import tune_cluster

    options = _options(given)
    loaded = load(paths, stdin=read_stdin, allow_outside=allows_outside())
    return lambda stop, tell: tune_cluster(loaded, options, stop=stop, tell=tell)


def _of_experiment(given: dict[str, Any]) -> Search:
    context = click.get_current_context()
    for name in ("duration", "runs", "budget", "confidence", "verify_s"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"--{_FLAGS.get(name, name)} is about manifests: runs of an experiment are all alike"
            )
    from kubeproof.cli.options.experiments import find_experiment
    from kubeproof.tune.published import tune_experiment
    from kubeproof.tune.values import parse_asked

    experiment, text = find_experiment(given["experiment"], given["config"], given["threads"])
    asked = tuple(parse_asked(one) for one in given["asked"])
    return lambda stop, tell: tune_experiment(
        experiment, asked, settings=given["settings"], seed=given["seed"], text=text, stop=stop, tell=tell
    )


def _options(given: dict[str, Any]) -> TuneOptions:
    from kubeproof.cli.commands.simulate_cluster import parse_duration, parse_share
    from kubeproof.simulate.options import SimulateOptions
    from kubeproof.tune.run import CONFIRMATIONS, TuneOptions
    from kubeproof.tune.values import parse_asked

    return TuneOptions(
        simulate=SimulateOptions(
            duration_s=parse_duration(given["duration"]),
            seed=given["seed"],
            runs=given["runs"],
            confidence=parse_share("--confidence", given["confidence"]),
        ),
        asked=tuple(parse_asked(text) for text in given["asked"]),
        settings=given["settings"],
        runs=given["budget"] or (given["settings"] + CONFIRMATIONS) * given["runs"],
        verify_s=given["verify_s"],
    )


def exit_code(found: TuneResult) -> int:
    """0 if there is a best setting, 1 if every one breaks a promise, 3 if none is known to keep all."""
    if found.verdict == Verdict.VIOLATED:
        return 1
    return 0 if found.best is not None else 3
