"""What an autoscaler is shown of the pods that it counts, taken together for the whole cluster.

It lists pods by a selector and looks neither at their owners nor at where they are. So pods are told apart by phase,
age, and what they request and use; workloads that agree in the latter are one *sort*, named after the first of them.
"""

from __future__ import annotations

from collections.abc import Iterable

from kubeproof.cluster.loops.control import Groups, Seen
from kubeproof.cluster.objects import Container, Setup
from kubeproof.cluster.state import NEVER, JobPodEnd, NodeCell, Phase, WorkloadCell
from kubeproof.cluster.steering.counted import labels_of
from kubeproof.cluster.usage import UsageRule
from kubeproof.controllers.hpa.samples import PodFacts
from kubeproof.named_tuples import NamedTuple

# Phases of pods that have ended, whose objects are still there; the model has none for them.
SUCCEEDED, FAILED = max(Phase) + 1, max(Phase) + 2
_ENDED = {int(JobPodEnd.SUCCEEDED): SUCCEEDED, int(JobPodEnd.FAILED): FAILED}
RUNNING = frozenset({Phase.RUNNING, Phase.READY, Phase.UNREADY, Phase.TERMINATING})  # phases with metrics

ONLY_SORT = NEVER


class Key(NamedTuple):
    """What tells pods apart."""

    phase: int
    age_s: int
    sort: int = ONLY_SORT  # where there are several


PodGroups = tuple[tuple[Key, int], ...]  # with how many pods


class Counted(NamedTuple):
    """A workload as an autoscaler sees it; size and existence of its target alone."""

    exists: int
    desired: int
    waiting: int  # pods without a node
    succeeded: int = 0  # pods that have ended and are still listed
    failed: int = 0


Sight = Seen[Counted, Groups[PodGroups]]


class Pooled(NamedTuple):
    """What a sync depends on: spec.replicas, and all pods of the cluster that the selector matches."""

    current: int
    groups: PodGroups


class Sorts:
    """The workloads that an autoscaler counts, by what metrics can tell of their pods."""

    def __init__(
        self, setup: Setup, counted: tuple[int, ...], rules: tuple[UsageRule, ...], *, by_labels: bool = False
    ) -> None:
        """`by_labels` also tells pods apart by their labels: other selectors may match some of them."""
        self._first: dict[int, int] = {}
        found: dict[object, int] = {}
        for workload in counted:
            labels = tuple(sorted(labels_of(setup.workloads[workload]).items())) if by_labels else ()
            key = _requests(setup, workload), _use(rules, workload), labels
            self._first[workload] = found.setdefault(key, workload)
        self.counted = counted
        self.has_several = len(found) > 1

    def of(self, workload: int) -> int:
        """The sort of a workload's pods, as the end of a key."""
        return self._first[workload] if self.has_several else ONLY_SORT

    def show_workload(self, workload: int, cell: WorkloadCell) -> Counted:
        """The size of the target, and pods that no node has."""
        is_target = workload == self.counted[0]
        size = (cell.exists, cell.desired) if is_target else (0, 0)
        return Counted(*size, cell.unbound, cell.completed, cell.failed)

    def show_node(self, cell: NodeCell) -> PodGroups | None:
        """The pods of a node that are counted; those that wait for it alone and those that have ended included."""
        amounts: dict[Key, int] = {}
        for kind, count in cell.pods:
            if kind.workload in self._first:
                key = Key(kind.phase, kind.age_s, self.of(kind.workload))
                amounts[key] = amounts.get(key, 0) + count
        for workload, count in cell.pinned:
            self._add(amounts, Phase.STARTING, workload, count)
        for (workload, outcome), count in cell.finished:
            self._add(amounts, _ENDED[outcome], workload, count)
        return tuple(sorted(amounts.items())) or None

    def _add(self, amounts: dict[Key, int], phase: int, workload: int, count: int) -> None:
        if workload in self._first and count:
            key = Key(int(phase), NEVER, self.of(workload))
            amounts[key] = amounts.get(key, 0) + count

    def pool(self, seen: Sight) -> Pooled:
        """The views of all nodes and workloads together."""
        amounts: dict[Key, int] = {}
        for place in seen.places:
            for view, count in place:
                for key, pods in view:
                    amounts[key] = amounts.get(key, 0) + pods * count
        for workload, counted in zip(self.counted, seen.workloads, strict=True):
            self._add(amounts, Phase.STARTING, workload, counted.waiting)
            self._add(amounts, SUCCEEDED, workload, counted.succeeded)
            self._add(amounts, FAILED, workload, counted.failed)
        return Pooled(seen.workloads[0].desired, tuple(sorted((key, pods) for key, pods in amounts.items() if pods)))

    def sort_of(self, key: Key) -> int:
        """The workload whose pods a group's are like."""
        return key.sort if self.has_several else self.counted[0]


def _requests(setup: Setup, workload: int) -> tuple[tuple[Container, ...], ...]:
    """The containers of a workload's pods with nothing but their names and requests."""
    template = setup.workloads[workload].template
    sidecars = [container for container in template.init_containers if container.restartable_init]
    return _bare(template.containers), _bare(sidecars)


def _bare(containers: Iterable[Container]) -> tuple[Container, ...]:
    return tuple(Container(c.name, c.cpu_milli, c.memory_bytes, c.others, c.restartable_init) for c in containers)


def _use(rules: tuple[UsageRule, ...], workload: int) -> tuple[UsageRule, ...]:
    return tuple(rule._replace(workload=-1) for rule in rules if rule.workload == workload)


def facts_of(key: Key, pods: int) -> PodFacts:
    """What upstream looks at, from phase and age; readiness is as old as the pod, or new where it was lost."""
    phase, age = key.phase, max(key.age_s, 0)
    if phase == Phase.TERMINATING:
        return PodFacts(pods, is_deleted=True)
    if phase == Phase.STARTING:
        return PodFacts(pods, is_pending=True)
    if phase == FAILED:
        return PodFacts(pods, is_failed=True)
    if phase == SUCCEEDED:
        return PodFacts(pods, has_metric=False)  # metrics-server knows running containers only
    changed_s = 0 if phase == Phase.UNREADY else age
    return PodFacts(pods, is_ready=phase == Phase.READY, age_s=age, ready_changed_s=changed_s)
