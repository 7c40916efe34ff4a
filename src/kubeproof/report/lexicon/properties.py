"""Properties: what breaks them and how to write them; the rest is in the catalogue."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.intents.catalogue import PropertyEntry, catalogue
from kubeproof.report.lexicon.entry import Explanation
from kubeproof.verify.words.summary import REMEDIES, WHEN_WORDS

_WEB = "target: Deployment/shop/web"
# Key -> what breaks it, an entry of spec.intents.
USES = {
    "minReady": (
        "A reachable state with fewer ready pods, once the workload had all it wants. Ready is what the API tells: "
        "pods of a node that fell silent are ready until the node controller has noticed.",
        f'minReady: {{{_WEB}, count: "50%", when: always}}',
    ),
    "minReplicas": (
        "A reachable state with fewer pods that do not terminate: somebody scaled too far down, or pods are not "
        "replaced.",
        f"minReplicas: {{{_WEB}, count: 2}}",
    ),
    "maxReplicas": (
        "A reachable state with more pods, from the very first one on: an autoscaler runs away, or a rollout surges.",
        f"maxReplicas: {{{_WEB}, count: 6}}",
    ),
    "maxSkew": (
        "A reachable state in which two domains differ by more bound pods than allowed: soft constraints, evictions "
        "and scale-downs do not restore the spread.",
        f"maxSkew: {{{_WEB}, topologyKey: topology.kubernetes.io/zone, skew: 1}}",
    ),
    "schedulable": (
        "A stable state in which a pod has no node: every filter that refuses it is told for every node.",
        f"schedulable: {{{_WEB}}}",
    ),
    "maxNodes": (
        "More nodes than allowed, of the input or made by the cluster autoscaler.",
        "maxNodes: {count: 6, nodes: {matchLabels: {pool: web}}}",
    ),
    "maxPodObjects": (
        "More Pod objects than allowed, failed and terminating ones included: a loop that leaves dead pods behind.",
        f"maxPodObjects: {{{_WEB}, count: 20, phases: [Failed]}}",
    ),
    "spread": (
        "A reachable state in which the pods are in fewer domains: one zone can take all of them down.",
        f"spread: {{{_WEB}, topologyKey: topology.kubernetes.io/zone, domains: 2}}",
    ),
    "notColocated": (
        "A domain that holds a pod of the target and one that the selector matches.",
        f"notColocated: {{{_WEB}, topologyKey: kubernetes.io/hostname, selector: {{matchLabels: {{app: cache}}}}}}",
    ),
    "onlyOn": (
        "A pod bound to a node that does not match.",
        f"onlyOn: {{{_WEB}, selector: {{matchLabels: {{pool: web}}}}}}",
    ),
    "noEviction": (
        "A step that evicts a pod of the target, by anybody or by the one named.",
        f"noEviction: {{{_WEB}, by: descheduler}}",
    ),
    "maxLoadSkew": (
        "A state in which a ready pod gets more than so many times the traffic of another, because traffic is split by "
        "node and nodes have different numbers of pods.",
        f"maxLoadSkew: {{{_WEB}, skew: 2}}",
    ),
    "noTrafficToTerminating": (
        "A pod that has been told to stop and still gets requests: its endpoints were not updated in time.",
        f"noTrafficToTerminating: {{{_WEB}}}",
    ),
    "noPendingForever": (
        "A stable state in which a pod has no node, or an endless run in which it never gets one.",
        f"noPendingForever: {{{_WEB}}}",
    ),
    "settles": (
        "An endless run without events: two controllers undo each other's work for ever. The loop is shown as a loop, "
        "and told to be inevitable or possible.",
        "settles: {}",
    ),
    "noOscillation": (
        "An endless run that keeps writing replicas or keeps moving pods.",
        f"noOscillation: {{{_WEB}, of: replicas}}",
    ),
    "noEvictionLoop": (
        "An endless run in which pods are evicted and replaced again and again, typically descheduler against "
        "scheduler.",
        f"noEvictionLoop: {{{_WEB}, by: descheduler}}",
    ),
    "noCreateFailLoop": (
        "An endless run in which pods are created, rejected by the kubelet and created again.",
        f"noCreateFailLoop: {{{_WEB}}}",
    ),
    "rolloutCompletes": (
        "A rollout that nobody interrupts and that never gets all of its new pods ready.",
        f"rolloutCompletes: {{{_WEB}}}",
    ),
    "drainCompletes": (
        "A drain of a healthy node that waits for ever because a PodDisruptionBudget never grants an eviction.",
        "drainCompletes: {}",
    ),
    "runsOnEveryNode": (
        "A node on which the DaemonSet should run and never does: no room, or a pod that is rejected.",
        "runsOnEveryNode: {target: DaemonSet/shop/agent}",
    ),
    "completes": (
        "A Job that fails, is replaced, or never ends.",
        "completes: {target: Job/shop/report}",
    ),
    "ltl": (
        "A run that does not satisfy the formula: a bad prefix, or a loop in which the good thing never comes.",
        "ltl: {formula: 'G(low -> F !low)', where: {low: \"ready('Deployment/shop/web') < 2\"}}",
    ),
}


def properties() -> Iterator[Explanation]:
    """All properties of the library."""
    return (_explanation(entry) for entry in catalogue())


def _explanation(entry: PropertyEntry) -> Explanation:
    broken_by, example = USES[entry.key]
    facts = [("category", entry.category), ("fields", ", ".join(entry.fields) or "none")]
    if entry.default_when:
        facts.append(("when", f"{entry.default_when}: {WHEN_WORDS[entry.default_when]}"))
    facts.append(("broken by", broken_by))
    facts += [("also called", ", ".join(entry.aliases))] if entry.aliases else []
    facts.append(("accept it", f'annotation ignore.kubeproof.dev/{entry.id}: "reason", or an exemption'))
    return Explanation(
        entry.id,
        "property",
        entry.key,
        entry.text,
        tuple(facts),
        f"intents:\n- {example}",
        REMEDIES[entry.key],
        "docs/reference/intents.md",
        (entry.key, *entry.aliases),
    )
