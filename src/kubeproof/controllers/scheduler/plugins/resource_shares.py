"""The resources of a node that a score plugin compares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kubeproof.controllers.scheduler.requests import NATIVE
from kubeproof.named_tuples import NamedTuple


class Share(NamedTuple):
    """One resource of a node: what its pods hold, what they would hold with the new pod, what there is."""

    allocated: int
    requested: int
    capacity: int
    weight: int


def shares(
    resources: Sequence[tuple[str, int]],
    incoming: Mapping[str, int],
    held: Mapping[str, int],
    capacities: Mapping[str, int],
) -> list[Share]:
    """The shares of the resources (name and weight) that count for a score.

    Left out, as in upstream's `calculateNodeAllocatableRequest`: a resource that the node does not have, and
    a resource other than cpu, memory and ephemeral-storage that the pod does not request.
    """
    result = []
    for name, weight in resources:
        capacity, request = capacities.get(name, 0), incoming.get(name, 0)
        if capacity == 0 or (request == 0 and name not in NATIVE):
            continue
        allocated = held.get(name, 0)
        result.append(Share(allocated, allocated + request, capacity, weight))
    return result
