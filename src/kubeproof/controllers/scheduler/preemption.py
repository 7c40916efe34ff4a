"""DefaultPreemption: which pods of which node make room for a pod that fits nowhere.

Mirrors `pkg/scheduler/framework/plugins/defaultpreemption` and `pkg/scheduler/framework/preemption`. On every node that
filters refuse but removals might open, all pods of lower priority are taken away, then given back one by one, those
whose removal breaks a disruption budget first, each group by importance; who no longer fits beside the new pod is
a victim. Of the nodes that with the least harm is taken. Nothing here looks at scores.

Importance is priority, then age. Where ages are not known, pods of equal priority come in any order, and all outcomes
are given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from kubeproof.cluster.api import versions
from kubeproof.errors import LimitReached
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

SORTED_AGAIN_SINCE = versions.SORTED_AGAIN.since
ONE_BUDGET_PER_POD_SINCE = versions.ONE_BUDGET_PER_POD.since
SHIFT = 1 << 31  # added to every priority, so that each further victim makes a node worse
MOST_WAYS = 20_000


class Pod(NamedTuple):
    """Equal pods of a node that may be preempted."""

    workload: int
    terminating: bool
    priority: int
    budgets: tuple[int, ...] = ()  # those that select it; an empty selector selects nothing here
    started_s: int | None = None  # None: not known


Counts = tuple[int, ...]  # pods by position in a list of `Pod`
Walk = TypeVar("Walk", bound=tuple[Counts, ...])
Fits = Callable[[Counts], bool]  # whether the new pod fits beside so many of each that stay


class Victims(NamedTuple):
    """What one node would lose."""

    harm: tuple[int, ...]  # less is taken first; see `_harm`
    lost: Counts
    broken: Counts  # of these, pods that a disruption budget would have kept

    @property
    def violations(self) -> int:
        return sum(self.broken)


@dataclass(frozen=True, slots=True)
class DryRun:
    """The preemption on one node: its potential victims, and what its budgets still allow."""

    pods: tuple[Pod, ...]  # distinct ones of lower priority than the new pod's
    counts: Counts
    allowed: Counts  # disruptionsAllowed by budget
    fits: Fits
    version: tuple[int, int]

    def outcomes(self) -> frozenset[Victims]:
        """All ways it may end; empty if the new pod does not fit even without them."""
        if not self.pods or not self.fits((0,) * len(self.pods)):
            return frozenset()
        found = {
            self._victims(_minus(self.counts, kept), _minus(violating, spared))
            for violating in self._splits()
            for spared, kept in self._reprieve(violating)
            if kept != self.counts
        }
        return frozenset(found)

    # -- importance -----------------------------------------------------------------------------

    def _tiers(self) -> list[list[int]]:
        """Positions by importance: priority, then age; what is equal, or of unknown age, is together."""
        ranks: dict[tuple[int, int], list[int]] = {}
        for position, pod in enumerate(self.pods):
            ranks.setdefault((-pod.priority, pod.started_s or 0), []).append(position)
        return [ranks[rank] for rank in sorted(ranks)]

    # -- budgets --------------------------------------------------------------------------------

    def _splits(self) -> set[Counts]:
        """How many pods of each kind break a budget, for every order of importance.

        A pod that breaks one may as well come after those that do not: then it still does, and they still do not.
        So who breaks budgets and the order within each group are independent.
        """
        states = {((0,) * len(self.pods), self.allowed)}
        for tier in self._tiers():
            left = tuple(count if position in tier else 0 for position, count in enumerate(self.counts))
            walks = {(left, violating, allowed) for violating, allowed in states}
            states = {(violating, allowed) for _, violating, allowed in _closure(walks, self._walk)}
        return {violating for violating, _ in states}

    def _walk(self, state: tuple[Counts, Counts, Counts]) -> Iterator[tuple[Counts, Counts, Counts]]:
        left, violating, allowed = state
        for position, count in enumerate(left):
            if count:
                charged, is_broken = self._charge(allowed, self.pods[position].budgets)
                yield _plus(left, position, -1), _plus(violating, position, int(is_broken)), charged

    def _charge(self, allowed: Counts, budgets: tuple[int, ...]) -> tuple[Counts, bool]:
        is_broken = False
        for budget in budgets:
            if is_broken and self.version >= ONE_BUDGET_PER_POD_SINCE:
                break
            allowed = _plus(allowed, budget, -1)
            is_broken = is_broken or allowed[budget] < 0
        return allowed, is_broken

    # -- reprieve -------------------------------------------------------------------------------

    def _reprieve(self, violating: Counts) -> set[tuple[Counts, Counts]]:
        """How many pods of each kind stay, first of those that break budgets, then of all, for every order."""
        spared = self._keep((0,) * len(self.pods), violating)
        others = _minus(self.counts, violating)
        return {(first, kept) for first in spared for kept in self._keep(first, others)}

    def _keep(self, before: Counts, group: Counts) -> set[Counts]:
        """Who stays when the pods of a group are given back one by one."""
        kept = {before}
        for tier in self._tiers():
            left = tuple(count if position in tier else 0 for position, count in enumerate(group))
            walks = {(left, stay) for stay in kept}
            kept = {stay for _, stay in _closure(walks, self._give_back)}
        return kept

    def _give_back(self, state: tuple[Counts, Counts]) -> Iterator[tuple[Counts, Counts]]:
        left, kept = state
        for position, count in enumerate(left):
            if count:
                more = _plus(kept, position, 1)
                yield _plus(left, position, -1), more if self.fits(more) else kept

    # -- harm -----------------------------------------------------------------------------------

    def _victims(self, lost: Counts, broken: Counts) -> Victims:
        return Victims(self._harm(lost, broken), lost, broken)

    def _harm(self, lost: Counts, broken: Counts) -> tuple[int, ...]:
        """Violations, highest priority of a victim, sum of priorities, number, and how early the oldest began."""
        gone = [pod for pod, count in zip(self.pods, lost, strict=True) if count]
        first = gone
        if self.version < SORTED_AGAIN_SINCE and any(broken):
            first = [pod for pod, count in zip(self.pods, broken, strict=True) if count]
        weight = sum((pod.priority + SHIFT) * count for pod, count in zip(self.pods, lost, strict=True))
        top = max(pod.priority for pod in gone)
        oldest = min(pod.started_s or 0 for pod in gone if pod.priority == top)
        return sum(broken), max(pod.priority for pod in first), weight, sum(lost), -oldest


def _closure(states: set[Walk], following: Callable[[Walk], Iterator[Walk]]) -> set[Walk]:
    """The states in which nothing is left to walk through; the first part of a state says what is."""
    while any(any(state[0]) for state in states):
        states = {after for state in states for after in following(state)}
        if len(states) > MOST_WAYS:
            raise LimitReached(f"more than {MOST_WAYS} ways to choose the victims of one preemption")
    return states


def _plus(counts: Counts, position: int, amount: int) -> Counts:
    return (*counts[:position], counts[position] + amount, *counts[position + 1 :]) if amount else counts


def _minus(counts: Counts, others: Counts) -> Counts:
    return tuple(count - other for count, other in zip(counts, others, strict=True))


def choosable(candidates: Sequence[frozenset[Victims]]) -> list[list[Victims]]:
    """Per node the outcomes with which it may be taken: those that no other node surely undercuts.

    Nodes with equal harm are taken at random, and where ages are unknown any of them may be the best.
    """
    worst = [max(one.harm for one in outcomes) for outcomes in candidates if outcomes]
    bound = min(worst, default=())
    return [sorted(one for one in outcomes if one.harm <= bound) for outcomes in candidates]
