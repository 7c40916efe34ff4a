"""All distinct violations of an intent."""

from kubeproof.manifests.load import load_texts
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.run import verify

INPUT = """
apiVersion: v1
kind: Node
metadata: {name: a, labels: {kubernetes.io/hostname: a}}
status: {allocatable: {cpu: "4", memory: 8Gi}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
---
apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {name: two-ways-down}
spec:
  events:
  - podCrash: {target: Deployment/web}
  - nodeFailure: {recovers: false}
  intents:
  - minReady: {target: Deployment/web, count: 1}
"""


def run(*, find_all):
    return verify(load_texts([("input.yaml", INPUT)]), VerifyOptions(find_all=find_all)).results


def last_actors(results):
    return [result.trace.steps[-1].actor for result in results]


def test_the_first_violation_is_enough_by_default():
    assert last_actors(run(find_all=False)) == ["event podCrash-1"]


def test_violations_that_differ_in_who_does_what_at_the_end_are_all_told():
    results = run(find_all=True)

    assert {result.verdict for result in results} == {"VIOLATED"}
    assert sorted(last_actors(results)) == ["event podCrash-1", "node-controller"]
