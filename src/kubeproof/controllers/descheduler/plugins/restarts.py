"""RemovePodsHavingTooManyRestarts: pods whose containers restarted too often."""

from __future__ import annotations

from kubeproof.cluster.api import versions
from kubeproof.controllers.descheduler.plugins.rules import RulePlugin
from kubeproof.controllers.descheduler.protocol import Context
from kubeproof.controllers.descheduler.values import PodGroup

NAME = "RemovePodsHavingTooManyRestarts"
ARGUMENTS = frozenset({"namespaces", "labelSelector", "podRestartThreshold", "includingInitContainers"})

SORTED_SINCE = versions.MOST_RESTARTS_FIRST.since


def build(context: Context) -> RulePlugin:
    """The plugin; restarts of init containers are not modelled, so including them changes nothing."""
    threshold = context.arguments.number("podRestartThreshold") or 0

    def verdict(group: PodGroup, entry: int) -> str:
        return f"{group.restarts} restarts, threshold {threshold}" if group.restarts >= threshold else ""

    def most_restarts_first(group: PodGroup) -> int:
        return -group.restarts

    order = most_restarts_first if context.scene.version >= SORTED_SINCE else None
    return RulePlugin(NAME, context, (verdict,), order=order, keeps_failed=False)
