"""Places: nodes of one class, interchangeable as far as any controller, event or property can see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace

from kubeproof.cluster.labels import NO_EXECUTE, NO_SCHEDULE, PREFER_NO_SCHEDULE, MentionedLabels, Taint
from kubeproof.cluster.loops.mentions import Mentions, mention_of, reads_of
from kubeproof.cluster.nodes.shown_nodes import ShownNode
from kubeproof.cluster.objects import Node, Setup
from kubeproof.cluster.state import NEVER, Health, NodeCell
from kubeproof.late import as_class
from kubeproof.values import dataclass

UNREACHABLE = "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
DELETION_CANDIDATE = "DeletionCandidateOfClusterAutoscaler"
CORDONED, UNNEEDED = 1, 2  # how welcome pods are, as bits


@dataclass(frozen=True, slots=True)
class Place:
    """A class of equal nodes; `sample` stands for each of them."""

    sample: Node
    nodes: tuple[int, ...]  # indices into Setup.nodes

    @property
    def size(self) -> int:
        return len(self.nodes)


def taints_of(node: Node, cell: NodeCell) -> tuple[Taint, ...]:
    """All taints a node carries: declared ones and those its condition brings (node lifecycle, 6.2)."""
    taints = node.taints
    if cell.cordoned:
        taints += (Taint(UNSCHEDULABLE, "", NO_SCHEDULE),)
    if cell.health in (Health.UNKNOWN, Health.BACK):
        taints += (Taint(UNREACHABLE, "", NO_SCHEDULE),)
    if cell.no_execute:
        taints += (Taint(UNREACHABLE, "", NO_EXECUTE),)
    if cell.spare_s != NEVER:
        taints += (Taint(DELETION_CANDIDATE, "", PREFER_NO_SCHEDULE),)
    return taints


def unwelcome(cell: NodeCell) -> int:
    """Why a node wants no pods, as bits: it is cordoned, or the cluster autoscaler finds it unneeded."""
    return CORDONED * cell.cordoned | UNNEEDED * (cell.spare_s != NEVER)


def condition(bits: int, *, is_out: int, no_execute: int) -> NodeCell:
    """An empty node in this condition, for its taints."""
    health = Health.UNKNOWN if is_out else Health.UP
    spare_s = 0 if bits & UNNEEDED else NEVER
    return NodeCell(health=health, cordoned=bits & CORDONED, no_execute=no_execute, spare_s=spare_s)


@dataclass(frozen=True, slots=True)
class Layout:
    """A setup with its nodes sorted into places."""

    setup: Setup
    places: tuple[Place, ...]
    unique_keys: frozenset[str]  # label keys whose value differs on every node that has it
    is_checked: bool = False  # who reads nodes is shown what it mentions, and nothing else
    _shown: dict[type, Layout] = field(default_factory=dict, init=False, compare=False, repr=False)

    @property
    def every_place(self) -> tuple[int, ...]:
        return tuple(range(len(self.places)))

    def restrict_to(self, keys: frozenset[str]) -> Layout:
        """The layout whose nodes raise an error where another label than these is read."""

        def guard_node(node: Node) -> Node:
            return replace(node, labels=MentionedLabels(node.labels, keys))

        places = tuple(replace(place, sample=guard_node(place.sample)) for place in self.places)
        nodes = tuple(map(guard_node, self.setup.nodes))
        return replace(self, setup=replace(self.setup, nodes=nodes), places=places, is_checked=True)

    @property
    def is_shown(self) -> bool:
        """True if nodes are shown to one reader."""
        return all(isinstance(place.sample, ShownNode) for place in self.places)

    def to(self, kind: type) -> Layout:
        """The layout for loops of this class, with nodes as these are shown them."""
        if not self.is_checked:
            return self
        kind = as_class(kind)
        if kind not in self._shown:
            mention = mention_of(kind)
            self._shown[kind] = self.show_to(kind.__name__, lambda found: mention(found, self.setup))
        return self._shown[kind]

    def show_to(self, reader: str, mention: Callable[[Mentions], None]) -> Layout:
        """The layout for a reader that mentions this; in unchecked runs everybody is shown the same."""
        if not self.is_checked:
            return self
        told = Mentions()
        mention(told)
        reads = reads_of(reader, told)
        places = tuple(replace(place, sample=ShownNode(place.sample, reads)) for place in self.places)
        nodes = tuple(ShownNode(node, reads) for node in self.setup.nodes)
        return replace(self, setup=replace(self.setup, nodes=nodes), places=places)

    def find_named(self, node: str) -> int | None:
        """The place of the node with this name, which is then alone there; None if no such node exists."""
        for index, place in enumerate(self.places):
            if any(self.setup.nodes[n].name == node for n in place.nodes):
                return index
        return None
