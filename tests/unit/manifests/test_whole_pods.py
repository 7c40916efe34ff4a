"""spec.resources of a pod: what it requests as a whole replaces the sum of its containers."""

from __future__ import annotations

import pytest

from kubeproof.controllers.scheduler.requests import pod_requests
from kubeproof.errors import ManifestError
from kubeproof.manifests.load import load_texts
from kubeproof.manifests.loaded import Loaded
from kubeproof.verdicts import Verdict
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.run import verify

NEWEST = (1, 37)
NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}
status: {allocatable: {cpu: "2", memory: 8Gi, pods: "110"}}
---"""
ASKED = """
apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {name: s}
spec: {intents: [{schedulable: {target: Deployment/shop/web}}]}
---"""


def load(own: str, *, container: str = "{}", more: str = "", replicas: int = 1, asked: str = ASKED) -> Loaded:
    text = f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      resources: {own}
      containers:
      - {{name: a, image: a, resources: {container}}}
      - {{name: b, image: b}}
---"""
    return load_texts([("in.yaml", NODE + text + more + asked)])


def requests(own: str, container: str = "{}") -> tuple[dict[str, int], dict[str, int]]:
    template = load(own, container=container).setup.workloads[0].template
    found = pod_requests(template, NEWEST)
    return dict(found.true), dict(found.scored)


def test_what_the_pod_requests_counts_instead_of_its_containers() -> None:
    true, scored = requests("{requests: {cpu: 1, memory: 1Gi}}", "{requests: {cpu: 200m}}")

    assert true == scored == {"cpu": 1000, "memory": 2**30}


def test_what_it_does_not_request_is_that_of_its_containers() -> None:
    true, scored = requests("{requests: {cpu: 1}}", "{requests: {memory: 1Gi}}")

    assert true == {"cpu": 1000, "memory": 2**30}
    assert scored == true


def test_what_nobody_requests_counts_for_scores_container_by_container() -> None:
    true, scored = requests("{requests: {cpu: 1}}")

    assert true == {"cpu": 1000}
    assert scored == {"cpu": 1000, "memory": 2 * 200 * 2**20}


def test_a_limit_is_a_request_where_no_container_requests_the_resource() -> None:
    assert requests("{limits: {cpu: 1, memory: 1Gi}}", "{requests: {memory: 64Mi}}")[0] == {
        "cpu": 1000,
        "memory": 64 * 2**20,
    }


@pytest.mark.parametrize(
    ("own", "container", "told"),
    [
        ("{requests: {cpu: 100m}}", "{requests: {cpu: 200m}}", "less cpu than the containers together"),
        ("{requests: {cpu: 2}, limits: {cpu: 1}}", "{}", "more cpu than it limits"),
    ],
)
def test_what_the_api_server_refuses_is_refused(own: str, container: str, told: str) -> None:
    with pytest.raises(ManifestError, match=told):
        load(own, container=container)


def test_what_no_pod_has_as_a_whole_is_told_and_may_decide_about_all() -> None:
    (told,) = load("{requests: {ephemeral-storage: 1Gi}}").omissions

    assert (told.why, told.touches) == ("a pod as a whole has no ephemeral-storage", ("*/*/*",))


@pytest.mark.parametrize(("replicas", "verdict"), [(2, Verdict.HOLDS), (3, Verdict.VIOLATED)])
def test_pods_find_room_by_what_they_request_as_a_whole(replicas: int, verdict: Verdict) -> None:
    loaded = load("{requests: {cpu: 1}}", replicas=replicas)

    assert not loaded.omissions
    assert verify(loaded, VerifyOptions()).results[0].verdict == verdict


@pytest.mark.parametrize(
    "more",
    [
        "\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: shop}\nspec: {hard: {pods: 9}}\n---",
        "\napiVersion: v1\nkind: LimitRange\nmetadata: {name: q, namespace: shop}\n"
        "spec: {limits: [{type: Container, default: {cpu: 1}}]}\n---",
        "\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: h, namespace: shop}\n"
        "spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n---",
    ],
)
def test_where_others_look_at_containers_what_holds_is_not_decided(more: str) -> None:
    loaded = load("{requests: {cpu: 1}}", more=more)

    (told,) = [one for one in loaded.omissions if one.what == "spec.resources of the pods of Deployment/shop/web"]
    assert told.why.startswith("not modelled, as a")
    assert verify(loaded, VerifyOptions()).results[0].verdict == Verdict.UNKNOWN


def test_what_others_use_is_no_doubt() -> None:
    other = """
apiVersion: v1
kind: Pod
metadata: {name: other, namespace: shop}
spec: {containers: [{name: a, image: a, resources: {requests: {cpu: 1}}}]}
---"""

    def doubts(target: str) -> int:
        events = f"events: [{{cpuChange: {{target: {target}, levels: [500m]}}}}], intents:"
        return len(load("{requests: {cpu: 1}}", more=other, asked=ASKED.replace("intents:", events)).omissions)

    assert (doubts("Pod/shop/other"), doubts("Deployment/shop/web")) == (0, 1)
