"""PriorityClasses, and what admission makes of the pods that name them or none."""

from __future__ import annotations

import pytest

from kubeproof.cluster.steering.policies import PriorityClass
from kubeproof.errors import ManifestError
from tests.unit.manifests.inputs import deployment, load_text

NEVER = "preemptionPolicy: Never"


def declared(name: str, value: str, more: str = "description: any") -> str:
    kind = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\n"
    return f"{kind}metadata: {{name: {name}}}\nvalue: {value}\n{more}\n"


def admitted(*documents: str) -> tuple[int | None, str]:
    """Priority and preemption policy of the first workload."""
    template = load_text(*documents).setup.workloads[0].template
    return template.priority, template.preemption_policy


def test_a_class_is_read_and_nothing_of_it_left_out() -> None:
    loaded = load_text(declared("high", "1000", f"{NEVER}\nglobalDefault: true\ndescription: top"), deployment())

    assert loaded.setup.priority_classes == (PriorityClass("high", 1000, True, "Never"),)
    assert [omission.what for omission in loaded.omissions] == []


def test_pods_have_the_value_and_the_policy_of_their_class() -> None:
    assert admitted(deployment(pod="priorityClassName: high,"), declared("high", "1000")) == (
        1000,
        "PreemptLowerPriority",
    )
    assert admitted(deployment(pod="priorityClassName: high,"), declared("high", "-5", NEVER)) == (-5, "Never")


def test_pods_without_a_class_have_the_lowest_global_default() -> None:
    both = (declared("a", "20", "globalDefault: true"), declared("b", "10", f"globalDefault: true\n{NEVER}"))

    assert admitted(deployment(), *both) == (10, "Never")


def test_without_a_global_default_nothing_is_set() -> None:
    assert admitted(deployment(), declared("high", "1000")) == (None, "")


@pytest.mark.parametrize(
    ("name", "value"), [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)]
)
def test_classes_of_the_system_are_always_there(name: str, value: int) -> None:
    assert admitted(deployment(pod=f"priorityClassName: {name},")) == (value, "PreemptLowerPriority")
    assert admitted(deployment(pod=f"priorityClassName: {name},"), declared(name, str(value)))[0] == value


def test_a_pod_that_runs_keeps_the_priority_it_states() -> None:
    running = """apiVersion: v1
kind: Pod
metadata: {name: old, namespace: shop}
spec: {nodeName: n1, priority: 7, priorityClassName: gone, containers: [{name: c, image: i}]}
status: {phase: Running}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "1", memory: 1Gi, pods: "10"}}
"""

    assert admitted(running)[0] == 7


@pytest.mark.parametrize(
    ("documents", "problem"),
    [
        (
            (deployment(pod="priorityClassName: hihg,"), declared("high", "1")),
            "no PriorityClass 'hihg'.*Did you mean high",
        ),
        ((deployment(pod="priority: 3,"),), "spec.priority is 3, its class gives 0"),
        (
            (deployment(pod="priorityClassName: a, priority: 3,"), declared("a", "4")),
            "spec.priority is 3, its class gives 4",
        ),
        ((deployment(pod=f"{NEVER},"),), "preemptionPolicy is Never, its class gives PreemptLowerPriority"),
        ((deployment(pod="preemptionPolicy: Sometimes,"),), "preemptionPolicy is 'Sometimes'"),
        ((declared("high", "1000000001"),), "value is 1000000001. It is at most 1000000000"),
        ((declared("system-mine", "5"),), "system-mine is not a class of the system"),
        ((declared("system-node-critical", "5"),), "is not a class of the system"),
        ((declared("high", "many"),), "value is"),
    ],
)
def test_what_admission_or_the_api_server_refuses(documents: tuple[str, ...], problem: str) -> None:
    with pytest.raises(ManifestError, match=problem):
        load_text(*documents)


def test_the_error_names_the_workload_and_its_line() -> None:
    with pytest.raises(ManifestError) as raised:
        load_text(declared("high", "1"), deployment(pod="priorityClassName: low,"))

    assert "Deployment/shop/web: there is no PriorityClass 'low', so admission refuses its pods" in str(raised.value)
    assert raised.value.line == 7
