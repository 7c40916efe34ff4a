"""Small inputs with a scale."""

from kubeproof.manifests.load import load_texts
from kubeproof.manifests.loaded import Loaded

NODE = """
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}, disk: {disk}}}}}
status: {{allocatable: {{cpu: "{cpu}", memory: 8Gi, pods: "10"}}}}
---"""
WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      {more}
      containers: [{{name: web, image: web, resources: {{requests: {{cpu: "1"}}}}}}]
---"""
SCENARIO = """
apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {{name: grows}}
spec:
  controllers: {{kubelet: {{startup: 1s}}}}
  intents:
  - {intent}
  scale:
    nodes: [{{like: fast, count: {{min: 0, max: {fast}}}}}, {{like: slow, count: {{min: 0, max: {slow}}}}}]
    workloads: [{{target: Deployment/shop/web, replicas: {{min: 0, max: {pods}}}}}]
    {limit}
"""
SCHEDULABLE = "schedulable: {target: Deployment/shop/web}"
ONLY_FAST = "nodeSelector: {disk: fast}"


def grows(
    *,
    fast: int = 2,
    slow: int = 1,
    pods: int = 4,
    cpu: int = 3,
    replicas: int = 3,
    more: str = "terminationGracePeriodSeconds: 30",
    intent: str = SCHEDULABLE,
    limit: str = "",
    objects: str = "",
) -> Loaded:
    """Two kinds of nodes that hold `cpu` pods each, and one Deployment."""
    nodes = "".join(NODE.format(name=name, disk=name, cpu=cpu) for name in ("fast", "slow"))
    scenario = SCENARIO.format(intent=intent, fast=fast, slow=slow, pods=pods, limit=limit)
    return load_texts([("all.yaml", nodes + WEB.format(replicas=replicas, more=more) + objects + scenario)])
