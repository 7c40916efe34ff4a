"""Workloads of several pods, any number of which a drain may take at once."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.objects import HOSTNAME, Workload
from kubeproof.controllers.scheduler.pod import pod_labels
from kubeproof.manifests.loaded import RUNNING
from kubeproof.verify.checks.declaration import INFO, Check, Found
from kubeproof.verify.checks.scene import Scene

_SHOWN = 3


def _find_unprotected(scene: Scene) -> Iterator[Found]:
    """One finding for each namespace; who has a word about it of its own stands alone."""
    if scene.loaded.scenario.start.mode == RUNNING or scene.loaded.assumed or len(scene.setup.nodes) < 2:
        return
    accepted = {ignore.ref for ignore in scene.loaded.ignores}
    found: dict[str, list[Workload]] = {}
    for number, one in enumerate(scene.setup.workloads):
        if _has_several(scene, one) and number not in scene.budgeted and not _keeps_apart(scene, number):
            found.setdefault(one.ref if one.ref in accepted else one.namespace, []).append(one)
    for first, *others in found.values():
        told = "no PodDisruptionBudget selects its pods: a drain takes all of them that share a node at once"
        if others:
            names = [one.name for one in (first, *others)]
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            told = (
                f"no PodDisruptionBudget selects the pods of {len(names)} workloads that have several: "
                f"{', '.join(names[:_SHOWN])}{more}"
            )
        yield Found(first.ref, told, first.source, tuple((one.ref, one.source) for one in others))


def _has_several(scene: Scene, one: Workload) -> bool:
    """True if it always has more than one pod."""
    if not (one.rules.rolls_out and one.rules.has_replicas) or one.owner is not None:
        return False
    least = [autoscaler.min_replicas for autoscaler in scene.setup.autoscalers if autoscaler.target == one.ref]
    return min(least, default=one.replicas) > 1


def _keeps_apart(scene: Scene, number: int) -> bool:
    """True if no two of its pods come to the same node: a drain of one node takes one."""
    pod, labels = scene.setup.workloads[number].template, pod_labels(scene.setup, number)
    terms = (term for term in pod.pod_anti_affinity.required if term.topology_key == HOSTNAME)
    return any(term.selector is not None and term.selector.matches(labels) for term in terms)


CHECKS = (
    Check(
        id="K041",
        key="budget-missing",
        severity=INFO,
        title="a Deployment or StatefulSet of several pods that may share a node, and no PodDisruptionBudget",
        explanation=(
            "The scheduler may put several pods on one node, above all after another one was drained, and a drain "
            "evicts whatever no budget protects: the matrix shows whether one pod is always left, not whether enough "
            "are. Told once for a namespace; an annotation ignore.kubeproof.dev/K041 with a reason is a word about it. "
            "Found only for nodes of the input."
        ),
        remedy="Add a PodDisruptionBudget (maxUnavailable: 1)",
        find=_find_unprotected,
    ),
)
