"""Descheduler plugins that undo what the scheduler does."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.verify.checks.declaration import WARNING, Check, Found
from kubeproof.verify.checks.scene import Scene

_OPPOSED = {  # plugin -> the scoring strategy that undoes its work, and the one that goes with it
    "HighNodeUtilization": ("LeastAllocated", "MostAllocated"),
    "LowNodeUtilization": ("MostAllocated", "LeastAllocated"),
}


def _find_opposed(scene: Scene) -> Iterator[Found]:
    policy = scene.setup.descheduler
    if policy is None:
        return
    enabled = {name for profile in policy.profiles for _, names in profile.enabled for name in names}
    used = {one.template.scheduler_name for one in scene.setup.workloads}
    for plugin, (against, wanted) in _OPPOSED.items():
        profiles = [one for one in scene.setup.profiles if one.name in used and one.fit_strategy == against]
        if plugin in enabled and profiles:
            told = f"{plugin} empties nodes that scheduler {profiles[0].name} fills again ({against})"
            if plugin == "LowNodeUtilization":
                told = f"{plugin} evicts from full nodes that scheduler {profiles[0].name} fills again ({against})"
            remedy = f"Schedule with the scoring strategy {wanted}, or disable the plugin"
            yield Found("DeschedulerPolicy", told, policy.source, remedy=remedy)


CHECKS = (
    Check(
        id="K034",
        key="descheduler-opposes-scheduler",
        severity=WARNING,
        title="a descheduler plugin that evicts pods which the scheduler puts back",
        explanation=(
            "HighNodeUtilization evicts from nodes that are hardly used, and the default strategy LeastAllocated "
            "prefers just these; the descheduler's documentation asks for MostAllocated. LowNodeUtilization is the "
            "other way round. The same pods are evicted in every cycle."
        ),
        remedy="Let both follow the same strategy",
        find=_find_opposed,
    ),
)
