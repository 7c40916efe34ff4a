"""`kubeproof.simulate`: runs of the controllers on a clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from kubeproof.api.html import fold
from kubeproof.api.inputs import Nodes, Paths, take_input
from kubeproof.api.shapes import reshape
from kubeproof.errors import UsageError
from kubeproof.manifests.yaml.durations import parse_seconds
from kubeproof.report.simulate.cluster import RENDERERS
from kubeproof.simulate.options import SimulateOptions
from kubeproof.simulate.outcome import Series, SimulationResult
from kubeproof.simulate.simulation import simulate_cluster
from kubeproof.stop import Stop
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class Simulation(SimulationResult):
    """Finished runs: series over time, requests, intents as they were judged, costs."""

    def series(self, subject: str, quantity: str) -> Series:
        """Values over time, such as "ready" of "storefront"; with several runs, with bands."""
        return self.timeline.of(subject, quantity)

    def __str__(self) -> str:
        return RENDERERS["text"](self)

    def _repr_html_(self) -> str:
        """What a notebook shows: the curves, and the summary folded."""
        picture = RENDERERS["svg"](self)
        return f"<div>{picture[picture.index('<svg') :]}{fold('summary', str(self))}</div>"


def simulate(
    paths: Paths,
    *,
    duration: str | int = "30m",
    runs: int = 1,
    seed: int = 0,
    precision: float | None = None,
    confidence: float = 0.95,
    autoscaler: Literal["hpa", "simple"] = "hpa",
    nodes: Nodes = (),
    values: Sequence[str] = (),
    stop: Stop | None = None,
) -> Simulation:
    """Runs the cluster on a clock, with the requests and faults of its Scenario.

    `duration` is a text such as `"30m"` or a number of seconds. With a `precision`, such as 0.01, it is run until
    every interval is so narrow, at most `runs` times. Needs the extra `simulate` where there are requests.
    """
    duration_s = parse_seconds(duration) if isinstance(duration, str) else duration
    if duration_s is None or duration_s <= 0:
        raise UsageError(f"{duration!r} is not a duration above zero", 'Write duration="30m".')
    options = SimulateOptions(
        duration_s=duration_s,
        seed=seed,
        runs=runs,
        precision=precision,
        confidence=confidence,
        autoscaler=autoscaler,
    )
    found = simulate_cluster(take_input(paths, values=values, nodes=nodes), options, stop=stop)
    return reshape(found, Simulation)
