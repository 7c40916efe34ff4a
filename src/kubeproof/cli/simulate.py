"""`kubeproof simulate`."""

from __future__ import annotations

import click

from kubeproof.cli.outputs import Output, emit, output_option


@click.command("simulate", short_help="Run a published experiment on a clock.")
@click.option("--experiment", type=click.Choice(["abs-1", "abs-2"]), required=True, help="Which one.")
@click.option(
    "--config", type=click.Choice(["calibration", "1", "2"]),
    help="Scaling thresholds of abs-2.  [default: calibration]",
)  # fmt: skip
@click.option(
    "--downscale-after", type=click.IntRange(1), default=10, show_default=True, metavar="INTERVALS",
    help="Quiet intervals before a pod is shut down; the paper says 150 (300 s), its source 10.",
)  # fmt: skip
@output_option("text", "csv", "json")
def simulate_command(*, experiment: str, config: str | None, downscale_after: int, outputs: tuple[Output, ...]) -> int:
    """Run services, requests and an autoscaler on a clock: pods, CPU and response times over time.

    The experiments are those of a published model of Kubernetes (Turin et al., 2020), with its autoscaler; one interval
    is two seconds. Manifests of your own cannot be simulated yet.

    \b
    Examples:
      kubeproof simulate --experiment abs-1
      kubeproof simulate --experiment abs-2 --config 1 -o csv=curves.csv
      kubeproof simulate --experiment abs-1 --downscale-after 150 -o json

    \b
    Exit codes: 0 the run was made, 2 wrong usage.
    """
    if config is not None and experiment != "abs-2":
        raise click.UsageError(f"--config is about abs-2; {experiment} has one configuration")
    from kubeproof.report import simulate as report
    from kubeproof.simulate.experiments import published
    from kubeproof.simulate.run import simulate

    curves = simulate(published(experiment, config or "calibration", downscale_after))
    renderers = {"text": report.as_text, "csv": report.as_csv, "json": report.as_json}
    emit(outputs, lambda output: renderers[output.format](curves))
    return 0
