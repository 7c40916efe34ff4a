"""A small cluster as an API server shows it."""

from __future__ import annotations

from typing import Any


def node(name: str, cpu: str = "4") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": "1", "labels": {"kubernetes.io/hostname": name}, "managedFields": [{"x": 1}]},
        "spec": {"providerID": "cloud://1"},
        "status": {
            "allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-11-16T08:00:00Z"}],
            "nodeInfo": {"kernelVersion": "6"},
        },
    }


def _template(labels: dict[str, str]) -> dict[str, Any]:
    container = {
        "name": "web",
        "image": "registry.example.com/shop/web:1.2",
        "env": [{"name": "PASSWORD", "value": "hunter2"}],
        "args": ["--token=hunter2"],
        "resources": {"requests": {"cpu": "1", "memory": "64Mi"}},
    }
    return {"metadata": {"labels": labels}, "spec": {"containers": [container]}}


def deployment(name: str, replicas: int) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": name,
            "namespace": "shop",
            "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": '{"password": "hunter2"}',
                "deployment.kubernetes.io/revision": "3",
                "example.com/owner": "alice",
            },
        },
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": _template({"app": name}),
        },
        "status": {"replicas": replicas},
    }


def replica_set(name: str, replicas: int) -> dict[str, Any]:
    labels = {"app": name, "pod-template-hash": "abc"}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{name}-abc",
            "namespace": "shop",
            "labels": labels,
            "ownerReferences": [_owner("Deployment", name)],
        },
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": _template(labels)},
    }


def _owner(kind: str, name: str) -> dict[str, Any]:
    return {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": "7", "controller": True}


def pod(name: str, on: str | None, app: str = "web", *, ready: bool = True) -> dict[str, Any]:
    spec = _template({})["spec"]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "shop",
            "labels": {"app": app, "pod-template-hash": "abc"},
            "ownerReferences": [_owner("ReplicaSet", f"{app}-abc")],
        },
        "spec": {**spec, **({"nodeName": on} if on else {})},
        "status": {
            "phase": "Running" if on else "Pending",
            "podIP": "10.0.0.7",
            "conditions": [{"type": "Ready", "status": str(ready and on is not None)}],
        },
    }


def namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def shop(*, full: bool = False) -> list[dict[str, Any]]:
    """Two nodes and a Deployment of three pods; `full`: there is no room for the third."""
    cpu = "1" if full else "4"
    third = pod("web-abc-3", None if full else "b")
    placed = [pod("web-abc-1", "a"), pod("web-abc-2", "b"), third]
    return [namespace("shop"), node("a", cpu), node("b", cpu), deployment("web", 3), replica_set("web", 3), *placed]
