"""A service of a timed run: its pods, and who gets the next request."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import islice

from kubeproof.simulate.published.cluster import Parcel, TimedNode, TimedPod, emptiest
from kubeproof.simulate.published.declarations import ServiceSpec


class TimedService:
    """Pods in the order in which they came, and a round robin over those that take requests."""

    def __init__(self, spec: ServiceSpec, nodes: Sequence[TimedNode]) -> None:
        self.spec, self._nodes = spec, nodes
        self.pods: list[TimedPod] = []
        self.turns: deque[TimedPod] = deque()
        self._retired: list[TimedPod] = []
        self.pending = 0
        self.launch(spec.pods)

    @property
    def size(self) -> int:
        """Pods that take requests, those included that wait for a node."""
        return len(self.turns) + self.pending

    @property
    def ratio(self) -> float:
        """The mean over pods of use by request, in the interval before; without pods nothing is used."""
        return sum(pod.ratio for pod in self.pods) / len(self.pods) if self.pods else 0.0

    def launch(self, count: int) -> None:
        """So many pods more, as far as nodes have room; the others wait."""
        self.pending += count
        self.place_pending()

    def place_pending(self) -> None:
        """Pods that wait are placed as far as there is room."""
        while self.pending and (node := emptiest(self._nodes, self.spec.request)):
            pod = TimedPod(self.spec, node)
            node.add(pod)
            self.pods.append(pod)
            self._join_turns(pod)
            self.pending -= 1

    def _join_turns(self, pod: TimedPod) -> None:
        if self.spec.newest_is_next:
            self.turns.appendleft(pod)
        else:
            self.turns.append(pod)

    def retire_oldest(self) -> None:
        """The oldest pod takes no more requests, and ends when it has none left."""
        oldest = next(pod for pod in self.pods if pod not in self._retired)
        self.turns.remove(oldest)
        self._retired.append(oldest)
        self.remove_idle()

    def remove_idle(self) -> None:
        """Pods that were retired and have nothing left to do are gone."""
        if not self._retired:
            return
        for pod in [pod for pod in self._retired if pod.is_idle]:
            self._retired.remove(pod)
            self.pods.remove(pod)
            pod.node.remove(pod)

    def deal(self, cost: int, count: int, parcels: Mapping[TimedNode, list[Parcel]]) -> None:
        """Requests in turn, the head gets one and goes to the end of the line; a parcel for each pod that gets some."""
        even, over = divmod(count, len(self.turns))
        takers = self.turns if even else islice(self.turns, over)
        for position, pod in enumerate(takers):
            parcels[pod.node].append((pod, cost, even + 1 if position < over else even))
        self.turns.rotate(-over)

    def receive_batch(self, cost: int, requests: int, arrived: float) -> int:
        """A batch in turn: each pod gets its part of the requests, as one piece of work; returns how many got some.

        The parts are whole units that sum to the cost: less than a unit from the exact fraction.
        """
        even, over = divmod(requests, len(self.turns))
        takers = self.turns if even else list(islice(self.turns, over))
        before = 0
        for position, pod in enumerate(takers):
            upto = before + even + (position < over)
            pod.take(cost * upto // requests - cost * before // requests, arrived, 1)
            before = upto
        self.turns.rotate(-over)
        return len(takers)
