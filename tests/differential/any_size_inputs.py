"""Ordinary inputs that grow, for proofs about any size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from kubeproof.manifests.load import load_texts
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

IN_THE_END = """noPendingForever: {target: Deployment/shop/web}
  - settles: {}
  - minReady: {target: Deployment/shop/web, count: 2, when: eventuallyAlways}"""


def happens(*events: str, intent: str = IN_THE_END, more: str = "terminationGracePeriodSeconds: 30") -> Loaded:
    """One workload, on nodes of one kind, to which something happens."""
    ((name, text),) = grows(fast=9, slow=9, pods=99, intent=intent, more=more).texts
    told = "".join(f"  - {event}\n" for event in events)
    text = text.replace(", {like: slow, count: {min: 0, max: 9}}", "")
    return load_texts([(name, text.replace("  intents:", f"  events:\n{told}  intents:"))])


FAILURE, DRAIN = "nodeFailure: {max: 1}", "drain: {max: 1}"
ROLLOUT = "rollout: {target: Deployment/shop/web}"

INPUTS: Mapping[str, Callable[[], Loaded]] = {
    "room on two kinds of nodes": partial(grows, fast=9, slow=9, pods=99),
    "room on one kind of two": partial(grows, fast=9, slow=9, pods=99, more=ONLY_FAST),
    "room beside another workload": partial(grows, fast=9, slow=9, pods=99, objects=OTHERS),
    "room with an autoscaler": partial(grows, fast=9, slow=9, pods=99, objects=AUTOSCALER),
    "never below an autoscaler's least": partial(grows, fast=9, slow=9, pods=99, objects=AUTOSCALER, intent=FEW),
    "never above an autoscaler's most": partial(grows, fast=9, slow=9, pods=99, objects=AUTOSCALER, intent=MANY),
    "a node fails": partial(happens, FAILURE),
    "a node is drained": partial(happens, DRAIN),
    "a rollout": partial(happens, ROLLOUT),
    "a rollout and a failure": partial(happens, ROLLOUT, FAILURE),
    "a drain completes": partial(happens, DRAIN, intent="drainCompletes: {}"),
}
