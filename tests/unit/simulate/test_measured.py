"""Demands of services that are fitted to measured curves."""

from pathlib import Path

import pytest

from kubeproof.errors import KubeproofError
from kubeproof.manifests.load import load
from kubeproof.manifests.scenarios.requests.measured import fit_cpu, fit_latency
from kubeproof.simulate.options import SimulateOptions
from kubeproof.simulate.simulation import simulate_cluster
from tests.unit.manifests.inputs import deployment, node, scenario

WEB = "Deployment/shop/web"


def write(folder: Path, curve: str, *, limit: str = "1", more: str = "") -> str:
    web = deployment("web", container=f'resources: {{requests: {{cpu: "{limit}"}}, limits: {{cpu: "{limit}"}}}},')
    load_ = f"{{target: {WEB}, measured: {{file: curve.csv}}, arrivals: [{{poisson: {{rate: 20}}}}]{more}}}"
    text = "---\n".join((node("n1"), web, scenario(f"start: deployed\nintents: []\nworkload: {{services: [{load_}]}}")))
    (folder / "in.yaml").write_text(text, encoding="utf-8")
    (folder / "curve.csv").write_text(curve, encoding="utf-8")
    return str(folder / "in.yaml")


def test_the_slope_of_used_cpu_is_the_demand_and_its_beginning_is_idle():
    found = fit_cpu([(rate, 0.012 + 0.02 * rate) for rate in (5.0, 10.0, 30.0)], "a.csv")

    assert (found.cpu_ms, found.idle_milli) == (pytest.approx(20.0), 12)
    assert "at most" in found.note


def test_a_line_that_begins_below_zero_goes_through_zero():
    found = fit_cpu([(10.0, 0.1), (20.0, 0.5)], "a.csv")

    assert found.idle_milli == 0
    assert found.cpu_ms == pytest.approx(1000 * (1.0 + 10.0) / 500)


@pytest.mark.parametrize("cores", [1.0, 0.5])
def test_response_times_under_processor_sharing_give_the_demand(cores):
    own = 0.02 / cores
    found = fit_latency([(rate, own / (1 - rate * own)) for rate in (2.0, 8.0, 16.0)], cores, "a.csv")

    assert found.cpu_ms == pytest.approx(20.0)
    assert found.note.endswith("they lie at most 0.0 % off the curve")


def test_a_simulated_pod_has_the_response_times_that_were_measured(tmp_path):
    own = 0.02
    curve = "rate,latency_s\n" + "".join(f"{rate},{own / (1 - rate * own)}\n" for rate in (5, 15, 30))

    found = simulate_cluster(load((write(tmp_path, curve),)), SimulateOptions(duration_s=1800))

    assert found.services[0].times.mean_s == pytest.approx(own / (1 - 20 * own), rel=0.03)
    assert any("a request takes 20 ms of a core" in note for note in found.notes)


@pytest.mark.parametrize(
    ("curve", "more", "limit", "problem"),
    [
        ("", "", "1", "has no such columns"),
        ("load,cpu\n1,1\n", "", "1", "has no such columns"),
        ("rate,cpu\n1,1\n1,2\n", "", "1", "has 2 points"),
        ("rate,cpu\n1,1\nx,2\n", "", "1", "is no point"),
        ("rate,cpu\n1,1,1\n", "", "1", "is no point"),
        ("rate,cpu\n1,2\n2,1\n", "", "1", "uses no more CPU for more requests"),
        ("rate,cpu\n1,-1\n", "", "1", "is no point"),
        ("rate,latency_s\n1,0.1\n2,0.2\n", "", "2", "tell nothing of several cores"),
        ("rate,cpu\n1,1\n2,2\n", ", cpuPerRequest: 5m", "1", "stands beside measured"),
        ("rate,cpu\n1,1\n2,2\n", ", idle: 5m", "1", "stands beside measured"),
    ],
)
def test_curves_that_say_nothing_are_refused(tmp_path, curve, more, limit, problem):
    with pytest.raises(KubeproofError, match=problem):
        load((write(tmp_path, curve, limit=limit, more=more),))
