"""Service levels: what is read, what is measured, and when a promise counts as kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubeproof.cli.main import main
from kubeproof.errors import NothingToCheckError, ScenarioError
from kubeproof.intents.catalogue import catalogue
from kubeproof.intents.library.service_levels import LEVELS
from kubeproof.manifests.loaded import Loaded
from kubeproof.simulate.options import SimulateOptions
from kubeproof.simulate.outcome import IntentOutcome
from kubeproof.simulate.simulation import simulate_cluster
from kubeproof.verdicts import Verdict
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.planning import plan_of
from tests.unit.manifests.inputs import deployment, load_text, node, scenario

WEB = "Deployment/shop/web"
LOAD = (
    f"workload: {{services: [{{target: {WEB}, cpuPerRequest: 40m, deadline: 150ms, "
    "arrivals: [{poisson: {rate: 15}}]}]}"
)
PRICES = "quantify: {cost: {nodeHour: 0.2}}"


def read(*levels: str, more: str = LOAD) -> Loaded:
    """One pod with one core that 15 requests a second of 40 ms keep busy for six tenths."""
    web = deployment("web", container='resources: {requests: {cpu: "1"}, limits: {cpu: "1"}},')
    spec = f"start: deployed\nintents: [{', '.join(f'{{{level}}}' for level in levels)}]\n{PRICES}\n{more}"
    return load_text(node("n1"), web, scenario(spec))


def judge(*levels: str, runs: int = 10, duration_s: int = 120) -> list[IntentOutcome]:
    found = simulate_cluster(read(*levels), SimulateOptions(duration_s=duration_s, runs=runs))
    return list(found.intents)


def test_examples_are_read_as_they_stand() -> None:
    levels = read(*(kind.example for kind in LEVELS)).scenario.levels

    assert [(level.kind.id, level.target, level.limit) for level in levels] == [
        ("P001", WEB, 0.25), ("P002", WEB, 0.999), ("P003", WEB, 0.001), ("P004", WEB, 80.0), ("P005", "", 3.5),
        ("P006", WEB, 0.999), ("P007", WEB, 90.0),
    ]  # fmt: skip
    assert levels[0].percentile == 99
    assert not {kind.key for kind in LEVELS} & {kind.key for kind in catalogue()}


def test_without_a_target_every_service_is_meant() -> None:
    (level,) = read("errorShare: {atMost: 1%}").scenario.levels

    assert (level.name, level.target, level.limit) == (f"errorShare {WEB}", WEB, 0.01)


@pytest.mark.parametrize(
    ("level", "problem"),
    [
        ("responseTime: {within: 0s}", "within"),
        ("responseTime: {percentile: 100, within: 1s}", "percentile"),
        ("answeredInTime: {atLeast: 0.99}", "atLeast"),
        ("answeredInTime: {atLeast: 101%}", "atLeast"),
        ("errorShare: {}", "atMost is required"),
        ("throughput: {atLeast: much}", "atLeast"),
        ("costPerHour: {atMost: 1, target: Deployment/shop/web}", "target"),
        ("responseTime: {within: 1s, soon: true}", "soon"),
    ],
)
def test_what_is_no_limit_is_refused(level: str, problem: str) -> None:
    with pytest.raises(ScenarioError, match=problem):
        read(level)


def test_a_target_without_requests_is_refused() -> None:
    with pytest.raises(ScenarioError, match="gets no requests"):
        read("errorShare: {target: Deployment/shop/web, atMost: 1%}", more="")


def test_eighty_percent_in_time_is_not_green() -> None:
    time, share, errors, rate, cost = judge(
        f"responseTime: {{target: {WEB}, within: 1s}}", f"answeredInTime: {{target: {WEB}, atLeast: 99%}}",
        "errorShare: {atMost: 0.1%}", "throughput: {atLeast: 10}", "costPerHour: {atMost: 0.1}",
    )  # fmt: skip

    assert [one.verdict for one in (time, share, errors, rate, cost)] == [
        Verdict.SAMPLED_OK, Verdict.VIOLATED, Verdict.SAMPLED_OK, Verdict.SAMPLED_OK, Verdict.VIOLATED,
    ]  # fmt: skip
    assert share.detail.endswith("at least 99 % wanted")
    assert cost.detail == "0.2 (0.2 to 0.2 with 95 % confidence), at most 0.1 wanted"
    assert errors.detail.startswith("0 % (0 % to 0.0")  # no error in some 18,000 requests


def test_a_limit_within_the_interval_is_open_and_more_runs_decide_it() -> None:
    level = f"answeredInTime: {{target: {WEB}, atLeast: 81%}}"

    (few,), (many,) = judge(level, runs=3, duration_s=60), judge(level, runs=40, duration_s=300)

    assert few.verdict == Verdict.UNKNOWN
    assert many.verdict == Verdict.SAMPLED_OK


def test_without_prices_a_cost_has_nothing_to_say() -> None:
    web = deployment("web")
    loaded = load_text(node("n1"), web, scenario("start: deployed\nintents: [{costPerHour: {atMost: 1}}]"))

    (found,) = simulate_cluster(loaded, SimulateOptions(duration_s=10)).intents

    assert found.verdict == Verdict.VACUOUS


def test_a_share_of_time_is_judged_along_runs() -> None:
    crashes = f"events: [{{podCrash: {{target: {WEB}, max: unlimited, mtbf: 10m}}}}]"
    found = simulate_cluster(
        read("readyShare: {atLeast: 50%}", "readyShare: {atLeast: 99.9%}", more=crashes),
        SimulateOptions(duration_s=3600, runs=10),
    )

    assert [one.verdict for one in found.intents] == [Verdict.SAMPLED_OK, Verdict.VIOLATED]


def test_runs_without_a_dip_do_not_prove_three_nines() -> None:
    (found,) = simulate_cluster(
        read("readyShare: {atLeast: 99.9%}", more=""), SimulateOptions(runs=5, duration_s=60)
    ).intents

    assert found.verdict == Verdict.UNKNOWN
    assert found.detail.startswith("100 % (56.5")


def test_verify_says_that_it_does_not_judge_them() -> None:
    with pytest.raises(NothingToCheckError, match="service levels alone"):
        plan_of(read("costPerHour: {atMost: 1}"), VerifyOptions())


def test_the_scope_of_verify_names_them_and_simulate_exits_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    intents = f"[{{minReady: {{target: {WEB}, count: 1}}}}, {{costPerHour: {{atMost: 0.1}}}}]"
    spec = f"start: deployed\nintents: {intents}\n{PRICES}"
    (tmp_path / "in.yaml").write_text("\n---\n".join((node("n1"), deployment("web"), scenario(spec))))

    assert main(["verify", str(tmp_path)]) == 0
    assert "1, not judged here: kubeproof simulate measures them" in capsys.readouterr().out
    assert main(["simulate", str(tmp_path), "--duration", "10s", "-o", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [(one["id"], one["verdict"]) for one in found["intents"]] == [("S001", "SAMPLED-OK"), ("P005", "VIOLATED")]


@pytest.mark.parametrize(("duration_s", "width"), [(900, 0.03), pytest.param(7200, 0.01, marks=pytest.mark.slow)])
def test_processor_sharing_has_its_closed_form(duration_s: int, width: float) -> None:
    """M/D/1-PS: the mean response time is that of an idle pod by the share of time it is idle, 40 ms / 0.4."""
    options = SimulateOptions(duration_s=duration_s, runs=25)

    found = simulate_cluster(read(f"responseTime: {{target: {WEB}, within: 1s}}"), options).confidence

    assert found is not None
    mean = found.services[0].mean_s
    assert mean is not None
    assert mean.lower <= 0.04 / (1 - 0.6) <= mean.upper
    assert mean.upper - mean.lower <= width * mean.value
