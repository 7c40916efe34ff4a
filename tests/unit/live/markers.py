"""Objects of every kind with a mark in every field of the API, to see which fields get where."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kubeproof.live.resources import BY_KIND

_DATA = json.loads((Path(__file__).parent / "data" / "api-fields.json").read_text(encoding="utf-8"))
KINDS: dict[str, str] = _DATA["kinds"]
TYPES: dict[str, dict[str, Any]] = _DATA["types"]
FIRST_NUMBER = 3_000_000
Object = dict[str, Any]
_MARK, _NUMBER = re.compile("mark[0-9]{4}x"), re.compile("3[0-9]{6}")

# Values that readers take, where they take only some. Marks stand everywhere else.
_SELECTOR = {"matchLabels": {"marked": "label"}}
_AMOUNTS = {"mark9001x.com/mark9001x": "1"}
_NOTES = {"mark9000x": "mark9000x"}
_WRITTEN: dict[str | int, str] = {  # marks in the values below
    "mark9000x": "ObjectMeta.annotations",
    "mark9001x": "ResourceRequirements.requests",
    "mark9002x": "ObjectMeta.labels",
    "mark9003x": "ObjectMeta.labels",
    "mark9004x": "NodeSelectorRequirement.values",
}
VALUES: dict[str, Any] = {
    "ContainerPort.hostPort": 80,
    "ContainerPort.containerPort": 80,
    "ContainerPort.protocol": "TCP",
    "Container.restartPolicy": "Always",
    "CronJobSpec.concurrencyPolicy": "Forbid",
    "CronJobSpec.schedule": "*/5 * * * *",
    "DaemonSetUpdateStrategy.type": "RollingUpdate",
    "DeploymentStrategy.type": "RollingUpdate",
    "HPAScalingPolicy.type": "Pods",
    "HPAScalingRules.selectPolicy": "Max",
    "HPAScalingRules.stabilizationWindowSeconds": 300,
    "HPAScalingPolicy.periodSeconds": 60,
    "IPBlock.cidr": "10.1.0.0/16",
    "IPBlock.except": ["10.1.2.0/24"],
    "JobSpec.completionMode": "Indexed",
    "JobSpec.podReplacementPolicy": "Failed",
    "LabelSelectorRequirement.operator": "In",
    "LimitRangeItem.type": "Container",
    "NodeSelectorRequirement.operator": "In",
    "NetworkPolicyPort.protocol": "TCP",
    "NetworkPolicyPort.port": 80,
    "NetworkPolicyPort.endPort": 90,
    "NetworkPolicySpec.policyTypes": ["Ingress"],
    "PersistentVolumeSpec.accessModes": ["ReadWriteOnce"],
    "PersistentVolumeSpec.volumeMode": "Filesystem",
    "PersistentVolumeClaimSpec.accessModes": ["ReadWriteOnce"],
    "PersistentVolumeClaimSpec.volumeMode": "Filesystem",
    "PodDisruptionBudgetSpec.unhealthyPodEvictionPolicy": "AlwaysAllow",
    "PodSpec.preemptionPolicy": "Never",
    "PodSpec.hostNetwork": False,
    "PodSpec.restartPolicy": "Always",
    "PriorityClass.preemptionPolicy": "Never",
    "ServicePort.port": 80,
    "ServicePort.protocol": "TCP",
    "ServiceSpec.externalTrafficPolicy": "Local",
    "ServiceSpec.type": "NodePort",
    "ServiceBackendPort.number": 80,
    "StatefulSetSpec.podManagementPolicy": "Parallel",
    "StatefulSetUpdateStrategy.type": "RollingUpdate",
    "StorageClass.volumeBindingMode": "Immediate",
    "Taint.effect": "NoSchedule",
    "Toleration.effect": "NoExecute",
    "Toleration.operator": "Equal",
    "TopologySpreadConstraint.whenUnsatisfiable": "DoNotSchedule",
    "TopologySpreadConstraint.nodeAffinityPolicy": "Honor",
    "TopologySpreadConstraint.nodeTaintsPolicy": "Honor",
    "PreferredSchedulingTerm.weight": 7,
    "WeightedPodAffinityTerm.weight": 7,
    "DeploymentSpec.minReadySeconds": 1,
    "MetricTarget.averageUtilization": 50,
    "CrossVersionObjectReference.kind": "Deployment",
    "VerticalPodAutoscaler.spec.targetRef.kind": "Deployment",
    "VerticalPodAutoscaler.spec.updatePolicy.updateMode": "Off",
    "VerticalPodAutoscaler.spec.resourcePolicy.containerPoliciesItem.mode": "Auto",
    "ScopedResourceSelectorRequirement.operator": "In",
    "ScopedResourceSelectorRequirement.scopeName": "PriorityClass",
    "ResourceQuotaSpec.scopes": ["NotTerminating"],
    "DeploymentSpec.selector": _SELECTOR,
    "DaemonSetSpec.selector": _SELECTOR,
    "ReplicaSetSpec.selector": _SELECTOR,
    "StatefulSetSpec.selector": _SELECTOR,
    "PodTemplateSpec.metadata": {"labels": {"marked": "label", "mark9002x": "mark9003x"}, "annotations": _NOTES},
    "ResourceRequirements.requests": _AMOUNTS,
    "ResourceRequirements.limits": _AMOUNTS,
    "HorizontalPodAutoscalerSpec.minReplicas": 2,
    "NodeSelectorTerm.matchFields": [{"key": "metadata.name", "operator": "In", "values": ["mark9004x"]}],
    "PodDisruptionBudgetSpec.minAvailable": 1,
    "PodDisruptionBudgetSpec.maxUnavailable": 1,
    "RollingUpdateDeployment.maxSurge": "25%",
    "RollingUpdateDeployment.maxUnavailable": 1,
    "RollingUpdateDaemonSet.maxSurge": 0,
    "RollingUpdateDaemonSet.maxUnavailable": 1,
    "RollingUpdateStatefulSetStrategy.maxUnavailable": 1,
    "VerticalPodAutoscaler.spec.resourcePolicy.containerPoliciesItem.controlledResources": ["cpu"],
    "ReplicationControllerSpec.selector": _SELECTOR["matchLabels"],
}
OF_JOBS = {"PodSpec.restartPolicy": "Never"}
# Fields that others of the same object exclude: given in objects of their own.
RIVALS = (
    "PodDisruptionBudgetSpec.maxUnavailable",
    "NetworkPolicyPeer.ipBlock",
    "JobSpec.selector",
)
METRICS = {  # type -> its field, and the type of its target
    "Resource": ("resource", "Utilization"),
    "ContainerResource": ("containerResource", "Utilization"),
    "Pods": ("pods", "AverageValue"),
    "Object": ("object", "Value"),
    "External": ("external", "AverageValue"),
}


class Marker:
    """Makes objects whose texts, keys of maps and numbers all differ, and remembers which is where."""

    def __init__(self, kind: str, added: str = "") -> None:
        self.places: dict[str | int, str] = dict(_WRITTEN)  # mark -> Type.field
        self._kind = kind
        self._added = added
        resource = BY_KIND[kind]
        whole = self._object(KINDS[kind])
        self.object: Object = {**whole, "apiVersion": resource.version, "kind": kind}

    def _object(self, name: str) -> Object:
        found: Object = {}
        for field, kind in TYPES[name].items():
            place = f"{name}.{field}"
            if place in RIVALS and place != self._added:
                continue
            given = OF_JOBS.get(place) if self._kind in ("Job", "CronJob") else None
            found[field] = given or (VALUES[place] if place in VALUES else self._value(kind, place))
        return found

    def _value(self, kind: Any, place: str) -> Any:
        if kind == ["MetricSpec"]:
            return [self._metric(*one) for one in METRICS.items()]
        if isinstance(kind, list):
            return [self._value(kind[0], place)]
        if isinstance(kind, dict):
            return {self._text(place, is_key=True): self._value(kind["*"], place)}
        if kind in TYPES:
            return self._object(kind)
        if kind in ("integer", "number"):
            number = FIRST_NUMBER + len(self.places)
            self.places[number] = place
            return number
        if kind == "boolean":
            return True
        if kind == "quantity":
            return str(self._value("integer", place))
        return {"any": self._text(place)} if kind == "any" else self._text(place)

    def _metric(self, name: str, about: tuple[str, str]) -> Object:
        """A metric of one type, which has the fields of all types nevertheless."""
        found = {**self._object("MetricSpec"), "type": name}
        found[about[0]] = {**found[about[0]], "target": {**found[about[0]]["target"], "type": about[1]}}
        if "name" in found[about[0]]:
            found[about[0]]["name"] = "cpu"
        return found

    def _text(self, place: str, *, is_key: bool = False) -> str:
        mark = f"mark{len(self.places):04}x"
        self.places[mark] = place
        return f"{mark}.com/{mark}" if is_key and place.partition(".")[2] in _RESOURCES else mark


_RESOURCES = ("requests", "limits", "hard", "capacity", "allocatable", "overhead")


def leaves(value: Any) -> Iterator[Any]:
    """The texts, keys and numbers of a value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    elif value is not None:
        yield value


def marks_in(value: Any) -> Iterator[str | int]:
    """The marks that a value holds, as texts, in texts or as numbers."""
    for leaf in leaves(value):
        if isinstance(leaf, str):
            yield from _MARK.findall(leaf)
            yield from (int(number) for number in _NUMBER.findall(leaf))
        elif not isinstance(leaf, bool):
            yield leaf
