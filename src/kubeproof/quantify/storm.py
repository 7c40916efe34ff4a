"""The only door to Storm: whether it is there, models in it, and what it says about them.

Storm is under the GPL and an extra. Nothing here imports it before `storm` is called.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeVar

from kubeproof.errors import EnvironmentProblem, InternalError
from kubeproof.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

INSTALL = "pip install 'kubeproof[quantify]'"
ROW_TOLERANCE = 1e-9
Result = TypeVar("Result")


class StormRefusal(Exception):
    """What Storm objects to, without its own names for it; never leaves this package."""


@dataclass(frozen=True, slots=True)
class Model:
    """A sparse model inside Storm.

    `choices` counts as Storm does: two commands with the same action and distribution in one state are two choices.
    `branching` is an upper bound on the successors of one choice. `unsigned` names the rewards known to be nowhere
    negative. `deadlocks` are states without a successor, to which Storm adds a loop. `is_regular`: probabilities and
    rewards are right up to a few roundings.
    """

    handle: Any
    kind: str
    states: int
    choices: int
    transitions: int
    deadlocks: int
    is_exact: bool
    build_s: float
    branching: int
    unsigned: frozenset[str] = frozenset()
    is_regular: bool = True


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


def is_available() -> bool:
    """True if Storm's Python package is installed; it is not loaded."""
    from importlib.util import find_spec

    return find_spec("stormpy") is not None


def storm() -> Any:
    """Storm's Python package; a missing or broken installation is an environment problem with the remedy."""
    try:
        import stormpy
    except ModuleNotFoundError:
        raise EnvironmentProblem(f"E401 Storm is not installed. Install it: {INSTALL}") from None
    except ImportError as problem:
        reason = " ".join(str(problem).split())
        raise EnvironmentProblem(
            f"E401 Storm cannot be loaded: {reason}. Its wheels need glibc 2.34 or newer; reinstall: {INSTALL}"
        ) from None
    if not hasattr(stormpy, "instantiate_constants"):
        raise EnvironmentProblem(
            f"E401 Storm's Python package {stormpy.__version__} is too old; 2.0 is needed. Upgrade: {INSTALL}"
        )
    stormpy.developer.set_log_level(stormpy.developer.LogLevel.OFF)  # what it logs, it also raises
    return stormpy


def asked(question: Callable[[], Result]) -> Result:
    """The answer of a call into Storm; its exceptions become refusals."""
    try:
        return question()
    except RuntimeError as problem:
        name, colon, rest = str(problem).partition(": ")
        raise StormRefusal((rest if colon and name.endswith("Exception") else str(problem)).strip()) from None
    except storm().exceptions.StormError as problem:
        raise StormRefusal(problem.message.removeprefix("Storm: ")) from None


def measured(build: Callable[[], Any], *, branching: int, unsigned: frozenset[str] = frozenset()) -> Model:
    """The model that is built, with its sizes and the time it took."""
    begin = time.perf_counter()
    handle = asked(build)
    return described(handle, time.perf_counter() - begin, branching, unsigned)


def described(handle: Any, build_s: float, branching: int, unsigned: frozenset[str] = frozenset()) -> Model:
    """A model of Storm with its sizes."""
    dead = handle.labeling.get_states("deadlock") if handle.labeling.contains_label("deadlock") else None
    return Model(
        handle, handle.model_type.name.lower(), handle.nr_states, handle.nr_choices, handle.nr_transitions,
        0 if dead is None else dead.get_number_of_set_bits(), handle.is_exact, build_s, branching, unsigned,
    )  # fmt: skip


def model_from_arrays(arrays: ModelArrays) -> Model:
    """The Markov decision process in Storm; the arrays are handed over in bulk.

    Arrays that are no model (a row that does not sum to 1, a state without a choice) are a broken promise.
    """
    checked(arrays)
    unsigned = frozenset(name for name, values in arrays.rewards.items() if not len(values) or values.min() >= 0)
    lengths = arrays.row_starts[1:] - arrays.row_starts[:-1]
    return measured(lambda: _mdp(arrays), branching=int(lengths.max()), unsigned=unsigned)


def checked(arrays: ModelArrays) -> None:
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


def _mdp(arrays: ModelArrays) -> Any:
    stormpy = storm()
    labeling = labeling_of(stormpy, arrays)
    rewards = {name: _reward_model(stormpy, arrays, values) for name, values in arrays.rewards.items()}
    components = stormpy.models.SparseModelComponents[float](
        transition_matrix=matrix_of(stormpy, arrays), state_labeling=labeling, reward_models=rewards
    )
    return stormpy.models.SparseMdp[float](components)


def matrix_of(stormpy: Any, arrays: ModelArrays) -> Any:
    """The matrix, by one call: lists are what the binding takes fastest."""
    import numpy as np

    builder = stormpy.datastructures.SparseMatrixBuilder[float](
        rows=arrays.choices, columns=arrays.states, entries=len(arrays.columns),
        has_custom_row_grouping=True, row_groups=arrays.states,
    )  # fmt: skip
    rows = np.repeat(np.arange(arrays.choices), np.diff(arrays.row_starts))
    builder.add_next_values(
        rows.tolist(), arrays.columns.tolist(), arrays.probabilities.tolist(), arrays.choice_starts[:-1].tolist()
    )
    return builder.build()


def labeling_of(stormpy: Any, arrays: ModelArrays) -> Any:
    """The labels of states, `init` among them."""
    labeling = stormpy.models.StateLabeling(arrays.states)
    bits = stormpy.datastructures.BitVector
    labels: dict[str, Sequence[int]] = {name: states.tolist() for name, states in sorted(arrays.labels.items())}
    for name, states in {"init": [arrays.initial], **labels}.items():
        labeling.add_label(name)
        labeling.set_states(name, bits(arrays.states, states))
    return labeling


def _reward_model(stormpy: Any, arrays: ModelArrays, values: NDArray[np.float64]) -> Any:
    make = stormpy.models.SparseRewardModel[float]
    if len(values) == arrays.states:
        return make(optional_state_reward_vector=values.tolist())
    return make(optional_state_action_reward_vector=values.tolist())
