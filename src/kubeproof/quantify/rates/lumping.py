"""Smaller chains with the same answers: states that lead to each class of states equally fast are one class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubeproof.quantify.rates.chain import Entries, RateChain
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Bits = NDArray[np.uint64]

DIGITS = 40  # bits of a rate in which equals agree
MIXERS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB], dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Lumped:
    """A chain of classes."""

    block: Ints  # per state its class
    rates: Entries
    first: Entries  # where each run begins
    states: int


def lump(chain: RateChain, told_apart: Floats) -> Lumped:
    """The coarsest chain in which states of one class agree in `told_apart` (a row per state), and in rates.

    Rates within a class do not matter.
    """
    _, block = np.unique(told_apart, axis=0, return_inverse=True)
    block = block.reshape(-1)
    while True:
        signature = _sign(chain, block)
        keys = np.stack((block.astype(np.uint64), *signature), axis=1)
        _, finer = np.unique(keys, axis=0, return_inverse=True)
        finer = finer.reshape(-1)
        if finer.max() == block.max():
            break
        block = finer
    return _quotient(chain, block)


def _sign(chain: RateChain, block: Ints) -> tuple[Bits, Bits]:
    """Per state two numbers of its rates into other classes: different for different rates, but for a miracle."""
    rates, classes = chain.rates, int(block.max()) + 1
    into = Entries.add_up(rates.row, block[rates.column], rates.value, classes)
    leaves = into.column != block[into.row]
    row, column, value = into.row[leaves], into.column[leaves], into.value[leaves]
    mantissa, exponent = np.frexp(value)
    rounded = np.rint(np.ldexp(mantissa, DIGITS)).astype(np.int64) * 4096 + exponent
    found = []
    for one, other in (MIXERS[:2], MIXERS[2:]):
        mixed = rounded.astype(np.uint64) * one ^ (column.astype(np.uint64) + other) * other
        mixed ^= mixed >> np.uint64(29)
        mixed *= one
        total = np.zeros(chain.states, dtype=np.uint64)
        np.add.at(total, row, mixed ^ mixed >> np.uint64(32))
        found.append(total)
    return found[0], found[1]


def _quotient(chain: RateChain, block: Ints) -> Lumped:
    classes = int(block.max()) + 1
    _, sample = np.unique(block, return_index=True)
    is_sample = np.zeros(chain.states, dtype=np.bool_)
    is_sample[sample] = True
    rates = chain.rates
    kept = is_sample[rates.row]
    row, column = block[rates.row[kept]], block[rates.column[kept]]
    leaves = row != column
    return Lumped(
        block,
        Entries.add_up(row[leaves], column[leaves], rates.value[kept][leaves], classes),
        Entries.add_up(chain.first.row, block[chain.first.column], chain.first.value, classes),
        classes,
    )
