"""`kubeproof simulate PATH...`: exit codes, formats, variants, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubeproof.cli.main import main
from tests.unit.manifests.inputs import deployment, node, scenario
from tests.unit.simulate.inputs import AUTOSCALER, EXACT, REQUESTS, WEB

TRAFFIC = f"workload: {{services: [{{target: {WEB}, cpuPerRequest: 20m, arrivals: {{constant: {{rate: 20}}}}}}]}}"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    web = deployment("web", spec="replicas: 2,", container=REQUESTS)
    spec = f"start: deployed\n{EXACT}\nintents: [{{minReady: {{target: {WEB}, count: 2, when: always}}}}]\n{TRAFFIC}"
    (tmp_path / "shop.yaml").write_text("\n---\n".join((node("n1"), node("n2"), web, AUTOSCALER, scenario(spec))))
    return tmp_path


def simulate(*arguments: object) -> int:
    return main(["simulate", *map(str, arguments)])


def test_text_tells_pods_requests_and_verdicts(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate(shop, "--duration", "5m") == 0

    out = capsys.readouterr().out
    assert out.startswith("test: 1 run of 5m, seed 0, autoscaler hpa\n")
    assert "SAMPLED-OK S001 minReady Deployment/shop/web" in out
    assert "6,000" in out  # requests


def test_json_has_series_verdicts_and_costs(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate(shop, "--duration", "2m", "-o", "json") == 0

    document = json.loads(capsys.readouterr().out)
    assert (document["verdict"], document["duration_s"], document["runs"]) == ("SAMPLED-OK", 120, 1)
    (service,) = document["services"]
    assert service["arrived"] == pytest.approx(2400, abs=1)
    used = next(s for s in document["series"] if (s["subject"], s["quantity"]) == ("web", "cpuUsed"))
    assert used["values"][-1] == pytest.approx(0.4, rel=0.05)  # 20 requests a second of 20 ms
    assert document["costs"]["node_hours"] == pytest.approx(2 / 30)


def test_a_violated_intent_ends_with_1_and_its_moment(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (shop / "shop.yaml").read_text()
    (shop / "shop.yaml").write_text(text.replace("count: 2, when: always", "count: 3, when: stable"))
    assert simulate(shop, "--duration", "5m") == 1

    out = capsys.readouterr().out
    assert "VIOLATED S001 minReady Deployment/shop/web" in out
    assert ": the cluster is at rest in a state that is forbidden there" in out


def test_several_runs_have_bands(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate(shop, "--duration", "1m", "--runs", 3, "-o", "json") == 0

    series = json.loads(capsys.readouterr().out)["series"][0]
    assert len(series["low"]) == len(series["high"]) == len(series["values"]) == 61


def test_variants_stand_side_by_side(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate(shop, "--duration", "3m", "--vary", "hpa.targetCPU=20,80", "-o", "json") == 0

    variants = json.loads(capsys.readouterr().out)["variants"]
    assert [variant["settings"] for variant in variants] == [{"hpa.targetCPU": "20"}, {"hpa.targetCPU": "80"}]
    hours = [variant["result"]["costs"]["pod_hours"] for variant in variants]
    assert hours[0] > hours[1]


def test_text_of_variants_is_a_table(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate(shop, "--duration", "1m", "--vary", "hpa.targetCPU=50,60") == 0

    assert "hpa.targetCPU" in capsys.readouterr().out


def test_csv_has_a_line_for_each_value(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate(shop, "--duration", "1m", "-o", "csv") == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("time_s,")
    assert len(lines) > 61


def test_progress_goes_to_stderr(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate(shop, "--duration", "1m", "--progress", "always") == 0

    assert "run 1/1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "name either PATH... or --experiment"),
        (("x", "--experiment", "abs-1"), "name either PATH... or --experiment"),
        (("x", "--duration", "0s"), "--duration '0s' is not a duration above zero"),
        (("x", "--duration", "30"), "--duration '30' is not a duration above zero"),
        (("x", "--duration", "10000h"), "of at most 400 days"),
        (("x", "--config", "1"), "--config is about --experiment"),
        (("x", "--downscale-after", "150"), "--downscale-after is about --experiment"),
        (("--experiment", "abs-1", "--seed", "0"), "--seed is about manifests"),
        (("--experiment", "abs-1", "--vary", "a=1"), "--vary is about manifests"),
        (("x", "--runs", "0"), "--runs"),
        (("x", "--vary", "hpa"), "has no values"),
    ],
)
def test_wrong_usage_ends_with_2(arguments: tuple[str, ...], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate(*arguments) == 2

    assert problem in capsys.readouterr().err


def test_a_wrong_workload_ends_with_2_and_names_its_line(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shop / "shop.yaml").write_text((shop / "shop.yaml").read_text().replace("rate: 20", "rate: lots"))
    assert simulate(shop) == 2

    err = capsys.readouterr().err
    assert "shop.yaml:" in err
    assert "rate" in err


def test_an_input_without_workload_ends_with_5(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "node.yaml").write_text(node("n1"))
    assert simulate(tmp_path) == 5

    assert "E301" in capsys.readouterr().err


def test_hostile_names_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    web = deployment("web", spec="replicas: 1,", container=REQUESTS)
    spec = f'workload: {{services: [{{target: {WEB}, name: "\\e[31m=cmd|x"}}]}}'
    (tmp_path / "shop.yaml").write_text("\n---\n".join((node("n1"), web, scenario(spec))))
    assert simulate(tmp_path, "--duration", "10s") == 2

    err = capsys.readouterr().err
    assert "is no name of a service" in err
    assert "\x1b" not in err
