"""How likely an event comes before a wait.

An event either lets the wait go on (a load changes while a pod starts) or ends it (a node recovers before it is
missed), so that no step or event of the same instant brings it back. Let x events of the first kind be due in the wait
on average, and y of the second. That none of the second comes has the probability exp(-y), exactly, and those of the
first come x(1 - exp(-y))/y times on average, before the wait is over or ended. Decision: docs/decisions/0030-waits.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kubeproof.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kubeproof.quantify.chains.passing import Rates, Roles
    from kubeproof.quantify.chains.steps import Steps

    Smalls = NDArray[np.int32]
    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Bits = NDArray[Any]  # whole numbers of as many bytes as are needed

MOST_LENGTHS = 63  # of waits are told apart: bits of a number


@dataclass(frozen=True, slots=True)
class Due:
    """Per state how many events are due in its wait on average: those that let it go on, and those that end it."""

    others: Floats
    ends: Floats

    @property
    def part(self) -> Floats:
        """How much of the wait passes on average before it is over or ended."""
        return find_passed_part(self.ends)

    @property
    def before(self) -> Floats:
        """How likely an event comes before the wait: time has exp(-y) / (1 + x(1 - exp(-y))/y), they the rest.

        Each event has its share by its rate, of whichever kind it is.
        """
        x, y, part = self.others, self.ends, self.part
        return part * (x + y) / (1 + part * x)


def find_passed_part(due: Floats) -> Floats:
    """How much of a time passes on average before the first of so many events that are due in it."""
    return np.divide(-np.expm1(-due), due, out=np.ones(len(due)), where=due > 0)


def due_in_waits(
    targets: Smalls, steps: Steps, roles: Roles, rates: Rates, seconds: Floats, waits: Bools, rests: Bools
) -> Due:
    """The events that are due in the wait of every state; 0 where there is none."""
    source = steps.source[rates.step]
    length = _lengths(seconds, waits)
    goes_on = (_ahead(length, targets, steps, roles, rests)[targets[rates.step]] & length[source]) != 0
    due = rates.per_s * seconds[source]
    x, y = (np.bincount(source, weights=due * kind, minlength=len(seconds)) for kind in (goes_on, ~goes_on))
    return Due(np.where(waits, x, 0.0), np.where(waits, y, 0.0))


def _lengths(seconds: Floats, waits: Bools) -> Bits:
    """Per state a bit that stands for the length of its wait; 0 where there is none."""
    known, number = np.unique(seconds[waits], return_inverse=True)
    small = np.uint8 if len(known) <= 8 else np.uint32 if len(known) <= 32 else np.uint64  # there are many states
    found = np.zeros(len(seconds), dtype=small)
    found[waits] = np.left_shift(small(1), np.minimum(number.reshape(-1), MOST_LENGTHS).astype(small))
    return found


def _ahead(length: Bits, targets: Smalls, steps: Steps, roles: Roles, rests: Bools) -> Bits:
    """Per state the lengths of the waits that it, or what follows it at the same instant, may begin.

    Other events follow, too, but for those that end a tick of rest.
    """
    acts = roles.is_urgent | roles.is_optional | roles.is_open
    at_once = np.flatnonzero(acts | (roles.is_chance & ~rests[steps.source]))
    source, follow = steps.source[at_once], targets[at_once]
    found, is_new = length.copy(), length != 0
    while len(active := np.flatnonzero(is_new[follow])):
        owner = source[active]
        begins = np.flatnonzero(np.diff(owner, prepend=-1))  # sources ascend
        owner = owner[begins]
        more = found[owner] | np.bitwise_or.reduceat(found[follow[active]], begins)
        is_new[:] = False
        is_new[owner] = more != found[owner]
        found[owner] = more
    return found
