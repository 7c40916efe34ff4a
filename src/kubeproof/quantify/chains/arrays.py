"""Markov decision processes as flat arrays, and handing them to Storm in bulk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from kubeproof.errors import InternalError
from kubeproof.quantify.chains.leaving import in_arrays
from kubeproof.quantify.storm import Model, build_measured, storm
from kubeproof.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ROW_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class ModelArrays:
    """A Markov decision process as flat arrays.

    Choices of state s are the rows choice_starts[s] to choice_starts[s + 1] - 1; entries of row r are the indices
    row_starts[r] to row_starts[r + 1] - 1 of `columns` (ascending in a row) and `probabilities`. Rewards have one
    number a state or one a choice; a vector that could be either is one a state.
    """

    choice_starts: NDArray[np.int64]
    row_starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    initial: int = 0
    labels: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)  # states that have it
    rewards: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.choice_starts) - 1

    @property
    def choices(self) -> int:
        """How many rows there are."""
        return len(self.row_starts) - 1

    @property
    def branching(self) -> int:
        """The most entries of a row."""
        return int((self.row_starts[1:] - self.row_starts[:-1]).max())


def model_from_arrays(arrays: ModelArrays, *, exact: bool = False) -> Model:
    """The Markov decision process in Storm; the arrays are handed over in bulk.

    Exact models hold the probabilities as they are, but for the greatest of a row, which makes up for the rounding of
    the others. Arrays that are no model (a row that does not sum to 1, a state without a choice) are a broken promise.
    """
    check_arrays(arrays)
    unsigned = frozenset(name for name, values in arrays.rewards.items() if not len(values) or values.min() >= 0)
    found = build_measured(lambda: _mdp(arrays, exact), branching=arrays.branching, unsigned=unsigned)
    return replace(found, leaving=in_arrays(arrays))


def check_arrays(arrays: ModelArrays) -> None:
    """Refuses arrays that are no Markov decision process, naming the first row or state that is wrong."""
    import numpy as np

    problem = _shape_problem(arrays)
    if problem:
        raise InternalError(f"E700 the arrays are no model: {problem}.")
    sums = np.add.reduceat(arrays.probabilities, arrays.row_starts[:-1])
    wrong = np.flatnonzero(~(np.abs(sums - 1) <= ROW_TOLERANCE))
    if len(wrong):
        row = int(wrong[0])
        raise InternalError(f"E700 the arrays are no model: row {row} sums to {sums[row]:.12g}, not to 1.")


def _shape_problem(arrays: ModelArrays) -> str:
    entries, states = len(arrays.columns), arrays.states
    if len(arrays.probabilities) != entries:
        return f"{entries} columns but {len(arrays.probabilities)} probabilities"
    if states < 1 or not 0 <= arrays.initial < states:
        return f"no initial state {arrays.initial} among {states} states"
    for starts, end, what in ((arrays.choice_starts, arrays.choices, "state"), (arrays.row_starts, entries, "row")):
        if starts[0] != 0 or starts[-1] != end or not (starts[1:] > starts[:-1]).all():
            return f"a {what} is empty, or its starts do not ascend from 0 to {end}"
    if entries and (arrays.columns.min() < 0 or arrays.columns.max() >= states):
        return f"a column is outside 0 to {states - 1}"
    if not (arrays.probabilities >= 0).all():
        return "a probability is negative or no number"
    wrong = [n for n, values in arrays.rewards.items() if len(values) not in (states, arrays.choices)]
    return f"rewards {wrong[0]!r} have neither one number a state nor one a choice" if wrong else ""


def _mdp(arrays: ModelArrays, exact: bool) -> Any:
    models = storm().models
    number = number_type(exact)
    rewards = {name: _reward_model(arrays, values, exact) for name, values in arrays.rewards.items()}
    components = models.SparseModelComponents[number](
        transition_matrix=matrix_of(arrays, exact), state_labeling=labeling_of(arrays), reward_models=rewards
    )
    return models.SparseMdp[number](components)


def number_type(exact: bool) -> Any:
    """What Storm's classes compute with."""
    return storm().Rational if exact else float


def numbers(values: Sequence[float | Fraction], exact: bool) -> Sequence[Any]:
    """The values as Storm takes them."""
    if not exact:
        return values
    make = storm().Rational
    return [make(f"{one.numerator}/{one.denominator}") for one in (Fraction(value) for value in values)]


def matrix_of(arrays: ModelArrays, exact: bool) -> Any:
    """The matrix, by one call: lists are what the binding takes fastest."""
    import numpy as np

    builder = storm().datastructures.SparseMatrixBuilder[number_type(exact)](
        rows=arrays.choices, columns=arrays.states, entries=len(arrays.columns),
        has_custom_row_grouping=True, row_groups=arrays.states,
    )  # fmt: skip
    rows = np.repeat(np.arange(arrays.choices), np.diff(arrays.row_starts))
    shares: Sequence[float | Fraction] = _fractions(arrays) if exact else arrays.probabilities.tolist()
    builder.add_next_values(
        rows.tolist(), arrays.columns.tolist(), numbers(shares, exact), arrays.choice_starts[:-1].tolist()
    )
    return builder.build()


def _fractions(arrays: ModelArrays) -> list[Fraction]:
    """The probabilities as fractions; the greatest of each row is what the others leave."""
    shares = [Fraction(share) for share in arrays.probabilities.tolist()]
    starts = arrays.row_starts.tolist()
    for first, end in pairwise(starts):
        greatest = max(range(first, end), key=shares.__getitem__)
        shares[greatest] = 1 - sum(shares[first:end]) + shares[greatest]
    return shares


def labeling_of(arrays: ModelArrays) -> Any:
    """The labels of states, `init` among them."""
    stormpy = storm()
    labeling = stormpy.models.StateLabeling(arrays.states)
    bits = stormpy.datastructures.BitVector
    labels: dict[str, Sequence[int]] = {name: states.tolist() for name, states in sorted(arrays.labels.items())}
    for name, states in {"init": [arrays.initial], **labels}.items():
        labeling.add_label(name)
        labeling.set_states(name, bits(arrays.states, states))
    return labeling


def _reward_model(arrays: ModelArrays, values: NDArray[np.float64], exact: bool) -> Any:
    make = storm().models.SparseRewardModel[number_type(exact)]
    given = numbers(values.tolist(), exact)
    if len(values) == arrays.states:
        return make(optional_state_reward_vector=given)
    return make(optional_state_action_reward_vector=given)
