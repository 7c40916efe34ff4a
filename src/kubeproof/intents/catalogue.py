"""The list of all intents: permanent ID, key, category, what it says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PropertyEntry:
    """One intent of the library."""

    id: str
    key: str
    category: str
    text: str
    fields: tuple[str, ...]
    default_when: str = ""


_COUNTED = ("target", "count", "when")
_ENTRIES = (
    PropertyEntry("S001", "minReady", "numbers", "At least `count` pods are ready.", _COUNTED, "always"),
    PropertyEntry(
        "S002",
        "minReplicas",
        "numbers",
        "At least `count` pods exist, terminating ones aside.",
        _COUNTED,
        "always",
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
        "Pods differ by at most `skew` between the domains of `topologyKey`.",
        ("target", "topologyKey", "skew", "selector", "namespace", "when"),
        "always",
    ),
    PropertyEntry(
        "S005",
        "schedulable",
        "lifecycle",
        "In no stable state a pod is left without a feasible node.",
        ("target",),
        "stable",
    ),
    PropertyEntry("L001", "noPendingForever", "lifecycle", "No pod waits for a node for ever.", ("target",)),
    PropertyEntry("L002", "settles", "oscillation", "With no further events the cluster always becomes stable.", ()),
    PropertyEntry(
        "L003",
        "noOscillation",
        "oscillation",
        "No endless run keeps changing replicas or placement.",
        ("target", "of"),
    ),
)


def catalogue() -> tuple[PropertyEntry, ...]:
    """All intents, safety first, in the order of their IDs."""
    return _ENTRIES


def entry(key: str) -> PropertyEntry:
    """The entry of an intent by its key."""
    return next(entry for entry in _ENTRIES if entry.key == key)
