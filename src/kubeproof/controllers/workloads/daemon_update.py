"""Rolling updates of a DaemonSet: which old pods may go, and where new ones come first.

Mirrors `rollingUpdate` of `pkg/controller/daemon/update.go`. Upstream goes through the nodes in random order, so where
a limit leaves a choice every choice is possible. v1.26 does not count old pods that are unavailable anyway.
"""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.cluster.api import versions
from kubeproof.cluster.nodes.daemons import Eligibility
from kubeproof.cluster.objects import Strategy
from kubeproof.controllers.workloads.daemon_nodes import DaemonPod, filter_counted
from kubeproof.named_tuples import NamedTuple

OLD_UNAVAILABLE_COUNT_SINCE = versions.OLD_UNAVAILABLE_COUNT.since


class NodePods(NamedTuple):
    """Equal nodes: whether pods should run there, what is there, and how many such nodes there are."""

    where: Eligibility
    pods: tuple[DaemonPod, ...]
    nodes: int = 1


class Update(NamedTuple):
    """What an update does, by number of the group of nodes."""

    deletes: tuple[int, ...] = ()  # the old pod goes on all nodes of these groups
    creates: tuple[int, ...] = ()  # a new pod comes beside the old one on all nodes of these groups
    candidates: tuple[int, ...] = ()  # of the nodes of these groups any `chosen` lose their old pod, or get a new one
    chosen: int = 0
    sunset: tuple[int, ...] = ()  # of the nodes of these groups, where pods should not run, any `removed` lose theirs
    removed: int = 0


class Limits(NamedTuple):
    """What an update must respect."""

    surge: int
    unavailable: int
    desired: int  # nodes where pods should run


def limits_of(strategy: Strategy, desired: int) -> Limits:
    """The limits for so many nodes: percentages round up; one may be missing if both are 0."""

    def amount(number: int, percent: bool) -> int:
        return -(-number * desired // 100) if percent else number

    surge = amount(strategy.max_surge, strategy.surge_percent)
    unavailable = amount(strategy.max_unavailable, strategy.unavailable_percent)
    return Limits(surge, 1 if desired and not surge and not unavailable else unavailable, desired)


def surges(strategy: Strategy) -> bool:
    """True if new pods come beside old ones."""
    return strategy.rolling and strategy.max_surge > 0


def update(groups: Sequence[NodePods], strategy: Strategy, version: tuple[int, int]) -> Update:
    """What a sync of the update does; nothing with OnDelete."""
    if not strategy.rolling:
        return Update()
    desired = sum(group.nodes for group in groups if group.where.should_run)
    limits = limits_of(strategy, desired)
    looked_at = [
        (index, group) for index, group in enumerate(groups) if group.where.should_run or filter_counted(group.pods)
    ]
    if limits.surge == 0:
        return _replacing(looked_at, limits.unavailable, version)
    return _surging(looked_at, limits)


def old_and_new(pods: Sequence[DaemonPod]) -> tuple[list[DaemonPod], list[DaemonPod]]:
    """The pods of a node without deletionTimestamp, old ones and those of the template asked for."""
    staying = [pod for pod in filter_counted(pods) if not pod.is_ending]
    return [pod for pod in staying if not pod.is_new], [pod for pod in staying if pod.is_new]


def _replacing(groups: list[tuple[int, NodePods]], most: int, version: tuple[int, int]) -> Update:
    """Old pods go first; their nodes get new ones when they are gone."""
    unavailable, replaced, candidates, available = 0, [], [], 0
    for index, group in groups:
        old, new = old_and_new(group.pods)
        if len(old) + len(new) != 1:  # none, one of each, or too many: other work comes first
            unavailable += group.nodes
        elif new:
            unavailable += 0 if new[0].is_available else group.nodes
        elif not old[0].is_available:
            replaced.append(index)
            unavailable += group.nodes if version >= OLD_UNAVAILABLE_COUNT_SINCE else 0
        else:
            candidates.append(index)
            available += group.nodes
    chosen = min(available, max(0, most - unavailable))
    return Update(deletes=tuple(replaced), candidates=tuple(candidates), chosen=chosen)


def _surging(groups: list[tuple[int, NodePods]], limits: Limits) -> Update:
    """New pods come first; old ones go when the new one beside them is available."""
    surging = available = sunset_nodes = candidate_nodes = 0
    deletes: list[int] = []
    creates: list[int] = []
    candidates, sunset = [], []
    for index, group in groups:
        old, new = old_and_new(group.pods)
        if len(old) > 1 or len(new) > 1:
            surging += group.nodes
            continue
        available += group.nodes if any(pod.is_available for pod in old or new) else 0
        if old and new:
            deletes += [index] if new[0].is_available else []
            surging += 0 if new[0].is_available else group.nodes
        elif old and not old[0].is_available:
            (creates if group.where.should_run else deletes).append(index)
        elif old and group.where.should_run:
            candidates.append(index)
            candidate_nodes += group.nodes
        elif old:
            sunset.append(index)
            sunset_nodes += group.nodes
    return Update(
        tuple(deletes),
        tuple(creates),
        tuple(candidates),
        min(candidate_nodes, max(0, limits.surge - surging)),
        tuple(sunset),
        min(sunset_nodes, max(0, available - limits.desired)),
    )
