"""Well-known outages, told and mended: the mechanism is in the text, and the first repair is what an expert does."""

from __future__ import annotations

from textwrap import indent

import pytest

from kubeproof.manifests.load import load_texts
from kubeproof.verdicts import Verdict
from kubeproof.verify.fix.choice import Limits, list_edits
from kubeproof.verify.fix.inputs import open_input
from kubeproof.verify.fix.run import FixOptions, find_repairs
from kubeproof.verify.run import verify_intents
from tests.unit.verify.inputs import scenario

ZONES = "".join(
    f"""apiVersion: v1
kind: Node
metadata: {{name: n{number}, labels: {{kubernetes.io/hostname: n{number}, topology.kubernetes.io/zone: z{zone}}}}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "110"}}}}
---
"""
    for number, zone in ((1, "a"), (2, "b"), (3, "c"))
)
ALL_NEEDED = """apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec:
  minAvailable: 100%
  selector: {matchLabels: {app: web}}
"""
QUOTA = """apiVersion: v1
kind: ResourceQuota
metadata: {name: compute, namespace: shop}
spec:
  hard: {requests.cpu: 1500m}
"""
CRITICAL = """apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: critical}
value: 1000000
"""
SPREAD = """topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  minDomains: 3
  labelSelector: {matchLabels: {app: web}}
"""
SURGE = "strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}\n"
IN_THE_END = "{minReady: {target: Deployment/shop/web, count: 3, when: eventuallyAlways}}"
LOST = "{nodeFailure: {recovers: false}}"


def web(name: str = "web", replicas: int = 3, spec: str = "", pod: str = "", cpu: str = "500m") -> str:
    return f"""apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: shop}}
spec:
  replicas: {replicas}
{indent(spec, "  ")}  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
{indent(pod, "      ")}      containers: [{{name: main, resources: {{requests: {{cpu: {cpu}}}}}}}]
"""


def deployed(intent: str, events: str) -> str:
    return scenario(intent, events=events, start="deployed")


INCIDENTS = {
    "a budget that needs all pods keeps a node from being drained": (
        (web(), ALL_NEEDED, deployed("{drainCompletes: {}}", "{drain: {}}")),
        ("needs 3 healthy pods and has 3", "Write maxUnavailable: 1", "(in.yaml:"),
        "PodDisruptionBudget/shop/web: minAvailable 66%",
    ),
    "two budgets for the same pods keep a node from being drained": (
        (
            web(),
            ALL_NEEDED.replace("100%", "1"),
            ALL_NEEDED.replace("100%", "2").replace("{name: web, ", "{name: team, "),
            deployed("{drainCompletes: {}}", "{drain: {}}"),
        ),
        ("2 budgets match (team, web)", "Let only one of the budgets shop/web, shop/team select", "(in.yaml:"),
        "PodDisruptionBudget/shop/web: its selector leaves out app=web, and so all pods",
    ),
    "a quota has no room for the pod that a rollout adds": (
        (web(spec=SURGE), QUOTA, deployed("{rolloutCompletes: {}}", "{rollout: {target: Deployment/shop/web}}")),
        ("1500m of 1500m requests.cpu used, 500m more", "Raise ResourceQuota/shop/compute", "an old pod of Deploy"),
        "Deployment/shop/web: maxSurge 1, maxUnavailable 1",
    ),
    "a zone that is lost counts as an empty domain": (
        (web(pod=SPREAD), deployed(IN_THE_END, "{zoneFailure: {recovers: false}}")),
        ("PodTopologySpread refuses", "fewer domains than minDomains 3, while n1 cannot take pods"),
        "Deployment/shop/web: spread over topology.kubernetes.io/zone: maxSkew 1 -> 2",
    ),
    "pods that tolerate everything stay on a dead node": (
        (web(pod="tolerations: [{operator: Exists}]\n"), deployed(IN_THE_END, LOST)),
        ("without end (no tolerationSeconds)", "Drop that toleration from Deployment/shop/web"),
        "Deployment/shop/web: no toleration of everything",
    ),
    "a request that no node has": (
        (web(replicas=1, cpu="5"), scenario("{schedulable: {}}")),
        ("5000m asked for, 4000m of 4000m free", "let it request less"),
        "Deployment/shop/web: cpu requests x 3/4",
    ),
    "batch work of a critical class takes the place of a service": (
        (
            web(replicas=6, cpu="1500m"),
            CRITICAL,
            web("batch", 2, pod="priorityClassName: critical\n", cpu="1500m"),
            deployed(
                "{minReady: {target: Deployment/shop/web, count: 5}}", "{create: {target: Deployment/shop/batch}}"
            ),
        ),
        ("(priority 0) make way for Deployment/shop/batch (priority 1000000)", "preemptionPolicy: Never"),
        "Deployment/shop/web: priorityClassName critical",
    ),
}


@pytest.mark.parametrize("name", INCIDENTS)
def test_an_outage_is_told_and_mended_as_an_expert_would(name: str) -> None:
    documents, told, repair = INCIDENTS[name]
    given = load_texts([("in.yaml", ZONES + "---\n".join(documents))])
    one = next(one for one in verify_intents(given).results if one.verdict == Verdict.VIOLATED)
    found = find_repairs(given, FixOptions(wanted=1, max_candidates=60))

    assert one.explanation is not None
    text = " ".join((one.explanation.happens, *one.explanation.why, one.explanation.change))
    assert [words for words in told if words not in text] == [], text
    assert [[edit.title for edit in proposal.edits] for proposal in found.proposals] == [[repair]]


JOB = """apiVersion: batch/v1
kind: Job
metadata: {name: load, namespace: shop}
spec:
  backoffLimit: 0
  template:
    metadata: {labels: {app: load}}
    spec: {restartPolicy: Never, containers: [{name: main, image: load, resources: {requests: {cpu: 100m}}}]}
"""


def test_a_job_that_forgives_nothing_is_to_forgive_and_never_to_wait_on_a_dead_node() -> None:
    given = open_input(load_texts([("job.yaml", JOB)]))
    edits = {edit.kind: edit.does for edit in list_edits(given.objects, Limits())}

    assert edits["backoffLimit"] == "backoffLimit 6 in place of 0"
    assert not any("for ever" in edit.does for edit in list_edits(given.objects, Limits()))


def test_a_share_of_pods_stays_a_share_where_their_number_may_change() -> None:
    budget = """apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec: {minAvailable: 80%, selector: {matchLabels: {app: web}}}
"""
    given = open_input(load_texts([("web.yaml", "---\n".join((web(replicas=4), budget)))]))
    offered = {edit.does for edit in list_edits(given.objects, Limits()) if edit.kind == "budget"}

    assert offered == {"maxUnavailable 1", "minAvailable 75%", "maxUnavailable 2"}
