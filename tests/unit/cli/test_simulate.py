"""`kubeproof simulate`: formats, and what is refused."""

from __future__ import annotations

import json

import pytest

from kubeproof.cli.main import main


def test_text_tells_pods_cpu_and_response_times(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--experiment", "abs-1"]) == 0

    out = capsys.readouterr().out
    assert out.startswith("abs-1: 350 intervals of 2 s\n")
    assert "  pods by interval: 1 from 0, 2 from 30, 3 from 119, 2 from 306, 1 from 307\n" in out
    assert "most 1700 per interval" in out
    assert "  response time: p50 0 s, p95 0 s, p99 0 s\n" in out


def test_csv_has_a_line_for_each_service_and_interval(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--experiment", "abs-2", "--config", "2", "-o", "csv"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "interval,service,pods,cpu,util_percent"
    assert len(lines) == 1 + 2 * 400
    assert lines[1:3] == ["0,service-1,1,0,0.0", "0,service-2,1,0,0.0"]


def test_json_has_the_curves(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--experiment", "abs-1", "--downscale-after", "150", "-o", "json"]) == 0

    (service,) = json.loads(capsys.readouterr().out)["services"]
    assert (service["pods"][-1], max(service["cpu"]), service["finished"]) == (3, 1700, 18000)
    assert service["response_s"] == {"p50": 0, "p95": 0, "p99": 0}


def test_the_workflow_has_batches_of_two_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--experiment", "abs-workflow"]) == 0
    small = capsys.readouterr().out
    assert main(["simulate", "--experiment", "abs-workflow", "--threads", "200"]) == 0
    large = capsys.readouterr().out

    assert small.startswith("abs-workflow 100 threads: 500 intervals of 2 s\n")
    assert "  requests: 135,000 finished\n" in small
    assert "  requests: 225,000 finished\n" in large


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--experiment", "abs-9"],
        ["--experiment", "abs-1", "--downscale-after", "0"],
        ["--experiment", "abs-1", "--config", "1"],  # would change nothing
        ["--experiment", "abs-1", "--threads", "100"],
        ["--experiment", "abs-1", "--runs", "5"],
        ["--experiment", "abs-1", "--autoscaler", "simple"],
        ["--experiment", "abs-workflow", "--threads", "300"],
    ],
)
def test_wrong_usage_ends_with_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", *words]) == 2
    assert capsys.readouterr().out == ""
