"""Random small clusters as files, in which something is easily violated: budgets, spreads, rollouts, full nodes."""

from __future__ import annotations

from random import Random

from tests.unit.verify.inputs import node

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
INTENTS = {
    "rollout": ["rolloutCompletes: {target: W}"],
    "drain": ["drainCompletes: {}"],
    "nodeFailure": ["minReady: {target: W, count: N, when: eventuallyAlways}"],
    "": ["schedulable: {target: W}"],
}
ALWAYS = ["noPendingForever: {target: W}", "minReady: {target: W, count: M, when: always}", "settles: {}"]


def draw_files(seed: int) -> dict[str, str]:
    """The files of a cluster: nodes, a workload or two, what steers them, and a Scenario."""
    random = Random(seed)
    pods = random.randint(1, 3)
    kind = random.choice(["Deployment"] * 4 + ["StatefulSet"])
    nodes = random.randint(2, 3)
    files = {
        "nodes.yaml": "---\n".join(_node(random, number) for number in range(nodes)),
        "web.yaml": _workload(random, kind, "web", pods),
        "scenario.yaml": _scenario(random, kind, pods),
    }
    if random.random() < 0.5:
        files["web.yaml"] += "---\n" + _budget(random, pods)
    if random.random() < 0.3:
        files["other.yaml"] = _workload(random, "Deployment", "other", random.randint(1, 2))
    if random.random() < 0.2:
        files = {name: text.replace("\n", "\r\n") for name, text in files.items()}
    return files


def _node(random: Random, number: int) -> str:
    taints = "{key: gpu, effect: NoSchedule}" if random.random() < 0.1 else ""
    text = node(f"n{number}", cpu=str(random.choice((1, 2, 2, 4))), taints=taints)
    return text.replace(f"{HOST}: n{number}", f"{HOST}: n{number}, {ZONE}: z{number % 2}")


def _workload(random: Random, kind: str, name: str, pods: int) -> str:
    spec = [f"  replicas: {pods}  # as ordered"] if random.random() < 0.7 else [f"  replicas: {pods}"]
    if kind == "StatefulSet":
        spec.append(f"  serviceName: {name}")
    if kind == "Deployment" and random.random() < 0.5:
        surge, missing = random.choice(((0, 1), (1, 0), (1, 1), (0, 2), ('"50%"', '"50%"')))
        spec.append(f"  strategy: {{rollingUpdate: {{maxSurge: {surge}, maxUnavailable: {missing}}}}}")
    below = _placing(random, name)
    return "\n".join(
        [
            "# Made at random.",
            "apiVersion: apps/v1",
            f"kind: {kind}",
            f"metadata: {{name: {name}, namespace: shop}}",
            "spec:",
            *spec,
            f"  selector: {{matchLabels: {{app: {name}}}}}",
            "  template:",
            f"    metadata: {{labels: {{app: {name}}}}}",
            "    spec:",
            *below,
            "      containers:",
            f"      - name: {name}",
            f'        resources: {{requests: {{cpu: "{random.choice(("500m", "1", "1", "1500m"))}"}}}}',
            "",
        ]
    )


def _placing(random: Random, name: str) -> list[str]:
    lines = []
    if random.random() < 0.4:
        lines += [
            "      topologySpreadConstraints:",
            f"      - topologyKey: {random.choice((HOST, ZONE))}",
            "        maxSkew: 1",
            f"        whenUnsatisfiable: {random.choice(('DoNotSchedule', 'DoNotSchedule', 'ScheduleAnyway'))}",
            f"        labelSelector: {{matchLabels: {{app: {name}}}}}",
        ]
    if random.random() < 0.3:
        lines += [
            "      affinity:",
            "        podAntiAffinity:",
            "          requiredDuringSchedulingIgnoredDuringExecution:",
            f"          - topologyKey: {HOST}",
            "            labelSelector:",
            f"              matchLabels: {{app: {name}}}",
        ]
    return lines


def _budget(random: Random, pods: int) -> str:
    field, number = random.choice((("minAvailable", pods), ("maxUnavailable", 0), ("maxUnavailable", 2)))
    return f"""apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: web, namespace: shop}}
spec:
  {field}: {number}
  selector: {{matchLabels: {{app: web}}}}
"""


def _scenario(random: Random, kind: str, pods: int) -> str:
    event = (
        random.choice(("rollout", "drain", "nodeFailure", "")) if kind == "Deployment" else random.choice(("drain", ""))
    )
    told = {
        "rollout": "- rollout: {target: W}",
        "drain": "- drain: {uncordon: true, max: 2}",
        "nodeFailure": "- nodeFailure: {recovers: false}",
    }.get(event)
    intents = [*INTENTS[event], *random.sample(ALWAYS, random.randint(0, 2))]
    text = f"""apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {{name: random}}
spec:
  start: {random.choice(("deployed", "empty")) if not event else "deployed"}
  events: {"[]" if told is None else ""}
"""
    text += f"  {told}\n" if told else ""
    text += "  intents:\n" + "".join(f"  - {intent}\n" for intent in dict.fromkeys(intents))
    return text.replace("W", f"{kind}/shop/web").replace("N", str(pods)).replace("M", str(max(1, pods - 1)))
