"""A process whose intervals are divided into slices of equal length, for sums up to a moment within an interval."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kubeproof.quantify.chains.chain import Chain
from kubeproof.quantify.chains.passing import starts_of

if TYPE_CHECKING:
    from kubeproof.quantify.chains.arrays import ModelArrays
    from kubeproof.quantify.chains.passing import Bools, Ints


def slice_of(chain: Chain, horizon_s: int) -> int:
    """The longest slice that divides all intervals and the horizon, in seconds."""
    return int(np.gcd.reduce(np.append(chain.duration_s.astype(np.int64), horizon_s)))


def slices_of(chain: Chain, slice_s: int, is_told: Bools) -> Ints:
    """Per state the slices of its interval; 1 where no time passes, and for states that are not told apart."""
    slices: Ints = np.where(is_told, np.maximum(1, chain.duration_s.astype(np.int64) // slice_s), 1)
    return slices


def slice_chain(chain: Chain, slices: Ints) -> Chain:
    """The process in which a state with an interval of n slices is followed by n - 1 others, at whose end it is over.

    A state that takes time has one choice, which nothing interrupts before its end: slices change no run.
    """
    long = np.flatnonzero(slices > 1)
    more = slices[long] - 1
    last = chain.states + np.cumsum(more) - 1
    duration_s = chain.duration_s / slices
    return Chain(
        _divide(chain.arrays, long, last - more + 1, last),
        np.concatenate((chain.origin, np.repeat(chain.origin[long], more))),
        np.concatenate((duration_s, np.repeat(duration_s[long], more))),
    )


def _divide(arrays: ModelArrays, long: Ints, first: Ints, last: Ints) -> ModelArrays:
    """The matrix in which each long state leads to `first`, that to the next, and `last` to where the state led."""
    states, choices = arrays.states, arrays.choices
    total = int(last[-1]) + 1 - states if len(last) else 0
    own = np.arange(choices)
    own[arrays.choice_starts[long]] = choices + last - states
    inner = np.setdiff1d(states + np.arange(total), last)
    row = np.concatenate(
        (np.repeat(own, np.diff(arrays.row_starts)), arrays.choice_starts[long], choices + inner - states)
    )
    column = np.concatenate((arrays.columns, first, inner + 1))
    share = np.concatenate((arrays.probabilities, np.ones(len(first) + len(inner))))
    order = np.argsort(row, kind="stable")
    return replace(
        arrays,
        choice_starts=np.append(arrays.choice_starts, choices + 1 + np.arange(total)),
        row_starts=starts_of(row, choices + total),
        columns=column[order],
        probabilities=share[order],
    )
