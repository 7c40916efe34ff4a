"""Which cells a matrix has, in the order in which they are asked for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from kubeproof.cluster.objects import Setup, Workload
from kubeproof.manifests.loaded import Loaded
from kubeproof.manifests.scenarios.matrix_columns import (
    BY_KEY,
    DEPLOYED,
    FAULTS,
    Fault,
    concerning,
    floor_of,
    rows_of,
    under_faults,
    within_bounds,
)
from kubeproof.values import dataclass
from kubeproof.verify.matrix.result import Column, Row
from kubeproof.verify.proofs.slicing import cut_by_relations


@dataclass(frozen=True, slots=True)
class CellQuestion:
    """One cell to be graded, and how much may be spent on it."""

    target: str
    faults: tuple[str, ...]
    max_states: int
    timeout_s: float  # of the processor: what else runs on the machine must not decide about an answer
    is_thorough: bool = False  # what parts leave open is asked of the whole, too
    ends_at_s: float = math.inf  # of the system's clock, for all questions together

    @property
    def name(self) -> str:
        """The faults and the workload."""
        return f"{'+'.join(self.faults)} {self.target}"

    @property
    def key(self) -> str:
        """The same in every run."""
        return f"{self.name} {self.max_states}{' whole' if self.is_thorough else ''}"

    @property
    def cell(self) -> tuple[str, tuple[str, ...]]:
        """What it is about."""
        return self.target, self.faults


MANY_PODS = 8  # of related workloads: each as many more make a search noticeably larger
Cells = list[tuple[str, tuple[str, ...]]]


def single_faults(setup: Setup, chosen: Sequence[Fault] = FAULTS) -> Cells:
    """Every workload with every fault that concerns it, fault by fault."""
    rows = rows_of(setup)
    return [(w.ref, (fault.key,)) for fault in chosen for w in rows if fault in concerning(setup, w, chosen)]


def pairs_of_faults(setup: Setup, chosen: Sequence[Fault] = FAULTS) -> Cells:
    """Every workload with every two faults that concern it and begin alike, the likely ones first."""
    found = []
    for workload in rows_of(setup):
        for one, other in combinations(concerning(setup, workload, chosen), 2):
            if one.begins == other.begins == DEPLOYED and one.events is not other.events:
                found.append((one.rank + other.rank, (workload.ref, (one.key, other.key))))
    return [cell for _, cell in sorted(found, key=lambda pair: pair[0])]


def small_first(loaded: Loaded, cells: Cells, columns: Mapping[str, Fault] = BY_KEY) -> Cells:
    """The cells in the order of work: those of workloads to which few others relate, and not of many pods, come first.

    They take least: where the time does not suffice for all, more of them are decided.
    """
    target, faults = cells[0]
    parts = cut_by_relations(under_faults(loaded, faults, target, columns))
    pods = {one.ref: one.replicas for one in loaded.setup.workloads if one.owner is None}
    sizes = {
        ref: (len(part.workloads), sum(pods.get(one, 0) for one in part.workloads) // MANY_PODS)
        for part in parts
        for ref in part.workloads
    }
    most = (len(sizes), sum(pods.values()) // MANY_PODS)
    return sorted(cells, key=lambda cell: sizes.get(cell[0], most))


def columns_of(cells: Cells, known: Sequence[Fault] = FAULTS) -> tuple[Column, ...]:
    """The columns that have a cell."""
    asked = {key for _, keys in cells for key in keys}
    return tuple(Column(fault.key, fault.head, fault.title) for fault in known if fault.key in asked)


def rows_shown(loaded: Loaded) -> tuple[Row, ...]:
    """The rows, with what each workload wants when it is deployed."""
    setup = loaded.setup if loaded.scenario.start.pods else within_bounds(loaded.setup)
    return tuple(_row(setup, workload) for workload in rows_of(setup))


def _row(setup: Setup, workload: Workload) -> Row:
    floor = floor_of(setup, workload)
    budget = f"PodDisruptionBudget/{floor.budget.namespace}/{floor.budget.name}" if floor.budget else ""
    return Row(workload.ref, workload.replicas, floor.count, budget, workload.source)


def ask(cells: Cells, max_states: int, timeout_s: float, *, is_thorough: bool = False) -> Iterator[CellQuestion]:
    """The questions for the cells."""
    return (CellQuestion(target, faults, max_states, timeout_s, is_thorough) for target, faults in cells)


def titles(keys: Sequence[str]) -> str:
    """What happens, as a clause."""
    return ", and ".join(BY_KEY[key].title for key in keys)
