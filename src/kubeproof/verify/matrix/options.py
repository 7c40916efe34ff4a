"""What a user may choose about the survival matrix."""

from __future__ import annotations

from kubeproof.manifests.scenarios.matrix_columns import FAULTS, Fault
from kubeproof.values import dataclass
from kubeproof.verify.executors.gradual import Gradual
from kubeproof.verify.executors.session import Executor
from kubeproof.verify.matrix.result import Grade

BUDGET_S = 60.0  # of a run that nobody limits


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixOptions:
    """Which faults are looked at, how good is good enough, and where the work is done."""

    faults: tuple[str, ...] = ()  # keys; (): all that apply
    least_grade: Grade = Grade.DIPS  # what is worse is a violation
    pairs: bool = True  # two faults at once, as far as time allows
    executor: Executor = Gradual()
    columns: tuple[Fault, ...] = FAULTS  # that there are
    has_checks: bool = True  # what checks find is told, too

    @property
    def own_columns(self) -> tuple[Fault, ...]:
        """The columns, unless they are those that everybody knows."""
        return () if self.columns is FAULTS else self.columns

    @property
    def by_key(self) -> dict[str, Fault]:
        """The columns by their keys."""
        return {fault.key: fault for fault in self.columns}


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixEffort:
    """How much one cell may take: a little at first, so that all have their turn, then more."""

    first_states: int = 4_000
    first_s: float = 2.0
    later_states: int = 400_000
    pair_states: int = 4_000
    pair_s: float = 2.0
    max_pairs: int = 200
