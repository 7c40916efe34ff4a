"""The published autoscaler: thresholds on the mean use of a service's pods, one cycle behind."""

from __future__ import annotations

from math import floor

from kubeproof.simulate.published.service import TimedService


class ThresholdScaler:
    """Decides by what it read a cycle ago: more pods at once, or the oldest one less after some quiet cycles."""

    def __init__(self, service: TimedService) -> None:
        self._service = service
        self._rules = service.spec.scaler
        self._ratio: float | None = None
        self._quiet = 0

    def cycle(self) -> None:
        """Acts on the last reading, then reads again; not while a pod that it launched waits for a node."""
        if self._service.pending:
            self._ratio = None
            return
        if self._ratio is not None:
            self._act(self._ratio)
        self._ratio = self._service.ratio
        self._quiet = self._quiet + 1 if self._ratio < self._rules.down else 0

    def _act(self, ratio: float) -> None:
        rules, pods = self._rules, self._service.size
        if ratio >= rules.up and pods < rules.most:
            self._service.launch(min(floor(ratio / rules.up), rules.most - pods))
        if self._quiet >= rules.quiet_cycles and self._service.size > rules.least:
            self._service.retire_oldest()
