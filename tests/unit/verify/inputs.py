"""Small inputs as text, and the models behind them."""

from __future__ import annotations

from kubeproof.manifests.load import load_texts
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.by_name.representatives import RepresentativeModel
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.result import IntentResult, VerifyResult
from kubeproof.verify.run import plan_of, verify

SCENARIO = """apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {{name: small}}
spec:
  start: {start}
  events: [{events}]
  intents: [{intents}]
"""


def node(name: str, *, cpu: str = "2", taints: str = "") -> str:
    """A Node of two CPUs."""
    return f"""apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}}}}}
spec: {{taints: [{taints}]}}
status: {{allocatable: {{cpu: "{cpu}", memory: 8Gi, pods: "110"}}}}
"""


def web(replicas: int, *, namespace: str = "shop", name: str = "web", cpu: str = "1", more: str = "") -> str:
    """A Deployment whose pods ask for one CPU; `more` goes into the pod spec."""
    return f"""apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: {namespace}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      {more}
      containers: [{{name: main, image: registry.example.com/main, resources: {{requests: {{cpu: "{cpu}"}}}}}}]
"""


def scenario(*intents: str, events: str = "", start: str = "empty") -> str:
    """A Scenario with intents and events in flow style."""
    return SCENARIO.format(intents=", ".join(intents), events=events, start=start)


def loaded(*documents: str) -> Loaded:
    """The documents as one file."""
    return load_texts([("in.yaml", "---\n".join(documents))])


def verified(*documents: str, **options: object) -> VerifyResult:
    """The verdicts, by the Python engine unless told otherwise."""
    return verify(loaded(*documents), VerifyOptions(**{"engine": "python", **options}))  # type: ignore[arg-type]


def only(result: VerifyResult) -> IntentResult:
    """The one intent's result."""
    (one,) = result.results
    return one


def model_of(*documents: str) -> RepresentativeModel:
    """The named model of an input."""
    return RepresentativeModel(plan_of(loaded(*documents), VerifyOptions()))


PENDING = (node("n1"), web(3), scenario("{schedulable: {target: Deployment/shop/web}}"))
LOOP = (node("n1"), web(3, more="nodeName: n1"), scenario("{settles: {}}"))
FAILING = (
    node("n1"),
    node("n2"),
    web(1),
    scenario("{minReady: {target: Deployment/shop/web, count: 1}}", events="{nodeFailure: {}}", start="deployed"),
)
