"""Tiny clusters whose numbers can be computed by hand."""

from __future__ import annotations

from pathlib import Path

from kubeproof.manifests.load import load
from kubeproof.manifests.loaded import Loaded

OBJECTS = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "1", memory: 8Gi, pods: "110"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: web, resources: {requests: {cpu: 500m, memory: 64Mi}}}]
---
"""
SCENARIO = """
apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {{name: tiny}}
spec:
  start: {{placement: {{Deployment/web: {{n1: 1}}}}}}
  controllers: {{kubelet: {{startup: 5s}}}}
  quantify: {quantify}
  events: {events}
  intents: {intents}
"""
READY = "[{minReady: {target: Deployment/web, count: 1, when: always}}]"


def text_of(events: str, *, quantify: str = "{}", intents: str = READY) -> str:
    """One ready pod on one node, and what may happen to it."""
    return OBJECTS + SCENARIO.format(events=events, quantify=quantify, intents=intents)


def tiny(folder: Path, events: str, *, quantify: str = "{}", intents: str = READY) -> Loaded:
    """The same, read."""
    file = folder / "tiny.yaml"
    file.write_text(text_of(events, quantify=quantify, intents=intents))
    return load((str(file),))
