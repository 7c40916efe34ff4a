"""One sync of a StatefulSet: which ordinals it creates and deletes.

Mirrors `updateStatefulSet` of `pkg/controller/statefulset/stateful_set_control.go`. OrderedReady goes through the
ordinals upwards and stops at the first that is not there, not ready or still ending; surplus ordinals go from the
top, one at a time; an update is reached only when nothing of that is left. So a broken revision blocks its own
rollback. A pod that ends keeps its ordinal until its object is gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubeproof.cluster.api import versions
from kubeproof.cluster.objects import StatefulRules
from kubeproof.named_tuples import NamedTuple

FAILED, SUCCEEDED, PENDING, RUNNING = "Failed", "Succeeded", "Pending", "Running"

MAX_UNAVAILABLE_SINCE = versions.MAX_UNAVAILABLE.since
AVAILABILITY_SINCE = versions.AVAILABILITY.since
LATER_REPLACEMENT_SINCE = versions.LATER_REPLACEMENT.since
BATCHES_SINCE = versions.BATCHES.since
MOST_IN_A_BATCH = 500


class Replica(NamedTuple):
    """A pod of a StatefulSet."""

    is_new: bool  # of the revision that the StatefulSet asks for
    phase: str = RUNNING
    is_ready: bool = False
    is_available: bool = False  # ready for minReadySeconds
    is_ending: bool = False

    @property
    def is_running_and_ready(self) -> bool:
        return self.phase == RUNNING and self.is_ready


class Sync(NamedTuple):
    """What one sync does; of a created ordinal, whether it is of the revision asked for."""

    creates: tuple[tuple[int, bool], ...] = ()
    deletes: tuple[int, ...] = ()


Pods = Mapping[int, Replica]  # by ordinal


class _Round:
    """A sync under way."""

    def __init__(self, rules: StatefulRules, replicas: int, pods: Pods, version: tuple[int, int]) -> None:
        self.rules, self.version = rules, version
        self.ordinals = range(rules.start, rules.start + replicas)
        self.pods = dict(pods)
        self.creates: list[tuple[int, bool]] = []
        self.deletes: list[int] = []

    @property
    def condemned(self) -> list[int]:
        """Ordinals out of range, the highest first."""
        return sorted((ordinal for ordinal in self.pods if ordinal not in self.ordinals), reverse=True)

    def create(self, ordinal: int) -> None:
        """The ordinal at its revision: below the partition the one that was there before the update."""
        rules = self.rules
        is_new = not rules.rolling or ordinal >= rules.start + rules.partition
        self.creates.append((ordinal, is_new))
        self.pods[ordinal] = Replica(is_new, PENDING)

    def delete(self, ordinal: int) -> None:
        self.deletes.append(ordinal)

    def is_unavailable(self, ordinal: int) -> bool:
        """True if the pod is missing, ending, or not available; before 1.27 readiness is enough."""
        pod = self.pods.get(ordinal)
        if pod is None or pod.is_ending:
            return True
        if self.version < AVAILABILITY_SINCE:
            return not pod.is_running_and_ready
        return not pod.is_available

    def is_at_rest(self, ordinal: int) -> bool:
        """True if OrderedReady may go on to the next ordinal."""
        pod = self.pods[ordinal]
        return pod.is_running_and_ready and pod.is_available and not pod.is_ending

    def end(self) -> Sync:
        return Sync(tuple(self.creates), tuple(dict.fromkeys(self.deletes)))


def sync(rules: StatefulRules, replicas: int, pods: Pods, version: tuple[int, int]) -> Sync:
    """What a sync does with the pods as they are."""
    work = _Round(rules, replicas, pods, version)
    first_unhealthy = _first_unhealthy(work)
    if _keeps(work) and _scales_down(work, first_unhealthy) and rules.rolling:
        for ordinal in list(_choose_updated(work)):
            work.delete(ordinal)
    return work.end()


def next_batch(rules: StatefulRules, missing: tuple[int, ...], version: tuple[int, int]) -> tuple[int, ...]:
    """The missing ordinals that are asked for together next; if one of them is refused, no later one is asked for.

    Parallel takes the first ordinal, the next two, the next four, and so on; what is refused is tried from the start.
    """
    lowest = min(missing)
    if not rules.parallel or version < BATCHES_SINCE:
        return (lowest,)
    first, size = rules.start, 1
    while first + size <= lowest:
        first, size = first + size, min(2 * size, MOST_IN_A_BATCH)
    return tuple(ordinal for ordinal in missing if ordinal < first + size)


def _first_unhealthy(work: _Round) -> int | None:
    """The lowest ordinal in range that is unavailable, otherwise the lowest out of range."""
    everybody = (*work.ordinals, *reversed(work.condemned))
    return next((ordinal for ordinal in everybody if work.is_unavailable(ordinal)), None)


def _keeps(work: _Round) -> bool:
    """Creates what is missing and replaces what has finished; True if the sync goes on."""
    return all(_keeps_one(work, ordinal) or work.rules.parallel for ordinal in work.ordinals)


def _keeps_one(work: _Round, ordinal: int) -> bool:
    pod = work.pods.get(ordinal)
    if pod is not None and pod.phase in _list_finished_phases(work.version):
        if not pod.is_ending or work.version < LATER_REPLACEMENT_SINCE:
            work.delete(ordinal)
        if work.version >= LATER_REPLACEMENT_SINCE:
            return False
        pod = None
    if pod is None:
        work.create(ordinal)
        return False
    return work.is_at_rest(ordinal)


def _list_finished_phases(version: tuple[int, int]) -> tuple[str, ...]:
    return (FAILED, SUCCEEDED) if version >= LATER_REPLACEMENT_SINCE else (FAILED,)


def _scales_down(work: _Round, first_unhealthy: int | None) -> bool:
    """Deletes ordinals out of range; True if the sync goes on."""
    for ordinal in work.condemned:
        pod = work.pods[ordinal]
        if work.rules.parallel:
            if not pod.is_ending:
                work.delete(ordinal)
            continue
        may_go = work.is_at_rest(ordinal) or (not pod.is_ending and ordinal == first_unhealthy)
        if may_go:
            work.delete(ordinal)
        return False
    return True


# -- updates ----------------------------------------------------------------------------------------


def _choose_updated(work: _Round) -> Iterator[int]:
    """The ordinals that make way for the revision asked for, from the top."""
    targets = [ordinal for ordinal in reversed(work.ordinals) if ordinal >= work.rules.start + work.rules.partition]
    if work.version < MAX_UNAVAILABLE_SINCE:
        yield from _one_by_one(work, targets)
        return
    unavailable = [ordinal for ordinal in work.ordinals if work.is_unavailable(ordinal)]
    left = _most_unavailable(work) - len(unavailable)
    old = [ordinal for ordinal in targets if not work.pods[ordinal].is_new and not work.pods[ordinal].is_ending]
    if work.rules.parallel:
        yield from _in_parallel(work, old, left)
    else:
        yield from old[: max(0, left)]


def _most_unavailable(work: _Round) -> int:
    """maxUnavailable: percentages round down, at least 1."""
    number, percent = work.rules.max_unavailable
    return max(1, number * len(work.ordinals) // 100 if percent else number)


def _one_by_one(work: _Round, targets: list[int]) -> Iterator[int]:
    for ordinal in targets:
        pod = work.pods[ordinal]
        if not pod.is_new and not pod.is_ending:
            yield ordinal
            return
        if work.is_unavailable(ordinal):
            return


def _in_parallel(work: _Round, old: list[int], left: int) -> Iterator[int]:
    """Old pods that are unavailable anyway, then as many others as the limit leaves."""
    yield from (ordinal for ordinal in old if work.is_unavailable(ordinal) or work.pods[ordinal].phase != RUNNING)
    available = [ordinal for ordinal in old if not work.is_unavailable(ordinal)]
    yield from available[: max(0, left)]
