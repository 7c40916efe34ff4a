"""The order of single pods with their ages in which a ReplicaSet deletes them, as the real controller sees them.

Mirrors `ActivePodsWithRanks` of `pkg/controller/controller_utils.go` (v1.26 to v1.37), beyond rules 1 to 5, which are
all that the model keeps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cmp_to_key, partial
from typing import NamedTuple

from kubeproof.cluster.api import versions

SIDECARS_SINCE = (1, 28)  # restarts of sidecars count
NEWEST = versions.NEWEST
INSERTED = 12  # so many elements Go's sort.Sort orders by insertion


class Candidate(NamedTuple):
    """One active pod as the ReplicaSet controller compares it."""

    assigned: bool
    phase: int  # PENDING, UNKNOWN, RUNNING
    ready: bool
    deletion_cost: int = 0
    rank: int = 0  # active pods of the same controller on the same node
    ready_age_ns: int | None = None  # now - Ready.lastTransitionTime; None: zero time
    restarts: int = 0  # of the container with the most
    age_ns: int | None = None  # now - creationTimestamp
    uid: str = ""
    sidecar_restarts: int = 0  # of the sidecar with the most


def age_bucket(age_ns: int | None) -> int:
    """floor(log2(age)): ages within one power of two count as equal; -1 for none, -2 for the zero time.

    Computed in floating point, as upstream does it: an age just below a large power of two counts as that power.
    """
    if age_ns is None:
        return -2
    if age_ns <= 0:
        return -1
    fraction, exponent = math.frexp(age_ns)
    return exponent - 1 if fraction == 0.5 else int(math.log(fraction) * (1 / math.log(2)) + exponent)


def compare(one: Candidate, other: Candidate, version: tuple[int, int] = NEWEST) -> int:
    """Negative if `one` is deleted before `other`, 0 if upstream leaves it open."""
    for left, right in zip(_rules_1_to_5(one), _rules_1_to_5(other), strict=True):
        if left != right:
            return -1 if left < right else 1
    if one.ready and other.ready and one.ready_age_ns != other.ready_age_ns:
        return _younger_first(one.ready_age_ns, one.uid, other.ready_age_ns, other.uid)
    if one.restarts != other.restarts:
        return other.restarts - one.restarts
    if version >= SIDECARS_SINCE and one.sidecar_restarts != other.sidecar_restarts:
        return other.sidecar_restarts - one.sidecar_restarts
    if one.age_ns != other.age_ns:
        return _younger_first(one.age_ns, one.uid, other.age_ns, other.uid)
    return 0


def _rules_1_to_5(pod: Candidate) -> tuple[int, ...]:
    return int(pod.assigned), pod.phase, int(pod.ready), pod.deletion_cost, -pod.rank


def _younger_first(one_ns: int | None, one_uid: str, other_ns: int | None, other_uid: str) -> int:
    """Different ages compare by power of two; within one the smaller UID goes first."""
    one_key, other_key = (age_bucket(one_ns), one_uid), (age_bucket(other_ns), other_uid)
    return (one_key > other_key) - (one_key < other_key)


def victims(pods: Sequence[Candidate], count: int, version: tuple[int, int] = NEWEST) -> list[Candidate]:
    """The pods that go when `count` of them must, in the order listed if all must.

    The comparison is no order: pods that became ready in one moment compare by restarts and age, but each of them
    with a third by UID, so that three can go round in a circle. For up to 12 pods the outcome is that of
    upstream's insertion sort, which then depends on the order listed; for more it may be another one.
    """
    if count >= len(pods):
        return list(pods)
    if len(pods) > INSERTED:
        return sorted(pods, key=cmp_to_key(partial(compare, version=version)))[:count]
    ordered: list[Candidate] = []
    for pod in pods:
        position = len(ordered)
        while position and compare(pod, ordered[position - 1], version) < 0:
            position -= 1
        ordered.insert(position, pod)
    return ordered[:count]
