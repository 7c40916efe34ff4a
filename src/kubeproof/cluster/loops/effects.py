"""What an action changes and which clocks it has, in the words of footprints."""

from __future__ import annotations

from collections.abc import Iterable

from kubeproof.cluster.loops.actions import Action
from kubeproof.cluster.loops.footprint import Clocks, Writes
from kubeproof.cluster.loops.meanings import MEANINGS
from kubeproof.cluster.loops.node_verbs import NodeVerb


def find_writes(action: Action) -> Writes:
    """What an action changes."""
    told = MEANINGS[type(action)].writes
    return told(action) if callable(told) else told


def clocks_of(action: Action) -> Clocks:
    """The clocks that an action starts, or waits for."""
    verb = getattr(action, "verb", None)
    return verb.meaning.clocks if isinstance(verb, NodeVerb) else MEANINGS[type(action)].clocks


def losers(action: Action) -> Iterable[int]:
    """The workloads of which an action deletes pods."""
    told = MEANINGS[type(action)].losers
    if told is not None:
        return told(action)
    return (action.workload,) if Writes.DELETIONS in find_writes(action) else ()  # type: ignore[union-attr]
