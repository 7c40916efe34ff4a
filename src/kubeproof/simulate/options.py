"""How runs of a cluster are made."""

from __future__ import annotations

from kubeproof.simulate.control.planning import HPA
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class SimulateOptions:
    """Everything that is not in the input."""

    duration_s: int = 1800
    seed: int = 0
    runs: int = 1  # with a precision, at most
    precision: float | None = None  # it is run until no interval is wider, up to each side
    confidence: float = 0.95
    autoscaler: str = HPA
    reroutes: bool = True  # requests of a pod that vanished are tried again
    boost: float = 1.0  # failures by chance come so many times as often, and runs are weighed


READING_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600)
MOST_READINGS = 720


def reading_s(duration_s: int) -> int:
    """How often series are read: so that a run has some hundred values."""
    return next((step for step in READING_S if duration_s / step <= MOST_READINGS), -(-duration_s // MOST_READINGS))
