"""A run begins with the pods that the input shows: whose they are, where they stand, and what is not told."""

import pytest

from kubeproof.cluster.running import PENDING, RunningPods
from kubeproof.cluster.state import NEVER, Phase
from kubeproof.manifests.load import load_texts
from kubeproof.manifests.loaded import Start
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.run import verify

READY, STARTING, RUNNING, TERMINATING = (
    int(Phase.READY),
    int(Phase.STARTING),
    int(Phase.RUNNING),
    int(Phase.TERMINATING),
)
WEB = "Deployment/shop/web"


def node(name, cpu="4"):
    return f"""---
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}}}}}
status: {{allocatable: {{cpu: "{cpu}", memory: 8Gi, pods: "20"}}}}
"""


def workload(kind, name, replicas=3, labels="app: web", extra=""):
    return f"""---
apiVersion: apps/v1
kind: {kind}
metadata: {{name: {name}, namespace: shop{extra}}}
spec:
  {f"replicas: {replicas}" if kind != "DaemonSet" else "minReadySeconds: 0"}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{{labels}}}}}
    spec: {{containers: [{{name: c, resources: {{requests: {{cpu: "1"}}}}}}]}}
"""


def owned_by(kind, name):
    return f", ownerReferences: [{{apiVersion: apps/v1, kind: {kind}, name: {name}, uid: u, controller: true}}]"


REPLICA_SET = workload(
    "ReplicaSet", "web-abc", labels="app: web, pod-template-hash: abc", extra=owned_by("Deployment", "web")
)


def pod(name, on="", phase="Running", ready=True, deleted=False, owner=("ReplicaSet", "web-abc"), spec=""):
    gone = ', deletionTimestamp: "2026-11-16T08:00:00Z"' if deleted else ""
    return f"""---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: shop, labels: {{app: web, pod-template-hash: abc}}{gone}{owned_by(*owner)}}}
spec:
  {f"nodeName: {on}" if on else "{}" if not spec else ""}
  {spec}
  containers: [{{name: c, resources: {{requests: {{cpu: "1"}}}}}}]
status: {{phase: {phase}, conditions: [{{type: Ready, status: "{ready}"}}]}}
""".replace("  {}\n", "")


SCENARIO = """---
apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {{name: s}}
spec:
  {start}
  intents:
  - minReady: {{target: {target}, count: 1, when: eventuallyAlways}}
  - noPendingForever: {{target: {target}}}
"""


def loaded(*parts, start="", target=WEB):
    return load_texts([("snap.yaml", "".join(parts) + SCENARIO.format(start=start, target=target))])


EVERY_KIND = (
    node("a"),
    node("b"),
    workload("Deployment", "web", 5),
    REPLICA_SET,
    pod("web-1", "a"),
    pod("web-2", "a", "Pending", False),
    pod("web-3", "b", "Running", False),
    pod("web-4", "b", deleted=True),
    pod("web-5", "", "Pending", False),
    pod("web-6", "", "Pending", False),
)


def test_pods_of_a_deployment_are_where_and_what_their_status_says():
    found = loaded(*EVERY_KIND)

    assert found.scenario.start == Start(
        "running",
        pods=(
            RunningPods(WEB, "", PENDING, 2),
            RunningPods(WEB, "a", STARTING),
            RunningPods(WEB, "a", READY),
            RunningPods(WEB, "b", RUNNING),
            RunningPods(WEB, "b", TERMINATING),
        ),
    )
    assert [o.what for o in found.omissions if "Pod/" in o.what] == []


def test_the_default_scenario_begins_with_them_too():
    found = load_texts([("snap.yaml", "".join(EVERY_KIND))])

    assert found.scenario.is_default
    assert sum(one.number for one in found.scenario.start.pods) == 6


@pytest.mark.parametrize(
    "start", ["start: empty", "start: deployed", "start: {placement: {Deployment/shop/web: {a: 1}}}"]
)
def test_a_stated_start_wins_and_the_pods_are_listed(start):
    found = loaded(*EVERY_KIND, start=start)

    assert found.scenario.start.pods == ()
    assert sum("creates it anew" in o.why for o in found.omissions if "Pod/" in o.what) == 6


def test_running_can_be_stated():
    assert loaded(*EVERY_KIND, start="start: running") == loaded(*EVERY_KIND)


