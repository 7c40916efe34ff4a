"""The ordinary run begins where everybody is at rest, autoscalers as well."""

from __future__ import annotations

from kubeproof.manifests.load import load_texts
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.what_if.ordinary import follow_ordinary
from tests.unit.verify.inputs import node, scenario

SCALED = """apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: registry.example.com/main, resources: {requests: {cpu: 100m}}}]}
"""
SCALER = """apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 2
  maxReplicas: 4
"""
DRAIN = scenario("{settles: {}}", events="{drain: {nodes: {names: [a]}}}", start="deployed")


def test_a_size_that_an_autoscaler_writes_is_there_before_anything_happens() -> None:
    loaded = load_texts([("in.yaml", "---\n".join((node("a"), node("b"), SCALED, SCALER, DRAIN)))])

    run = follow_ordinary(loaded, VerifyOptions(), ("a",))

    assert run is not None
    assert [(spell.target, spell.lowest) for spell in run.spells] == [("Deployment/shop/web", 1)]
    assert all("spec.replicas" not in step.action for step in run.steps)
