"""Pods that always spread evenly: numbers on any two nodes differ by 1 at most, however many nodes there are.

All nodes are alike, pods are only ever added, and the scheduler prefers a node with one pod less to one with one pod
more. So it holds at first, and each binding keeps it: the node that is chosen has as few pods as any.
"""

from __future__ import annotations

from kubeproof.cluster.state import Phase, PodKind
from kubeproof.controllers.scheduler.controller import SchedulerController
from kubeproof.controllers.scheduler.protocol import NodeInfo
from kubeproof.verify.proofs.any_size.by_sizes import MOST_ON_A_NODE, Ties, list_sizes
from kubeproof.verify.proofs.any_size.family import Family
from kubeproof.verify.proofs.bounds import SPREAD
from kubeproof.verify.proofs.sizes import is_left_alone, only_sizes_decide

UNSPLIT = 9  # nodes: more than a place that is split has


def find_ties_of_evenness(family: Family) -> Ties | None:
    """What sizes must keep to for the pods of the workload that grows to be spread evenly at any moment."""
    plan = family.plan
    if not _are_nodes_alike(family) or not only_sizes_decide(plan) or not is_left_alone(plan, family.number):
        return None
    sizes = list_sizes(family, plan, family.number)
    if sizes is None or any(size not in (family.replicas, family.constant(0)) for size in sizes):
        return None
    others = [workload for n, workload in enumerate(plan.setup.workloads) if n != family.number]
    if others and not (len(family.kinds) == 1 and all(one.rules.is_pod and one.bound_to for one in others)):
        return None  # only what comes with each node is the same on all of them
    schedulers = [c for c in plan.controllers if isinstance(c, SchedulerController) and c.workload == family.number]
    return _count_led(family, schedulers[0]) if schedulers else None


def _are_nodes_alike(family: Family) -> bool:
    """True if nobody can tell nodes apart but by their names; places of few nodes are split, so it takes some."""
    pods, nodes = family.sample
    return len(family.plan_at(pods, (UNSPLIT,) * len(nodes)).layout.places) == 1


def _count_led(family: Family, scheduler: SchedulerController) -> Ties | None:
    """How far the scheduler prefers the node with fewer pods by what is on each: nothing if it does until it is full.

    Of scores that compare nodes only spreading is known never to prefer the node with more of its own pods.
    """
    kernel = scheduler.kernel
    if kernel.compares_nodes_by or kernel.scores_by_comparing - {SPREAD}:
        return None
    for own in range(MOST_ON_A_NODE):
        fewer, more = _with_pods(family, scheduler, own), _with_pods(family, scheduler, own + 1)
        if not kernel.admits((fewer,), 0):
            return ()
        lead = kernel.find_lead(fewer, more) if kernel.admits((more,), 0) else 1
        if lead is None or lead <= 0:
            return (family.term(pods=-1, nodes=own),) if own else None
    return None


def _with_pods(family: Family, scheduler: SchedulerController, own: int) -> NodeInfo:
    """A node with what it has at first, and so many of the workload's own pods."""
    cell = family.plan.nodes[0]
    added = ((PodKind(scheduler.workload, int(Phase.READY)), own),) if own else ()
    filled = cell._replace(pods=tuple(sorted((*cell.pods, *added))))
    return scheduler.node_info(0, scheduler.show_node(0, filled), 2)
