"""NodeResourcesFit: requests must fit into what is allocatable; the score prefers empty (or full) nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

from kubeproof.cluster.api import versions
from kubeproof.cluster.api.quantity import write_amount
from kubeproof.cluster.nodes.near_nodes import agree_monotone
from kubeproof.cluster.objects import Node
from kubeproof.controllers.scheduler.plugins.resource_shares import Share, shares
from kubeproof.controllers.scheduler.pod import IncomingPod
from kubeproof.controllers.scheduler.protocol import (
    MAX_NODE_SCORE,
    Judging,
    NodeView,
    Rejection,
    Usage,
    declare_filter,
    divide_truncating,
    round_half_away,
)
from kubeproof.controllers.scheduler.requests import NATIVE, allocatable, incoming_requests, pod_requests
from kubeproof.errors import InternalError

UNRESOLVABLE_SINCE = versions.UNRESOLVABLE.since
ZERO_REQUEST_FITS_SINCE = versions.ZERO_REQUEST_FITS.since
SHAPE_SCORE_FACTOR = 10  # shape points score 0 to 10, nodes 0 to 100

Shape = tuple[tuple[int, int], ...]


class FitFilter:
    """Mirrors the filter of `plugins/noderesources` (fit.go): true requests against allocatable."""

    def __init__(self, pod: IncomingPod) -> None:
        self._requests = dict(pod_requests(pod.template, pod.version).true)
        self._checked = _list_checked(self._requests, pod.version)
        self._tells_unresolvable = pod.version >= UNRESOLVABLE_SINCE

    def reject(self, view: NodeView) -> Rejection | None:
        if not view.node.sizes:
            return self._rejection(view.node.pods, view.allocatable, view.usage)

        def reject_size(node: Node) -> Rejection | None:
            return self._rejection(node.pods, allocatable(node), view.usage)

        return agree_monotone(view.node, reject_size)

    def _rejection(self, pods: int, offered: Mapping[str, int], usage: Usage) -> Rejection | None:
        reasons = ["Too many pods"] if usage.pods + 1 > pods else []
        unresolvable = False
        for name in self._checked:
            request, taken = self._requests.get(name, 0), usage.requested.get(name, 0)
            if not request and not taken:
                continue  # it fits whatever the node offers
            capacity = offered.get(name, 0)
            if request > capacity - taken:
                reasons.append(f"Insufficient {name}")
                unresolvable |= self._tells_unresolvable and request > capacity
        return Rejection(", ".join(reasons), unresolvable) if reasons else None

    def explain(self, view: NodeView) -> str:
        """What is asked for and what is free, for every resource that does not suffice."""
        parts = []
        if view.usage.pods + 1 > view.node.pods:
            parts.append(f"{view.usage.pods} of {view.node.pods} pods")
        for name in self._checked:
            request, taken = self._requests.get(name, 0), view.usage.requested.get(name, 0)
            if not request and not taken:
                continue
            capacity = view.allocatable.get(name, 0)
            free = capacity - taken
            if request > free:
                asked, left, whole = (write_amount(name, amount) for amount in (request, free, capacity))
                parts.append(f"{name}: {asked} asked for, {left} of {whole} free")
        return "; ".join(parts)


def _list_checked(requests: dict[str, int], version: tuple[int, int]) -> tuple[str, ...]:
    """The resources that the filter compares, in upstream's order; none for a pod that requests nothing."""
    scalars = sorted(requests.keys() - set(NATIVE))
    if not scalars and not any(requests.values()):
        return ()
    natives = [name for name in NATIVE if requests.get(name) or version < ZERO_REQUEST_FITS_SINCE]
    return (*natives, *(name for name in scalars if requests[name]))


class FitScore:
    """Mirrors the scoring strategies of `plugins/noderesources`, same in all versions.

    Containers that omit cpu or memory count as 100m and 200 MiB here (not in the filter).
    """

    normalises = False

    def __init__(self, pod: IncomingPod, strategy: Callable[[list[Share]], int]) -> None:
        self._incoming = incoming_requests(pod.template, pod.version).scored
        self._resources = pod.profile.fit_resources
        self._strategy = strategy

    def score(self, view: NodeView) -> int:
        return self._strategy(shares(self._resources, self._incoming, view.usage.scored, view.allocatable))

    def normalise(self, scores: list[int]) -> list[int]:
        return scores


def least_allocated(compared: list[Share]) -> int:
    """The weighted mean of the free parts, in percent; 0 for a resource that would be over-committed."""
    weights = sum(share.weight for share in compared)
    if weights == 0:
        return 0
    free = ((max(0, s.capacity - s.requested) * MAX_NODE_SCORE // s.capacity) * s.weight for s in compared)
    return sum(free) // weights


def most_allocated(compared: list[Share]) -> int:
    """The weighted mean of the used parts, in percent, at most 100 each."""
    weights = sum(share.weight for share in compared)
    if weights == 0:
        return 0
    used = ((min(s.requested, s.capacity) * MAX_NODE_SCORE // s.capacity) * s.weight for s in compared)
    return sum(used) // weights


def score_requested_to_capacity(compared: list[Share], shape: Shape) -> int:
    """The weighted mean of the shape's values at each utilisation; resources that score 0 do not count."""
    total = weights = 0
    for share in compared:
        score = interpolate(shape, min(share.requested, share.capacity) * 100 // share.capacity)
        if score > 0:
            total += score * share.weight
            weights += share.weight
    return round_half_away(total / weights) if weights else 0


def interpolate(shape: Shape, utilisation: int) -> int:
    """The value of the line through the points, flat outside of them, in truncating integer arithmetic."""
    if utilisation <= shape[0][0]:
        return shape[0][1]
    for (left, low), (right, high) in pairwise(shape):
        if utilisation <= right:
            return low + divide_truncating((high - low) * (utilisation - left), right - left)
    return shape[-1][1]


@declare_filter(
    Judging.ROOM,
    change="make room for {ref} on a node ({details}), add a node, or let it request less",
    field="containers",
)
def build_filter(pod: IncomingPod) -> FitFilter:
    """The filter; there is always one, as the number of pods is limited."""
    return FitFilter(pod)


def build_score(pod: IncomingPod) -> FitScore:
    """The score with the profile's strategy."""
    profile = pod.profile
    if profile.fit_strategy == "MostAllocated":
        return FitScore(pod, most_allocated)
    if profile.fit_strategy == "RequestedToCapacityRatio":
        if not profile.fit_shape:
            raise InternalError("E700 RequestedToCapacityRatio without shape points was not refused")
        shape = tuple((utilisation, score * SHAPE_SCORE_FACTOR) for utilisation, score in profile.fit_shape)
        return FitScore(pod, lambda compared: score_requested_to_capacity(compared, shape))
    return FitScore(pod, least_allocated)
