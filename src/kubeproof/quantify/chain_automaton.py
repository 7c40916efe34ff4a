"""A process with durations as a Markov automaton in Storm, for what happens in the long run.

Long-run shares of time depend on durations by their means alone (renewal-reward theorem), so that a duration may be
replaced by an exponential one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kubeproof.quantify.storm import Model, ModelArrays, checked, labeling_of, matrix_of, measured, storm

if TYPE_CHECKING:
    from numpy.typing import NDArray


def automaton_from_arrays(arrays: ModelArrays, mean_s: NDArray[np.float64]) -> Model:
    """The Markov automaton in Storm; states with a mean duration of 0 take no time.

    A state with a duration has one choice.
    """
    checked(arrays)
    lengths = arrays.row_starts[1:] - arrays.row_starts[:-1]
    return measured(lambda: _automaton(arrays, mean_s), branching=int(lengths.max()))


def _automaton(arrays: ModelArrays, mean_s: NDArray[np.float64]) -> Any:
    stormpy = storm()
    timed = np.flatnonzero(mean_s > 0)
    rates = np.zeros(len(mean_s))
    rates[timed] = 1 / mean_s[timed]
    components = stormpy.models.SparseModelComponents[float](
        transition_matrix=matrix_of(stormpy, arrays),
        state_labeling=labeling_of(stormpy, arrays),
        rate_transitions=False,
        markovian_states=stormpy.datastructures.BitVector(arrays.states, timed.tolist()),
    )
    components.exit_rates = rates.tolist()
    return stormpy.models.SparseMA[float](components)
