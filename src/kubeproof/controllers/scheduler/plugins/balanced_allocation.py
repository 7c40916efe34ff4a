"""NodeResourcesBalancedAllocation: prefers nodes whose resources are used in equal parts."""

from __future__ import annotations

import math

from kubeproof.cluster.api import versions
from kubeproof.controllers.scheduler.plugins.resource_shares import shares
from kubeproof.controllers.scheduler.pod import IncomingPod
from kubeproof.controllers.scheduler.protocol import MAX_NODE_SCORE, NodeView
from kubeproof.controllers.scheduler.requests import incoming_requests

SKIPS_BEST_EFFORT_SINCE = versions.SKIPS_BEST_EFFORT.since
RELATIVE_SINCE = versions.RELATIVE.since
HALF = MAX_NODE_SCORE // 2


class BalancedAllocation:
    """Mirrors `plugins/noderesources` (balanced_allocation.go), on true requests, weights unused.

    Up to 1.35 the score is the balance with the pod. Since 1.36 it is 75 plus half of what the pod improves.
    """

    normalises = False

    def __init__(self, pod: IncomingPod) -> None:
        self._incoming = incoming_requests(pod.template, pod.version).true
        self._resources = tuple((name, 1) for name in pod.profile.balanced_resources)
        self._relative = pod.version >= RELATIVE_SINCE

    def score(self, view: NodeView) -> int:
        compared = shares(self._resources, self._incoming, view.usage.requested, view.allocatable)
        with_pod = balance([(share.requested, share.capacity) for share in compared])
        if not self._relative:
            return with_pod
        without_pod = balance([(share.allocated, share.capacity) for share in compared])
        return HALF + (HALF + with_pod - without_pod) // 2

    def normalise(self, scores: list[int]) -> list[int]:
        return scores


def balance(used: list[tuple[int, int]]) -> int:
    """100 times one minus the standard deviation of the used fractions, in upstream's float steps."""
    fractions = [min(1.0, float(requested) / float(capacity)) for requested, capacity in used]
    return int((1 - _deviation(fractions)) * float(MAX_NODE_SCORE))


def _deviation(fractions: list[float]) -> float:
    """The population standard deviation; upstream's short form for two values, 0 for fewer."""
    if len(fractions) < 2:
        return 0.0
    if len(fractions) == 2:
        return abs((fractions[0] - fractions[1]) / 2)
    total = squares = 0.0
    for fraction in fractions:  # plain sums: the built-in sum() compensates rounding errors, Go does not
        total += fraction
    mean = total / len(fractions)
    for fraction in fractions:
        squares += (fraction - mean) * (fraction - mean)
    return math.sqrt(squares / len(fractions))


def build_score(pod: IncomingPod) -> BalancedAllocation | None:
    """The score, or None (upstream's Skip since 1.33) for a pod that requests none of the resources."""
    requests = incoming_requests(pod.template, pod.version).true
    requests_nothing = not any(requests.get(name) for name in pod.profile.balanced_resources)
    if requests_nothing and pod.version >= SKIPS_BEST_EFFORT_SINCE:
        return None
    return BalancedAllocation(pod)