def test_without_pods_a_run_begins_empty():
    assert loaded(node("a"), workload("Deployment", "web")).scenario.start == Start()


@pytest.mark.parametrize("without", ["", "por", "unison", "abstraction"])
def test_both_engines_agree_on_such_starts(without):
    found = loaded(*EVERY_KIND)
    fast = verify(found, VerifyOptions(without=tuple(filter(None, [without]))))
    slow = verify(found, VerifyOptions(engine="reference"))

    assert [one.verdict for one in fast.results] == [one.verdict for one in slow.results] == ["HOLDS", "HOLDS"]


def test_a_pod_without_room_in_the_snapshot_is_a_violation_at_once():
    full = (
        node("a", "1"),
        workload("Deployment", "web", 2),
        REPLICA_SET,
        pod("web-1", "a"),
        pod("web-2", "", "Pending", False),
    )
    result = verify(loaded(*full))

    assert [one.verdict for one in result.results] == ["HOLDS", "VIOLATED"]
    assert dict(result.scope)["start"] == "running: 1 ready, 1 without a node"


def test_a_deployment_whose_replicaset_was_left_out_is_recognised_by_its_hash():
    found = loaded(node("a"), workload("Deployment", "web", 1), pod("web-abc-1", "a"))

    assert found.scenario.start.pods == (RunningPods(WEB, "a", READY),)


def test_an_owner_outside_the_input_leaves_the_pod_alone():
    found = loaded(node("a"), workload("Deployment", "web", 1), pod("x", "a", owner=("Rollout", "web")))

    assert found.scenario.start == Start()
    assert "Pod/shop/x" in [w.ref for w in found.setup.workloads]


def test_pods_of_an_old_template_count_as_new_ones_and_are_named():
    old = REPLICA_SET.replace("web-abc", "web-old").replace('cpu: "1"', 'cpu: "2"')
    found = loaded(node("a"), workload("Deployment", "web", 1), old, pod("web-1", "a", owner=("ReplicaSet", "web-old")))

    assert found.scenario.start.pods == (RunningPods(WEB, "a", READY),)
    assert [o.what for o in found.omissions if "old template" in o.what] == [
        "the old template of ReplicaSet/shop/web-old"
    ]


def test_ordinals_of_a_stateful_set_keep_their_nodes():
    target = "StatefulSet/shop/db"
    pods = (pod("db-0", "b", owner=("StatefulSet", "db")), pod("db-2", "a", owner=("StatefulSet", "db")))
    excess = pod("db-7", "a", owner=("StatefulSet", "db"))
    found = loaded(node("a"), node("b"), workload("StatefulSet", "db"), *pods, excess, target=target)

    assert found.scenario.start.pods == (RunningPods(target, "a", READY, 1, 2), RunningPods(target, "b", READY, 1, 0))
    assert [o.what for o in found.omissions if "ordinal" in o.why] == ["Pod/shop/db-7"]
    fast, slow = verify(found), verify(found, VerifyOptions(engine="reference"))
    assert [one.verdict for one in fast.results] == [one.verdict for one in slow.results] == ["HOLDS", "HOLDS"]


def test_daemon_pods_that_wait_for_their_node_wait_there():
    target = "DaemonSet/shop/agent"
    own = ("DaemonSet", "agent")
    field = "{key: metadata.name, operator: In, values: [b]}"
    affinity = (
        "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
        f"{{nodeSelectorTerms: [{{matchFields: [{field}]}}]}}}}}}}}"
    )
    waiting = pod("agent-2", "", "Pending", False, owner=own, spec=affinity[:-1])
    found = loaded(
        node("a"), node("b"), workload("DaemonSet", "agent"), pod("agent-1", "a", owner=own), waiting, target=target
    )

    assert found.scenario.start.pods == (RunningPods(target, "a", READY), RunningPods(target, "b", PENDING, 1, NEVER))
    fast, slow = verify(found), verify(found, VerifyOptions(engine="reference"))
    assert [one.verdict for one in fast.results] == [one.verdict for one in slow.results] == ["HOLDS", "HOLDS"]


def test_a_pod_on_an_unknown_node_is_named():
    found = loaded(node("a"), workload("Deployment", "web", 1), REPLICA_SET, pod("web-1", "elsewhere"))

    assert found.scenario.start.pods == ()
    assert [o.why for o in found.omissions if "Pod/" in o.what] == ["it runs on elsewhere, which is not in the input"]
