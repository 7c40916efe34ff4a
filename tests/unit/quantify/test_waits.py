"""What comes before waits: events that end one have the chance that they have in continuous time."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from kubeproof.manifests.load import load
from kubeproof.quantify.clusters.options import WITHIN, ClusterOptions
from tests.unit.quantify.programs import needs_storm

pytestmark = needs_storm
HOUR_S = 3600
MISSED_S = (50, 55)  # a node is missed so long after its last sign of life
NODE = """apiVersion: v1
kind: Node
metadata: {{name: {name}}}
status: {{allocatable: {{cpu: "2", memory: 4Gi, pods: "20"}}}}
---
"""
WEB = """apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: 3
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: web, image: web, resources: {{requests: {{cpu: 500m, memory: 64Mi}}}}}}]}}
---
apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {{name: failures}}
spec:
  start: {{placement: {{Deployment/web: {{a: 1, b: 1, c: 1}}}}}}
  quantify: {{tick: {tick}, stepTime: 1ms}}
  events: [{{nodeFailure: {{max: 1, ratePerHour: 2, recovery: {{ratePerHour: {recovery}}}}}}}]
  intents: [{{minReady: {{target: Deployment/web, count: 3, when: always}}}}]
"""


@pytest.mark.parametrize("recovery", [1, 20, 120])
def test_a_node_that_recovers_before_it_is_missed_violates_nothing(tmp_path: Path, recovery: int) -> None:
    from kubeproof.quantify.clusters.run import quantify_cluster

    file = tmp_path / "cluster.yaml"
    file.write_text("".join(NODE.format(name=name) for name in "abc") + WEB.format(tick="10s", recovery=recovery))
    found = quantify_cluster(load((str(file),)), ClusterOptions(questions=(WITHIN,))).intents[0].within

    late, early = (_by_hand(recovery, missed_s) for missed_s in reversed(MISSED_S))
    assert found.least.value == pytest.approx(late, rel=2e-4)
    assert found.greatest.value == pytest.approx(early, rel=2e-4)


def _by_hand(recovery: float, missed_s: float) -> float:
    """One of three nodes fails early enough, and does not recover until it is missed."""
    return math.exp(-recovery * missed_s / HOUR_S) * -math.expm1(-6 * (HOUR_S - missed_s) / HOUR_S)
