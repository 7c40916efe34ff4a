"""RemovePodsViolatingNodeTaints: pods that do not tolerate a NoSchedule taint; NoExecute is not its business."""

from __future__ import annotations

from kubeproof.cluster.api import versions
from kubeproof.cluster.labels import NO_SCHEDULE, PREFER_NO_SCHEDULE, Taint
from kubeproof.controllers.descheduler.plugins.rules import RulePlugin
from kubeproof.controllers.descheduler.protocol import Context
from kubeproof.controllers.descheduler.values import PodGroup
from kubeproof.controllers.scheduler.plugins.taint_toleration import find_untolerated

NAME = "RemovePodsViolatingNodeTaints"
ARGUMENTS = frozenset({"namespaces", "labelSelector", "includePreferNoSchedule", "excludedTaints", "includedTaints"})

INCLUDED_TAINTS_SINCE = versions.INCLUDED_TAINTS.since
SKIPS_FAILED_SINCE = versions.SKIPS_FAILED.since


def build(context: Context) -> RulePlugin:
    """The plugin with its arguments; taints are excluded and included by key or by key=value.

    An empty list of included taints includes none; only an absent one includes all.
    """
    arguments, scene = context.arguments, context.scene
    effects = (NO_SCHEDULE, PREFER_NO_SCHEDULE) if arguments.flag("includePreferNoSchedule") else (NO_SCHEDULE,)
    excluded = arguments.texts("excludedTaints")
    some = scene.version >= INCLUDED_TAINTS_SINCE and arguments.fields.get("includedTaints") is not None
    included = arguments.texts("includedTaints")

    def counts(taint: Taint) -> bool:
        return not _is_named(taint, excluded) and (not some or _is_named(taint, included))

    def verdict(group: PodGroup, entry: int) -> str:
        taints = tuple(taint for taint in scene.entries[entry].taints if counts(taint))
        for taint in find_untolerated(taints, scene.template(group.workload).tolerations, effects):
            return f"taint {taint.key}={taint.value}:{taint.effect} is not tolerated"
        return ""

    return RulePlugin(NAME, context, (verdict,), keeps_failed=scene.version >= SKIPS_FAILED_SINCE)


def _is_named(taint: Taint, names: tuple[str, ...]) -> bool:
    return taint.key in names or bool(taint.value and f"{taint.key}={taint.value}" in names)
