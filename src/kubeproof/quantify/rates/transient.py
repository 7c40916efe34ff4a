"""What a chain does within a time, however far its rates lie apart.

Failures come once a year and waits end after seconds, so that going step by step takes too many. Up to some size the
matrix of a short time is squared again and again: all its numbers are positive, nothing is subtracted, and the error is
that of rounding. Beyond, the time is approximated in a space of vectors that repeated solving spans, and how far two
such spaces differ is taken as the error.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kubeproof.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kubeproof.quantify.rates.lumping import Lumped

    Floats = NDArray[np.float64]

MOST_SQUARED = 500  # states
MOST_SOLVED = 4000
SHORT = 0.5  # events that are due in the short time at most
TERMS = 24  # of its series: what is left out is below rounding
SPACE = 40  # vectors
ROUNDING = 2.0**-50
NOTHING = 1e-150  # probabilities below are left out: computing with the smallest numbers takes a hundred times as long


class TooLarge(Exception):
    """The chain has too many states to be looked at over a time."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """Values per state after a time: expected ones at its end, and sums over it."""

    ends: Floats  # a column per vector that was asked for
    sums: Floats
    error: float  # relative to the greatest of them


def generator_of(chain: Lumped) -> Floats:
    """The matrix of rates, the diagonal what leaves."""
    found = np.zeros((chain.states, chain.states))
    found[chain.rates.row, chain.rates.column] = chain.rates.value
    found[np.diag_indices(chain.states)] = -found.sum(axis=1)
    return found


def look_ahead(chain: Lumped, seconds: float, ends: Floats, per_second: Floats, *, has_error: bool = True) -> Ahead:
    """Expected values of `ends` after so many seconds, and expected sums of `per_second` until then, by first state.

    Without `has_error` a large chain is looked at once only, and nobody knows how far off that is.
    """
    if chain.states > MOST_SOLVED:
        raise TooLarge(f"{chain.states:,} states in continuous time are too many; {MOST_SOLVED:,} are looked at")
    matrix = generator_of(chain)
    if chain.states <= MOST_SQUARED:
        return _square(matrix, seconds, ends, per_second)
    first = _approximate(matrix, seconds * 0.1, seconds, ends, per_second)
    second = _approximate(matrix, seconds * 0.03, seconds, ends, per_second) if has_error else first
    scale = [max(float(np.abs(values).max(initial=0.0)), 1e-300) for values in first]
    error = max(float(np.abs(a - b).max(initial=0.0)) / s for a, b, s in zip(first, second, scale, strict=True))
    return Ahead(first[0], first[1], error)


def _square(matrix: Floats, seconds: float, ends: Floats, per_second: Floats) -> Ahead:
    fastest = float(-matrix.diagonal().min()) or 1.0
    squarings = max(0, math.ceil(math.log2(fastest * seconds / SHORT)))
    short_s = seconds / 2**squarings
    step, sums = _begin(matrix, fastest, short_s, per_second)
    for _ in range(squarings):
        sums = sums + step @ sums
        step = step @ step
        step[step < NOTHING] = 0.0
        step /= step.sum(axis=1, keepdims=True)
    return Ahead(step @ ends, sums, ROUNDING * len(matrix) * 2 ** max(0, squarings - 20))


def _begin(matrix: Floats, fastest: float, seconds: float, per_second: Floats) -> tuple[Floats, Floats]:
    """The probabilities after a short time, and the sums until then, as series of positive terms."""
    due = fastest * seconds
    jump = matrix / fastest
    jump[np.diag_indices(len(matrix))] = np.maximum(0.0, 1 + jump.diagonal())
    weights = [math.exp(-due) * due**n / math.factorial(n) for n in range(TERMS)]
    power, after, found = np.eye(len(matrix)), per_second, np.zeros_like(per_second)
    step = weights[0] * power
    left = 1 - weights[0] if due > 1e-3 else -math.expm1(-due)
    for weight in weights[1:]:
        found = found + after * (left / fastest)
        after, power = jump @ after, power @ jump
        step += weight * power
        left = max(0.0, left - weight)
    return step, found


def _approximate(
    matrix: Floats, shift_s: float, seconds: float, ends: Floats, per_second: Floats
) -> tuple[Floats, Floats]:
    """Both kinds of values, in the spaces that repeated solving spans."""
    solved: Floats = np.linalg.inv(np.eye(len(matrix)) - shift_s * matrix).astype(np.float64, copy=False)
    after = [_in_space(solved, vector, shift_s, seconds)[0] for vector in ends.T]
    sums = [_in_space(solved, vector, shift_s, seconds)[1] for vector in per_second.T]
    empty = np.zeros((len(matrix), 0))
    return (np.stack(after, axis=1) if after else empty, np.stack(sums, axis=1) if sums else empty)


def _in_space(solved: Floats, vector: Floats, shift_s: float, seconds: float) -> tuple[Floats, Floats]:
    """The vector after the time, and its sum over the time."""
    length = float(np.linalg.norm(vector))
    if length == 0:
        return vector, vector
    basis, small = _span(solved, vector / length)
    inner = (np.eye(len(small)) - np.linalg.inv(small)) / shift_s
    bordered = np.zeros((len(small) + 1, len(small) + 1))
    bordered[:-1, :-1], bordered[0, -1] = inner * seconds, seconds
    found = exponential(bordered)
    return length * basis @ found[:-1, 0], length * basis @ found[:-1, -1]


def _span(solved: Floats, first: Floats) -> tuple[Floats, Floats]:
    """An orthonormal basis of the vectors that solving again and again gives, and solving within it."""
    size = min(SPACE, len(first))
    basis, small = np.zeros((len(first), size)), np.zeros((size, size))
    basis[:, 0] = first
    for number in range(size):
        following = solved @ basis[:, number]
        for _ in range(2):
            along = basis[:, : number + 1].T @ following
            small[: number + 1, number] += along
            following -= basis[:, : number + 1] @ along
        rest = float(np.linalg.norm(following))
        if number + 1 == size or rest < 1e-14:
            return basis[:, : number + 1], small[: number + 1, : number + 1]
        small[number + 1, number] = rest
        basis[:, number + 1] = following / rest
    return basis, small


def exponential(matrix: Floats) -> Floats:
    """The exponential of a small matrix."""
    squarings = max(0, math.ceil(math.log2(max(float(np.abs(matrix).sum(axis=1).max()), 1e-9))) + 3)
    small = matrix / 2**squarings
    term = found = np.eye(len(matrix))
    for number in range(1, 20):
        term = term @ small / number
        found = found + term
    for _ in range(squarings):
        found = found @ found
    return found
