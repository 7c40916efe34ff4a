"""Why a loop that could help does nothing: its rule, with the numbers that it goes by at the moment.

A rule is declared beside the loop that follows it. The loop works the rest out of its own decision: what `why_not` says
is what `act` did, put into words.
"""

from __future__ import annotations

from enum import StrEnum

from kubeproof.cluster.kinds import KINDS
from kubeproof.named_tuples import NamedTuple

Numbers = tuple[tuple[str, int | str], ...]


class Trouble(StrEnum):
    """What pods may suffer from, and a loop could help with."""

    PENDING = "pods without a node"
    MISSING = "pods that are not created"
    DEAD_NODE = "pods on a node that is down"
    NOT_READY = "pods that are not ready"
    ROLLOUT = "a rollout that is not complete"
    EVICTION = "evictions that are refused"
    REPLICAS = "too many or too few replicas"
    TAKEN = "pods that are taken away"
    PLACES = "pods in the wrong places"
    TRAFFIC = "traffic to the wrong pods"
    COMPLETION = "Jobs that do not complete"
    REJECTED = "pods that a kubelet rejects"


class Rule(NamedTuple):
    """A rule by which a loop leaves things as they are."""

    key: str  # as `kubeproof explain` finds it; permanent
    text: str  # the rule, whatever the numbers
    upstream: str  # where it stands
    helps: tuple[Trouble, ...]  # with what the loop could help


class Field(NamedTuple):
    """A field of an object: what a change is about. Reports add the line where it is written."""

    object: str  # by reference: "Deployment/shop/web"
    path: str = ""  # "spec.replicas"; "": the object itself


def pod_field(ref: str, path: str) -> Field:
    """A field of the pods of a workload: "topologySpreadConstraints" of "Deployment/shop/web"."""
    return Field(ref, ".".join((*KINDS[ref.partition("/")[0]].template, "spec", path)))


class Idle(NamedTuple):
    """Why a loop does nothing about an object now."""

    rule: Rule
    says: str  # a clause with its numbers, whose subject is the loop
    change: str = ""  # what would let it act: a clause that tells a person what to do
    numbers: Numbers = ()
    object: str = ""  # by reference, where it is another than the loop looks after
    fields: tuple[Field, ...] = ()  # what the change would write
    lowers: str = ""  # what would let it act, where an intent asks for fewer and not for more
