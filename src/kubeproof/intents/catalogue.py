"""The list of all intents, by their permanent IDs; each is declared in a module of `kubeproof.intents.library`."""

from __future__ import annotations

from kubeproof.intents.kind import IntentKind
from kubeproof.intents.library.formulas import LTL
from kubeproof.intents.library.lifecycle import (
    COMPLETES,
    DRAIN_COMPLETES,
    NO_EVICTION,
    NO_PENDING_FOREVER,
    ROLLOUT_COMPLETES,
    RUNS_ON_EVERY_NODE,
    SCHEDULABLE,
)
from kubeproof.intents.library.numbers import MAX_NODES, MAX_POD_OBJECTS, MAX_REPLICAS, MIN_READY, MIN_REPLICAS
from kubeproof.intents.library.oscillation import NO_CREATE_FAIL_LOOP, NO_EVICTION_LOOP, NO_OSCILLATION, SETTLES
from kubeproof.intents.library.topology import MAX_SKEW, NOT_COLOCATED, ONLY_ON, SPREAD
from kubeproof.intents.library.traffic import MAX_LOAD_SKEW, NO_TRAFFIC_TO_TERMINATING

INTENTS: tuple[IntentKind, ...] = (
    MIN_READY, MIN_REPLICAS, MAX_REPLICAS, MAX_SKEW, SCHEDULABLE, MAX_NODES, MAX_POD_OBJECTS, SPREAD, NOT_COLOCATED,
    ONLY_ON, NO_EVICTION, MAX_LOAD_SKEW, NO_TRAFFIC_TO_TERMINATING, NO_PENDING_FOREVER, SETTLES, NO_OSCILLATION,
    NO_EVICTION_LOOP, NO_CREATE_FAIL_LOOP, ROLLOUT_COMPLETES, DRAIN_COMPLETES, RUNS_ON_EVERY_NODE, COMPLETES, LTL,
)  # fmt: skip


def catalogue() -> tuple[IntentKind, ...]:
    """All intents, safety first, in the order of their IDs."""
    return INTENTS


def entry(key: str) -> IntentKind:
    """The intent by its key or by an alias."""
    for one in INTENTS:
        if key == one.key or key in one.aliases:
            return one
    raise KeyError(key)


def aliases() -> dict[str, str]:
    """Every alias with the key it stands for."""
    return {name: one.key for one in INTENTS for name in one.aliases}
