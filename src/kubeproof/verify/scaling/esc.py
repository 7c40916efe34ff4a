"""The empirically sufficient scale (ESC): a bound that every failure of a library of cases is well within.

Kivi's rule (USENIX ATC'24): the largest number of nodes and the largest number of pods per node among the smallest
clusters in which the cases fail, both doubled.
"""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.cluster.scale import Limit
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class Minimum:
    """The smallest cluster in which a case fails."""

    case: str
    nodes: int
    pods: int


@dataclass(frozen=True, slots=True)
class Esc:
    """The scale, and the cases it rests on."""

    nodes: int
    pods_per_node: int
    basis: tuple[Minimum, ...]

    @property
    def limit(self) -> Limit:
        return Limit(self.nodes, self.pods_per_node)


def esc_of(basis: Sequence[Minimum]) -> Esc:
    """Twice the most nodes, and twice the most pods per node, rounded up."""
    nodes = max(2 * one.nodes for one in basis)
    pods = max(-(-2 * one.pods // one.nodes) for one in basis)
    return Esc(nodes, pods, tuple(basis))
