"""Which workloads' pods a pod affinity term means.

Mirrors term matching of `framework.AffinityTerm` (`pkg/scheduler/framework/types.go`) and the API server's merging of
matchLabelKeys and mismatchLabelKeys into the selector when a pod is created (`pkg/registry/core/pod/strategy.go`).
"""

from __future__ import annotations

from kubeproof.cluster.api import versions
from kubeproof.cluster.labels import LabelSelector, Requirement
from kubeproof.cluster.objects import PodTerm, Setup
from kubeproof.controllers.scheduler.pod import pod_labels

NAMESPACE_NAME = "kubernetes.io/metadata.name"  # a label that every Namespace has
LABEL_KEYS_SINCE = versions.LABEL_KEYS.since


def term_matches(setup: Setup, owner: int, term: PodTerm, target: int) -> bool:
    """True if pods of the target workload are meant by a term of the owner's pods."""
    if not _includes_namespace(setup, owner, term, setup.workloads[target].namespace):
        return False
    selector = _selector(setup, owner, term)
    return selector is not None and selector.matches(pod_labels(setup, target))


def workloads_meant(setup: Setup, owner: int, term: PodTerm) -> frozenset[int]:
    """The workloads whose pods a term of the owner's pods means."""
    return frozenset(target for target in range(len(setup.workloads)) if term_matches(setup, owner, term, target))


def _includes_namespace(setup: Setup, owner: int, term: PodTerm, namespace: str) -> bool:
    """Listed namespaces and selected ones together; the owner's own if the term has neither."""
    if not term.namespaces and term.namespace_selector is None:
        return namespace == setup.workloads[owner].namespace
    if namespace in term.namespaces:
        return True
    return term.namespace_selector is not None and term.namespace_selector.matches(_namespace_labels(setup, namespace))


def _namespace_labels(setup: Setup, namespace: str) -> dict[str, str]:
    """The labels of a namespace; one that the input does not declare has its name only."""
    return {**dict(dict(setup.namespaces).get(namespace, ())), NAMESPACE_NAME: namespace}


def _selector(setup: Setup, owner: int, term: PodTerm) -> LabelSelector | None:
    """The term's selector with the owner's label values merged in; None matches nothing."""
    if term.selector is None or setup.settings.kubernetes_version < LABEL_KEYS_SINCE:
        return term.selector
    labels = pod_labels(setup, owner)
    same = (Requirement(key, "In", (labels[key],)) for key in term.match_label_keys if key in labels)
    other = (Requirement(key, "NotIn", (labels[key],)) for key in term.mismatch_label_keys if key in labels)
    return LabelSelector((*term.selector.requirements, *same, *other))
