"""What remains of a named state when names are forgotten: the link between the two models."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from kubeproof.cluster.state import NodeCell
from kubeproof.model.by_name.state import State, node_cell
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.model.plan import Plan

Anonymous = tuple[Hashable, ...]


def anonymous(model: IndividualModel, state: State) -> Anonymous:
    """The state without names: equal for states that differ by a renaming of equal pods, nodes or domains."""
    workloads = tuple(model.workload_cell(state, index) for index in range(len(state.specs)))
    places = tuple(_multiset(node_cell(state.nodes[i]) for i in p.nodes) for p in model.plan.layout.places)
    return canonical(model.plan, (state.observed, *workloads, *state.memories, *places))


def _multiset(cells: Iterable[NodeCell]) -> tuple[tuple[NodeCell, int], ...]:
    amounts: dict[NodeCell, int] = {}
    for cell in cells:
        amounts[cell] = amounts.get(cell, 0) + 1
    return tuple(sorted(amounts.items()))


def canonical(plan: Plan, cells: Sequence[Hashable]) -> Anonymous:
    """A vector of cells with interchangeable nodes sorted by content, then interchangeable domains."""
    first = 1 + len(plan.workloads) + len(plan.memories)
    sorted_cells = list(cells)
    for family in plan.domains:
        contents = sorted(tuple(sorted_cells[first + place] for place in block) for block in family)
        for block, content in zip(family, contents, strict=True):
            for place, cell in zip(block, content, strict=True):
                sorted_cells[first + place] = cell
    return tuple(sorted_cells)
