"""The list of all intents: permanent ID, key, category, what it says, and the names Kivi gives them."""

from __future__ import annotations

from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class PropertyEntry:
    """One intent of the library; `aliases` are other names a Scenario may use for it."""

    id: str
    key: str
    category: str
    text: str
    fields: tuple[str, ...]
    default_when: str = ""
    aliases: tuple[str, ...] = ()
    is_sum_of_parts: bool = False  # without a target it holds for the whole if it holds for every part of the input


_COUNTED = ("target", "count", "when")
_ENTRIES = (
    PropertyEntry("S001", "minReady", "numbers", "At least `count` pods are ready.", _COUNTED, "always"),
    PropertyEntry(
        "S002",
        "minReplicas",
        "numbers",
        "At least `count` pods exist, terminating ones aside. Kivi: checkMinReplicas (`count` is the autoscaler's "
        "minimum, or spec.replicas), checkExpReplicas (`expReplicas` is the count).",
        _COUNTED,
        "always",
        ("checkMinReplicas", "checkExpReplicas"),
    ),
    PropertyEntry(
        "S003",
        "maxReplicas",
        "numbers",
        "At most `count` pods exist, terminating ones aside.",
        _COUNTED,
        "always",
    ),
    PropertyEntry(
        "S004",
        "maxSkew",
        "topology",
        "Pods differ by at most `skew` between the domains of `topologyKey`. Kivi: checkBalanceNode (between nodes, "
        "`maxSkew` 2 unless given).",
        ("target", "topologyKey", "skew", "selector", "namespace", "when"),
        "always",
        ("checkBalanceNode",),
    ),
    PropertyEntry(
        "S005",
        "schedulable",
        "lifecycle",
        "In no stable state a pod is left without a feasible node. Kivi: no_feasible_node.",
        ("target",),
        "stable",
        ("no_feasible_node", "no_feasiable_node"),
    ),
    PropertyEntry(
        "S006", "maxNodes", "numbers", "At most `count` of these nodes exist.", ("count", "nodes", "when"), "always"
    ),
    PropertyEntry(
        "S007",
        "maxPodObjects",
        "numbers",
        "At most `count` pod objects exist, of any phase or of `phases`.",
        ("target", "count", "phases", "when"),
        "always",
    ),
    PropertyEntry(
        "S008",
        "spread",
        "topology",
        "Pods run in at least `domains` domains of `topologyKey`.",
        ("target", "topologyKey", "domains", "when"),
        "always",
    ),
    PropertyEntry(
        "S009",
        "notColocated",
        "topology",
        "No pod shares a domain of `topologyKey` with pods that `selector` matches.",
        ("target", "topologyKey", "selector", "namespace", "when"),
        "always",
    ),
    PropertyEntry(
        "S010",
        "onlyOn",
        "topology",
        "Pods run on matching nodes only.",
        ("target", "nodes", "selector", "when"),
        "always",
    ),
    PropertyEntry(
        "S011",
        "noEviction",
        "lifecycle",
        "No pod is evicted, by anybody or by `by`: descheduler, drain, taint, preemption, vpa, kernelPanic. Kivi: "
        "kernel_panic (`by` is kernelPanic: an idle node never panics, so no node panics if no pod is lost to it).",
        ("target", "by"),
        "",
        ("kernel_panic",),
        is_sum_of_parts=True,
    ),
    PropertyEntry(
        "S012",
        "maxLoadSkew",
        "traffic",
        "No ready pod gets more than `skew` times the traffic of another from a Service, which splits it by node where "
        "`externalTrafficPolicy` is Local, otherwise by pod.",
        ("target", "skew", "when"),
        "always",
    ),
    PropertyEntry(
        "S013",
        "noTrafficToTerminating",
        "traffic",
        "No pod that has been told to stop still gets traffic, because a proxy or the controller of an Ingress has not "
        "learnt yet that it terminates, or because no ready pod is left.",
        ("target", "when"),
        "always",
    ),
    PropertyEntry(
        "L001",
        "noPendingForever",
        "lifecycle",
        "No pod waits for ever, for a node or to be let in by a quota.",
        ("target",),
    ),
    PropertyEntry(
        "L002",
        "settles",
        "oscillation",
        "With no further events the cluster always becomes stable.",
        (),
        is_sum_of_parts=True,
    ),
    PropertyEntry(
        "L003",
        "noOscillation",
        "oscillation",
        "No endless run keeps changing replicas or placement. Kivi: checkOscillationReplicaNum (`of` is replicas; "
        "Kivi already calls one rise to the maximum and fall an oscillation: state that as maxReplicas).",
        ("target", "of"),
        "",
        ("checkOscillationReplicaNum", "checkOscillation"),
        is_sum_of_parts=True,
    ),
    PropertyEntry(
        "L004",
        "noEvictionLoop",
        "oscillation",
        "No endless run keeps evicting and replacing pods. Kivi: checkEvictionCycle (Kivi counts evictions to three; "
        "here it is a real cycle).",
        ("target", "by"),
        "",
        ("checkEvictionCycle",),
        is_sum_of_parts=True,
    ),
    PropertyEntry(
        "L005",
        "noCreateFailLoop",
        "oscillation",
        "No endless run keeps creating pods that fail or are rejected.",
        ("target",),
        is_sum_of_parts=True,
    ),
    PropertyEntry(
        "L006", "rolloutCompletes", "lifecycle", "Every rollout that nobody interrupts completes.", ("target",)
    ),
    PropertyEntry(
        "L007",
        "drainCompletes",
        "lifecycle",
        "Every eviction that a drain of a healthy node needs is granted after finitely many attempts.",
        (),
        is_sum_of_parts=True,
    ),
    PropertyEntry(
        "L008",
        "runsOnEveryNode",
        "lifecycle",
        "Every node where the DaemonSet should run has a ready pod of it.",
        ("target", "when"),
        "eventuallyAlways",
    ),
    PropertyEntry(
        "L009",
        "completes",
        "lifecycle",
        "Every Job, and every Job that a CronJob starts, completes; one that fails or is replaced does not.",
        ("target",),
    ),
    PropertyEntry(
        "T001",
        "ltl",
        "any",
        "Every run satisfies the formula of linear temporal logic; `where` says what its propositions mean.",
        ("formula", "where"),
    ),
)
_BY_NAME = {name: one for one in _ENTRIES for name in (one.key, *one.aliases)}


def catalogue() -> tuple[PropertyEntry, ...]:
    """All intents, safety first, in the order of their IDs."""
    return _ENTRIES


def entry(key: str) -> PropertyEntry:
    """The entry of an intent by its key or by an alias."""
    return _BY_NAME[key]


def aliases() -> dict[str, str]:
    """Every alias with the key it stands for."""
    return {name: one.key for one in _ENTRIES for name in one.aliases}
