"""PodTopologySpread: hard constraints refuse nodes of crowded domains, soft ones prefer the others.

Mirrors `plugins/podtopologyspread` (filtering.go, scoring.go). In a group of n nodes
every node of the group is a domain of its own for a key that is unique to a node, and adds to the shared
domain otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kubeproof.cluster.objects import HOSTNAME, PodTemplate
from kubeproof.controllers.scheduler.plugins.spread_constraints import (
    Constraint,
    constraints_of,
    requires_all_keys,
)
from kubeproof.controllers.scheduler.pod import IncomingPod
from kubeproof.controllers.scheduler.protocol import (
    MAX_NODE_SCORE,
    Advice,
    Judging,
    NodeView,
    Refused,
    Rejection,
    declare_filter,
    of_nodes,
    round_half_away,
)
from kubeproof.named_tuples import NamedTuple

SKEWED = of_nodes("didn't match pod topology spread constraints", unresolvable=False)
NO_LABEL = of_nodes("didn't match pod topology spread constraints (missing required label)", unresolvable=True)
NO_DOMAIN_MINIMUM = 2**31 - 1  # upstream's minimum over no domain; matters before minDomains (1.27) only
IGNORED = -1  # score of a node that lacks a topology key


class Domain(NamedTuple):
    """What one constraint finds on one node."""

    value: str | None  # of the topology key
    pods: int  # that match on this node
    is_counted: bool  # the node takes part in counting


class Limit(NamedTuple):
    """How many matching pods a domain may have already, and how many each has (None: see the node itself)."""

    most: int
    matches: dict[str, int] | None


class SpreadFilter:
    """The hard constraints: pods in the domain, plus this one, minus the emptiest domain, at most maxSkew."""

    def __init__(self, pod: IncomingPod, constraints: tuple[Constraint, ...]) -> None:
        self._template = pod.template
        self._constraints = constraints

    def observe(self, view: NodeView) -> tuple[Domain, ...]:
        # A node that lacks a key is not counted for any constraint.
        has_all_keys = all(constraint.key in view.labels for constraint in self._constraints)
        return tuple(_domain(c, self._template, view, may_count=has_all_keys) for c in self._constraints)

    def prefilter(self, facts: Sequence[tuple[Domain, ...]], counts: Sequence[int]) -> list[Limit]:
        return [
            self._limit(constraint, [fact[index] for fact in facts], counts)
            for index, constraint in enumerate(self._constraints)
        ]

    def _limit(self, constraint: Constraint, domains: list[Domain], counts: Sequence[int]) -> Limit:
        """The constraint's bound: maxSkew plus the smallest domain (0 if there are fewer than minDomains)."""
        matches: dict[str, int] | None = None
        if constraint.one_node_each:
            per_node = [domain.pods for domain in domains if domain.is_counted]
            smallest = min(per_node, default=NO_DOMAIN_MINIMUM)
            number = sum(n for domain, n in zip(domains, counts, strict=True) if domain.is_counted)
        else:
            matches = _pods_per_value(domains, counts)
            smallest = min(matches.values(), default=NO_DOMAIN_MINIMUM)
            number = len(matches)
        if number < constraint.min_domains:
            smallest = 0
        return Limit(constraint.max_skew + smallest - constraint.matches_self, matches)

    def reject(self, state: list[Limit], fact: tuple[Domain, ...]) -> Rejection | None:
        for limit, domain in zip(state, fact, strict=True):
            if domain.value is None:
                return NO_LABEL
            if limit.matches is not None:
                present = limit.matches.get(domain.value, 0)
            else:
                present = domain.pods if domain.is_counted else 0
            if present > limit.most:
                return SKEWED
        return None

    def explain(self, state: list[Limit], fact: tuple[Domain, ...]) -> str:
        """The arithmetic of every constraint that the node breaks."""
        parts = []
        for constraint, limit, domain in zip(self._constraints, state, fact, strict=True):
            if domain.value is None:
                parts.append(f"no label {constraint.key}")
                continue
            present = domain.pods if limit.matches is None else limit.matches.get(domain.value, 0)
            if limit.matches is None and not domain.is_counted:
                present = 0
            if present > limit.most:
                least = limit.most + constraint.matches_self - constraint.max_skew
                skew = present + constraint.matches_self - least
                parts.append(
                    f"{constraint.key}={domain.value}: {present} there + {int(constraint.matches_self)} new - {least} "
                    f"in the emptiest domain = {skew} > maxSkew {constraint.max_skew}"
                )
        return "; ".join(parts)


class Weighing(NamedTuple):
    """One soft constraint when scoring: a pod's weight, a constant, pods per domain (None: see the node)."""

    weight: float
    offset: float
    matches: dict[str, int] | None
    counts_every_node: bool  # hostname: inclusion policies do not matter


