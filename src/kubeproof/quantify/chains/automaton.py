"""A process with durations as a Markov automaton in Storm, for what happens in the long run.

Long-run shares of time depend on durations by their means alone (renewal-reward theorem), so that a duration may be
replaced by an exponential one.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from kubeproof.quantify.chains.arrays import ModelArrays, check_arrays, labeling_of, matrix_of, number_type, numbers
from kubeproof.quantify.storm import Model, build_measured, storm

if TYPE_CHECKING:
    from numpy.typing import NDArray


def automaton_from_arrays(arrays: ModelArrays, mean_s: NDArray[np.float64], *, exact: bool = False) -> Model:
    """The Markov automaton in Storm; states with a mean duration of 0 take no time.

    A state with a duration has one choice.
    """
    check_arrays(arrays)
    return build_measured(lambda: _automaton(arrays, mean_s, exact), branching=arrays.branching)


def _automaton(arrays: ModelArrays, mean_s: NDArray[np.float64], exact: bool) -> Any:
    stormpy = storm()
    number = number_type(exact)
    timed = np.flatnonzero(mean_s > 0)
    components = stormpy.models.SparseModelComponents[number](
        transition_matrix=matrix_of(arrays, exact),
        state_labeling=labeling_of(arrays),
        rate_transitions=False,
        markovian_states=stormpy.datastructures.BitVector(arrays.states, timed.tolist()),
    )
    components.exit_rates = numbers(_rates(mean_s, exact), exact)
    return stormpy.models.SparseMA[number](components)


def _rates(mean_s: NDArray[np.float64], exact: bool) -> list[Any]:
    """One over the means; 0 where no time passes."""
    if exact:
        return [1 / Fraction(mean) if mean else Fraction(0) for mean in mean_s.tolist()]
    rates: list[float] = np.divide(1, mean_s, out=np.zeros(len(mean_s)), where=mean_s > 0).tolist()
    return rates
