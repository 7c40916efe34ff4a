"""The decisions that lead to the best value of a property, as a table of states and commands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubeproof.errors import QuantityError
from kubeproof.quantify.prism.building import build
from kubeproof.quantify.prism.programs import Program, Property
from kubeproof.quantify.storm import Model, StormRefusal, ask, storm
from kubeproof.values import dataclass

MOST_ROWS = 10_000
UNLABELLED = "(a command without a name)"
NO_DECISIONS = "a Markov chain has no decisions"


@dataclass(frozen=True, slots=True)
class Choice:
    """One situation with what is to be done, and what else could be."""

    state: tuple[tuple[str, int | bool], ...]  # variables
    best: str
    possible: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Strategy:
    """The best decisions wherever a run that follows them comes, and there is a choice; `left_out` rows more."""

    property: str
    text: str
    choices: tuple[Choice, ...]
    left_out: int = 0
    states: int = 0  # that runs come to


def find_strategy(program: Program, wanted: Property) -> Strategy:
    """The decisions for a property over runs of any length: they depend on the state alone."""
    if program.kind in ("dtmc", "ctmc"):
        raise _refuse(wanted, NO_DECISIONS, "Ask for its value without --policy")
    model = build(program, (wanted,), valuations=True)
    formula = wanted.formula
    if getattr(formula, "has_bound", False):
        raise _refuse(wanted, "it has a threshold", "Ask for the value: Pmax=? […], Pmin=? […]")
    try:
        result = ask(lambda: storm().model_checking(model.handle, formula, extract_scheduler=True))
    except StormRefusal as problem:
        raise _refuse(
            wanted, " ".join(str(problem).split()).rstrip(".?"), "Ask for F instead of F<=n, or C<=n"
        ) from None
    if not result.has_scheduler:
        raise _refuse(wanted, "Storm keeps no decisions for it", "Ask for F instead of F<=n, or C<=n")
    decided = _Decided(model, result.get_scheduler())
    reached = decided.reach()
    rows = [choice for state in reached if (choice := decided.choice_of(state)) is not None]
    return Strategy(wanted.name, wanted.text, tuple(rows[:MOST_ROWS]), max(0, len(rows) - MOST_ROWS), len(reached))


class _Decided:
    """A model with one choice per state."""

    def __init__(self, model: Model, scheduler: Any) -> None:
        self._model, self._scheduler = model.handle, scheduler
        self._matrix, self._labels = model.handle.transition_matrix, model.handle.choice_labeling
        values = model.handle.state_valuations
        variables = sorted(values.get_all_variables(), key=lambda variable: str(variable.name))
        self._values = {variable.name: values.get_values_states(variable) for variable in variables}

    def reach(self) -> list[int]:
        """The states that runs with these decisions come to."""
        seen: dict[int, None] = dict.fromkeys(self._model.initial_states)
        queue = list(seen)
        while queue:
            state = queue.pop()
            for entry in self._matrix.get_row(self._row(state)):
                if entry.value and entry.column not in seen:
                    seen[entry.column] = None
                    queue.append(entry.column)
        return sorted(seen)

    def _row(self, state: int) -> int:
        rows = self._matrix.get_rows_for_group(state)
        return int(rows[0]) + int(self._scheduler.get_choice(state).get_deterministic_choice())

    def choice_of(self, state: int) -> Choice | None:
        """What is to be done in a state; None where there is nothing to choose."""
        rows = list(self._matrix.get_rows_for_group(state))
        if len(rows) < 2:
            return None
        names = [self._name(row) for row in rows]
        own = tuple((name, values[state]) for name, values in self._values.items())
        return Choice(own, self._name(self._row(state)), tuple(dict.fromkeys(names)))

    def _name(self, row: int) -> str:
        return ", ".join(sorted(self._labels.get_labels_of_choice(row))) or UNLABELLED


def list_variables(strategy: Strategy) -> Iterator[str]:
    """The variables that differ between the rows: others tell nothing."""
    first = strategy.choices[0].state if strategy.choices else ()
    for place, (name, _) in enumerate(first):
        if len({choice.state[place][1] for choice in strategy.choices}) > 1:
            yield name


def _refuse(wanted: Property, reason: str, remedy: str) -> QuantityError:
    return QuantityError(f"has no policy: {reason}", file=f"property {wanted.text}", remedy=remedy)
