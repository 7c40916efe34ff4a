"""On what of the input a verdict depends, and what was left out."""

from __future__ import annotations

from kubeproof.values import dataclass

EVERY_NODE = "Node/*"  # the object of fields that no node is asked for


@dataclass(frozen=True, slots=True)
class Apart:
    """Something of the input that a verdict does not depend on."""

    object: str  # "Service/shop/web", "Node/*"
    field: str  # "": the object as a whole; the verdict is the same whatever a field says, and without a whole object
    why: str  # without a full stop


@dataclass(frozen=True, slots=True)
class DependsOn:
    """What one verdict may depend on: never less than that, perhaps more."""

    objects: tuple[str, ...]  # nodes aside
    labels: tuple[str, ...]  # of all nodes, by key
    resources: tuple[str, ...]  # of all nodes
    nodes: int  # how many there are
    events: tuple[str, ...]  # of the Scenario, by name
    not_on: tuple[Apart, ...] = ()  # what is left out for one reason stands together
