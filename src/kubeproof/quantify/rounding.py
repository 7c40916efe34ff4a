"""How far floating-point value iteration over a fixed number of steps can be from the true value."""

from __future__ import annotations

import math

UNIT = 2.0**-53  # of double precision, rounding to nearest
PROBABILITY, SUM, REWARD = 2, 2, 64  # roundings of a probability, of adding a reward, of evaluating one


def after_steps(value: float, steps: int, branching: int) -> tuple[float, float] | None:
    """Bounds on the true value, if all probabilities and rewards are at least 0; None if they say nothing.

    One step computes r + p1*x1 + … + pk*xk. With nothing negative there is no cancellation: each of the k + 4
    roundings, whatever the order of the sum, changes the result by a factor within 1 ± UNIT, and a minimum or maximum
    adds none. After n steps the relative error is at most (1 + UNIT)**m - 1 with m = n*(k + 4) plus those of the
    reward, and each may lose a number too small to be written (Higham, Accuracy and Stability of Numerical
    Algorithms, 3.1).
    """
    roundings = steps * (branching + PROBABILITY + SUM) + REWARD
    if value < 0 or not math.isfinite(value) or roundings * UNIT > 0.01:
        return None
    relative, underflow = 1.02 * roundings * UNIT, 2 * roundings * math.ulp(0.0)
    return max(0.0, value * (1 - relative) - underflow), value * (1 + relative) + underflow
