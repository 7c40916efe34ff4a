"""Autoscalers that select the same pods, by their targets' selectors.

Mirrors `validateAndParseSelector` of `horizontal.go`: an autoscaler lists the pods of its target's selector and refuses
to look at metrics if the selectors of two autoscalers match any of them. A selector is known from the moment its
autoscaler first got as far as metrics: one that is disabled or only enforces bounds is no rival, and the first of two
to sync decides once alone. All this is within one namespace.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kubeproof.cluster.labels import Labels, LabelSelector
from kubeproof.named_tuples import NamedTuple


class Rival(NamedTuple):
    """Another autoscaler of the namespace, with the selector of its target and the number of its memory."""

    name: str
    selector: LabelSelector
    memory: int


def selecting(pods: Iterable[Labels], known: Mapping[str, LabelSelector]) -> tuple[str, ...]:
    """Names of the autoscalers whose known selector matches any of the pods, sorted."""
    listed = [dict(labels) for labels in pods]
    return tuple(sorted(name for name, selector in known.items() if any(map(selector.matches, listed))))


def is_ambiguous(own: str, pods: Iterable[Labels], known: Mapping[str, LabelSelector]) -> bool:
    """True if autoscaler `own` refuses with AmbiguousSelector.

    `pods` are the labels of the namespace's pods, `known` the selectors learned so far, that of `own` included: a sync
    makes its own selector known before it asks.
    """
    selected = [labels for labels in pods if known[own].matches(dict(labels))]
    return len(selecting(selected, known)) > 1
