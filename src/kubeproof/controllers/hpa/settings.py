"""Flags of the autoscaler's control loop."""

from __future__ import annotations

from kubeproof.cluster.api.versions import NEWEST, Version
from kubeproof.named_tuples import NamedTuple

__all__ = ["NEWEST", "AutoscalerSettings", "Version"]


class AutoscalerSettings(NamedTuple):
    """The kube-controller-manager's flags with upstream's defaults, and what the metrics pipeline adds.

    `tolerance` is a float because upstream compares float64 values, and the verdict at the edge depends on it.
    """

    version: Version = NEWEST
    tolerance: float = 0.1
    downscale_stabilization_s: int = 300
    cpu_initialization_s: int = 300
    readiness_delay_s: int = 30
    sample_window_s: int = 15  # time one sample averages over; metrics-server's resolution
    sync_period_s: int = 15
