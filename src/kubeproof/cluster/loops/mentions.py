"""What is read of nodes: labels, names, taints, resources. Nodes that agree in all of it are one class.

Whoever reads nodes mentions what beside his code: a loop as `reads_nodes`, an event as `mention_nodes`, an intent where
it is declared. `kubeproof.model.layout` collects what is mentioned; in checked runs nobody is shown more than he
mentions (`kubeproof.cluster.nodes.shown_nodes`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from typing import TYPE_CHECKING, Any

from kubeproof.cluster.labels import NodeTerm, Requirement
from kubeproof.errors import FootprintError
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from kubeproof.cluster.objects import Setup

CPU, MEMORY, POD_SLOTS = "cpu", "memory", "pods"
BASIC = frozenset({CPU, MEMORY, POD_SLOTS})  # in these, nodes of one class agree in any case
Mention = Callable[["Mentions", "Setup"], None]


@dataclass(slots=True)
class Mentions:
    """What the input reads of nodes: label keys, label values, topology keys, names, taints, resources."""

    keys: set[str] = field(default_factory=set)
    values: set[tuple[str, str]] = field(default_factory=set)
    numeric_keys: set[str] = field(default_factory=set)  # every value matters: Gt, Lt, a user's controller
    topology: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    resources: set[str] = field(default_factory=set)
    every_resource: bool = False
    taints: bool = False

    @property
    def labels(self) -> frozenset[str]:
        """The keys of all labels that are read."""
        return frozenset(self.keys | self.numeric_keys | self.topology | {key for key, _ in self.values})

    def covers(self, other: Mentions) -> bool:
        """True if it has all that another one has."""
        ours, theirs = self._parts(), other._parts()
        resources = self.every_resource or (not other.every_resource and self.resources >= other.resources - BASIC)
        return resources and all(own >= its for own, its in zip(ours, theirs, strict=True))

    def _parts(self) -> tuple[set[Any], ...]:
        return self.keys | self.numeric_keys, self.values, self.numeric_keys, self.topology, self.names


@dataclass(frozen=True, slots=True)
class NodeReads:
    """What one reader may be shown of nodes."""

    reader: str
    labels: frozenset[str]
    resources: frozenset[str] | None  # None: all
    taints: bool

    def check_resource(self, name: object) -> None:
        """Raises FootprintError for a resource that is not mentioned."""
        if self.resources is not None and name not in self.resources:
            raise FootprintError(f"E700 the resource {name} of nodes is read, and {self.reader} does not mention it")


def reads_of(reader: str, told: Mentions) -> NodeReads:
    """What a reader who mentions this may be shown."""
    resources = None if told.every_resource else frozenset(told.resources)
    return NodeReads(reader, told.labels, resources, told.taints)


def mention_nothing(found: Mentions, setup: Setup) -> None:
    """For loops that read nothing of nodes."""


def mention_everything(found: Mentions, setup: Setup) -> None:
    """Adds all that nodes have: for those that do not say what they read."""
    found.numeric_keys |= {key for node in setup.nodes for key, _ in node.labels}
    found.names |= {node.name for node in setup.nodes}
    found.taints = found.every_resource = True


def mention_of(kind: type) -> Mention:
    """What a loop's own class says that it reads; everything if it says nothing."""
    found: Mention = vars(kind).get("reads_nodes", mention_everything)
    return found


def mention_affinity(found: Mentions, setup: Setup) -> None:
    """Adds what decides to which nodes pods are bound by their node selectors and required node affinity."""
    for workload in setup.workloads:
        found.values |= set(workload.template.node_selector)
        mention_terms(found, workload.template.required_terms or ())


def mention_terms(found: Mentions, terms: Iterable[NodeTerm]) -> None:
    """Adds what terms of node affinity read."""
    for term in terms:
        mention_requirements(found, term.expressions)
        found.names |= {value for requirement in term.fields for value in requirement.values}


def mention_requirements(found: Mentions, requirements: Iterable[Requirement]) -> None:
    """Adds what a selector of nodes reads."""
    for requirement in requirements:
        found.keys.add(requirement.key)
        if requirement.operator in ("Gt", "Lt"):
            found.numeric_keys.add(requirement.key)
        found.values |= {(requirement.key, value) for value in requirement.values}
