"""Events of a Scenario: what happens, and how to write it."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.report.lexicon.entry import Explanation

_WEB = "target: Deployment/shop/web"
# Key -> what happens, its fields, an entry of spec.events.
EVENTS = {
    "nodeFailure": (
        "A node falls silent. The node controller notices after its grace period, taints the node, and pods are "
        "evicted when their tolerations end. The node may come back at any later moment.",
        "nodes, recovers (true), comesBack (false: it may stay down), together (false: one at a time)",
        "nodeFailure: {max: 1, recovers: true}",
    ),
    "zoneFailure": (
        "All nodes with the same value of the label fail in one step, and may come back together.",
        "topologyKey (topology.kubernetes.io/zone), recovers (true)",
        "zoneFailure: {topologyKey: topology.kubernetes.io/zone}",
    ),
    "cordon": (
        "Somebody makes a node unschedulable.",
        "nodes, reversible (false)",
        "cordon: {max: 1, reversible: true}",
    ),
    "drain": (
        "kubectl drain: the node is cordoned, its pods are evicted as far as PodDisruptionBudgets grant it, and what "
        "they refuse is asked for again.",
        "nodes, concurrent (1), uncordon (false)",
        "drain: {nodes: {matchLabels: {pool: web}}, after: stable}",
    ),
    "maintenance": (
        "A drain, after which the node is down for a while, comes back and is uncordoned.",
        "nodes, concurrent (1)",
        "maintenance: {max: 3, concurrent: 1}",
    ),
    "nodeRemoval": (
        "The Node object is deleted, with whatever is left on it.",
        "nodes, drainFirst (true)",
        "nodeRemoval: {max: 1, drainFirst: true}",
    ),
    "scale": (
        "Somebody writes spec.replicas, each of the values at most once, in any order.",
        "target, replicas (required)",
        f"scale: {{{_WEB}, replicas: [2, 5]}}",
    ),
    "create": ("An object of the input that is absent until this moment.", "target (required)", f"create: {{{_WEB}}}"),
    "apply": (
        "Somebody applies a manifest: it creates a workload, or writes the replicas and the pod template of one.",
        "file or manifest (one of them)",
        "apply: {file: new/web.yaml}",
    ),
    "delete": ("A workload is deleted, and its pods with it.", "target", f"delete: {{{_WEB}}}"),
    "rollout": (
        "The Deployment gets a new revision of its pod template, as kubectl rollout restart makes it.",
        "target",
        f"rollout: {{{_WEB}}}",
    ),
    "rollback": ("The Deployment goes back to the revision before.", "target", f"rollback: {{{_WEB}}}"),
    "podCrash": (
        "A container of a ready pod exits; the kubelet starts it again after its back-off.",
        "target",
        f"podCrash: {{{_WEB}, max: 2}}",
    ),
    "neverReady": (
        "Pods of a revision run and never become ready: a broken release. Holds from the start, it is no moment.",
        "target, revision (all, initial or new)",
        f"neverReady: {{{_WEB}, revision: new}}",
    ),
    "completes": (
        "How long pods of Jobs run. Holds from the start, it is no moment.",
        "target, after (required), within",
        "completes: {target: Job/shop/report, after: 60s}",
    ),
    "cpuChange": (
        "The CPU that pods use moves between levels, at any moment; autoscalers and kernel panics see it.",
        "target, levels (required), initial, container",
        f'cpuChange: {{{_WEB}, levels: ["20%", "90%"]}}',
    ),
    "memoryChange": (
        "The memory that pods use moves between levels, at any moment.",
        "target, levels (required), initial, container",
        f'memoryChange: {{{_WEB}, levels: ["20%", "90%"]}}',
    ),
    "cpuPattern": (
        "CPU usage as a function of the pod's age, such as a costly start. Holds from the start, it is no moment.",
        "target, phases (required), container",
        f'cpuPattern: {{{_WEB}, phases: [{{usage: "100%", for: 60s}}, {{usage: "20%"}}]}}',
    ),
    "memoryPattern": (
        "Memory usage as a function of the pod's age. Holds from the start, it is no moment.",
        "target, phases (required), container",
        f'memoryPattern: {{{_WEB}, phases: [{{usage: "90%", for: 60s}}, {{usage: "40%"}}]}}',
    ),
    "cpuLoad": (
        "A total load that the ready pods share: losing some raises the load of the rest.",
        "target, total or levels, initial",
        f"cpuLoad: {{{_WEB}, total: 600m}}",
    ),
    "requests": (
        "Requests per second to a Service, and the CPU that each takes; its ready pods share them.",
        "service (required), perSecond or levels, initial, cpuPerRequest (required)",
        "requests: {service: shop/web, perSecond: 100, cpuPerRequest: 5m}",
    ),
    "unreachable": (
        "Pods run and stay ready, but no traffic reaches them: their usage drops.",
        "target, usage (0%), recovers (true)",
        f"unreachable: {{{_WEB}}}",
    ),
    "kernelPanic": (
        "A node whose pods really use more than the level fails, and comes back when they are gone.",
        'aboveCPU ("95%"), nodes',
        'kernelPanic: {aboveCPU: "95%"}',
    ),
}


def events() -> Iterator[Explanation]:
    """All events of a Scenario."""
    for key, (text, fields, example) in EVENTS.items():
        facts = (("fields", fields), ("common fields", "name, max, after (stable, or another event), probability"))
        yield Explanation(key, "event", key, text, facts, f"events:\n- {example}", page="docs/reference/events.md")
