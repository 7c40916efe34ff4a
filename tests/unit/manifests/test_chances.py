"""Probabilities in a Scenario: what is read, what is refused, and where it says so."""

from __future__ import annotations

import pytest

from kubeproof.cluster.chances import Chance
from kubeproof.errors import ScenarioError
from kubeproof.events.declarations import Event, NodeChoice
from kubeproof.events.quantities import Power, Prices, QuantifySettings
from kubeproof.manifests.loaded import Scenario
from tests.unit.manifests.inputs import deployment, load_text, node, scenario

WEB = "Deployment/shop/web"
REQUESTS = "resources: {requests: {cpu: 500m}},"
LEVELS = f'target: {WEB}, levels: ["20%", "80%"]'


def read(spec: str) -> Scenario:
    objects = (node("n1"), node("n2"), deployment("web", container=REQUESTS))
    return load_text(*objects, scenario(spec)).scenario


def event(text: str) -> Event:
    (found,) = read(f"events: [{{{text}}}]").events
    return found


def test_events_have_probabilities_or_rates_and_recoveries_of_their_own() -> None:
    found = event("nodeFailure: {probability: 0.001, recovery: {ratePerHour: 6}}")

    assert (found.chance, found.recovery) == (Chance(per_tick=0.001), Chance(per_hour=6.0))
    assert found.chance is not None
    assert found.chance.rate(60) == pytest.approx(0.001 / 60, rel=1e-3)
    assert Chance(per_hour=6).rate(60) == 6 / 3600


def test_without_a_probability_an_event_is_open() -> None:
    assert (event("nodeFailure: {}").chance, event("nodeFailure: {}").recovery) == (None, None)


def test_changes_of_usage_may_be_a_markov_chain() -> None:
    found = event(f"cpuChange: {{{LEVELS}, transitions: [[0.9, 0.1], [0.25, 0.75]]}}")

    assert found.moves == ((0.9, 0.1), (0.25, 0.75))  # type: ignore[attr-defined]


def test_what_recovers_may_happen_any_number_of_times() -> None:
    assert [event(f"{key}: {{max: unlimited}}").max for key in ("nodeFailure", "podCrash", "unreachable")] == [None] * 3


