"""Others have room beside all Jobs that a CronJob may have at once, not beside those alone that are followed."""

from __future__ import annotations

import pytest

from kubeproof.manifests.load import load_texts
from kubeproof.verdicts import Verdict
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.run import verify_intents
from tests.unit.verify.inputs import node, web

HIGH = """apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
"""
CRON = """apiVersion: batch/v1
kind: CronJob
metadata: {name: often, namespace: shop}
spec:
  schedule: "SCHEDULE"
  concurrencyPolicy: POLICY
  jobTemplate:
    spec:
      template:
        metadata: {labels: {app: often}}
        spec:
          priorityClassName: high
          restartPolicy: Never
          terminationGracePeriodSeconds: 0
          containers: [{name: main, image: main, resources: {requests: {cpu: "1"}}}]
"""
SCENARIO = """apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {name: s}
spec:
  start: deployed
  controllers: {cronJob: {maxJobs: 1}}
  events: [{completes: {target: CronJob/shop/often, after: 60m}}]
  intents: [{minReady: {target: Deployment/shop/web, count: 1}}]
"""


@pytest.mark.parametrize(
    ("schedule", "policy", "verdict"),
    [
        ("*/5 * * * *", "Allow", Verdict.UNKNOWN),
        ("*/5 * * * *", "Forbid", Verdict.HOLDS),
        ("0 */6 * * *", "Allow", Verdict.HOLDS),
    ],
)
def test_a_limit_of_the_search_is_no_bound_of_a_proof(schedule: str, policy: str, verdict: Verdict) -> None:
    cron = CRON.replace("SCHEDULE", schedule).replace("POLICY", policy)
    text = "---\n".join((node("a", cpu="6"), node("b", cpu="6"), HIGH, web(1), cron, SCENARIO))

    assert verify_intents(load_texts([("in.yaml", text)]), VerifyOptions()).verdict == verdict
