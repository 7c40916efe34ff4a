"""VerticalPodAutoscalers, and the sizes that pods of their targets may get.

Pods of one ReplicaSet may request different amounts once an autoscaler sets them at admission. Pods that request the
same are a *size* of the workload: a workload of its own to whoever asks for requests, and the target's to whoever
asks for its pods.
"""

from __future__ import annotations

from dataclasses import field

from kubeproof.cluster.objects import Setup, Source, family
from kubeproof.values import dataclass

OFF, INITIAL, RECREATE, AUTO, IN_PLACE_OR_RECREATE = "Off", "Initial", "Recreate", "Auto", "InPlaceOrRecreate"
MODES = (OFF, INITIAL, RECREATE, AUTO, IN_PLACE_OR_RECREATE)
EVERY_CONTAINER = "*"
DEFAULT_LEAST = 2  # min-replicas of the updater
CPU, MEMORY = "cpu", "memory"


@dataclass(frozen=True, slots=True)
class ContainerPolicy:
    """How far one container's requests may be changed; amounts in milli for CPU, in bytes for memory."""

    container: str = EVERY_CONTAINER
    is_off: bool = False
    least: tuple[tuple[str, int], ...] = ()  # minAllowed
    most: tuple[tuple[str, int], ...] = ()  # maxAllowed
    controlled: tuple[str, ...] = (CPU, MEMORY)


@dataclass(frozen=True, slots=True)
class VerticalPodAutoscaler:
    """A VerticalPodAutoscaler."""

    namespace: str
    name: str
    target: str  # Workload.ref
    mode: str = RECREATE
    policies: tuple[ContainerPolicy, ...] = ()
    least_replicas: int = DEFAULT_LEAST  # below, nobody is evicted
    source: Source = field(default=Source(), compare=False)

    def policy(self, container: str) -> ContainerPolicy:
        """What holds for a container: its own policy, the one for all, or none."""
        for name in (container, EVERY_CONTAINER):
            found = next((one for one in self.policies if one.container == name), None)
            if found is not None:
                return found
        return ContainerPolicy()


def sizes_of(setup: Setup, workload: int) -> tuple[int, ...]:
    """A workload and its further sizes; alone if nobody resizes its pods."""
    return tuple(member for member in family(setup, workload) if member == workload or is_size(setup, member))


def is_size(setup: Setup, workload: int) -> bool:
    """True for pods of another workload with other requests."""
    return setup.workloads[workload].resized


def is_resized(setup: Setup, workload: int) -> bool:
    """True if pods of the workload may have several sizes."""
    return len(sizes_of(setup, workload)) > 1
