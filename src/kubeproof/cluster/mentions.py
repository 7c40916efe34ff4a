"""What is read of nodes: label keys and values, topology keys, names. Nodes that agree in all of it are one class.

Whoever reads labels mentions them beside his code; `kubeproof.model.layout` collects what is mentioned.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from kubeproof.cluster.labels import NodeTerm, Requirement
from kubeproof.values import dataclass


@dataclass(slots=True)
class Mentions:
    """What the input reads of nodes: label keys, label values, topology keys, names."""

    keys: set[str] = field(default_factory=set)
    values: set[tuple[str, str]] = field(default_factory=set)
    numeric_keys: set[str] = field(default_factory=set)  # every value matters: Gt, Lt, a user's controller
    topology: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)

    @property
    def labels(self) -> frozenset[str]:
        """The keys of all labels that are read."""
        return frozenset(self.keys | self.numeric_keys | self.topology | {key for key, _ in self.values})


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
