"""TaintToleration: untolerated NoSchedule and NoExecute taints refuse, PreferNoSchedule taints cost score."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.api import versions
from kubeproof.cluster.labels import NO_EXECUTE, NO_SCHEDULE, PREFER_NO_SCHEDULE, Taint, Toleration
from kubeproof.controllers.scheduler.pod import IncomingPod
from kubeproof.controllers.scheduler.protocol import (
    Judging,
    NodeView,
    Rejection,
    declare_filter,
    normalise_by_maximum,
    of_nodes,
)

TAINT_NOT_NAMED_SINCE = versions.TAINT_NOT_NAMED.since


def find_untolerated(
    taints: tuple[Taint, ...], tolerations: tuple[Toleration, ...], effects: tuple[str, ...]
) -> Iterator[Taint]:
    """The taints of these effects that no toleration covers, in the node's order."""
    for taint in taints:
        if taint.effect in effects and not any(t.tolerates(taint) for t in tolerations):
            yield taint


def keeps_pods_off(taints: tuple[Taint, ...], tolerations: tuple[Toleration, ...]) -> bool:
    """True if a NoSchedule or NoExecute taint is not tolerated."""
    return any(True for _ in find_untolerated(taints, tolerations, (NO_SCHEDULE, NO_EXECUTE)))


class TaintFilter:
    """Mirrors the filter of `plugins/tainttoleration`; up to 1.34 the reason names the first taint."""

    def __init__(self, tolerations: tuple[Toleration, ...], version: tuple[int, int]) -> None:
        self._tolerations = tolerations
        self._names_taint = version < TAINT_NOT_NAMED_SINCE

    def reject(self, view: NodeView) -> Rejection | None:
        for taint in find_untolerated(view.taints, self._tolerations, (NO_SCHEDULE, NO_EXECUTE)):
            which = f"taint {{{taint.key}: {taint.value}}}" if self._names_taint else "taint(s)"
            return of_nodes(f"had untolerated {which}", unresolvable=True)
        return None


class TaintScore:
    """Mirrors the score of `plugins/tainttoleration`, same in all versions.

    The fewer untolerated PreferNoSchedule taints the better: the worst node gets 0; without any all get 100.
    """

    normalises = True

    def __init__(self, tolerations: tuple[Toleration, ...]) -> None:
        self._tolerations = tolerations

    def score(self, view: NodeView) -> int:
        # Upstream first drops tolerations of other effects; they never cover a PreferNoSchedule taint anyway.
        return sum(1 for _ in find_untolerated(view.taints, self._tolerations, (PREFER_NO_SCHEDULE,)))

    def normalise(self, scores: list[int]) -> list[int]:
        return normalise_by_maximum(scores, reverse=True)


@declare_filter(
    Judging.NODE,
    change="let {ref} tolerate the taints of {nodes} ({details}), or add a node without them",
    field="tolerations",
)
def build_filter(pod: IncomingPod) -> TaintFilter:
    """The filter; there is always one."""
    return TaintFilter(pod.template.tolerations, pod.version)


def build_score(pod: IncomingPod) -> TaintScore:
    """The score; there is always one."""
    return TaintScore(pod.template.tolerations)
