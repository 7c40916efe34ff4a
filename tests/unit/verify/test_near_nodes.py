"""Nodes of nearly the same size cost what equal ones do, until their sizes decide something."""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.manifests.load import load_texts
from kubeproof.manifests.loaded import Loaded
from kubeproof.verify.counterexamples.rerun import rerun
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.result import VerifyResult
from kubeproof.verify.run import verify
from tests.unit.verify.test_ages import policy

REAL = [16_374_532 + 4 * (7 * number % 23) for number in range(20)]  # kibibytes of memory of twenty machines
REVIEWED = [16_001_372 + 1372 * number for number in range(20)]
EQUAL = [16_001_372] * 20
RESTARTED = "nodes of nearly the same size joined"


FAILS = "{nodeFailure: {max: 1}}"


def load(
    memories: Sequence[int], cpu: str, memory: str, intents: str, replicas: int = 3, events: str = FAILS
) -> Loaded:
    nodes = [
        f"""
apiVersion: v1
kind: Node
metadata:
  name: n{number}
  labels: {{kubernetes.io/hostname: n{number}, topology.kubernetes.io/zone: {"abc"[number % 3]}}}
status: {{allocatable: {{cpu: 4, memory: {memory}Ki, pods: 110}}}}
"""
        for number, memory in enumerate(memories)
    ]
    rest = f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: c, image: x, resources: {{requests: {{cpu: {cpu}, memory: {memory}}}}}}}]}}
---
apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {{name: scenario}}
spec:
  events: [{events}]
  intents: {intents}
"""
    return load_texts([("input.yaml", "---".join([*nodes, rest]))])


def verified(memories: Sequence[int], cpu: str = "500m", memory: str = "512Mi") -> VerifyResult:
    intents = "[{settles: {}}, {minReady: {target: Deployment/default/web, count: 3, when: eventuallyAlways}}]"
    return verify(load(memories, cpu, memory, intents))


def test_twenty_real_nodes_cost_what_twenty_equal_ones_do() -> None:
    equal, real, reviewed = verified(EQUAL), verified(REAL), verified(REVIEWED)

    assert equal.verdict == real.verdict == reviewed.verdict == "HOLDS"
    assert equal.statistics.states == real.statistics.states == reviewed.statistics.states == 313
    assert RESTARTED in real.statistics.reductions
    assert RESTARTED not in equal.statistics.reductions


def test_the_scope_tells_how_many_classes_there_are() -> None:
    assert dict(verified(REAL).scope)["nodes"] == "20 in 3 class(es), 20 where small differences of size decide"
    assert dict(verified(EQUAL).scope)["nodes"] == "20 in 3 class(es)"


def test_a_score_that_sizes_decide_makes_two_classes_of_one() -> None:
    """A pod of 1564 MiB takes more than a tenth of the smaller nodes, and less of the larger ones."""
    found = verified(REVIEWED, "160m", "1564Mi")

    assert found.verdict == "HOLDS"
    assert found.statistics.states == 407
    assert RESTARTED in found.statistics.reductions


def test_a_violation_has_the_sizes_of_the_real_nodes() -> None:
    loaded = load(REVIEWED[:3], "100m", "17000000Ki", "[{schedulable: {target: Deployment/default/web}}]", 1)
    (result,) = verify(loaded).results

    assert result.trace is not None
    assert [line.rpartition(", ")[2] for line in result.trace.final[-3:]] == [
        f"{memory}Ki of {memory}Ki free)" for memory in REVIEWED[:3]
    ]


def test_a_loop_in_which_nodes_take_turns_comes_round_for_each_of_them() -> None:
    """A pod that has lived too long is replaced on the other node: with equal ones that would be the whole loop."""
    without = load(REVIEWED[:2], "500m", "512Mi", "[{noEvictionLoop: {target: Deployment/default/web}}]", 1, "")
    texts = (*without.texts, ("policy.yaml", policy("PodLifeTime", "maxPodLifeTimeSeconds: 600")))
    (result,) = verify(load_texts(texts)).results
    assert result.trace is not None
    assert result.trace.loop_start is not None

    looped = [step.action for step in result.trace.steps[result.trace.loop_start :]]
    assert [action for action in looped if "binds" in action] == ["binds web-2 to n1", "binds web-1 to n0"]
    assert len(rerun(texts, result, VerifyOptions()).steps) == len(result.trace.steps)


def test_pods_that_fit_the_larger_nodes_alone_are_there_alone() -> None:
    """Ten of them are large enough, and one may fail."""
    fitting = [load(REVIEWED, "100m", "16014000Ki", "[{schedulable: {}}]", replicas) for replicas in (9, 10)]

    assert [verify(loaded).verdict for loaded in fitting] == ["HOLDS", "VIOLATED"]


def test_nodes_of_which_every_size_decides_are_told_apart_at_last() -> None:
    sizes = [1_000_000 + 2 * number for number in range(12)]
    few = load(sizes, "10m", "999950Ki", "[{schedulable: {target: Deployment/default/web}}]", 1)

    assert verify(few).verdict == "HOLDS"
    assert verify(few, VerifyOptions(reductions=False, max_states=2000)).verdict in ("HOLDS", "UNKNOWN")
