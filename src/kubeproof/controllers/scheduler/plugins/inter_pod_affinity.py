"""InterPodAffinity: pods that must or should share a domain of nodes with other pods, or must or should not.

Mirrors `plugins/interpodaffinity` (filtering.go, scoring.go). Pods of a workload have equal labels and equal terms, so
it is settled beforehand which workloads a term means; deciding is counting their pods per domain. Terminating pods
count. In a group of n nodes every node is a domain of its own for a key that is unique to a node, and adds to the
shared domain otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kubeproof.cluster.api import versions
from kubeproof.cluster.objects import short_name
from kubeproof.controllers.scheduler.plugins.pod_terms import term_matches, workloads_meant
from kubeproof.controllers.scheduler.pod import IncomingPod
from kubeproof.controllers.scheduler.protocol import (
    MAX_NODE_SCORE,
    Advice,
    Judging,
    NodeView,
    PodCount,
    Refused,
    Rejection,
    declare_filter,
    of_nodes,
)
from kubeproof.named_tuples import NamedTuple

SKIPS_SCORE_SINCE = versions.SKIPS_SCORE.since
NOT_NEAR = of_nodes("didn't match pod affinity rules", unresolvable=True)
TOO_NEAR = of_nodes("didn't match pod anti-affinity rules", unresolvable=False)
UNWELCOME = of_nodes("didn't satisfy existing pods anti-affinity rules", unresolvable=False)


class Rule(NamedTuple):
    """What is added up over the domains of one topology key: points per pod, by workload."""

    key: str
    points: Mapping[int, int]
    one_node_each: bool  # every node with the key is a domain of its own

    def sum(self, pods: Iterable[PodCount]) -> int:
        """The points of the pods, terminating ones included."""
        return sum(self.points[p.workload] * (p.alive + p.terminating) for p in pods if p.workload in self.points)

    def concerns(self, pods: Iterable[PodCount]) -> bool:
        """True if one of the pods counts, even if for nothing."""
        return any(p.workload in self.points and p.alive + p.terminating > 0 for p in pods)


class Tally(NamedTuple):
    """What one rule finds on one node."""

    value: str | None  # of the topology key
    points: int


Tallies = tuple[Tally, ...]  # one per rule


class Attraction(NamedTuple):
    """What the score finds on one node."""

    tallies: Tallies
    is_felt: bool  # a pod there attracts or repels; its points may still cancel out


Totals = tuple[dict[str, int] | None, ...]  # points per domain, one per rule; None: see the node itself


class Tables(NamedTuple):
    """The filter's PreFilter state."""

    totals: Totals
    is_first: bool  # no domain at all has a pod that matches the incoming pod's required affinity


class PodFilter:
    """Required terms: those of the incoming pod, and the anti-affinity of pods that are there already.

    `near`: one rule per key of the pod's affinity; the pods that match all its terms must be in each domain.
    `apart`: one rule per key of its anti-affinity. `against`: the same, of the terms of existing pods that mean it.
    """

    def __init__(self, pod: IncomingPod, near: Sequence[Rule], apart: Sequence[Rule], against: Sequence[Rule]) -> None:
        self._pod = pod
        self._rules = (*near, *apart, *against)
        self._near = range(len(near))
        self._apart = range(len(near), len(near) + len(apart))
        self._against = range(len(near) + len(apart), len(self._rules))
        # A pod that matches all its own terms may be the first of its kind.
        self._matches_itself = bool(near) and pod.index in near[0].points

    def observe(self, view: NodeView) -> Tallies:
        return _tallies(self._rules, view)

    def prefilter(self, facts: Sequence[Tallies], counts: Sequence[int]) -> Tables:
        found = any(fact[index].points and fact[index].value is not None for fact in facts for index in self._near)
        return Tables(_totals(self._rules, facts, counts), not found)

    def reject(self, state: Tables, fact: Tallies) -> Rejection | None:
        if self._near and not self._is_near(state, fact):
            return NOT_NEAR
        if any(_present(state.totals, fact, index) for index in self._apart):
            return TOO_NEAR
        if any(_present(state.totals, fact, index) for index in self._against):
            return UNWELCOME
        return None

    def _is_near(self, state: Tables, fact: Tallies) -> bool:
        """True if every domain has a matching pod, or there is none anywhere and the pod matches itself."""
        if any(fact[index].value is None for index in self._near):
            return False
        if all(_present(state.totals, fact, index) for index in self._near):
            return True
        return state.is_first and self._matches_itself

    def explain(self, state: Tables, fact: Tallies) -> str:
        """The pods that decided, domain by domain."""
        rejection = self.reject(state, fact)
        if rejection is NOT_NEAR:
            return ", ".join(self._missing(state, fact))
        if rejection is TOO_NEAR:
            return ", ".join(self._too_many(state, fact, self._apart, "that it must avoid"))
        return ", ".join(self._too_many(state, fact, self._against, "that reject it"))

    def _missing(self, state: Tables, fact: Tallies) -> Iterator[str]:
        for index in self._near:
            key, value = self._rules[index].key, fact[index].value
            if value is None:
                yield f"no label {key}"
            elif not _present(state.totals, fact, index):
                yield f"{key}={value}: no pods there that it must be near, {self._names(index)}"

    def _too_many(self, state: Tables, fact: Tallies, rules: range, which: str) -> Iterator[str]:
        for index in rules:
            present = _present(state.totals, fact, index)
            if present:
                domain = f"{self._rules[index].key}={fact[index].value}"
                yield f"{domain}: {present} pod(s) there {which}, {self._names(index)}"

    def _names(self, index: int) -> str:
        """Whose pods the rule counts."""
        names = [short_name(self._pod.setup, workload) for workload in sorted(self._rules[index].points)]
        return f"of {' or '.join(names)}" if names else "no workload matches"


