"""Sizes that somebody else writes are not argued about by following one pod: how they grow decides."""

from __future__ import annotations

import pytest

from kubeproof.manifests.load import load_texts
from kubeproof.manifests.loaded import Loaded
from kubeproof.verdicts import Verdict
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.any_size.derive import prove_any_size
from kubeproof.verify.resize import Size, resize
from kubeproof.verify.run import verify_intents
from tests.unit.verify.inputs import node, web

HPA = """apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 2, maxReplicas: 4}
"""
SCENARIO = """apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {name: s}
spec:
  events: [EVENTS]
  intents: [{INTENT}]
  scale:
    nodes: [{like: a, count: {min: 3, max: 6}}]
    workloads: [{target: Deployment/shop/web, replicas: {min: 2, max: 40}RULE}]
"""
LOAD = 'cpuChange: {target: Deployment/shop/web, levels: ["50%", "100%"]}'
PENDING, READY = (
    "noPendingForever: {}",
    "minReady: {target: Deployment/shop/web, count: 2, when: eventuallyAlways}",
)


def growing(intent: str, *, events: str = "", rule: str = "", autoscaler: str = HPA) -> Loaded:
    asked = SCENARIO.replace("EVENTS", f"{{{events}}}" if events else "").replace("INTENT", intent)
    parts = [node("a"), web(2, cpu="1"), autoscaler, asked.replace("RULE", rule)]
    return load_texts([("in.yaml", "---\n".join(part for part in parts if part))])


def verdict_at(loaded: Loaded, nodes: int, pods: int) -> Verdict:
    assert loaded.scenario.scale is not None
    size = Size((("a", nodes),), (("Deployment/shop/web", pods),))
    return verify_intents(resize(loaded, loaded.scenario.scale, size), VerifyOptions()).verdict


@pytest.mark.parametrize(
    ("loaded", "pods"),
    [
        (growing(PENDING, events=LOAD), 12),
        (growing(PENDING, events="scale: {target: Deployment/shop/web, replicas: [4]}", autoscaler=""), 12),
        (growing(READY, rule=', autoscaler: {min: "min(P, 6)", max: "P+2"}'), 7),
    ],
    ids=["an autoscaler grows as the replicas do", "an event writes sizes", "an autoscaler falls behind the count"],
)
def test_what_breaks_at_some_size_is_not_proved_for_any(loaded: Loaded, pods: int) -> None:
    assert verdict_at(loaded, 3, pods) == Verdict.VIOLATED

    assert prove_any_size(loaded, VerifyOptions()) == {}
