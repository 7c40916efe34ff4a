"""For which sizes of an input its intents hold: arguments about all of them at once, one after the other.

`docs/explanation/reductions.md` has them; differential tests compare with the exact model, size by size.
"""

from __future__ import annotations

from collections.abc import Callable

from kubeproof.intents.monitor import Monitor
from kubeproof.manifests.loaded import Loaded
from kubeproof.named_tuples import NamedTuple
from kubeproof.verify.holds_for import HoldsFor, Tie
from kubeproof.verify.options import ABSTRACTION, VerifyOptions
from kubeproof.verify.proofs.any_size.by_budget import find_ties_of_budget
from kubeproof.verify.proofs.any_size.by_rest import find_ties_of_rest
from kubeproof.verify.proofs.any_size.by_sizes import Ties, find_ties_of_bound, find_ties_of_room
from kubeproof.verify.proofs.any_size.family import Family, find_family
from kubeproof.verify.proofs.any_size.linear import Linear, simplify


class Argument(NamedTuple):
    """A reason why an intent holds at any size, and what sizes must keep to for it."""

    name: str  # permanent: reports have it
    find_ties: Callable[[Family, Monitor], Ties | None]
    reason: tuple[str, ...]


ARGUMENTS = (
    Argument(
        "sizes-written",
        find_ties_of_bound,
        (
            "a ReplicaSet creates or deletes its whole difference at once, so a workload that has reached its size has "
            "as many pods as one of the sizes that somebody writes",
            "all of these follow the size by linear terms, and none of them ever passes the bound",
        ),
    ),
    Argument(
        "room",
        find_ties_of_room,
        (
            "if a pod waited in the end, some node would hold no more than an even share of the others, and the "
            "scheduler's filters take one more pod there although the largest numbers of all other workloads are "
            "there, too",
            "the share is at its largest where replicas are the most that fit on every node",
        ),
    ),
    Argument(
        "budget",
        find_ties_of_budget,
        (
            "ready pods go by evictions alone, and these ask a budget each time that demands as many as the intent",
            "what it demands follows the replicas, and depends on no number of nodes",
        ),
    ),
    Argument(
        "nobody-evicts",
        find_ties_of_rest,
        (
            "no plugin of the descheduler has a reason to evict any pod, wherever which pods are",
            "that follows from its policy and the pods' templates, in which no size occurs",
        ),
    ),
)


def prove_any_size(loaded: Loaded, options: VerifyOptions) -> dict[str, HoldsFor]:
    """By name of the intent for which sizes it holds, or is about no run at all, where that is found out."""
    if options.engine == "reference" or not options.uses(ABSTRACTION):
        return {}
    family = find_family(loaded, options)
    if family is None:
        return {}
    found: dict[str, HoldsFor] = {}
    for monitor in family.plan.monitors:
        for argument in ARGUMENTS:
            ties = argument.find_ties(family, monitor)
            if ties is not None:
                found[monitor.intent.name] = _tell(family, argument, ties)
                break
    return found


def _tell(family: Family, argument: Argument, ties: Ties) -> HoldsFor:
    return HoldsFor(
        nodes=tuple(zip(family.kinds, family.box.nodes, strict=True)),
        target=family.grown.target,
        least=family.box.least,
        most=None,
        ties=tuple(_tie(family, tie) for tie in simplify(family.box, ties)),
        argument=argument.name,
        reason=argument.reason,
    )


def _tie(family: Family, tie: Linear) -> Tie:
    return Tie(tie.pods, tuple(zip(family.kinds, tie.nodes, strict=True)), tie.plus)
