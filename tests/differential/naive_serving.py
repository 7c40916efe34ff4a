"""Requests served in the most obvious way: every event moves every request, all rates are computed anew.

Shares nothing with the kernels but the declarations; slow, and easy to read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

from kubeproof.simulate.serving.shapes import LEAST_CONNECTIONS, Placement, PodSetting, Shape


@dataclass(eq=False)
class Request:
    service: int
    arrived: float
    parent: Request | None = None
    left: float = 0.0
    pod: int | None = None
    state: str = "new"  # waits, works, calls, over
    stage: int = 0
    calls: list[Request] = field(default_factory=list)
    order: int = 0


class Naive:
    """Round robin and least connections only: chance is the kernels' own."""

    def __init__(self, shapes: Sequence[Shape], *, reroutes: bool) -> None:
        self.shapes, self.reroutes = shapes, reroutes
        self.now = 0.0
        self.requests: list[Request] = []
        self.turns = [0] * len(shapes)
        self.answered: list[list[float]] = [[] for _ in shapes]
        self.arrived = [0] * len(shapes)
        self.failed = [0] * len(shapes)
        self.cores: dict[int, float] = {}
        self.orders = 0
        self.placement = Placement((), (), ((),) * len(shapes))

    # -- pods -------------------------------------------------------------------------------------

    def place(self, placement: Placement) -> None:
        there = {pod.number for pod in placement.pods}
        gone = sorted({pod.number for pod in self.placement.pods} - there)
        self.placement = placement
        lost = [one for number in gone for one in self._of_gone(number)]
        for request in lost:
            request.pod, request.state = None, "new"
        self._admit()
        for request in lost:
            if request.state == "over":
                continue
            request.stage = 0
            for call in request.calls:
                call.parent = None
            request.calls = []
            if self.reroutes:
                self._send(request)
            else:
                self._fail(request)

    def _of_gone(self, number: int) -> list[Request]:
        own = [one for one in self.requests if one.pod == number]
        ranks = {"works": 0, "waits": 1, "calls": 2}
        return sorted(own, key=lambda one: (ranks[one.state], one.service if one.state == "works" else 0, one.order))

    def _pod(self, number: int) -> PodSetting:
        return next(pod for pod in self.placement.pods if pod.number == number)

    # -- time -------------------------------------------------------------------------------------

    def advance(self, until: float, times: Sequence[float], services: Sequence[int]) -> None:
        for time, service in zip(times, services, strict=True):
            self._work(time)
            self._come(service, None)
        self._work(until)

    def _work(self, until: float) -> None:
        while True:
            speeds = self._speeds()
            working = [one for one in self.requests if one.state == "works"]
            left = [(one.left / speeds[one.pod] if speeds[one.pod] else inf, one.pod, one) for one in working]
            soonest = min(left, key=lambda item: (item[0], item[1], item[2].service, item[2].order), default=None)
            span = until - self.now if soonest is None else min(until - self.now, soonest[0])
            for one in working:
                one.left -= span * speeds[one.pod]
                self.cores[one.pod] = self.cores.get(one.pod, 0.0) + span * speeds[one.pod]
            self.now += span
            if soonest is None or span < soonest[0]:
                self.now = until
                return
            self._end(soonest[2])

    def _speeds(self) -> dict[int, float]:
        """Cores for each request, by pod."""
        counts = {pod.number: self._count(pod.number, "works") for pod in self.placement.pods}
        speeds: dict[int, float] = {}
        for node, room in enumerate(self.placement.nodes):
            busy = [pod for pod in self.placement.pods if pod.node == node and counts[pod.number]]
            for number, cores in water(busy, counts, room.cores).items():
                speeds[number] = cores / counts[number]
        return speeds

    def _count(self, pod: int, *states: str) -> int:
        return sum(one.pod == pod and one.state in states for one in self.requests)

    # -- requests ---------------------------------------------------------------------------------

    def _come(self, service: int, parent: Request | None) -> None:
        self.arrived[service] += 1
        request = Request(service, self.now, parent)
        self.requests.append(request)
        if parent is not None:
            parent.calls.append(request)
        self._send(request)

    def _send(self, request: Request) -> None:
        ready, shape = self.placement.ready[request.service], self.shapes[request.service]
        if not ready:
            self._fail(request)
            return
        turn = self.turns[request.service] % len(ready)
        places = [*range(turn, len(ready)), *range(turn)]
        if shape.balancing == LEAST_CONNECTIONS:
            places.sort(key=lambda place: self._count(ready[place], "works", "waits", "calls"))
        self.turns[request.service] = places[0] + 1
        pod = self._pod(ready[places[0]])
        if shape.memory > pod.memory or shape.memory > self.placement.nodes[pod.node].memory:
            self._fail(request)
            return
        self.orders += 1
        request.pod, request.state, request.order, request.left = pod.number, "waits", self.orders, shape.cpu_s
        self._admit()

    def _admit(self) -> None:
        """The longest waiting request that is first in its pod and fits begins, again and again."""
        while True:
            waiting = sorted((one for one in self.requests if one.state == "waits"), key=lambda one: one.order)
            first: dict[int, Request] = {}
            for one in waiting:
                first.setdefault(one.pod, one)
            chosen = next((one for one in first.values() if self._fits(one)), None)
            if chosen is None:
                return
            chosen.state = "works"
            self.orders += 1
            chosen.order = self.orders

    def _fits(self, request: Request) -> bool:
        pod, memory = self._pod(request.pod), self.shapes[request.service].memory
        here = {one.number for one in self.placement.pods if one.node == pod.node}
        held = [(one.pod, self.shapes[one.service].memory) for one in self.requests if one.state == "works"]
        of_pod = sum(size for number, size in held if number == pod.number)
        of_node = sum(size for number, size in held if number in here)
        return of_pod + memory <= pod.memory and of_node + memory <= self.placement.nodes[pod.node].memory

    def _end(self, request: Request) -> None:
        request.state = "calls"
        self.orders += 1
        request.order = self.orders
        self._admit()
        self._next(request)

    def _next(self, request: Request) -> None:
        stages = self.shapes[request.service].stages
        if request.stage == len(stages):
            self._answer(request)
            return
        request.stage += 1
        request.calls = []
        for service in stages[request.stage - 1]:
            if request.state != "over":
                self._come(service, request)

    def _answer(self, request: Request) -> None:
        self._over(request)
        self.answered[request.service].append(self.now - request.arrived)
        parent = request.parent
        if parent is not None and parent.state != "over" and self._is_done(parent):
            self._next(parent)

    def _is_done(self, parent: Request) -> bool:
        wanted = len(self.shapes[parent.service].stages[parent.stage - 1])
        return len(parent.calls) == wanted and all(call.state == "over" for call in parent.calls)

    def _fail(self, request: Request) -> None:
        self._over(request)
        self.failed[request.service] += 1
        if request.parent is not None and request.parent.state != "over":
            self._fail(request.parent)

    def _over(self, request: Request) -> None:
        request.state = "over"
        self.requests = [one for one in self.requests if one is not request]


def water(busy: Sequence[PodSetting], counts: dict[int, int], cores: float) -> dict[int, float]:
    """Max-min fair by weight: raises the level step by step until the next demand is met or nothing is left."""
    demands = {pod.number: min(pod.limit, counts[pod.number]) for pod in busy}
    given = dict.fromkeys(demands, 0.0)
    open_pods, left = list(busy), cores
    while open_pods and left > 1e-12:
        weight = sum(pod.weight for pod in open_pods)
        step = min((demands[pod.number] - given[pod.number]) / pod.weight for pod in open_pods)
        step = min(step, left / weight)
        for pod in open_pods:
            given[pod.number] += step * pod.weight
        left -= step * weight
        open_pods = [pod for pod in open_pods if demands[pod.number] - given[pod.number] > 1e-12]
    return given
