"""`--experiment NAME|FILE`: a published experiment, or one of one's own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from kubeproof.simulate.published.declarations import Experiment

WORKFLOW, TWO = "abs-workflow", "abs-2"
NAMES = ("abs-1", TWO, WORKFLOW)


def is_published(experiment: str) -> bool:
    """True for a name, false for a file."""
    return experiment in NAMES


def find_experiment(
    experiment: str, config: str | None, threads: str | None, quiet_intervals: int = 10
) -> tuple[Experiment, tuple[str, str] | None]:
    """The experiment, and name and content of its file if it has one."""
    if config is not None and experiment != TWO:
        raise click.UsageError(f"--config is about {TWO}; {experiment} has one configuration")
    if threads is not None and experiment != WORKFLOW:
        raise click.UsageError(f"--threads is about {WORKFLOW}; {experiment} has none")
    from kubeproof.simulate.published.experiments import find_published, workflow

    if experiment == WORKFLOW:
        return workflow(int(threads or 100), quiet_intervals), None
    if is_published(experiment):
        return find_published(experiment, config or "calibration", quiet_intervals), None
    if not os.path.exists(experiment):
        raise click.UsageError(f"--experiment {experiment}: no such file, and no published one: {', '.join(NAMES)}")
    from kubeproof.simulate.published.files import load_experiment

    found = load_experiment(experiment)
    with open(experiment, encoding="utf-8", newline="") as file:
        return found, (experiment, file.read())
