"""Nodes and pods of a timed run: CPU that comes back every interval, memory that requests hold."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from kubeproof.simulate.published.backlog import Backlog, Finished
from kubeproof.simulate.published.declarations import NodeSpec, ServiceSpec
from kubeproof.simulate.published.sharing import fair_shares


class TimedPod:
    """A pod at work."""

    __slots__ = ("backlog", "node", "ratio", "spec", "used", "waiting")

    def __init__(self, spec: ServiceSpec, node: TimedNode) -> None:
        self.spec, self.node = spec, node
        self.backlog = Backlog(spec.quantum)
        self.waiting: deque[tuple[int, float]] = deque()  # (cost, arrived) of requests for which memory is short
        self.used = 0  # in this interval
        self.ratio = 0.0  # of the interval before

    @property
    def is_idle(self) -> bool:
        return not self.backlog.requests and not self.waiting

    def take(self, cost: int, arrived: float, count: int) -> None:
        """Requests come; those for which the node has no memory wait."""
        self.node.busy[self] = None
        at_once = self.node.reserve(self.spec.memory, count) if not self.waiting else 0
        if at_once:
            self.backlog.add(cost, arrived, at_once)
        self.waiting.extend((cost, arrived) for _ in range(count - at_once))

    def admit(self) -> None:
        """Requests that waited begin, as far as there is memory now."""
        while self.waiting and self.node.reserve(self.spec.memory, 1):
            self.backlog.add(*self.waiting.popleft())

    @property
    def demand(self) -> int:
        """What the pod could use at this instant."""
        return min(self.backlog.units, self.spec.limit - self.used)

    def spend(self, units: int) -> list[Finished]:
        """Works; returns the requests that ended."""
        self.used += units
        before = self.backlog.requests
        finished = self.backlog.serve(units)
        self.node.release(self.spec.memory, before - self.backlog.requests)
        return finished

    def begin_interval(self) -> None:
        """Tells what was used, and may use its limit again."""
        self.ratio = self.used / self.spec.request
        self.used = 0


Parcel = tuple[TimedPod, int, int]  # who gets requests, what each costs, and how many


class TimedNode:
    """A node and what it has left."""

    def __init__(self, spec: NodeSpec) -> None:
        self.spec = spec
        self.pods: list[TimedPod] = []
        self.cpu, self.memory = spec.cpu, spec.memory
        self.busy: dict[TimedPod, None] = {}  # pods with requests, in the order in which they got the first
        self.unrequested = spec.cpu  # CPU that no pod asked for

    def add(self, pod: TimedPod) -> None:
        """A pod comes."""
        self.pods.append(pod)
        self.unrequested -= pod.spec.request

    def remove(self, pod: TimedPod) -> None:
        """A pod is gone."""
        self.pods.remove(pod)
        self.unrequested += pod.spec.request

    def reserve(self, memory: int, count: int) -> int:
        """Memory for as many requests as possible; returns how many."""
        granted = min(count, self.memory // memory) if memory else count
        self.memory -= granted * memory
        return granted

    def release(self, memory: int, count: int) -> None:
        """Gives memory back."""
        self.memory += memory * count

    def serves_at_once(self, parcels: Sequence[Parcel]) -> bool:
        """Serves requests that come now to a node with nothing else to do, if all of them can end now.

        That is what `take` and `work` would come to, without anything that is kept from one instant to the next. False
        if something is short: then nothing is done.
        """
        if self.busy:
            return False
        cpu, memory = self.cpu, self.memory
        for served, (pod, cost, count) in enumerate(parcels):
            units = cost * count
            cpu -= units
            memory -= pod.spec.memory * count
            pod.used += units
            if not units or pod.used > pod.spec.limit or cpu < 0 or memory < 0:
                self._take_back(parcels[: served + 1])
                return False
        self.cpu = cpu
        return True

    def _take_back(self, parcels: Iterable[Parcel]) -> None:
        for pod, cost, count in parcels:
            pod.used -= cost * count

    def work(self) -> dict[TimedPod, list[Finished]]:
        """All that can be done at this instant with the CPU that is left."""
        finished: dict[TimedPod, list[Finished]] = {}
        while self._share(finished) and any(pod.waiting for pod in self.busy):
            for pod in self.busy:  # requests that ended may have freed memory for others
                pod.admit()
        for pod in [pod for pod in self.busy if pod.is_idle]:
            del self.busy[pod]
        return finished

    def _share(self, finished: dict[TimedPod, list[Finished]]) -> bool:
        """Spends what pods ask for now; False if there is nothing to do, or nothing to do it with."""
        asking = [(pod, demand) for pod in self.busy if (demand := pod.demand)]
        if not asking or not self.cpu:
            return False
        demands = [demand for _, demand in asking]
        is_enough = sum(demands) <= self.cpu
        for (pod, _), units in zip(asking, demands if is_enough else fair_shares(demands, self.cpu), strict=True):
            if units:
                self.cpu -= units
                finished.setdefault(pod, []).extend(pod.spend(units))
        return True

    def begin_interval(self) -> None:
        """All CPU is there again."""
        self.cpu = self.spec.cpu
        for pod in self.pods:
            pod.begin_interval()


def emptiest(nodes: Iterable[TimedNode], request: int) -> TimedNode | None:
    """The node with most CPU that nobody asked for, the first of equals; None if a pod fits on none."""
    best = max(nodes, key=lambda node: node.unrequested)
    return best if best.unrequested >= request else None
