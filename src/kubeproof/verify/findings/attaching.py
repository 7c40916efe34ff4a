"""Volumes that one node at a time mounts, and the pods that may want them on several nodes at once.

Attaching is not modelled: a ReadWriteOnce volume is mounted wherever its pods are. Really a pod on a second node waits
in ContainerCreating until the first node is rid of the volume, which it never is while a pod there keeps running.
Volumes of hostPath, NFS and the like are mounted without being attached, so that they are as they are taken here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubeproof.cluster.objects import Setup, Workload, revisions_of
from kubeproof.cluster.volumes import Claim, find_claim, is_attached_once
from kubeproof.events.declarations import Apply, Event, Scale

_SEVERAL = 2


def find_attached_at_once(setup: Setup, events: Sequence[Event]) -> Iterator[tuple[Workload, str]]:
    """The workloads with names of claims that pods on several nodes may want at once, their own or those of others."""
    if len(setup.nodes) < _SEVERAL:
        return
    pods: dict[str, int] = {}
    users: list[tuple[Workload, Claim]] = []
    for number, owner, name in dict.fromkeys(_mounts(setup)):
        found = find_claim(setup, owner.namespace, name)
        if found is not None and not found.is_kept and is_attached_once(setup, found):
            pods[found.key] = pods.get(found.key, 0) + (1 if number is None else _most_pods(setup, number, events))
            users.append((owner, found))
    yield from ((owner, found.name) for owner, found in users if pods[found.key] >= _SEVERAL)


def _mounts(setup: Setup) -> Iterator[tuple[int | None, Workload, str]]:
    """Workloads by number with their claims; without a number a StatefulSet with one that an ordinal has by itself."""
    declared = {one.ref: one for one in setup.workloads if one.owner is None}
    for number, one in enumerate(setup.workloads):
        owner = declared.get(one.owner or one.ref, one)
        if owner is one:
            yield from ((number, one, name) for name in one.template.claims)
        elif one.rules.has_ordinals:
            yield from ((None, owner, name) for name in one.template.claims if name not in owner.template.claims)


def _most_pods(setup: Setup, number: int, events: Sequence[Event]) -> int:
    """The pods that a workload may have at once; a Job's come one after the other if need be, unless it has no time.

    A pod on a node that stays silent never ends, and keeps the volume there: its successor is one more.
    """
    one = setup.workloads[number]
    if one.rules.is_pod:
        return 1
    if one.rules.runs_per_node:
        return _SEVERAL
    lost = 0 if one.rules.has_ordinals else any(event.may_silence_for_good for event in events)
    if one.rules.runs_to_completion and one.job.deadline_s is None:
        return 1 + lost
    sizes = [one.replicas, *(scaler.max_replicas for scaler in setup.autoscalers if scaler.target == one.ref)]
    sizes += [n for event in events if isinstance(event, Scale) and event.target == one.ref for n in event.replicas]
    sizes += [e.workload.replicas for e in events if isinstance(e, Apply) and e.workload.ref == one.ref]
    size = max(sizes)
    surges = one.rules.has_replica_set and one.strategy.rolling and revisions_of(setup, number) > 1
    return size + lost + (one.strategy.surge_of(size) if surges else 0)