class PodScore:
    """Preferred terms of the incoming pod and of pods that are there, and their required affinity.

    Domains with pods that attract score higher, domains with pods that repel lower; the best feasible node gets 100
    and the worst 0. All get 0 if they are equal. Upstream's Skip, since 1.28, when no pod anywhere attracts or repels.
    """

    def __init__(self, rules: Sequence[Rule], *, may_skip: bool) -> None:
        self._rules = tuple(rules)
        self._may_skip = may_skip

    def observe(self, view: NodeView) -> Attraction:
        is_felt = any(rule.key in view.labels and rule.concerns(view.pods) for rule in self._rules)
        return Attraction(_tallies(self._rules, view), is_felt)

    def prescore(self, facts: Sequence[Attraction], counts: Sequence[int], feasible: Sequence[int]) -> Totals | None:
        if self._may_skip and not any(fact.is_felt for fact in facts):
            return None
        return _totals(self._rules, [fact.tallies for fact in facts], counts)

    def score(self, state: Totals, fact: Attraction) -> int:
        return sum(_present(state, fact.tallies, index) for index in range(len(self._rules)))

    def normalise(self, scores: list[int]) -> list[int]:
        """Shares of the span between worst and best, cut off as upstream does in floating point."""
        worst = min(scores, default=0)
        span = max(scores, default=0) - worst
        return [int(MAX_NODE_SCORE * ((score - worst) / span)) if span else 0 for score in scores]


def _tallies(rules: Iterable[Rule], view: NodeView) -> Tallies:
    return tuple(Tally(view.labels.get(rule.key), rule.sum(view.pods)) for rule in rules)


def _totals(rules: Sequence[Rule], facts: Sequence[Tallies], counts: Sequence[int]) -> Totals:
    """The points of every shared domain."""
    return tuple(
        None if rule.one_node_each else _per_value([fact[index] for fact in facts], counts)
        for index, rule in enumerate(rules)
    )


def _per_value(tallies: Sequence[Tally], counts: Sequence[int]) -> dict[str, int]:
    points: dict[str, int] = {}
    for tally, n in zip(tallies, counts, strict=True):
        if tally.value is not None and tally.points:
            points[tally.value] = points.get(tally.value, 0) + tally.points * n
    return points


def _present(totals: Totals, fact: Tallies, index: int) -> int:
    """The points of the node's domain; none for a node without the key."""
    tally, shared = fact[index], totals[index]
    if tally.value is None:
        return 0
    return tally.points if shared is None else shared.get(tally.value, 0)