def test_the_section_quantify_has_ticks_power_and_cost() -> None:
    found = read(
        """
        quantify:
          tick: 30s
          stepTime: 250ms
          horizon: 24h
          power: [{idle: 80, max: 200, nodes: {names: [n1]}}, {idle: 50.5, max: 60}]
          cost: {nodeHour: 0.2, kilowattHour: 0.3}
        """
    ).quantify

    powers = (Power(80, 200, NodeChoice(names=("n1",))), Power(50.5, 60))
    assert found == QuantifySettings(30, 0.25, 86400, powers, Prices(0.2, 0, 0.3))
    assert read("quantify: {power: {idle: 1, max: 2}}").quantify.power == (Power(1, 2),)
    assert read("start: empty").quantify == QuantifySettings()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("nodeFailure: {probability: 1.5}", "probability is 1.5. A probability lies between 0 and 1"),
        ("nodeFailure: {probability: -0.1}", "probability is -0.1. A probability lies between 0 and 1"),
        ("nodeFailure: {probability: 0}", "probability is 0. What never happens is no event"),
        ("nodeFailure: {probability: 1}", "probability is 1. What happens for certain"),
        ("nodeFailure: {probability: '0.1'}", "probability is or holds a string"),
        ("nodeFailure: {probability: 0.1, ratePerHour: 1}", "ratePerHour is given beside probability"),
        ("nodeFailure: {ratePerHour: 0}", "ratePerHour is 0"),
        ("nodeFailure: {probability: 1e-320}", "probability is 9.99989e-321. Write at least 1e-300"),
        ("nodeFailure: {ratePerHour: 1e-301}", "ratePerHour is 1e-301. Write at least 1e-300"),
        (f"cpuChange: {{{LEVELS}, transitions: [[1, 1e-320], [0, 1]]}}", "transitions[0] holds a number next to 0"),
        ("nodeFailure: {ratePerHour: -1}", "ratePerHour is -1"),
        ("nodeFailure: {recovers: false, recovery: {probability: 0.1}}", "recovery is given, but nothing recovers"),
        ("nodeFailure: {recovery: {}}", "recovery is empty"),
        ("nodeFailure: {recovery: {probabilty: 0.1}}", "Did you mean probability?"),
        ("neverReady: {probability: 0.1}", "probability has no meaning here"),
        ("kernelPanic: {probability: 0.1}", "probability has no meaning here"),
        ("drain: {max: unlimited}", "max is unlimited. Write a number"),
        ("nodeFailure: {max: unlimited, together: true}", "so many nodes fail together"),
        ("nodeFailure: {max: 2, together: true, orFewer: true, probability: 0.1}", "orFewer leaves open how many fail"),
        (f"cpuChange: {{{LEVELS}, transitions: [[1, 0]]}}", "transitions has 1 rows for 2 levels"),
        (f"cpuChange: {{{LEVELS}, transitions: [[0.5, 0.5], [0.5]]}}", "transitions[1] has 1 entries for 2 levels"),
        (f"cpuChange: {{{LEVELS}, transitions: [[0.5, 0.4], [0, 1]]}}", "transitions[0] sums to 0.9"),
        (
            f"cpuChange: {{{LEVELS}, transitions: [[1.5, -0.5], [0, 1]]}}",
            "transitions[0] holds a number outside 0 to 1",
        ),
        (f"cpuChange: {{{LEVELS}, transitions: [[0, 1], [0, 1]]}}", "transitions[0] leaves its level for certain"),
        (f"cpuChange: {{{LEVELS}, transitions: [3, 4]}}", "transitions[0] is an integer"),
        (f"cpuChange: {{{LEVELS}, probability: 0.1, transitions: [[1, 0], [0, 1]]}}", "beside transitions"),
    ],
)
def test_impossible_probabilities_are_refused_with_their_place(text: str, problem: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        read(f"events: [{{{text}}}]")

    assert problem in str(refused.value)
    assert str(refused.value).startswith("E201 <stdin>:22: Scenario/test: ")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{tick: 0s}", "tick is zero"),
        ("{stepTime: 0s}", "stepTime is '0s'"),
        ("{stepTime: 5}", "stepTime is '5'"),
        ("{power: {idle: 200, max: 100}}", "needs idle and max, idle not above max"),
        ("{power: {idle: 200}}", "needs idle and max, idle not above max"),
        ("{cost: {nodeHour: -1}}", "nodeHour is -1"),
        ("{horizont: 1h}", "Did you mean horizon?"),
    ],
)
def test_impossible_settings_are_refused(text: str, problem: str) -> None:
    with pytest.raises(ScenarioError, match="E201") as refused:
        read(f"quantify: {text}")

    assert problem in str(refused.value)


def test_start_up_times_may_have_probabilities() -> None:
    startup = "[{time: 20s, probability: 0.3}, {time: 5s, probability: 0.7}]"
    objects = (node("n1"), deployment("web"), scenario(f"controllers: {{kubelet: {{startup: {startup}}}}}"))
    settings = load_text(*objects).setup.settings

    assert (settings.startup_s, settings.startup_choices) == ((5, 20), ((5, 0.7), (20, 0.3)))


@pytest.mark.parametrize(
    ("startup", "problem"),
    [
        ("[{time: 5s, probability: 0.7}]", "startup has probabilities that sum to 0.7"),
        ("[{time: 5s, probability: 0.5}, {time: 5s, probability: 0.5}]", "or a time twice"),
        ("[{time: 5s, probability: 0}, {time: 6s, probability: 1}]", "probability is 0"),
        ("[{time: 5s}]", "probability is or holds absent"),
        ("[{probability: 1}]", "time is required"),
        ("[]", "startup has 0 entries"),
    ],
)
def test_impossible_start_up_times_are_refused(startup: str, problem: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        read(f"controllers: {{kubelet: {{startup: {startup}}}}}")

    assert problem in str(refused.value)
