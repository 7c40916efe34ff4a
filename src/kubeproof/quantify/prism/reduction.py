"""A smaller model with the same values."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from kubeproof.quantify.chains.leaving import in_matrix
from kubeproof.quantify.prism.programs import Property
from kubeproof.quantify.storm import Model, ask, describe, storm


def reduce(model: Model, wanted: Sequence[Property]) -> Model:
    """The quotient by strong bisimulation, which keeps the values of all these properties.

    States are merged if they agree on the labels and rewards that the properties speak of, and if each choice of the
    one is matched by a choice of the other with the same probabilities of reaching the same merged states. Step-bounded
    properties are kept, too: nothing is shortened.
    """
    begin = time.perf_counter()
    formulas = [one.formula for one in wanted]
    handle = ask(lambda: storm().transformations.perform_bisimulation(model.handle, formulas))
    # Probabilities of merged successors are added up: one choice has at most as many successors as before.
    found = describe(handle, time.perf_counter() - begin, model.branching, model.unsigned)
    return replace(found, is_regular=model.is_regular, leaving=in_matrix(handle) if model.leaving < 1 else 1.0)
