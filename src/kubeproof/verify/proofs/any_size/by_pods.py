"""What becomes of one pod, at all sizes at once (`kubeproof.verify.proofs.crowd.pod_by_pod`).

The model that follows one pod knows of the size of its workload only by how many nodes may be full, and of nodes by
three numbers: how many admit the pod, how many of a zone are not ready, and whether there is one that nothing has
happened to. Where events hit so many nodes at most, all three decide alike from some number of nodes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from math import gcd

from kubeproof.cluster.loops.footprint import ON_NODES, Scope, Writes, footprint_of
from kubeproof.cluster.steering.priorities import has_priorities
from kubeproof.controllers.scheduler.plugins.taint_toleration import keeps_pods_off
from kubeproof.events.declarations import Event
from kubeproof.intents.declarations import Intent
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import replace
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.planning import plan_input
from kubeproof.verify.proofs.any_size.by_sizes import Ties
from kubeproof.verify.proofs.any_size.family import Family
from kubeproof.verify.proofs.any_size.linear import Linear, at_most
from kubeproof.verify.proofs.crowd.pod_by_pod import has_fixed_size
from kubeproof.verify.proofs.crowd.proving import Input, OnePod, follow_with_room
from kubeproof.verify.proofs.crowd.room import SILENCING, SILENT, may_admit
from kubeproof.verify.proofs.slicing import cut_by_relations
from kubeproof.verify.searching import Watch

PERIOD = 100  # a percentage of a number that is larger by so much is larger by a whole number
MOST_HIT = 3  # nodes that events may hit; from there on drains are not counted one by one
FEWEST = 3  # nodes: a zone of no more than two that are not ready is never partly down
MOST_STATES = 20_000
OF_A_NODE = (Scope.NODE, Scope.NOWHERE)
ELSEWHERE = Writes.OUTAGES | Writes.ARRIVALS  # what hits more than one node at once, or brings new ones


class Followed(NamedTuple):
    """What follows from one pod: for which intents, at which sizes, and from how many nodes of each kind on."""

    intents: dict[str, Ties]
    nodes: int


def follow_one_pod(family: Family, options: VerifyOptions) -> Followed | None:
    """The intents that hold because of what becomes of each pod, wherever there is room for all; None: none."""
    setup, scenario = family.loaded.setup, family.loaded.scenario
    hit = _count_hit(scenario.events)
    if len(setup.workloads) != 1 or has_priorities(setup) or hit is None or hit > MOST_HIT:
        return None
    if not _grows(family) and family.box.least != family.box.most:
        return None  # somebody else writes sizes: how they follow the replicas is not argued about
    fewest = max(FEWEST, 2 * hit + 2) if hit else 1
    answer = _ask(family, options, fewest)  # first of all: a size at which nothing follows spares the rest
    if answer is None or not answer.intents:
        return None
    room = _find_room(family, hit)
    if room is None or _ask(family, options, fewest + 1) != answer:
        return None
    told = {scenario.intents[number]: _find_count_ties(family, scenario.intents[number]) for number in answer.intents}
    return Followed({one.name: (*room, *ties) for one, ties in told.items() if ties is not None}, fewest)


def _count_hit(events: tuple[Event, ...]) -> int | None:
    """How many nodes events may hit in all; None: any number of them."""
    on_nodes = [event for event in events if footprint_of(event).writes & ON_NODES]
    if any(_hits_several(event) for event in on_nodes):
        return None
    return sum(event.max for event in on_nodes)


def _hits_several(event: Event) -> bool:
    told = footprint_of(event)
    is_endless = event.max is None or told.takes_pods_of not in OF_A_NODE
    return is_endless or told.is_consequence or bool(told.writes & ELSEWHERE)


def _ask(family: Family, options: VerifyOptions, count: int) -> OnePod | None:
    """What becomes of one pod with so many nodes of each kind."""
    loaded = family.at(family.sample[0], (count,) * len(family.kinds))
    parts = cut_by_relations(loaded)
    if len(parts) != 1:
        return None
    limited = replace(options, max_states=MOST_STATES)
    return follow_with_room(Input(loaded), parts[0], partial(plan_input, options=limited), limited, Watch())


def _find_count_ties(family: Family, intent: Intent) -> Ties | None:
    """What sizes must keep to for a workload to want as many pods as an intent asks for; None if none is known to."""
    if intent.count is None or intent.count.percent or not _grows(family):
        return ()
    count = family.count_of(intent.name)
    return None if count is None else at_most(family.box, count, family.replicas)


def _grows(family: Family) -> bool:
    """True if the workload has its replicas at every size: an autoscaler that is idle at one may act at another."""
    return has_fixed_size(family.loaded) and not family.loaded.setup.autoscalers


# -- room -------------------------------------------------------------------------------------------


def _find_room(family: Family, hit: int) -> Ties | None:
    """What sizes must keep to for more nodes to admit a pod than may be full for ever, with so many nodes hit.

    There are no other pods, so that a full node has as many as fill the smallest of those that have room for one.
    """
    loaded = family.at(*family.sample)
    (workload,) = loaded.setup.workloads
    may_die = any(footprint_of(event).writes & SILENCING for event in loaded.scenario.events)
    if may_die and not keeps_pods_off((SILENT,), workload.template.tolerations):
        return None
    if any(node.unschedulable for node in loaded.setup.nodes):
        return None
    room = Input(loaded).room
    nodes = {node.name: node for node in loaded.setup.nodes}
    samples = [nodes[kind] for kind in family.kinds] or list(loaded.setup.nodes)
    left = [room.find_left(node, workload) if may_admit(node, workload.template) else {} for node in samples]
    requests, _ = room.find_lasting(workload)
    fills = [_count_to_fill(one, requests) for one in left if one]
    return (_tie_room(family, [bool(one) for one in left], hit, min(fills)),) if fills else None


def _count_to_fill(left: Mapping[str, int], requests: Mapping[str, int]) -> int:
    """How many pods a node has at least that has no room for one more."""
    return min(amount // requests[name] + 1 for name, amount in left.items() if requests.get(name, 0))


def _tie_room(family: Family, is_open: list[bool], hit: int, fill: int) -> Linear:
    """All pods together are fewer than it takes to fill the open nodes without those that are hit."""
    slope, offset = _bound_pods(family)
    factors = tuple(PERIOD * fill * one for one in is_open)
    fixed = 0 if family.kinds else sum(factors)
    return _reduce(Linear(-slope, factors if family.kinds else (), fixed - PERIOD * fill * hit - offset - 1))


def _reduce(tie: Linear) -> Linear:
    """The same with the smallest factors; what is left of a fraction of a pod is no pod."""
    common = gcd(tie.pods, *tie.nodes) or 1
    return Linear(tie.pods // common, tuple(one // common for one in tie.nodes), tie.plus // common)


def _bound_pods(family: Family) -> tuple[int, int]:
    """(a, b) such that there are at most (a times the replicas + b) / 100 pods when all events are over.

    Beside the replicas there is what a rollout adds, a number or a percentage that is rounded up.
    """
    if not _grows(family):
        return 0, PERIOD * _lasting(family, family.box.least)
    first = [_lasting(family, pods) for pods in range(1, PERIOD + 1)]
    slope = _lasting(family, PERIOD + 1) - first[0]
    return slope, max(PERIOD * many - slope * pods for pods, many in enumerate(first, start=1))


def _lasting(family: Family, pods: int) -> int:
    loaded = family.at(pods, family.sample[1])
    return Input(loaded).room.find_lasting(loaded.setup.workloads[0])[1]
