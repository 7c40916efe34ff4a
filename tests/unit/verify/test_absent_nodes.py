"""Counterexamples in clusters some of whose nodes are gone: what is told of nodes is told of those that are there."""

from tests.unit.verify.inputs import node, only, scenario, verified, web

CLASSES = """apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
"""
DAEMON = """apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: shop}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: main, image: example/agent, resources: {requests: {cpu: "3"}}}]}
"""
REMOVAL = "{nodeRemoval: {name: gone, max: 1, drainFirst: false, nodes: {names: [n0]}}}"


def test_a_preemption_is_explained_without_nodes_that_are_gone():
    found = only(
        verified(
            *(node("n0"), node("n1"), CLASSES, web(1, name="low", cpu="2")),
            web(1, name="high", cpu="2", more="priorityClassName: high"),
            scenario(
                "{noEviction: {target: Deployment/shop/low, by: preemption}}",
                events=f"{REMOVAL}, {{create: {{target: Deployment/shop/high, after: gone}}}}",
            ),
        )
    )

    assert found.verdict == "VIOLATED"
    (preemption,) = [step for step in found.trace.steps if "preempts" in step.action]
    assert preemption.why == (
        "no node fits; the pod's priority is 1000",
        "n1: would lose 1 of Deployment/shop/low (priority 0)",
    )


def test_a_daemon_pod_that_waits_is_explained_by_its_own_node():
    nodes = [node(f"n{number}") for number in range(10)]
    intent = "{runsOnEveryNode: {target: DaemonSet/shop/agent, when: stable}}"

    events = "{nodeRemoval: {name: gone, drainFirst: false}}, {create: {target: DaemonSet/shop/agent, after: gone}}"

    found = only(verified(*nodes, DAEMON, scenario(intent, events=events)))

    assert found.verdict == "VIOLATED"
    assert len([line for line in found.trace.final if "may only run on" in line and "NodeResourcesFit" in line]) == 9
