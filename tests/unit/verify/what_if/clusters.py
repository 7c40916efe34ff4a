"""Running clusters for questions: nodes of two CPUs, workloads with their pods where somebody put them."""

from __future__ import annotations

import json
from typing import Any

from kubeproof.manifests.load import load_texts
from kubeproof.manifests.loaded import Loaded

Pods = dict[str, int]  # node -> how many


def node(name: str, cpu: str = "2", **labels: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}},
        "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "20"}},
    }


def deployment(name: str, pods: Pods, cpu: str = "1", **spec: Any) -> list[dict[str, Any]]:
    """A Deployment with its pods; `spec` goes into the pod template's spec."""
    template = {
        "metadata": {"labels": {"app": name}},
        "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}], **spec},
    }
    replicas = sum(pods.values())
    made = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template},
    }
    where = [place for place, count in pods.items() for _ in range(count)]
    return [made, *(_pod(name, number, place, template) for number, place in enumerate(where))]


def _pod(name: str, number: int, place: str, template: dict[str, Any]) -> dict[str, Any]:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"{name}-5d4f", "uid": name, "controller": True}
    labels = {**template["metadata"]["labels"], "pod-template-hash": "5d4f"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{name}-5d4f-{number}", "namespace": "shop", "labels": labels, "ownerReferences": [owner],
        },
        "spec": {**template["spec"], "nodeName": place},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }  # fmt: skip


def budget(name: str, **amount: Any) -> dict[str, Any]:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"selector": {"matchLabels": {"app": name}}, **amount},
    }


def text_of(*parts: Any) -> str:
    """The objects as a file; lists are opened."""
    items = [item for part in parts for item in (part if isinstance(part, list) else [part])]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


def load(*parts: Any) -> Loaded:
    return load_texts([("snap.yaml", text_of(*parts))])
