"""What of service levels is a bound on states: ready pods against the peak of the load."""

import json

import pytest

from kubeproof.cli.main import main
from kubeproof.events.peaks import peak_of
from kubeproof.events.workload import Bursts, Clients, Constant, Modulated, Ramp, Sinusoid, TraceFile
from kubeproof.manifests.load import load_texts
from kubeproof.manifests.scenarios.intents.capacity import round_up
from kubeproof.simulate.options import SimulateOptions
from kubeproof.simulate.simulation import simulate_cluster
from kubeproof.verdicts import Verdict
from kubeproof.verify.run import verify_intents
from tests.unit.manifests.inputs import deployment, node, scenario

WEB = "Deployment/shop/web"


def text(arrivals="{constant: {rate: 70}}", *, replicas=3, cpu='{cpu: "1"}', more="", levels="", extra=""):
    web = deployment(
        "web", spec=f"replicas: {replicas},", container=f'resources: {{requests: {{cpu: "1"}}, limits: {cpu}}},'
    )
    levels = levels or f"{{answeredInTime: {{target: {WEB}, atLeast: 99%}}}}"
    load = f"{{target: {WEB}, cpuPerRequest: 40m, deadline: 400ms, arrivals: [{arrivals}]{more}}}"
    spec = f"start: deployed\nintents: [{levels}]\nworkload: {{services: [{load}]}}\n{extra}"
    return "---\n".join((node("n1").replace('"4"', '"8"'), web, scenario(spec)))


def derived(*args, **options):
    return load_texts((("a.yaml", text(*args, **options)),)).scenario.intents


@pytest.mark.parametrize(
    ("arrivals", "peak"),
    [
        (Constant(5.0), 5.0),
        (Ramp(9.0, 2.0, 60.0), 9.0),
        (Sinusoid(60.0, 40.0, 1800.0), 100.0),
        (Bursts(3.0, 60.0, 1200.0, 120.0), 60.0),
        (Modulated((1.0, 7.0), (10.0, 10.0)), 7.0),
        (Clients(clients=50, requests=10, pause_s=2.0), 25.0),
        (Clients(clients=50, spacing_s=10.0, requests=10, pause_s=2.0), 1.0),
        (Clients(clients=1, pause_s=0.0), None),
        (TraceFile("a.csv", "0,1"), None),
    ],
)
def test_the_peak_of_each_kind_of_arrivals(arrivals, peak):
    assert peak_of(arrivals) == peak


@pytest.mark.parametrize(
    ("arrivals", "more", "cpu", "count"),
    [
        ("{constant: {rate: 70}}", "", '{cpu: "1"}', 3),  # 2.8 cores
        ("{constant: {rate: 75}}", "", '{cpu: "1"}', 3),  # 3 cores exactly
        ("{constant: {rate: 76}}", "", '{cpu: "1"}', 4),
        ("{constant: {rate: 70}}", ", idle: 100m", '{cpu: "1"}', 4),
        ("{constant: {rate: 70}}", "", '{cpu: "2"}', 2),
        ("{constant: {rate: 300}}", "", "{}", 2),  # 12 cores on nodes of 8
        ("{constant: {rate: 30}}, {constant: {rate: 40}}", "", '{cpu: "1"}', 3),
    ],
)
def test_as_many_pods_as_the_peak_needs(arrivals, more, cpu, count):
    (intent,) = derived(arrivals, more=more, cpu=cpu)

    assert (intent.key, intent.target, str(intent.count), intent.of_level) == ("minReady", WEB, str(count), True)


def test_callers_count_as_often_as_they_call():
    api = deployment("api", container='resources: {requests: {cpu: "1"}, limits: {cpu: "1"}},')
    called = text("{constant: {rate: 20}}", levels="{errorShare: {atMost: 1%}}", more=", calls: [api, api]")
    called = called.replace("arrivals: [{constant", "arrivals: [{constant").replace(
        "workload: {services: [", "workload: {services: [{target: Deployment/shop/api, cpuPerRequest: 60m}, "
    )

    intents = load_texts((("a.yaml", f"{called}---\n{api}"),)).scenario.intents

    assert {intent.target: str(intent.count) for intent in intents} == {WEB: "1", "Deployment/shop/api": "3"}


def test_pods_of_an_autoscaler_are_asked_for_only_if_its_maximum_is_too_low():
    scaler = (
        "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web, namespace: shop}\n"
        "spec:\n  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n  maxReplicas: MOST\n"
        "  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}]\n"
    )
    counts = {
        most: [
            str(one.count) for one in load_texts((("a.yaml", text() + scaler.replace("MOST", most)),)).scenario.intents
        ]
        for most in ("2", "3")
    }

    assert counts == {"2": ["3"], "3": []}


def test_a_throughput_asks_for_no_more_than_is_promised():
    (intent,) = derived(levels=f"{{throughput: {{target: {WEB}, atLeast: 30}}}}")

    assert str(intent.count) == "2"


def test_what_no_state_bounds_is_not_asked():
    assert derived(levels=f"{{readyShare: {{target: {WEB}, count: 1, atLeast: 99%}}}}") == ()


def test_rounding_makes_no_pod_more():
    assert [round_up(pods) for pods in (2.0, 2.0000000001, 2.1)] == [2, 2, 3]


@pytest.mark.parametrize(("replicas", "verdict"), [(3, Verdict.VIOLATED), (4, Verdict.HOLDS)])
def test_verify_holds_ready_pods_against_the_peak_in_every_run(replicas, verdict):
    crash = f"events: [{{podCrash: {{target: {WEB}, max: 1}}}}]"

    found = verify_intents(load_texts((("a.yaml", text(replicas=replicas, extra=crash)),)))

    assert [one.verdict for one in found.results] == [verdict]


def test_a_violation_is_replayed_from_its_file(tmp_path, capsys):
    path, saved = tmp_path / "a.yaml", tmp_path / "trace.json"
    path.write_text(text(extra=f"events: [{{podCrash: {{target: {WEB}, max: 1}}}}]"), encoding="utf-8")

    assert main(["verify", str(path), "-o", f"json={saved}"]) == 1
    assert main(["replay", str(saved)]) == 1
    told = capsys.readouterr().out
    assert "ready pods for 70 requests a second" in told
    assert "2 ready, at least 3 wanted" in json.dumps(json.loads(saved.read_text(encoding="utf-8")))


def test_simulate_measures_the_service_level_itself_and_only_that():
    found = simulate_cluster(load_texts((("a.yaml", text()),)), SimulateOptions(duration_s=30))

    assert [one.id for one in found.intents] == ["P002"]