class SpreadScore:
    """The soft constraints: the fewer matching pods in the node's domains the better.

    Under System defaults a node without the zone label is scored by hostname only, and so looks better.
    """

    def __init__(self, pod: IncomingPod, constraints: tuple[Constraint, ...]) -> None:
        self._template = pod.template
        self._constraints = constraints
        self._needs_all_keys = requires_all_keys(pod)

    def observe(self, view: NodeView) -> tuple[Domain, ...]:
        """One domain per constraint; empty for a node that is ignored for lack of a key."""
        if self._needs_all_keys and any(c.key not in view.labels for c in self._constraints):
            return ()
        return tuple(_domain(c, self._template, view, may_count=True) for c in self._constraints)

    def prescore(
        self, facts: Sequence[tuple[Domain, ...]], counts: Sequence[int], feasible: Sequence[int]
    ) -> list[Weighing]:
        seen = [(fact, n) for fact, n in zip(facts, counts, strict=True) if fact]
        scored = [(facts[i], counts[i]) for i in feasible if facts[i]]
        return [self._weigh(index, seen, scored) for index in range(len(self._constraints))]

    def _weigh(
        self,
        index: int,
        seen: list[tuple[tuple[Domain, ...], int]],
        scored: list[tuple[tuple[Domain, ...], int]],
    ) -> Weighing:
        """Weights grow with the logarithm of the number of domains among the feasible nodes."""
        constraint = self._constraints[index]
        matches: dict[str, int] | None = None
        if constraint.key == HOSTNAME:
            size = sum(n for _, n in scored)
        elif constraint.one_node_each:
            size = sum(n for fact, n in scored if fact[index].value is not None)
            size += any(fact[index].value is None for fact, _ in scored)
        else:
            # Upstream files nodes without the key under the empty value.
            matches = dict.fromkeys((fact[index].value or "" for fact, _ in scored), 0)
            size = len(matches)
            for fact, n in seen:
                domain = fact[index]
                value = domain.value or ""
                if domain.is_counted and value in matches:
                    matches[value] += domain.pods * n
        return Weighing(math.log(size + 2), float(constraint.max_skew - 1), matches, constraint.key == HOSTNAME)

    def score(self, state: list[Weighing], fact: tuple[Domain, ...]) -> int:
        if not fact:
            return IGNORED
        score = 0.0
        for weighing, domain in zip(state, fact, strict=True):
            if domain.value is None:
                continue
            if weighing.matches is not None:
                present = weighing.matches[domain.value]
            else:
                present = domain.pods if domain.is_counted or weighing.counts_every_node else 0
            score += present * weighing.weight + weighing.offset
        return round_half_away(score)

    def normalise(self, scores: list[int]) -> list[int]:
        """100 for the emptiest domains; 0 for ignored nodes."""
        valid = [score for score in scores if score != IGNORED]
        largest, smallest = max(valid, default=0), min(valid, default=0)
        if largest == 0:
            return [0 if score == IGNORED else MAX_NODE_SCORE for score in scores]
        return [0 if score == IGNORED else MAX_NODE_SCORE * (largest + smallest - score) // largest for score in scores]


def _domain(constraint: Constraint, template: PodTemplate, view: NodeView, *, may_count: bool) -> Domain:
    """What the constraint finds on the node."""
    is_counted = may_count and constraint.includes(template, view)
    return Domain(view.labels.get(constraint.key), constraint.count(view.pods), is_counted)


def _pods_per_value(domains: list[Domain], counts: Sequence[int]) -> dict[str, int]:
    """The matching pods of every domain that a counted node belongs to."""
    matches: dict[str, int] = {}
    for domain, n in zip(domains, counts, strict=True):
        if domain.is_counted and domain.value is not None:
            matches[domain.value] = matches.get(domain.value, 0) + domain.pods * n
    return matches


def _soften(one: Refused) -> Advice:
    every = one.declared.template.spread
    hard = [number for number, two in enumerate(every) if two.hard]
    numbers = [number for number in hard if every[number].topology_key in one.details] or hard
    told = ", ".join(f"{every[number].topology_key} (maxSkew {every[number].max_skew})" for number in numbers)
    says = f"let a spread constraint of {one.ref} be softer: larger maxSkew, or ScheduleAnyway, for {told}"
    needed = max((every[number].min_domains for number in numbers), default=1)
    if one.down and needed > 1:
        says = f"let a spread constraint of {one.ref} ask for fewer domains than minDomains {needed}, while {one.down} "
        says += f"cannot take pods; or let it be softer: larger maxSkew, or ScheduleAnyway, for {told}"
    elif one.down and not all(every[number].honor_taints for number in numbers):
        says = (
            f"write nodeTaintsPolicy: Honor for {told} in {one.ref}, so that {one.down}, where no pod can go, is no "
            "empty domain; or let it be softer: larger maxSkew, or ScheduleAnyway"
        )
    return Advice(says, tuple(field for n in numbers for field in one.at(f"topologySpreadConstraints[{n}]")))


@declare_filter(Judging.PODS, change=_soften)
def build_filter(pod: IncomingPod) -> SpreadFilter | None:
    """The filter, or None (upstream's Skip) for a pod without hard constraints."""
    constraints = constraints_of(pod, hard=True)
    return SpreadFilter(pod, constraints) if constraints else None


def build_score(pod: IncomingPod) -> SpreadScore | None:
    """The score, or None (upstream's Skip) for a pod without soft constraints."""
    constraints = constraints_of(pod, hard=False)
    return SpreadScore(pod, constraints) if constraints else None
