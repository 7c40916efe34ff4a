"""The finished survival matrix: rows of workloads, columns of faults, a grade where they meet."""

from __future__ import annotations

from enum import StrEnum

from kubeproof.cluster.objects import Source
from kubeproof.values import dataclass


class Grade(StrEnum):
    """How a workload comes through a fault, from best to worst; `unknown` is none of them."""

    STEADY = "steady"  # never below its floor of ready pods, and complete in the end, in every run
    DIPS = "dips"  # below its floor for a while in some run, complete in the end in every run
    STUCK = "stuck"  # some run never comes back
    UNKNOWN = "unknown"  # not decided; `detail` says what is known


@dataclass(frozen=True, slots=True)
class Column:
    """One fault, as a reader sees it."""

    key: str  # "nodeLoss", as --faults takes it
    head: str  # of a narrow column: "node lost"
    title: str  # in a sentence: "a node fails for good"


@dataclass(frozen=True, slots=True)
class Row:
    """One workload, as a reader sees it."""

    target: str  # "Deployment/shop/web"
    replicas: int  # pods that it wants
    floor: int  # ready pods that it should never be below: one, or what its budgets want; 0: no such number
    floor_from: str = ""  # the budget that says so: "PodDisruptionBudget/shop/web"; "" for the usual one
    source: Source = Source()


@dataclass(frozen=True, slots=True)
class Cell:
    """Where a workload and a fault meet, or a pair of faults."""

    target: str
    faults: tuple[str, ...]  # keys of columns: one, or two of a pair
    grade: Grade
    detail: str  # one sentence
    lowest: int | None = None  # the fewest ready pods of any run, where that is known and below the floor
    longest_s: int | None = None  # the longest time below the floor in the runs that were explored
    finding: int | None = None  # number of the result that shows it


@dataclass(frozen=True, slots=True)
class Matrix:
    """All cells, row by row, and the pairs of faults that were looked at."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    cells: tuple[Cell, ...]
    pairs: tuple[Cell, ...] = ()
    pairs_left: int = 0  # pairs that there was no time for
    least_grade: Grade = Grade.DIPS  # what is worse than this is a violation
    elapsed_s: float = 0.0

    def cell(self, target: str, fault: str) -> Cell | None:
        """The cell of a row and a column; None where the fault does not apply."""
        return next((one for one in self.cells if one.target == target and one.faults == (fault,)), None)
