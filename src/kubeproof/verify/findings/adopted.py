"""Pods that nobody owns and that a controller adopts, because its selector matches them.

Adoption is not modelled: a bare Pod stays one, though a ReplicaSet that selects it counts it as its own, and deletes it
or another one where that is one too many.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.objects import Setup, Workload


def adoptions(setup: Setup) -> Iterator[tuple[Workload, Workload]]:
    """Pairs of a workload and what it adopts."""
    declared = [one for one in setup.workloads if one.owner is None]
    orphans = [one for one in declared if one.rules.is_pod]
    owners = [one for one in declared if not one.selector.is_empty] if orphans else []
    for owner in owners:
        for other in orphans:
            if owner is not other and owner.namespace == other.namespace and _adopts(owner, other):
                yield owner, other


def _adopts(owner: Workload, other: Workload) -> bool:
    """True if the controller claims the pod as its own."""
    if not owner.selector.matches(dict(other.template.labels)):
        return False
    if owner.rules.has_ordinals:
        name, _, ordinal = other.name.rpartition("-")
        return name == owner.name and ordinal.isdigit()
    return owner.rules.runs_per_node or (owner.rules.has_replica_set and not owner.rules.owns_replica_sets)