def _soften(one: Refused) -> Advice:
    if one.row.reason == UNWELCOME.reason:
        told = f"let the required anti-affinity of the pods that reject it be preferred ({one.details})"
        return Advice(f"{told}, or add a node without them for {one.ref}")
    if one.row.reason == TOO_NEAR.reason:
        told = f"let the required anti-affinity of {one.ref} be preferred, or add a node (a domain) without pods that "
        return Advice(f"{told}it must avoid", one.at("affinity.podAntiAffinity"))
    told = f"let the required pod affinity of {one.ref} be preferred, or add a node that satisfies it"
    return Advice(told, one.at("affinity.podAffinity"))


@declare_filter(Judging.PODS, change=_soften)
def build_filter(pod: IncomingPod) -> PodFilter | None:
    """The filter, or None (upstream's Skip) if neither the pod nor any workload has a required term to check."""
    near = _near(pod)
    apart = _rules(pod, dict.fromkeys(_list_own_terms(pod), 1))
    against = _rules(pod, dict.fromkeys(_list_existing_terms(pod), 1))
    return PodFilter(pod, near, apart, against) if near or apart or against else None


def build_score(pod: IncomingPod) -> PodScore | None:
    """The score, or None if no term of the pod or of a workload can attract or repel it."""
    own = (*pod.template.pod_affinity.preferred, *pod.template.pod_anti_affinity.preferred)
    if pod.profile.ignore_preferred_of_existing and not own:
        return None
    points: dict[tuple[str, int], int] = {}
    for key, workload, weight in (*_own_weights(pod), *_existing_weights(pod)):
        points[key, workload] = points.get((key, workload), 0) + weight
    rules = _rules(pod, points)
    return PodScore(rules, may_skip=pod.version >= SKIPS_SCORE_SINCE) if rules else None


def _rules(pod: IncomingPod, points: Mapping[tuple[str, int], int]) -> list[Rule]:
    """One rule per topology key."""
    per_key: dict[str, dict[int, int]] = {}
    for (key, workload), amount in points.items():
        per_key.setdefault(key, {})[workload] = amount
    return [Rule(key, found, key in pod.unique_keys) for key, found in per_key.items()]


def _near(pod: IncomingPod) -> list[Rule]:
    """One rule per key of the pod's required affinity; only pods that match all terms count."""
    terms = pod.template.pod_affinity.required
    if not terms:
        return []
    meant = frozenset.intersection(*(workloads_meant(pod.setup, pod.index, term) for term in terms))
    keys = dict.fromkeys(term.topology_key for term in terms)
    return [Rule(key, dict.fromkeys(sorted(meant), 1), key in pod.unique_keys) for key in keys]


def _list_own_terms(pod: IncomingPod) -> Iterator[tuple[str, int]]:
    """Topology keys and workloads of the pod's required anti-affinity."""
    for term in pod.template.pod_anti_affinity.required:
        for workload in sorted(workloads_meant(pod.setup, pod.index, term)):
            yield term.topology_key, workload


def _list_existing_terms(pod: IncomingPod) -> Iterator[tuple[str, int]]:
    """Topology keys and owners of the required anti-affinity terms, of any workload, that mean the pod."""
    for owner, workload in enumerate(pod.setup.workloads):
        for term in workload.template.pod_anti_affinity.required:
            if term_matches(pod.setup, owner, term, pod.index):
                yield term.topology_key, owner


def _own_weights(pod: IncomingPod) -> Iterator[tuple[str, int, int]]:
    """What each pod of a workload adds to its domain by the incoming pod's preferred terms."""
    for sign, affinity in ((1, pod.template.pod_affinity), (-1, pod.template.pod_anti_affinity)):
        for weighted in affinity.preferred:
            for workload in sorted(workloads_meant(pod.setup, pod.index, weighted.term)):
                yield weighted.term.topology_key, workload, sign * weighted.weight


def _existing_weights(pod: IncomingPod) -> Iterator[tuple[str, int, int]]:
    """What each pod of a workload adds by its own preferred terms, and by required affinity (hardPodAffinityWeight)."""
    for owner, workload in enumerate(pod.setup.workloads):
        near, apart = workload.template.pod_affinity, workload.template.pod_anti_affinity
        hard = pod.profile.hard_pod_affinity_weight
        terms = [(hard, term) for term in near.required if hard]
        terms += [(one.weight, one.term) for one in near.preferred]
        terms += [(-one.weight, one.term) for one in apart.preferred]
        for weight, term in terms:
            if term_matches(pod.setup, owner, term, pod.index):
                yield term.topology_key, owner, weight
