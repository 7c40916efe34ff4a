"""Small inputs of checks, and what they find."""

from __future__ import annotations

from kubeproof.manifests.load import load
from kubeproof.manifests.loaded import Loaded
from kubeproof.verify.checks.run import run_checks
from kubeproof.verify.result import CheckFinding


def loaded(*objects: str, **files: str) -> Loaded:
    """One input of the objects, in one file; further files by name, `__` for a slash."""
    given = [("in.yaml", "---\n".join(objects).encode())] if objects else []
    given += [(f"{name.replace('__', '/')}.yaml", text.encode()) for name, text in files.items()]
    return load((), given=given, is_tolerant=True)


def found(*objects: str, **files: str) -> list[CheckFinding]:
    return list(run_checks(loaded(*objects, **files)))


def told(id_: str, *objects: str, **files: str) -> list[tuple[str, str, str]]:
    """Severity, target and message of what one check finds."""
    return [(one.severity, one.target, one.message) for one in found(*objects, **files) if one.id == id_]


def deployment(
    name: str = "web",
    *,
    replicas: str = "2",
    labels: str = "",
    pod: str = "",
    container: str = "",
    resources: str = "requests: {cpu: 100m, memory: 64Mi}",
    spec: str = "",
    annotations: str = "",
    kind: str = "Deployment",
    namespace: str = "shop",
) -> str:
    labels = labels or f"app: {name}"
    return f"""apiVersion: apps/v1
kind: {kind}
metadata: {{name: {name}, namespace: {namespace}, annotations: {{{annotations}}}}}
spec:
  {f"replicas: {replicas}" if replicas else ""}
  selector: {{matchLabels: {{{labels}}}}}
  {spec}
  template:
    metadata: {{labels: {{{labels}}}}}
    spec:
      {pod}
      containers:
      - name: main
        image: registry.example.com/main:1
        resources: {{{resources}}}
        {container}
"""


def service(name: str = "web", selector: str = "app: web", ports: str = "{port: 80}", labels: str = "") -> str:
    return f"""apiVersion: v1
kind: Service
metadata: {{name: {name}, namespace: shop, labels: {{{labels}}}}}
spec: {{selector: {{{selector}}}, ports: [{ports}]}}
"""


def budget(amount: str, *, name: str = "web", selector: str = "app: web") -> str:
    return f"""apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: {name}, namespace: shop}}
spec: {{selector: {{matchLabels: {{{selector}}}}}, {amount}}}
"""


def autoscaler(
    target: str = "web",
    *,
    name: str = "web",
    least: int = 2,
    most: int = 5,
    metrics: str = "",
    kind: str = "Deployment",
) -> str:
    return f"""apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: {name}, namespace: shop}}
spec:
  scaleTargetRef: {{apiVersion: apps/v1, kind: {kind}, name: {target}}}
  minReplicas: {least}
  maxReplicas: {most}
  {metrics}
"""


def node(name: str, *, cpu: str = "2", zone: str = "a", more: str = "") -> str:
    return f"""apiVersion: v1
kind: Node
metadata:
  name: {name}
  labels: {{kubernetes.io/hostname: {name}, topology.kubernetes.io/zone: {zone}}}
spec: {{{more}}}
status: {{allocatable: {{cpu: "{cpu}", memory: 8Gi, pods: "110"}}}}
"""


APART = """affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}"""
