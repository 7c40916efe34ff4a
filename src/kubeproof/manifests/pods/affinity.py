"""Pod affinity and pod anti-affinity, validated as the API server does."""

from __future__ import annotations

from kubeproof.cluster.objects import PodAffinity, PodTerm, WeightedPodTerm
from kubeproof.manifests.pods.selectors import read_selector
from kubeproof.manifests.validation.names import check_label_key, is_dns_label
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.printable import printable


def read_pod_affinity(affinity: Fields | None, key: str) -> PodAffinity:
    """The terms under `podAffinity` or `podAntiAffinity`; without terms if absent."""
    fields = affinity.child(key) if affinity is not None else None
    if fields is None:
        return PodAffinity()
    required = tuple(_term(child) for child in fields.children("requiredDuringSchedulingIgnoredDuringExecution"))
    preferred = tuple(
        _read_weighted(child) for child in fields.children("preferredDuringSchedulingIgnoredDuringExecution")
    )
    fields.finish("PodAffinity")
    return PodAffinity(required, preferred)


def _read_weighted(fields: Fields) -> WeightedPodTerm:
    weight = fields.integer("weight", least=1, most=100)
    if weight is None:
        fields.fail("weight", "is required", remedy="Add a weight from 1 to 100")
    term = _term(fields.require_child("podAffinityTerm"))
    fields.finish("WeightedPodAffinityTerm")
    return WeightedPodTerm(weight, term)


def _term(fields: Fields) -> PodTerm:
    term = PodTerm(
        topology_key=check_label_key(fields, "topologyKey", fields.require_text("topologyKey")),
        selector=read_selector(fields, "labelSelector"),
        namespaces=_namespaces(fields),
        namespace_selector=read_selector(fields, "namespaceSelector"),
        match_label_keys=_label_keys(fields, "matchLabelKeys"),
        mismatch_label_keys=_label_keys(fields, "mismatchLabelKeys"),
    )
    _check_label_keys(fields, term)
    fields.finish("PodAffinityTerm")
    return term


def _namespaces(fields: Fields) -> tuple[str, ...]:
    names = fields.texts("namespaces")
    for name in names:
        if not is_dns_label(name):
            problem = f"holds {printable(name)!r}, not a namespace"
            fields.fail("namespaces", problem, remedy="Use lower-case letters, digits and dashes")
    return names


def _label_keys(fields: Fields, key: str) -> tuple[str, ...]:
    keys = fields.texts(key)
    if keys and not fields.has("labelSelector"):
        fields.fail(key, "needs a labelSelector", remedy="Add labelSelector")
    return tuple(check_label_key(fields, key, one) for one in keys)


def _check_label_keys(fields: Fields, term: PodTerm) -> None:
    """A key is matched, mismatched or selected, not two of them; only mismatched and selected go together."""
    selected = {requirement.key for requirement in term.selector.requirements} if term.selector else set()
    for key in term.match_label_keys:
        if key in selected:
            fields.fail("matchLabelKeys", f"repeats {key!r} of labelSelector", remedy="Remove it from one of them")
        if key in term.mismatch_label_keys:
            fields.fail("matchLabelKeys", f"repeats {key!r} of mismatchLabelKeys", remedy="Remove it from one of them")
