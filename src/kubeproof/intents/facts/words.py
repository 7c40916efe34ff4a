"""What a fact finds in a state, as a reader would count it: `6 pods, at most 5 wanted`."""

from __future__ import annotations

from typing import Any

from kubeproof.cluster.loops.control import Seen
from kubeproof.intents.facts.counts import (
    NodesAtMost,
    NothingMissing,
    NothingPending,
    PodObjectsAtMost,
    ReadyAtLeast,
    ReplicasAtLeast,
    ReplicasAtMost,
    active_pods,
    pending_pods,
    ready_pods,
)
from kubeproof.intents.facts.places import SkewAtMost
from kubeproof.intents.views import AnyFact, Counts, Pods


def describe_found(fact: AnyFact, seen: Seen[Any, Any]) -> str:
    """The numbers that a fact compares; "" for facts that compare none."""
    match fact:
        case ReadyAtLeast():
            return _describe_bound(ready_pods(seen), "ready", "at least", fact.amount.of(seen.workloads[0].desired))
        case ReplicasAtLeast():
            return _describe_bound(
                active_pods(seen), _pods(seen), "at least", fact.amount.of(seen.workloads[0].desired)
            )
        case ReplicasAtMost():
            return _describe_bound(active_pods(seen), _pods(seen), "at most", fact.amount.of(seen.workloads[0].desired))
        case PodObjectsAtMost():
            return _describe_bound(pending_pods(seen) + sum(seen.places), "Pod objects", "at most", fact.most)
        case NodesAtMost():
            return _describe_bound(sum(seen.places), "nodes", "at most", fact.count)
        case SkewAtMost():
            return _describe_bound(fact.widest(seen), "pods of difference", "at most", fact.skew)
        case NothingPending() | NothingMissing():
            waiting = pending_pods(seen) + sum(view.pinned for view in seen.places)
            return f"{waiting} without a node" if waiting else ""
    return ""


def _pods(seen: Seen[Counts, Pods]) -> str:
    return "pod" if active_pods(seen) == 1 else "pods"


def _describe_bound(number: int, what: str, side: str, bound: int) -> str:
    return f"{number} {what}, {side} {bound} wanted"
