"""`spec.workload`: what is read, what is refused, and where it says so."""

# ruff: noqa: E501 - one case per line

from __future__ import annotations

from pathlib import Path

import pytest

from kubeproof.errors import ManifestError, ScenarioError
from kubeproof.events.declarations import Cordon, NodeFailure, Scale
from kubeproof.events.workload import (
    Bursts,
    CallStage,
    Clients,
    Constant,
    MetricsPipeline,
    Modulated,
    Ramp,
    SimpleRule,
    Sinusoid,
    Stream,
    TraceFile,
    TrafficShift,
    WorkloadSpec,
)
from kubeproof.manifests.load import load
from tests.unit.manifests.inputs import deployment, load_text, node, scenario

WEB, CART = "Deployment/shop/web", "Deployment/shop/cart"


def read(section: str) -> WorkloadSpec:
    objects = (node("n1"), node("n2"), deployment("web"), deployment("cart"))
    found = load_text(*objects, scenario(f"workload: {section}")).scenario.workload
    assert found is not None
    return found


def stream(arrivals: str) -> Stream:
    ((found,),) = [
        service.streams for service in read(f"{{services: [{{target: {WEB}, arrivals: {arrivals}}}]}}").services
    ]
    return found


def test_a_scenario_without_the_section_has_no_workload() -> None:
    assert load_text(node("n1"), deployment("web"), scenario("")).scenario.workload is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{constant: {rate: 5}}", Stream(Constant(5.0))),
        ("{poisson: {rate: 2.5}}", Stream(Constant(2.5), is_random=True)),
        ("{ramp: {from: 1, to: 9, over: 2m, start: 30s}}", Stream(Ramp(1.0, 9.0, 120.0, 30.0))),
        (
            "{sinusoid: {mean: 10, amplitude: 4, period: 1h, random: true}}",
            Stream(Sinusoid(10.0, 4.0, 3600.0), is_random=True),
        ),
        ("{bursts: {base: 1, burst: 50, every: 10m, for: 30s, first: 1m}}", Stream(Bursts(1.0, 50.0, 600.0, 30.0, 60.0))),
        (
            "{mmpp: {phases: [{rate: 1, mean: 60s}, {rate: 90, mean: 500ms}], next: [[0, 1], [1, 0]]}}",
            Stream(Modulated((1.0, 90.0), (60.0, 0.5), ((0.0, 1.0), (1.0, 0.0))), is_random=True),
        ),
        ("{clients: {start: 10s, count: 50, spacing: 1s, requests: 90, pause: 2s}}", Stream(Clients(10.0, 50, 1.0, 90, 2.0))),
    ],
)  # fmt: skip
def test_arrivals_of_every_kind(text: str, expected: Stream) -> None:
    assert stream(text) == expected


def test_a_service_has_costs_a_deadline_and_calls() -> None:
    web, cart = read(
        f"""{{services: [
            {{target: {WEB}, name: front, cpuPerRequest: 20m, memoryPerRequest: 1Mi, idle: 5m, deadline: 250ms,
              balancing: random, calls: [cart, [cart, cart]], arrivals: [{{constant: {{rate: 1}}}}, {{poisson: {{rate: 2}}}}]}},
            {{target: {CART}}}]}}"""
    ).services

    assert (web.name, web.target, web.cpu_ms, web.memory_bytes) == ("front", WEB, 20.0, 2**20)
    assert (web.idle_cpu_milli, web.deadline_s, web.balancing, len(web.streams)) == (5, 0.25, "random", 2)
    assert web.stages == (CallStage(("cart",)), CallStage(("cart", "cart")))
    assert (cart.name, cart.streams, cart.deadline_s) == ("cart", (), None)


def test_faults_are_events_with_a_moment_and_perhaps_an_end() -> None:
    found = read(
        f"""{{services: [{{target: {WEB}}}], faults: [
            {{at: 10m, for: 5m, nodeFailure: {{nodes: {{names: [n1]}}}}}},
            {{at: 11m, nodeFailure: {{name: dead, nodes: {{names: [n2]}}}}}},
            {{at: 12m, for: 1m, cordon: {{nodes: {{names: [n1]}}}}}},
            {{at: 13m, scale: {{target: {WEB}, replicas: [5]}}}},
            {{at: 20m, for: 90s, trafficShift: {{service: web, factor: 2.5}}}}]}}"""
    )

    first, dead, cordon, scale = found.faults
    assert (first.at_s, first.for_s, dead.at_s, dead.for_s) == (600, 300, 660, None)
    assert isinstance(first.event, NodeFailure)
    assert isinstance(dead.event, NodeFailure)
    assert (first.event.recovers, dead.event.recovers) == (True, False)
    assert (first.event.name, dead.event.name) == ("nodeFailure-at-10m-1", "dead")
    assert isinstance(cordon.event, Cordon)
    assert cordon.event.reversible
    assert isinstance(scale.event, Scale)
    assert found.shifts == (TrafficShift(1200, "web", 2.5, 90),)


def test_metrics_and_the_simple_rule_have_defaults_and_may_be_changed() -> None:
    assert (read("{}").metrics, read("{}").simple) == (MetricsPipeline(15, 15, 0), SimpleRule(0.8, 0.2, 15, 300))
    changed = read("{metrics: {scrapeInterval: 30s, window: 1m, delay: 10s}, simple: {up: 0.7, downscaleAfter: 20s}}")
    assert (changed.metrics, changed.simple) == (MetricsPipeline(30, 60, 10), SimpleRule(0.7, 0.2, 15, 20))


