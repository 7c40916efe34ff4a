"""Pods that terminate while proxies still send to them: hooks, delays, Services that publish all, no ready pod left."""

from __future__ import annotations

import pytest

from kubeproof.errors import ScenarioError
from kubeproof.verdicts import Verdict
from tests.unit.verify.inputs import loaded, node, scenario, verified, web

ENDING = "{noTrafficToTerminating: {target: Deployment/shop/web}}"
SCALE = "{scale: {target: Deployment/shop/web, replicas: [1]}}"


def service(more: str = "") -> str:
    """A Service in front of web."""
    return f"""apiVersion: v1
kind: Service
metadata: {{name: web, namespace: shop}}
spec: {{selector: {{app: web}}, ports: [{{port: 80}}]{more}}}
"""


INGRESS = """apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}
"""


def hooked(seconds: int, *, replicas: int = 2, more: str = "") -> str:
    """Web with a preStop hook."""
    hook = f"lifecycle: {{preStop: {{sleep: {{seconds: {seconds}}}}}}}, "
    return web(replicas, cpu="100m", more=more).replace("resources:", f"{hook}resources:")


def lagging(endpoints: str, ingress: str = "0s", *, events: str = SCALE) -> str:
    """A Scenario in which pods are deleted and proxies learn of it later."""
    lags = f"controllers: {{endpoints: {{lag: {endpoints}}}, ingress: {{lag: {ingress}}}}}"
    return scenario(ENDING, events=events, start="deployed").replace("  start:", f"  {lags}\n  start:")


def verdict(*documents: str) -> str:
    return verified(node("n1"), *documents).verdict


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0, Verdict.VIOLATED), (2, Verdict.VIOLATED), (3, Verdict.VIOLATED), (4, Verdict.HOLDS)]
)
def test_a_hook_must_outlast_what_proxies_need(seconds: int, expected: str) -> None:
    assert verdict(hooked(seconds), service(), lagging("3s")) == expected


@pytest.mark.parametrize(("seconds", "expected"), [(4, Verdict.VIOLATED), (8, Verdict.VIOLATED), (9, Verdict.HOLDS)])
def test_an_ingress_learns_after_the_proxies(seconds: int, expected: str) -> None:
    assert verdict(hooked(seconds), service(), INGRESS, lagging("3s", "5s")) == expected


def test_a_hook_is_cut_off_by_the_grace_period() -> None:
    short = "terminationGracePeriodSeconds: 3"

    assert verdict(hooked(60, more=short), service(), lagging("5s")) == Verdict.VIOLATED
    assert verdict(hooked(60, more=short), service(), lagging("2s")) == Verdict.HOLDS


def test_a_pod_without_a_grace_period_is_gone_before_proxies_learn_it() -> None:
    assert verdict(hooked(0, more="terminationGracePeriodSeconds: 0"), service(), lagging("1s")) == Verdict.VIOLATED


def test_proxies_without_a_delay_send_nothing_to_pods_that_terminate() -> None:
    assert verdict(hooked(0), service(), lagging("0s")) == Verdict.HOLDS


def test_a_service_that_publishes_all_pods_sends_to_them_until_they_are_gone() -> None:
    publishes = service(", publishNotReadyAddresses: true")

    assert verdict(hooked(20), publishes, lagging("0s")) == Verdict.VIOLATED


def test_where_no_ready_pod_is_left_proxies_send_to_those_that_terminate() -> None:
    gone = "{scale: {target: Deployment/shop/web, replicas: [0]}}"

    assert verdict(hooked(20), service(), lagging("1s", events=gone)) == Verdict.VIOLATED


def test_pods_that_were_not_ready_got_no_traffic_before() -> None:
    silent = f"{{neverReady: {{target: Deployment/shop/web}}}}, {SCALE}"

    assert verdict(hooked(0), service(), lagging("3s", events=silent)) != Verdict.VIOLATED


def test_the_trace_tells_who_gets_traffic_and_when_proxies_have_learnt() -> None:
    result = verified(node("n1"), hooked(2), service(), lagging("3s"))

    (found,) = result.results
    assert found.trace is not None
    assert [step.action for step in found.trace.steps[-2:]] == ["deletes pod web-1", "2 s pass"]
    assert found.trace.final[-1] == "web-1 has been told to stop; proxies may send to it for up to 1 s more"
    assert ("traffic", "proxies learn within 3 s that a pod terminates, an Ingress within 0 s more") in result.scope


@pytest.mark.parametrize("target", ["", "target: Deployment/shop/web"])
def test_an_intent_about_traffic_needs_a_service(target: str) -> None:
    with pytest.raises(ScenarioError, match="no Service selects pods of Deployment/shop/web"):
        loaded(node("n1"), web(1), scenario(f"{{noTrafficToTerminating: {{{target}}}}}"))


def test_without_a_target_it_speaks_of_all_that_get_traffic() -> None:
    found = loaded(node("n1"), web(1), web(1, name="db"), service(), scenario("{noTrafficToTerminating: {}}"))

    assert [intent.target for intent in found.scenario.intents] == ["Deployment/shop/web"]
