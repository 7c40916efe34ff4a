"""Ordinary inputs that grow, for proofs about any size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from kubeproof.manifests.loaded import Loaded
from tests.unit.verify.scaling.inputs import ONLY_FAST, grows

OTHERS = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: other, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: other}}
  template:
    metadata: {labels: {app: other}}
    spec: {containers: [{name: other, image: web, resources: {requests: {cpu: 500m}}}]}
---"""
AUTOSCALER = """
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 2
  maxReplicas: 4
---"""
FEW = "minReplicas: {target: Deployment/shop/web, count: 2}"
MANY = "maxReplicas: {target: Deployment/shop/web, count: 4}"

INPUTS: Mapping[str, Callable[[], Loaded]] = {
    "room on two kinds of nodes": partial(grows, fast=9, slow=9, pods=99),
    "room on one kind of two": partial(grows, fast=9, slow=9, pods=99, more=ONLY_FAST),
    "room beside another workload": partial(grows, fast=9, slow=9, pods=99, objects=OTHERS),
    "room with an autoscaler": partial(grows, fast=9, slow=9, pods=99, objects=AUTOSCALER),
    "never below an autoscaler's least": partial(grows, fast=9, slow=9, pods=99, objects=AUTOSCALER, intent=FEW),
    "never above an autoscaler's most": partial(grows, fast=9, slow=9, pods=99, objects=AUTOSCALER, intent=MANY),
}
