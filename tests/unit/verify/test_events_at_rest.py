"""The built-in scenario, where it is too large: a second look with events at rest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kubeproof.engine.stopped import INTERRUPTED
from kubeproof.manifests.load import load_texts
from kubeproof.verify.counterexamples.rerun import rerun
from kubeproof.verify.options import Effort, VerifyOptions
from kubeproof.verify.result import Statistics, VerifyResult
from kubeproof.verify.run import verify
from kubeproof.verify.strategies import events_at_rest

AUTOSCALER = """
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 1
  maxReplicas: MOST
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]
"""
WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, resources: {requests: {cpu: "1"}}}]}
"""


def cluster(most: int) -> str:
    """Two nodes for two pods each, and an autoscaler that may ask for so many."""
    nodes = [
        f"{{apiVersion: v1, kind: Node, metadata: {{name: n{n}}}, status: {{allocatable: {{cpu: '2', pods: '9'}}}}}}"
        for n in (1, 2)
    ]
    return "\n---\n".join([*nodes, WEB, AUTOSCALER.replace("MOST", str(most))])


SOON_OVER = VerifyOptions(effort=Effort(max_unasked=400, max_looks=0))


def verified(most: int, options: VerifyOptions = SOON_OVER) -> VerifyResult:
    return verify(load_texts([("all.yaml", cluster(most))]), options)


def pending(result: VerifyResult):
    return next(one for one in result.results if one.key == "noPendingForever")


def test_what_breaks_with_events_at_rest_is_found_and_is_a_run_of_the_scenario_itself() -> None:
    result = verified(3)

    found = pending(result)
    assert (found.verdict, result.verdict) == ("VIOLATED", "VIOLATED")
    assert found.detail.endswith("the run shown is a shortest of those with events at rest")
    assert rerun(result.inputs, found, VerifyOptions()).run.steps
    assert dict(result.scope)["explored"] == "in part: stopped by 400 states"
    assert dict(result.scope)["and then"].startswith("every run whose events come to a cluster at rest: ")


def test_what_holds_with_events_at_rest_is_told_and_stays_undecided() -> None:
    later = VerifyOptions(effort=Effort(max_unasked=3_000))
    settles = next(one for one in verified(3, later).results if one.key == "settles")

    assert settles.verdict == "UNKNOWN"
    assert settles.detail.endswith("; it holds in every run whose events come to a cluster at rest")


@pytest.mark.parametrize("options", [VerifyOptions(max_states=400), VerifyOptions(max_states=400, timeout_s=60)])
def test_limits_of_the_user_are_not_exceeded(options: VerifyOptions) -> None:
    assert "and then" not in dict(verified(3, options).scope)


def test_a_scenario_of_the_user_is_not_changed() -> None:
    loaded = load_texts([("all.yaml", cluster(3))])
    own = replace(loaded, scenario=replace(loaded.scenario, is_default=False))

    assert "and then" not in dict(verify(own, VerifyOptions(max_states=400)).scope)


def test_an_interrupted_second_look_is_an_interrupted_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(loaded, plan, options, results, again, look):
        again.keywords["stop"].ask()
        return list(results), Statistics(states=7, stopped_by=INTERRUPTED)

    monkeypatch.setattr(events_at_rest, "search_at_rest", interrupted)

    assert verified(3).statistics.stopped_by == INTERRUPTED
