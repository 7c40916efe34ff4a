"""The default scenario as text for editing: what applies without a Scenario, and what else this input could have."""

from __future__ import annotations

import json
from collections.abc import Iterator

from kubeproof.cluster.objects import DEPLOYMENT, ZONE, Setup
from kubeproof.events.declarations import UsageChange
from kubeproof.intents.declarations import Intent
from kubeproof.manifests.default_scenario import default_scenario
from kubeproof.manifests.loaded import Loaded
from kubeproof.manifests.node_pools import write_nodes

_MOST = 5  # suggestions of one kind; more would hide what applies


def as_yaml(loaded: Loaded) -> str:
    """The default scenario of the input as a Scenario, every part explained; commented entries can be uncommented.

    Nodes that the input does not have follow as objects of their own.
    """
    return "\n".join(_lines(loaded)) + "\n" + "".join(_assumed(loaded))


def _lines(loaded: Loaded) -> Iterator[str]:
    setup, scenario = loaded.setup, default_scenario(loaded.setup)
    major, minor = setup.settings.kubernetes_version
    yield "# What Kubernetes has no object for: what may happen, and what must hold. Written by kubeproof init."
    yield "# Every part is optional; kubeproof explain ID tells more about each event and intent."
    yield from _missing(setup)
    yield "apiVersion: kubeproof.dev/v1alpha1"
    yield "kind: Scenario"
    yield "metadata:"
    yield "  name: default"
    yield "spec:"
    yield f'  kubernetesVersion: "{major}.{minor}"  # selects rules that differ between versions'
    yield "  start: empty  # or deployed: the run begins when everything is placed and ready"
    yield "  # Each event may happen, at any moment, at most `max` times. It never has to."
    yield "  events:"
    yield "  - nodeFailure: {max: 1, recovers: true}"
    yield "  - drain: {max: 1}"
    yield from (_usage(event) for event in scenario.events if isinstance(event, UsageChange))
    yield from (f"  # - {entry}" for entry in _more_events(setup))
    yield "  # Each intent is proved for every order of controllers and events, or a counterexample is shown."
    yield "  intents:"
    yield from (f"  - {intent.key}: {_fields_of(intent)}" for intent in scenario.intents)
    yield from (f"  # - {entry}" for entry in _more_intents(setup))
    yield from _scale(setup)


def _missing(setup: Setup) -> Iterator[str]:
    if not setup.nodes:
        yield "# The input has no Node, so no pod can run. Add some, e.g. kubectl get nodes -o yaml > nodes.yaml"


def _assumed(loaded: Loaded) -> Iterator[str]:
    """The nodes that no object of the input tells of, to be edited."""
    pools = loaded.assumed or loaded.given
    if not pools:
        return
    who = "Assumed" if loaded.assumed else "As given"
    yield f"---\n# {who}, as the input has no Node objects. Yours instead: kubectl get nodes -o yaml > nodes.yaml\n"
    yield write_nodes(pools).removeprefix("---\n")


def _usage(event: UsageChange) -> str:
    """A change of usage as an entry of `events`."""
    levels = ", ".join(json.dumps(str(level)) for level in event.levels)
    container = f"container: {json.dumps(event.container)}, " if event.container else ""
    return f"  - {event.resource}Change: {{target: {json.dumps(event.target)}, {container}levels: [{levels}]}}"


def _more_events(setup: Setup) -> Iterator[str]:
    """Events that this input could have."""
    rolled_out = [workload.ref for workload in setup.workloads if workload.kind == DEPLOYMENT]
    if any(ZONE in dict(node.labels) for node in setup.nodes):
        yield f"zoneFailure: {{topologyKey: {ZONE}}}  # a whole zone is lost"
    for ref in rolled_out[:_MOST]:
        yield f"rollout: {{target: {json.dumps(ref)}}}  # a new revision of its pods"
    for workload in setup.workloads[:_MOST]:
        yield f"podCrash: {{target: {json.dumps(workload.ref)}, max: 1}}"


def _more_intents(setup: Setup) -> Iterator[str]:
    """Intents that this input could have."""
    has_zones = len({dict(node.labels).get(ZONE) for node in setup.nodes} - {None}) > 1
    several = [workload for workload in setup.workloads if workload.kind == DEPLOYMENT and workload.replicas > 1]
    for workload in several[:_MOST]:
        target = json.dumps(workload.ref)
        yield f"minReady: {{target: {target}, count: 1, when: always}}  # never a moment without a ready pod"
        if has_zones:
            yield f"spread: {{target: {target}, topologyKey: {ZONE}, domains: 2}}  # not all in one zone"
    for ref in [workload.ref for workload in several][:_MOST]:
        yield f"rolloutCompletes: {{target: {json.dumps(ref)}}}"


def _scale(setup: Setup) -> Iterator[str]:
    """How to verify every size instead of this one."""
    grown = [workload for workload in setup.workloads if workload.kind == DEPLOYMENT]
    nodes = [node for node in setup.nodes if not node.is_slot]
    if not nodes or not grown:
        return
    yield "  # To verify every size up to a bound instead of the one in the manifests:"
    yield "  # scale:"
    yield f"  #   nodes: [{{like: {json.dumps(nodes[0].name)}, count: {{min: 1, max: 6}}}}]"
    most = max(4, 2 * grown[0].replicas)
    yield f"  #   workloads: [{{target: {json.dumps(grown[0].ref)}, replicas: {{min: 1, max: {most}}}}}]"
    yield "  #   limit: esc"


def _fields_of(intent: Intent) -> str:
    """The fields of an intent as a flow mapping; JSON strings are valid YAML whatever the name holds."""
    parts = [] if intent.target is None else [f"target: {json.dumps(intent.target)}"]
    if intent.count is not None:
        parts += [f"count: {intent.count}", f"when: {intent.when}"]
    return "{" + ", ".join(parts) + "}"
