"""NodeAffinity: nodeSelector, required and preferred node affinity, and the profile's addedAffinity."""

from __future__ import annotations

from collections.abc import Mapping

from kubeproof.cluster.labels import NodeTerm, PreferredTerm
from kubeproof.cluster.objects import PodTemplate
from kubeproof.controllers.scheduler.pod import IncomingPod
from kubeproof.controllers.scheduler.protocol import (
    Advice,
    Judging,
    NodeView,
    Refused,
    Rejection,
    declare_filter,
    normalise_by_maximum,
    of_nodes,
)

POD_MISMATCH = of_nodes("didn't match Pod's node affinity/selector", unresolvable=True)
PROFILE_MISMATCH = of_nodes("didn't match scheduler-enforced node affinity", unresolvable=True)


def any_term_matches(terms: tuple[NodeTerm, ...], labels: Mapping[str, str], name: str) -> bool:
    """True if a term matches; no terms match no node."""
    return any(term.matches(labels, name) for term in terms)


def required_affinity_matches(template: PodTemplate, labels: Mapping[str, str], name: str) -> bool:
    """True if the node satisfies the pod's nodeSelector and its required node affinity."""
    if any(labels.get(key) != value for key, value in template.node_selector):
        return False
    return template.required_terms is None or any_term_matches(template.required_terms, labels, name)


class AffinityFilter:
    """Mirrors the filter of `plugins/nodeaffinity`, same in all versions; addedAffinity is judged first."""

    def __init__(self, template: PodTemplate, added: tuple[NodeTerm, ...] | None) -> None:
        self._template = template
        self._added = added

    def reject(self, view: NodeView) -> Rejection | None:
        if self._added is not None and not any_term_matches(self._added, view.labels, view.node.name):
            return PROFILE_MISMATCH
        if not required_affinity_matches(self._template, view.labels, view.node.name):
            return POD_MISMATCH
        return None


class AffinityScore:
    """Mirrors the score of `plugins/nodeaffinity`, same in all versions: weights of matching preferred terms.

    The best node gets 100 and the others their share; all stay 0 if no term matches anywhere.
    """

    normalises = True

    def __init__(self, preferred: tuple[PreferredTerm, ...]) -> None:
        self._preferred = preferred

    def score(self, view: NodeView) -> int:
        return sum(p.weight for p in self._preferred if p.term.matches(view.labels, view.node.name))

    def normalise(self, scores: list[int]) -> list[int]:
        return normalise_by_maximum(scores, reverse=False)


def _widen(one: Refused) -> Advice:
    path = "nodeSelector" if one.declared.template.node_selector else "affinity.nodeAffinity"
    told = f"add a node with the labels that {one.ref} asks for, or let it go to {one.nodes}"
    return Advice(told, one.at(path))


@declare_filter(Judging.NODE, change=_widen)
def build_filter(pod: IncomingPod) -> AffinityFilter | None:
    """The filter, or None (upstream's Skip) if neither the pod nor the profile constrains nodes."""
    template, added = pod.template, pod.profile.added_affinity
    if added is None and not template.node_selector and template.required_terms is None:
        return None
    return AffinityFilter(template, added)


def build_score(pod: IncomingPod) -> AffinityScore | None:
    """The score, or None (upstream's Skip) if the pod has no preferred terms."""
    return AffinityScore(pod.template.preferred_terms) if pod.template.preferred_terms else None
