"""requests: traffic to a Service as the load of its ready pods."""

from __future__ import annotations

import pytest

from kubeproof.errors import ScenarioError
from kubeproof.events.declarations import CpuLoad, Event
from tests.unit.manifests.inputs import deployment, load_text, node, scenario

WEB = "Deployment/shop/web"


def service(name: str, selector: str) -> str:
    """A Service of the namespace shop."""
    head = f"apiVersion: v1\nkind: Service\nmetadata: {{name: {name}, namespace: shop}}"
    return f"{head}\nspec: {{selector: {{{selector}}}}}\n"


def events_of(text: str) -> tuple[Event, ...]:
    """The events of a scenario with two Deployments, one behind a Service, and a Service of none."""
    objects = (node("n1"), deployment("web"), deployment("api"))
    services = (service("web", "app: web"), service("none", "app: none"))
    return load_text(*objects, *services, scenario(f"events: [{text}]")).scenario.events


def test_requests_are_a_load_of_what_they_cost_together() -> None:
    assert events_of("{requests: {service: shop/web, perSecond: 200, cpuPerRequest: 5m}}") == (
        CpuLoad(name="requests-1", target=WEB, levels=(1000,), max=None, service="shop/web", requests=(200,)),
    )


def test_requests_move_between_levels() -> None:
    levels = "levels: [100, 400], initial: 400"
    text = f"service: Service/shop/web, {levels}, cpuPerRequest: 5m, max: 2, after: stable"

    assert events_of(f"{{requests: {{{text}}}}}") == (
        CpuLoad(
            name="requests-1",
            target=WEB,
            levels=(500, 2000),
            initial=1,
            max=2,
            after="stable",
            service="shop/web",
            requests=(100, 400),
        ),
    )


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ("perSecond: 1, cpuPerRequest: 1m", "service is required"),
        ("service: shop/wep, perSecond: 1, cpuPerRequest: 1m", "Did you mean shop/web?"),
        ("service: web, perSecond: 1, cpuPerRequest: 1m", "is 'web', which is not a Service"),
        ("service: shop/none, perSecond: 1, cpuPerRequest: 1m", "selects no pods of the input"),
        ("service: shop/web, cpuPerRequest: 1m", "needs either perSecond or levels"),
        ("service: shop/web, levels: [1, x], cpuPerRequest: 1m", "is no list of different whole numbers"),
        ("service: shop/web, levels: [1, 1], cpuPerRequest: 1m", "is no list of different whole numbers"),
        ("service: shop/web, levels: [1, 2], initial: 3, cpuPerRequest: 1m", "initial is 3"),
        ("service: shop/web, perSecond: 1", "cpuPerRequest is not a usage"),
        ('service: shop/web, perSecond: 1, cpuPerRequest: "5%"', "cpuPerRequest is a percentage"),
        ("service: shop/web, perSecond: 1, cpuPerRequest: -5m", "below zero. Write what one request takes, such as 5m"),
        ("service: shop/web, perSecond: 1, cpuPerRequest: 1m, cost: 1", "unknown field"),
    ],
)
def test_wrong_requests_are_refused(fields: str, problem: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        events_of(f"{{requests: {{{fields}}}}}")

    assert problem in str(refused.value)


def test_requests_that_several_workloads_share_are_refused() -> None:
    both = service("both", "app: web")
    twin = deployment("web").replace("name: web, namespace: shop", "name: twin, namespace: shop", 1)
    events = "events: [{requests: {service: shop/both, perSecond: 1, cpuPerRequest: 1m}}]"

    with pytest.raises(ScenarioError, match="selects pods of Deployment/shop/web, Deployment/shop/twin"):
        load_text(node("n1"), deployment("web"), twin, both, scenario(events))


def test_a_second_event_about_the_same_use_is_refused() -> None:
    requests = "{requests: {service: shop/web, perSecond: 1, cpuPerRequest: 1m}}"

    with pytest.raises(ScenarioError, match="the cpu usage of Deployment/shop/web is given twice"):
        events_of(f"{requests}, {{cpuLoad: {{target: Deployment/shop/web, total: 1}}}}")
