"""What a sweep over sizes gives: one line per size, the bound, and the whole answer where a size is violated."""

from __future__ import annotations

from enum import StrEnum

from kubeproof.cluster.scale import Limit
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.resize import Size
from kubeproof.verify.result import IntentResult, Statistics
from kubeproof.verify.scaling.esc import Esc


class Skipped(StrEnum):
    """Why a size has no verdict."""

    TRIVIAL = "TRIVIAL"  # nothing an intent could speak of
    NOT_TRIED = "NOT-TRIED"  # larger than the size at which the sweep ended


SizeWord = Verdict | Skipped


@dataclass(frozen=True, slots=True)
class SizeAnswer:
    """What came of one size: what a worker sends back and the journal keeps."""

    verdict: SizeWord
    results: tuple[IntentResult, ...] = ()
    statistics: Statistics = Statistics()
    note: str = ""  # why the size was skipped or has no verdict
    scope: tuple[tuple[str, str], ...] = ()  # of a violated size


@dataclass(frozen=True, slots=True)
class SizeVerdict:
    """One size of a sweep and its verdict."""

    size: Size
    verdict: SizeWord
    states: int = 0
    transitions: int = 0
    elapsed_s: float = 0.0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Sweep:
    """All sizes of a sweep in order, with what bounds them."""

    sizes: tuple[SizeVerdict, ...]
    bound: str  # in words
    limit: Limit | None = None
    esc: Esc | None = None  # where the limit comes from
    is_thinned: bool = False  # fast-find: not every size was looked at

    def count(self, *verdicts: SizeWord) -> int:
        """How many sizes have one of these verdicts."""
        return sum(1 for one in self.sizes if one.verdict in verdicts)


@dataclass(frozen=True, slots=True)
class SweepProgress:
    """Where a running sweep stands."""

    done: int
    total: int
    current: Size | None
    states: int
    elapsed_s: float
    best: Size | None  # the smallest violated size so far
