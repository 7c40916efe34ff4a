"""A Scenario to be edited: the faults of the survival matrix, one of them active, and what workloads should survive.

Everything that stands in a comment can be uncommented.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from kubeproof.cluster.objects import ZONE, Setup, Workload
from kubeproof.events.declarations import CreateNode, Event, Rollout, Scale, UsageChange
from kubeproof.intents.declarations import EVENTUALLY_ALWAYS, Intent
from kubeproof.manifests.assumed.node_pools import write_nodes
from kubeproof.manifests.loaded import Loaded
from kubeproof.manifests.scenarios.matrix_columns import (
    FAULTS,
    Fault,
    concerning,
    floor_intent,
    floor_of,
    lasting_intent,
    rows_of,
)

ACTIVE = "nodeFailure"  # the fault that applies until somebody edits the file
_MOST = 5  # suggestions of one kind; more would hide what applies


def as_yaml(loaded: Loaded) -> str:
    """A Scenario for the input, every part explained; commented entries can be uncommented.

    Nodes that the input does not have follow as objects of their own.
    """
    return "\n".join(_lines(loaded)) + "\n" + "".join(_list_assumed(loaded))


def _lines(loaded: Loaded) -> Iterator[str]:
    setup = loaded.setup
    major, minor = setup.settings.kubernetes_version
    yield "# What Kubernetes has no object for: what may happen, and what must hold. Written by kubeproof init."
    yield "# Every part is optional; kubeproof explain ID tells more about each event and intent."
    yield from _missing(setup)
    yield "apiVersion: kubeproof.dev/v1alpha1"
    yield "kind: Scenario"
    yield "metadata:"
    yield "  name: mine"
    yield "spec:"
    yield f'  kubernetesVersion: "{major}.{minor}"  # selects rules that differ between versions'
    if not loaded.scenario.start.pods:
        yield "  start: deployed  # all is placed and ready; or empty: nothing is deployed yet"
    yield "  # Each event may happen, at any moment, at most `max` times; it never has to. One at a time tells most:"
    yield "  # without a Scenario, kubeproof verify asks for each of these by itself."
    yield "  events:"
    yield from _events(setup)
    yield "  # Each intent is proved for every order of controllers and events, or a counterexample is shown."
    yield "  intents:"
    yield from (f"  - {intent.key}: {_fields_of(intent)}" for intent in _intents(setup))
    yield from (f"  # - {entry}" for entry in _more_intents(setup))
    yield from _scale(setup)


def _events(setup: Setup) -> Iterator[str]:
    """The faults that concern somebody, each as an entry with what it means."""
    for fault in FAULTS:
        workloads = [workload for workload in rows_of(setup) if fault in concerning(setup, workload)]
        entries = dict.fromkeys(_entry(event) for event in _happening(setup, fault, workloads))
        comment = "" if fault.key == ACTIVE else "# "
        shown = [entry for entry in entries if entry][:_MOST]
        if shown:
            yield f"  # {fault.title[0].upper()}{fault.title[1:]}:"
        yield from (f"  {comment}- {entry}" for entry in shown)


def _happening(setup: Setup, fault: Fault, workloads: list[Workload]) -> Iterator[Event]:
    for workload in workloads:
        yield from fault.events(fault.prepare(setup), workload)


def _entry(event: Event) -> str:
    """An event as an entry of `events`; "" for one that needs an object of its own."""
    if isinstance(event, UsageChange):
        return _usage(event)
    if isinstance(event, CreateNode):
        return ""
    fields: dict[str, str] = {}
    if target := getattr(event, "target", ""):
        fields["target"] = json.dumps(target)
    if isinstance(event, Scale):
        fields["replicas"] = str(list(event.replicas))
    key = "rollout" if isinstance(event, Rollout) else _key(event)
    fields |= {name: "true" for name, value in _FLAGS.items() if getattr(event, value, False)}
    fields |= {"recovers": "false"} if getattr(event, "recovers", True) is False else {}
    fields |= {"after": event.after} if event.after else {}
    return f"{key}: {{{', '.join(f'{name}: {value}' for name, value in fields.items())}}}"


_FLAGS = {"comesBack": "comes_back", "uncordon": "uncordon", "eachOnce": "each_once"}  # as written, and here


def _key(event: Event) -> str:
    name = type(event).__name__
    return name[0].lower() + name[1:]


def _intents(setup: Setup) -> Iterator[Intent]:
    """What each workload should survive, as in the matrix."""
    if not rows_of(setup):
        yield Intent(key="settles", name="settles")
    for workload in rows_of(setup):
        yield lasting_intent(workload)
        if not workload.rules.is_pod and (count := floor_of(setup, workload).count):
            yield floor_intent(workload, count)


def _missing(setup: Setup) -> Iterator[str]:
    if not setup.nodes:
        yield "# The input has no Node, so no pod can run. Add some, e.g. kubectl get nodes -o yaml > nodes.yaml"


def _list_assumed(loaded: Loaded) -> Iterator[str]:
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
    times = "" if event.max is None else f", max: {event.max}"
    after = f", after: {event.after}" if event.after else ""
    told = f"target: {json.dumps(event.target)}, {container}levels: [{levels}]{times}{after}"
    return f"{event.resource}Change: {{{told}}}"


def _more_intents(setup: Setup) -> Iterator[str]:
    """Intents that this input could have."""
    if rows_of(setup):
        yield "settles: {}  # with no further events the cluster comes to rest"
    yield "drainCompletes: {}  # of events that drain nodes"
    has_zones = len({dict(node.labels).get(ZONE) for node in setup.nodes} - {None}) > 1
    several = [workload for workload in setup.workloads if workload.rules.owns_replica_sets and workload.replicas > 1]
    for workload in several[:_MOST]:
        target = json.dumps(workload.ref)
        if has_zones:
            yield f"spread: {{target: {target}, topologyKey: {ZONE}, domains: 2}}  # not all in one zone"
        yield f"rolloutCompletes: {{target: {target}}}"


def _scale(setup: Setup) -> Iterator[str]:
    """How to verify every size instead of this one."""
    grown = [workload for workload in setup.workloads if workload.rules.owns_replica_sets]
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
        parts.append(f"count: {intent.count}")
    if intent.count is not None or intent.when == EVENTUALLY_ALWAYS:
        parts.append(f"when: {intent.when}")
    return "{" + ", ".join(parts) + "}"
