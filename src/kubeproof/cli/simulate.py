"""`kubeproof simulate`."""

from __future__ import annotations

import click

from kubeproof.cli.outputs import Output, emit, output_option


@click.command("simulate", short_help="Run a published experiment on a clock.")
@click.option("--experiment", type=click.Choice(["abs-1", "abs-2", "abs-workflow"]), required=True, help="Which one.")
@click.option(
    "--config", type=click.Choice(["calibration", "1", "2"]),
    help="Scaling thresholds of abs-2.  [default: calibration]",
)  # fmt: skip
@click.option(
    "--threads", type=click.Choice(["100", "200"]), help="Size of the batches of abs-workflow.  [default: 100]"
)
@click.option(
    "--downscale-after", type=click.IntRange(1), default=10, show_default=True, metavar="INTERVALS",
    help="Quiet intervals before a pod is shut down; the paper says 150 (300 s), its source 10.",
)  # fmt: skip
@output_option("text", "csv", "json")
def simulate_command(
    *, experiment: str, config: str | None, threads: str | None, downscale_after: int, outputs: tuple[Output, ...]
) -> int:
    """Run services, requests and an autoscaler on a clock: pods, CPU and response times over time.

    The experiments are those of a published model of Kubernetes (Turin et al., 2020), with its autoscaler; one interval
    is two seconds. Manifests of your own cannot be simulated yet.

    \b
    Examples:
      kubeproof simulate --experiment abs-1
      kubeproof simulate --experiment abs-2 --config 1 -o csv=curves.csv
      kubeproof simulate --experiment abs-1 --downscale-after 150 -o json
      kubeproof simulate --experiment abs-workflow --threads 200

    \b
    Exit codes: 0 the run was made, 2 wrong usage.
    """
    if config is not None and experiment != "abs-2":
        raise click.UsageError(f"--config is about abs-2; {experiment} has one configuration")
    if threads is not None and experiment != "abs-workflow":
        raise click.UsageError(f"--threads is about abs-workflow; {experiment} has none")
    from kubeproof.report import simulate as report
    from kubeproof.simulate.experiments import published, workflow
    from kubeproof.simulate.run import simulate

    if experiment == "abs-workflow":
        curves = simulate(workflow(int(threads or 100), downscale_after))
    else:
        curves = simulate(published(experiment, config or "calibration", downscale_after))
    renderers = {"text": report.as_text, "csv": report.as_csv, "json": report.as_json}
    emit(outputs, lambda output: renderers[output.format](curves))
    return 0
