"""Who may create all missing pods in one step, because nobody can be refused or hold anybody up in between.

Really every pod is a request of its own (slow start: 1, 2, 4 … at a time), and requests of several loops arrive in any
order. Where a quota charges the pods of more than one of them, who comes first decides who is refused, so their pods
are created one by one. A burst stays one step where that cannot be: no quota charges its pods, no other loop creates
pods that such a quota charges, or all pods that there can ever be have room in it.

What is not known to be so is created one by one: that is slower, and never wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubeproof.cluster.labels import NO_SCHEDULE, Taint
from kubeproof.cluster.loops.footprint import Scope, Writes, footprint_of
from kubeproof.cluster.nodes.places import UNREACHABLE, UNSCHEDULABLE
from kubeproof.cluster.objects import Setup, Workload
from kubeproof.cluster.state import NEVER
from kubeproof.cluster.steering.priorities import has_priorities
from kubeproof.cluster.steering.quotas import ResourceQuota
from kubeproof.controllers.admission.quota import is_meant, usage
from kubeproof.controllers.evictions.taint_eviction import seconds_tolerated
from kubeproof.controllers.loops import may_reach_all
from kubeproof.events.declarations import Event

MARKS = (Taint(UNSCHEDULABLE, "", NO_SCHEDULE), Taint(UNREACHABLE, "", NO_SCHEDULE))  # of nodes that events hit


def find_created_at_once(setup: Setup, events: tuple[Event, ...], present: Mapping[str, int]) -> frozenset[int]:
    """The workloads whose missing pods are created in one step; `present` are pods at the start by their owner."""
    one_by_one: set[int] = set()
    for quota in setup.quotas:
        meant = [number for number, workload in enumerate(setup.workloads) if is_meant(quota, workload)]
        creators = {creator for number in meant if (creator := _creator(setup, events, number)) is not None}
        if len(creators) > 1 and not _has_room(setup, events, quota, present):
            one_by_one |= set(meant)
    return frozenset(range(len(setup.workloads))) - one_by_one


def _creator(setup: Setup, events: tuple[Event, ...], number: int) -> str | None:
    """Who creates the workload's pods during a run: a ReplicaSet or Job itself, the owner of other pods, or nobody."""
    workload = setup.workloads[number]
    if workload.rules.starts_jobs:
        return None  # each of its Jobs creates its own
    if workload.rules.is_pod:
        is_brought = any(_writes(event, Writes.OBJECTS) and event.subject == workload.ref for event in events)
        return workload.ref if is_brought else None
    return workload.owner if workload.rules.has_controller_revisions and workload.owner else workload.ref


def _writes(event: Event, what: Writes) -> bool:
    return bool(footprint_of(event).writes & what)


# -- room -------------------------------------------------------------------------------------------


def _has_room(setup: Setup, events: tuple[Event, ...], quota: ResourceQuota, present: Mapping[str, int]) -> bool:
    """True if the quota has room for all pods that there can ever be at once, ending ones included."""
    if _is_unsteady(setup):
        return False
    version = setup.settings.kubernetes_version
    used = dict.fromkeys((name for name, _ in quota.hard), 0)
    for workload in (one for one in setup.workloads if is_meant(quota, one)):
        most = _most_pods(setup, events, workload)
        if most is None:
            return False
        for name, amount in usage(workload.template, version).items():
            if name in used:
                used[name] += amount * (most + present.get(workload.ref, 0))
    return all(used[name] <= hard for name, hard in quota.hard)


def _is_unsteady(setup: Setup) -> bool:
    """True if somebody deletes pods again and again: how many of them end at once has no simple bound."""
    evicts = setup.descheduler is not None or setup.cluster_autoscaler is not None or bool(setup.verticals)
    switched_off = any(profile.disabled for profile in setup.profiles)  # pods may come back to nodes that were hit
    steered = setup.settings.gitops_interval_s is not None or may_reach_all(setup)
    return evicts or switched_off or has_priorities(setup) or steered


def _most_pods(setup: Setup, events: tuple[Event, ...], workload: Workload) -> int | None:
    """How many pods of a workload there can be at once; None if there is no simple bound.

    Those it wants at its largest, and as many again, which end, for everything that takes pods away.
    """
    if workload.rules.starts_jobs or (workload.rules.has_ordinals and workload.owner is None):
        return 0  # its pods are those of its Jobs, or ordinals
    if _comes_back(setup, workload):
        return None
    ref = workload.owner or workload.ref
    hits = list(_hits(setup, events, ref))
    if None in hits:
        return None
    size = _largest(setup, events, workload, ref)
    return size * (1 + sum(hit or 0 for hit in hits) + _syncs_while_ending(setup, workload, ref))


def _comes_back(setup: Setup, workload: Workload) -> bool:
    """True if pods may come again and again to a node that evicts or rejects them."""
    template = workload.template
    if template.node_name or any(seconds_tolerated(template.tolerations, n.taints) != NEVER for n in setup.nodes):
        return True
    return not workload.rules.runs_per_node and any(t.tolerates(mark) for t in template.tolerations for mark in MARKS)


def _hits(setup: Setup, events: tuple[Event, ...], ref: str) -> Iterator[int | None]:
    """How often each event may take pods of a workload away; None: any number of times."""
    for event in events:
        scope = footprint_of(event).takes_pods_of
        if scope is Scope.NOWHERE:
            continue
        if scope is Scope.DOMAIN:
            yield event.max * len(setup.nodes)
        elif scope is Scope.NODE:
            yield event.max
        elif scope is Scope.WORKLOAD:
            yield event.max if event.subject == ref else 0
        else:
            yield None


def _largest(setup: Setup, events: tuple[Event, ...], workload: Workload, ref: str) -> int:
    """The most pods that a workload's loop wants at once."""
    is_updated = any(_writes(event, Writes.TEMPLATES) and event.subject == ref for event in events)
    if workload.rules.runs_per_node:
        return len(setup.nodes) * (2 if is_updated else 1)
    if workload.rules.is_pod or (workload.rules.has_ordinals and workload.owner):
        return 1
    declared = next((one for one in setup.workloads if one.ref == ref and one.owner is None), workload)
    size = max([declared.replicas, workload.replicas, *_list_written(setup, events, ref)])
    return size + (declared.strategy.surge_of(size) if is_updated else 0)


def _list_written(setup: Setup, events: tuple[Event, ...], ref: str) -> Iterator[int]:
    for event in events:
        if event.subject == ref:
            yield from event.sizes
    yield from (autoscaler.max_replicas for autoscaler in setup.autoscalers if autoscaler.target == ref)


def _syncs_while_ending(setup: Setup, workload: Workload, ref: str) -> int:
    """How often an autoscaler may take pods away while the first of these still end."""
    if not any(autoscaler.target == ref for autoscaler in setup.autoscalers):
        return 0
    return 1 + workload.template.grace_s // setup.settings.hpa_period_s
