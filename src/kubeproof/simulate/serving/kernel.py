"""Serves requests event by event, in plain Python: the twin of the compiled `_kernel.pyx`, with the same numbers.

A pod divides its CPU evenly among the requests that it serves; one request uses at most one core. All requests of a
service cost the same, so those of one service in one pod end in the order in which they began: each pod keeps a level
(the CPU that a request has got which is there since the level was 0), and a line per service of the levels at which
requests end. A node that is short of CPU is shared max-min fairly by weight. Between two events all rates are constant.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush

from kubeproof.errors import LimitReached
from kubeproof.simulate.serving.balance import Turns
from kubeproof.simulate.serving.shapes import MOST_OPEN, NodeSetting, Placement, PodSetting, Shape, Tally, Use
from kubeproof.simulate.serving.sharing import share_by_weight, sum_in_order
from kubeproof.simulate.serving.tally import Counted


class _Request:
    """A request that is neither answered nor given up."""

    __slots__ = ("arrived", "is_open", "open_calls", "parent", "pod", "service", "stage")

    def __init__(self, service: int, arrived: float, parent: _Request | None) -> None:
        self.service, self.arrived, self.parent = service, arrived, parent
        self.pod: _Pod | None = None
        self.stage = self.open_calls = 0
        self.is_open = True


class _Pod:
    """A pod: its requests in service, those that wait for memory, and its pace."""

    def __init__(self, setting: PodSetting, node: _Node, now: float) -> None:
        self.number, self.setting, self.node = setting.number, setting, node
        self.lines: dict[int, deque[tuple[float, _Request]]] = {}
        self.waiting: deque[tuple[int, _Request]] = deque()
        self.calling: dict[_Request, None] = {}  # their own work is done, calls are open
        self.connections = self.serving = 0
        self.level = self.pace = self.core_s = 0.0
        self.since = now
        self.held = self.most_held = 0
        self.version = 0  # of its entry among the next ends

    def advance(self, now: float) -> None:
        """Works until now at its pace."""
        if self.serving:
            gained = (now - self.since) * self.pace
            self.level += gained
            self.core_s += gained * self.serving
        self.since = now

    def next_line(self) -> deque[tuple[float, _Request]]:
        """The line whose first request ends next; the lower service on a tie."""
        lines = [(line[0][0], service) for service, line in self.lines.items() if line]
        return self.lines[min(lines)[1]]


class _Node:
    """A node: its pods by number, and what is taken."""

    def __init__(self) -> None:
        self.setting = NodeSetting(0.0, 0)
        self.pods: list[_Pod] = []
        self.held = 0
        self.waiting = 0  # requests
        self.is_ample = True  # all pods may use their limits at the same time


class PlainKernel:
    """See `ServingKernel`."""

    name = "plain"

    def __init__(self, shapes: Sequence[Shape], *, seed: int, reroutes: bool, most_open: int = MOST_OPEN) -> None:
        self._shapes, self._reroutes, self._most_open = tuple(shapes), reroutes, most_open
        self._turns = Turns(len(shapes), seed)
        self._counted = [Counted() for _ in shapes]
        self._ready: tuple[tuple[_Pod, ...], ...] = ((),) * len(shapes)
        self._pods: dict[int, _Pod] = {}
        self._nodes: list[_Node] = []
        self._ends: list[tuple[float, int, int]] = []  # (when, pod, version); older versions are passed over
        self._now = 0.0
        self._waited = 0  # requests that ever waited for memory: who was first
        self._open = 0

    # -- pods and nodes ---------------------------------------------------------------------------

    def place(self, placement: Placement) -> None:
        """Changes pods and nodes now."""
        for pod in self._pods.values():
            pod.advance(self._now)
        lost = self._remove({setting.number for setting in placement.pods})
        self._nodes = [_Node() for _ in placement.nodes]
        for node, room in zip(self._nodes, placement.nodes, strict=True):
            node.setting = room
        self._pods = {setting.number: self._settle(setting) for setting in placement.pods}
        self._ready = tuple(tuple(self._pods[number] for number in numbers) for numbers in placement.ready)
        for node in self._nodes:
            node.is_ample = sum_in_order(pod.setting.limit for pod in node.pods) <= node.setting.cores
            self._admit(node)
            self._set_paces(node)
        self._ends = [entry for entry in self._ends if self._is_current(entry)]
        heapify(self._ends)
        for request in lost:
            self._again(request)

    def _remove(self, kept: set[int]) -> list[_Request]:
        """The requests of the pods that are gone, in the order of their pods."""
        lost: list[_Request] = []
        for number in sorted(self._pods.keys() - kept):
            pod = self._pods.pop(number)
            for service in sorted(pod.lines):
                lost += [request for _, request in pod.lines[service]]
            lost += [request for _, request in pod.waiting]
            lost += pod.calling
            pod.version = -1
        return lost

    def _settle(self, setting: PodSetting) -> _Pod:
        """The pod on its node, with what it has."""
        node = self._nodes[setting.node]
        pod = self._pods.get(setting.number) or _Pod(setting, node, self._now)
        pod.setting, pod.node = setting, node
        node.pods.append(pod)
        node.held += pod.held
        node.waiting += len(pod.waiting)
        return pod

    def _is_current(self, entry: tuple[float, int, int]) -> bool:
        pod = self._pods.get(entry[1])
        return pod is not None and pod.version == entry[2]

    def _again(self, request: _Request) -> None:
        """A request whose pod is gone is sent to another one and begins from the start, or fails."""
        if not request.is_open:
            return  # a call of it failed meanwhile, and so has it
        request.pod = None
        if not self._reroutes:
            self._fail(request)
            return
        fresh = _Request(request.service, request.arrived, request.parent)  # answers to old calls do not find it
        request.is_open = False
        self._send(fresh)

    # -- time -------------------------------------------------------------------------------------

    def advance(self, until: float, times: Sequence[float], services: Sequence[int]) -> None:
        """Serves until then."""
        for arrives, service in zip(times, services, strict=True):
            self._end_all(float(arrives))
            self._now = float(arrives)
            self._come(int(service), None)
        self._end_all(until)
        self._now = until
        for pod in self._pods.values():
            pod.advance(until)

    def _end_all(self, until: float) -> None:
        """Everything that ends until then."""
        while self._ends and self._ends[0][0] <= until:
            entry = heappop(self._ends)
            if self._is_current(entry):
                self._now = max(entry[0], self._now)
                self._end_first(self._pods[entry[1]])

    def _end_first(self, pod: _Pod) -> None:
        """The own work of the next request of a pod is done."""
        pod.advance(self._now)
        line = pod.next_line()
        end, request = line.popleft()
        pod.level = end  # what rounding made of it
        pod.serving -= 1
        memory = self._shapes[request.service].memory
        pod.held -= memory
        pod.node.held -= memory
        if not pod.serving:
            pod.level = 0.0
        if pod.node.waiting:
            self._admit(pod.node)
        self._repace(pod)
        self._next_stage(request)

    # -- requests ---------------------------------------------------------------------------------

    def _come(self, service: int, parent: _Request | None) -> None:
        self._counted[service].arrived += 1
        self._open += 1
        if self._open > self._most_open:
            raise LimitReached(
                f"E301 more than {self._most_open:,} requests wait at {self._now:g} s. "
                "The services get far more than they can serve: give them more pods, or fewer requests."
            )
        self._send(_Request(service, self._now, parent))

    def _send(self, request: _Request) -> None:
        """To a pod, if there is one that could ever hold it."""
        service, memory = request.service, self._shapes[request.service].memory
        pods = self._ready[service]
        if not pods:
            self._fail(request)
            return
        place = self._turns.next(self._shapes[service].balancing, service, [pod.connections for pod in pods])
        pod = pods[place]
        if memory > pod.setting.memory or memory > pod.node.setting.memory:
            self._fail(request)
            return
        request.pod = pod
        pod.connections += 1
        if pod.waiting or not self._fits(pod, memory):
            self._waited += 1
            pod.waiting.append((self._waited, request))
            pod.node.waiting += 1
            return
        pod.advance(self._now)
        self._begin(pod, request)
        self._repace(pod)

    def _fits(self, pod: _Pod, memory: int) -> bool:
        return pod.held + memory <= pod.setting.memory and pod.node.held + memory <= pod.node.setting.memory

    def _begin(self, pod: _Pod, request: _Request) -> None:
        shape = self._shapes[request.service]
        pod.held += shape.memory
        pod.node.held += shape.memory
        pod.most_held = max(pod.most_held, pod.held)
        pod.lines.setdefault(request.service, deque()).append((pod.level + shape.cpu_s, request))
        pod.serving += 1

    def _admit(self, node: _Node) -> None:
        """Requests that waited begin as far as there is memory now: of those that fit, who waited longest."""
        while heads := [
            (*pod.waiting[0], pod)
            for pod in node.pods
            if pod.waiting and self._fits(pod, self._shapes[pod.waiting[0][1].service].memory)
        ]:
            _, request, pod = min(heads, key=lambda head: head[0])
            pod.waiting.popleft()
            node.waiting -= 1
            pod.advance(self._now)
            self._begin(pod, request)
            self._repace(pod)

    def _next_stage(self, request: _Request) -> None:
        """Makes the calls of the next stage; without one the request is answered."""
        stages = self._shapes[request.service].stages
        if request.stage == len(stages):
            self._answer(request)
            return
        calls = stages[request.stage]
        request.stage += 1
        request.open_calls = len(calls)
        assert request.pod is not None
        request.pod.calling[request] = None
        for service in calls:
            if request.is_open:  # one that failed at once gave it up
                self._come(service, request)

    def _answer(self, request: _Request) -> None:
        self._close(request)
        self._counted[request.service].answer(self._now - request.arrived, self._shapes[request.service].deadline_s)
        parent = request.parent
        if parent is not None and parent.is_open:
            parent.open_calls -= 1
            if not parent.open_calls:
                self._next_stage(parent)

    def _fail(self, request: _Request) -> None:
        self._close(request)
        self._counted[request.service].failed += 1
        if request.parent is not None and request.parent.is_open:
            self._fail(request.parent)

    def _close(self, request: _Request) -> None:
        request.is_open = False
        self._open -= 1
        if request.pod is not None:
            request.pod.connections -= 1
            request.pod.calling.pop(request, None)

    # -- pace -------------------------------------------------------------------------------------

    def _repace(self, pod: _Pod) -> None:
        """A pod has more or fewer requests in service: its pace changes, on a full node that of others too."""
        if pod.node.is_ample:
            self._set_pace(pod, min(pod.setting.limit, pod.serving))
        else:
            self._set_paces(pod.node, pod)

    def _set_paces(self, node: _Node, changed: _Pod | None = None) -> None:
        """Shares a node anew; a pod that keeps its pace also keeps its next end, unless it is the one that changed."""
        if changed is not None and not changed.serving:
            changed.version += 1
        busy = [pod for pod in node.pods if pod.serving]
        demands = [min(pod.setting.limit, pod.serving) for pod in busy]
        weights = [pod.setting.weight for pod in busy]
        shares = demands if node.is_ample else share_by_weight(demands, weights, node.setting.cores)
        for pod, share in zip(busy, shares, strict=True):
            if pod is changed or share / pod.serving != pod.pace:
                self._set_pace(pod, share)

    def _set_pace(self, pod: _Pod, cores: float) -> None:
        """So many cores for all requests of a pod, from now on."""
        if not pod.serving:
            pod.version += 1
            return
        pod.advance(self._now)
        pod.pace = cores / pod.serving
        pod.version += 1
        first = min(line[0][0] for line in pod.lines.values() if line)
        left = first - pod.level
        if left <= 0:
            heappush(self._ends, (self._now, pod.number, pod.version))
        elif pod.pace > 0:
            heappush(self._ends, (self._now + left / pod.pace, pod.number, pod.version))

    # -- readings ---------------------------------------------------------------------------------

    def tallies(self) -> list[Tally]:
        """By service, since the last call."""
        return [counted.take() for counted in self._counted]

    def uses(self, pods: Sequence[int]) -> list[Use]:
        """Of these pods, since the last call."""
        return list(self._uses(pods))

    def _uses(self, pods: Sequence[int]) -> Iterator[Use]:
        for number in pods:
            pod = self._pods[number]
            yield Use(pod.core_s, pod.most_held)
            pod.core_s, pod.most_held = 0.0, pod.held
