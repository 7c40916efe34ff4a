from __future__ import annotations

import pytest

from kubeproof.cluster.labels import LabelSelector, Requirement
from kubeproof.cluster.objects import PodAffinity, PodTemplate, PodTerm, WeightedPodTerm
from kubeproof.errors import ManifestError
from tests.unit.manifests.inputs import deployment, load_text

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def template(affinity: str) -> PodTemplate:
    loaded = load_text(deployment(pod=f"affinity: {{{affinity}}},"))

    assert [omission.what for omission in loaded.omissions if omission.source.line] == []
    return loaded.setup.workloads[0].template


def test_required_and_preferred_terms_are_read_in_full() -> None:
    found = template(
        f"podAffinity: {{{REQUIRED}: [{{topologyKey: zone, labelSelector: {{matchLabels: {{app: db}}}}, "
        "namespaces: [store], namespaceSelector: {}, matchLabelKeys: [a], mismatchLabelKeys: [b]}]}, "
        f"podAntiAffinity: {{{PREFERRED}: [{{weight: 9, podAffinityTerm: {{topologyKey: rack}}}}]}}"
    )
    selector = LabelSelector((Requirement("app", "In", ("db",)),))

    assert found.pod_affinity == PodAffinity((PodTerm("zone", selector, ("store",), LabelSelector(), ("a",), ("b",)),))
    assert found.pod_anti_affinity == PodAffinity(preferred=(WeightedPodTerm(9, PodTerm("rack")),))


def test_without_terms_there_is_no_pod_affinity() -> None:
    assert template("podAffinity: {}, podAntiAffinity: null") == template("")
    assert template("").pod_affinity == PodAffinity()


def test_key_that_is_mismatched_may_be_selected_too() -> None:
    found = template(
        f"podAffinity: {{{REQUIRED}: [{{topologyKey: zone, labelSelector: {{matchExpressions: "
        "[{key: tenant, operator: Exists}]}, mismatchLabelKeys: [tenant]}]}"
    )

    assert found.pod_affinity.required[0].mismatch_label_keys == ("tenant",)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ("labelSelector: {}", "topologyKey is required"),
        ("topologyKey: a/b/c", "topologyKey is 'a/b/c', not a label key"),
        ("topologyKey: zone, namespaces: [Shop]", "namespaces holds 'Shop', not a namespace"),
        ("topologyKey: zone, matchLabelKeys: [a]", "matchLabelKeys needs a labelSelector"),
        ("topologyKey: zone, mismatchLabelKeys: [a]", "mismatchLabelKeys needs a labelSelector"),
        ("topologyKey: zone, labelSelector: {}, matchLabelKeys: ['-']", "matchLabelKeys is '-', not a label key"),
        (
            "topologyKey: zone, labelSelector: {matchLabels: {a: b}}, matchLabelKeys: [a]",
            "matchLabelKeys repeats 'a' of labelSelector",
        ),
        (
            "topologyKey: zone, labelSelector: {}, matchLabelKeys: [a], mismatchLabelKeys: [a]",
            "matchLabelKeys repeats 'a' of mismatchLabelKeys",
        ),
        (
            "topologyKey: zone, namespaceSelector: {matchExpressions: [{key: a, operator: In}]}",
            "values is required with In",
        ),
    ],
)
@pytest.mark.parametrize("kind", ["podAffinity", "podAntiAffinity"])
def test_a_wrong_term_is_refused(kind: str, fields: str, problem: str) -> None:
    with pytest.raises(ManifestError, match=problem):
        template(f"{kind}: {{{REQUIRED}: [{{{fields}}}]}}")


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ("podAffinityTerm: {topologyKey: zone}", "weight is required"),
        ("weight: 0, podAffinityTerm: {topologyKey: zone}", "weight is 0"),
        ("weight: 101, podAffinityTerm: {topologyKey: zone}", "weight is 101"),
        ("weight: 1", "podAffinityTerm is required"),
    ],
)
def test_a_wrong_preference_is_refused(fields: str, problem: str) -> None:
    with pytest.raises(ManifestError, match=problem):
        template(f"podAffinity: {{{PREFERRED}: [{{{fields}}}]}}")


def test_a_misspelt_field_is_listed_with_a_suggestion() -> None:
    term = "{topologyKey: zone, labelSelectors: {}}"
    loaded = load_text(deployment(pod=f"affinity: {{podAffinity: {{{REQUIRED}: [{term}]}}}},"))

    assert [omission.why for omission in loaded.omissions if "labelSelectors" in omission.what] == [
        "not in the Kubernetes API, did you mean labelSelector?"
    ]


def test_labels_of_namespaces_are_kept() -> None:
    namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: blue}}\n"

    assert load_text(namespace, deployment()).setup.namespaces == (("shop", (("team", "blue"),)),)
