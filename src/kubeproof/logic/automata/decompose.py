"""Every property is the meet of a safety and a liveness property (Alpern and Schneider 1985).

The safety part is the closure. The liveness part is the property together with everything outside the closure.
With a deterministic automaton that is a trap for undefined letters. With a nondeterministic one a trap per
state would be wrong: one run may fall into it while the word stays inside the closure. There the complement of
the determinised closure is added instead.
"""

from __future__ import annotations

from enum import Enum

from kubeproof.logic.automata.automaton import Buchi, is_empty
from kubeproof.logic.automata.complement import complement
from kubeproof.logic.automata.operations import (
    closure,
    complement_of_closed,
    complete,
    determinise_closure,
    intersection,
    merge,
    reduce,
    union,
)
from kubeproof.values import dataclass


class PropertyClass(Enum):
    """What kind of property a language is."""

    SAFETY = "safety"
    LIVENESS = "liveness"
    BOTH = "safety and liveness"  # only the property that always holds
    NEITHER = "neither"


@dataclass(frozen=True, slots=True)
class Decomposition:
    """A property and its two parts; their languages' meet is the property's."""

    whole: Buchi  # reduced
    safety: Buchi
    liveness: Buchi
    is_deterministic: bool  # of the reduced automaton


def decompose(automaton: Buchi) -> Decomposition:
    """The safety and the liveness part of any Büchi automaton."""
    whole = reduce(automaton)
    if whole.is_deterministic:
        liveness = complete(whole, accepting=True)
    else:
        outside = complement_of_closed(determinise_closure(whole))
        liveness = union(whole, outside)
    return Decomposition(merge(whole), closure(whole), merge(reduce(liveness)), whole.is_deterministic)


def classify(automaton: Buchi, opposite: Buchi | None = None) -> PropertyClass:
    """The class of the automaton's language; `opposite` accepts all other words, if the caller has it."""
    closed = determinise_closure(automaton)
    is_liveness = closed.is_complete
    outside = complement(automaton) if opposite is None else opposite
    is_safety = is_empty(intersection(closed, outside))
    if is_safety:
        return PropertyClass.BOTH if is_liveness else PropertyClass.SAFETY
    return PropertyClass.LIVENESS if is_liveness else PropertyClass.NEITHER
