"""DaemonSets beside pods that fill their nodes, without a node, and in rollouts of all nodes."""

from __future__ import annotations

from tests.unit.verify.checks.inputs import deployment, node, told

NODES = (node("n1"), node("n2"))
HIGH = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000\n"
WAITS = HIGH + "preemptionPolicy: Never\n"
APP = deployment("app", resources="requests: {cpu: 900m}")


def daemons(pod: str = "", *, cpu: str = "300m", spec: str = "") -> str:
    return deployment("agent", kind="DaemonSet", replicas="", pod=pod, resources=f"requests: {{cpu: {cpu}}}", spec=spec)


def test_a_daemon_pod_that_others_of_its_priority_keep_from_its_node_is_told():
    assert told("K038", *NODES, APP, daemons()) == [
        (
            "info",
            "DaemonSet/shop/agent",
            "its pod finds no room on n1 beside 2 of Deployment/shop/app, and goes before none of them",
        )
    ]


def test_a_daemon_pod_that_fits_or_goes_first_is_not():
    assert told("K038", *NODES, APP, daemons(cpu="200m")) == []
    assert told("K038", *NODES, HIGH, APP, daemons("priorityClassName: high")) == []
    assert len(told("K038", *NODES, WAITS, APP, daemons("priorityClassName: high"))) == 1
    assert told("K038", APP, daemons()) == []  # of assumed nodes nobody knows how large they are


def test_only_pods_that_may_be_on_a_node_together_fill_it():
    apart = """affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: app}}}"""
    alone = deployment("app", resources="requests: {cpu: 900m}", pod=apart)

    assert told("K038", *NODES, alone, daemons()) == []
    assert told("K038", *NODES, APP, daemons(cpu="3")) == []  # its own fault
    small = deployment("small", replicas="1", resources="requests: {cpu: 900m}")
    assert len(told("K038", *NODES, alone, small, daemons())) == 1


def test_a_daemon_set_without_a_node_is_told():
    tainted = node("n1", more="taints: [{key: dedicated, effect: NoSchedule}]")

    assert told("K039", tainted, daemons()) == [
        (
            "warning",
            "DaemonSet/shop/agent",
            "it runs on none of 1 nodes: none has the labels it asks for and only taints that it tolerates",
        )
    ]
    assert told("K039", tainted, daemons("tolerations: [{operator: Exists}]")) == []
    assert len(told("K039", *NODES, daemons("nodeSelector: {disk: ssd}"))) == 1


def test_a_rollout_of_all_daemon_pods_at_once_is_told():
    assert told("K040", *NODES, daemons(spec="updateStrategy: {rollingUpdate: {maxUnavailable: 100%}}")) == [
        ("info", "DaemonSet/shop/agent", "a rollout takes the pods of all 2 nodes away at once (maxUnavailable)")
    ]
    assert told("K040", *NODES, daemons()) == []
    assert told("K040", *NODES, daemons(spec="updateStrategy: {type: OnDelete}")) == []
