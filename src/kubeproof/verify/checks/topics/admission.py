"""Pods that the API server refuses: by LimitRanges, by quotas that want numbers, and by quotas that are too small."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubeproof.cluster.objects import Workload
from kubeproof.cluster.steering.quotas import ResourceQuota
from kubeproof.controllers.admission.quota import is_meant, usage
from kubeproof.verify.checks.declaration import ERROR, INFO, WARNING, Check, Found
from kubeproof.verify.checks.scene import Scene
from kubeproof.verify.checks.surroundings import come_together


def _find_refused(scene: Scene) -> Iterator[Found]:
    for one in scene.setup.workloads:
        if one.refused and one.owner is None and _is_bounded(scene, one):
            yield Found(one.ref, f"each of its pods is refused: {one.refused[0]}", one.source)


def _is_bounded(scene: Scene, one: Workload) -> bool:
    """True if what bounds the pods of its namespace belongs to the workload's cluster."""
    bounds = (b for b in scene.wiring.written if b.kind in _BOUNDING and b.namespace == one.namespace)
    return any(come_together(scene, one.source, bound.source) for bound in bounds)


_BOUNDING = ("LimitRange", "ResourceQuota")


def _beyond_quota(scene: Scene) -> Iterator[Found]:
    """Quotas with less than the workloads ask for at their declared size; what comes and goes does not count."""
    version = scene.setup.settings.kubernetes_version
    for quota in scene.setup.quotas:
        counted = [
            one
            for one in scene.setup.workloads
            if _lasts(one) and is_meant(quota, one) and come_together(scene, quota.source, one.source)
        ]
        for name, hard in quota.hard:
            weights = [(one, usage(one.template, version).get(name, 0)) for one in counted]
            asked, most = (_sum_asked(scene, weights, largest=largest) for largest in (False, True))
            if most > hard:
                also = tuple((one.ref, one.source) for one, weight in weights if weight)
                told = _describe(name, hard, asked if asked > hard else most, namespace=quota.namespace)
                told += "" if asked > hard else " where autoscalers have scaled up"
                yield Found(_ref(quota), told, quota.source, also, severity="" if asked > hard else INFO)


def _sum_asked(scene: Scene, weights: Iterable[tuple[Workload, int]], *, largest: bool) -> int:
    """What the workloads ask for together, as small or as large as autoscalers make them."""
    sizes = {one.target: (one.min_replicas, one.max_replicas)[largest] for one in scene.setup.autoscalers}
    return sum(weight * sizes.get(one.ref, one.replicas) for one, weight in weights)


def _lasts(one: Workload) -> bool:
    return not (one.rules.runs_per_node or one.rules.runs_to_completion) and one.owner is None and not one.refused


def _ref(quota: ResourceQuota) -> str:
    return f"ResourceQuota/{quota.namespace}/{quota.name}"


def _describe(name: str, hard: int, asked: int, *, namespace: str) -> str:
    wanted = f"the workloads of namespace {namespace} ask for {_amount(name, asked)}"
    return f"allows {_amount(name, hard)} of {name}, and {wanted}"


def _amount(name: str, amount: int) -> str:
    """As it stands in manifests: CPU in thousandths, memory in binary units where they are whole."""
    kind = name.rpartition(".")[2]
    if kind == "cpu":
        return f"{amount}m"
    units = (("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)) if kind in ("memory", "storage", "ephemeral-storage") else ()
    return next((f"{amount // size}{unit}" for unit, size in units if amount and amount % size == 0), str(amount))


CHECKS = (
    Check(
        id="K027",
        key="pods-refused",
        severity=ERROR,
        title="a workload each of whose pods the API server refuses",
        explanation=(
            "LimitRanges bound what containers and pods ask for, and a ResourceQuota for cpu or memory wants every "
            "container to say how much it asks for. The workload is stored, its pods never come to be."
        ),
        remedy="Change its resources, or the LimitRange or ResourceQuota of its namespace",
        find=_find_refused,
    ),
    Check(
        id="K028",
        key="quota-too-small",
        severity=WARNING,
        title="a ResourceQuota that has less than the workloads of its namespace ask for",
        explanation=(
            "Pods beyond a quota are not created. Counted are the pods of all that keeps running, at the declared (or "
            "an autoscaler's smallest) size; rollouts, Jobs and DaemonSets need more. It is info if only "
            "autoscalers at their largest ask for too much."
        ),
        remedy="Raise the quota, or ask for less",
        find=_beyond_quota,
    ),
)
