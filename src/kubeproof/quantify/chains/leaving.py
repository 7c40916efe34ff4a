"""How unlikely it is to leave a state: what is left of 1 beside a probability next to it has lost digits.

Storm divides by one minus the probability of staying. That is 2e-12 only up to 1e-16, which is 5 of 100,000.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from kubeproof.quantify.rounding import UNIT

if TYPE_CHECKING:
    from kubeproof.quantify.chains.arrays import ModelArrays
    from kubeproof.quantify.storm import Model

HARMLESS = 1e-6  # what is left is right to ten digits
MOST_ENTRIES = 5_000_000  # that are looked at one by one, some seconds


def digits_lost(model: Model) -> float:
    """How far, relatively, the probability of leaving a state can be from the true one."""
    return 8 * UNIT * model.branching / model.leaving


def least_constant(handle: Any) -> float:
    """A bound below all probabilities of a program whose probabilities are constant; 0 if they are not."""
    least = 1.0
    for module in handle.modules:
        shares = [update.probability_expression for command in module.commands for update in command.updates]
        if any(share.contains_variables() for share in shares):
            return 0.0
        least *= min((value for share in shares if (value := share.evaluate_as_double()) > 0), default=1.0)
    return least


def in_matrix(handle: Any) -> float:
    """The least probability of leaving a state of a model in Storm, by a choice that may stay; 1 for too large ones."""
    matrix, least = handle.transition_matrix, 1.0
    if matrix.nr_entries > MOST_ENTRIES:
        return least
    is_trivial = matrix.has_trivial_row_grouping
    for state in range(handle.nr_states):
        for row in (state,) if is_trivial else matrix.get_rows_for_group(state):
            away = [entry.value for entry in matrix.get_row(row) if entry.column != state]
            least = min(least, math.fsum(away) or 1.0)
    return least


def in_arrays(arrays: ModelArrays) -> float:
    """The same for a model that is not yet in Storm."""
    import numpy as np

    state = np.repeat(np.arange(arrays.states), np.diff(arrays.choice_starts))
    row = np.repeat(np.arange(arrays.choices), np.diff(arrays.row_starts))
    away = np.where(arrays.columns == state[row], 0.0, arrays.probabilities)
    sums = np.bincount(row, weights=away, minlength=arrays.choices)
    return float(sums[sums > 0].min(initial=1.0))
