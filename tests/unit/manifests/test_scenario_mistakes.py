"""All mistakes of a Scenario at once, and what a target without a namespace means."""

from __future__ import annotations

import pytest

from kubeproof.errors import ManifestError, ScenarioError
from kubeproof.manifests.load import load
from tests.unit.manifests.inputs import deployment, load_text, node, scenario

BARE = deployment().replace(", namespace: shop", "")


def mistakes(spec: str) -> list[str]:
    """What is told of a Scenario beside a Deployment shop/web and a node, without code and file."""
    with pytest.raises(ScenarioError) as refused:
        load_text(scenario(spec), deployment(), node())
    return [line.partition("<stdin>:")[2] for line in str(refused.value).splitlines()]


def test_all_mistakes_of_a_scenario_are_told_at_once_in_the_order_of_lines() -> None:
    told = mistakes(
        """\
        kubernetesVersion: "9.9"
        intentz: []
        start: full
        events:
        - drian: {}
        - drain: {max: 0, nodez: {}}
        - scale: {target: Deployment/shop/wbe}
        intents:
        - minReady: {count: x}
        - settles: {wehn: always, nmae: x}
        """
    )

    assert [line.partition(": Scenario/test: ")[::2] for line in told] == [
        ("5", 'spec.kubernetesVersion is \'9.9\', which is not modelled. From "1.26" to "1.37"'),
        ("6", "unknown field spec.intentz. Did you mean intents?"),
        ("7", "spec.start is 'full'. Known: deployed, empty, running"),
        ("9", "unknown event drian. Did you mean drain?"),
        ("10", "spec.events[1].drain.max is 0. It lies between 1 and 1000"),
        ("11", "spec.events[2].scale.replicas is required. Write replicas: [2, 5]"),
        ("14", "unknown field spec.intents[1].settles.nmae. Did you mean name?"),
        ("14", "unknown field spec.intents[1].settles.wehn. Did you mean when?"),
    ]


def test_what_may_be_wrong_only_because_an_event_is_missing_is_not_told() -> None:
    told = mistakes(
        """\
        events:
        - apply: {fiel: later.yaml}
        intents:
        - minReady: {target: Deployment/shop/later, count: 1}
        - ltl: {formula: G a, where: {a: "happened('apply-1')"}}
        """
    )

    assert len(told) == 1
    assert "spec.events[0].apply" in told[0]


def test_a_refused_object_that_the_scenario_names_is_told_with_it() -> None:
    asked = scenario("intents: [{minReady: {target: Deployment/shop/web, count: 1}}]\n")
    text = "---\n".join((asked, BARE, node()))
    bad = deployment().replace("selector:", "selectr:")
    with pytest.raises(ScenarioError, match=r"(?s)shop/web'.*spec.selector is required"):
        load(["-"], stdin=f"{text}---\n{bad}".encode, is_tolerant=True)


def test_a_target_without_a_namespace_is_told_where_it_might_mean_another() -> None:
    spec = "intents: [{minReady: {target: Deployment/web, count: 1}}]"
    (note,) = load_text(scenario(spec), BARE, deployment("other"), node()).notes

    assert (note.id, note.severity, note.source.line) == ("R006", "note", 5)
    assert note.what == "Scenario/test: spec.intents[0].minReady.target has no namespace"
    assert note.why == "it means default; the input also has shop"
    assert load_text(scenario(spec), BARE, node()).notes == ()


def test_a_target_that_is_only_in_another_namespace_is_refused_with_that_one() -> None:
    with pytest.raises(
        ManifestError, match=r"means namespace default and is not a workload.*Did you mean Deployment/shop/web"
    ):
        load_text(scenario("intents: [{minReady: {target: Deployment/web, count: 1}}]"), deployment(), node())


def test_a_selector_without_a_namespace_that_selects_nobody_is_a_warning() -> None:
    spec = "intents: [{maxSkew: {topologyKey: kubernetes.io/hostname, selector: {matchLabels: {app: web}}}}]"
    (note,) = load_text(scenario(spec), deployment(), node()).notes

    assert (note.id, note.severity) == ("R006", "warning")
    assert note.why == "it means default, where nobody is selected; the input also has shop"
