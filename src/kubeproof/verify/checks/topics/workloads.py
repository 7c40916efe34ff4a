"""Workloads that share pods or stand alone, and times that contradict each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from kubeproof.cluster.objects import Workload
from kubeproof.cluster.steering.counted import selects
from kubeproof.cluster.volumes import ONCE, Claim, find_claim, is_attached_once
from kubeproof.controllers.scheduler.pod import pod_labels
from kubeproof.manifests.loaded import RUNNING
from kubeproof.verify.checks.declaration import INFO, WARNING, Check, Found
from kubeproof.verify.checks.scene import Scene
from kubeproof.verify.checks.surroundings import come_together, in_words

_CYCLE_S = 10  # how often the CronJob controller looks at the clock, at most
_SHOWN = 3


def _overlapping(scene: Scene) -> Iterator[Found]:
    """Sets of controllers that select pods of each other, one finding for each."""
    owners = [one for one in scene.setup.workloads if one.rules.replaces_pods and one.owner is None]
    pairs = [pair for pair in combinations(owners, 2) if _share_pods(scene, *pair)]
    for group in _connect(pairs):
        first, *others = (one for one in owners if one.ref in group)
        told = f"it and {_list_names([one.ref for one in others])} select pods of each other"
        if len(others) == 1 and not selects(others[0], first):
            told = f"its selector matches pods of {others[0].ref}, too"
        elif len(others) == 1 and not selects(first, others[0]):
            told = f"its pods match the selector of {others[0].ref}, too"
        yield Found(first.ref, told, first.source, tuple((one.ref, one.source) for one in others))


def _share_pods(scene: Scene, one: Workload, other: Workload) -> bool:
    if not one.selector.matches(scene.labels(other)) and not other.selector.matches(scene.labels(one)):
        return False
    shares = selects(one, other) or selects(other, one)
    return shares and come_together(scene, one.source, other.source)


def _connect(pairs: Iterable[tuple[Workload, Workload]]) -> list[set[str]]:
    """The references of all that pairs lead to from one another, set by set."""
    groups: list[set[str]] = []
    for one, other in pairs:
        joined = [group for group in groups if group & {one.ref, other.ref}]
        groups = [group for group in groups if group not in joined]
        groups.append({one.ref, other.ref}.union(*joined))
    return groups


# -- pods that spread, and that share a volume --------------------------------------------------------


def _spreading(scene: Scene) -> Iterator[Found]:
    """Constraints that do not count the very pods that they stand in."""
    for number, one in enumerate(scene.setup.workloads):
        labels = pod_labels(scene.setup, number)
        for constraint in one.template.spread if one.owner is None else ():
            selector = constraint.selector
            if selector is None or not selector.matches(labels):
                what = "has no labelSelector" if selector is None else f"selects {in_words(selector)}"
                told = f"its topologySpreadConstraint for {constraint.topology_key} {what}: its own pods do not count"
                yield Found(one.ref, told, one.source)


def _sharing(scene: Scene) -> Iterator[Found]:
    """Volumes that one node mounts at a time, and pods that may be on several."""
    for one in scene.setup.workloads:
        if not one.rules.has_replica_set or one.owner is not None:
            continue
        for name in one.template.claims:
            claim = find_claim(scene.setup, one.namespace, name)
            if claim is None or not is_attached_once(scene.setup, claim):
                continue
            if come_together(scene, one.source, claim.source):
                yield from _find_shared(one, claim)


def _find_shared(one: Workload, claim: Claim) -> Iterator[Found]:
    also = ((f"PersistentVolumeClaim/{claim.namespace}/{claim.name}", claim.source),)
    if one.replicas > 1:
        told = f"its {one.replicas} pods share claim {claim.name}, which one node at a time mounts ({ONCE})"
        yield Found(one.ref, told, one.source, also)
    elif (
        one.rules.owns_replica_sets
        and one.replicas == 1
        and one.strategy.rolling
        and not one.strategy.unavailable_of(1)
    ):
        told = (
            f"a rollout adds a pod before it takes the old one away, and claim {claim.name} is mounted by one node "
            f"at a time ({ONCE}): on another node the new pod never starts"
        )
        yield Found(one.ref, told, one.source, also, severity=INFO, remedy="Write strategy: {type: Recreate}")


# -- single pods --------------------------------------------------------------------------------------


def _single(scene: Scene) -> Iterator[Found]:
    """Services with a single pod, one finding for each namespace; who has a word about it of its own stands alone."""
    if scene.loaded.scenario.start.mode == RUNNING:
        return
    accepted = {ignore.ref for ignore in scene.loaded.ignores}
    found: dict[str, list[Workload]] = {}
    for number, one in enumerate(scene.setup.workloads):
        if _is_single(scene, number, one):
            found.setdefault(one.ref if one.ref in accepted else one.namespace, []).append(one)
    for group in found.values():
        first = group[0]
        told = "a Service leads to its only pod: every crash, eviction and node failure is an outage"
        if len(group) > 1:
            told = (
                f"{len(group)} workloads behind a Service have a single pod: {_list_names([one.name for one in group])}"
            )
        yield Found(first.ref, told, first.source, tuple((one.ref, one.source) for one in group[1:]))


def _is_single(scene: Scene, number: int, one: Workload) -> bool:
    if not (one.rules.rolls_out and one.rules.has_replicas) or one.replicas != 1 or one.owner is not None:
        return False
    if not one.strategy.rolling or number in scene.budgeted:
        return False  # somebody thought of it
    scaled = any(autoscaler.target == one.ref for autoscaler in scene.setup.autoscalers)
    return not scaled and any(s.selects(one.namespace, one.template.labels) for s in scene.setup.services)


def _list_names(names: list[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


# -- times --------------------------------------------------------------------------------------------


def _never(scene: Scene) -> Iterator[Found]:
    for one in scene.setup.workloads:
        if one.rules.starts_jobs and one.owner is None and one.cron is not None and not one.cron.gaps_s:
            yield Found(one.ref, "its schedule names a day that never comes: no Job is ever started", one.source)


def _late(scene: Scene) -> Iterator[Found]:
    for one in scene.wiring.start_deadlines:
        if one.seconds < _CYCLE_S:
            told = f"startingDeadlineSeconds is {one.seconds}, and starts are looked for every {_CYCLE_S} s"
            yield Found(one.ref, f"{told}: it may miss all of them", one.source)


def _hooks(scene: Scene) -> Iterator[Found]:
    for one in scene.setup.workloads:
        for container in one.template.containers if one.owner is None else ():
            if container.pre_stop_s >= one.template.grace_s > 0 and container.pre_stop_s:
                told = (
                    f"the preStop hook of container {container.name} takes {container.pre_stop_s} s of "
                    f"terminationGracePeriodSeconds {one.template.grace_s}: the container is killed, not stopped"
                )
                yield Found(one.ref, told, one.source)


CHECKS = (
    Check(
        id="K029",
        key="selectors-overlap",
        severity=WARNING,
        title="a workload whose selector matches pods of another one",
        explanation=(
            "Autoscalers and budgets count pods by selector: they count the other's, too. Orphaned pods are adopted by "
            "the wrong controller, and controllers without ownership, such as old ReplicaSets, delete each other's."
        ),
        remedy="Give each workload a label of its own, in its selector and in its pod template",
        find=_overlapping,
    ),
    Check(
        id="K030",
        key="single-replica",
        severity=INFO,
        title="a Deployment or StatefulSet behind a Service with a single pod, and not a word about it",
        explanation=(
            "Every crash, eviction, drain and node failure is an outage. Told once for a namespace; strategy Recreate, "
            "a PodDisruptionBudget or an autoscaler is a word about it, and so is an annotation "
            "ignore.kubeproof.dev/K030 with a reason."
        ),
        remedy="Run two or more, or say why one is enough",
        find=_single,
    ),
    Check(
        id="K031",
        key="schedule-never-comes",
        severity=WARNING,
        title="a CronJob whose schedule never comes",
        explanation="Days such as the 30th of February are valid in a schedule, and no Job is ever started.",
        remedy="Correct day and month of the schedule",
        find=_never,
    ),
    Check(
        id="K032",
        key="start-deadline-too-short",
        severity=WARNING,
        title="a CronJob whose startingDeadlineSeconds is shorter than the controller's cycle",
        explanation=(
            "The controller looks for Jobs that are due every 10 seconds. With a shorter deadline a start may be found "
            "too late every time, as the documentation of CronJobs warns."
        ),
        remedy="Write 10 or more, or leave it out",
        find=_late,
    ),
    Check(
        id="K033",
        key="hook-outlives-grace",
        severity=WARNING,
        title="a preStop hook that takes all of the grace period",
        explanation=(
            "The grace period begins with the hook. When it is over the container is killed two seconds later, in the "
            "middle of the hook or of its own shutdown: requests are cut off, data may be lost."
        ),
        remedy="Raise terminationGracePeriodSeconds above the hook plus the time to stop",
        find=_hooks,
    ),
    Check(
        id="K035",
        key="claim-shared",
        severity=WARNING,
        title="pods of a Deployment that share a volume which one node at a time mounts",
        explanation=(
            "A ReadWriteOnce volume is attached to one node. Pods on other nodes wait in ContainerCreating (Multi-"
            "Attach error). With a single replica it is info: the default rollout starts the new pod before the old "
            "one ends, and hangs if it comes to another node."
        ),
        remedy="Use a StatefulSet with volumeClaimTemplates, or a volume with ReadWriteMany",
        find=_sharing,
    ),
    Check(
        id="K036",
        key="spread-ignores-own-pods",
        severity=WARNING,
        title="a topologySpreadConstraint whose labelSelector does not match the pods that it stands in",
        explanation=(
            "The scheduler counts the pods that the selector matches. If the pod's own labels do not match, every node "
            "looks equally empty and nothing is spread."
        ),
        remedy="Make labelSelector equal to labels of the pod template",
        find=_spreading,
    ),
)
