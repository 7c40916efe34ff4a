"""Autoscalers beside what waits for days: idle syncs are caught up on in one jump, however many there are."""

from __future__ import annotations

from kubeproof.manifests.load import load_texts
from kubeproof.verdicts import Verdict
from kubeproof.verify.result import VerifyResult
from kubeproof.verify.run import verify

NODES = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "20"}}
---
apiVersion: v1
kind: Node
metadata: {name: n2, labels: {kubernetes.io/hostname: n2}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "20"}}
"""
API = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec:
  replicas: 2
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec:
      tolerations:
      - {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: TOLERATED}
      containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]
"""
AUTOSCALER = """
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: api}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: api}
  minReplicas: 2
  maxReplicas: 6
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
"""
CRON_JOB = """
apiVersion: batch/v1
kind: CronJob
metadata: {name: report}
spec:
  schedule: "SCHEDULE"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]
"""
SCENARIO = """
apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {name: waits}
spec:
  events: EVENTS
  intents:
  - minReady: {target: Deployment/api, count: COUNT}
"""
LOAD = '[{cpuChange: {target: Deployment/api, levels: ["20%", "100%"], after: stable}}]'
DAILY, WEEKLY = "0 3 * * *", "0 3 * * 1"


def _checked(*documents: str, **values: object) -> VerifyResult:
    text = "---".join(documents)
    for word, value in {"TOLERATED": 300, "COUNT": 1, **values}.items():
        text = text.replace(word, str(value))
    return verify(load_texts((("input.yaml", text),)))


def test_the_length_of_a_wait_makes_no_states() -> None:
    one_node = NODES.split("---")[0]
    inputs = (one_node, API, AUTOSCALER, CRON_JOB, SCENARIO)

    daily = _checked(*inputs, SCHEDULE=DAILY, EVENTS=LOAD)
    weekly = _checked(*inputs, SCHEDULE=WEEKLY, EVENTS=LOAD)

    assert daily.verdict == weekly.verdict == Verdict.HOLDS
    assert weekly.statistics.states == daily.statistics.states


def test_a_daily_job_beside_an_autoscaler_has_no_more_states_than_both_lives_side_by_side() -> None:
    one_node = NODES.split("---")[0]
    both = _checked(one_node, API, AUTOSCALER, CRON_JOB, SCENARIO, SCHEDULE=DAILY, EVENTS=LOAD).statistics
    scaled = _checked(one_node, API, AUTOSCALER, SCENARIO, EVENTS=LOAD).statistics
    started = _checked(one_node, API, CRON_JOB, SCENARIO, SCHEDULE=DAILY, EVENTS="[]").statistics

    assert (scaled.states, started.states, both.states) == (49, 68, 1348)
    assert both.states < scaled.states * started.states


def test_pods_that_tolerate_a_lost_node_for_two_days_are_missed_until_then() -> None:
    events = "[{nodeFailure: {recovers: false, after: stable}}]"
    inputs = (NODES, API, AUTOSCALER, SCENARIO)

    found = _checked(*inputs, TOLERATED=200_000, COUNT=2, EVENTS=events)
    alone = _checked(NODES, API, SCENARIO, TOLERATED=200_000, COUNT=2, EVENTS=events)
    kept = _checked(*inputs, TOLERATED=200_000, EVENTS=events)

    assert found.verdict == alone.verdict == Verdict.VIOLATED
    assert kept.verdict == Verdict.HOLDS
