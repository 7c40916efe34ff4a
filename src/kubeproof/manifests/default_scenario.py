"""The scenario that applies when the input has none, and its text for editing."""

from __future__ import annotations

import json
from collections.abc import Sequence

from kubeproof.cluster.objects import DAEMON_SET, JOBS, POD, Workload
from kubeproof.events.declarations import NodeFailure
from kubeproof.intents.declarations import EVENTUALLY_ALWAYS, Amount, Intent
from kubeproof.manifests.loaded import Loaded, Scenario


def default_scenario(workloads: Sequence[Workload]) -> Scenario:
    """One node failure with recovery, and the default intents."""
    return Scenario(events=(NodeFailure(name="nodeFailure-1"),), intents=default_intents(workloads), is_default=True)


def default_intents(workloads: Sequence[Workload]) -> tuple[Intent, ...]:
    """The cluster settles, no pod is pending for ever, enough pods are ready in the end, and Jobs complete."""
    pending = [
        Intent(key="noPendingForever", name=f"noPendingForever {w.ref}", target=w.ref, source=w.source)
        for w in workloads
    ]
    ready = [_everywhere(w) if w.kind == DAEMON_SET else _min_ready(w) for w in workloads if _promises_pods(w)]
    done = [
        Intent(key="completes", name=f"completes {w.ref}", target=w.ref, source=w.source)
        for w in workloads
        if w.kind in JOBS
    ]
    return (Intent(key="settles", name="settles"), *pending, *ready, *done)


def _promises_pods(workload: Workload) -> bool:
    return workload.kind == DAEMON_SET or (workload.kind not in (POD, *JOBS) and _least_ready(workload) > 0)


def _everywhere(workload: Workload) -> Intent:
    return Intent(
        key="runsOnEveryNode",
        name=f"runsOnEveryNode {workload.ref}",
        target=workload.ref,
        when=EVENTUALLY_ALWAYS,
        source=workload.source,
    )


def _least_ready(workload: Workload) -> int:
    return workload.replicas - workload.strategy.unavailable_of(workload.replicas)


def _min_ready(workload: Workload) -> Intent:
    return Intent(
        key="minReady",
        name=f"minReady {workload.ref}",
        target=workload.ref,
        when=EVENTUALLY_ALWAYS,
        count=Amount(_least_ready(workload)),
        source=workload.source,
    )


def as_yaml(loaded: Loaded) -> str:
    """The default scenario of the input as a Scenario document, ready to edit."""
    scenario = default_scenario(loaded.setup.workloads)
    major, minor = loaded.setup.settings.kubernetes_version
    lines = [
        "apiVersion: kubeproof.dev/v1alpha1",
        "kind: Scenario",
        "metadata:",
        "  name: default",
        "spec:",
        f'  kubernetesVersion: "{major}.{minor}"',
        "  start: empty",
        "  events:",
        "  - nodeFailure: {max: 1, recovers: true}",
        "  intents:",
        *(f"  - {intent.key}: {_fields_of(intent)}" for intent in scenario.intents),
    ]
    return "\n".join(lines) + "\n"


def _fields_of(intent: Intent) -> str:
    """The fields of an intent as a flow mapping; JSON strings are valid YAML whatever the name holds."""
    parts = []
    if intent.target is not None:
        parts.append(f"target: {json.dumps(intent.target)}")
    if intent.count is not None:
        parts += [f"count: {intent.count}", f"when: {intent.when}"]
    return "{" + ", ".join(parts) + "}"
