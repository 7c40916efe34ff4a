"""How far others may sway the scheduler's choice among nodes for pods of a workload.

Scores that depend on the workload's own pods and on what nodes are like stay as they are in the whole: spreading,
preferred nodes, taints that are better avoided, and affinity where it means no pods of others. All other scores are
bounded: by what pods of all workloads together may request of a node, or by their whole range.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from kubeproof.cluster.labels import LabelSelector
from kubeproof.cluster.objects import Node, PodTerm, SchedulerProfile, Setup
from kubeproof.controllers.scheduler.plugins.balanced_allocation import RELATIVE_SINCE
from kubeproof.controllers.scheduler.plugins.pod_terms import workloads_meant
from kubeproof.controllers.scheduler.plugins.spread_constraints import constraints_of
from kubeproof.controllers.scheduler.pod import IncomingPod
from kubeproof.controllers.scheduler.protocol import MAX_NODE_SCORE, NodeScore, NodeView, Usage
from kubeproof.controllers.scheduler.registry import (
    BALANCED_ALLOCATION,
    NODE_RESOURCES_FIT,
    plugins_for,
)
from kubeproof.controllers.scheduler.requests import allocatable, incoming_requests
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.reductions.loosened import Sway
from kubeproof.verify.proofs.crowd.freeing import KEPT, OWN_KEYS
from kubeproof.verify.proofs.crowd.room import Amounts, Room
from kubeproof.verify.proofs.slicing import Slice

STEP = 8  # slack is rounded up to a multiple, so that more workloads have the same
MONOTONE = ("LeastAllocated", "MostAllocated")


def find_sway(loaded: Loaded, part: Slice, room: Room) -> dict[str, Sway]:
    """How far others sway the choice for each workload of a part; empty if its own scores say nothing for certain."""
    setup = loaded.setup
    members = [number for number, workload in enumerate(setup.workloads) if workload.ref in part.workloads]
    if any(event.form is not None for event in loaded.scenario.events) or _counts_others(setup, members):
        return {}
    found = {}
    for number in members:
        workload = setup.workloads[number]
        slack = _find_slack(setup, number, room)
        if slack is None:
            return {}
        found[workload.ref] = Sway(-(-slack // STEP) * STEP, room.find_passing_shortage(workload))
    return found


def _profile_of(setup: Setup, number: int) -> SchedulerProfile | None:
    name = setup.workloads[number].template.scheduler_name
    return next((profile for profile in setup.profiles if profile.name == name), None)


# -- scores that pods of others decide about ---------------------------------------------------------


def _counts_others(setup: Setup, members: list[int]) -> bool:
    """True if a score of the members' pods may count pods of others."""
    own = set(members)
    if any(not _find_counted(setup, number) <= own for number in members):
        return True
    related = [
        {owner, *workloads_meant(setup, owner, term)}
        for owner in range(len(setup.workloads))
        for term in _list_scored_terms(setup, owner)
    ]
    is_keyed = any(
        _is_keyed(t.selector) for owner in range(len(setup.workloads)) for t in _list_scored_terms(setup, owner)
    )
    return is_keyed or any(some & own and not some <= own for some in related)


def _find_counted(setup: Setup, number: int) -> set[int]:
    """The workloads whose pods count where pods of this one are spread."""
    profile = _profile_of(setup, number)
    if profile is None:
        return set()
    if any(_is_keyed(constraint.selector) for constraint in setup.workloads[number].template.spread):
        return set(range(len(setup.workloads)))
    pod = IncomingPod(setup, number, profile)
    return {counted for constraint in constraints_of(pod, hard=False) for counted in constraint.counted}


def _list_scored_terms(setup: Setup, owner: int) -> Iterator[PodTerm]:
    """The affinity terms of a workload's pods that make nodes better or worse, for them and for the pods they mean."""
    template = setup.workloads[owner].template
    yield from template.pod_affinity.required
    yield from (
        weighted.term for one in (template.pod_affinity, template.pod_anti_affinity) for weighted in one.preferred
    )


def _is_keyed(selector: LabelSelector | None) -> bool:
    """True if a selector may tell pods of one workload apart, or of its revisions and Jobs."""
    requirements = selector.requirements if selector is not None else ()
    return any(requirement.key in OWN_KEYS for requirement in requirements)


# -- scores that are bounded -------------------------------------------------------------------------


def _find_slack(setup: Setup, number: int, room: Room) -> int | None:
    """By how much the scores that are not kept may favour one node over another, weighted."""
    profile = _profile_of(setup, number)
    if profile is None:
        return 0
    pod = IncomingPod(setup, number, profile)
    plugins = plugins_for(pod)
    slack = 0
    for name, weight, plugin in plugins.node_scores:
        if name not in KEPT:
            ranges = _range_of(name, pod, plugin, room)
            if ranges is None:
                return None
            slack += weight * ranges
    return slack + sum(weight * MAX_NODE_SCORE for name, weight, _ in plugins.cluster_scores if name not in KEPT)


def _range_of(name: str, pod: IncomingPod, plugin: NodeScore, room: Room) -> int | None:
    """The difference between the best and the worst score that a node may have."""
    held = [(node, room.find_most_held(node)) for node in pod.setup.nodes]
    known = [(node, *amounts) for node, amounts in held if amounts is not None]
    if len(known) < len(held):
        return None
    if name == NODE_RESOURCES_FIT and pod.profile.fit_strategy in MONOTONE:
        empty = [plugin.score(_view(node, {}, {})) for node, _, _ in known]
        full = [plugin.score(_view(node, true, scored)) for node, true, scored in known]
        return max((*empty, *full), default=0) - min((*empty, *full), default=0)
    if name == BALANCED_ALLOCATION:
        return min(MAX_NODE_SCORE, max((_most_balanced(pod, node, true) for node, true, _ in known), default=0))
    return MAX_NODE_SCORE


def _view(node: Node, requested: Amounts, scored: Amounts) -> NodeView:
    """A node on which pods request so much."""
    usage = Usage(0, requested, scored)
    return NodeView(node, dict(node.labels), allocatable(node), False, (), (), usage)


def _most_balanced(pod: IncomingPod, node: Node, held: Amounts) -> int:
    """The range of the balance of a node, or since 1.36 of half of what the pod improves it by.

    A standard deviation is at most half of the difference between the largest and the smallest value, and changes by at
    most half of the largest change of a value. Two are for what is rounded off.
    """
    wanted, offered = incoming_requests(pod.template, pod.version).true, allocatable(node)
    named = [name for name in pod.profile.balanced_resources if offered.get(name)]
    own = [min(1.0, wanted.get(name, 0) / offered[name]) for name in named]
    if pod.version >= RELATIVE_SINCE:
        return ceil(MAX_NODE_SCORE / 2 * max(own, default=0.0)) + 2
    most = [min(1.0, (wanted.get(name, 0) + held.get(name, 0)) / offered[name]) for name in named]
    return ceil(MAX_NODE_SCORE / 2 * (max(most, default=0.0) - min(own, default=0.0))) + 2
