"""`kubeproof simulate`."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from kubeproof.cli.options.inputs import outside_option
from kubeproof.cli.options.outputs import Output, emit, output_option
from kubeproof.cli.options.ranges import NumberRange
from kubeproof.cli.options.sweep import workers_option

OF_MANIFESTS = (
    *("vary", "duration", "seed", "runs", "precision", "confidence", "workers", "autoscaler"),
    *("rare", "rare_factor"),
)
RARE_RUNS = 1_000  # with --rare, unless --runs says otherwise
MOST_RUNS = 10_000  # with a precision, unless --runs says otherwise


@click.command("simulate", short_help="Run a cluster, or a published experiment, on a clock.")
@click.argument("paths", nargs=-1, metavar="[PATH...]")
@outside_option
@click.option("--duration", default="30m", show_default=True, metavar="TIME", help="How much time to simulate.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N", help="Of the first run.")
@click.option(
    "--runs", type=click.IntRange(1, 100_000), default=1, show_default=True, metavar="N",
    help="Runs with seeds N, N+1, ...: means with bands.",
)  # fmt: skip
@click.option(
    "--precision", metavar="PERCENT",
    help="Run until every interval reaches at most so far to each side, such as 1%: shares of runs and of requests "
    "absolutely, times and amounts relatively. At most --runs, then 10000 by default.",
)  # fmt: skip
@click.option(
    "--confidence", default="95%", show_default=True, metavar="PERCENT", help="How sure the intervals of many runs are."
)
@click.option(
    "--rare", is_flag=True,
    help="How likely intents are violated that hardly ever are: failures come more often, and runs are weighed. "
    "1000 runs by default.",
)  # fmt: skip
@click.option(
    "--rare-factor",
    type=NumberRange(1),
    metavar="N",
    help="Of --rare: so many times as often, instead of a chosen factor.",
)
@workers_option
@click.option(
    "--autoscaler", type=click.Choice(["hpa", "simple"]), default="hpa", show_default=True,
    help="The controllers that verify uses, or the published rule in place of the HorizontalPodAutoscaler.",
)  # fmt: skip
@click.option(
    "--vary", multiple=True, metavar="KEY=V,V,...",
    help="Simulate variants side by side: hpa.targetCPU=60,70,80. Repeatable: all combinations.",
)  # fmt: skip
@click.option(
    "--progress", type=click.Choice(("auto", "always", "never")), default="auto", show_default=True,
    help="When to show progress on stderr.",
)  # fmt: skip
@click.option(
    "--experiment",
    metavar="NAME|FILE",
    help="A published one, abs-1, abs-2 or abs-workflow, or one of your own in a file.",
)
@click.option(
    "--config", type=click.Choice(["calibration", "1", "2"]),
    help="Scaling thresholds of abs-2.  [default: calibration]",
)  # fmt: skip
@click.option(
    "--threads", type=click.Choice(["100", "200"]), help="Size of the batches of abs-workflow.  [default: 100]"
)
@click.option(
    "--downscale-after", type=click.IntRange(1), default=10, show_default=True, metavar="INTERVALS",
    help="Of published experiments: quiet intervals before a pod goes; the paper says 150 (300 s), its source 10.",
)  # fmt: skip
@output_option("text", "csv", "json", "html", "svg", "yaml")
def simulate_command(
    *, paths: tuple[str, ...], experiment: str | None, outputs: tuple[Output, ...], **given: Any
) -> int:
    """Run controllers, services and requests on a clock: pods, CPU and response times over time.

    PATH as for verify: manifests, and a Scenario whose spec.workload says which requests come, and which faults. The
    controllers are those of verify; intents are judged along the runs. --experiment runs one of a published model of
    Kubernetes instead (Turin et al., 2020), with its own autoscaler, in intervals of two seconds.

    \b
    Examples:
      kubeproof simulate manifests/ --duration 1h
      kubeproof simulate manifests/ --runs 200 -o json=result.json
      kubeproof simulate manifests/ --precision 1% --confidence 99%
      kubeproof simulate manifests/ --rare --duration 24h
      kubeproof simulate manifests/ --vary hpa.targetCPU=60,70,80 -o text -o html=variants.html
      kubeproof simulate --experiment abs-2 --config 1 -o csv=curves.csv
      kubeproof simulate --experiment abs-workflow --threads 200
      kubeproof simulate --experiment abs-2 -o yaml=mine.yaml
      kubeproof simulate --experiment mine.yaml -o html=mine.html

    \b
    Exit codes: 0 no intent was violated, 1 one was, 2 wrong usage, 3 a limit was reached or no intent had anything to
    say, 4 input refused, 5 nothing to simulate, 6 a missing extra.
    """
    if (experiment is None) == (not paths):
        raise click.UsageError("name either PATH... or --experiment")
    if experiment is None:
        if any(output.format == "yaml" for output in outputs):
            raise click.UsageError("-o yaml writes an experiment as a file; it is about --experiment")
        _refuse(("config", "threads", "downscale_after"), "is about --experiment")
        from kubeproof.cli.commands.simulate_cluster import simulate_paths

        source = click.get_current_context().get_parameter_source("runs")
        if given["precision"] is not None and source is not ParameterSource.COMMANDLINE:
            given["runs"] = MOST_RUNS
        if given["rare"]:
            return _rare(paths, outputs, given, has_runs=source is ParameterSource.COMMANDLINE)
        _refuse(("rare_factor",), "is about --rare")
        return simulate_paths(paths, outputs, given)
    return _experiment(experiment, outputs, given)


def _rare(paths: tuple[str, ...], outputs: tuple[Output, ...], given: dict[str, Any], *, has_runs: bool) -> int:
    from kubeproof.cli.commands.simulate_cluster import estimate_paths

    _refuse(("vary", "precision"), "is not for --rare")
    for output in outputs:
        if output.format not in ("text", "json", "html"):
            raise click.UsageError("--rare has reports in text, json and html")
    given["runs"] = given["runs"] if has_runs else RARE_RUNS
    return estimate_paths(paths, outputs, given)


def _refuse(names: tuple[str, ...], why: str) -> None:
    """What is written on the command line and would change nothing is an error."""
    context = click.get_current_context()
    for name in names:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name.replace('_', '-')} {why}")


def _experiment(experiment: str, outputs: tuple[Output, ...], given: dict[str, Any]) -> int:
    config, threads = given["config"], given["threads"]
    _refuse(
        OF_MANIFESTS,
        "is about manifests, not about experiments",
    )
    from kubeproof.cli.options.experiments import find_experiment, is_published

    if not is_published(experiment):
        _refuse(("config", "threads", "downscale_after"), "is about published experiments")
    from kubeproof.report.simulate import published as report
    from kubeproof.simulate.published.files import as_file
    from kubeproof.simulate.published.run import simulate

    chosen = find_experiment(experiment, config, threads, given["downscale_after"])[0]
    curves = simulate(chosen)

    def render(output: Output) -> str:
        return as_file(chosen) if output.format == "yaml" else report.RENDERERS[output.format](curves)

    return emit(outputs, render, 0, verdict="")
