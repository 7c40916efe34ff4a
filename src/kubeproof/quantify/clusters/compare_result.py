"""What a comparison of variants of a cluster finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubeproof.values import dataclass

if TYPE_CHECKING:
    from kubeproof.quantify.clusters.result import ClusterResult, Span


@dataclass(frozen=True, slots=True)
class Variant:
    """One variant with all its answers."""

    name: str
    result: ClusterResult


@dataclass(frozen=True, slots=True)
class Line:
    """One question with the answer of every variant, in their order."""

    question: str
    name: str  # of the intent or amount
    unit: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Variants side by side; the plot shows one line against another, where there are such."""

    variants: tuple[Variant, ...]
    lines: tuple[Line, ...]
    risk: Line | None
    against: Line | None
