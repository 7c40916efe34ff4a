"""PodDisruptionBudgets as the API server takes them."""

from __future__ import annotations

import pytest

from kubeproof.cluster.labels import LabelSelector, Requirement
from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.errors import ManifestError
from tests.unit.manifests.inputs import load_text, scenario


def budget(spec: str, version: str = "policy/v1") -> str:
    return f"apiVersion: {version}\nkind: PodDisruptionBudget\nmetadata: {{name: web, namespace: shop}}\nspec: {spec}\n"


def budget_of(spec: str) -> PodDisruptionBudget:
    return load_text(budget(spec)).setup.budgets[0]


def test_a_budget_is_read_and_nothing_of_it_left_out() -> None:
    loaded = load_text(
        budget('{selector: {matchLabels: {app: web}}, minAvailable: "50%", unhealthyPodEvictionPolicy: AlwaysAllow}'),
        scenario("start: empty"),
    )

    assert loaded.setup.budgets == (
        PodDisruptionBudget(
            namespace="shop",
            name="web",
            selector=LabelSelector((Requirement("app", "In", ("web",)),)),
            min_available=(50, True),
            unhealthy_policy="AlwaysAllow",
        ),
    )
    assert loaded.omissions == ()


def test_a_number_of_pods_is_not_a_percentage() -> None:
    assert budget_of("{maxUnavailable: 1}").max_unavailable == (1, False)
    assert budget_of("{maxUnavailable: 0}").max_unavailable == (0, False)


def test_no_selector_and_an_empty_one_are_kept_apart() -> None:
    assert budget_of("{}").selector is None
    assert budget_of("{selector: {}}").selector == LabelSelector()


def test_a_budget_without_amounts_is_allowed() -> None:
    found = budget_of("{selector: {}}")

    assert (found.min_available, found.max_unavailable, found.unhealthy_policy) == (None, None, "IfHealthyBudget")


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("{minAvailable: 1, maxUnavailable: 1}", "exclude each other"),
        ('{minAvailable: "101%"}', "minAvailable is '101%'"),
        ("{maxUnavailable: -1}", "maxUnavailable is -1"),
        ("{maxUnavailable: some}", "maxUnavailable is 'some'"),
        ("{unhealthyPodEvictionPolicy: Never}", "unhealthyPodEvictionPolicy is 'Never'"),
        ("{selector: {matchExpressions: [{key: a, operator: In}]}}", "values is required with In"),
    ],
)
def test_a_wrong_budget_is_refused(spec: str, problem: str) -> None:
    with pytest.raises(ManifestError, match=problem):
        budget_of(spec)


def test_the_retired_version_is_refused_with_the_remedy() -> None:
    with pytest.raises(ManifestError, match="Write apiVersion: policy/v1"):
        load_text(budget("{}", "policy/v1beta1"))
