"""Batches that go through stages: the next stage is called when the last part of the one before has ended."""

from __future__ import annotations

from collections.abc import Mapping

from kubeproof.simulate.published.declarations import BatchCall, BatchFlow
from kubeproof.simulate.published.service import TimedService
from kubeproof.values import dataclass


@dataclass(slots=True)
class _Batch:
    """A batch on its way: its stage, and how many parts of each call are open."""

    stage: int
    open: dict[str, int]
    called: float


class FlowRun:
    """Where the batches of a flow stand. A batch is known by the instant at which it came."""

    def __init__(self, flow: BatchFlow, services: Mapping[str, TimedService]) -> None:
        self._flow, self._services = flow, services
        self._batches: dict[float, _Batch] = {}

    def arrive(self, interval: int) -> None:
        """The batch of this interval comes, if the flow has one."""
        if self._flow.start <= interval < self._flow.start + self._flow.times:
            self._call(float(interval), 0, float(interval))

    def _call(self, batch: float, stage: int, now: float) -> None:
        calls = self._flow.stages[stage]
        self._batches[batch] = _Batch(stage, {call.service: self._send(call, batch) for call in calls}, now)

    def _send(self, call: BatchCall, batch: float) -> int:
        return self._services[call.service].receive_batch(call.cost, self._flow.requests, batch)

    def end_parts(self, service: str, batch: float, parts: int, now: float) -> tuple[float | None, bool]:
        """Parts of a call ended: how long the call took, if these were the last; and whether a new stage began."""
        on_its_way = self._batches[batch]
        on_its_way.open[service] -= parts
        took = None if on_its_way.open[service] else now - on_its_way.called
        if any(on_its_way.open.values()):
            return took, False
        return took, self._advance(batch, on_its_way.stage + 1, now)

    def _advance(self, batch: float, stage: int, now: float) -> bool:
        if stage == len(self._flow.stages):
            del self._batches[batch]
            return False
        self._call(batch, stage, now)
        return True

    def count_unfinished(self, service: str) -> int:
        """Requests to a service whose batch is under way."""
        return self._flow.requests * sum(batch.open.get(service, 0) > 0 for batch in self._batches.values())

    @property
    def requests(self) -> int:
        """In a batch."""
        return self._flow.requests
