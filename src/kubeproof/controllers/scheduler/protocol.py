"""What scheduler plugins see and answer, and the protocols they follow.

Upstream's extension points (`pkg/scheduler/framework`) come in two shapes here. A plugin that judges each
node by itself is a `NodeFilter` or a `NodeScore`: its answer depends on one `NodeView` and may be remembered.
A plugin that compares nodes is a `ClusterFilter` or a `ClusterScore`: it first observes every node by itself
(remembered too), then builds its PreFilter or PreScore state from all observations. A plugin that has nothing
to do for a pod (upstream's Skip) is not built at all. Preemption and nominated pods need no extension point
of their own: evaluate again with other `PodCount`s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from enum import Enum
from typing import Any, Protocol, TypeVar

from kubeproof.cluster.labels import Taint
from kubeproof.cluster.loops.inaction import Field, pod_field
from kubeproof.cluster.objects import Node, Workload
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

MAX_NODE_SCORE = 100


class Judging(Enum):
    """By what a filter judges; proofs that count room, and parts that are searched by themselves, ask for it."""

    NODE = "the pod and the node, whatever else is there"
    ROOM = "what the pods of the node request"
    PODS = "which pods are where, by their templates"
    VOLUMES = "volumes, and who uses them"


Fact = TypeVar("Fact")
State = TypeVar("State")
Build = TypeVar("Build", bound=Callable[..., Any])


class PodCount(NamedTuple):
    """Pods of one workload on one node, as the scheduler sees them."""

    workload: int  # index into setup.workloads
    alive: int  # without deletionTimestamp
    terminating: int  # still hold resources, not counted by PodTopologySpread


class NodeInfo(NamedTuple):
    """A group of equal nodes.

    The nodes of a group differ at most in their name and in the labels whose keys are unique to a node. So
    nodes that a pod names (nodeName, `metadata.name` terms) or selects by a unique label must not share a
    group with nodes that it does not.
    """

    node: Node  # a representative: labels, allocatable, name
    count: int  # type: ignore[assignment]  # size of the group, at least 1; hides tuple.count on purpose
    unschedulable: bool  # spec.unschedulable
    taints: tuple[Taint, ...]  # all current taints, static and set by controllers
    pods: tuple[PodCount, ...]
    images: int = 0  # that pods have brought since the run began: bits of kubeproof.cluster.nodes.images.track_images


class Usage(NamedTuple):
    """What the pods of a node request together; cpu in milli, everything else in units."""

    pods: int
    requested: Mapping[str, int]  # true requests
    scored: Mapping[str, int]  # with upstream's defaults for containers that omit cpu or memory


@dataclass(frozen=True, slots=True)
class NodeView:
    """One node of a group, prepared for the plugins."""

    node: Node
    labels: Mapping[str, str]
    allocatable: Mapping[str, int]
    unschedulable: bool
    taints: tuple[Taint, ...]
    pods: tuple[PodCount, ...]
    usage: Usage
    images: int = 0  # brought since the run began, as bits


class Rejection(NamedTuple):
    """Why a plugin refuses a node; unresolvable means that preemption cannot help."""

    reason: str  # upstream's wording
    unresolvable: bool
    words: str = ""  # the reason without its subject, where that is "node(s)"; "": the reason
    lacks_claim: bool = False  # a claim of the pod does not exist


def of_nodes(words: str, *, unresolvable: bool) -> Rejection:
    """A reason whose subject are the nodes: upstream puts their number before it."""
    return Rejection(f"node(s) {words}", unresolvable, words)


@dataclass(frozen=True, slots=True)
class Row:
    """The evaluation of one `NodeInfo`."""

    rejected_by: str = ""  # name of the first plugin that refuses the node, empty if feasible
    reason: str = ""  # upstream's wording
    unresolvable: bool = False
    scores: tuple[tuple[str, int], ...] = ()  # plugin and normalised score, in upstream's order
    total: int = 0  # weighted sum
    detail: str = field(default="", compare=False)  # the numbers behind a rejection, where the plugin tells them
    words: str = field(default="", compare=False)  # the reason after a number of nodes; "": the same
    lacks_claim: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One row per `NodeInfo`, and the indices that upstream may choose: all ties for the best total."""

    rows: tuple[Row, ...]
    chosen: tuple[int, ...]


class Refused(NamedTuple):
    """Whom a filter refuses, and where."""

    declared: Workload
    row: Row  # of the first of the nodes
    nodes: str  # that it refuses, as people list them
    details: str  # its numbers there
    down: str  # nodes that are not up; "": none

    @property
    def ref(self) -> str:
        return self.declared.declared_as

    def at(self, path: str) -> tuple[Field, ...]:
        """A field of the pods."""
        return (pod_field(self.ref, path),) if path else ()


