"""Why a counterexample happens, as values: who does not help, what is needed for it, and three sentences about it."""

from __future__ import annotations

from kubeproof.cluster.loops.actors import Actor
from kubeproof.cluster.loops.inaction import Numbers
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class Inaction:
    """Who could have helped and does not, by which rule."""

    actor: Actor
    object: str  # what it leaves as it is, by reference; "": the cluster
    rule: str  # as `kubeproof explain` knows it
    says: str  # a clause whose subject is the actor, with its numbers
    change: str = ""  # what would let it act
    numbers: Numbers = ()
    step: int | None = None  # after so many steps of the trace; None: in the end


@dataclass(frozen=True, slots=True)
class Explanation:
    """Three sentences that a colleague understands who was not there."""

    happens: str
    why: tuple[str, ...]  # clauses, the most telling first
    change: str
