"""Continuous time with loops that have a period, how long it takes until pods are ready again, shares of a window."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from kubeproof.cli.main import main
from kubeproof.errors import UsageError
from kubeproof.manifests.load import load
from kubeproof.manifests.loaded import Loaded
from kubeproof.quantify.clusters.options import FIRST, RECOVERY, SHORT, WITHIN, ClusterOptions
from tests.unit.quantify.clusters import OBJECTS, tiny
from tests.unit.quantify.programs import needs_storm
from tests.unit.quantify.test_rates import DAY_S, HOUR_S, ask, holds

pytest.importorskip("numpy")
SCENARIO = """
apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {{name: rounds}}
spec:
  start: {{placement: {placement}}}
  controllers: {{kubelet: {{startup: 5s}}, {loops}}}
  events: {events}
  intents: {intents}
"""
NODE = "{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: '1', memory: 8Gi, pods: '9'}}}"
DUPLICATES = """---
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: spread
  pluginConfig: [{name: DefaultEvictor}, {name: RemoveDuplicates}]
  plugins: {balance: {enabled: [RemoveDuplicates]}}
"""
ALWAYS = "[{minReady: {target: Deployment/web, count: 1, when: always}}]"


def rounds(
    folder: Path, loops: str, events: str, *, more: str = "", replicas: int = 1, intents: str = ALWAYS
) -> Loaded:
    """A cluster with loops that come round, its pods on the first node at first."""
    scenario = SCENARIO.format(
        loops=loops, events=events, intents=intents, placement=f"{{Deployment/web: {{n1: {replicas}}}}}"
    )
    objects = OBJECTS.replace("replicas: 1", f"replicas: {replicas}").rstrip().removesuffix("---")
    (folder / "rounds.yaml").write_text(objects + more + "\n---" + scenario)
    return load((str(folder),))


def test_a_reconciler_finds_drift_at_its_next_round(tmp_path: Path) -> None:
    """Rounds come every 3 min; what is drawn in between waits for the next, T / (1 - exp(-r T)) - 1/r on average."""
    event = "[{scale: {target: Deployment/web, replicas: [0], mtbf: 1h}}]"
    loaded = rounds(tmp_path, "gitops: {interval: 3m}", event)

    (found,) = ask(loaded, horizon_s=DAY_S, questions=(SHORT, RECOVERY)).shortages

    missing_s = 180 / (1 - math.exp(-180 / HOUR_S)) - HOUR_S + 5
    assert holds(found.within, missing_s / DAY_S, 0.05)
    assert holds(found.recovery_s, missing_s, 0.05)
    for span, true in ((found.within, missing_s / DAY_S), (found.recovery_s, missing_s)):
        assert span is not None
        assert span.least is not None
        assert span.least.value == pytest.approx(true, rel=1e-5)
        assert span.least.guarantee == "extrapolated"


def test_the_descheduler_comes_after_its_interval(tmp_path: Path) -> None:
    """Two pods on one node beside an empty one: the first round, 5 min after the start, evicts one of them."""
    both = "[{minReady: {target: Deployment/web, count: 2, when: always}}]"
    crash = "[{podCrash: {target: Deployment/web, ratePerYear: 0.0001}}]"
    loaded = rounds(
        tmp_path, "descheduler: {interval: 5m}", crash, more=f"---\n{NODE}\n{DUPLICATES}", replicas=2, intents=both
    )

    (intent,) = ask(loaded, horizon_s=HOUR_S, questions=(FIRST, WITHIN)).intents

    assert holds(intent.first_s, 300, 1e-6)


def test_what_remembers_more_than_its_next_round_is_refused(tmp_path: Path) -> None:
    (tmp_path / "hpa.yaml").write_text(
        "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {maxReplicas: 3, "
        "scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, "
        "metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]}}"
    )
    crash = "[{podCrash: {target: Deployment/web, mtbf: 1h}}]"

    with pytest.raises(UsageError, match=r"remember more than when they act next \(hpa web\).*replicas it settles at"):
        ask(rounds(tmp_path, "gitops: {interval: 3m}", crash))


@pytest.mark.parametrize(
    ("events", "intents", "who"),
    [
        ("[{scale: {target: Deployment/web, replicas: [0], mtbf: 1h, after: stable}}]", ALWAYS, "scale-1"),
        (
            "[{scale: {target: Deployment/web, replicas: [0], mtbf: 1h}}]",
            "[{minReady: {target: Deployment/web, count: 1, when: stable}}]",
            "minReady Deployment/default/web",
        ),
    ],
)
def test_nothing_rests_beside_a_clock_that_goes_round(tmp_path: Path, events: str, intents: str, who: str) -> None:
    with pytest.raises(UsageError, match=f"no rest beside loops with a period, and these ask for it: {who}"):
        ask(rounds(tmp_path, "gitops: {interval: 3m}", events, intents=intents))


# -- shares of a window, and how long they last --------------------------------------------------

CRASH = "[{podCrash: {target: Deployment/web, max: 1, mtbf: 1h}}]"


def test_one_crash_is_over_after_its_start_up(tmp_path: Path) -> None:
    """The first crash has no back-off: the container starts again within 5 s."""
    (found,) = ask(tiny(tmp_path, CRASH), horizon_s=DAY_S, questions=(SHORT, RECOVERY)).shortages

    assert holds(found.recovery_s, 5, 0.01)
    assert holds(found.within, 5 / DAY_S * (1 - math.exp(-24)), 0.01)


@needs_storm
def test_in_steps_the_share_of_a_window_is_the_same(tmp_path: Path) -> None:
    from kubeproof.quantify.clusters.run import quantify_cluster

    (found,) = quantify_cluster(
        tiny(tmp_path, CRASH), ClusterOptions(horizon_s=DAY_S, questions=(SHORT,), order="uniform")
    ).shortages

    assert found.within is not None
    assert found.within.least is not None
    assert found.within.least.value == pytest.approx(5 / DAY_S, rel=0.01)
    assert found.span is None


def test_recovery_is_held_against_what_was_promised(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    levels = "[{recoveryTime: {within: 6s}}, {recoveryTime: {within: 4s, count: 1}}, {readyShare: {atLeast: 99%}}]"
    tiny(tmp_path, CRASH, intents=levels)

    assert main(["quantify", "cluster", str(tmp_path), "--rates", "--ask", "recovery", "--ask", "short"]) == 1
    told = capsys.readouterr().out
    assert "HOLDS P007 recoveryTime Deployment/default/web: 4.99" in told
    assert "VIOLATED P007 recoveryTime Deployment/default/web #2: 4.99" in told
    assert "HOLDS P006 readyShare Deployment/default/web: 0.999" in told

    assert main(["quantify", "cluster", str(tmp_path), "--rates", "--ask", "recovery", "-o", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["recovery_s"][0]["min"]["value"] == pytest.approx(5, rel=0.01)
    assert found["share_of_horizon"][0] == {
        "intent": "recoveryTime Deployment/default/web", "target": "Deployment/default/web", "below": "1",
        "min": None, "max": None,
    }  # fmt: skip


def test_recovery_is_about_continuous_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("stormpy")
    tiny(tmp_path, CRASH)

    assert main(["quantify", "cluster", str(tmp_path), "--ask", "recovery"]) == 2
    assert "Add --rates" in capsys.readouterr().err


def test_simulated_runs_measure_recovery_as_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    crash = "[{podCrash: {target: Deployment/web, max: unlimited, mtbf: 20m}}]"
    tiny(tmp_path, crash, intents="[{recoveryTime: {within: 1h}}, {recoveryTime: {within: 1ms}}]")

    command = ["simulate", str(tmp_path), "--duration", "1h", "--runs", "4", "-o", "json"]
    assert main(command) == 1

    found = json.loads(capsys.readouterr().out)["intents"]
    assert [(one["id"], one["verdict"]) for one in found] == [("P007", "SAMPLED-OK"), ("P007", "VIOLATED")]


def test_properties_list_has_service_levels(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["properties", "list"]) == 0
    told = capsys.readouterr().out
    assert [line.split()[1] for line in told.splitlines() if line.startswith("P0")] == [
        "responseTime", "answeredInTime", "errorShare", "throughput", "costPerHour", "readyShare", "recoveryTime",
    ]  # fmt: skip

    assert main(["properties", "list", "-o", "json"]) == 0
    levels = json.loads(capsys.readouterr().out)["service_levels"]
    assert levels[5] == {
        "id": "P006", "key": "readyShare", "fields": ["target", "count", "atLeast"],
        "judged_by": ["simulate", "quantify"],
        "text": "For `atLeast` such a share of time at least `count` pods are ready (1 by default).",
    }  # fmt: skip
