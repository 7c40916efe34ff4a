"""For which sizes of an input its intents hold: arguments about all of them at once, one after the other.

`docs/explanation/reductions.md` has them; differential tests compare with the exact model, size by size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kubeproof.intents.monitor import Monitor
from kubeproof.manifests.loaded import Loaded
from kubeproof.named_tuples import NamedTuple
from kubeproof.verify.holds_for import HoldsFor, Tie
from kubeproof.verify.options import ABSTRACTION, VerifyOptions
from kubeproof.verify.proofs.any_size.by_budget import find_ties_of_budget
from kubeproof.verify.proofs.any_size.by_load import find_ties_of_load, is_about_panics, may_panic, without_panics
from kubeproof.verify.proofs.any_size.by_name import count_up, names_a_node
from kubeproof.verify.proofs.any_size.by_rest import find_ties_of_even_rest, find_ties_of_rest
from kubeproof.verify.proofs.any_size.by_sizes import Ties, find_ties_of_bound, find_ties_of_room
from kubeproof.verify.proofs.any_size.family import Family, find_family
from kubeproof.verify.proofs.any_size.linear import Linear, join_ties


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


EVEN_REST = Argument(
    "even-spread",
    find_ties_of_even_rest,
    (
        "all nodes are alike, pods are only added, and the scheduler prefers the node with fewer pods by what is on "
        "each, so that numbers on any two nodes never differ by more than 1",
        "no plugin of the descheduler evicts from such a placement, so none is ever the first to be evicted; sampling "
        "of nodes by the scheduler, from 100 on, is not modelled",
    ),
)
BORNE = Argument(
    "load-borne",
    lambda family, monitor: () if is_about_panics(monitor) else None,
    (
        "all nodes are alike, pods are only added, and the scheduler prefers the node with fewer pods by what is on "
        "each, so that no node has more than its share, rounded up",
        "a node bears so many whatever they use, so none is ever the first to fail; sampling of nodes by the "
        "scheduler, from 100 on, is not modelled",
    ),
)

ONE_POD = Argument(
    "one-pod",
    lambda family, monitor: None,
    (
        "each pod by itself comes to rest, is ready and leaves drained nodes as far as that is asked, whatever the "
        "other pods do, if more nodes admit it than may be full or hit by events",
        "from these numbers of nodes on the model of one pod is the same with one node more: no zone is down enough "
        "to matter, and there is always a node that nothing has happened to",
    ),
)
NAMED = Argument(
    "named-node",
    lambda family, monitor: None,
    (
        "all pods name one node, nothing happens to nodes, and no loop compares them, so that the other nodes stay as "
        "they are and runs are the same with any number of them",
        "every number of replicas that the node has room for was searched by itself",
    ),
)


def prove_any_size(loaded: Loaded, options: VerifyOptions) -> dict[str, HoldsFor]:
    """By name of the intent for which sizes it holds, or is about no run at all, where that is found out."""
    if options.engine == "reference" or not options.uses(ABSTRACTION):
        return {}
    family = find_family(loaded, options)
    if family is None:
        return {}
    if names_a_node(family):
        return {name: _tell(family, NAMED, (_bound(family, most),)) for name, most in count_up(family, options).items()}
    arguments: tuple[Argument, ...] = (*ARGUMENTS, EVEN_REST)
    borne: Ties = ()
    if may_panic(family):
        ties = find_ties_of_load(family)
        if ties is None:
            return {}
        family, borne, arguments = without_panics(family), ties, (BORNE, *arguments)
    found = {
        monitor.intent.name: told
        for monitor in family.plan.monitors
        if (told := _prove(family, monitor, arguments, borne)) is not None
    }
    is_open = len(found) < len(family.plan.monitors) and not borne
    return {**(_follow(family, options) if is_open else {}), **found}


def _follow(family: Family, options: VerifyOptions) -> dict[str, HoldsFor]:
    """What follows from what becomes of one pod."""
    from kubeproof.verify.proofs.any_size.by_pods import follow_one_pod  # searches: few sweeps come so far

    followed = follow_one_pod(family, options)
    if followed is None:
        return {}
    enough = family.with_nodes(followed.nodes)
    joined = {name: join_ties(enough.box, ties) for name, ties in followed.intents.items()}
    return {name: _tell(enough, ONE_POD, ties) for name, ties in joined.items() if ties is not None}


def _prove(family: Family, monitor: Monitor, arguments: Sequence[Argument], also: Ties) -> HoldsFor | None:
    """The sizes at which one intent holds by the first argument that applies, if they keep to these ties, too."""
    for argument in arguments:
        ties = argument.find_ties(family, monitor)
        joined = None if ties is None else join_ties(family.box, (*ties, *also))
        if joined is not None:
            return _tell(family, argument, joined)
    return None


def _bound(family: Family, most: int) -> Linear:
    """No more replicas than that."""
    return family.term(pods=-1, plus=most)


def _is_bound(tie: Linear) -> bool:
    """True for a tie that bounds the replicas by a number."""
    return tie.pods == -1 and not any(tie.nodes)


def _tell(family: Family, argument: Argument, ties: Ties) -> HoldsFor:
    bounds = [tie.plus for tie in ties if _is_bound(tie)]
    return HoldsFor(
        nodes=tuple(zip(family.kinds, family.box.nodes, strict=True)),
        target=family.grown.target,
        least=family.box.least,
        most=min(bounds) if bounds else None,
        ties=tuple(_tie(family, tie) for tie in ties if not _is_bound(tie)),
        argument=argument.name,
        reason=argument.reason,
    )


def _tie(family: Family, tie: Linear) -> Tie:
    return Tie(tie.pods, tuple(zip(family.kinds, tie.nodes, strict=True)), tie.plus)