class Advice(NamedTuple):
    """What helps a pod that a filter refuses, in a clause, and what it would write."""

    says: str
    fields: tuple[Field, ...] = ()


Help = Callable[[Refused], Advice]


@dataclass(frozen=True, slots=True)
class Declared:
    """What a filter says of itself, beside its code."""

    judging: Judging | None = None  # by what it judges; None: it does not say, and nothing is proved beside it
    change: Help = lambda one: Advice(f"add a node for {one.ref}")


def declare_filter(judging: Judging, *, change: str | Help, field: str = "") -> Callable[[Build], Build]:
    """Declares of a filter's `build_filter` by what it judges, and what helps against it.

    A text may name {ref}, {nodes} and {details}, as `Refused` has them; `field` is what it would write of the pods.
    """

    def tell(one: Refused) -> Advice:
        assert isinstance(change, str)
        return Advice(change.format(ref=one.ref, nodes=one.nodes, details=one.details), one.at(field))

    def declare(build: Build) -> Build:
        build.declared = Declared(judging, change if callable(change) else tell)  # type: ignore[attr-defined]
        return build

    return declare


def find_declared(build: Callable[..., Any]) -> Declared:
    """What a filter says of itself."""
    found: Declared = getattr(build, "declared", UNDECLARED)
    return found


UNDECLARED = Declared()


class NodeFilter(Protocol):
    """Refuses nodes, each judged by itself."""

    def reject(self, view: NodeView) -> Rejection | None:
        """Why the node is refused, or None. A plugin may also have `explain(view) -> str`: the numbers behind it."""


class NodeScore(Protocol):
    """Scores nodes, each judged by itself; `normalise` may relate the scores to each other."""

    @property
    def normalises(self) -> bool:
        """False if `normalise` returns its argument."""

    def score(self, view: NodeView) -> int:
        """The score before normalisation."""

    def normalise(self, scores: list[int]) -> list[int]:
        """Scores from 0 to 100 for all feasible nodes; equal scores stay equal."""


class ClusterFilter(Protocol[Fact, State]):
    """Refuses nodes by comparing all of them."""

    def observe(self, view: NodeView) -> Fact:
        """What the plugin needs to know of one node."""

    def prefilter(self, facts: Sequence[Fact], counts: Sequence[int]) -> State:
        """The state made from all nodes: one fact per group and the group's size."""

    def reject(self, state: State, fact: Fact) -> Rejection | None:
        """Why a node with this fact is refused, or None."""

    def explain(self, state: State, fact: Fact) -> str:
        """The numbers behind a rejection."""


class ClusterScore(Protocol[Fact, State]):
    """Scores nodes by comparing all of them."""

    def observe(self, view: NodeView) -> Fact:
        """What the plugin needs to know of one node."""

    def prescore(self, facts: Sequence[Fact], counts: Sequence[int], feasible: Sequence[int]) -> State | None:
        """The state made from all nodes, or None for upstream's Skip.

        `feasible` are the indices of the groups that passed the filters.
        """

    def score(self, state: State, fact: Fact) -> int:
        """The score of a feasible node before normalisation."""

    def normalise(self, scores: list[int]) -> list[int]:
        """Scores from 0 to 100 for all feasible nodes."""


class ConstantScore:
    """The same score for every node: what a plugin with nothing to do gives before it can be skipped."""

    normalises = False

    def __init__(self, value: int) -> None:
        self._value = value

    def score(self, view: NodeView) -> int:
        return self._value

    def normalise(self, scores: list[int]) -> list[int]:
        return scores


def divide_truncating(dividend: int, divisor: int) -> int:
    """Go's integer division, which rounds toward zero."""
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


def round_half_away(value: float) -> int:
    """Go's `math.Round` of a value that is not negative."""
    whole = int(value)
    return whole + 1 if value - whole >= 0.5 else whole


def normalise_by_maximum(scores: list[int], *, reverse: bool) -> list[int]:
    """Upstream's DefaultNormalizeScore: the largest score becomes 100 (reversed: 0).

    If all are 0 they stay 0, or are all 100 when reversed. Scores must not be negative.
    """
    largest = max(scores, default=0)
    if largest == 0:
        return [MAX_NODE_SCORE] * len(scores) if reverse else scores
    scaled = [MAX_NODE_SCORE * score // largest for score in scores]
    return [MAX_NODE_SCORE - score for score in scaled] if reverse else scaled
