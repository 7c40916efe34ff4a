"""What edits look at: the objects as they are written, and how they belong together."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.api.quantity import QuantityError, milli, units
from kubeproof.manifests.editing.operations import Path, Plain
from kubeproof.manifests.editing.written import Written
from kubeproof.values import dataclass

POD_SPECS: dict[str, Path] = {
    "Pod": ("spec",),
    "CronJob": ("spec", "jobTemplate", "spec", "template", "spec"),
    **dict.fromkeys(
        ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "ReplicationController"),
        ("spec", "template", "spec"),
    ),
}
SIZED = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")
HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"


@dataclass(frozen=True, slots=True)
class Around:
    """All objects of the input."""

    objects: tuple[Written, ...]

    def of_kind(self, *kinds: str) -> Iterator[Written]:
        """The objects of these kinds, in the order of the input."""
        return (one for one in self.objects if one.kind in kinds)

    def autoscalers_of(self, workload: Written) -> list[Written]:
        """Those that write its replicas."""
        return [one for one in self.of_kind("HorizontalPodAutoscaler") if is_target(one, workload)]

    def budgets_of(self, workload: Written) -> list[Written]:
        """Those that count its pods, as far as matchLabels tell."""
        labels = labels_of(workload)
        return [
            one
            for one in self.of_kind("PodDisruptionBudget")
            if (one.namespace or "default") == (workload.namespace or "default")
            and _selects(one.at("spec", "selector", "matchLabels"), labels)
        ]

    def targets_of(self, budget: Written) -> list[Written]:
        """The workloads whose pods a budget counts."""
        return [one for one in self.of_kind(*POD_SPECS) if budget in self.budgets_of(one)]

    def find_scaled(self, autoscaler: Written) -> Written | None:
        """The workload of an autoscaler."""
        return next((one for one in self.of_kind(*SIZED) if is_target(autoscaler, one)), None)


def is_target(autoscaler: Written, workload: Written) -> bool:
    """True if the autoscaler names the workload."""
    named = autoscaler.at("spec", "scaleTargetRef") or {}
    is_named = named.get("kind") == workload.kind and named.get("name") == workload.name
    return is_named and (autoscaler.namespace or "default") == (workload.namespace or "default")


def _selects(wanted: Plain, labels: dict[str, str]) -> bool:
    return isinstance(wanted, dict) and bool(wanted) and wanted.items() <= labels.items()


def pod_path(one: Written) -> Path:
    """Where its pod spec is."""
    return POD_SPECS[one.kind]


def labels_of(workload: Written) -> dict[str, str]:
    """The labels of its pods."""
    labels = workload.at(*pod_path(workload)[:-1], "metadata", "labels")
    return labels if isinstance(labels, dict) else {}


def selector_of(workload: Written) -> Plain:
    """A selector of its pods."""
    own = workload.at("spec", "selector")
    if isinstance(own, dict) and ("matchLabels" in own or "matchExpressions" in own):
        return own
    return {"matchLabels": labels_of(workload)}


def replicas_of(workload: Written) -> int:
    """spec.replicas after defaulting."""
    stated = workload.at("spec", "replicas")
    return stated if isinstance(stated, int) else 1


def containers_of(workload: Written) -> list[tuple[Path, Plain]]:
    """Its containers with their places."""
    path = (*pod_path(workload), "containers")
    found = workload.at(*path)
    return [((*path, number), one) for number, one in enumerate(found)] if isinstance(found, list) else []


def sum_requests(workload: Written, resource: str) -> int:
    """What one of its pods requests, in thousandths of a CPU or in bytes."""
    total = 0
    for _, container in containers_of(workload):
        resources = container.get("resources") or {}
        text = (resources.get("requests") or {}).get(resource, (resources.get("limits") or {}).get(resource))
        total += amount(resource, text)
    return total


def amount(resource: str, text: Plain) -> int:
    """A quantity as a number; 0 if it is none."""
    try:
        return 0 if text is None else (milli if resource == "cpu" else units)(str(text))
    except QuantityError:
        return 0


def write_amount(resource: str, number: int) -> str:
    """The number as people write it."""
    if resource == "cpu":
        return str(number // 1000) if number % 1000 == 0 else f"{number}m"
    for suffix, unit in (("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)):
        if number % unit == 0:
            return f"{number // unit}{suffix}"
    return str(number)
