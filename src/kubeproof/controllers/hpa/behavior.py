"""Scaling rules of both directions after defaulting, and the tolerances they set.

Mirrors `pkg/apis/autoscaling/v2/defaults.go` and `tolerancesForHpa` of `horizontal.go`.
"""

from __future__ import annotations

from kubeproof.cluster.api import versions
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler, ScalingPolicy, ScalingRules
from kubeproof.controllers.hpa.settings import NEWEST, AutoscalerSettings, Version
from kubeproof.named_tuples import NamedTuple

DEFAULT_UP = ScalingRules((ScalingPolicy("Pods", 4, 15), ScalingPolicy("Percent", 100, 15)), window_s=0)
DEFAULT_DOWN = ScalingRules((ScalingPolicy("Percent", 100, 15),))

TOLERANCE_PER_DIRECTION_SINCE = versions.TOLERANCE_PER_DIRECTION.since
DIRECTED_TOLERANCE_SINCE = versions.DIRECTED_TOLERANCE.since


class Behavior(NamedTuple):
    """Rules of both directions; an autoscaler without behavior has none of them (None instead of this)."""

    up: ScalingRules = DEFAULT_UP
    down: ScalingRules = DEFAULT_DOWN

    @property
    def up_window_s(self) -> int:
        return self.up.window_s or 0

    def down_window_s(self, downscale_stabilization_s: int) -> int:
        """The stabilization window of the way down; without one the controller's flag."""
        return downscale_stabilization_s if self.down.window_s is None else self.down.window_s


def behavior_of(autoscaler: HorizontalPodAutoscaler) -> Behavior | None:
    """The rules in force, or None without behavior; a direction that is not given gets the API's default."""
    if autoscaler.scale_up is None and autoscaler.scale_down is None:
        return None
    return Behavior(autoscaler.scale_up or DEFAULT_UP, autoscaler.scale_down or DEFAULT_DOWN)


class Tolerance(NamedTuple):
    """How far usage may be off the target without a reaction, as upstream's float64 values."""

    up: float
    down: float
    version: Version = NEWEST

    def covers(self, ratio: float) -> bool:
        """True if the ratio is close enough to 1.

        Before 1.33 upstream compares |1 - ratio|, which for a ratio of exactly 1.1 is a little above 0.1: outside.
        Since 1.33 it compares with 1 + 0.1: inside.
        """
        if self.version < DIRECTED_TOLERANCE_SINCE:
            return abs(1.0 - ratio) <= self.up
        return 1.0 - self.down <= ratio <= 1.0 + self.up


def tolerance_of(behavior: Behavior | None, settings: AutoscalerSettings) -> Tolerance:
    """The flag's tolerance; since 1.35 each direction may set its own."""
    flag = settings.tolerance
    if behavior is None or settings.version < TOLERANCE_PER_DIRECTION_SINCE:
        return Tolerance(flag, flag, settings.version)
    return Tolerance(_tolerance(behavior.up, flag), _tolerance(behavior.down, flag), settings.version)


def _tolerance(rules: ScalingRules, flag: float) -> float:
    """The quantity as upstream's AsApproximateFloat64 makes it: 570m is 570 x 0.001, not the nearest to 0.57."""
    milli = rules.tolerance_milli
    if milli is None:
        return flag
    return float(milli // 1000) if milli % 1000 == 0 else milli * 0.001
