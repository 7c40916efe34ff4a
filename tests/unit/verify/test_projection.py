"""The share of a part in a state of the whole: every field is projected, and what nobody knows is an error."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kubeproof.cluster.loops.memories import MemoryName
from kubeproof.cluster.state import Health, Phase, PodKind, WorkloadCell
from kubeproof.errors import InternalError
from kubeproof.events.common import REMEMBERS
from kubeproof.model.by_name.node import NodeState, Pod
from kubeproof.model.by_name.state import State
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.verify.counterexamples import projection
from kubeproof.verify.counterexamples.projection import NODE, POD, SPEC, STATE, Projection
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.run import plan_of
from tests.unit.verify.inputs import loaded, node, scenario, web

JOB = """apiVersion: batch/v1
kind: Job
metadata: {name: load, namespace: shop}
spec:
  completions: 2
  template:
    spec: {restartPolicy: Never, containers: [{name: main, image: registry.example.com/main}]}
"""
AGENT = """apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: shop}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: main, image: registry.example.com/agent}]}
"""
BARE = """apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: shop}
spec: {nodeName: %s, containers: [{name: main, image: registry.example.com/main}]}
status: {phase: Running}
"""
FAILURE = "{nodeFailure: {name: failure}}"
CRASH = "{podCrash: {name: crash, target: Job/shop/load}}"


def plan(*documents: str, events: str = FAILURE):
    """The plan of an input with two nodes."""
    return plan_of(
        loaded(node("n1"), node("n2"), *documents, scenario("{settles: {}}", events=events)), VerifyOptions()
    )


@pytest.mark.parametrize(
    ("fields", "table"),
    [
        (State._fields, STATE),
        (WorkloadCell._fields, SPEC),
        (NodeState._fields, NODE),
        (PodKind._fields, POD),
    ],
)
def test_every_field_of_a_state_has_a_rule(fields: tuple[str, ...], table: object) -> None:
    assert set(fields) == set(table)  # type: ignore[call-overload]


def test_a_field_without_a_rule_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projection, "NODE", {name: rule for name, rule in NODE.items() if name != "pinned"})
    whole = plan(web(1), AGENT)
    (start,) = IndividualModel(whole).initial()

    with pytest.raises(InternalError, match="what becomes of pinned"):
        Projection(whole, plan(AGENT)).of(start)


def test_memories_are_found_by_name_wherever_they_stand() -> None:
    whole = plan(web(1), JOB, events=f"{CRASH}, {FAILURE}")
    shares = Projection(whole, plan(JOB, events=f"{FAILURE}, {CRASH}"))
    (start,) = IndividualModel(whole).initial()
    told = start._replace(memories=tuple((number,) for number in range(len(start.memories))))

    assert [name.kind.name for name in whole.memory_names] == ["event", "event", "job"]
    assert shares.of(told).memories == ((1,), (0,), (2,))


def test_a_memory_that_the_whole_does_not_have_is_an_error() -> None:
    part = plan(JOB)
    odd = replace(part, memory_names=(MemoryName(REMEMBERS, ("unheard of",)), *part.memory_names[1:]))

    with pytest.raises(InternalError, match="unheard of"):
        Projection(plan(web(1), JOB), odd)


def test_pods_of_all_kinds_of_waiting_are_those_of_the_part() -> None:
    whole, part = plan(web(1), JOB, AGENT), plan(JOB, AGENT)
    (start,) = IndividualModel(whole).initial()
    first = start.nodes[0]._replace(
        pods=(Pod("load-1", PodKind(1, Phase.READY)), Pod("web-1", PodKind(0, Phase.READY))),
        pinned=((2, "agent-1"),),
        nominated=(0, 1, 2),
        finished=((1, 0), (1, 1)),
        health=int(Health.LOST),
    )
    share = Projection(whole, part).of(start._replace(nodes=(first, *start.nodes[1:]))).nodes[0]

    assert share == first._replace(
        pods=(Pod("load-1", PodKind(0, Phase.READY)),),
        pinned=((1, "agent-1"),),
        nominated=(0, 1),
        finished=((0, 0), (0, 1)),
    )


def test_images_are_told_by_name() -> None:
    listed = node("n1").replace(
        "status: {", "status: {images: [{names: [registry.example.com/agent:latest], sizeBytes: 900000000}, "
        "{names: [registry.example.com/main:latest], sizeBytes: 900000000}], "
    )  # fmt: skip
    documents = (listed, node("n2"), scenario("{settles: {}}"))
    whole = plan_of(loaded(web(1), AGENT, *documents), VerifyOptions())
    part = plan_of(loaded(web(1), *documents), VerifyOptions())
    (start,) = IndividualModel(whole).initial()
    both = start._replace(nodes=tuple(one._replace(images=0b10) for one in start.nodes))

    assert [one.images for one in Projection(whole, part).of(both).nodes] == [0b1, 0b1]


def test_equal_bare_pods_that_run_are_told_by_their_nodes() -> None:
    whole, part = plan(web(1), BARE % ("p1", "n1"), BARE % ("p2", "n2")), plan(BARE % ("p2", "n2"))
    (start,) = IndividualModel(whole).initial()
    (own,) = IndividualModel(part).initial()

    assert len({pod.workload for one in start.nodes for pod in one.pods}) == 1  # they count as one and the same
    assert [len(one.pods) for one in Projection(whole, part).of(start).nodes] == [0, 1]
    assert [one.pods[0].workload for one in Projection(whole, part).of(start).nodes if one.pods] == [
        one.pods[0].workload for one in own.nodes if one.pods
    ]