@pytest.mark.parametrize(
    ("section", "problem"),
    [
        ("{service: []}", "unknown field spec.workload.service"),
        ("{services: [{target: Deployment/shop/wob}]}", "is not a workload of the input"),
        ("{services: [{target: Service/shop/web}]}", "not a Service of the input"),
        (f"{{services: [{{target: {WEB}}}, {{target: {WEB}, name: b}}]}}", "a name or a target twice"),
        (f"{{services: [{{target: {WEB}, calls: [card]}}]}}", "web call 'card', not a service"),
        (f"{{services: [{{target: {WEB}, calls: [web]}}]}}", "web call itself in the end"),
        (f"{{services: [{{target: {WEB}, calls: [3]}}]}}", "something else than names"),
        (f"{{services: [{{target: {WEB}, deadline: 0s}}]}}", "deadline is zero"),
        (f"{{services: [{{target: {WEB}, deadline: 5}}]}}", "deadline has no unit"),
        (f"{{services: [{{target: {WEB}, balancing: sticky}}]}}", "balancing is 'sticky'"),
        (f'{{services: [{{target: {WEB}, cpuPerRequest: "5%"}}]}}', "cpuPerRequest is a percentage"),
        (f"{{services: [{{target: {WEB}, cpuPerRequest: -5m}}]}}", "cpuPerRequest is '-5m', below zero. Write what one request takes, such as 5m for 5 ms of one core"),
        (f"{{services: [{{target: {WEB}, cpuPerRequest: x}}]}}", "Write what one request takes, such as 5m for 5 ms of one core"),
        (f"{{services: [{{target: {WEB}, idle: -5m}}]}}", "idle is '-5m', below zero. Write what a pod takes without requests, such as 5m"),
        (f"{{services: [{{target: {WEB}, arrivals: {{steady: {{rate: 5}}}}}}]}}", "unknown kind of arrivals steady"),
        (f"{{services: [{{target: {WEB}, arrivals: {{constant: {{}}}}}}]}}", "rate is required"),
        (f"{{services: [{{target: {WEB}, arrivals: {{constant: {{rate: -1}}}}}}]}}", "rate is -1"),
        (f"{{services: [{{target: {WEB}, arrivals: {{constant: {{rate: 1e9}}}}}}]}}", "rate is 1e+09"),
        (f"{{services: [{{target: {WEB}, arrivals: {{mmpp: {{phases: [{{rate: 1, mean: 1s}}]}}}}}}]}}", "1 entries, not 2"),
        (f"{{services: [{{target: {WEB}, arrivals: {{mmpp: {{phases: [{{rate: 1, mean: 1s}}, {{rate: 2, mean: 1s}}], next: [[1, 0], [1, 0]]}}}}}}]}}", "a row 1 that does not say"),
        (f"{{services: [{{target: {WEB}, arrivals: {{bursts: {{base: 1, burst: 2, every: 1s, for: 2s}}}}}}]}}", "longer than every"),
        (f"{{services: [{{target: {WEB}, arrivals: {{ramp: {{from: 1, to: 2, over: 0s}}}}}}]}}", "over is zero"),
        (f"{{services: [{{target: {WEB}, arrivals: {{ramp: {{from: 1, to: 2, over: 60}}}}}}]}}", "over has no unit"),
        ("{faults: [{nodeFailure: {}}]}", "at is required"),
        ("{faults: [{at: 5m, neverReady: {}}]}", "cannot happen at a moment: neverReady"),
        ("{faults: [{at: 5m}]}", "has 0 things that happen"),
        ("{faults: [{at: 5m, for: 1m, drain: {}}]}", "something that has no end"),
        ("{faults: [{at: 5m, nodeFailure: {max: 2}}]}", "no meaning in a timetable"),
        ("{faults: [{at: 5m, nodeFailure: {nodes: {names: [n9]}}}]}", "not a node of the input"),
        ("{faults: [{at: 5m, trafficShift: {service: web, factor: 2}}]}", "not a service of the workload"),
        ("{metrics: {window: 0s}}", "window is zero"),
        ("{simple: {up: 0.1, down: 0.5}}", "down lies below up"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_with_its_place(section: str, problem: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        read(section)

    assert problem in str(refused.value)
    assert refused.value.line > 1


def test_requests_and_an_event_cannot_both_decide_what_pods_use() -> None:
    spec = f"""
        events: [{{cpuChange: {{target: {WEB}, levels: ["20%", "80%"]}}}}]
        workload: {{services: [{{target: {WEB}}}]}}
    """
    requested = deployment("web", container="resources: {requests: {cpu: 500m}},")
    with pytest.raises(ScenarioError, match="whose CPU use event cpuChange-1 decides"):
        load_text(node("n1"), requested, scenario(spec))


def test_traces_lie_beside_the_scenario(tmp_path: Path) -> None:
    section = f"workload: {{services: [{{target: {WEB}, arrivals: {{csv: {{file: load.csv, random: true}}}}}}]}}"
    (tmp_path / "all.yaml").write_text("\n---\n".join((node("n1"), deployment("web"), scenario(section))))
    with pytest.raises(ManifestError, match=r"load\.csv"):
        load((str(tmp_path),))
    (tmp_path / "load.csv").write_text("time_s,rate\n0,5\n")

    workload = load((str(tmp_path),)).scenario.workload
    assert workload is not None
    ((found,),) = [service.streams for service in workload.services]
    assert found.is_random
    assert isinstance(found.arrivals, TraceFile)
    assert found.arrivals.text == "time_s,rate\n0,5\n"
    (tmp_path / "load.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ManifestError, match="not UTF-8"):
        load((str(tmp_path),))
